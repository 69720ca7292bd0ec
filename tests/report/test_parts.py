"""Parts of a report's page: bands, ticks, words, videos and differences."""

import itertools
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mjlab.report import outcome
from mjlab.report.chart import _band
from mjlab.report.scale import Scale
from mjlab.report.settings import differences
from mjlab.report.words import duration
from mjlab.settings.file import Settings


def test_a_band_follows_its_upper_side_and_returns_along_its_lower_one() -> None:
    found = _band(["0", "1", "2"], ["5", "6", "7"], ["2", "3", "4"])
    assert found == "M0 2L1 3L2 4L2 7L1 6L0 5Z"
    parts = _band(["0", "1", "2", "3"], ["5", None, "7", "8"], ["2", "3", "4", "4"])
    assert parts == "M0 2L0 5ZM2 4L3 4L3 8L2 7Z"


@pytest.mark.parametrize("most", [2, 3, 4, 5])
def test_a_scale_of_ratios_has_at_most_the_requested_number_of_ticks(most: int) -> None:
    for decades in range(3, 16):
        ticks = Scale(1.0, 10.0**decades, "log").ticks(most)
        assert 1 < len(ticks) <= most
        powers = [value for value, _ in ticks]
        ratios = {later / one for one, later in itertools.pairwise(powers)}
        assert max(ratios) == pytest.approx(min(ratios))


def test_a_duration_is_written_with_its_two_largest_units() -> None:
    assert duration(90_061.0) == "1 d 1 h"
    assert duration(3_725.0) == "1 h 2 min"
    assert duration(125.0) == "2 min 5 s"
    assert duration(3_600.0) == "1 h"


def test_videos_share_the_size_limit_of_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of videos of 600, 500 and 300 of 1,000 bytes, the second one is linked."""
    monkeypatch.setattr(outcome, "EMBEDDED", 1000)
    files = []
    for name, size in (("a", 600), ("b", 500), ("c", 300)):
        files.append(tmp_path / f"{name}.mp4")
        files[-1].write_bytes(b"0" * size)
    record: Any = SimpleNamespace(videos=files, folder=tmp_path)
    first, second, third = (video.source for video in outcome.videos(record))
    assert first.startswith("data:video/mp4;base64,")
    assert second == "./b.mp4"
    assert third.startswith("data:video/mp4;base64,")


def test_booleans_differ_from_numbers_in_settings() -> None:
    default = {"a": True, "b": 1, "c": False, "d": 0.0, "e": 1, "f": [True]}
    present = {"a": 1, "b": True, "c": 0, "d": 0, "e": 1.0, "f": [True]}
    assert list(differences(Settings(default, {}), Settings(present, {}))) == [
        ("a", "True", "1"),
        ("b", "1", "True"),
        ("c", "False", "0"),
    ]

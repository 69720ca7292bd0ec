"""Files that are written completely or not at all."""

import math
from collections.abc import Callable
from pathlib import Path

import pytest

from mjlab import files
from mjlab.files import finite, folder_beside, move_durably, write_atomic
from mjlab.files import write_text as write
from tests.tools.power_cut import Disk


def test_a_folder_whose_writing_fails_leaves_no_files(
    tmp_path: Path,
) -> None:
    place = tmp_path / "runs" / "one"
    with pytest.raises(RuntimeError, match="half"), folder_beside(place) as unfinished:
        (unfinished / "half").write_text("x")
        raise RuntimeError("half")
    assert list((tmp_path / "runs").iterdir()) == []
    with folder_beside(place) as unfinished:
        (unfinished / "whole").write_text("x")
        move_durably(unfinished, place)
    assert [each.name for each in (tmp_path / "runs").iterdir()] == ["one"]
    assert (place / "whole").read_text() == "x"


def test_numbers_that_are_not_finite_become_none_in_json_data() -> None:
    data = {"a": (1.0, math.nan), "b": [{"c": -math.inf}, "x", None, 3, True]}
    wanted = {"a": [1.0, None], "b": [{"c": None}, "x", None, 3, True]}
    assert finite(data) == wanted


def write_folder(folder: Path) -> None:
    with folder_beside(folder / "in" / "b") as draft:
        (draft / "c").write_bytes(b"new")
        move_durably(draft, folder / "in" / "b")


WRITERS: dict[str, Callable[[Path], object]] = {
    "write_atomic": lambda folder: write_atomic(
        folder / "a", lambda file: file.write(b"new")
    ),
    "write_text": lambda folder: write(folder / "new" / "er" / "a", "new"),
    "folder_beside": write_folder,
}


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("left_out", [None, "files", "folders"])
def test_missing_sync_is_detected(
    name: str, left_out: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sync, disk = files.sync, Disk(monkeypatch)
    if left_out is not None:
        is_kept = {"files": Path.is_dir, "folders": Path.is_file}[left_out]
        monkeypatch.setattr(files, "sync", lambda path: is_kept(path) and sync(path))
    WRITERS[name](tmp_path)
    assert (disk.unsynced(tmp_path) == disk.faults == []) is (left_out is None)

"""File names of a recording."""

from pathlib import Path

import pytest

from mjlab.recording import RecordingCfg
from mjlab.recording.config import files_of


@pytest.mark.parametrize("suffix", [".h5", ".json", ".parts"])
def test_any_file_of_a_recording_reserves_its_name(suffix: str, tmp_path: Path) -> None:
    cfg = RecordingCfg(folder=str(tmp_path), name="walk")
    assert files_of(cfg)["all"].name == "walk.h5"
    (tmp_path / f"walk{suffix}").touch()
    assert files_of(cfg)["all"].name == "walk_2.h5"
    (tmp_path / f"walk_2{suffix}").touch()
    assert files_of(cfg)["all"].name == "walk_3.h5"
    apart = RecordingCfg(folder=str(tmp_path), name="run", export="separate")
    (tmp_path / f"run_failed{suffix}").touch()
    assert files_of(apart)["succeeded"].name == "run_2_succeeded.h5"

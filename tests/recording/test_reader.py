"""Reading of recordings: damaged files, and files of other versions."""

from pathlib import Path

import h5py
import pytest

from mjlab.recording import Recording, hdf5
from mjlab.recording.config import RecordingError
from mjlab.recording.hdf5 import episode_numbers


def test_a_recording_that_is_refused_is_not_left_open(tmp_path: Path) -> None:
    path = tmp_path / "run.h5"
    with h5py.File(path, "w") as file:
        file.attrs["format"], file.attrs["format_version"] = hdf5.FORMAT, "none"
    files = (h5py.h5f.OBJ_ALL, h5py.h5f.OBJ_FILE)
    before = h5py.h5f.get_obj_count(*files)
    # The error keeps its cause alive.
    with pytest.raises(RecordingError, match="is damaged") as refused:
        Recording(path)
    assert refused.tb is not None
    assert h5py.h5f.get_obj_count(*files) == before


def test_a_recording_of_another_version_is_refused_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "run.h5"
    with h5py.File(path, "w") as file:
        file.attrs["format"], file.attrs["format_version"] = hdf5.FORMAT, 1
    with pytest.raises(RecordingError) as refused:
        Recording(path)
    assert str(refused.value) == (
        f"{path} has format version 1; this program supports only version 2. "
        "Record it again."
    )


def test_episodes_are_in_the_order_of_their_numbers() -> None:
    names = [f"traj_{number}" for number in (10, 2, 0, 1, 11, 9)]
    assert episode_numbers([*names, "other", "traj_x"]) == [0, 1, 2, 9, 10, 11]

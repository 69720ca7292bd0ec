"""Episodes in HDF5: checksums of all data, and errors for damaged files."""

from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from mjlab.recording import hdf5
from tests.recording.test_files import a_file, add, an_episode


def long_recording(folder: Path) -> Path:
    """Two episodes with arrays inside and outside of their headers."""
    file = a_file(folder / "run.h5")
    add(file, an_episode(0, 4), an_episode(1, 4000))
    file.finish()
    return file.path


def test_every_array_bears_a_checksum_of_hdf5(tmp_path: Path) -> None:
    kinds: set[int] = set()

    def look(name: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset):
            settings = item.id.get_create_plist()
            kinds.add(settings.get_layout())
            in_header = settings.get_layout() == h5py.h5d.COMPACT
            assert in_header or item.fletcher32, name

    path = long_recording(tmp_path)
    # Headers have checksums since the second version of the format.
    assert path.read_bytes()[:9] == b"\x89HDF\r\n\x1a\n\x03"
    with h5py.File(path) as file:
        file.visititems(look)
    assert kinds == {h5py.h5d.COMPACT, h5py.h5d.CHUNKED}


@pytest.mark.parametrize("number", [30.0, 3999.0])
def test_a_flipped_bit_of_an_array_is_not_read(tmp_path: Path, number: float) -> None:
    path = long_recording(tmp_path)
    data = bytearray(path.read_bytes())
    data[data.index(np.float32(number + 100).tobytes())] ^= 1
    path.write_bytes(data)
    with h5py.File(path) as file, pytest.raises(OSError, match="read"):
        np.asarray(file["traj_1/rewards"])


def test_an_array_larger_than_a_chunk_is_read_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hdf5, "_CHUNK_BYTES", 5000)
    with h5py.File(long_recording(tmp_path)) as file:
        rewards = file["traj_1/rewards"]
        assert rewards.chunks == (1250,)
        np.testing.assert_array_equal(rewards, np.arange(4000) + 100)

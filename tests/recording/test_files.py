"""Files of a recording: parts during writing, and one file at the end."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from mjlab.recording import Recording, files, merge, read_index
from mjlab.recording.files import EpisodeFile
from mjlab.recording.hdf5 import as_record

ROOT = Path(__file__).resolve().parents[2]

Episode = tuple[dict[str, np.ndarray], dict[str, Any]]


def an_episode(world: int, steps: int) -> Episode:
    """Arrays and attributes of an episode whose data count its steps."""
    counted = np.arange(steps + 1, dtype=np.float32)
    arrays = {
        "rewards": counted[:-1] + 100 * world,
        "obs": np.stack([counted, counted], axis=1),
        "start": as_record(
            {"a": np.full(3, float(world)), "counter": np.array(7, np.int64)}
        ),
    }
    return arrays, {"world": world, "elapsed_steps": steps}


def a_file(path: Path, said: list[str] | None = None) -> EpisodeFile:
    say = (said if said is not None else []).append
    return EpisodeFile(path, attributes={}, about={"source_type": "test"}, say=say)


def add(file: EpisodeFile, *episodes: Episode) -> None:
    """Add episodes, and write them to disk."""
    for episode in episodes:
        file.add(*episode)
    file.save()


def check_first(path: Path, steps: int) -> None:
    with Recording(path) as recording:
        episode = recording.episode(0)
        np.testing.assert_array_equal(episode.read("rewards"), np.arange(steps))
        np.testing.assert_array_equal(episode.read("obs")[:, 0], np.arange(steps + 1))
        assert episode.read("start/counter") == 7


# --- Parts ----------------------------------------------------------------------------


def test_each_part_of_a_recording_is_a_recording_itself(tmp_path: Path) -> None:
    file = a_file(tmp_path / "run.h5")
    add(file, an_episode(0, 4), an_episode(1, 5))
    add(file, an_episode(2, 6))
    parts = sorted((tmp_path / "run.parts").iterdir())
    assert [part.name for part in parts] == ["00000000.h5", "00000002.h5"]
    with h5py.File(parts[1]) as part:
        assert part.attrs["format"] == b"mjlab-episodes"
        assert list(part) == ["traj_2"]
        np.testing.assert_array_equal(part["traj_2/rewards"], np.arange(6) + 200)


def test_a_concurrent_reader_gets_every_finished_episode(tmp_path: Path) -> None:
    path = tmp_path / "run.h5"
    file = a_file(path)
    assert read_index(path) == {"source_type": "test", "episodes": []}
    for number in range(4):
        add(file, an_episode(number, number + 1))
        with Recording(path) as recording:
            steps = [len(episode.read("rewards")) for episode in recording]
        assert steps == list(range(1, number + 2))
        listed = read_index(path)["episodes"]
        assert [entry["elapsed_steps"] for entry in listed] == steps
    file.finish()
    with Recording(path) as recording:
        assert len(recording) == 4


def test_a_finished_recording_is_one_file_with_a_list_of_its_episodes(
    tmp_path: Path,
) -> None:
    path = tmp_path / "run.h5"
    file = a_file(path)
    add(file, an_episode(0, 4), an_episode(1, 5))
    add(file, an_episode(2, 6))
    before = read_index(path)
    file.finish()
    assert sorted(each.name for each in tmp_path.iterdir()) == ["run.h5", "run.json"]
    check_first(path, 4)
    assert read_index(path) == before
    assert json.loads((tmp_path / "run.json").read_text()) == before
    assert [e["elapsed_steps"] for e in before["episodes"]] == [4, 5, 6]


def test_episodes_are_read_from_more_parts_than_are_open_at_a_time(
    tmp_path: Path,
) -> None:
    path = tmp_path / "run.h5"
    file = a_file(path)
    for world in range(40):
        add(file, an_episode(world, 2))
    with Recording(path) as recording:
        episodes = list(recording)
        found = [episode.read("start/a")[0].item() for episode in episodes]
        again = [episode.read("rewards")[1].item() for episode in episodes]
    assert found == list(range(40))
    assert again == [100.0 * world + 1.0 for world in range(40)]


def test_an_episode_is_on_disk_soon_after_it_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 100.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    file = a_file(tmp_path / "run.h5")
    assert file.seconds_left is None
    file.add(*an_episode(0, 4))
    now += 0.125
    file.add(*an_episode(1, 4))
    assert file.seconds_left == files.SAVE_S - 0.125
    now += 10.0
    assert file.seconds_left == 0.0
    file.save()
    assert file.seconds_left is None


def test_many_bytes_are_several_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "PART_BYTES", 1000)
    path = tmp_path / "run.h5"
    file = a_file(path)
    for world in range(6):
        file.add(*an_episode(world, 50))
    assert len(list(path.with_suffix(".parts").iterdir())) > 1
    file.finish()
    with h5py.File(path) as plain:
        for world in range(6):
            rewards = np.arange(50) + 100 * world
            np.testing.assert_array_equal(plain[f"traj_{world}/rewards"], rewards)


def test_merge_makes_one_file_of_an_interrupted_recording(tmp_path: Path) -> None:
    path = tmp_path / "run.h5"
    file = a_file(path)
    add(file, an_episode(0, 4))
    add(file, an_episode(1, 0))
    add(file, an_episode(2, 5))
    # The process was killed here.
    assert merge(path)
    check_first(path, 4)
    entries = read_index(path)["episodes"]
    assert [(e["episode_id"], e["world"]) for e in entries] == [(0, 0), (1, 2)]
    with h5py.File(path) as plain:
        assert plain["traj_1"].attrs["episode_id"] == 1
    assert merge(path)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["run.h5", "run.json"]


def test_a_merge_that_was_killed_is_completed_by_the_next(tmp_path: Path) -> None:
    path = tmp_path / "run.h5"
    file = a_file(path)
    add(file, an_episode(0, 4))
    parts = tmp_path / "run.parts"
    kept = {part.name: part.read_bytes() for part in parts.iterdir()}
    merge(path)
    # As if killed after writing the file, and before the list and deletion of parts.
    (tmp_path / "run.json").unlink()
    parts.mkdir()
    for name, data in kept.items():
        (parts / name).write_bytes(data)
    check_first(path, 4)
    assert merge(path)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["run.h5", "run.json"]


# --- A full disk ----------------------------------------------------------------------


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A separate disk with 1.5 MB."""
    place = tmp_path / "small"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=1536k", "tmpfs", str(place)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"A disk cannot be mounted here: {done.stderr.strip()}")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=False)


def test_a_full_disk_is_reported_once_and_its_files_are_kept(small_disk: Path) -> None:
    said: list[str] = []
    path = small_disk / "run.h5"
    file = a_file(path, said)
    for world in range(60):
        add(file, an_episode(world, 4000))
    kept = file.num_episodes
    assert 3 < kept < 60
    assert file.num_lost == 60 - kept
    assert len(said) == 1
    assert f"{path} cannot be written: No space left in {small_disk}" in said[0]
    assert "kB are free. The" in said[0]
    assert f"The {kept} episodes on disk are kept" in said[0]
    file.finish()
    assert len(said) == 2
    assert f"The episodes of {path} remain in" in said[1]
    check_first(path, 4000)
    with Recording(path) as recording:
        assert [len(each.read("rewards")) for each in recording] == [4000] * kept
    assert len(read_index(path)["episodes"]) == kept


REFUSED_WRITE = """
import gc, pathlib, sys
from mjlab import files

path = pathlib.Path(sys.argv[1])
files.create_beside = lambda path: (path, open("/dev/full", "wb", buffering=0))
kept = []
try:
    files.write_atomic(path, lambda file: file.write(b"data"))
except OSError as error:
    kept += [kept, error]
else:
    raise SystemExit("The write was not refused.")
del kept
gc.collect()
"""
"""Write to a full disk, and let the garbage collector free the error.

Writes to /dev/full fail.
"""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="There is no /dev/full.")
def test_the_error_of_a_full_disk_can_be_garbage_collected(tmp_path: Path) -> None:
    # A view of a BytesIO in the traceback crashes the garbage collector of Python
    # 3.12.1, and Python 3.13 prints a BufferError. A crash would end this process.
    command = [sys.executable, "-c", REFUSED_WRITE, str(tmp_path / "run.h5")]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_recording_continues_when_disk_space_returns(small_disk: Path) -> None:
    path = small_disk / "run.h5"
    file = a_file(path)
    ballast = small_disk / "ballast"
    ballast.write_bytes(bytes(1200 * 1024))
    add(file, an_episode(0, 40_000))
    assert (file.num_episodes, file.num_lost) == (0, 1)
    ballast.unlink()
    add(file, an_episode(0, 4))
    assert (file.num_episodes, file.num_lost) == (1, 1)
    file.finish()
    check_first(path, 4)

"""Recordings that are cut off: by a kill, by a full disk; and the parts they are of."""

import itertools
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import torch

from mjlab.parallel.memory import SharedArrays
from mjlab.recording import RecordingCfg, episode_store, hdf5, merge, read_index
from mjlab.recording.config import RecordingError
from mjlab.recording.episode_recording import EpisodeRecording, field_of
from mjlab.recording.episode_store import EpisodeFile
from mjlab.recording.hdf5 import EpisodeEncoder, RawEpisode, read_attributes
from mjlab.recording.layout import (
    CONTROL,
    Chunk,
    ChunkSizes,
    Ending,
    Layout,
    RecordedField,
    WriterPlan,
)
from mjlab.recording.reader import Recording
from mjlab.recording.step_store import CopyStream, DeviceStore, HostStore
from mjlab.recording.writer import Cutter, StreamWriter

ROOT = Path(__file__).resolve().parents[2]
CPU = torch.device("cpu")

# --- Parts and links ------------------------------------------------------------------

STEPS = Layout(
    [
        *[RecordedField(name, (), "uint8") for name in CONTROL],
        RecordedField("rewards", (), "float32"),
        RecordedField("obs", (2,), "float32", "state"),
    ]
)
BEGINNING = Layout(
    [
        RecordedField("obs", (2,), "float32"),
        RecordedField("start/a", (3,), "float64", "start"),
    ]
)
SHARED = Layout([RecordedField("start/counter", (), "int64", "start")])


def an_episode(world: int, steps: int) -> RawEpisode:
    rows = np.zeros(steps, STEPS.dtype)
    rows["rewards"] = np.arange(steps) + 100 * world
    rows["obs"] = np.arange(steps)[:, None] + 1
    begin = np.zeros((), BEGINNING.dtype)
    begin["start/a"] = world
    shared = np.full((), 7, SHARED.dtype)
    as_rows = rows.view(np.uint8).reshape(steps, -1)
    flat = (np.frombuffer(each.tobytes(), np.uint8) for each in (begin, shared))
    beginning, whole = flat
    return RawEpisode(world, beginning, whole, [as_rows])


def a_file(path: Path, said: list[str] | None = None) -> EpisodeFile:
    return EpisodeFile(
        path,
        EpisodeEncoder(STEPS, BEGINNING, SHARED),
        attributes={"format": "mjlab-episodes"},
        about={"source_type": "test"},
        say=(said if said is not None else []).append,
    )


def check_first(path: Path, steps: int) -> None:
    with h5py.File(path) as file:
        group = file["traj_0"]
        np.testing.assert_array_equal(group["rewards"], np.arange(steps))
        np.testing.assert_array_equal(group["obs"][:, 0], np.arange(steps + 1))
        assert group["start"]["counter"] == 7


def test_while_a_recording_goes_on_its_file_links_to_parts(tmp_path: Path) -> None:
    path = tmp_path / "run.h5"
    file = a_file(path)
    with h5py.File(path) as empty:
        assert read_attributes(empty) == {"format": "mjlab-episodes"}
    file.add([an_episode(0, 4), an_episode(1, 5)])
    file.add([an_episode(2, 6)])
    file.publish()
    check_first(path, 4)
    with h5py.File(path) as links:
        assert [links[f"traj_{i}"].attrs["world"] for i in range(3)] == [0, 1, 2]
        assert isinstance(links.get("traj_2", getlink=True), h5py.ExternalLink)
    index = read_index(path)
    assert index["source_type"] == "test"
    assert [entry["elapsed_steps"] for entry in index["episodes"]] == [4, 5, 6]
    before = index["episodes"]
    file.finish(clean=True)
    check_first(path, 4)
    with h5py.File(path) as plain:
        assert isinstance(plain.get("traj_2", getlink=True), h5py.HardLink)
    assert read_index(path)["episodes"] == before
    assert sorted(each.name for each in tmp_path.iterdir()) == ["run.h5", "run.json"]


def test_a_reader_beside_the_writer_sees_every_batch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: now)
    path = tmp_path / "run.h5"
    file = a_file(path)
    for number in range(4):
        file.add([an_episode(number, number + 1)])
        now += 60.0
        file.publish_when_due()
        with h5py.File(path) as links:
            steps = [len(links[f"traj_{i}"]["rewards"]) for i in range(len(links))]
        assert steps == list(range(1, number + 2))
        listed = read_index(path)["episodes"]
        assert [entry["elapsed_steps"] for entry in listed] == steps
    file.finish(clean=True)


def test_a_batch_that_could_not_be_published_is_published_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: now)
    path = tmp_path / "run.h5"
    file = a_file(path)
    file.add([an_episode(0, 4)])
    file.publish_when_due()  # Too soon after the file began.
    with h5py.File(path) as links:
        assert len(links) == 0
    write, now = episode_store.write_atomic, now + 60.0

    def full(path: Path, data: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(episode_store, "write_atomic", full)
    file.publish_when_due()
    monkeypatch.setattr(episode_store, "write_atomic", write)
    now += 60.0
    file.publish_when_due()
    check_first(path, 4)
    file.finish(clean=True)


def test_links_are_written_seldom_enough_to_take_a_fifth_of_the_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = a_file(tmp_path / "run.h5")
    now = time.monotonic() + 100.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    published: list[float] = []
    monkeypatch.setattr(
        episode_store, "write_atomic", lambda path, write: published.append(now)
    )
    file._is_published = False
    file.publish_when_due()
    file._cost = 2.0  # As if writing the links had taken so long.
    for _ in range(40):
        now += 0.5
        file._is_published = False
        file.publish_when_due()
        file._cost = 2.0
    gaps = [b - a for a, b in itertools.pairwise(published)]
    assert len(published) > 2
    assert min(gaps) == 8.0


def test_a_line_at_which_a_kill_struck_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "run.h5"
    file = a_file(path)
    file.add([an_episode(0, 4)])
    file.publish()
    with path.with_suffix(".jsonl").open("a") as lines:
        lines.write('{"episode_id": 1, "elap')
    assert [e["elapsed_steps"] for e in read_index(path)["episodes"]] == [4]
    assert merge(path)
    check_first(path, 4)
    assert len(json.loads(path.with_suffix(".json").read_text())["episodes"]) == 1


def test_many_episodes_are_several_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(episode_store, "PART_BYTES", 1000)
    path = tmp_path / "run.h5"
    file = a_file(path)
    file.add([an_episode(world, 50) for world in range(6)])
    assert len(list(path.with_suffix(".parts").iterdir())) > 1
    file.finish(clean=True)
    with h5py.File(path) as plain:
        for world in range(6):
            rewards = np.arange(50) + 100 * world
            np.testing.assert_array_equal(plain[f"traj_{world}/rewards"], rewards)


# --- A damaged file -------------------------------------------------------------------


def test_a_recording_that_is_refused_is_not_left_open(tmp_path: Path) -> None:
    path = tmp_path / "run.h5"
    with h5py.File(path, "w") as file:
        file.attrs["format"], file.attrs["format_version"] = hdf5.FORMAT, "none"
    files = (h5py.h5f.OBJ_ALL, h5py.h5f.OBJ_FILE)
    before = h5py.h5f.get_obj_count(*files)
    # The error keeps what it came from alive.
    with pytest.raises(RecordingError, match="is damaged") as refused:
        Recording(path)
    assert refused.tb is not None
    assert h5py.h5f.get_obj_count(*files) == before


# --- A full disk ----------------------------------------------------------------------


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of its own with room for 1.5 MB."""
    place = tmp_path / "small"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=1536k", "tmpfs", str(place)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"A disk cannot be mounted here: {done.stderr.strip()}")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=False)


def test_a_full_disk_is_said_once_and_what_was_written_stays(small_disk: Path) -> None:
    said: list[str] = []
    path = small_disk / "run.h5"
    file = a_file(path, said)
    for world in range(60):
        file.add([an_episode(world, 4000)])
        file.publish_when_due()
    kept = file.num_episodes
    assert 3 < kept < 60
    assert file.num_lost == 60 - kept
    assert len(said) == 1
    assert f"{path} cannot be written to: No space left in {small_disk}" in said[0]
    assert "kB are free. The" in said[0]
    assert "episodes that are written stay" in said[0]
    file.finish(clean=True)
    check_first(path, 4000)
    with h5py.File(path) as links:
        assert len(links) == kept
        assert all(len(links[name]["rewards"]) == 4000 for name in links)
    assert len(read_index(path)["episodes"]) == kept
    assert len(said) == 2
    assert "stays a file of links" in said[1]


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
"""Write to a file of a full disk, and have the collector free the error. The kernel
refuses what is written to /dev/full."""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="There is no /dev/full.")
def test_the_error_of_a_full_disk_can_be_garbage_collected(tmp_path: Path) -> None:
    # A view of a BytesIO in the traceback crashes the collector of Python 3.12.1, and
    # Python 3.13 reports a BufferError on stderr. A crash would end this process.
    command = [sys.executable, "-c", REFUSED_WRITE, str(tmp_path / "run.h5")]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_room_that_comes_back_is_used(small_disk: Path) -> None:
    path = small_disk / "run.h5"
    file = a_file(path)
    ballast = small_disk / "ballast"
    ballast.write_bytes(bytes(1200 * 1024))
    file.add([an_episode(0, 40_000)])
    assert (file.num_episodes, file.num_lost) == (0, 1)
    ballast.unlink()
    file.add([an_episode(0, 4)])
    assert (file.num_episodes, file.num_lost) == (1, 1)
    file.finish(clean=True)
    check_first(path, 4)


def test_a_run_goes_on_where_the_disk_is_full(
    small_disk: Path, caplog: pytest.LogCaptureFixture
) -> None:
    recording = a_recording(small_disk, width=250)
    write_episodes(recording, 60, length=50, width=250)
    with caplog.at_level("WARNING"):
        recording.close()
    totals = recording.totals
    assert totals["episodes"] + totals["lost"] == 120
    assert 0 < totals["episodes"] < 120
    warned = [r.getMessage() for r in caplog.records if "cannot be" in r.getMessage()]
    assert len(warned) == 1
    with h5py.File(small_disk / "run.h5") as links:
        assert len(links) == totals["episodes"]
        np.testing.assert_array_equal(links["traj_0/counted"][:, 0], np.arange(50))


# --- Two processes --------------------------------------------------------------------


def a_recording(folder: Path, width: int = 1) -> EpisodeRecording:
    return EpisodeRecording(
        RecordingCfg(folder=str(folder), name="run"),
        2,
        CPU,
        steps=[field_of("counted", torch.zeros(2, width), 2, "step")],
        beginning=[],
        shared=[],
        attributes={},
        about={},
    )


def no_more() -> tuple[dict[str, Any], dict[str, Any]]:
    """What is recorded of a beginning: nothing."""
    return {}, {}


def write_episodes(
    recording: EpisodeRecording, number: int, length: int, width: int = 1
) -> None:
    """Episodes in which both worlds count from 0."""
    everyone, nobody = torch.ones(2, dtype=torch.bool), torch.zeros(2, dtype=torch.bool)
    begin = {"stepped": nobody, "ending": nobody, "begins": everyone}
    recording.write({**begin, "counted": torch.zeros(2, width)}, everyone, no_more)
    recording.commit()
    for _ in range(number):
        for step in range(length):
            ends = everyone if step == length - 1 else nobody
            flags = {"stepped": everyone, "ending": ends, "begins": ends}
            counted = torch.full((2, width), float(step))
            recording.write({**flags, "counted": counted}, ends, no_more)
            recording.commit()


_KILLED = """
import sys, time, torch
sys.path.insert(0, {root!r})
from tests.recording.test_files import a_recording, write_episodes
recording = a_recording({folder!r})
print(recording.writer_pid, flush=True)
for number in range(1, 10_000):
    write_episodes(recording, 1, length=20)
    print(number, time.monotonic(), flush=True)
    time.sleep(0.02)
"""


@pytest.mark.slow
@pytest.mark.parametrize("also_writer", [False, True])
def test_a_kill_loses_no_episode_that_was_over_shortly_before(
    also_writer: bool, tmp_path: Path
) -> None:
    code = _KILLED.format(root=str(ROOT), folder=str(tmp_path))
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, cwd=ROOT
    )
    assert process.stdout is not None
    writer = int(process.stdout.readline())
    path = tmp_path / "run.h5"
    deadline = time.monotonic() + 120.0
    while time.monotonic() < deadline:
        if path.exists() and len(_published(path)) > 10:
            break
        time.sleep(0.05)
    time.sleep(2.5)
    killed_at = time.monotonic()
    if also_writer:
        os.kill(writer, signal.SIGKILL)
    process.send_signal(signal.SIGKILL)
    said = [line.split() for line in process.stdout.read().splitlines()]
    process.wait()
    whole = [(int(n), float(t)) for n, t in (line for line in said if len(line) == 2)]
    # A second is what is promised; a machine that is busy gets another.
    lag = 2.0 if also_writer else 0.0
    over = max(number for number, moment in whole if moment < killed_at - lag)
    if not also_writer:
        _wait_for_end(writer)
    names = _published(path)
    # Two worlds, of which each had as many episodes.
    assert len(names) >= 2 * over > 10
    with h5py.File(path) as file:
        for name in names:
            np.testing.assert_array_equal(file[name]["counted"][:, 0], np.arange(20))
    assert merge(path)
    with h5py.File(path) as file:
        # Parts that were not linked yet are found, too.
        assert set(file) >= set(names)


def _published(path: Path) -> list[str]:
    with h5py.File(path, "r", locking=False) as file:
        return list(file)


def _wait_for_end(pid: int) -> None:
    deadline = time.monotonic() + 60.0
    while time.monotonic() < deadline:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    pytest.fail("The writer goes on though nobody is there any more.")


def test_who_steps_waits_for_who_writes_and_loses_nothing(tmp_path: Path) -> None:
    recording = a_recording(tmp_path)
    writer = recording.writer_pid
    assert writer is not None
    os.kill(writer, signal.SIGSTOP)
    chunk = recording.sizes.rows
    free = recording.sizes.chunks - 1
    write_episodes(recording, 1, length=free * chunk - 1)
    thread = _later(0.5, lambda: os.kill(writer, signal.SIGCONT))
    before = time.monotonic()
    write_episodes(recording, 1, length=2 * chunk)
    assert time.monotonic() - before > 0.3
    thread.join()
    recording.close()
    assert recording.totals == {"episodes": 4, "lost": 0, "unasked": 0}


def _later(delay: float, action: Any) -> Any:
    from threading import Timer

    timer = Timer(delay, action)
    timer.start()
    return timer


def test_a_writer_that_dies_ends_the_recording_and_not_the_run(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    recording = a_recording(tmp_path)
    assert recording.writer_pid is not None
    os.kill(recording.writer_pid, signal.SIGKILL)
    write_episodes(recording, 40, length=20)
    with pytest.raises(RuntimeError, match="process that writes episodes has failed"):
        recording.close()
    told = [r for r in caplog.records if "Nothing is recorded" in r.getMessage()]
    assert len(told) == 1


# --- Cutting, and stores --------------------------------------------------------------


def test_a_stream_is_cut_as_its_rows_say() -> None:
    layout = Layout(
        [
            *[RecordedField(name, (), "uint8") for name in CONTROL],
            RecordedField("a", (), "uint8"),
        ]
    )
    cutter = Cutter(1, layout)
    kept, asked, held, gone = (
        Ending.KEPT,
        Ending.ASKED,
        Ending.HELD,
        Ending.DROPPED,
    )
    rows = [
        (1, 0, 0, 10),  # Before the first beginning: nobody's.
        (0, 0, 1, 0),
        (1, 0, 0, 11),
        (1, kept, 1, 12),
        (1, 0, 0, 13),
        (0, gone, 1, 0),
        (1, held, 1, 14),
        (1, 0, 0, 15),
        (0, asked, 1, 0),  # Writes 14; 15 goes on.
        (1, 0, 0, 16),
        (0, asked, 1, 0),  # Nothing waits: 15 and 16 are over.
        (1, kept, 0, 17),
        (1, 0, 0, 18),  # After an end and before a beginning.
    ]
    stream = np.array(rows, np.uint8)[:, None, :]
    beginnings = np.arange(6, dtype=np.uint8)[:, None]
    shared = np.arange(len(rows), dtype=np.uint8)[:, None]
    # In pieces of any size, the result is the same.
    for size in (1, 3, len(rows)):
        cutter = Cutter(1, layout)
        found = []
        begun = 0
        for first in range(0, len(rows), size):
            piece = stream[first : first + size]
            found += cutter.cut(piece, beginnings[begun:], shared[first : first + size])
            begun += int(piece[:, 0, 2].sum())
        values = [[int(v) for v in e.rows()[:, 3]] for e in found]
        assert values == [[11, 12], [14], [15, 16], [17]]
        assert [int(e.beginning[0]) for e in found] == [0, 2, 3, 5]
        assert [int(e.shared[0]) for e in found] == [1, 5, 6, 10]


def test_an_episode_longer_than_its_chunk_keeps_how_it_began() -> None:
    """The memory of a chunk is used again while the episode goes on."""
    layout = Layout(
        [
            *[RecordedField(name, (), "uint8") for name in CONTROL],
            RecordedField("a", (), "uint8"),
        ]
    )
    rows = np.zeros((2, 1, layout.row_bytes), np.uint8)
    beginnings, shared = np.zeros((2, 3), np.uint8), np.zeros((2, 4), np.uint8)
    cutter, found = Cutter(1, layout), []
    for chunk in range(6):
        rows[:, 0, :4] = [[1, 0, 0, 10 * chunk], [1, 0, 0, 10 * chunk + 1]]
        beginnings[:], shared[:] = 100 + chunk, 200 + chunk
        rows[0, 0, 2] = chunk == 1  # It begins after step 10, and ends with step 50.
        rows[0, 0, 1] = Ending.KEPT if chunk == 5 else Ending.GOES_ON
        found += cutter.cut(rows, beginnings, shared)
        rows[:], beginnings[:], shared[:] = 255, 255, 255
    (episode,) = found
    assert episode.rows()[:, 3].tolist() == [11, 20, 21, 30, 31, 40, 41, 50]
    assert episode.beginning.tolist() == [101] * 3
    assert episode.shared.tolist() == [201] * 4


def test_episodes_are_written_in_the_order_in_which_they_end() -> None:
    layout = Layout([RecordedField(name, (), "uint8") for name in CONTROL])
    stream = np.zeros((4, 3, layout.row_bytes), np.uint8)
    stream[1:, :, 0] = 1
    stream[0, :, 2] = 1  # All begin; the last world ends first, the others together.
    stream[1, 2, 1] = stream[3, :2, 1] = Ending.KEPT
    beginnings = np.arange(3, dtype=np.uint8)[:, None]
    shared = np.zeros((4, 1), np.uint8)
    found = Cutter(3, layout).cut(stream, beginnings, shared)
    assert [episode.world for episode in found] == [2, 0, 1]


def test_a_writer_that_looks_in_the_middle_of_a_chunk_finds_each_beginning(
    tmp_path: Path,
) -> None:
    """Two worlds whose episodes, of 2 and of 3 steps, begin with numbers of theirs."""
    layouts = [
        Layout([RecordedField(name, (), "uint8") for name in CONTROL]),
        Layout([RecordedField("start/number", (), "uint8", "start")]),
        Layout([]),
    ]
    sizes = ChunkSizes(2, 12, 24, *(each.row_bytes for each in layouts), chunks=1)
    memory = SharedArrays(sizes.specs())
    plan = WriterPlan(sizes, layouts, {"all": tmp_path / "run.h5"}, {}, {})
    writer = StreamWriter(plan, memory, lambda **message: None)
    chunk, begun = Chunk(memory, 0), 0
    for step in range(12):
        for world, length in enumerate((2, 3)):
            is_over = step % length == 0
            chunk.rows[step, world] = (step > 0, Ending.KEPT * is_over, is_over)
            chunk.beginnings[begun] = 10 * world + step // length
            begun += is_over
        chunk.num_rows = step + 1
        if step % 5 == 2:
            writer.look()
    writer.close(keep=False)
    with h5py.File(tmp_path / "run.h5") as file:
        found = sorted(int(group["start"]["number"]) for group in file.values())
    assert found == [0, 1, 2, 3, 4, 10, 11, 12]


def bytes_called(name: str, number: int) -> Layout:
    return Layout([RecordedField(name, (number,), "uint8")])


class AtOnce(CopyStream):
    """Copies that are there when they are asked for."""

    def __init__(self) -> None:
        pass

    def pin(self, memory: torch.Tensor) -> None:
        pass

    def copy(self, pairs: Any) -> None:
        for target, source in pairs:
            target.copy_(source)

    def is_done(self) -> bool:
        return True

    def wait(self) -> None:
        pass


def test_what_a_device_hands_over_is_what_the_host_writes() -> None:
    """Both stores, fed the same, against a list of what they were fed."""
    n, rows = 3, 4
    layouts = [
        bytes_called("row", 3),
        bytes_called("start", 5),
        Layout(
            [RecordedField(f, (n,), "uint8") for f, n in (("whole", 2), ("clock", 1))]
        ),
    ]
    random = torch.Generator().manual_seed(0)
    collected: list[list[tuple[Any, ...]]] = []
    for on_device in (False, True):
        random.manual_seed(0)
        sizes = ChunkSizes(n, rows, rows * n, 3, 5, 3, chunks=3)
        memory = SharedArrays(sizes.specs())
        found: list[tuple[Any, ...]] = []
        places = itertools.cycle([Chunk(memory, index) for index in range(3)])

        def hand_over(found: list[Any] = found, places: Any = places) -> None:
            chunk = next(places)
            number = chunk.num_rows
            begun = int(chunk.rows[:number, :, 2].sum())
            # What is shared is written where an episode begins, and stale elsewhere.
            begins = chunk.rows[:number, :, 2].any(axis=1)
            found += [row.tobytes() for row in chunk.rows[:number]]
            found += [("begin", row.tobytes()) for row in chunk.beginnings[:begun]]
            found += [
                ("shared", row.tobytes()) for row in chunk.shared[:number][begins]
            ]
            chunk.num_rows = 0

        store: Any
        if on_device:
            store = DeviceStore(memory, sizes, layouts, hand_over, CPU, AtOnce())
        else:
            store = HostStore(memory, sizes, layouts, hand_over)
        sent = []
        for _ in range(18):
            row = torch.randint(0, 9, (n, 3), dtype=torch.uint8, generator=random)
            begins = torch.rand(n, generator=random) < 0.4
            row[:, 2] = begins
            start = torch.randint(0, 9, (n, 5), dtype=torch.uint8, generator=random)
            whole = torch.randint(0, 9, (3,), dtype=torch.uint8, generator=random)
            # A step that is rehearsed leaves no trace.
            for value in (torch.zeros_like(row), row):
                mask = begins if value is row else torch.ones_like(begins)
                begin = {"start": start}, {"whole": whole[:2], "clock": whole[2:]}
                store.write({"row": value}, mask, lambda begin=begin: begin)
            store.commit()
            sent.append((row, start[begins], whole if begins.any() else None))
        store.finish()
        done = [each for each in found if isinstance(each, bytes)]
        assert done == [row.numpy().tobytes() for row, _, _ in sent][: len(done)]
        assert len(done) == (18 if on_device else 16)
        begun = [each[1] for each in found if each[0] == "begin"]
        expected = [r.numpy().tobytes() for _, s, _ in sent[: len(done)] for r in s]
        assert begun == expected
        commons = [each[1] for each in found if each[0] == "shared"]
        assert commons == [
            w.numpy().tobytes() for _, _, w in sent[: len(done)] if w is not None
        ]
        collected.append(done)
    assert collected[1][:16] == collected[0]


def test_a_chunk_is_handed_over_before_beginnings_find_no_room() -> None:
    n = 4
    sizes = ChunkSizes(n, 64, 2 * n, 3, 1, 0, chunks=2)
    memory = SharedArrays(sizes.specs())
    chunks = [Chunk(memory, 0), Chunk(memory, 1)]
    handed: list[int] = []

    def hand_over() -> None:
        chunk = chunks[len(handed) % 2]
        handed.append(chunk.num_rows)
        chunk.num_rows = 0

    layouts = [bytes_called("row", 3), bytes_called("start", 1), Layout([])]
    store = HostStore(memory, sizes, layouts, hand_over)
    everyone = torch.ones(n, dtype=torch.bool)
    row, start = (
        torch.zeros(n, 3, dtype=torch.uint8),
        torch.ones(n, 1, dtype=torch.uint8),
    )
    for _ in range(6):
        store.write({"row": row}, everyone, lambda: ({"start": start}, {}))
        store.commit()
    assert handed == [2, 2, 2]


# --- Checksums ------------------------------------------------------------------------


def long_recording(folder: Path) -> Path:
    """Two episodes of arrays that lie in their headers, and of arrays that do not."""
    file = a_file(folder / "run.h5")
    file.add([an_episode(0, 4), an_episode(1, 4000)])
    file.finish(clean=True)
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
    # Headers have checksums from the second version of the format on.
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

"""Recorder and writer process: kills, a full disk, a slow writer."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from mjlab.recording import Recorder, Recording, RecordingCfg, merge
from mjlab.recording.layout import field_of, recording_layout
from tests.recording.test_files import small_disk as small_disk

ROOT = Path(__file__).resolve().parents[2]
CPU = torch.device("cpu")


def a_recorder(folder: Path, width: int = 1) -> Recorder:
    """Recorder of two worlds and one field."""
    counted = field_of("counted", torch.zeros(2, width), 2, "step")
    cfg = RecordingCfg(folder=str(folder), name="run")
    layout = recording_layout([counted], [])
    about = {"source_type": "test"}
    return Recorder(cfg, 2, CPU, layout, attributes={}, about=about)


def no_more() -> tuple[dict[str, Any], dict[str, Any]]:
    """Values at an episode start: empty."""
    return {}, {}


def write_episodes(
    recorder: Recorder, number: int, length: int, width: int = 1
) -> None:
    """Episodes in which both worlds count from 0."""
    everyone, nobody = torch.ones(2, dtype=torch.bool), torch.zeros(2, dtype=torch.bool)
    begin = {"stepped": nobody, "ending": nobody, "begins": everyone}
    recorder.write({**begin, "counted": torch.zeros(2, width)}, everyone, no_more)
    recorder.commit()
    for _ in range(number):
        for step in range(length):
            ends = everyone if step == length - 1 else nobody
            flags = {"stepped": everyone, "ending": ends, "begins": ends}
            counted = torch.full((2, width), float(step))
            recorder.write({**flags, "counted": counted}, ends, no_more)
            recorder.commit()


def test_a_run_continues_when_the_disk_is_full(
    small_disk: Path, caplog: pytest.LogCaptureFixture
) -> None:
    recorder = a_recorder(small_disk, width=250)
    for _ in range(12):
        write_episodes(recorder, 5, length=50, width=250)
        recorder.save()
    with caplog.at_level("WARNING"):
        recorder.close()
    totals = recorder.totals
    assert totals["episodes"] + totals["lost"] == 120
    assert 0 < totals["episodes"] < 120
    warned = [record.getMessage() for record in caplog.records]
    assert len(warned) == 2
    assert "cannot be written: No space left" in warned[0]
    assert "remain in" in warned[1]
    with Recording(small_disk / "run.h5") as recording:
        assert len(recording) == totals["episodes"]
        counted = recording[0].read("counted")[:, 0]
    np.testing.assert_array_equal(counted, np.arange(50))


_KILLED = """
import sys, time, torch
sys.path.insert(0, {root!r})
from tests.recording.test_recorder import a_recorder, write_episodes
recorder = a_recorder({folder!r})
print(recorder.writer.pid, flush=True)
for number in range(1, 10_000):
    write_episodes(recorder, 1, length=20)
    print(number, time.monotonic(), flush=True)
    time.sleep(0.02)
"""


@pytest.mark.slow
@pytest.mark.parametrize("also_writer", [False, True])
def test_a_kill_loses_no_finished_episode_and_of_both_processes_the_last_second(
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
    while time.monotonic() < deadline and num_episodes(path) <= 10:
        time.sleep(0.05)
    time.sleep(2.5)
    killed_at = time.monotonic()
    if also_writer:
        os.kill(writer, signal.SIGKILL)
    process.send_signal(signal.SIGKILL)
    said = [line.split() for line in process.stdout.read().splitlines()]
    process.wait()
    whole = [(int(n), float(t)) for n, t in (line for line in said if len(line) == 2)]
    # Episodes are saved within a second; a busy machine gets another one.
    lag = 2.0 if also_writer else 0.0
    over = max(number for number, moment in whole if moment < killed_at - lag)
    if not also_writer:
        _wait_for_end(writer)
    # Two worlds with the same number of episodes.
    assert num_episodes(path) >= 2 * over > 10
    assert merge(path)
    with Recording(path) as recording:
        assert len(recording) >= 2 * over
        for episode in recording:
            counted = episode.read("counted")[:, 0]
            np.testing.assert_array_equal(counted, np.arange(20))


def num_episodes(path: Path) -> int:
    """Return the episodes visible to a reader during recording."""
    if not any(path.with_suffix(".parts").glob("*.h5")):
        return 0  # The writer has not started.
    with Recording(path) as recording:
        return len(recording)


def _wait_for_end(pid: int) -> None:
    deadline = time.monotonic() + 60.0
    while time.monotonic() < deadline:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    pytest.fail("The writer continues after the learner has ended.")


def test_steps_wait_for_a_slow_writer_and_no_rows_are_lost(tmp_path: Path) -> None:
    recorder = a_recorder(tmp_path)
    writer = recorder.writer.pid
    os.kill(writer, signal.SIGSTOP)
    block, blocks = 64, 3
    write_episodes(recorder, 1, length=blocks * block - 2)
    thread = _later(0.5, lambda: os.kill(writer, signal.SIGCONT))
    before = time.monotonic()
    write_episodes(recorder, 1, length=2 * block)
    assert time.monotonic() - before > 0.3
    thread.join()
    recorder.close()
    assert recorder.totals == {"episodes": 4, "lost": 0, "unasked": 0}


def _later(delay: float, action: Any) -> Any:
    from threading import Timer

    timer = Timer(delay, action)
    timer.start()
    return timer


def test_a_writer_that_dies_ends_the_recording_and_not_the_run(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    recorder = a_recorder(tmp_path)
    os.kill(recorder.writer.pid, signal.SIGKILL)
    write_episodes(recorder, 40, length=20)
    with pytest.raises(RuntimeError, match="writer process has failed"):
        recorder.close()
    told = [r for r in caplog.records if "Recording has stopped" in r.getMessage()]
    assert len(told) == 1

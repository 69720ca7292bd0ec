"""Killed writers: finished data are not lost, and incomplete data are not accepted.

A forked child is killed by SIGKILL before its first disk call, then before its second,
and so on until it succeeds; another test kills at random times.
"""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch

from mjlab.export import OnnxPolicy, write
from mjlab.export.runner.policy import CONTRACT
from mjlab.recording import merge, read_index
from mjlab.recording.reader import Recording
from mjlab.report.page import REPORT, write_report
from mjlab.rl import Ranks, ship
from mjlab.rl.checkpoint import load_model, save_checkpoint
from mjlab.runs import Checkpoints, Run
from mjlab.runs.checkpoints import find_checkpoint
from tests.fuzz.test_fuzz import a_policy
from tests.recording.test_files import a_file, add, an_episode
from tests.tasks.test_shipped import TRAINED

MOMENTS = 10
CALLS = ("fsync", "replace", "rename", "unlink", "rmdir", "mkdir", "open", "truncate")


class Writer(NamedTuple):
    """A write, and the required state after a kill at any time."""

    write: Callable[[], object]
    check: Callable[[], None]


def save(folder: Path) -> Writer:
    checkpoints = Checkpoints(folder, keep=2)

    def write_next() -> None:
        number = int(checkpoints.newest().stem[-3:]) + 1 if any(folder.iterdir()) else 1
        weights = torch.full((100_000,), float(number))
        model = {"learner": {"weights": weights}, "progress": number}
        save_checkpoint(checkpoints, number, model, {"world": number}, Ranks())

    def check() -> None:
        found = Checkpoints(folder).newest()
        assert found is not None
        weights = load_model(found)["learner"]["weights"]
        assert weights.unique().tolist() == [float(found.stem[-3:])]

    return Writer(write_next, check)


def merge_parts(folder: Path) -> Writer:
    path = folder / "run.h5"
    file = a_file(path)
    for world in range(3):
        add(file, an_episode(world, 4 + world))
    file.leave()

    def check() -> None:
        with Recording(path) as recording:
            found = [episode.read("rewards")[0].item() for episode in recording]
        assert found == [0.0, 100.0, 200.0]
        assert [e["elapsed_steps"] for e in read_index(path)["episodes"]] == [4, 5, 6]

    return Writer(lambda: merge(path), check)


def ship_run(folder: Path) -> Writer:
    run, to = Run(TRAINED["Cartpole-Balance"]), folder / "trained"

    def check() -> None:
        # A kill between two renames leaves the old one under another name, which `ship`
        # finds.
        places = [to] if to.exists() else list(folder.glob("trained.*.old"))
        assert len(places) == 1
        assert Run(places[0]).info() == run.info()
        assert load_model(find_checkpoint(places[0]))["progress"]

    return Writer(lambda: ship(run, to), check)


def export(folder: Path) -> Writer:
    path, model, contract = a_policy(folder)

    def write_file() -> None:
        write._write(path, model, dict(contract), lambda file: 0.0, 1.0)

    def check() -> None:
        assert OnnxPolicy(path).contract["inputs"] == contract["inputs"]
        beside = path.with_suffix(".contract.json")
        assert json.loads(beside.read_text())["inputs"] == contract["inputs"]

    assert CONTRACT in [entry.key for entry in model.metadata_props]
    return Writer(write_file, check)


def report(folder: Path) -> Writer:
    run = folder / "run"
    shutil.copytree(TRAINED["Cartpole-Balance"], run)
    lines = (run / "metrics.jsonl").read_text().splitlines()[:3]
    (run / "metrics.jsonl").write_text("\n".join(lines) + "\n")

    def check() -> None:
        assert (run / REPORT).read_text().rstrip().endswith("</html>")

    return Writer(lambda: write_report(run), check)


WRITERS = (save, merge_parts, ship_run, export, report)


def child(work: Callable[[], object]) -> int:
    """Start a process that works; return its id."""
    process = os.fork()
    if process == 0:
        try:
            work()
            os._exit(0)
        finally:
            os._exit(1)
    return process


def ends(process: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def dying_at(work: Callable[[], object], place: int) -> Callable[[], object]:
    """Work that dies before a disk call."""
    left = iter(range(place))

    def dying(call: Callable[..., Any]) -> Callable[..., Any]:
        def called(*arguments: Any, **more: Any) -> Any:
            if next(left, None) is None:
                os.kill(os.getpid(), signal.SIGKILL)
            return call(*arguments, **more)

        return called

    def run() -> None:
        for name in CALLS:
            setattr(os, name, dying(getattr(os, name)))
        work()

    return run


def moments(number: int, longest: float) -> Iterator[float]:
    chance = random.Random(number)
    return (chance.uniform(0.0, longest) for _ in range(number))


ALONE = "MJLAB_TEST_ALONE"
"""Set in the separate process in which a test runs."""


def ran_alone(request: pytest.FixtureRequest, **more: str) -> bool:
    """Run a test in a new process, unless this is the new process; it must pass there.

    The given variables are added to its environment. After other tests a worker can be
    too large for `fork`, and a forked copy can wait forever for a lock of another
    thread.
    """
    if ALONE in os.environ:
        return False
    env = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST")}
    found = subprocess.run(
        [sys.executable, "-m", "pytest", "-m", "slow", request.node.nodeid],
        cwd=request.config.rootpath,
        env=env | {ALONE: "1"} | more,
        capture_output=True,
        text=True,
        check=False,
        timeout=280.0,
    )
    assert found.returncode == 0, found.stdout + found.stderr
    return True


@pytest.mark.slow
@pytest.mark.parametrize("make", WRITERS, ids=lambda make: make.__name__)
def test_a_writer_may_die_before_any_call_of_the_disk(
    make: Any, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    if ran_alone(request):
        return
    for place in range(100):
        folder = tmp_path / str(place)
        folder.mkdir()
        writer: Writer = make(folder)
        if make is not merge_parts:
            writer.write()
        code = ends(child(dying_at(writer.write, place)))
        writer.check()
        if code == 0:
            break
        assert code == -signal.SIGKILL
        writer.write()
        writer.check()
    assert 3 < place < 99


@pytest.mark.slow
@pytest.mark.parametrize("make", WRITERS, ids=lambda make: make.__name__)
def test_kill_9_at_random_moments_loses_no_data(
    make: Any, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    if ran_alone(request):
        return

    def write_on(writer: Writer) -> None:
        while True:
            writer.write()

    for number, delay in enumerate(moments(MOMENTS, 0.3)):
        folder = tmp_path / str(number)
        folder.mkdir()
        writer: Writer = make(folder)
        if make is merge_parts:
            process, delay = child(writer.write), delay / 10.0
        else:
            writer.write()
            process = child(lambda writer=writer: write_on(writer))
        time.sleep(delay)
        os.kill(process, signal.SIGKILL)
        ends(process)
        writer.check()
        writer.write()
        writer.check()
        shutil.rmtree(folder)

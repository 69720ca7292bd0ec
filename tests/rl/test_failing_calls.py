"""The n-th system call fails, n = 1, 2, ...: no saved data are lost or incomplete.

Each writer runs with its first write failing, then its second, and so on until it
succeeds; the same for syncs, renames, new files and allocations. Afterwards a reader
finds the old state or the new one, the failure was reported in one line, and writing
again succeeds. The same is done with complete trainings.
"""

import errno
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mjlab.cli.answers import _is_answer
from mjlab.recording import merge
from mjlab.rl.logging import JsonlWriter, read_rows
from mjlab.runs import Checkpoints
from mjlab.runs.checkpoints import find_fault
from mjlab.runs.metrics import read_metrics
from mjlab.sweep.page import write_page
from mjlab.sweep.study import open_study, using_database
from tests.recording.test_files import a_file, add, an_episode
from tests.rl.test_killed_writers import ran_alone
from tests.sweep.test_sweep import WEIGHT, make_search
from tests.tools.failing_calls import SOURCE, failing
from tests.tools.preload import build_library
from tests.worlds.writers import WRITERS as ALL_WRITERS
from tests.worlds.writers import Writer, episodes_in, record

ROOT = Path(__file__).resolve().parents[2]

FAULTS = [
    ("write", errno.EIO),
    ("write", errno.ENOSPC),
    ("write", errno.EINTR),
    ("sync", errno.EIO),
    ("rename", errno.EIO),
    ("create", errno.ENOSPC),
    ("memory", errno.ENOMEM),
]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_library(SOURCE, tmp_path_factory.mktemp("library"))


def metrics(folder: Path) -> Writer:
    """A resumed run: lines after its checkpoint are removed, then one is added."""
    path = folder / "metrics.jsonl"
    lines = [json.dumps({"iteration": i, "Train/x": float(i)}) for i in range(1, 9)]
    path.write_text("\n".join(lines) + "\n")

    def write() -> None:
        writer = JsonlWriter(path, start=5)
        try:
            writer.write(6, {"Train/x": 60.0})
        finally:
            writer.close()

    def read() -> Any:
        found = [line["Train/x"] for line in read_rows(path)]
        assert found[:5] == [1.0, 2.0, 3.0, 4.0, 5.0]
        assert found[5:] in ([6.0, 7.0, 8.0], [], [60.0])
        assert read_metrics(path).damaged == 0
        # Lines that do not count as written belong to the old state.
        return "new" if found[5:] == [60.0] else "old"

    return Writer(write, read)


def sweep(folder: Path) -> Writer:
    """Another trial is scored, and the page is written."""
    search = make_search()
    # SQLite needs 60 writes to create the tables, so each study is a copy of one.
    template = folder.parent / "template"
    if not template.exists():
        search.begin(template, "s")
    shutil.copytree(template, folder, dirs_exist_ok=True)
    (place,) = folder.glob("*/*")

    def add_trial() -> None:
        study = open_study(place, seed=1, prunes=False)
        with using_database(place):
            trial = study.ask()
            score = trial.suggest_float(WEIGHT, 0.1, 10.0, log=True)
            trial.suggest_categorical("agent.actor.activation", ["elu", "tanh"])
            study.tell(trial, score)
        write_page(place, search, study)

    def read() -> Any:
        trials = open_study(place, seed=1, prunes=False).get_trials()
        done = [trial for trial in trials if trial.state.is_finished()]
        assert all(trial.value == trial.params[WEIGHT] for trial in done)
        page = next(place.glob("*.html")).read_text()
        assert page.rstrip().endswith("</html>")
        return min(len(done), 2)

    if not any(place.glob("*.html")):
        add_trial()
        shutil.rmtree(template)
        shutil.copytree(folder, template)
    return Writer(add_trial, read)


def record_on(folder: Path) -> Writer:
    """Episodes are added to a recording with one episode, and it is finished."""
    path = folder / "run.h5"
    said: list[str] = []
    file = a_file(path, said)
    add(file, an_episode(0, 4))
    waiting = [an_episode(1, 5), an_episode(2, 6)]

    def write() -> None:
        if waiting:
            while waiting:
                add(file, waiting.pop(0))
            file.finish()
        else:
            merge(path)  # As for a recording whose process ended early.

    def read() -> Any:
        rewards, steps = episodes_in(path)
        assert [0.0] in rewards
        assert len(rewards) == len(steps)
        assert all(one in ([0.0], [100.0], [200.0]) for one in rewards)
        assert all("\n" not in line for line in said)
        return "whole" if len(rewards) == 3 - file.num_lost else "begun"

    return Writer(write, read)


WRITERS = [
    *(make for make in ALL_WRITERS if make is not record),
    *(record_on, metrics, sweep),
]


def is_reported(error: Exception, code: int) -> bool:
    """Return True for an error that the command line prints as one line."""
    if code == errno.ENOMEM:
        # The failed allocator belongs to Python, NumPy, torch, SQLite or HDF5.
        return "alloc" in str(error) or "memory" in f"{type(error)} {error}".lower()
    return _is_answer(error) and "\n" not in str(error)


def failures(make: Any, folder: Path, kind: str, code: int) -> tuple[int, list[str]]:
    """Fail each call of a kind in turn; return the number of failures, and errors."""
    wrong: list[str] = []
    # SQLite makes 60 writes per trial, and each failure takes a second.
    for at in range(1, 400, 4 if make is sweep else 1):
        place = folder / f"{kind}-{code}-{at}"
        place.mkdir(parents=True)
        writer: Writer = make(place)
        before = writer.read()
        error: Exception | None = None
        with failing(place, kind, at, code) as outcome:
            try:
                writer.write()
            except Exception as raised:
                error = raised
        if outcome.counted[0] < at:
            assert error is None
            return at - 1, wrong
        try:
            found = writer.read()
            writer.write()
            after = writer.read()
        except Exception as raised:
            wrong.append(f"call {at}: unreadable: {type(raised).__name__}: {raised}")
            continue
        if found not in (before, after):
            wrong.append(f"call {at}: found {found}, not {before} or {after}")
        if code == errno.EINTR and (error is not None or found != after):
            wrong.append(f"call {at}: was not repeated after EINTR: {error!r}")
        if error is not None and not is_reported(error, code):
            wrong.append(f"call {at}: {type(error).__name__}: {error}")
        shutil.rmtree(place)
    raise AssertionError(f"{make.__name__} never got through")


@pytest.mark.slow
@pytest.mark.parametrize("make", WRITERS, ids=lambda make: make.__name__)
def test_failing_system_call_loses_no_data(
    make: Any, tmp_path: Path, request: pytest.FixtureRequest, library: Path
) -> None:
    if ran_alone(request, LD_PRELOAD=str(library)):
        return
    wrong: list[str] = []
    for kind, code in FAULTS:
        count, found = failures(make, tmp_path, kind, code)
        print(f"{make.__name__}: {kind} {errno.errorcode[code]}: {count} calls")
        wrong += [f"{kind} {errno.errorcode[code]}, {each}" for each in found]
    assert not wrong, "\n".join(wrong)


# --- Whole trainings ------------------------------------------------------------------

TRAIN = [
    *(sys.executable, "-m", "mjlab", "train", "Cartpole-Balance"),
    *("--env.scene.num-envs", "8", "--agent.num-steps-per-env", "4"),
    *("--agent.max-iterations", "5", "--agent.checkpoint.every", "1", "--seed", "1"),
    *("--device", "cpu"),
]


def train(logs: Path, *more: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*TRAIN, "--logs", str(logs), *more],
        env=os.environ | {"PYTHONPATH": str(ROOT)} | env,
        capture_output=True,
        text=True,
        check=False,
        timeout=240.0,
    )


def check_run(run: Path) -> bool:
    """Check all saved files of a run; return True if it has a checkpoint."""
    checkpoints = Checkpoints(run / "checkpoints")
    for number in checkpoints.iterations():
        path = checkpoints.folder / f"model_{number:06d}.pt"
        assert find_fault(path) is None
    assert read_metrics(run / "metrics.jsonl").damaged == 0
    status = json.loads((run / "run.json").read_text())["status"]
    # A folder that was not created completely has no run.
    assert status != "running" or not (run / "defaults.json").exists()
    return bool(checkpoints.iterations())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "code"),
    [fault for fault in FAULTS if fault[0] != "memory" and fault[1] != errno.EINTR],
    ids=lambda value: errno.errorcode.get(value, value),
)
def test_failing_system_call_ends_training_in_one_line(
    kind: str, code: int, tmp_path: Path, library: Path
) -> None:
    ended = 0
    for at in (1, 2, 4, 9, 16, 23, 30, 37):
        logs = tmp_path / str(at)
        logs.mkdir()
        fault = {"FAIL_FOLDER": str(logs), "FAIL_KIND": kind, "FAIL_AT": str(at)}
        done = train(logs, **fault, FAIL_ERROR=str(code), LD_PRELOAD=str(library))
        assert "Traceback" not in done.stderr, f"call {at}: {done.stderr}"
        runs = list(logs.glob("Cartpole-Balance/2*/run.json"))
        has_checkpoint = bool(runs) and check_run(runs[0].parent)
        if done.returncode == 0:
            # TensorBoard's files, links and the report do not end a training.
            assert has_checkpoint
            assert json.loads(runs[0].read_text())["status"] == "finished"
            continue
        ended += 1
        (line,) = [line for line in done.stderr.splitlines() if "error" in line]
        assert os.strerror(code).lower() in line.lower() or "No space" in line
        if has_checkpoint:
            again = train(logs, "--resume", "latest")
            assert again.returncode == 0, again.stderr
    assert ended

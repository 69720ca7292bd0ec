"""Killed writers lose no finished data, and incomplete data are not accepted.

A forked child is killed (SIGKILL) before its first disk call, then before its second,
and so on until it succeeds. `tests/recording/test_power_cut.py` tests that writers sync
their files, which protects against power loss.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.worlds.writers import WRITERS, record

CALLS = ("fsync", "replace", "rename", "unlink", "rmdir", "mkdir", "open", "truncate")


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
def test_killed_writer_leaves_valid_files_at_any_disk_call(
    make: Any, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    if ran_alone(request):
        return
    place = 0
    for place in range(200):
        folder = tmp_path / str(place)
        folder.mkdir()
        writer = make(folder)
        before = writer.read()
        code = ends(child(dying_at(writer.write, place)))
        found = writer.read()
        writer.write()
        after = writer.read()
        # A recording is readable with the first of its episodes, too.
        assert found in (before, after, *((0, 1) if make is record else ()))
        if code == 0:
            assert found == after
            break
        assert code == -signal.SIGKILL
    assert 3 < place < 199

"""Locks of folders, held by this process and by others."""

import subprocess
import sys
from pathlib import Path

import pytest

from mjlab.runs.lock import LOCK, is_abandoned, locked

HOLD = """
import sys
from pathlib import Path
from mjlab.runs.lock import locked
with locked(Path(sys.argv[1]), RuntimeError):
    print("locked", flush=True)
    sys.stdin.read()
"""


def test_lock_excludes_other_processes_until_its_process_ends(
    tmp_path: Path,
) -> None:
    assert not is_abandoned(tmp_path)
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert holder.stdout is not None and holder.stdout.readline() == "locked\n"
    with pytest.raises(BlockingIOError, match="busy"):
        with locked(tmp_path, lambda: BlockingIOError("busy")):
            pytest.fail("two processes hold one lock")
    assert not is_abandoned(tmp_path)
    holder.kill()
    holder.communicate()
    assert is_abandoned(tmp_path) and (tmp_path / LOCK).is_file()
    with locked(tmp_path, lambda: BlockingIOError("busy")):
        assert not is_abandoned(tmp_path)

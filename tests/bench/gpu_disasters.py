"""Failing checks, for tests of the GPU check runner."""

import atexit
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any


def good(device: str, rehearse: bool, number: int) -> dict[str, Any]:
    return {"passed": True, "reason": "", "rate": 1.5 * number, "device": device}


def bad(device: str, rehearse: bool) -> dict[str, Any]:
    return {"passed": False, "reason": "0.5 of what was asked\nin two lines"}


def crash(device: str, rehearse: bool) -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def hang(device: str, rehearse: bool, note: str) -> None:
    """Hang with a child process that hangs too, and ignore requests to end."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    Path(note).write_text(str(child.pid))
    time.sleep(600)


def fault(device: str, rehearse: bool) -> None:
    """Fail like a kernel with an illegal memory access; the process does not end."""
    atexit.register(time.sleep, 600)
    raise RuntimeError("CUDA error: an illegal memory access was encountered")

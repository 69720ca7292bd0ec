"""The lock of a folder: one process at a time trains in a run."""

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

from mjlab.files import saying_why

LOCK = ".lock"
"""Name of the file that the process of a run keeps locked while it trains."""


@contextlib.contextmanager
def locked(folder: Path, refusal: Callable[[], Exception]) -> Iterator[None]:
    """Keep other processes out of a folder, until this block or this process ends.

    Args:
        folder: The folder.
        refusal: Makes the error if another process holds the lock.
    """
    try:
        import fcntl
    except ImportError:  # Windows has no such locks.
        yield
        return
    with saying_why(folder):
        file = (folder / LOCK).open("a")
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise refusal() from None
        yield


def is_abandoned(folder: Path) -> bool:
    """Return True if a process locked the folder and has ended since."""
    try:
        import fcntl

        with (folder / LOCK).open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except (ImportError, OSError):  # No such locks, no such file, or it is locked.
        return False
    return True

"""Lock the folder of a run, so that only one process at a time trains in it."""

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

from mjlab.files import saying_why

LOCK = ".lock"
"""Name of the file that a training process locks."""


@contextlib.contextmanager
def locked(folder: Path, refusal: Callable[[], Exception]) -> Iterator[None]:
    """Lock a folder against other processes, until the block or this process ends.

    On Windows, nothing is locked.

    Args:
        folder: Folder to lock.
        refusal: Returns the error to raise if another process holds the lock.
    """
    try:
        import fcntl
    except ImportError:  # Windows has no `fcntl`.
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
    """Return whether the process that locked the folder has ended.

    False if the folder was never locked, or if locks are not supported.
    """
    try:
        import fcntl

        with (folder / LOCK).open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except (ImportError, OSError):
        return False
    return True

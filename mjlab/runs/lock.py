"""Lock a folder, so that only one process at a time trains in a run."""

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

from mjlab.files import saying_why

LOCK = ".lock"
"""Name of the file that a training process locks."""


@contextlib.contextmanager
def locked(folder: Path, refusal: Callable[[], Exception]) -> Iterator[None]:
    """Lock a folder against other processes, until the block or this process ends.

    Args:
        folder: The folder.
        refusal: Returns the error to raise if another process holds the lock.
    """
    try:
        import fcntl
    except ImportError:  # Windows has no file locks of this kind.
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
    """Return True if the process that locked the folder has ended."""
    try:
        import fcntl

        with (folder / LOCK).open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    # Locks are not supported, the file is missing, or it is locked.
    except (ImportError, OSError):
        return False
    return True

"""Make the n-th write, sync, rename, creation or allocation of a process fail."""

import contextlib
import ctypes
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

SOURCE = Path(__file__).with_suffix(".c")

KINDS = ("write", "sync", "rename", "create", "memory")
"""Kinds of calls that can fail."""


class Armed(NamedTuple):
    """Outcome of an armed block."""

    counted: list[int]
    """One entry after the block: the number of calls of the kind."""


@contextlib.contextmanager
def failing(folder: Path, kind: str, at: int, error: int) -> Iterator[Armed]:
    """Make a call of this process fail once; the process must preload the library.

    Args:
        folder: Folder whose files count. Allocations count anywhere.
        kind: Kind of call.
        at: Number of the call, from 1.
        error: Error number of the failure.
    """
    fail = ctypes.CDLL(None).fail_call
    fail.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_long, ctypes.c_int]
    fail.restype = ctypes.c_long
    outcome = Armed([])
    fail(str(folder).encode(), kind.encode(), at, error)
    try:
        yield outcome
    finally:
        outcome.counted.append(fail(b"", b"", 0, 0))

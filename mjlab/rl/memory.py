"""What the C library does with memory that tensors have freed."""

import ctypes
import sys

# Of glibc's mallopt; the second is as high as it takes.
_TRIM_THRESHOLD, _KEPT = -1, 2**31 - 1
_MMAP_THRESHOLD, _FROM_HEAP = -3, 2**25


def keep_freed_memory() -> None:
    """Have it keep that for the next tensors, for the rest of the process.

    Otherwise it gives the memory of a minibatch back to the system again and again, and
    each page that returns is cleared first (docs/decisions.md). Only glibc can be told
    so.
    """
    library = ctypes.CDLL(None) if sys.platform == "linux" else None
    if mallopt := getattr(library, "mallopt", None):
        mallopt(_TRIM_THRESHOLD, _KEPT)
        mallopt(_MMAP_THRESHOLD, _FROM_HEAP)

"""Freed memory, by what the C library says of its heap."""

import ctypes
import subprocess
import sys

import pytest

PROGRAM = """
import ctypes
from mjlab.rl.memory import keep_freed_memory

class Info(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in "heap b c d e f g h i j".split()]

libc = ctypes.CDLL(None)
libc.mallinfo2.restype, libc.malloc.restype = Info, ctypes.c_void_p
libc.free.argtypes = [ctypes.c_void_p]

def grown():
    "Megabytes by which the heap has grown when a large block is freed again."
    before = libc.mallinfo2().heap
    libc.free(libc.malloc(30 * 2**20))
    return libc.mallinfo2().heap - before >> 20

given_back = grown()
keep_freed_memory()
print(given_back, grown())
"""


@pytest.mark.skipif(
    sys.platform != "linux" or not hasattr(ctypes.CDLL(None), "mallinfo2"),
    reason="this C library does not say",
)
def test_memory_that_is_freed_while_training_stays_with_the_process() -> None:
    program = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(program, capture_output=True, text=True, check=True)
    given_back, kept = map(int, done.stdout.split())
    assert given_back < 5
    assert kept >= 29

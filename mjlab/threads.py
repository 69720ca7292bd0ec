"""Share processors between torch's threads and the threads of native physics.

Call `prepare_threads` before torch is imported. Torch's OpenMP threads spin while they
wait and take processor time from the physics threads: with two OpenMP threads on two
cores, native physics runs at 68 % of the rate of physics alone, compared with 93 to
102 % when the OpenMP threads sleep (docs/decisions/0011).
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager


def prepare_threads() -> bool:
    """Make OpenMP threads sleep while they wait; return False if torch is imported.

    After the import of torch, this has no effect. Environment variables set by the user
    are kept.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    os.environ.setdefault("GOMP_SPINCOUNT", "0")
    return "torch" not in sys.modules


@contextmanager
def torch_threads(number: int) -> Iterator[None]:
    """Set torch's number of threads in the block, such as 1 while physics runs."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(number)
    try:
        yield
    finally:
        torch.set_num_threads(before)

"""Shared memory and child processes, checked through the kernel."""

import multiprocessing
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mjlab.parallel.memory import ArraySpec, SharedArrays
from mjlab.parallel.process import ClosedError, Handshake, lasting_parent

SPECS = {
    "a": ArraySpec((3,), "int64"),
    "b": ArraySpec((0, 4), "float32"),
    "c": ArraySpec((2, 2), "bool"),
}


def test_shared_arrays_have_no_file_name() -> None:
    memory = SharedArrays(SPECS)
    assert memory["a"].tolist() == [0, 0, 0]
    assert memory["b"].shape == (0, 4)
    tensors = memory.tensors()
    tensors["a"][1] = 7
    assert memory["a"].tolist() == [0, 7, 0]
    address = tensors["a"].data_ptr()
    for line in Path("/proc/self/maps").read_text().splitlines():
        low, high = (int(end, 16) for end in line.split()[0].split("-"))
        if low <= address < high:
            assert line.endswith("/memfd:mjlab-shared (deleted)")
            return
    pytest.fail("The array is nowhere.")


def fill(memory: SharedArrays, handshake: Handshake) -> None:
    """Wait for a byte, and write to the arrays."""
    assert handshake.hear() == b"s"
    memory["a"][:] = [1, -2, 3]
    memory["c"][1] = True
    handshake.tell(b"k")


def test_processes_exchange_data_and_detect_the_end_of_the_other() -> None:
    memory = SharedArrays(SPECS)
    here, there = Handshake.pair()
    context = multiprocessing.get_context("spawn")
    process = context.Process(target=fill, args=(memory, there))
    process.start()
    there.close()
    assert here.hear(0.0) is None
    here.tell(b"s")
    assert here.hear(60.0) == b"k"
    np.testing.assert_array_equal(memory["a"], [1, -2, 3])
    np.testing.assert_array_equal(memory["c"], [[False, False], [True, True]])
    process.join(60.0)
    with pytest.raises(ClosedError):
        here.hear(60.0)


_CHILD = """
import os, sys
from mjlab.parallel.process import end_with_parent
end_with_parent(int(sys.argv[1]))
print("asked", flush=True)
"""


def run_child(parent: int) -> subprocess.CompletedProcess[str]:
    command: Any = [sys.executable, "-c", _CHILD, str(parent)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_child_whose_parent_has_ended_meanwhile_exits() -> None:
    assert run_child(os.getpid()).stdout == "asked\n"
    stranger = run_child(os.getppid())
    assert (stranger.returncode, stranger.stdout) == (1, "")


def test_a_child_of_a_passing_thread_does_not_end_with_it() -> None:
    found: list[int | None] = []
    thread = threading.Thread(target=lambda: found.append(lasting_parent()))
    thread.start()
    thread.join()
    assert found == [None]
    assert lasting_parent() == os.getpid()

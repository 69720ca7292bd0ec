# Kernel bodies are in Warp's language, which has Python syntax.
# pyright: reportIndexIssue=false
"""Kernel of a loop inside a graph, for the checks of `bench/gpu.py`."""

import warp as wp


@wp.kernel(enable_backward=False)
def add_one(left: wp.array[int], values: wp.array[float]) -> None:
    """Add one to all values, and count the iteration."""
    i = wp.tid()
    values[i] = values[i] + 1.0
    if i == 0:
        left[0] = left[0] - 1

"""Operators: one launch each on a CUDA device, plain operations elsewhere."""

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import torch

Operator = Callable[..., None]

_LIBRARY = torch.library.Library("mjlab", "FRAGMENT")


def one_launch(
    arguments: str,
    threads: Callable[[torch.Tensor], Sequence[int]] = lambda first: first.shape,
) -> Callable[[Operator], Operator]:
    """Have a function be one kernel on a CUDA device: that of `kernels.py` beside it.

    The function takes tensors and numbers, and writes to some of the tensors; the
    kernel has its name, takes the same in float32, and one thread for each element of
    the first. Tests compute in float64, on a CUDA device by the function too.

    Args:
        arguments: Their types, names and marks of what is written, as torch has them.
        threads: Returns how many threads the kernel has, if others.
    """

    def register(function: Operator) -> Operator:
        name, room = function.__name__, function.__module__.rpartition(".")[0]

        def run(*values: Any) -> None:
            if values[0].dtype == torch.float64:
                return function(*values)
            # Warp is imported where a CUDA device computes, and nowhere else.
            from mjlab.warp_stream import launch

            kernel = getattr(import_module(f"{room}.kernels"), name)
            launch(kernel, threads(values[0]), *values)

        _LIBRARY.define(f"{name}({arguments}) -> ()")
        _LIBRARY.impl(name, function, "CPU")
        _LIBRARY.impl(name, run, "CUDA")
        return getattr(torch.ops.mjlab, name).default

    return register

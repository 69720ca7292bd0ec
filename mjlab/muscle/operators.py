"""Operators that run as one kernel launch on CUDA, and as torch code elsewhere."""

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
    """Decorate a function to run as one kernel of `kernels.py` on a CUDA device.

    The function takes tensors and numbers, and writes to some of the tensors. The
    kernel has the same name and arguments, in float32, and one thread per element of
    the first tensor. Float64 tensors, as in tests, use the function on CUDA as well.

    Args:
        arguments: Argument types, names and mutation marks, in torch's schema syntax.
        threads: Launch dimensions as a function of the first tensor.
    """

    def register(function: Operator) -> Operator:
        name, room = function.__name__, function.__module__.rpartition(".")[0]

        def run(*values: Any) -> None:
            if values[0].dtype == torch.float64:
                return function(*values)
            # Warp is imported only if a CUDA device is used.
            from mjlab.warp_stream import launch

            kernel = getattr(import_module(f"{room}.kernels"), name)
            launch(kernel, threads(values[0]), *values)

        _LIBRARY.define(f"{name}({arguments}) -> ()")
        _LIBRARY.impl(name, function, "CPU")
        _LIBRARY.impl(name, run, "CUDA")
        return getattr(torch.ops.mjlab, name).default

    return register

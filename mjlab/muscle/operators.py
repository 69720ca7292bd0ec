"""Operators: one launch each on a CUDA device, plain operations of torch elsewhere."""

from collections.abc import Callable

import torch

_LIBRARY = torch.library.Library("mjlab", "FRAGMENT")

Operator = Callable[..., None]
"""A function of float32 tensors that writes to some of them."""


def one_launch(arguments: str) -> Callable[[Operator], Operator]:
    """Have a function be one kernel of `mjlab.muscle.kernels` on a CUDA device.

    Args:
        arguments: Their names and marks of what is written, in torch's own notation.
    """

    def register(function: Operator) -> Operator:
        name = function.__name__

        def launch(*tensors: torch.Tensor) -> None:
            # Warp is imported where a CUDA device computes, and nowhere else.
            from mjlab.muscle import kernels

            getattr(kernels, name)(*tensors)

        _LIBRARY.define(f"{name}({arguments}) -> ()")
        _LIBRARY.impl(name, function, "CPU")
        _LIBRARY.impl(name, launch, "CUDA")

        def call(*tensors: torch.Tensor) -> None:
            is_one = tensors[0].is_cuda and tensors[0].dtype == torch.float32
            (getattr(torch.ops.mjlab, name) if is_one else function)(*tensors)

        return call

    return register

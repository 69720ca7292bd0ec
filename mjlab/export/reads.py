"""Intercept reads and writes of live tensors during tracing.

Terms read tensors of an environment. During tracing, a tensor that holds an input of
the policy is replaced by the traced input, and a tensor that a term writes by a traced
copy. Reading any other tensor that changes during a run raises an error that names it.
"""

import linecache
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, TracebackType
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_map


class Untraceable(Exception):
    """Raised if traced code reads a value that a robot cannot measure, or branches."""


@dataclass
class _Region:
    """Contiguous memory of a live tensor, with its traced value or its name."""

    tensor: torch.Tensor
    value: torch.Tensor | None
    refusal: str = ""

    def offset(self, tensor: torch.Tensor) -> int | None:
        """Return the index of the tensor's first element; None outside the block."""
        size = self.tensor.element_size()
        start = tensor.data_ptr() - self.tensor.data_ptr()
        inside = 0 <= start < self.tensor.numel() * size
        return start // size if inside else None


_HOST_READS = frozenset(
    "numpy tolist item __bool__ __float__ __int__ __index__ __array__".split()
)
"""Tensor methods that copy values to Python."""

_SHAPE_READS = frozenset(
    "__get__ size dim ndimension numel stride __len__ is_floating_point is_contiguous "
    "data_ptr element_size".split()
)
"""Tensor methods that read shapes or addresses, never values."""


class LiveReads(TorchFunctionMode):
    """Replaces live tensors in torch calls by traced values.

    Raises `Untraceable` if a call reads a refused tensor or copies values to Python.
    """

    def __init__(
        self,
        given: list[tuple[torch.Tensor, torch.Tensor]],
        refused: Mapping[str, torch.Tensor],
        zero: torch.Tensor,
    ) -> None:
        """Store the live tensors.

        Args:
            given: Live tensors of one world, contiguous, with their traced values.
            refused: Other live tensors, by name.
            zero: Traced scalar of value 0, from which traced copies are made.
        """
        super().__init__()
        self._regions = [_Region(tensor, value) for tensor, value in given]
        self._refused = [_Region(t, None, name) for name, t in refused.items()]
        self._zero = zero

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        """Call a torch function with live tensors replaced in its arguments."""
        kwargs = kwargs or {}
        name = getattr(func, "__name__", "")
        for tensor in _written(name, args, kwargs):
            if _is_live(tensor) and self._known(tensor) is None:
                whole = tensor if tensor._base is None else tensor._base
                self._regions.append(_Region(whole, self._copied(whole)))
        if name in _HOST_READS and isinstance(args[0], torch.Tensor):
            if not _is_live(args[0]) or self._known(args[0]) is not None:
                raise Untraceable(
                    "branches on data, or reads numbers in Python; the graph of a "
                    "policy supports tensor operations only"
                )
        if name in _SHAPE_READS:
            return func(*args, **kwargs)
        args, kwargs = tree_map(self.read, (args, kwargs))
        return func(*args, **kwargs)

    def read(self, tensor: Any) -> Any:
        """Return the traced value of a live tensor; other values unchanged."""
        if not _is_live(tensor):
            return tensor
        region = self._known(tensor)
        if region is not None and region.value is not None:
            return _part(region, tensor)
        for refused in self._refused:
            if refused.offset(tensor) is not None:
                raise Untraceable(
                    f"reads {refused.refusal}, which a robot cannot measure"
                )
        return tensor

    def _known(self, tensor: torch.Tensor) -> _Region | None:
        return next((r for r in self._regions if r.offset(tensor) is not None), None)

    def _copied(self, tensor: torch.Tensor) -> torch.Tensor:
        if tensor.dtype == torch.bool:
            return tensor | (self._zero != 0)
        return tensor + self._zero.to(tensor.dtype)


def _is_live(tensor: Any) -> bool:
    """Return whether a value is a tensor with its own memory, not a traced tensor."""
    is_plain = type(tensor) in (torch.Tensor, torch.nn.Parameter)
    return is_plain and not torch._is_functional_tensor(tensor) and tensor.numel() > 0


def _written(name: str, args: Any, kwargs: Mapping[str, Any]) -> list[torch.Tensor]:
    """Return the tensors that a torch call writes."""
    out = kwargs.get("out")
    found = list(out) if isinstance(out, tuple | list) else [out]
    in_place = name.endswith("_") and not name.endswith("__")
    if in_place or name in ("__setitem__", "__iadd__", "__isub__", "__imul__"):
        found.append(args[0])
    return [tensor for tensor in found if isinstance(tensor, torch.Tensor)]


def _part(region: _Region, tensor: torch.Tensor) -> torch.Tensor:
    """Return the traced value of a view, sliced from the value of its region."""
    assert region.value is not None, "Refused blocks have no value."
    base, start = region.tensor, region.offset(tensor)
    assert start is not None, "The block contains the tensor."
    if tensor.shape == base.shape and tensor.is_contiguous():
        return region.value
    flat = region.value.view(-1)
    if tensor.is_contiguous():
        return flat.narrow(0, start, tensor.numel()).view(tensor.shape)
    places = torch.arange(base.numel()).as_strided(tensor.shape, tensor.stride(), start)
    return flat[places]


# Code locations in messages.

_PACKAGE = Path(__file__).parents[1]
_TORCH = Path(torch.__file__).parent


def line_of(error: BaseException, code: CodeType | None) -> str:
    """Return file, line number and text of the user code that caused an error.

    This is the innermost line outside torch and mjlab. For a term of mjlab, it is the
    innermost line of the term's function.

    Args:
        error: The error.
        code: Code of the term's function.
    """
    frames: list[tuple[CodeType, int]] = []
    trace: TracebackType | None = error.__traceback__
    while trace is not None:
        frames.append((trace.tb_frame.f_code, trace.tb_lineno))
        trace = trace.tb_next
    own = [frame for frame in frames if frame[0] is code]
    theirs = [f for f in frames if _is_of_user(f[0].co_filename)]
    if not (theirs or own) and code is not None:
        own = [(code, code.co_firstlineno)]  # Raised after the function returned.
    chosen = (theirs or own or frames)[-1]
    path, line = chosen[0].co_filename, chosen[1]
    text = linecache.getline(path, line).strip()
    return f"{Path(path).name}:{line} ({text})"


def _is_of_user(filename: str) -> bool:
    path = Path(filename)
    if path.is_relative_to(_PACKAGE / "tasks"):
        return True
    inside = any(path.is_relative_to(p) for p in (_PACKAGE, _TORCH))
    return not inside and "torch" not in path.parts and not filename.startswith("<")

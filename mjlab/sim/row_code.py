"""Translate torch operations to C code that computes one world.

A row is the part of a tensor that belongs to one world. If an operation computes each
row only from rows of the same world, its code is a loop over the elements of a row.
Loops of several operations can be joined in one kernel.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch
from torch import Tensor

MOST_NUMBERS = 4096
"""Maximum number of elements of a row. For longer rows, such as images, torch's own
kernels use more threads."""

Operand = Tensor | float | int | bool
Lay = tuple[int, int]
"""Memory layout of worlds. First, the stride between worlds in bytes; 0 if all worlds
read the same elements. Second, the row of the first world, because a view can start at
a later row of its storage. Offsets of a whole multiple of the number of worlds alias
the same world, so they are ignored."""

C_TYPES = {torch.float32: "float", torch.float64: "double", torch.bool: "bool"}
C_TYPES |= {torch.int64: "long long", torch.int32: "int", torch.uint8: "unsigned char"}

_SIGNS = {"add": "+", "sub": "-", "mul": "*", "div": "/", "bitwise_right_shift": ">>"}
_SIGNS |= {"bitwise_and": "&", "bitwise_or": "|"}
_SAME_TYPE = {name: f"{{0}} {sign} {{1}}" for name, sign in _SIGNS.items()}
_SAME_TYPE |= {
    name: f"wp::{name}({{0}})"
    for name in ("exp", "sqrt", "sin", "cos", "tanh", "floor")
}
_SAME_TYPE |= {name: f"wp::{name}({{0}}, {{1}})" for name in ("atan2", "copysign")}
_SAME_TYPE |= {name: "{0}" for name in ("clone", "_to_copy")}
_SAME_TYPE |= {
    "rsub": "{1} - {0}",
    "neg": "-{0}",
    "relu": "{0} < 0 ? 0 : {0}",
    "leaky_relu": "{0} > 0 ? {0} : {1} * {0}",
    "abs": "{0} < 0 ? -{0} : {0}",
    "sign": "({0} > 0) - ({0} < 0)",
    "reciprocal": "1 / {0}",
    "pow": "{0} * {0}",
    "log1p": "wp::log(1 + {0})",
    "addcmul": "{0} + {1} * {2}",
    "maximum": "({0} > {1} || {0} != {0}) ? {0} : {1}",
    "minimum": "({0} < {1} || {0} != {0}) ? {0} : {1}",
    "clamp_min": "{0} < {1} ? {1} : {0}",
    "clamp_max": "{0} > {1} ? {1} : {0}",
    "remainder": "{0} - {1} * wp::floor({0} / {1})",
    "lerp": "{2} < 0.5f ? {0} + {2} * ({1} - {0}) : {1} - ({1} - {0}) * (1 - {2})",
    "where": "{0} ? {1} : {2}",
    "masked_fill": "{1} ? {2} : {0}",
    "fill": "{1}",
    "copy": "{1}",
    "zero": "0",
    "zeros_like": "0",
    "bitwise_not": "!{0}",
}
"""C expressions by operation; operands are converted to the type of the result."""

_SIGNS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_SIGNS |= {"logical_and": "&&", "logical_or": "||", "logical_xor": "? !{1} :"}
_OWN_TYPE = {name: f"{{0}} {sign} {{1}}" for name, sign in _SIGNS.items()}
_OWN_TYPE |= {"logical_not": "!{0}", "isnan": "{0} != {0}"}
"""C expressions by operation; operands are converted to one common type."""

_LARGER = "({0} > {out} || {0} != {0}) ? {0} : {out}"
_GATHERED = {
    "sum": ("{out} + {0}", "0", "{out}"),
    "any": ("{out} || {0}", "0", "{out}"),
    "amax": (_LARGER, "-1.0f / 0.0f", "{out}"),
    "mean": ("{out} + {0}", "0", "{out} / {n}"),
    "norm_2": ("{out} + {0} * {0}", "0", "wp::sqrt({out})"),
    "norm_inf": (_LARGER.replace("{0}", "wp::abs({0})"), "0", "{out}"),
}
"""Reductions of a row by name: update per element, initial value, final expression."""


class NotByRowsError(Exception):
    """Raised for an operation that is not row-wise, or not supported here."""


@dataclass
class RowCode:
    """Code of an operation for one world, and the memory that it accesses."""

    num_worlds: int
    lines: list[str] = field(default_factory=list)
    touched: list[tuple[int, Lay, bool]] = field(default_factory=list)
    """Accesses to memory: address of the storage, layout, and whether it is written."""

    def assign(
        self, out: Tensor, text: str, *operands: Operand, dtype: Any = None
    ) -> None:
        """Add a loop that writes an expression to each element of a row.

        Args:
            out: Tensor that is written.
            text: The expression, with the operands' elements as "{0}", "{1}".
            operands: Tensors that broadcast to `out`, and numbers.
            dtype: Type that the operands are converted to. None uses the type of `out`.
        """
        index, sizes = self._along(out.shape, out.ndim)
        place = self._place(out, index, is_written=True)
        ctype = _c_type(dtype or out.dtype, text)
        values = [
            self._value(o, out.shape, index, ctype) if f"{{{k}}}" in text else ""
            for k, o in enumerate(operands)
        ]
        result = f"({_c_type(out.dtype)})({text.format(*values)})"
        self._add(sizes, f"{place} = {result};")

    def gather(self, out: Tensor, how: str, tensor: Tensor, dims: list[int]) -> None:
        """Add a loop that reduces a tensor along some dimensions."""
        text, start, end = _GATHERED[how]
        kept = [d for d in range(tensor.ndim) if d not in dims]
        moved = tensor.permute(kept + dims)
        out = out.view([tensor.shape[d] for d in kept])
        index, sizes = self._along(moved.shape, out.ndim)
        ctype, n = _c_type(out.dtype, text + end), math.prod(moved.shape[out.ndim :])
        value = self._value(moved, moved.shape, index, ctype)
        place = self._place(out, index[: out.ndim], is_written=True)
        inner = _loops(sizes, range(out.ndim, len(sizes)))
        step, done = text.format(value, out="x"), end.format(out="x", n=n)
        gathered = f"{ctype} x = {start}; {inner}x = {step}; {place} = {done};"
        self._add(sizes[: out.ndim], f"{{ {gathered} }}")

    def pick(
        self, out: Tensor, source: Tensor, dim: int, ids: Tensor, *, puts: bool = False
    ) -> None:
        """Add a loop that gathers along a dimension by index, or scatters if `puts`."""
        shape = (source if puts else out).shape
        index, sizes = self._along(shape, len(shape))
        after, size = dim + ids.ndim, (out if puts else source).shape[dim]
        row = self._place(ids, index[dim:after])
        there = [*index[:dim], f"({row} < 0 ? {row} + {size} : {row})", *index[after:]]
        target, origin = (there, index) if puts else (index, there)
        place = self._place(out, target, is_written=True)
        self._add(sizes, f"{place} = {self._place(source, origin)};")

    def _add(self, sizes: list[int], body: str) -> None:
        """Add a body in nested loops. The lanes of a world share the longest loop."""
        longest = max(range(len(sizes)), key=lambda d: (sizes[d], d))
        shared = _loops(sizes, [longest], "lane", "lanes") or "if (lane == 0) "
        others = _loops(sizes, [d for d in range(len(sizes)) if d != longest])
        self.lines.append(f"{shared}{others}{body}")

    def _along(self, shape: Sequence[int], ndim: int) -> tuple[list[str], list[int]]:
        """Return the loop index of each dimension, and the length of each loop.

        The world dimension is the first of the `ndim` dimensions of the written tensor
        whose size is the number of worlds.
        """
        if self.num_worlds not in shape[:ndim]:
            raise NotByRowsError(f"{tuple(shape)} has no worlds")
        world = list(shape).index(self.num_worlds)
        sizes = [1 if d == world else size for d, size in enumerate(shape)]
        if math.prod(sizes) > MOST_NUMBERS:
            raise NotByRowsError(f"{tuple(shape)} has long rows")
        index = [f"i{d}" if size != 1 else "0" for d, size in enumerate(sizes)]
        index[world] = "w"
        return index, sizes

    def _value(
        self, operand: Operand, shape: Sequence[int], index: list[str], ctype: str
    ) -> str:
        if not isinstance(operand, Tensor):
            return f"(({ctype}){_literal(operand)})"
        # Broadcast dimensions have a stride of zero.
        return f"(({ctype}){self._place(operand.expand(shape), index)})"

    def _place(
        self, tensor: Tensor, index: Sequence[str], *, is_written: bool = False
    ) -> str:
        """Return the code of a tensor element, given indices along its dimensions."""
        strides, address = tensor.stride(), tensor.untyped_storage().data_ptr()
        step = strides[index.index("w")] if "w" in index else 0
        if is_written and not step:
            raise NotByRowsError("all worlds write the same")
        first = int(tensor.storage_offset()) // step % self.num_worlds if step else 0
        lay = (step * tensor.element_size(), first)
        self.touched.append((address, lay, is_written))
        terms = [f"{i} * {s}" for i, s in zip(index, strides, strict=True) if i != "0"]
        offset = " + ".join([str(tensor.storage_offset()), *terms])
        return f"(({_c_type(tensor.dtype)}*)p[@{address}@])[{offset}]"


def _loops(
    sizes: Sequence[int], dims: Iterable[int], start: str = "0", step: str = "1"
) -> str:
    looped = [d for d in dims if sizes[d] != 1]
    head = "for (int i{0} = {1}; i{0} < {2}; i{0} += {3}) "
    return "".join(head.format(d, start, sizes[d], step) for d in looped)


def _c_type(dtype: torch.dtype, text: str = "") -> str:
    """Return the C name of a type; raise if it does not support the expression."""
    if dtype not in C_TYPES or ("wp::" in text and not dtype.is_floating_point):
        raise NotByRowsError(f"{text} of {dtype}")
    return C_TYPES[dtype]


def _literal(number: float) -> str:
    if not isinstance(number, float):
        return f"({int(number)})"
    if math.isfinite(number):
        return f"({number!r})"
    return f"({'-' if number < 0 else ''}{int(number == number)}.0f / 0.0f)"


# Operations by name. Each receives the code, the output, and its arguments.


def _pointwise(code: RowCode, out: Tensor, name: str, args: Any, options: Any) -> None:
    text, dtype = _SAME_TYPE.get(name), None
    if text is None:
        text = _OWN_TYPE[name]
        dtype = args[0].dtype if len(args) == 1 else torch.result_type(*args[:2])
    # `alpha` and `value` scale the last operand.
    scale = options.get("alpha", options.get("value", 1))
    if scale != 1:
        last = {"rsub": "{0}", "addcmul": "{2}"}.get(name, "{1}")
        text = text.replace(last, f"{last} * {{{len(args)}}}")
    if name == "pow" and (isinstance(args[1], Tensor) or args[1] != 2):
        text = "wp::pow({0}, {1})"
    if name == "remainder" and not out.is_floating_point():
        text = "({0} % {1} + {1}) % {1}"
    if name == "bitwise_not" and out.dtype != torch.bool:
        raise NotByRowsError(name)
    code.assign(out, text, *args, scale, dtype=dtype)


def _clamp(code: RowCode, out: Tensor, x: Tensor, *bounds: Any) -> None:
    for name, bound in zip(("clamp_min", "clamp_max"), bounds, strict=False):
        if bound is not None:
            code.assign(out, _SAME_TYPE[name], x, bound)
            x = out


def _gather(
    how: str, code: RowCode, out: Tensor, x: Tensor, dims: Any = (), *_: Any
) -> None:
    listed = [dims] if isinstance(dims, int) else list(dims or ())
    if not listed:
        raise NotByRowsError(f"{how} of everything")
    code.gather(out, how, x, [d % x.ndim for d in listed])


def _norm(code: RowCode, out: Tensor, x: Tensor, order: float = 2, *dims: Any) -> None:
    if order not in (2, math.inf):
        raise NotByRowsError(f"a norm of order {order}")
    _gather(f"norm_{order:g}", code, out, x, *dims)


def _cat(code: RowCode, out: Tensor, parts: Sequence[Tensor], dim: int = 0) -> None:
    start = 0
    for part in parts:
        code.assign(out.narrow(dim, start, part.shape[dim]), "{0}", part)
        start += part.shape[dim]


def _stack(code: RowCode, out: Tensor, parts: Sequence[Tensor], dim: int = 0) -> None:
    _cat(code, out, [part.unsqueeze(dim) for part in parts], dim)


def _cross(code: RowCode, out: Tensor, a: Tensor, b: Tensor, dim: int = -1) -> None:
    for k in range(3):
        (a1, a2), (b1, b2) = (
            [x.select(dim, (k + shift) % 3) for shift in (1, 2)] for x in (a, b)
        )
        code.assign(out.select(dim, k), "{0} * {1} - {2} * {3}", a1, b2, a2, b1)


def _index(code: RowCode, out: Tensor, source: Tensor, ids: list[Any]) -> None:
    given = [(d, index) for d, index in enumerate(ids) if index is not None]
    if len(given) != 1 or given[0][1].dtype != torch.int64:
        raise NotByRowsError("several indices, or a mask")
    code.pick(out, source, *given[0])


def _select(code: RowCode, out: Tensor, source: Tensor, dim: int, ids: Tensor) -> None:
    code.pick(out, source, dim % source.ndim, ids)


def _put(
    code: RowCode, out: Tensor, base: Tensor, dim: int, ids: Tensor, x: Tensor
) -> None:
    if out is not base:
        code.assign(out, "{0}", base)
    code.pick(out, x, dim % out.ndim, ids, puts=True)


_OTHERS: dict[str, Callable[..., None]] = {
    "clamp": _clamp,
    "linalg_vector_norm": _norm,
    "cat": _cat,
    "stack": _stack,
    "linalg_cross": _cross,
    "index": _index,
    "index_select": _select,
    "index_copy": _put,
}
_OTHERS |= {how: partial(_gather, how) for how in ("sum", "mean", "any", "amax")}


def write_code(
    name: str, num_worlds: int, out: Tensor, args: Sequence[Any], options: dict
) -> RowCode:
    """Generate the code of an operation for one world, or raise `NotByRowsError`.

    Args:
        name: Name of the operation, without in-place or out suffixes.
        num_worlds: Size of the world dimension.
        out: Output tensor.
        args: Positional arguments.
        options: Keyword arguments.
    """
    code = RowCode(num_worlds)
    if name in _SAME_TYPE or name in _OWN_TYPE:
        _pointwise(code, out, name, args, options)
    elif name in _OTHERS:
        _OTHERS[name](code, out, *args)
    else:
        raise NotByRowsError(name)
    return code

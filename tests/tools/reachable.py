"""Tensors that are reachable from an object."""

import functools
import types
from collections.abc import Iterator
from typing import Any

import torch

_OPAQUE = ("mujoco", "warp", "numpy", "builtins", "logging", "threading", "_thread")
"""Packages whose objects contain no tensors of this project."""


def reachable_tensors(root: Any) -> dict[str, torch.Tensor]:
    """Return the tensors that are reachable from `root`, by path.

    Paths lead through attributes, slots, dictionaries, lists, tuples, sets, closures
    and defaults of functions, partial functions and bound methods. A tensor with
    several paths has the first one.
    """
    found: dict[str, torch.Tensor] = {}
    seen: set[int] = set()
    waiting: list[tuple[str, Any]] = [("", root)]
    kept = []  # So that no id is reused during the search.
    while waiting:
        path, value = waiting.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        kept.append(value)
        if isinstance(value, torch.Tensor):
            found[path] = value
        else:
            parts = [(f"{path}{name}", part) for name, part in _parts(value)]
            waiting.extend(reversed(parts))
    return found


def _parts(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for key, part in list(value.items()):
            yield f"[{key!r}]", part
            if not isinstance(key, str | int | float):
                yield f"<key {key!r}>", key
    elif isinstance(value, list | tuple | set | frozenset):
        yield from ((f"[{i}]", part) for i, part in enumerate(value))
    elif isinstance(value, types.FunctionType):
        yield from _parts_of_function(value)
    elif isinstance(value, types.MethodType):
        yield "<self>", value.__self__
        yield "<function>", value.__func__
    elif isinstance(value, functools.partial):
        yield from (("<function>", value.func), ("<args>", value.args))
        yield "<keywords>", value.keywords
    elif not _is_opaque(value):
        yield from _attributes(value)


def _parts_of_function(function: types.FunctionType) -> Iterator[tuple[str, Any]]:
    for name, cell in zip(
        function.__code__.co_freevars, function.__closure__ or (), strict=True
    ):
        try:
            yield f"<{name}>", cell.cell_contents
        except ValueError:  # The closure cell is still empty.
            continue
    yield "<defaults>", function.__defaults__
    yield "<keyword defaults>", function.__kwdefaults__
    yield "<attributes>", vars(function)


def _attributes(value: Any) -> Iterator[tuple[str, Any]]:
    for name, part in vars(value).items() if hasattr(value, "__dict__") else ():
        yield f".{name}", part
    for kind in type(value).__mro__:
        slots = kind.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if not name.startswith("__") and hasattr(value, name):
                yield f".{name}", getattr(value, name)


def _is_opaque(value: Any) -> bool:
    if isinstance(value, type | types.ModuleType):
        return True
    package = type(value).__module__.partition(".")[0]
    is_module_of_torch = isinstance(value, torch.nn.Module)
    return package in _OPAQUE or (package == "torch" and not is_module_of_torch)

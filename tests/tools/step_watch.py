"""Recorder of an environment's step: operations, host reads, addresses."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

HOST_READS = (
    "aten._local_scalar_dense",
    "aten.nonzero",
    "aten.masked_select",
    "aten.unique",
    "aten._unique2",
    "aten.equal",
    "aten.allclose",
    "aten.repeat_interleave.Tensor",
    "aten.repeat_interleave.self_Tensor",
)
"""Operations that synchronise, or whose result size depends on data."""

HOST_METHODS = ("tolist", "numpy", "cpu", "to")
"""Methods that a dispatch mode does not see on the CPU.

`to` counts if it names a device: on the CPU the environment's device equals the host,
and a step needs no transfers.
"""

_ALLOCATIONS = ("aten.empty.", "aten.empty_like", "aten.empty_strided")


class StepWatch(TorchDispatchMode):
    """Records operations, and those that a CUDA graph cannot capture."""

    def __init__(self) -> None:
        super().__init__()
        self.operations: list[tuple[Any, ...]] = []
        """Name and scalar arguments of each operation that is not a view."""
        self.problems: list[str] = []
        """What would wait for the device or depend on data."""
        self.paused = False

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        if not self.paused:
            self._look(func, args, kwargs)
        if str(func).startswith("mjlab."):
            # A custom operator is one launch, regardless of its CPU implementation.
            with self.pause():
                return func(*args, **kwargs)
        return func(*args, **kwargs)

    @property
    def launches(self) -> int:
        """Operations that would launch something on a device."""
        return sum(not name.startswith(_ALLOCATIONS) for name, *_ in self.operations)

    def _look(self, func: Any, args: Any, kwargs: Any) -> None:
        name = str(func)
        if name.startswith(HOST_READS):
            self.problems.append(name)
        if name.startswith("aten.index") and _has_bool_index(args):
            self.problems.append(f"{name} by a boolean tensor")
        if name.startswith("aten.lift_fresh") and args[0].numel() > 1:
            self.problems.append(f"{name} of {args[0].numel()} numbers")
        if not func.is_view:
            scalars = _scalars(args) + _scalars(tuple(kwargs.items()))
            self.operations.append((name, *scalars))

    def pause(self) -> AbstractContextManager[None]:
        """Pause: the operations inside belong to the engine."""
        return self._look_away(True)

    def resume(self) -> AbstractContextManager[None]:
        """Resume, inside a pause."""
        return self._look_away(False)

    @contextmanager
    def _look_away(self, away: bool) -> Iterator[None]:
        before, self.paused = self.paused, away
        try:
            yield
        finally:
            self.paused = before


@contextmanager
def watch(env: Any, monkeypatch: Any) -> Iterator[StepWatch]:
    """Record operations outside the engine's methods."""
    seen = StepWatch()
    engine = env.sim.engine
    with monkeypatch.context() as patch:
        for verb in ("forward", "reset", "recompute_constants"):
            patch.setattr(engine, verb, _unwatched(getattr(engine, verb), seen))
        for verb in ("step", "finish_step"):
            control = _watched_control(getattr(engine, verb), seen)
            patch.setattr(engine, verb, control)
        patch.setattr(engine, "step_many", _watched_updates(engine.step_many, seen))
        for sense_pass in env.sim._sense_passes:
            patch.setattr(sense_pass, "launch", _unwatched(sense_pass.launch, seen))
        for method in HOST_METHODS:
            original = getattr(torch.Tensor, method)
            patch.setattr(torch.Tensor, method, _reported(original, method, seen))
        with seen:
            yield seen


def _unwatched(verb: Callable[..., Any], seen: StepWatch) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        with seen.pause():
            return verb(*args, **kwargs)

    return call


def _watched_control(step: Callable[..., Any], seen: StepWatch) -> Callable[..., Any]:
    """Pause during a physics step, but not in its control law."""

    def call(control: Callable[[], None] | None) -> None:
        def watched() -> None:
            assert control is not None
            with seen.resume():
                control()

        with seen.pause():
            step(None if control is None else watched)

    return call


def _watched_updates(
    step_many: Callable[..., Any], seen: StepWatch
) -> Callable[..., Any]:
    """Pause during physics steps, but not in the updates after each of them."""

    def call(number: int, after_each: Callable[[], None]) -> None:
        def watched() -> None:
            with seen.resume():
                after_each()

        with seen.pause():
            step_many(number, watched)

    return call


def _reported(original: Any, method: str, seen: StepWatch) -> Callable[..., Any]:
    def call(self: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        if not seen.paused and (method != "to" or _names_device(args, kwargs)):
            seen.problems.append(f"Tensor.{method}")
        with seen.pause():
            return original(self, *args, **kwargs)

    return call


def _names_device(args: Any, kwargs: Any) -> bool:
    return any(
        isinstance(value, str | torch.device | int) and not isinstance(value, bool)
        for value in (*args[:1], kwargs.get("device"))
    )


def _has_bool_index(args: Any) -> bool:
    indices = args[1] if len(args) > 1 and isinstance(args[1], list | tuple) else ()
    return any(
        isinstance(i, torch.Tensor) and i.dtype in (torch.bool, torch.uint8)
        for i in indices
    )


def _scalars(value: Any) -> tuple[Any, ...]:
    """Return all numbers, types and shapes among arguments, in order."""
    if isinstance(value, torch.Tensor):
        return (tuple(value.shape),)
    if isinstance(value, list | tuple):
        return tuple(item for part in value for item in _scalars(part))
    return (str(value),)

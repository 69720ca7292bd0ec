"""Looking into a step while it runs: forbidden writes, and what each part costs."""

import io
import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from rich.console import Console
from rich.table import Table

from mjlab.managers import ManagedEnv, TermError
from mjlab.sim.fields import FORWARD_FIELDS

_VERBS = ("step", "forward", "reset", "sense", "recompute_constants")
_OF_ACTIONS = ("process_actions", "apply_actions", "reset")
_OF_COMMANDS = ("advance", "update", "reset")


def patch_method(owner: Any, attribute: str, value: Any) -> Callable[[], None]:
    """Put `value` in the place of an attribute; return what takes it away again.

    A method goes back to being its class's. Put into the object itself, it would hold
    the object in a circle, so that Python frees it late.
    """
    is_own = attribute in vars(owner)
    original = getattr(owner, attribute)
    setattr(owner, attribute, value)

    def restore() -> None:
        if is_own:
            setattr(owner, attribute, original)
        else:
            delattr(owner, attribute)

    return restore


class _Patches:
    """Methods that are replaced for a while."""

    def __init__(self) -> None:
        self._undo: list[Callable[[], None]] = []

    def around(
        self, owner: Any, attribute: str, wrap: Callable[[Callable[..., Any]], Any]
    ) -> None:
        """Replace a method by what `wrap` makes of it."""
        wrapped = wrap(getattr(owner, attribute))
        self._undo.append(patch_method(owner, attribute, wrapped))

    def then(self, owner: Any, attribute: str, act: Callable[[], None]) -> None:
        """Have `act` follow every call of a method."""

        def wrap(original: Callable[..., Any]) -> Callable[..., Any]:
            def call(*args: Any, **kwargs: Any) -> Any:
                result = original(*args, **kwargs)
                act()
                return result

            return call

        self.around(owner, attribute, wrap)

    def undo(self) -> None:
        """Put all methods back."""
        for restore in reversed(self._undo):
            restore()


@contextmanager
def no_writes_after_forward(env: ManagedEnv) -> Iterator[None]:
    """Raise, naming the term, if one writes the state after `forward()`.

    Derived quantities of such a state would be stale in the observations, and the next
    step would continue from stages that are not its own.
    """
    guard, patches = _WriteGuard(env), _Patches()
    patches.then(env.scene, "refresh", guard.arm)
    patches.then(env.observation_manager, "compute", guard.disarm)
    for name, command in env.command_manager.terms.items():
        for method in ("advance", "update"):
            patches.then(command, method, partial(guard.check, "Command", name))
    for name, term in env.observation_manager.terms.items():
        patches.then(term, "function", partial(guard.check, "Observation", name))
    try:
        yield
    finally:
        patches.undo()


class _WriteGuard:
    def __init__(self, env: ManagedEnv) -> None:
        self._engine = env.sim.engine
        self._versions: tuple[int, ...] | None = None

    def arm(self) -> None:
        self._versions = self._present()

    def disarm(self) -> None:
        self._versions = None

    def check(self, kind: str, name: str) -> None:
        if self._versions is not None and self._present() != self._versions:
            raise TermError(
                f"{kind} term {name!r} wrote the state after forward(), so that what "
                "is derived from it would be old. Write it in an event; a command "
                "sets writes_state=True and writes it in _resample."
            )

    def _present(self) -> tuple[int, ...]:
        return tuple(self._engine.data(name)._version for name in FORWARD_FIELDS)


@dataclass(frozen=True)
class Profile:
    """Seconds a step by part, the costly first. Parts do not overlap with the rest."""

    seconds: dict[str, float]
    """By part: a verb of the engine, or a term with all that it does in a step."""

    total: float
    """Seconds of a whole step."""

    phases: dict[str, float]
    """The same step cut otherwise: seconds by phase of `env.lifecycle`, in the order
    of a step. `begin_again` is what resets within a step cost. With last observations
    these are phases of their own, those of a reset. Phases do not overlap either."""

    def to_json(self) -> str:
        """The figures as JSON."""
        figures = {"step_s": self.total, "parts_s": self.seconds}
        return json.dumps(figures | {"phases_s": self.phases}, indent=2)

    def __str__(self) -> str:
        console = Console(file=io.StringIO(), width=88)
        console.print(self._table("phase", self.phases))
        console.print(self._table("part", self.seconds))
        file = console.file
        assert isinstance(file, io.StringIO)
        return file.getvalue().rstrip()

    def _table(self, title: str, figures: dict[str, float]) -> Table:
        table = Table(title, "ms", "share")
        for name, seconds in figures.items():
            share = f"{seconds / self.total:.1%}"
            table.add_row(name, f"{seconds * 1e3:.3f}", share)
        table.add_row("whole step", f"{self.total * 1e3:.3f}", "100.0%")
        return table


def profile(
    env: ManagedEnv, advance: Callable[[], Iterator[str]], steps: int
) -> Profile:
    """Time the parts of `steps` steps, called one by one; the state goes on.

    On a CUDA device every part is waited for, so the sum is larger than a step that
    runs as one graph; what counts is the share.
    """
    spent: dict[str, float] = {}
    phases: dict[str, float] = {}
    with _timers(env, spent):
        start = before = _now(env)
        for _ in range(steps):
            for phase in advance():
                now = _now(env)
                phases[phase] = phases.get(phase, 0.0) + now - before
                before = now
        total = (_now(env) - start) / steps
    parts = {name: seconds / steps for name, seconds in spent.items()}
    parts["everything else"] = max(0.0, total - sum(parts.values()))
    ordered = sorted(parts.items(), key=lambda item: -item[1])
    by_phase = {name: seconds / steps for name, seconds in phases.items()}
    return Profile(dict(ordered), total, by_phase)


@contextmanager
def _timers(env: ManagedEnv, spent: dict[str, float]) -> Iterator[None]:
    """Put a clock around every verb and every term."""
    patches = _Patches()

    def time_calls(owner: Any, attribute: str, name: str) -> None:
        def wrap(original: Callable[..., Any]) -> Callable[..., Any]:
            def timed(*args: Any, **kwargs: Any) -> Any:
                start = _now(env)
                result = original(*args, **kwargs)
                spent[name] = spent.get(name, 0.0) + _now(env) - start
                return result

            return timed

        patches.around(owner, attribute, wrap)

    for verb in _VERBS:
        time_calls(env.sim.engine, verb, f"engine: {verb}")
    for term in env.managers.bound_terms():
        time_calls(term, "function", term.stream)
    for name, term in env.action_manager.terms.items():
        for method in _OF_ACTIONS:
            time_calls(term, method, f"action/{name}")
    for term in env.command_manager.terms.values():
        for method in _OF_COMMANDS:
            time_calls(term, method, term.stream)
    try:
        yield
    finally:
        patches.undo()


def _now(env: ManagedEnv) -> float:
    if env.device.type == "cuda":
        torch.cuda.synchronize(env.device)
    return time.perf_counter()

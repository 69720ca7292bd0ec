"""What each part of a step costs."""

import io
import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from rich.console import Console
from rich.table import Table

from mjlab.envs.lifecycle import RESET, STEP
from mjlab.envs.patch import stand_in

if TYPE_CHECKING:
    from mjlab.envs.env import ManagerBasedRlEnv

_VERBS = ("step", "forward", "reset", "sense", "recompute_constants")
_OF_ACTIONS = ("process_actions", "apply_actions", "reset")
_OF_COMMANDS = ("advance", "update", "reset")
_PHASES = STEP[: STEP.index("update_kinematics")] + RESET
"""Phases in the order of a step in which worlds end."""


@dataclass(frozen=True)
class Profile:
    """Seconds a step by part, the costly first. Parts do not overlap with the rest."""

    seconds: dict[str, float]
    """By part: a verb of the engine, or a term with all that it does in a step."""

    total: float
    """Seconds of a whole step."""

    phases: dict[str, float]
    """The same step cut otherwise: seconds by phase of `env.lifecycle`, in the order
    of a step. What a phase has another phase do counts there: `initialise` and `apply`
    are what resets within a step cost. Phases do not overlap either."""

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


def profile(env: "ManagerBasedRlEnv", steps: int) -> Profile:
    """Time the parts of `steps` steps, called one by one.

    On a CUDA device every part is waited for, so the sum is larger than a step that
    runs as one graph; what counts is the share.
    """
    spent: dict[str, float] = {}
    phases = _PhaseClock(env)
    state = env.get_state()
    with _timers(env, spent), phases.running():
        start = _now(env)
        for _ in range(steps):
            env._advance()
        total = (_now(env) - start) / steps
    env.set_state(state)
    parts = {name: seconds / steps for name, seconds in spent.items()}
    parts["everything else"] = max(0.0, total - sum(parts.values()))
    ordered = sorted(parts.items(), key=lambda item: -item[1])
    by_phase = {name: seconds / steps for name, seconds in phases.spent.items()}
    return Profile(dict(ordered), total, by_phase)


class _PhaseClock:
    """Seconds by phase; time in a phase inside another one is its own alone."""

    def __init__(self, env: "ManagerBasedRlEnv") -> None:
        self._env = env
        self.spent = dict.fromkeys(_PHASES, 0.0)
        # For each phase under way, seconds of the phases inside it.
        self._inside: list[float] = [0.0]

    @contextmanager
    def running(self) -> Iterator[None]:
        """Put a clock around every phase."""
        owner = self._env.phases
        undo = [stand_in(owner, name, self._timed(name)) for name in _PHASES]
        try:
            yield
        finally:
            for restore in undo:
                restore()

    def _timed(self, name: str) -> Callable[..., None]:
        phase = getattr(self._env.phases, name)

        def timed(*args: Any, **kwargs: Any) -> None:
            self._inside.append(0.0)
            start = _now(self._env)
            phase(*args, **kwargs)
            whole = _now(self._env) - start
            self.spent[name] += whole - self._inside.pop()
            self._inside[-1] += whole

        return timed


@contextmanager
def _timers(env: "ManagerBasedRlEnv", spent: dict[str, float]) -> Iterator[None]:
    """Put a clock around every verb and every term."""
    undo: list[Callable[[], None]] = []

    def time_calls(owner: Any, attribute: str, name: str) -> None:
        original = getattr(owner, attribute)

        def timed(*args: Any, **kwargs: Any) -> Any:
            start = _now(env)
            result = original(*args, **kwargs)
            spent[name] = spent.get(name, 0.0) + _now(env) - start
            return result

        undo.append(stand_in(owner, attribute, timed))

    for verb in _VERBS:
        time_calls(env.sim.engine, verb, f"engine: {verb}")
    for term in env.bound_terms():
        time_calls(term, "_call", term.stream)
    for name, term in env.action_manager.terms.items():
        for method in _OF_ACTIONS:
            time_calls(term, method, f"action/{name}")
    for term in env.command_manager.terms.values():
        for method in _OF_COMMANDS:
            time_calls(term, method, term.stream)
    try:
        yield
    finally:
        for restore in undo:
            restore()


def _now(env: "ManagerBasedRlEnv") -> float:
    if env.device.type == "cuda":
        torch.cuda.synchronize(env.device)
    return time.perf_counter()

"""Inspection of an environment: tables of terms, checks for writes, and profiling."""

import io
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from rich.console import Console
from rich.table import Table

from mjlab.envs.phases import AfterPhase
from mjlab.managers import ManagedEnv, Managers, TermError
from mjlab.scene import Scene
from mjlab.sim.fields import FORWARD_FIELDS

_VERBS = {
    "step": "step",
    "finish_step": "step",
    "step_many": "step",
    "forward": "forward",
    "reset": "reset",
    "sense": "sense",
    "recompute_constants": "recompute_constants",
}
"""Name of each engine method in a profile. Methods with the same name are added up."""
_OF_ACTIONS = ("process_actions", "apply_actions", "reset")
_OF_COMMANDS = ("advance", "update", "reset")
_TABLES: dict[str, tuple[str, ...]] = {
    "action": ("Actions", "term", "kind", "dimension"),
    "observation": ("Observations", "group", "term", "shape", "computed as"),
    "reward": ("Rewards", "term", "weight"),
    "termination": ("Terminations", "term", "kind"),
    "event": ("Events", "term", "mode", "when"),
    "command": ("Commands", "term", "kind", "dimension"),
    "curriculum": ("Curriculum", "term", "note"),
    "outcome": ("Outcomes", "term"),
    "metrics": ("Metrics", "term", "reduction", "evaluated every"),
}
"""Title and columns of each manager's table, in display order."""


def _printed(*parts: Table | str) -> str:
    """Render tables and lines as text, 88 columns wide."""
    file = io.StringIO()
    console = Console(file=file, width=88)
    for part in parts:
        console.print(part, highlight=False)
    return file.getvalue().rstrip()


def tables(lines: Iterable[str], managers: Managers) -> str:
    """Return `lines`, followed by tables of all managers and their terms."""
    shown = []
    for name, (title, *columns) in _TABLES.items():
        rows = getattr(managers, name).rows()
        if not rows:
            continue
        table = Table(*columns, title=title, title_justify="left")
        for row in rows:
            table.add_row(*row)
        shown.append(table)
    return _printed(*lines, *shown)


def startup_lines(env: ManagedEnv, physics: str, mode: str, seed: int) -> list[str]:
    """Return the startup report: engine, mode and reason, sizes, memory, notes.

    Args:
        env: The environment.
        physics: Physics steps per action, as text.
        mode: Mode of a step and its reason, as text.
        seed: Seed in use.
    """
    sim, scene = env.sim, env.scene
    backend, stage = sim.backend, sim.forward_stage.name.lower()
    # Omitted for the native engine: it has only one mode, and computes derived
    # quantities when they are read.
    how = [f"Step: {mode}; forward() computes up to the {stage} stage."]
    lines = [
        f"{env.num_envs} worlds on {backend.engine} ({backend.device}), selected by "
        f"{backend.reason}.",
        f"Physics: {physics}.",
        *(how if sim.needs_graphs else []),
        f"Seed {seed}. Episodes of {env.max_episode_length} steps.",
    ]
    use = sim.health.use()
    if use:
        room = ", ".join(f"{each.room} {kind}" for kind, each in use.items())
        most = ", ".join(f"{each.most:.1f} {kind}" for kind, each in use.items())
        lines.append(f"Buffers per world: {room}. Peak use so far: {most}.")
    if sim.device.type == "cuda":
        used = torch.cuda.memory_allocated(sim.device) / 2**20
        lines.append(f"Device memory allocated by PyTorch: {used:,.0f} MB.")
    outside = env.managers.with_ids()
    if outside:
        listed = ", ".join(outside)
        lines.append(f"Terms with env_ids, which copy masks to the host: {listed}")
    for name, variants in scene.variants.items():
        lines.append(f"Entity {name!r}: {variants.note}.")
    for name, sensor in scene.sensors.items():
        lines.extend(f"Sensor {name!r}: {note}" for note in sensor.notes)
    return lines


def draw(managers: Managers, scene: Scene, visualizer: Any) -> None:
    """Draw the debug visualisation of terms and sensors."""
    managers.action.debug_vis(visualizer)
    managers.command.debug_vis(visualizer)
    for term in managers.bound_terms():
        if term.instance is not None:
            term.instance.debug_vis(visualizer)
    for sensor in scene.sensors.values():
        sensor.debug_vis(visualizer)


def patch_method(owner: Any, attribute: str, value: Any) -> Callable[[], None]:
    """Replace an attribute by `value`; return a function that restores it.

    A method of the class is restored by deleting the instance attribute. Assigning the
    bound method instead would create a reference cycle, which delays freeing the
    object.
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


def _then(owner: Any, attribute: str, act: Callable[[], None]) -> Callable[[], None]:
    """Call `act` after every call of a method; return a function that stops this."""
    original = getattr(owner, attribute)

    def call(*args: Any, **kwargs: Any) -> Any:
        result = original(*args, **kwargs)
        act()
        return result

    return patch_method(owner, attribute, call)


@contextmanager
def no_writes_after_forward(env: ManagedEnv) -> Iterator[None]:
    """Raise an error that names the term if a term writes the state after `forward()`.

    After such a write, observations would contain stale derived quantities, and the
    next step would start from `forward()` results of the previous state.
    """
    guard = _WriteGuard(env)
    with ExitStack() as patches:
        patches.callback(_then(env.scene, "refresh", guard.arm))
        patches.callback(_then(env.sim, "forward", guard.arm))
        patches.callback(_then(env.observation_manager, "compute", guard.disarm))
        for name, command in env.command_manager.terms.items():
            check = partial(guard.check, "Command", name)
            # A term with env_ids can write in `advance`, which then calls `forward()`.
            for method in ("update",) if command.needs_ids else ("advance", "update"):
                patches.callback(_then(command, method, check))
        for name, term in env.observation_manager.terms.items():
            check = partial(guard.check, "Observation", name)
            patches.callback(_then(term, "function", check))
        yield


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
                f"{kind} term {name!r} wrote the state after forward(), so derived "
                "quantities are stale. Write it in an event, in _resample of a "
                "command with writes_state=True, or call sim.forward() afterwards."
            )

    def _present(self) -> tuple[int, ...]:
        return tuple(self._engine.data(name)._version for name in FORWARD_FIELDS)


@dataclass(frozen=True)
class Profile:
    """Mean duration of a step, split by part and by phase."""

    seconds: dict[str, float]
    """Seconds per step by part, most expensive first. A part is an engine method, or
    all calls of a term. Parts do not overlap."""

    total: float
    """Seconds of a whole step."""

    phases: dict[str, float]
    """Seconds per step by phase of `env.lifecycle`, in order. `reset_done` is the cost
    of resets within a step. With terminal observations, the phases of a reset are
    listed separately. Phases do not overlap."""

    def __str__(self) -> str:
        phases, parts = (
            self._table("phase", self.phases),
            self._table("part", self.seconds),
        )
        return _printed(phases, parts)

    def _table(self, title: str, figures: dict[str, float]) -> Table:
        table = Table(title, "ms", "share")
        for name, seconds in figures.items():
            share = f"{seconds / self.total:.1%}"
            table.add_row(name, f"{seconds * 1e3:.3f}", share)
        table.add_row("whole step", f"{self.total * 1e3:.3f}", "100.0%")
        return table


def profile(
    env: ManagedEnv,
    advance: Callable[[], None],
    after_phase: list[AfterPhase],
    steps: int,
) -> Profile:
    """Run `steps` steps and time each part separately. Advances the state.

    On CUDA, the device is synchronised after each part, so the total is longer than a
    normal step, which is one CUDA graph. Only the shares of the total are meaningful.
    """
    spent: dict[str, float] = {}
    phases: dict[str, float] = {}
    with _timers(env, spent), ExitStack() as hooks:
        start = before = _now(env)

        def stop_clock(phase: str) -> None:
            nonlocal before
            now = _now(env)
            phases[phase] = phases.get(phase, 0.0) + now - before
            before = now

        after_phase.append(stop_clock)
        hooks.callback(after_phase.remove, stop_clock)
        for _ in range(steps):
            advance()
        total = (_now(env) - start) / steps
    parts = {name: seconds / steps for name, seconds in spent.items()}
    parts["everything else"] = max(0.0, total - sum(parts.values()))
    ordered = sorted(parts.items(), key=lambda item: -item[1])
    by_phase = {name: seconds / steps for name, seconds in phases.items()}
    return Profile(dict(ordered), total, by_phase)


@contextmanager
def _timers(env: ManagedEnv, spent: dict[str, float]) -> Iterator[None]:
    """Time every engine method and every term."""

    def time_calls(owner: Any, attribute: str, name: str) -> None:
        original = getattr(owner, attribute)

        def timed(*args: Any, **kwargs: Any) -> Any:
            start = _now(env)
            result = original(*args, **kwargs)
            spent[name] = spent.get(name, 0.0) + _now(env) - start
            return result

        patches.callback(patch_method(owner, attribute, timed))

    with ExitStack() as patches:
        for verb, name in _VERBS.items():
            time_calls(env.sim.engine, verb, f"engine: {name}")
        for term in env.managers.bound_terms():
            time_calls(term, "function", term.stream)
        for name, term in env.action_manager.terms.items():
            for method in _OF_ACTIONS:
                time_calls(term, method, f"action/{name}")
        for term in env.command_manager.terms.values():
            for method in _OF_COMMANDS:
                time_calls(term, method, term.stream)
        yield


def _now(env: ManagedEnv) -> float:
    if env.device.type == "cuda":
        torch.cuda.synchronize(env.device)
    return time.perf_counter()

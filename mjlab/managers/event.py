"""Event terms: changes at startup, at resets, at intervals and at every step."""

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, get_args

import mujoco
import torch

from mjlab.entity import Entity
from mjlab.managers.env import Env
from mjlab.managers.term import BoundTerm, Manager, TermCfg, TermError, bind_each
from mjlab.names import suggest
from mjlab.random import WorldRng
from mjlab.scene import Selection
from mjlab.tensors.masks import write_where

EventMode = Literal["startup", "reset", "interval", "step"]
MODES: tuple[EventMode, ...] = get_args(EventMode)

_CONSTANT_INPUTS = frozenset(mujoco.MjModel._setconst_inputs)
"""Model fields from which MuJoCo computes derived constants at compilation."""

_NEVER = -(2**60)

_MOST_STEPS = 2**24
"""Longest interval in steps, given by the 24-bit resolution of random numbers."""


class EventTermCfg(TermCfg):
    """Configuration of an event term, which writes state or model fields.

    The function or class is called with `mask`, bool, shape (num_envs,). It computes
    for all worlds and writes where the mask is True. A parameter `stream` receives a
    name for random numbers that is unique to the term.
    """

    mode: EventMode
    """When the event runs: once when the environment is built ("startup"), in worlds
    that are reset ("reset"), at random intervals ("interval"), or after each step
    ("step")."""

    interval_range_s: tuple[float, float] | None = None
    """Shortest and longest time between two occurrences, in seconds, for mode
    "interval". Each time is drawn as a whole number of steps."""

    is_global_time: bool = False
    """Use one interval timer for all worlds. Otherwise each world has its own timer,
    which restarts when the world is reset."""

    min_step_count_between_reset: int = 0
    """For mode "reset": minimum number of steps between two occurrences in a world. A
    reset before that skips the event. The first occurrence is never skipped."""


def required_fields(cfg: Mapping[str, EventTermCfg | None]) -> set[str]:
    """Return the model fields that the events vary between worlds.

    They must be known before the model is compiled. A function declares them in its
    attribute `model_fields`, a collection of names. A class declares them in its static
    method `model_fields(params)`.

    Args:
        cfg: The events by name. None disables an event.
    """
    return set().union(*(_model_fields(term) for term in cfg.values() if term))


def steps_of(seconds: tuple[float, float], step_dt: float) -> tuple[int, int]:
    """Convert the shortest and longest interval to steps, at least one step each.

    Args:
        seconds: Shortest and longest interval, in seconds.
        step_dt: Duration of a step, s.
    """
    low, high = (
        min(max(1.0, round(min(time / step_dt, _MOST_STEPS))), _MOST_STEPS)
        for time in seconds
    )
    return int(low), int(high)


class IntervalTimers:
    """Timers per world, which restart with a random duration when they expire."""

    def __init__(
        self,
        intervals: Sequence[tuple[int, int]],
        rng: WorldRng,
        *,
        owns_rng: bool = False,
    ) -> None:
        """Start the timers.

        Args:
            intervals: Shortest and longest interval of each timer, in steps.
            rng: Random number generator; each of its worlds gets timers.
            owns_rng: Whether `advance` also advances `rng`. Must be False for the
                environment's generator, which the environment advances.
        """
        device = rng.device
        self.rng = rng
        """Random number generator of the worlds that have timers."""
        self._owns_rng = owns_rng
        low = torch.tensor([low for low, _ in intervals], device=device)
        high = torch.tensor([high for _, high in intervals], device=device)
        self._low = low
        self._choices = (high - low + 1).float()
        self._is_random = bool((high > low).any())
        shape = (rng.num_envs, len(intervals))
        self.steps_left = torch.zeros(shape, dtype=torch.int64, device=device)
        """Steps until each timer expires, shape (num_envs, timers), int64."""
        self.reset(torch.ones(rng.num_envs, dtype=torch.bool, device=device))

    def advance(self) -> None:
        """Decrement all timers by one step."""
        self.steps_left.sub_(1)
        if self._owns_rng:
            self.rng.advance()

    def take_due(self) -> torch.Tensor:
        """Return the expired timers, shape (num_envs, timers), and restart them."""
        due = self.steps_left <= 0
        fresh = self._draw("event/timers")
        torch.where(due, fresh, self.steps_left, out=self.steps_left)
        return due

    def reset(self, mask: torch.Tensor) -> None:
        """Restart the timers of the worlds in `mask`, shape (num_envs,)."""
        write_where(self.steps_left, mask, self._draw("event/timers/reset"))

    def _draw(self, stream: str) -> torch.Tensor:
        if not self._is_random:
            return self._low
        unit = self.rng.draw(stream, self._low.shape)
        # The largest draw is 1 - 2**-24, so the product stays below `choices`.
        return unit.mul_(self._choices).long().add_(self._low)


class EventManager(Manager[BoundTerm]):
    """Manager of the event terms: runs each event in the worlds where it is due."""

    kind = "event"

    def __init__(self, cfg: Mapping[str, EventTermCfg | None], env: Env) -> None:
        """Check and bind the events, and start their timers.

        Args:
            cfg: The events by name.
            env: The environment.
        """
        self._settings = {name: term for name, term in cfg.items() if term is not None}
        for name, term in self._settings.items():
            _check(name, term)
        bound = bind_each(cfg, self.kind, lambda name, term: _bind(name, term, env))
        super().__init__(bound, env)
        self._modes = {
            mode: [bound[name] for name, t in self._settings.items() if t.mode == mode]
            for mode in MODES
        }
        self._all_worlds = torch.ones(
            env.num_envs, dtype=torch.bool, device=self.device
        )
        fields = {name: _model_fields(term) for name, term in self._settings.items()}
        self._asking = {name for name, own in fields.items() if own & _CONSTANT_INPUTS}
        self._mirrored = {
            name: _entities(self.terms[name], env)
            for name, own in fields.items()
            if own & Entity.mirrored_fields
        }
        self.asks_constants_in = frozenset(
            self._settings[name].mode for name in self._asking
        )
        """Modes in which an event writes model fields that MuJoCo derives constants
        from."""
        self.constants_mask = torch.zeros_like(self._all_worlds)
        """Worlds whose derived constants are stale, shape (num_envs,), bool. Cleared by
        `recompute_constants`."""
        self._start_gaps()
        self._start_clocks()

    def apply(
        self,
        mode: EventMode,
        dt: float | None = None,
        mask: torch.Tensor | None = None,
    ) -> None:
        """Run the events of a mode.

        The environment calls this with "step" once per step, before any reset. The call
        with "step" also advances the interval timers.

        Args:
            mode: Mode of the events to run.
            dt: Duration of a step, s. Unused, because timers count steps.
            mask: Worlds to run in, shape (num_envs,), bool. None means all.
        """
        terms = self._modes[mode]
        if mode == "step":
            for clock in self._clocks:
                clock.advance()
        if not terms:
            return
        due = self._due(mode, mask)
        for term in terms:
            mask = due[term.name]
            term(mask)
            if term.name in self._asking:
                self.constants_mask.logical_or_(mask)
            for entity in self._mirrored.get(term.name, ()):
                entity.refresh_defaults(mask)

    def recompute_constants(self, *, startup: bool = False) -> None:
        """Recompute derived constants in worlds of `constants_mask`; clear the mask.

        Args:
            startup: Whether startup events can have set the mask. False skips the
                computation if only startup events make derived constants stale.
        """
        if self.asks_constants_in - (set() if startup else {"startup"}):
            self._env.sim.recompute_constants(self.constants_mask)
            self.constants_mask.zero_()

    def reset(self, mask: torch.Tensor) -> None:
        """Reset the terms and the per-world timers in the worlds of `mask`.

        The global timer continues.
        """
        super().reset(mask)
        if self._own_clock is not None:
            self._own_clock.reset(mask)

    def restart_global_clock(self) -> None:
        """Restart the global timer from the seed of world 0.

        Called when all worlds are reset with a new seed.
        """
        if self._global_clock is not None:
            its_world = torch.ones(1, dtype=torch.bool, device=self.device)
            self._global_clock.rng.reseed(its_world, self._env.rng.world_seed[:1])
            self._global_clock.reset(its_world)

    def state(self) -> dict[str, torch.Tensor]:
        state = super().state()
        state |= {"constants_mask": self.constants_mask, "last_steps": self._last_steps}
        if self._own_clock is not None:
            state["steps_left"] = self._own_clock.steps_left
        if self._global_clock is not None:
            state["global_steps_left"] = self._global_clock.steps_left
            own = self._global_clock.rng.state()
            state |= {f"global_{name}": tensor for name, tensor in own.items()}
        return state

    def rows(self) -> list[tuple[str, ...]]:
        return [
            (name, term.mode, _timing(term)) for name, term in self._settings.items()
        ]

    def _due(
        self, mode: EventMode, mask: torch.Tensor | None
    ) -> dict[str, torch.Tensor]:
        """Return the worlds where each event of a mode is due."""
        mask = self._all_worlds if mask is None else mask
        if mode == "interval":
            return self._due_by_clock(mask)
        due = {term.name: mask for term in self._modes[mode]}
        if mode == "reset" and self._gapped:
            now = self._env.common_step_counter
            ready = (now - self._last_steps >= self._gaps).logical_and_(
                mask.unsqueeze(1)
            )
            torch.where(ready, now, self._last_steps, out=self._last_steps)
            due |= dict(zip(self._gapped, ready.unbind(dim=1), strict=True))
        return due

    def _due_by_clock(self, mask: torch.Tensor) -> dict[str, torch.Tensor]:
        due: dict[str, torch.Tensor] = {}
        for clock, names in zip(self._clocks, self._clocked, strict=True):
            ringing = clock.take_due().expand(self._env.num_envs, len(names))
            if mask is not self._all_worlds:
                ringing = ringing & mask.unsqueeze(1)
            due |= dict(zip(names, ringing.unbind(dim=1), strict=True))
        return due

    def _start_gaps(self) -> None:
        self._gapped = [
            name
            for name, term in self._settings.items()
            if term.min_step_count_between_reset > 0
        ]
        gaps = [self._settings[n].min_step_count_between_reset for n in self._gapped]
        ints = {"dtype": torch.int64, "device": self.device}
        self._gaps = torch.tensor(gaps, **ints)
        # Value of `common_step_counter` when each event last happened.
        self._last_steps = torch.full((self._env.num_envs, len(gaps)), _NEVER, **ints)

    def _start_clocks(self) -> None:
        own = self._interval_steps(is_global=False)
        shared = self._interval_steps(is_global=True)
        self._own_clock: IntervalTimers | None = None
        self._global_clock: IntervalTimers | None = None
        if own:
            self._own_clock = IntervalTimers(list(own.values()), self._env.rng)
        if shared:
            # A separate generator, because a reset advances a world's counter.
            rng = WorldRng(1, 0, self.device)
            self._global_clock = IntervalTimers(
                list(shared.values()), rng, owns_rng=True
            )
            self.restart_global_clock()
        self._clocks = [c for c in (self._own_clock, self._global_clock) if c]
        self._clocked = [list(names) for names in (own, shared) if names]

    def _interval_steps(self, *, is_global: bool) -> dict[str, tuple[int, int]]:
        step_dt = self._env.step_dt
        return {
            name: steps_of(term.interval_range_s, step_dt)
            for name, term in self._settings.items()
            if term.interval_range_s is not None and term.is_global_time == is_global
        }


def _model_fields(cfg: TermCfg) -> frozenset[str]:
    declared: Any = getattr(cfg.func, "model_fields", ())
    fields: Any = declared(cfg.params) if callable(declared) else declared
    return frozenset(fields)


def _entities(term: BoundTerm, env: Env) -> list[Entity]:
    """Return the entities in a term's parameters, or all entities if there are none."""
    named = {
        value.name: value.entity
        for value in term.params.values()
        if isinstance(value, Selection)
    }
    return list((named or env.scene.entities).values())


def _bind(name: str, cfg: EventTermCfg, env: Env) -> BoundTerm:
    if "stream" in _parameters(cfg.func) and "stream" not in cfg.params:
        cfg = replace(cfg, params={**cfg.params, "stream": f"event/{name}"})
    term = BoundTerm(name, cfg, env, kind="event")
    if cfg.mode in ("reset", "interval") and not term.needs_mask:
        raise TermError(
            f"{term.label} has mode={cfg.mode!r}, but its function has no `mask` "
            "parameter. Add one, and change only the worlds where mask is True."
        )
    return term


def _parameters(func: Any) -> Mapping[str, inspect.Parameter]:
    call = func.__call__ if isinstance(func, type) else func
    return inspect.signature(call).parameters if callable(call) else {}


def _check(name: str, cfg: EventTermCfg) -> None:
    label = f"Event term {name!r}"
    if cfg.mode not in MODES:
        raise TermError(
            f"{label} has the unknown mode={cfg.mode!r}. "
            + suggest(str(cfg.mode), MODES)
        )
    if (cfg.mode == "interval") != (cfg.interval_range_s is not None):
        raise TermError(
            f"{label} has mode={cfg.mode!r} and interval_range_s="
            f"{cfg.interval_range_s}. Set interval_range_s if mode='interval', and "
            "leave it None in other modes."
        )
    if cfg.interval_range_s is not None:
        low, high = cfg.interval_range_s
        if not 0.0 <= low <= high:
            raise TermError(
                f"{label}: interval_range_s is {cfg.interval_range_s}; it has to be "
                "(low, high) with 0 <= low <= high."
            )
    if cfg.is_global_time and cfg.mode != "interval":
        raise TermError(
            f"{label} has is_global_time=True and mode={cfg.mode!r}; is_global_time "
            "applies only to mode='interval'."
        )
    gap = cfg.min_step_count_between_reset
    if gap < 0 or (gap > 0 and cfg.mode != "reset"):
        raise TermError(
            f"{label} has min_step_count_between_reset={gap} and mode={cfg.mode!r}; it "
            "has to be 0 or more with mode='reset', and 0 in other modes."
        )


def _timing(cfg: EventTermCfg) -> str:
    if cfg.interval_range_s is not None:
        low, high = cfg.interval_range_s
        clock = "all worlds together" if cfg.is_global_time else "each world"
        return f"{low:g} to {high:g} s, {clock}"
    gap = cfg.min_step_count_between_reset
    return f"at least {gap} steps apart" if gap else ""

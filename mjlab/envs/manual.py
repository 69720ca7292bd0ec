"""The phases of a reset and of a step, called individually and in order."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch

from mjlab.envs.step import StepProgram
from mjlab.managers import Observations
from mjlab.random.seeds import check_seed, to_seeds

RESET: tuple[str, ...] = ("initialise", "apply", "update_kinematics", "observe")
"""Phases of a reset of an existing environment, in order."""

STEP: tuple[str, ...] = (
    "set_action",
    "set_targets",
    "apply_targets",
    "physics_step",
    "evaluate",
    "reset_done",
    "update_kinematics",
    "observe",
)
"""Phases of a step. `apply_targets` and `physics_step` repeat `decimation` times."""


class PhaseError(RuntimeError):
    """Raised if a phase is called out of order."""


class Lifecycle:
    """Resets and steps in individual phases, available as `env.lifecycle`.

    A reset is `initialise(mask)`, then optional writes to the state of these worlds,
    then `apply()`, `update_kinematics()` and `observe()`. `env.reset(mask=mask)` makes
    the same calls, so the results are equal.

    A step is `set_action(action)` and `set_targets()`; `apply_targets()` and
    `physics_step()`, alternating `decimation` times; `evaluate()`, `reset_done()`,
    `update_kinematics()` and `observe()`. It equals `env.step(action)`, without a graph
    and without the shortcuts of `PhysicsPlan`.

    A phase that is called out of order raises `PhaseError`. `env.reset()` and
    `env.set_state(state)` without a mask can be called at any time; they abort an
    unfinished reset or step.
    """

    def __init__(
        self,
        program: StepProgram,
        finish: Callable[[bool], tuple[Observations, dict[str, Any]]],
    ) -> None:
        """Store the program.

        Args:
            program: The phases of a step and a reset.
            finish: Called with True after a step, with False after a reset; returns
                observations and extras.
        """
        self._program, self._finish = program, finish
        self._physics = program.plain_physics
        self.is_under_way = False
        """True from the first to the last phase of a reset or a step."""
        self._order: tuple[str, ...] = ()
        self._last = ""
        self._substep = 0
        # Worlds of the current reset, None in a step.
        self._mask: torch.Tensor | None = None

    @property
    def next_phases(self) -> tuple[str, ...]:
        """Names of the phases that can be called next."""
        if not self._order:
            return (RESET[0], STEP[0])
        if not self._last:
            return (self._order[0],)
        if self._last == "physics_step" and self._substep < self._physics.decimation:
            return ("apply_targets",)
        return (self._order[self._order.index(self._last) + 1],)

    def require_rest(self, name: str) -> None:
        """Raise if a reset or a step is under way.

        Args:
            name: Name of the method about to be called, named in the error message.
        """
        if self._order:
            raise PhaseError(self._objection(name))

    def abandon(self) -> None:
        """Abort a reset or a step, because the state of all worlds was replaced."""
        if self._order:
            self._rest()
            self._program.env.recorder_manager.abandon()

    # Phases of a reset.

    def initialise(
        self,
        mask: torch.Tensor | None = None,
        *,
        seed: int | Sequence[int] | None = None,
        events: bool = True,
    ) -> None:
        """End the episodes of the worlds, and write the initial states of new episodes.

        State written between this call and `apply` is part of the initial state.

        Args:
            mask: Worlds, shape (num_envs,), bool. None means all.
            seed: Seeds of the worlds' random numbers: seed + i for world i, or a
                sequence with one seed per world. None continues the current random
                streams.
            events: Whether reset events run. If not, the worlds are in the model's
                default state, and the caller must write any other initial state.
        """
        if mask is not None:
            self._check("initialise")
        env = self._program.env
        if mask is None:
            given = torch.ones(env.num_envs, dtype=torch.bool, device=env.device)
        else:
            given = env.sim.check_mask(mask).clone()
        if seed is not None:
            seeds = [
                check_seed(each, f"seed[{world}]")
                for world, each in enumerate(to_seeds(seed, env.num_envs) or ())
            ]
            env.rng.reseed(given, torch.tensor(seeds, device=env.device))
            if mask is None:
                env.event_manager.restart_global_clock()
        self._start(RESET, given)
        self._run("initialise", partial(self._program.initialise, given, events=events))

    def apply(self, mask: torch.Tensor | None = None) -> None:
        """Begin episodes from the current state, including writes since `initialise`.

        Logs the finished episodes, and resets the managers and the step counts of these
        worlds.

        Args:
            mask: Same mask as in `initialise`, which is also the default.
        """
        self._check("apply", mask)
        assert self._mask is not None
        self._run("apply", partial(self._program.apply, self._mask))

    # Phases of a step.

    def set_action(self, action: torch.Tensor) -> None:
        """Begin a step, with new random numbers.

        Args:
            action: Shape (num_envs, total_action_dim), float32, on the device.
        """
        env = self._program.env
        self._check("set_action")
        env.action_manager.take(action)
        # The caller may have written the state since the last observation.
        env.sim.forward()
        env.scene.refresh()
        self._start(STEP, None)
        self._run("set_action", self._program.set_action)

    def set_targets(self) -> None:
        """Compute actuator targets from the action, in the action terms."""
        self._run("set_targets", self._program.set_targets)

    def apply_targets(self) -> None:
        """Compute controls from the targets, in the actuators."""
        self._run("apply_targets", self._physics.apply_targets)

    def physics_step(self) -> None:
        """Advance physics by one time step."""
        self._run("physics_step", self._physics.substep)
        self._substep += 1

    def evaluate(self) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Compute terminations, rewards and metrics.

        Returns:
            Reward, terminated and truncated, each of shape (num_envs,).
        """
        self._run("evaluate", self._program.evaluate)
        reward = self._program.env.reward_manager.reward
        terminated, time_outs = self._program.env.termination_manager.ends.clone()
        return reward.clone(), terminated, time_outs

    def reset_done(self) -> None:
        """Reset held-back or finished worlds; with `final_obs`, `observe` does this."""
        self._run("reset_done", self._program.reset_done)

    # Phases of both a reset and a step.

    def update_kinematics(self, mask: torch.Tensor | None = None) -> None:
        """Update all quantities derived from the state: bodies, velocities, sensors.

        Args:
            mask: Same mask as in `initialise`, which is also the default.
        """
        self._check("update_kinematics", mask)
        update = self._program.update_kinematics
        if self._mask is not None:
            update = partial(self._program.refresh, 0.0)
        self._run("update_kinematics", update)

    def observe(
        self, mask: torch.Tensor | None = None
    ) -> tuple[Observations, dict[str, Any]]:
        """Update commands, rays and cameras, and compute observations.

        Args:
            mask: Same mask as in `initialise`, which is also the default.

        Returns:
            Observations of all worlds, and extras, as `env.reset` or `env.step`
                returns them.
        """
        self._check("observe", mask)
        is_step, look = self._mask is None, self._program.look
        if not is_step:
            look = partial(self._program.compute_observations, 0.0, self._mask)
        self._run("observe", look)
        self._rest()
        return self._finish(is_step)

    def _start(self, order: tuple[str, ...], mask: torch.Tensor | None) -> None:
        self._order, self._mask = order, mask
        self._last, self._substep, self.is_under_way = "", 0, True

    def _rest(self) -> None:
        """Clear the record of the current reset or step."""
        self._start((), None)
        self.is_under_way = False

    def _run(self, name: str, phase: Callable[[], None]) -> None:
        """Run a phase; raise if another phase is due, and abort if it fails."""
        self._check(name)
        try:
            phase()
        except BaseException:
            self._rest()
            raise
        self._last = name

    def _check(self, name: str, mask: torch.Tensor | None = None) -> None:
        if name not in self.next_phases:
            raise PhaseError(self._objection(name))
        if mask is None:
            return
        if self._mask is None:
            raise PhaseError(f"{name}() in a step applies to all worlds: pass no mask.")
        if not torch.equal(self._program.env.sim.check_mask(mask), self._mask):
            raise PhaseError(
                f"The mask of {name}() differs from the mask of initialise(). Pass the "
                "same mask to all phases of a reset."
            )

    def _objection(self, name: str) -> str:
        expected = " or ".join(f"{phase}()" for phase in self.next_phases)
        orders = [order for order in (RESET, STEP) if self._order in ((), order)]
        shown = "; ".join(
            f"of a {'reset' if order is RESET else 'step'}: {', '.join(order)}"
            for order in orders
        )
        return f"{name}() is out of order: call {expected} first. Phases {shown}."

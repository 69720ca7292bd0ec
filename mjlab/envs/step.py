"""The device program: everything between an action and the next observation.

`advance` and `reset` yield each phase's name when it is done, for calls in between.
"""

from collections.abc import Callable
from functools import partial

from torch import Tensor

from mjlab.envs.autoreset import AutoReset
from mjlab.envs.nonfinite import NonfiniteGuard
from mjlab.envs.runner import Phases
from mjlab.managers import ManagedEnv, in_use, inside_steps


class StepProgram:
    """The step and the reset of worlds, in calling order."""

    def __init__(
        self, env: ManagedEnv, decimation: int, resets: AutoReset, guard: NonfiniteGuard
    ) -> None:
        m, self.env, self.decimation = env.managers, env, decimation
        self.resets, self.guard = resets, guard
        self.initial_states: Callable[[Tensor], None] = partial(
            m.event.apply, "reset", None
        )
        """Writes where episodes start, in worlds that have the model's defaults."""
        self.late_control, self.looks_once = inside_steps(env)
        self.rewards, self.outcomes = in_use(m.reward), in_use(m.outcome)
        self.metrics, self.curricula = in_use(m.metrics), in_use(m.curriculum)
        self.commands, self.recorders = in_use(m.command), in_use(m.recorder)
        self.with_memory = in_use(*m)
        self.before_resets = [recorder.pre_reset for recorder in self.recorders]
        """Called while the worlds that are going to be reset are as they ended."""

    def advance(self, *, resume: bool = True) -> Phases:
        """Step all worlds; `resume` promises an unwritten state since `refresh`."""
        env, m, resets = self.env, self.env.managers, self.resets
        action = m.action.incoming  # Only read: a step may run twice, to be recorded.
        for recorder in self.recorders:
            recorder.pre_step()
        env.rng.advance()
        if resets.when == "next_step":
            action = resets.hold_back(action)
            with env.sim.reads.allow_late():
                for curricula in self.curricula:
                    curricula.compute(resets.held_back)
            env.sim.reset(resets.held_back)  # Physics goes on there, finite for sure.
        env.scene.invalidate()
        yield "set_action"
        m.action.process_action(action)
        yield "set_targets"
        for substep in range(self.decimation):
            m.action.apply_action()
            env.scene.apply(again=resume and substep > 0 and m.action.acts_once)
            yield "apply_targets"
            more = self.decimation - substep - 1 if resume and self.looks_once else 0
            env.sim.step(self.late_control, resume=resume and substep == 0, more=more)
            env.scene.update(env.physics_dt)
            for metrics in self.metrics:
                metrics.compute_substep()
            yield "physics_step"
        env.step_counts.add_(1)
        m.termination.compute()
        for outcomes in self.outcomes:
            outcomes.compute()
        self.guard.detect()
        for rewards in self.rewards:
            rewards.compute(env.step_dt, self.guard.found)
        self.guard.end_episodes()
        for metrics in self.metrics:
            metrics.compute()
        for correct in resets.corrections:
            correct(self.guard.found)
        m.event.apply("step", env.step_dt)
        for recorder in self.recorders:
            recorder.post_step(resets.held_back)
        yield "evaluate"
        if resets.ends_early:
            self.end_episodes(resets.done)
        for mask in resets.due:
            self.initialise(mask)
            self.begin_episodes(mask)
        yield "reset_done"
        m.event.apply("interval", env.step_dt)
        self.refresh(env.step_dt)
        yield "update_kinematics"
        self.observe(env.step_dt)
        if resets.when != "same_step":
            resets.hide(m.observation.output, self.guard.found)
        if resets.shows_ends:
            resets.keep(m.observation.output, self.guard.found)
            yield from self.reset(resets.done, lazy=env.sim.may_branch)
        for recorder in self.recorders:
            recorder.record()
        yield "observe"

    def reset(self, mask: Tensor, *, events: bool = True, lazy: bool = False) -> Phases:
        """Reset worlds that have been observed, and observe them."""
        with self.env.sim.reads.allow_late():
            self.end_episodes(mask)
            if lazy and not bool(mask.any()):
                return
            self.initialise(mask, events=events)
        yield "initialise"
        with self.env.sim.reads.allow_late():
            self.begin_episodes(mask)
        self.resets.release(mask)
        yield "apply"
        self.refresh(0.0)
        yield "update_kinematics"
        self.observe(0.0, mask)

    def end_episodes(self, mask: Tensor) -> None:
        """Take a last look at the worlds that are reset; curricula look at all."""
        for look in self.before_resets:
            look()
        self.env.rng.advance(mask)
        for curricula in self.curricula:
            curricula.compute(mask)

    def initialise(self, mask: Tensor, *, events: bool = True) -> None:
        """Write first states; without events they are the model's defaults."""
        self.env.sim.reset(mask)
        self.env.scene.reset(mask)
        if events:
            self.initial_states(mask)

    def begin_episodes(self, mask: Tensor) -> None:
        """Log the episodes that ended, and forget them."""
        for manager in self.with_memory:
            manager.reset(mask)
        # A world that is reset twice in a row has had no episode in between.
        steps = self.env.episode_length_buf
        self.env.episode_log.fold(mask.logical_and(steps))
        steps.masked_fill_(mask, 0)

    def refresh(self, dt: float) -> None:
        """Make current what follows from the state, after the last writes to it."""
        self.env.event_manager.recompute_constants()
        for commands in self.commands:
            commands.write_state(dt)
        self.env.sim.forward()
        self.env.scene.refresh()

    def observe(self, dt: float, mask: Tensor | None = None) -> None:
        """Update commands, cast rays, draw images, and observe the worlds of `mask`."""
        for commands in self.commands:
            commands.compute(dt)
        self.env.sim.sense()
        self.env.observation_manager.compute(mask=mask)

"""The step program: everything between an action and the next observation."""

from collections.abc import Callable
from functools import partial

from torch import Tensor

from mjlab.envs.autoreset import AutoReset
from mjlab.envs.nonfinite import NonfiniteGuard
from mjlab.envs.phases import AfterPhase, phase
from mjlab.envs.physics import PhysicsPlan, plan_physics
from mjlab.managers import ManagedEnv, StepOrder


class StepProgram:
    """Step and reset of all worlds, as a sequence of phases.

    `advance` is a whole step. Methods marked with `phase` can also be called
    individually, through `env.lifecycle`.
    """

    def __init__(
        self,
        env: ManagedEnv,
        decimation: int,
        resets: AutoReset,
        guard: NonfiniteGuard,
        step_order: StepOrder = "default",
    ) -> None:
        self.env, self.resets, self.guard = env, resets, guard
        self.step_order = step_order
        self.after_phase: list[AfterPhase] = []
        """Hooks, called with the name of each finished phase."""
        self.physics = plan_physics(env, decimation, self.after_phase)
        """Plan of the physics steps of an environment step."""
        self.plain_physics = PhysicsPlan(env, decimation, self.after_phase)
        """Physics plan without shortcuts, for individual phases and for observers."""
        self.initial_states: Callable[[Tensor], None] = partial(
            env.event_manager.apply, "reset", None
        )
        """Writes initial states of episodes, after a reset to the model's defaults."""
        self.with_terms = [manager for manager in env.managers if manager.terms]
        """Managers that have at least one term, in reset order."""
        self.before_resets = [env.recorder_manager.pre_reset]
        """Functions called before a reset, while worlds are in their terminal state."""

    def advance(self) -> None:
        """Step all worlds, from `action_manager.incoming` to the next observation."""
        self.act()
        self.physics.run()
        self.evaluate()
        self.reset_done()
        self.observe()

    def advance_by_phases(self, hooks: list[AfterPhase]) -> None:
        """Step all worlds without physics shortcuts; call hooks after each phase."""
        physics, self.physics = self.physics, self.plain_physics
        self.after_phase += hooks
        try:
            self.advance()
        finally:
            self.after_phase.clear()
            self.physics = physics

    def act(self) -> None:
        """Process the action, and set actuator targets."""
        self.set_action()
        self.set_targets()

    @phase("set_action")
    def set_action(self) -> None:
        """Start a step: advance random numbers, and hold back finished worlds.

        The caller must have copied the action to `action_manager.incoming`.
        """
        self.env.recorder_manager.pre_step()
        self.env.rng.advance()
        if self.resets.when == "next_step":
            self.hold_back()
        self.env.scene.invalidate()

    @phase("set_targets")
    def set_targets(self) -> None:
        """Compute actuator targets from the action, in the action terms."""
        action = self.env.action_manager.incoming
        self.env.action_manager.process_action(self.resets.allowed(action))

    @phase("evaluate")
    def evaluate(self) -> None:
        """Compute terminations, outcomes, rewards and metrics of the step."""
        env, diverged = self.env, self.guard.diverged
        env.step_counts.add_(1)
        env.termination_manager.compute()
        env.outcome_manager.compute()
        self.guard.detect()
        env.reward_manager.compute(env.step_dt, diverged)
        self.guard.end_episodes()
        env.metrics_manager.compute()
        self.resets.correct(diverged)
        env.event_manager.apply("step", env.step_dt)
        if self.step_order == "mjlab":
            env.event_manager.apply("interval", env.step_dt)
        env.recorder_manager.post_step(self.resets.held_back)

    @phase("reset_done")
    def reset_done(self) -> None:
        """Reset held-back or just finished worlds, before observations are computed.

        With terminal observations, `look` resets the worlds instead, after observing
        them.
        """
        resets = self.resets
        if resets.when == "next_step":
            self.write_states(resets.held_back)
            self.begin_episodes(resets.held_back)
        elif resets.when == "same_step" and not resets.shows_ends:
            self.end_episodes(resets.done)
            self.write_states(resets.done)
            self.begin_episodes(resets.done)

    def observe(self) -> None:
        """Apply interval events, update kinematics and observe."""
        self.update_kinematics()
        self.look()

    def update_kinematics(self) -> None:
        """Apply interval events, then update all quantities derived from the state."""
        if self.step_order == "default":
            self.env.event_manager.apply("interval", self.env.step_dt)
        self.refresh(self.env.step_dt)

    @phase("observe")
    def look(self) -> None:
        """Compute observations; with terminal observations, reset finished worlds."""
        env, resets, diverged = self.env, self.resets, self.guard.diverged
        self.compute_observations(env.step_dt)
        if resets.when != "same_step":
            resets.hide(env.observation_manager.output, diverged)
        if resets.shows_ends:
            resets.keep(env.observation_manager.output, diverged)
            self.reset(resets.done)
        env.recorder_manager.record()

    # A reset, and methods that both a reset and a step use.

    def reset(self, mask: Tensor) -> None:
        """Reset worlds after their terminal observations, and observe them again."""
        if self.env.sim.may_branch and not bool(mask.any()):
            # No world is reset, so only record and run the curricula, which must happen
            # in every step.
            with self.env.sim.reads.allow_late():
                self.end_episodes(mask)
            return
        self.initialise(mask)
        self.apply(mask)
        self.refresh(0.0)
        self.compute_observations(0.0, mask)

    @phase("initialise")
    def initialise(self, mask: Tensor, *, events: bool = True) -> None:
        """End episodes, and write the initial states of new episodes."""
        with self.env.sim.reads.allow_late():
            self.end_episodes(mask)
            self.write_states(mask, events=events)

    @phase("apply")
    def apply(self, mask: Tensor) -> None:
        """Begin episodes from the current state."""
        with self.env.sim.reads.allow_late():
            self.begin_episodes(mask)
        self.resets.release(mask)

    @phase("update_kinematics")
    def refresh(self, dt: float) -> None:
        """Update constants, commands that write state, and derived quantities.

        Args:
            dt: Duration of the step, s; 0 after a reset.
        """
        self.env.event_manager.recompute_constants()
        self.env.command_manager.write_state(dt)
        self.env.sim.forward()
        self.env.scene.refresh()

    def compute_observations(self, dt: float, mask: Tensor | None = None) -> None:
        """Update commands, rays and cameras, then observe the worlds of `mask`."""
        self.env.command_manager.compute(dt)
        self.env.sim.sense()
        self.env.observation_manager.compute(mask=mask)

    def hold_back(self) -> None:
        """Hold back worlds that finished in the last step; this step resets them."""
        resets = self.resets
        resets.hold_back()
        with self.env.sim.reads.allow_late():
            self.env.curriculum_manager.compute(resets.held_back)
        # Physics also steps these worlds until their reset, so their state must be
        # finite.
        self.env.sim.reset(resets.held_back)

    def end_episodes(self, mask: Tensor) -> None:
        """Record the terminal state, advance random numbers, and run curricula."""
        for record in self.before_resets:
            record()
        self.env.rng.advance(mask)
        self.env.curriculum_manager.compute(mask)

    def write_states(self, mask: Tensor, *, events: bool = True) -> None:
        """Write initial states; without events these are the model's defaults."""
        self.env.sim.reset(mask)
        self.env.scene.reset(mask)
        if events:
            self.initial_states(mask)

    def begin_episodes(self, mask: Tensor) -> None:
        """Log finished episodes, and reset managers and step counts."""
        env = self.env
        for manager in self.with_terms:
            manager.reset(mask)
        # Episodes of zero steps, from two consecutive resets, are not logged.
        env.episode_log.fold(mask.logical_and(env.episode_length_buf))
        env.episode_length_buf.masked_fill_(mask, 0)

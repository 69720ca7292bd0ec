"""What a step and a reset do, phase by phase. The order is the caller's business."""

from typing import TYPE_CHECKING

import torch

from mjlab.sim import in_turn

if TYPE_CHECKING:
    from mjlab.envs.env import ManagerBasedRlEnv


class Phases:
    """The parts that `_advance` and every reset consist of.

    `env.lifecycle` calls them by hand, and minds their order.
    """

    def __init__(self, env: "ManagerBasedRlEnv") -> None:
        self._env = env
        modes = env.event_manager.asks_constants_in
        self._asks_constants = bool(modes - {"startup"})
        # What actions decide within a physics step, actuators then turn into controls.
        self._late_control = in_turn(
            env.action_manager.late_control, env.scene.late_control
        )

    def invalidate(self) -> None:
        """Forget what was computed on request: the state changed without Python.

        After a replay, and after a state was put back.
        """
        self._env.scene.invalidate()
        self._env.action_manager.invalidate()

    # A step.

    def set_action(self) -> None:
        """Begin a step with the action at hand, and with new random numbers."""
        env = self._env
        env.recorder_manager.pre_step()
        env.rng.advance()
        env.resets.begin()
        self.invalidate()

    def set_targets(self) -> None:
        """Have action terms turn the action into targets of actuators."""
        env = self._env
        env.action_manager.process_action(env._action)

    def apply_targets(self) -> None:
        """Have actuators turn targets into controls, before each physics step."""
        self._env.action_manager.apply_action()
        self._env.scene.apply()

    def physics_step(self, *, resume: bool = False) -> None:
        """Advance physics by one of its timesteps.

        Args:
            resume: Promises that no state was written since `update_kinematics`.
        """
        env = self._env
        env.sim.step(self._late_control, resume=resume)
        env.scene.update(env.physics_dt)
        env.metrics_manager.compute_substep()

    def judge(self) -> None:
        """Say what the step was worth, and which episodes end with it."""
        env = self._env
        env.episode_length_buf += 1
        env.common_step_counter += 1
        env.termination_manager.compute()
        env.outcome_manager.compute()
        lost = env.quarantine.find()
        env.reward_manager.compute(env.step_dt, lost)
        env.quarantine.silence()
        env.metrics_manager.compute()
        env.resets.settle()
        env.event_manager.apply("step", dt=env.step_dt, mask=env._everyone)
        env.recorder_manager.post_step(env.resets.waiting)

    def begin_again(self) -> None:
        """Begin new episodes where they are due: `initialise` and `apply`."""
        self._env.resets.happen()

    # A reset. Each phase is for the worlds of `mask`, shape (num_envs,), bool.

    def conclude(self, mask: torch.Tensor) -> None:
        """End episodes. Curricula look at every step."""
        self._env.recorder_manager.pre_reset()
        self._env.rng.advance(mask)
        self._env.curriculum_manager.compute(mask)

    def initialise(self, mask: torch.Tensor, *, events: bool = True) -> None:
        """Write first states: the model's defaults, and what reset events write.

        Args:
            mask: The worlds.
            events: Whether reset events happen.
        """
        env = self._env
        env.sim.reset(mask)
        env.scene.reset(mask)
        if events:
            env.beginnings.write(mask)

    def apply(self, mask: torch.Tensor) -> None:
        """Begin episodes from what was written: managers log, forget, and start."""
        env = self._env
        for manager in env.managers():
            manager.reset(mask)
        # A world that is reset twice in a row has had no episode in between.
        env.episode_log.fold(mask & (env.episode_length_buf > 0))
        env.episode_length_buf.masked_fill_(mask, 0)

    # Both. There the mask is of worlds that were reset outside a step, in whose rows
    # alone timers and buffers move; None in a step.

    def update_kinematics(self, mask: torch.Tensor | None) -> None:
        """Have the last writes happen, and make what follows from the state current."""
        env = self._env
        if mask is None:
            env.event_manager.apply("interval", dt=env.step_dt)
        if self._asks_constants:
            self.recompute_constants()
        env.command_manager.write_state(self._dt(mask))
        env.sim.forward()
        env.scene.refresh()

    def fetch(self, mask: torch.Tensor | None) -> None:
        """Update commands, look around, and observe."""
        env = self._env
        env.command_manager.compute(self._dt(mask))
        env.sim.sense()
        env.observation_manager.compute(mask=mask)

    def recompute_constants(self) -> None:
        """Derive constants in the worlds whose events asked for it."""
        events = self._env.event_manager
        self._env.sim.recompute_constants(events.constants_mask)
        events.constants_mask.zero_()

    def _dt(self, mask: torch.Tensor | None) -> float:
        return self._env.step_dt if mask is None else 0.0

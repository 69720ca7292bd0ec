"""The environment: physics and managers, stepped as one function of tensors."""

import math
from typing import Any

import torch

from mjlab.envs.beginnings import Beginnings, FromEvents
from mjlab.envs.config import ManagerBasedRlEnvCfg
from mjlab.envs.introspection import Introspection
from mjlab.envs.lifecycle import Lifecycle, LoadedScene, load
from mjlab.envs.origin import origin_of
from mjlab.envs.phases import Phases
from mjlab.envs.program import Program, build_program
from mjlab.envs.quarantine import Quarantine
from mjlab.envs.resets import Resets, When
from mjlab.envs.state_access import StateAccess
from mjlab.managers import (
    ActionManager,
    CommandManager,
    CurriculumManager,
    EpisodeLog,
    EventManager,
    MetricsManager,
    ObservationManager,
    OutcomeManager,
    RecorderManager,
    RewardManager,
    TerminationManager,
)
from mjlab.rng import WorldRng
from mjlab.scene import Scene
from mjlab.sim import Simulation

Observations = dict[str, torch.Tensor | dict[str, torch.Tensor]]


class ManagerBasedRlEnv(Introspection, StateAccess):
    """Worlds of a task, stepped together on one device.

    Everything between an action and the next observation is `_advance`, a function of
    tensors that a CUDA graph can hold. What `step` returns are copies, which nothing
    changes later.
    """

    def __init__(
        self,
        cfg: ManagerBasedRlEnvCfg | LoadedScene,
        device: str | None = None,
        *,
        first_world: int = 0,
        task: str | None = None,
    ) -> None:
        """Build scene, physics and managers, and run the startup events.

        Args:
            cfg: What to build, which is never written to, or the scene that `load`
                made of it.
            device: Where tensors live. None lets the backend choose.
            first_world: Global index of world 0, for a process of several.
            task: The id that the task is registered by, which recordings then name.
        """
        loaded = cfg if isinstance(cfg, LoadedScene) else load(cfg)
        cfg = loaded.cfg
        self.cfg = cfg
        self.seed = loaded.seed
        """The seed in use."""
        self.first_world = first_world
        """Global index of world 0."""
        self.task = task
        """The id that the task is registered by. None where nobody said."""
        self.sim = Simulation(
            loaded.model, cfg.scene.num_envs, cfg.sim, device=device, vary=loaded.vary
        )
        self.num_envs = self.sim.num_envs
        self.device = self.sim.device
        self.rng = WorldRng(
            self.num_envs, self.seed, self.device, first_world=first_world
        )
        self.scene = Scene(cfg.scene, loaded.built, self.sim, self.rng)
        self.physics_dt = self.sim.timestep
        self.step_dt = self.physics_dt * cfg.decimation
        self.max_episode_length_s = cfg.episode_length_s
        self.max_episode_length = math.ceil(cfg.episode_length_s / self.step_dt - 1e-9)
        self._allocate()
        self.quarantine = Quarantine(self)
        self._bind_managers()
        self._everyone = torch.ones_like(self._no_one)
        self.resets = Resets(self, final_obs=cfg.final_obs)
        """When worlds that ended begin anew."""
        self.beginnings: Beginnings = FromEvents(self)
        """What writes the first states of episodes."""
        self.phases = Phases(self)
        """What `_advance` and every reset consist of."""
        self.lifecycle = Lifecycle(self)
        """The same, called by hand."""
        self._start_up()
        self.program: Program = build_program(self)
        """How a step runs."""

    def _allocate(self) -> None:
        ints = {"dtype": torch.int64, "device": self.device}
        self.episode_length_buf = torch.zeros(self.num_envs, **ints)
        self.common_step_counter = torch.zeros((), **ints)
        self._no_one = torch.zeros(self.num_envs, dtype=torch.bool, device=self.device)
        self.episode_log = EpisodeLog(self.num_envs, self.device)

    def _bind_managers(self) -> None:
        cfg = self.cfg
        self.event_manager = EventManager(cfg.events, self)
        self.command_manager = CommandManager(cfg.commands, self)
        self.action_manager = ActionManager(cfg.actions, self)
        self.observation_manager = ObservationManager(cfg.observations, self)
        self.termination_manager = TerminationManager(cfg.terminations, self)
        self.reward_manager = RewardManager(
            cfg.rewards, self, scale_by_dt=cfg.scale_rewards_by_dt
        )
        self.curriculum_manager = CurriculumManager(cfg.curriculum, self)
        self.metrics_manager = MetricsManager(cfg.metrics, self)
        self.outcome_manager = OutcomeManager(cfg.outcomes, self)
        self.recorder_manager = RecorderManager(
            cfg.recorders, self, cfg.recording, origin=lambda: origin_of(self)
        )
        self._action = torch.zeros(
            self.num_envs, self.action_manager.total_action_dim, device=self.device
        )
        # Written in place: a replay fills the memory that it was recorded with.
        self._final_obs = self._observations() if cfg.final_obs else {}

    def _start_up(self) -> None:
        self.event_manager.apply("startup", mask=self._everyone)
        # Only here, if nothing but startup events varies what constants come from.
        if self.event_manager.asks_constants:
            self.phases.recompute_constants()
        self.sim.forward()
        self.scene.refresh()

    # The public interface.

    def reset(
        self,
        *,
        seed: int | list[int] | None = None,
        mask: torch.Tensor | None = None,
    ) -> tuple[Observations, dict[str, Any]]:
        """Start new episodes.

        Args:
            seed: Seeds of the worlds' random numbers: seed + i for world i, or a list
                with one for each. None goes on with the present ones.
            mask: The worlds to reset, shape (num_envs,), bool; the others are left as
                they are. None means all.

        Returns:
            Observations, and extras.
        """
        self.lifecycle.initialise(mask, seed=seed)
        self.lifecycle.apply()
        self.lifecycle.update_kinematics()
        return self.lifecycle.fetch()

    def step(
        self, action: torch.Tensor
    ) -> tuple[Observations, torch.Tensor, torch.Tensor, torch.Tensor, dict[str, Any]]:
        """Advance every world by one step; worlds that end begin a new episode.

        Args:
            action: Shape (num_envs, total_action_dim), float32, on the device. Its
                values are taken; no gradient goes through a step.

        Returns:
            Observations (of the new episode where one ended), reward, terminated,
            truncated, and extras.
        """
        self.lifecycle.check_at_rest("step")
        self.action_manager.check(action)
        # A policy's action may bring its graph along; physics has no gradient.
        self._action.copy_(action.detach())
        self.program.run()
        self.recorder_manager.commit()
        observations, extras = self._shown(ends=True)
        return observations, *self._judgement(), extras

    def choose_resets(
        self,
        when: When = "same_step",
        *,
        ignore_terminations: bool = False,
        final_obs: bool | None = None,
    ) -> None:
        """Choose when worlds that end begin anew; see `Resets`.

        `final_obs` is as the config says where it is None.
        """
        shows_ends = self.cfg.final_obs if final_obs is None else final_obs
        if self.resets.is_choice(when, ignore_terminations, shows_ends):
            return
        self.program.drop()
        self.resets = Resets(
            self, when, ignore_terminations=ignore_terminations, final_obs=shows_ends
        )
        self._final_obs = self._observations() if self.resets.shows_ends else {}
        self.program = build_program(self)

    def take_log(self) -> dict[str, float]:
        """Means over the episodes that ended since the last call, and health counters.

        This waits for the device, and stops the run if too many worlds were not finite.
        """
        figures, episodes = self.episode_log.take()
        health = self.quarantine.take()
        return (figures if episodes else {}) | health

    def close(self) -> None:
        """Let go of the step's graph, and finish the files of recorders."""
        self.program.drop()
        self.recorder_manager.close()

    @property
    def unwrapped(self) -> "ManagerBasedRlEnv":
        """The environment itself."""
        return self

    # The device program.

    def _advance(self) -> None:
        """Everything between an action and the next observation."""
        phases = self.phases
        phases.set_action()
        with self.sim.reads.before_forward():
            phases.set_targets()
            for substep in range(self.cfg.decimation):
                phases.apply_targets()
                phases.physics_step(resume=substep == 0)
            phases.judge()
            phases.begin_again()
        phases.update_kinematics(None)
        phases.fetch(None)
        self.resets.happen_late()
        self.recorder_manager.record()

    def managers(self) -> tuple[Any, ...]:
        """Managers in the order in which a reset reaches them."""
        return (
            self.observation_manager,
            self.action_manager,
            self.reward_manager,
            self.metrics_manager,
            self.outcome_manager,
            self.curriculum_manager,
            self.command_manager,
            self.event_manager,
            self.termination_manager,
            self.recorder_manager,
        )

    # What is given out: copies.

    def _shown(self, *, ends: bool) -> tuple[Observations, dict[str, Any]]:
        """Observations and extras; the last observations of episodes are among these.

        Args:
            ends: Whether episodes may have ended: after a step, not after a reset.
        """
        extras: dict[str, Any] = {"log": self.episode_log.latest()}
        if ends and self.resets.shows_ends:
            extras["final_obs"] = _copy(self._final_obs)
        return self._observations(), extras

    def _judgement(self) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Reward, terminated and truncated, each of shape (num_envs,)."""
        flags = self.termination_manager
        reward = self.reward_manager.reward
        return reward.clone(), flags.terminated.clone(), flags.time_outs.clone()

    def _observations(self) -> Observations:
        return _copy(self.observation_manager.output)


def _copy(observations: Observations) -> Observations:
    return {
        group: value.clone()
        if isinstance(value, torch.Tensor)
        else {name: term.clone() for name, term in value.items()}
        for group, value in observations.items()
    }

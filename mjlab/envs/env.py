"""The environment: physics and managers, stepped as one function of tensors."""

import math
import secrets
from typing import Any

import torch

from mjlab.envs.config import ManagerBasedRlEnvCfg, check_config
from mjlab.envs.introspection import Introspection
from mjlab.envs.program import Program, build_program
from mjlab.envs.quarantine import Quarantine
from mjlab.envs.resets import Resets, When
from mjlab.envs.snapshot import restore_state, take_state
from mjlab.managers import (
    ActionManager,
    CommandManager,
    CurriculumManager,
    EpisodeLog,
    EventManager,
    MetricsManager,
    ObservationManager,
    OutcomeManager,
    RewardManager,
    TerminationManager,
    required_fields,
)
from mjlab.rng import WorldRng
from mjlab.scene import Scene, build_scene
from mjlab.sim import Simulation, compile_model

Observations = dict[str, torch.Tensor | dict[str, torch.Tensor]]


class ManagerBasedRlEnv(Introspection):
    """Worlds of a task, stepped together on one device.

    Everything between an action and the next observation is `_advance`, a function of
    tensors that a CUDA graph can hold. What `step` returns are copies, which nothing
    changes later.
    """

    def __init__(
        self,
        cfg: ManagerBasedRlEnvCfg,
        device: str | None = None,
        *,
        first_world: int = 0,
    ) -> None:
        """Build scene, physics and managers, and run the startup events.

        Args:
            cfg: What to build. It is never written to.
            device: Where tensors live. None lets the backend choose.
            first_world: Global index of world 0, for a process of several.
        """
        check_config(cfg)
        self.cfg = cfg
        self.seed: int = secrets.randbits(31) if cfg.seed is None else cfg.seed
        """The seed in use."""
        built = build_scene(cfg.scene, seed=self.seed)
        vary = required_fields(cfg.events)
        model = compile_model(built.spec, cfg.sim, vary)
        self.sim = Simulation(
            model, cfg.scene.num_envs, cfg.sim, device=device, vary=vary
        )
        self.num_envs = self.sim.num_envs
        self.device = self.sim.device
        self.rng = WorldRng(
            self.num_envs, self.seed, self.device, first_world=first_world
        )
        self.scene = Scene(cfg.scene, built, self.sim, self.rng)
        self.physics_dt = self.sim.timestep
        self.step_dt = self.physics_dt * cfg.decimation
        self.max_episode_length_s = cfg.episode_length_s
        self.max_episode_length = math.ceil(cfg.episode_length_s / self.step_dt - 1e-9)
        self._allocate()
        self._bind_managers()
        self._everyone = torch.ones_like(self._no_one)
        self.quarantine = Quarantine(self)
        self.resets = Resets(self, final_obs=cfg.final_obs)
        """When worlds that ended begin anew."""
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
        self._action = torch.zeros(
            self.num_envs, self.action_manager.total_action_dim, device=self.device
        )
        # Written in place: a replay fills the memory that it was recorded with.
        self._final_obs = self._observations() if cfg.final_obs else {}

    def _start_up(self) -> None:
        self.event_manager.apply("startup", mask=self._everyone)
        # Only here, if nothing but startup events varies what constants come from.
        self._asks_constants = self.event_manager.asks_constants
        self._recompute_constants()
        modes = self.event_manager.asks_constants_in
        self._asks_constants = bool(modes - {"startup"})
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
        everyone = mask is None
        mask = self._everyone if mask is None else self.sim.check_mask(mask)
        if seed is not None:
            self.rng.reseed(mask, self._world_seeds(seed))
            if everyone:
                self.event_manager.restart_global_clock()
        with self.sim.reads.thaw(), self.sim.reads.before_forward():
            self._reset(mask)
        self.resets.forget(mask)
        self._observe(mask)
        self.program.settle()
        return self._observations(), {"log": self.episode_log.latest()}

    def step(
        self, action: torch.Tensor
    ) -> tuple[Observations, torch.Tensor, torch.Tensor, torch.Tensor, dict[str, Any]]:
        """Advance every world by one step; worlds that end begin a new episode.

        Args:
            action: Shape (num_envs, total_action_dim), float32, on the device.

        Returns:
            Observations (of the new episode where one ended), reward, terminated,
            truncated, and extras.
        """
        self.action_manager.check(action)
        self._action.copy_(action)
        self.program.run()
        terminations = self.termination_manager
        extras: dict[str, Any] = {"log": self.episode_log.latest()}
        if self.resets.shows_ends:
            extras["final_obs"] = _copy(self._final_obs)
        return (
            self._observations(),
            self.reward_manager.reward.clone(),
            terminations.terminated.clone(),
            terminations.time_outs.clone(),
            extras,
        )

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

    def get_state(self) -> dict[str, torch.Tensor]:
        """Everything that the future depends on, as copies."""
        return take_state(self)

    def set_state(self, state: dict[str, torch.Tensor]) -> None:
        """Continue as if from the moment of `get_state`, bit for bit on the CPU."""
        restore_state(self, state)
        self.program.unsettle()

    def take_log(self) -> dict[str, float]:
        """Means over the episodes that ended since the last call, and health counters.

        This waits for the device, and stops the run if too many worlds were not finite.
        """
        figures, episodes = self.episode_log.take()
        health = self.quarantine.take()
        return (figures if episodes else {}) | health

    def close(self) -> None:
        """Let go of what is recorded."""
        self.program.drop()

    @property
    def unwrapped(self) -> "ManagerBasedRlEnv":
        """The environment itself."""
        return self

    # The device program.

    def _advance(self) -> None:
        """Everything between an action and the next observation."""
        self.rng.advance()
        self.resets.begin()
        self.scene.invalidate()
        with self.sim.reads.before_forward():
            self.action_manager.process_action(self._action)
            for substep in range(self.cfg.decimation):
                self.action_manager.apply_action()
                self.scene.apply()
                self.sim.step(self.scene.late_control, resume=substep == 0)
                self.scene.update(self.physics_dt)
                self.metrics_manager.compute_substep()
            self.episode_length_buf += 1
            self.common_step_counter += 1
            self.termination_manager.compute()
            self.outcome_manager.compute()
            lost = self.quarantine.find()
            self.reward_manager.compute(self.step_dt, lost)
            self.quarantine.silence()
            self.metrics_manager.compute()
            self.resets.settle()
            self.event_manager.apply("step", dt=self.step_dt, mask=self._everyone)
            self.resets.happen()
        self.event_manager.apply("interval", dt=self.step_dt)
        self._observe(None)
        self.resets.happen_late()

    def _reset(self, mask: torch.Tensor) -> None:
        """End episodes and begin new ones in the worlds of `mask`."""
        self._conclude(mask)
        self._begin(mask)

    def _conclude(self, mask: torch.Tensor) -> None:
        """End the episodes of the worlds of `mask`. Curricula look at every step."""
        self.rng.advance(mask)
        self.curriculum_manager.compute(mask)

    def _begin(self, mask: torch.Tensor) -> None:
        """Begin new episodes in the worlds of `mask`, up to `forward()`."""
        self.sim.reset(mask)
        self.scene.reset(mask)
        self.event_manager.apply("reset", mask=mask)
        for manager in self.managers():
            manager.reset(mask)
        # A world that is reset twice in a row has had no episode in between.
        self.episode_log.fold(mask & (self.episode_length_buf > 0))
        self.episode_length_buf.masked_fill_(mask, 0)

    def _observe(self, mask: torch.Tensor | None) -> None:
        """Make derived quantities current, then commands, sensors and observations.

        Args:
            mask: Worlds that were reset outside a step; the commands' timers and the
                observations' buffers of all others stay as they are. None in a step.
        """
        dt = self.step_dt if mask is None else 0.0
        self._recompute_constants()
        self.command_manager.write_state(dt)
        self.sim.forward()
        self.scene.refresh()
        self.command_manager.compute(dt)
        self.sim.sense()
        self.observation_manager.compute(mask=mask)

    def _recompute_constants(self) -> None:
        """Derive constants in the worlds whose events asked for it."""
        if self._asks_constants:
            self.sim.recompute_constants(self.event_manager.constants_mask)
            self.event_manager.constants_mask.zero_()

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
        )

    def _observations(self) -> Observations:
        return _copy(self.observation_manager.output)

    def _world_seeds(self, seed: int | list[int]) -> torch.Tensor:
        if isinstance(seed, int):
            seeds = torch.arange(seed, seed + self.num_envs)
        else:
            if len(seed) != self.num_envs:
                raise ValueError(
                    f"seed has {len(seed)} entries for {self.num_envs} worlds."
                )
            seeds = torch.tensor(seed, dtype=torch.int64)
        return seeds.to(self.device)


def _copy(observations: Observations) -> Observations:
    return {
        group: value.clone()
        if isinstance(value, torch.Tensor)
        else {name: term.clone() for name, term in value.items()}
        for group, value in observations.items()
    }

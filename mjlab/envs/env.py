"""Manager-based environment: physics, scene and managers of a batch of worlds."""

import logging
import math
import os
import threading
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NoReturn

import torch

from mjlab.envs import inspect
from mjlab.envs.build import (
    LoadedScene,
    collect_state,
    guard_nonfinite,
    load,
    make_resets,
    managers_of,
)
from mjlab.envs.config import ManagerBasedRlEnvCfg
from mjlab.envs.manual import Lifecycle
from mjlab.envs.provenance import describe
from mjlab.envs.runner import StepObserver, StepRunner, build_runner
from mjlab.envs.spaces import Box, Dict, action_space, observation_space
from mjlab.envs.state import Row, StateDict, state_dict_tensors, write_state_dict
from mjlab.envs.step import StepProgram
from mjlab.envs.unset_states import find_unset_states
from mjlab.envs.worlds import Step, When
from mjlab.managers import (
    ActionManager,
    CommandManager,
    CurriculumManager,
    EpisodeLog,
    EventManager,
    MetricsManager,
    ObservationManager,
    Observations,
    OutcomeManager,
    RecorderManager,
    RewardManager,
    TerminationManager,
    copied,
)
from mjlab.memory import naming_worlds
from mjlab.random import WorldRng
from mjlab.scene import Scene
from mjlab.sim import Simulation

_log = logging.getLogger(__name__)


class ManagerBasedRlEnv:
    """Environment of a task: a batch of worlds, stepped together on one device.

    The computation from an action to the next observation is `program.advance`, a
    function of tensors that a CUDA graph can capture. `step` returns copies, which are
    never modified later.
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
            cfg: Configuration, which is not modified, or a scene from `load`.
            device: Device of the tensors. None lets the backend choose.
            first_world: Global index of world 0, if several processes share the worlds.
            task: Id of the registered task, which is stored in recordings.
        """
        loaded = cfg if isinstance(cfg, LoadedScene) else load(cfg)
        with naming_worlds(loaded.cfg.scene.num_envs):
            self._build(loaded, device, first_world, task)

    def _build(
        self,
        loaded: LoadedScene,
        device: str | None,
        first_world: int,
        task: str | None,
    ) -> None:
        self.cfg = cfg = loaded.cfg
        self.seed = loaded.seed
        """Random seed in use: the configured seed, or the drawn one."""
        self.first_world, self.task = first_world, task
        self._one_at_a_time = threading.Lock()
        self.sim = Simulation(
            loaded.model, cfg.scene.num_envs, cfg.sim, device=device, vary=loaded.vary
        )
        self.num_envs, self.device = self.sim.num_envs, self.sim.device
        self.rng = WorldRng(
            self.num_envs, self.seed, self.device, first_world=first_world
        )
        self.scene = Scene(cfg.scene, loaded.built, self.sim, self.rng)
        self.physics_dt = self.sim.timestep
        self.step_dt = self.physics_dt * cfg.decimation
        self.max_episode_length_s = cfg.episode_length_s
        self.max_episode_length = math.ceil(cfg.episode_length_s / self.step_dt - 1e-9)
        counts = torch.zeros(self.num_envs + 1, dtype=torch.int64, device=self.device)
        self.step_counts, self.episode_length_buf = counts, counts[:-1]
        self.common_step_counter = counts[-1]
        self.episode_log = EpisodeLog(self.num_envs, self.device)
        self.extras: dict[str, Any] = {"log": {}}
        self.event_manager = EventManager(cfg.events, self)
        self.command_manager = CommandManager(
            cfg.commands, self, step_order=cfg.step_order
        )
        self.action_manager = ActionManager(cfg.actions, self)
        self.observation_manager = ObservationManager(cfg.observations, self)
        self.termination_manager = TerminationManager(cfg.terminations, self)
        self.reward_manager = RewardManager(
            cfg.rewards, self, scale_by_dt=cfg.scale_rewards_by_dt
        )
        self.curriculum_manager = CurriculumManager(cfg.curriculum, self)
        self.metrics_manager = MetricsManager(cfg.metrics, self)
        self.outcome_manager = OutcomeManager(cfg.outcomes, self)
        self.nonfinite = guard_nonfinite(self, cfg.max_nonfinite_share)
        """Ends and counts episodes of worlds with non-finite values."""
        self.state = collect_state(self, self.nonfinite)
        """The complete state of the environment."""
        self.recorder_manager = RecorderManager(
            cfg.recorders, self, cfg.recording, lambda: describe(self)
        )
        self.managers = managers_of(self)
        """All managers, in reset order."""
        resets = make_resets(self, final_obs=cfg.final_obs)
        self.program = StepProgram(
            self, cfg.decimation, resets, self.nonfinite, cfg.step_order
        )
        """The phases of a step and a reset, in the order in which they are called."""
        self.lifecycle = Lifecycle(self.program, self._finish_phases)
        """Resets and steps as individual phases; see `Lifecycle`."""
        self.observers: list[StepObserver] = []
        """Observers that are called before and after every step."""
        self.event_manager.apply("startup")
        self.event_manager.recompute_constants(startup=True)
        self.unset_states = find_unset_states(self.program, self.state)
        """Parts of `init_state` that no reset writes."""
        if self.unset_states.is_grave:
            _log.warning("%s", self.unset_states)
        self.sim.forward()
        self.scene.refresh()
        self.runner: StepRunner = self._build_runner()
        """Runs the steps, as a CUDA graph or eagerly."""
        self.single_observation_space: Dict = observation_space(self)
        self.single_action_space: Box = action_space(self)
        self.observation_space = self.single_observation_space.batch(self.num_envs)
        self.action_space = self.single_action_space.batch(self.num_envs)

    def _build_runner(self) -> StepRunner:
        return build_runner(
            self, self.program, self.state, self.observers, self.cfg.mode
        )

    def record_anew(self) -> None:
        """Capture the step again, because something that its graph uses has changed."""
        self.runner.release()
        self.runner = self._build_runner()

    # Public interface.

    def reset(
        self,
        *,
        seed: int | list[int] | None = None,
        mask: torch.Tensor | None = None,
    ) -> tuple[Observations, dict[str, Any]]:
        """Start new episodes; return observations and extras.

        Args:
            seed: Seeds of the worlds' random numbers: seed + i for world i, or a list
                with one seed per world. None continues the current random streams.
            mask: Worlds to reset, shape (num_envs,), bool; the others are unchanged.
                None means all.
        """
        if not self._one_at_a_time.acquire(blocking=False):
            self._refuse_second_thread("reset")
        try:
            self.lifecycle.initialise(mask, seed=seed)
            self.lifecycle.apply()
            self.lifecycle.update_kinematics()
            return self.lifecycle.observe()
        finally:
            self._one_at_a_time.release()

    def step(self, action: torch.Tensor) -> Step[Observations]:
        """Advance every world by one step; finished worlds begin a new episode.

        Args:
            action: Shape (num_envs, total_action_dim), float32, on the device. It is
                copied and detached, because steps are not differentiable.

        Returns:
            Observations (of the new episode in finished worlds), reward, terminated,
                truncated, and extras.
        """
        if self.sim.process != os.getpid():
            self.sim.refuse_use()
        if self.lifecycle.is_under_way:
            self.lifecycle.require_rest("step")
        if not self._one_at_a_time.acquire(blocking=False):
            self._refuse_second_thread("step")
        try:
            self.action_manager.take(action)
            self.runner.run()
            self.recorder_manager.commit()
            observations, extras = self._shown(ends=True)
            reward = self.reward_manager.reward.clone()
            terminated, time_outs = self.termination_manager.ends.clone()
            return Step(observations, reward, terminated, time_outs, extras)
        finally:
            self._one_at_a_time.release()

    def choose_resets(
        self,
        when: When = "same_step",
        *,
        ignore_terminations: bool = False,
        final_obs: bool | None = None,
    ) -> None:
        """Choose when finished worlds are reset; see `AutoReset`.

        `final_obs` defaults to the configuration.
        """
        ends = self.cfg.final_obs if final_obs is None else final_obs
        resets = make_resets(
            self, when, ignore_terminations=ignore_terminations, final_obs=ends
        )
        if not resets.is_like(self.program.resets):
            self.program.resets = resets
            self.record_anew()

    def use_initial_states(
        self, write: Callable[[torch.Tensor], None] | None = None
    ) -> None:
        """Replace the reset events as the source of initial states.

        Args:
            write: Function that writes initial states in the worlds of a mask, after
                these were reset to the model's defaults. It must not transfer data to
                the host. None restores the reset events.
        """
        from_events = partial(self.event_manager.apply, "reset", None)
        self.program.initial_states = write or from_events
        self.record_anew()

    def take_log(self) -> dict[str, float]:
        """Return means over the episodes since the last call, and the health counters.

        Entries that terms write to `extras["log"]` have their latest value.
        Synchronises with the device. Raises if the fraction of world steps with
        non-finite values exceeds `max_nonfinite_share`.
        """
        parts = [self.episode_log.drain(), *self.nonfinite.totals()]
        *sums, lost, lacks = torch.cat([part.double() for part in parts]).tolist()
        figures, episodes = self.episode_log.take(sums)
        health = self.take_health() if lost or lacks else self.nonfinite.no_counts()
        own = {name: float(figure) for name, figure in self.extras["log"].items()}
        return (figures if episodes else {}) | own | health

    def take_health(self) -> dict[str, float]:
        """Return the health counters since the last call; see `take_log`."""
        for observer in self.observers:
            observer.before_counts()
        return self.nonfinite.take_counts()

    def close(self) -> None:
        """Release the step's CUDA graph, and complete the recorders' files.

        Data can still be read; later steps and resets raise.
        """
        self.runner.release()
        self.recorder_manager.close()
        self.sim.close()

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "An environment cannot be pickled or copied. Build another one from "
            "env.cfg, and copy the state: other.set_state(env.get_state())."
        )

    def _refuse_second_thread(self, verb: str) -> NoReturn:
        raise RuntimeError(
            f"{verb}() was called while another thread steps or resets this "
            "environment. Step it from one thread, or build one environment per thread."
        )

    @property
    def unwrapped(self) -> "ManagerBasedRlEnv":
        """The environment itself."""
        return self

    def _finish_phases(self, is_step: bool) -> tuple[Observations, dict[str, Any]]:
        """Finish a step or a reset that was called phase by phase."""
        if not is_step:
            self.recorder_manager.record()
        self.recorder_manager.commit()
        self.runner.mark_fresh()
        return self._shown(ends=is_step)

    def _shown(self, *, ends: bool) -> tuple[Observations, dict[str, Any]]:
        """Return copies of observations and extras.

        Args:
            ends: Whether episodes can have ended: true after a step, false after a
                reset.
        """
        own = {name: figure.clone() for name, figure in self.extras["log"].items()}
        extras: dict[str, Any] = {"log": self.episode_log.latest() | own}
        if ends and self.program.resets.shows_ends:
            extras["final_obs"] = copied(self.program.resets.final_obs)
        return copied(self.observation_manager.output), extras

    # Get and set the state.

    def get_state(self) -> dict[str, torch.Tensor]:
        """Return a copy of the complete state."""
        return self.state.take()

    def get_state_rows(self) -> dict[str, torch.Tensor]:
        """Return the state with one row per world; a row can continue in any world."""
        return self.state.take_rows()

    def set_state(
        self, state: Mapping[str, torch.Tensor], mask: torch.Tensor | None = None
    ) -> None:
        """Restore a state from `get_state`; later steps are bitwise equal on the CPU.

        Args:
            state: State returned by `get_state`.
            mask: Worlds, shape (num_envs,), bool; other worlds and shared state are
                unchanged. None means all worlds and the shared state; it also aborts
                an unfinished reset or step of `lifecycle`.
        """
        if mask is not None:
            self.lifecycle.require_rest("set_state")
            mask = self.sim.check_mask(mask)
        self.state.restore(state, mask)
        self.lifecycle.abandon()
        self.runner.mark_stale()

    def put_rows(self, rows: Mapping[int, Row], *, shared: bool = False) -> None:
        """Restore worlds from rows of a state; see `EnvState.put_rows`."""
        self.state.put_rows(rows, shared=shared)
        self.runner.mark_stale()

    def get_state_dict(self) -> dict[str, StateDict]:
        """Root and joint states: {"entities": {name: rows}}; see `StateDict`."""
        return {"entities": state_dict_tensors(self.scene)}

    def set_state_dict(
        self, state: Mapping[str, Any], mask: torch.Tensor | None = None
    ) -> None:
        """Write root and joint states of entities, and recompute derived quantities.

        Episodes continue, and no observations are computed. Like any write to the
        state, this can be called between the phases of a reset or a step.

        Args:
            state: State returned by `get_state_dict`, with or without the "entities"
                level. Entities can be omitted.
            mask: Worlds to write, shape (num_envs,), bool. None means all.
        """
        worlds = torch.ones_like(self.termination_manager.dones)
        mask = worlds if mask is None else self.sim.check_mask(mask)
        with self.sim.reads.allow_late():
            write_state_dict(self.scene, state, mask)
        self.sim.forward()
        self.scene.refresh()
        self.runner.mark_fresh()

    # Inspection.

    @property
    def mode(self) -> str:
        """Execution mode of a step: "fused", "segmented" or "eager"."""
        return self.runner.mode

    def profile(self, steps: int = 20) -> inspect.Profile:
        """Return the mean cost per step of each engine call and each term."""
        before = self.get_state()
        program = self.program
        found = inspect.profile(self, program.advance, program.after_phase, steps)
        self.set_state(before)
        return found

    def startup_lines(self) -> list[str]:
        """Return the startup report: engine, mode and reason, sizes, memory, notes."""
        steps = self.cfg.decimation
        physics = f"{steps} steps of {1000 * self.physics_dt:g} ms per action"
        mode = f"{self.runner.mode} ({self.runner.reason})"
        unset = [str(self.unset_states)] if self.unset_states.parts else []
        return [*inspect.startup_lines(self, physics, mode, self.seed), *unset]

    def debug_vis(self, visualizer: Any) -> None:
        """Draw the debug visualisation of terms and sensors into a viewer."""
        inspect.draw(self.managers, self.scene, visualizer)

    def __str__(self) -> str:
        return inspect.tables(self.startup_lines(), self.managers)

"""Precomputed initial states of episodes, for reset events that are slow."""

from collections.abc import Mapping

import mujoco
import torch

from mjlab.envs.state import EnvState
from mjlab.envs.step import StepProgram
from mjlab.managers import EventTermCfg, required_fields
from mjlab.sim.fields import STATE_FIELDS
from mjlab.tensors.masks import write_where


class CacheError(ValueError):
    """Raised for initial states that cannot be cached."""


class CachedInitialStates:
    """Cached initial states of episodes.

    Each world has its own states, generated from its own random numbers, because worlds
    differ in startup randomisation and in their terrain origin. World i therefore has
    the same states for any number of worlds. Each reset draws one of them.

    The cache stores everything that reset events write: physics, the model fields that
    they vary, and the internal state of entities and of these events. Commands,
    observations and all other terms are reset as usual.
    """

    stream = "beginning"
    """Name of the random stream that selects the state."""

    def __init__(
        self,
        program: StepProgram,
        state: EnvState,
        events: Mapping[str, EventTermCfg | None],
        number: int,
    ) -> None:
        """Generate the states by resets, then restore the worlds.

        Args:
            program: Step program of the environment, which runs the resets.
            state: The complete state of the environment.
            events: Events of the configuration.
            number: Number of states per world.
        """
        env = program.env
        if number < 1:
            raise CacheError(f"number={number} is invalid: cache at least one state.")
        curricula = list(env.curriculum_manager.terms)
        if env.scene.ground is not None and curricula:
            raise CacheError(
                "Cached initial states do not follow a terrain curriculum. Remove "
                f"these curriculum terms: {', '.join(curricula)}."
            )
        self.number = number
        """Number of states per world."""
        self._env, self._state = env, state
        self._worlds = torch.arange(env.num_envs, device=env.device)
        resets = {k: t for k, t in events.items() if t and t.mode == "reset"}
        before = state.take()
        self._physics = self._names_of_physics(before, resets)
        self._live = self._names_of_live(resets)
        self._states = self._make(program)
        state.restore(before)

    @property
    def nbytes(self) -> int:
        """Memory of the states, in bytes."""
        return sum(state.nbytes for state in self._states.values())

    def draw(self) -> torch.Tensor:
        """Draw the index of the next initial state of each world, shape (num_envs,)."""
        return self._env.rng.integers(0, self.number, (), self.stream)

    def states(self, choice: torch.Tensor) -> dict[str, torch.Tensor]:
        """Return one state of each world, by name as in `env.get_state()`.

        Args:
            choice: Index of the state, shape (num_envs,), int64.
        """
        places = choice * self._env.num_envs + self._worlds
        return {k: v.index_select(0, places) for k, v in self._states.items()}

    def __call__(self, mask: torch.Tensor) -> None:
        """Write a cached state to each world of `mask`, shape (num_envs,), bool."""
        env = self._env
        if env.sim.may_branch and not bool(mask.any()):
            return
        states = self.states(self.draw())
        physics = {name[4:]: states[name] for name in self._physics}
        env.sim.copy_rows(physics, mask)
        live = self._state.live()
        for name in self._live:
            write_where(live[name], mask, states[name])
        env.scene.invalidate()

    def _make(self, program: StepProgram) -> dict[str, torch.Tensor]:
        env = self._env
        all_worlds = torch.ones_like(program.resets.done)
        names = [*self._physics, *self._live]
        made: dict[str, list[torch.Tensor]] = {name: [] for name in names}
        for _ in range(self.number):
            env.rng.advance(all_worlds)
            with env.sim.reads.allow_late():
                program.write_states(all_worlds)
            program.refresh(0.0)
            state = self._state.take()
            for name in names:
                made[name].append(state[name])
        return {name: torch.cat(values) for name, values in made.items()}

    def _names_of_physics(
        self,
        state: Mapping[str, torch.Tensor],
        events: Mapping[str, EventTermCfg],
    ) -> list[str]:
        """List the engine tensors that reset events write, and their dependents."""
        fields = {f"sim.model.{name}" for name in required_fields(events)}
        follows = "reset" in self._env.event_manager.asks_constants_in
        outputs = mujoco.MjModel._setconst_outputs if follows else ()
        constants = {f"sim.model.{name}" for name in outputs}
        data = {"sim.state", *(f"sim.data.{name}" for name in STATE_FIELDS)}
        # Warp stores the poses of geoms of fixed bodies, which depend on these fields.
        places = {"sim.data.geom_xpos", "sim.data.geom_xmat"} if fields else set()
        wanted = data | fields | constants | places
        return [name for name in state if name in wanted]

    def _names_of_live(self, events: Mapping[str, EventTermCfg]) -> list[str]:
        """List the tensors of the internal state of entities and reset events."""
        prefixes = ("scene.entity.", *(f"event.{name}." for name in events))
        return [name for name in self._state.live() if name.startswith(prefixes)]

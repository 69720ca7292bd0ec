"""First states of episodes that were made before, for reset events that take long."""

from collections.abc import Mapping

import mujoco
import torch

from mjlab.envs.state import EnvState
from mjlab.envs.step import StepProgram
from mjlab.managers import EventTermCfg, required_fields
from mjlab.sim.fields import STATE_FIELDS
from mjlab.tensors.masks import write_where


class CacheError(ValueError):
    """First states that cannot be kept for later."""


class CachedInitialStates:
    """First states out of some that were made before.

    Each world has its own, made by its own random numbers, since worlds differ: in
    what was randomised at startup, in their place on the terrain. So world i begins
    from the same states however many worlds there are. Which of them an episode begins
    from is drawn anew each time.

    What reset events write is kept: physics, the model fields that they vary, what
    entities and these events remember. Commands, observations and everything else begin
    as they always do.
    """

    stream = "beginning"
    """The name of the choice for its random numbers."""

    def __init__(
        self,
        program: StepProgram,
        state: EnvState,
        events: Mapping[str, EventTermCfg | None],
        number: int,
    ) -> None:
        """Make the states, by resetting. The worlds are left as they were.

        Args:
            program: The reset.
            state: All that the worlds' future depends on.
            events: The events of the configuration.
            number: States for each world.
        """
        env = program.env
        if number < 1:
            raise CacheError(f"There have to be 1 or more states, not {number}.")
        curricula = list(env.curriculum_manager.terms)
        if env.scene.ground is not None and curricula:
            raise CacheError(
                "Curricula may move worlds on the terrain, and states that were made "
                f"before stay where they were made: switch off {', '.join(curricula)}."
            )
        self.number = number
        """States for each world."""
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
        """Memory of the states."""
        return sum(state.nbytes for state in self._states.values())

    def draw(self) -> torch.Tensor:
        """Which of its states each world would begin from now, shape (num_envs,)."""
        return self._env.rng.integers(0, self.number, (), self.stream)

    def states(self, choice: torch.Tensor) -> dict[str, torch.Tensor]:
        """One state of each world, by name as in `env.get_state()`.

        Args:
            choice: Which, shape (num_envs,), int64.
        """
        places = choice * self._env.num_envs + self._worlds
        return {k: v.index_select(0, places) for k, v in self._states.items()}

    def __call__(self, mask: torch.Tensor) -> None:
        """Copy one of its states into each world of `mask`, shape (num_envs,), bool."""
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
        """List what of the engine reset events write, and what follows from that."""
        fields = {f"sim.model.{name}" for name in required_fields(events)}
        follows = "reset" in self._env.event_manager.asks_constants_in
        outputs = mujoco.MjModel._setconst_outputs if follows else ()
        constants = {f"sim.model.{name}" for name in outputs}
        data = {"sim.state", *(f"sim.data.{name}" for name in STATE_FIELDS)}
        # Where geoms of fixed bodies are is kept on Warp, and follows from these.
        places = {"sim.data.geom_xpos", "sim.data.geom_xmat"} if fields else set()
        wanted = data | fields | constants | places
        return [name for name in state if name in wanted]

    def _names_of_live(self, events: Mapping[str, EventTermCfg]) -> list[str]:
        """List what entities and reset events remember."""
        prefixes = ("scene.entity.", *(f"event.{name}." for name in events))
        return [name for name in self._state.live() if name.startswith(prefixes)]

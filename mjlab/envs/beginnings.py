"""What writes the first states of episodes: reset events, or states made before."""

from typing import TYPE_CHECKING, Protocol

import mujoco
import torch

from mjlab.envs.program import build_program
from mjlab.envs.snapshot import live_tensors
from mjlab.managers import required_fields
from mjlab.masks import write_where
from mjlab.sim.fields import STATE_FIELDS

if TYPE_CHECKING:
    from mjlab.envs.env import ManagerBasedRlEnv


class Beginnings(Protocol):
    """Writes the first states of episodes."""

    def write(self, mask: torch.Tensor) -> None:
        """Write states, in worlds that have just been set to the model's defaults.

        It stands in the step, so nothing is read back to the host.

        Args:
            mask: The worlds, shape (num_envs,), bool.
        """
        ...


class FromEvents:
    """First states as the task's reset events draw them."""

    def __init__(self, env: "ManagerBasedRlEnv") -> None:
        self._env = env

    def write(self, mask: torch.Tensor) -> None:
        """Have the reset events happen in the worlds of `mask`."""
        self._env.event_manager.apply("reset", mask=mask)


class CacheError(ValueError):
    """First states that cannot be kept for later."""


class FromCache:
    """First states out of some that were made before, for events that take long.

    Each world has its own, made by its own random numbers, since worlds differ: in
    what was randomised at startup, in their place on the terrain. So world i begins
    from the same states however many worlds there are. Which of them an episode begins
    from is drawn anew each time.

    What reset events write is kept: physics, the model fields that they vary, what
    entities and these events remember. Commands, observations and everything else begin
    as they always do.
    """

    stream = "beginning"
    """How the choice calls its random numbers."""

    def __init__(self, env: "ManagerBasedRlEnv", number: int) -> None:
        """Make the states, by resetting. The environment is left as it was.

        Args:
            env: The environment.
            number: States for each world.
        """
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
        self._env = env
        self._worlds = torch.arange(env.num_envs, device=env.device)
        self._physics = _names_of_physics(env)
        self._live = _names_of_live(env)
        self._states = self._make()

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

    def write(self, mask: torch.Tensor) -> None:
        """Copy one of its states into each world of `mask`."""
        env = self._env
        # The native engine lies on the host, which reads its own memory for nothing.
        if env.sim.backend.engine == "native" and not bool(mask.any()):
            return
        states = self.states(self.draw())
        physics = {name[4:]: states[name] for name in self._physics}
        env.sim.copy_rows(physics, mask)
        live = live_tensors(env)
        for name in self._live:
            write_where(live[name], mask, states[name])
        env.phases.invalidate()

    def _make(self) -> dict[str, torch.Tensor]:
        env = self._env
        before = env.get_state()
        everyone = torch.ones(env.num_envs, dtype=torch.bool, device=env.device)
        names = [*self._physics, *self._live]
        made: dict[str, list[torch.Tensor]] = {name: [] for name in names}
        for _ in range(self.number):
            env.rng.advance(everyone)
            with env.sim.reads.thaw(), env.sim.reads.before_forward():
                env.phases.initialise(everyone)
            env.phases.update_kinematics(everyone)
            state = env.get_state()
            for name in names:
                made[name].append(state[name])
        env.set_state(before)
        return {name: torch.cat(values) for name, values in made.items()}


def begin_from(env: "ManagerBasedRlEnv", beginnings: Beginnings) -> None:
    """Have episodes begin from other first states from now on.

    Args:
        env: The environment. A step that was recorded as a graph is recorded anew.
        beginnings: What writes them.
    """
    env.program.drop()
    env.beginnings = beginnings
    env.program = build_program(env)


def _names_of_physics(env: "ManagerBasedRlEnv") -> list[str]:
    """What of the engine a reset event may write, and what follows from that."""
    terms = {k: t for k, t in env.cfg.events.items() if t and t.mode == "reset"}
    fields = {f"sim.model.{name}" for name in required_fields(terms)}
    follows = "reset" in env.event_manager.asks_constants_in
    outputs = mujoco.MjModel._setconst_outputs if follows else ()
    constants = {f"sim.model.{name}" for name in outputs}
    state = {"sim.state", *(f"sim.data.{name}" for name in STATE_FIELDS)}
    # Where geoms of fixed bodies are is kept on Warp, and follows from these fields.
    places = {"sim.data.geom_xpos", "sim.data.geom_xmat"} if fields else set()
    wanted = state | fields | constants | places
    return [name for name in env.get_state() if name in wanted]


def _names_of_live(env: "ManagerBasedRlEnv") -> list[str]:
    """What entities and reset events remember."""
    events = env.cfg.events.items()
    terms = [name for name, term in events if term and term.mode == "reset"]
    prefixes = ("scene.entity.", *(f"event.{name}." for name in terms))
    return [name for name in live_tensors(env) if name.startswith(prefixes)]

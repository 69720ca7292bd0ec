"""The phases of a reset and of a step, called by hand and in their order."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import mujoco
import torch

from mjlab.envs.config import ManagerBasedRlEnvCfg, check_config
from mjlab.managers import required_fields
from mjlab.scene import SceneSpec, build_scene
from mjlab.sim import compile_model

if TYPE_CHECKING:
    from mjlab.envs.env import ManagerBasedRlEnv, Observations

RESET: tuple[str, ...] = ("initialise", "apply", "update_kinematics", "fetch")
"""Phases of a reset of an environment that there is, in their order."""

STEP: tuple[str, ...] = (
    "set_action",
    "set_targets",
    "apply_targets",
    "physics_step",
    "judge",
    "begin_again",
    "update_kinematics",
    "fetch",
)
"""Phases of a step. The third and the fourth take turns, once for each physics step."""


class PhaseError(RuntimeError):
    """A phase was called where another one has to come first."""


@dataclass(frozen=True)
class LoadedScene:
    """A scene that is built and compiled, and of which there are no worlds yet."""

    cfg: ManagerBasedRlEnvCfg
    """What it was made of."""

    seed: int
    """Seed of what was drawn, such as the terrain."""

    built: SceneSpec
    """The scene as MuJoCo's spec, and what it was assembled from."""

    model: mujoco.MjModel
    """The compiled model."""

    vary: frozenset[str]
    """Model fields that events will vary from world to world."""


def load(cfg: ManagerBasedRlEnvCfg) -> LoadedScene:
    """Build and compile the scene of an environment: the first phase.

    Args:
        cfg: The environment's configuration.
    """
    check_config(cfg)
    seed = secrets.randbits(31) if cfg.seed is None else cfg.seed
    built = build_scene(cfg.scene, seed=seed)
    vary = frozenset(required_fields(cfg.events))
    return LoadedScene(cfg, seed, built, compile_model(built.spec, cfg.sim, vary), vary)


def allocate(
    loaded: LoadedScene, device: str | None = None, *, first_world: int = 0
) -> "ManagerBasedRlEnv":
    """Make the worlds of a scene: the second phase.

    It allocates the engine and the fields of every world, binds the managers, has the
    startup events happen, and records the step where it can be recorded.
    `ManagerBasedRlEnv(cfg)` is `allocate(load(cfg))`.

    Args:
        loaded: What `load` returned.
        device: Where tensors live. None lets the backend choose.
        first_world: Global index of world 0, for a process of several.
    """
    if not isinstance(loaded, LoadedScene):
        raise PhaseError(
            f"allocate() takes a LoadedScene, and this is a {type(loaded).__name__}: "
            "load(cfg) has to come first."
        )
    # Imported here because the environment, as a whole, stands above its phases.
    from mjlab.envs.env import ManagerBasedRlEnv

    return ManagerBasedRlEnv(loaded, device, first_world=first_world)


class Lifecycle:
    """Resets and steps by hand: `env.lifecycle`.

    A reset is `initialise(mask)`, then writing the state of these worlds if it should
    be another one, then `apply()`, `update_kinematics()` and `fetch()`. This is what
    `env.reset(mask=mask)` calls, so that the two are equal.

    A step is `set_action(action)` and `set_targets()`; `apply_targets()` and
    `physics_step()` as often as the configuration's `decimation` says; `judge()`,
    `begin_again()`, `update_kinematics()` and `fetch()`. It equals `env.step(action)`,
    and is not recorded as a graph.

    Called out of order, a phase raises `PhaseError`. `env.reset()` of all worlds, and
    `env.set_state(state)` of all, start over from anywhere.
    """

    def __init__(self, env: "ManagerBasedRlEnv") -> None:
        self._env = env
        self._order: tuple[str, ...] = ()
        self._last = ""
        self._substep = 0
        # The worlds of a reset under way. None in a step.
        self._mask: torch.Tensor | None = None

    @property
    def next_phases(self) -> tuple[str, ...]:
        """What may be called now, by name."""
        if not self._order:
            return (RESET[0], STEP[0])
        if self._last == "physics_step" and self._substep < self._env.cfg.decimation:
            return ("apply_targets",)
        return (self._order[self._order.index(self._last) + 1],)

    def check_at_rest(self, name: str) -> None:
        """Raise in the middle of a reset or a step.

        Args:
            name: What is about to be called.
        """
        if self._order:
            raise PhaseError(self._objection(name))

    def abandon(self) -> None:
        """Leave a reset or a step where it is: the state of all was exchanged."""
        if self._order:
            self._order, self._last, self._mask = (), "", None
            self._env.recorder_manager.abandon()

    # A reset.

    def initialise(
        self,
        mask: torch.Tensor | None = None,
        *,
        seed: int | Sequence[int] | None = None,
        events: bool = True,
    ) -> None:
        """End the episodes of worlds, and write the first states of new ones.

        State that is written between this and `apply` is what the new episodes begin
        with.

        Args:
            mask: The worlds, shape (num_envs,), bool. None means all.
            seed: Seeds of the worlds' random numbers: seed + i for world i, or one for
                each. None goes on with the present ones.
            events: Whether reset events happen. If not, the worlds are in the model's
                default state, and everything else is up to the caller.
        """
        if mask is not None:
            self._check("initialise")
        env = self._env
        given = env._everyone if mask is None else env.sim.check_mask(mask).clone()
        seeds = None if seed is None else _world_seeds(env, seed)
        if seeds is not None:
            env.rng.reseed(given, seeds)
            if mask is None:
                env.event_manager.restart_global_clock()
        with env.sim.reads.thaw(), env.sim.reads.before_forward():
            env.phases.conclude(given)
            env.phases.initialise(given, events=events)
        self._order, self._last, self._mask = RESET, "initialise", given

    def apply(self, mask: torch.Tensor | None = None) -> None:
        """Begin the episodes from what was written.

        Tensors are the engine's own memory, so nothing has to be copied. What managers
        remember of these worlds is logged and forgotten, and their counters are zero.

        Args:
            mask: The worlds, the same as in `initialise`. None means these.
        """
        self._enter("apply", RESET, mask)
        env, given = self._env, self._mask
        assert given is not None, "A reset has a mask."
        with env.sim.reads.thaw(), env.sim.reads.before_forward():
            env.phases.apply(given)
        env.resets.forget(given)

    # A step.

    def set_action(self, action: torch.Tensor) -> None:
        """Begin a step, with new random numbers.

        Args:
            action: Shape (num_envs, total_action_dim), float32, on the device.
        """
        env = self._env
        env.action_manager.check(action)
        self._enter("set_action", STEP)
        self._substep = 0
        env._action.copy_(action.detach())
        # Somebody may have written the state since.
        env.sim.forward()
        env.scene.refresh()
        env.phases.set_action()

    def set_targets(self) -> None:
        """Have action terms turn the action into targets of actuators."""
        self._enter("set_targets", STEP)
        self._env.phases.set_targets()

    def apply_targets(self) -> None:
        """Have actuators turn targets into controls."""
        self._enter("apply_targets", STEP)
        self._env.phases.apply_targets()

    def physics_step(self) -> None:
        """Advance physics by one of its timesteps."""
        self._enter("physics_step", STEP)
        self._substep += 1
        self._env.phases.physics_step()

    def judge(self) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Say what the step was worth, and which episodes end with it.

        Returns:
            Reward, terminated and truncated, each of shape (num_envs,).
        """
        self._enter("judge", STEP)
        self._env.phases.judge()
        return self._env._judgement()

    def begin_again(self) -> None:
        """Begin new episodes in the worlds that ended, as far as that is due."""
        self._enter("begin_again", STEP)
        self._env.phases.begin_again()

    # The end of both.

    def update_kinematics(self, mask: torch.Tensor | None = None) -> None:
        """Make what follows from the state current: bodies, velocities, sensors.

        Args:
            mask: The worlds, the same as in `initialise`. None means these.
        """
        self._enter("update_kinematics", self._order, mask)
        self._env.phases.update_kinematics(self._mask)

    def fetch(
        self, mask: torch.Tensor | None = None
    ) -> tuple["Observations", dict[str, Any]]:
        """Update commands, look around, and observe.

        Args:
            mask: The worlds, the same as in `initialise`. None means these.

        Returns:
            Observations of all worlds, and extras, as of `env.reset` or `env.step`.
        """
        self._enter("fetch", self._order, mask)
        env = self._env
        env.phases.fetch(self._mask)
        if self._order is STEP:
            env.resets.happen_late()
        env.recorder_manager.record()
        env.recorder_manager.commit()
        is_step, self._order, self._last, self._mask = self._order is STEP, (), "", None
        env.program.settle()
        return env._shown(ends=is_step)

    def _enter(
        self, name: str, order: tuple[str, ...], mask: torch.Tensor | None = None
    ) -> None:
        """Take note of a phase, or raise if it is not its turn."""
        self._check(name)
        if mask is not None:
            self._check_same(name, mask)
        self._order, self._last = order, name

    def _check(self, name: str) -> None:
        if name not in self.next_phases:
            raise PhaseError(self._objection(name))

    def _check_same(self, name: str, mask: torch.Tensor) -> None:
        if self._mask is None:
            raise PhaseError(f"{name}() of a step is for all worlds: it takes no mask.")
        if not torch.equal(self._env.sim.check_mask(mask), self._mask):
            raise PhaseError(
                f"{name}() has another mask than initialise() had. A reset is for the "
                "same worlds in all its phases."
            )

    def _objection(self, name: str) -> str:
        expected = " or ".join(f"{phase}()" for phase in self.next_phases)
        orders = [order for order in (RESET, STEP) if self._order in ((), order)]
        shown = "; ".join(
            f"those of a {'reset' if order is RESET else 'step'} are {', '.join(order)}"
            for order in orders
        )
        return (
            f"{name}() is out of order: {expected} has to come first. Of the phases, "
            f"{shown}."
        )


def _world_seeds(env: "ManagerBasedRlEnv", seed: int | Sequence[int]) -> torch.Tensor:
    """The seed of each world, shape (num_envs,)."""
    if isinstance(seed, int):
        seeds = torch.arange(seed, seed + env.num_envs)
    else:
        if len(seed) != env.num_envs:
            raise ValueError(f"seed has {len(seed)} entries for {env.num_envs} worlds.")
        seeds = torch.tensor(seed, dtype=torch.int64)
    return seeds.to(env.device)

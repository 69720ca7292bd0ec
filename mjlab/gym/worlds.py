"""Worlds behind the Gymnasium interfaces: spaces, seeds, infos, rendering."""

import copy
import functools
import gc
import warnings
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from gymnasium import Space, spaces
from gymnasium.envs.registration import EnvSpec

from mjlab.envs import (
    Box,
    Dict,
    Discrete,
    ManagerBasedRlEnv,
    ManagerBasedRlEnvCfg,
    Step,
    Worlds,
)
from mjlab.envs.worlds import When
from mjlab.names import UnknownNameError, suggest
from mjlab.random import stream_id
from mjlab.render import Offscreen

Tree = torch.Tensor | Mapping[str, "Tree"]
"""Tensor, or nested mapping of tensors; the first dimension is the world."""

Info = dict[str, Any]
"""Infos by name, shape (num_envs, ...); the interfaces add a mask to each."""

LARGEST = float(np.finfo(np.float32).max)
"""Bound of unbounded spaces: Gymnasium's checker warns of infinite bounds."""


ENTRY_POINT = "mjlab.gym.build:make_single"
"""Entry point of all ids of this package in Gymnasium's registry."""


class HasSpec:
    """Base class of environments that write the task's time limit to their `spec`.

    Gymnasium sets the spec after it has created the environment, and does not know the
    time limit of the task.
    """

    worlds: "GymWorlds"
    _spec: EnvSpec | None = None

    @property
    def spec(self) -> EnvSpec | None:
        """Gymnasium's specification: id and arguments of the environment."""
        return self._spec

    @spec.setter
    def spec(self, spec: EnvSpec | None) -> None:
        if spec is not None and spec.max_episode_steps is None:
            spec = copy.copy(spec)
            spec.max_episode_steps = steps = self.worlds.max_episode_steps
            if spec.entry_point == ENTRY_POINT:
                # Store the limit as an argument too, as `make_vec` does. The entry
                # point of a user's own environment may not accept it.
                spec.kwargs = {**spec.kwargs, "max_episode_steps": steps}
        self._spec = spec


class GymWorlds:
    """Base class of the worlds that all Gymnasium interfaces of this package wrap.

    `TorchVectorEnv(GymWorlds(env))` is a Gymnasium `VectorEnv`, on the device.
    """

    def __init__(self, env: Worlds) -> None:
        """Create the spaces.

        Args:
            env: The environment. `choose_resets` changes its automatic resets.
        """
        self.env = env
        self.num_envs = env.num_envs
        self.device = env.device
        self.frames_per_second = 1.0 / env.step_dt
        self.max_episode_steps: int | None = None
        """Steps after which an episode is truncated, None if unknown."""
        self.single_observation_space, self.single_action_space = self._spaces()

    def choose_resets(self, when: When, *, ignore_terminations: bool = False) -> None:
        """Choose when finished worlds are reset."""
        self.env.choose_resets(
            when, ignore_terminations=ignore_terminations, final_obs=True
        )

    def reset(
        self, seeds: Sequence[int | None] | None, mask: torch.Tensor | None
    ) -> tuple[Tree, Info]:
        """Start new episodes; return observations and infos of all worlds.

        Args:
            seeds: One seed per world; None continues a world's random sequence. None
                instead of the list continues all sequences.
            mask: The worlds to reset, shape (num_envs,), bool. None means all.
        """
        given = None if seeds is None else [seed for seed in seeds if seed is not None]
        if seeds is not None and given is not None and len(given) < self.num_envs:
            self._reseed(seeds, mask)
            given = None
        observations, _ = self.env.reset(seed=given, mask=mask)
        return self.chosen(observations), self._info()

    def step(self, actions: torch.Tensor) -> Step[Tree]:
        """Step all worlds; extras are infos, "final_obs" and "final_info".

        Args:
            actions: Shape (num_envs, ...), with the parts of a Dict concatenated.
        """
        steps_before = self.env.episode_length_buf.to(torch.int64, copy=True)
        step = self.env.step(actions)
        extras = self._info()
        if "final_obs" in step.extras:
            extras["final_obs"] = self.chosen(step.extras["final_obs"])
            reached = self._reached()
            extras["final_info"] = {"elapsed_steps": steps_before.add_(1), **reached}
        return Step(self.chosen(step.observations), *step[1:4], extras)

    def reconfigure(self, seed: int | None) -> None:
        """Rebuild the scene; afterwards every world must be reset.

        Args:
            seed: Seed of the scene. None derives it from the last given seed and the
                number of scenes since, so that a seed determines all later scenes.
        """
        raise ValueError(
            "These worlds have no scene that can be rebuilt. Omit reconfiguration_freq "
            "and the reset option 'reconfigure'."
        )

    def limit_episodes(self, steps: int) -> None:
        """Rebuild the worlds with another time limit.

        Args:
            steps: Steps after which an episode is truncated.
        """
        raise ValueError(
            f"These worlds have no time limit that can be set to {steps} steps."
        )

    def frames(self) -> list[np.ndarray]:
        """Return an image of each world, each (height, width, 3), uint8."""
        raise NotImplementedError(
            "These worlds cannot be rendered: use render_mode=None."
        )

    def close(self) -> None:
        """Release resources. Can be called twice."""
        self.env.close()

    def _spaces(self) -> tuple[Space, Space]:
        """Return the observation and action space of one world."""
        env = self.env
        return to_space(env.single_observation_space), to_space(env.single_action_space)

    def chosen(self, observations: Any) -> Tree:
        """Return the selected observation groups."""
        return observations

    def _reached(self) -> Info:
        """Return copies of the task's outcomes ("success", "fail") at this step."""
        return {}

    def _reseed(self, seeds: Sequence[int | None], mask: torch.Tensor | None) -> None:
        """Seed the reset worlds whose seed is not None."""
        raise ValueError(
            "Only some worlds have a seed. Pass seeds for every world, or none of them."
        )

    def _info(self) -> Info:
        steps = self.env.episode_length_buf.to(torch.int64, copy=True)
        has_begun = steps > 0  # A world that was just reset has no outcome yet.
        reached = {name: flags & has_begun for name, flags in self._reached().items()}
        return {"elapsed_steps": steps, **reached}


class ManagedWorlds(GymWorlds):
    """Adapter of a manager-based environment to the Gymnasium interfaces."""

    env: ManagerBasedRlEnv  # pyright: ignore[reportIncompatibleVariableOverride]
    """The environment. `reconfigure` replaces it."""

    def __init__(
        self,
        env: ManagerBasedRlEnv,
        *,
        groups: str | Sequence[str] | None = "actor",
        action_bound: float = 1.0,
    ) -> None:
        """Create the spaces.

        Args:
            env: The environment.
            groups: Name of the observation group to return. With several names, or
                None for all groups, observations are a Dict.
            action_bound: Bound of the action space. Actions are not clipped.
        """
        if not action_bound > 0.0:
            raise ValueError(f"action_bound={action_bound} has to be above 0.")
        self._groups = _chosen_groups(env, groups)
        self._action_bound = action_bound
        super().__init__(env)
        self.max_episode_steps = env.max_episode_length
        self._canvas: Offscreen | None = None
        self._resets: tuple[When, bool] | None = None
        # The last seed, and the number of scenes derived from it.
        self._scene: tuple[int, int] = (env.seed, 0)
        self._holders: list[str] = []

    def choose_resets(self, when: When, *, ignore_terminations: bool = False) -> None:
        self._resets = (when, ignore_terminations)
        super().choose_resets(when, ignore_terminations=ignore_terminations)

    def hold(self, holder: str) -> None:
        """Prevent the replacement of `env`.

        Args:
            holder: Name of the wrapper that stores references to parts of `env`.
        """
        self._holders.append(holder)

    def reconfigure(self, seed: int | None) -> None:
        """Rebuild the environment with another seed; see `GymWorlds.reconfigure`.

        The old environment is closed and freed first, so that two never exist together.
        Code that stores `env` must read it again.
        """
        given, scenes = self._scene
        self._scene = (given, scenes + 1) if seed is None else (seed, 0)
        # copy.copy does not call the constructor, so all other fields stay as built.
        cfg = copy.copy(self.env.cfg)
        cfg.seed = scene_seed(*self._scene)
        self._build(cfg)

    def limit_episodes(self, steps: int) -> None:
        if steps < 1:
            raise ValueError(f"max_episode_steps={steps} has to be 1 or more.")
        cfg = copy.copy(self.env.cfg)
        cfg.seed = self.env.seed
        cfg.episode_length_s = steps * self.env.step_dt
        self._build(cfg)
        self.max_episode_steps = self.env.max_episode_length

    def _build(self, cfg: ManagerBasedRlEnvCfg) -> None:
        """Replace the environment by one built from another configuration."""
        if self._holders:
            raise RuntimeError(
                "The scene cannot be rebuilt, because wrappers keep references to it: "
                f"{', '.join(self._holders)}. Set reconfiguration_freq=0, or remove "
                "these wrappers. For a time limit, pass max_episode_steps to "
                "mjlab.make, or apply TimeLimit before these wrappers."
            )
        old = self.env
        build = functools.partial(
            type(old),
            cfg,
            str(old.device),
            first_world=old.first_world,
            task=old.task,
        )
        self.close()
        left = weakref.ref(old)
        del self.env, old
        gc.collect()  # The environment and its terms form reference cycles.
        if left() is not None:
            warnings.warn(
                "The old environment is still referenced, so its memory is not "
                "freed, and its data belong to the old scene. Read worlds.env again "
                "after each rebuild.",
                RuntimeWarning,
                stacklevel=5,
            )
        self.env = build()
        present = (self.single_observation_space, self.single_action_space)
        if self._spaces() != present:
            raise RuntimeError(
                f"Rebuilt with seed {cfg.seed}, the scene has different spaces: "
                f"{self._spaces()}, previously {present}."
            )
        if self._resets is not None:
            when, ignore_terminations = self._resets
            self.choose_resets(when, ignore_terminations=ignore_terminations)

    def reset(
        self, seeds: Sequence[int | None] | None, mask: torch.Tensor | None
    ) -> tuple[Tree, Info]:
        if mask is None and seeds is not None and seeds[0] is not None:
            self._scene = (seeds[0], 0)
        return super().reset(seeds, mask)

    def frames(self) -> list[np.ndarray]:
        if self._canvas is None:
            self._canvas = Offscreen(
                self.env.sim,
                self.env.scene,
                self.env.cfg.viewer,
                worlds=range(self.num_envs),
            )
        return [picture.copy() for picture in self._canvas.pictures()]

    def close(self) -> None:
        if self._canvas is not None:
            self._canvas.close()
            self._canvas = None
        super().close()

    def _spaces(self) -> tuple[Space, Space]:
        shown = self.env.single_observation_space.spaces
        if isinstance(self._groups, str):
            observed = to_space(shown[self._groups])
        else:
            observed = to_space(Dict({name: shown[name] for name in self._groups}))
        actions = self.env.action_manager
        bound = self._action_bound
        boxes = [to_space(Box((n,), -bound, bound)) for n in actions.action_term_dim]
        if len(boxes) == 1:
            return observed, boxes[0]
        # A list of pairs keeps its order; gymnasium's Dict sorts a plain dictionary.
        terms = zip(actions.active_terms, boxes, strict=True)
        return observed, spaces.Dict(list(terms))

    def chosen(self, observations: Any) -> Tree:
        if isinstance(self._groups, str):
            return observations[self._groups]
        return {name: observations[name] for name in self._groups}

    def _reached(self) -> Info:
        outcomes = self.env.outcome_manager
        return {name: outcomes.now(name).clone() for name in outcomes.active_terms}

    def _reseed(self, seeds: Sequence[int | None], mask: torch.Tensor | None) -> None:
        has_seed = torch.tensor([seed is not None for seed in seeds])
        has_seed = has_seed.to(self.device)
        numbers = torch.tensor([seed or 0 for seed in seeds], dtype=torch.int64)
        chosen = has_seed if mask is None else has_seed & mask
        self.env.rng.reseed(chosen, numbers.to(self.device))


def scene_seed(seed: int, scenes: int) -> int:
    """Return the seed of a scene.

    Args:
        seed: The user's seed.
        scenes: Number of scenes derived from it so far; the first scene uses the seed
            itself.
    """
    return stream_id(f"scene {scenes} of {seed}") % 2**31 if scenes else seed


def to_space(record: Box | Dict | Discrete) -> Space:
    """Convert a space of `mjlab.envs` to a Gymnasium space."""
    if isinstance(record, Dict):
        parts = {name: to_space(part) for name, part in record.spaces.items()}
        return spaces.Dict(parts)
    if isinstance(record, Discrete):
        return spaces.Discrete(record.n)
    dtype = np.dtype(record.dtype)
    low, high = (
        # Bounds given per element are kept exactly.
        bound if isinstance(bound, tuple) else min(max(bound, -LARGEST), LARGEST)
        for bound in (record.low, record.high)
    )
    return spaces.Box(
        np.full(record.shape, low, dtype),
        np.full(record.shape, high, dtype),
        dtype=dtype.type,
    )


def _chosen_groups(
    env: ManagerBasedRlEnv, groups: str | Sequence[str] | None
) -> str | tuple[str, ...]:
    present = list(env.observation_manager.groups)
    if groups is None:
        return tuple(present)
    for name in (groups,) if isinstance(groups, str) else groups:
        if name not in present:
            raise UnknownNameError(
                f"Unknown observation group {name!r}. {suggest(name, present)} "
                "groups=None selects all groups, as a Dict."
            )
    return groups if isinstance(groups, str) else tuple(groups)


# Trees of tensors.


def map_tree(change: Callable[..., Any], tree: Any, *others: Any) -> Any:
    """Apply a function to the tensors with the same name in one or several trees."""
    if not isinstance(tree, Mapping):
        return change(tree, *others)
    return {
        name: map_tree(change, part, *(other[name] for other in others))
        for name, part in tree.items()
    }


def leaves(tree: Tree) -> list[torch.Tensor]:
    """Return all tensors of a tree as a list, in the order of its mappings."""
    if isinstance(tree, Mapping):
        return [leaf for part in tree.values() for leaf in leaves(part)]
    return [tree]


def where_tree(mask: torch.Tensor, chosen: Tree, other: Tree) -> Tree:
    """Return `chosen` where `mask`, shape (num_envs,), is True, else `other`."""

    def where(one: torch.Tensor, two: torch.Tensor) -> torch.Tensor:
        return torch.where(mask.view(-1, *(1,) * (one.ndim - 1)), one, two)

    return map_tree(where, chosen, other)

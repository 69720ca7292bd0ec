"""Worlds of a task as the Gymnasium forms need them: spaces, resets, steps, frames."""

import copy
import functools
import gc
import warnings
import weakref
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import torch
from gymnasium import Space, spaces

from mjlab.envs import Box as OurBox
from mjlab.envs import Dict as OurDict
from mjlab.envs import ManagerBasedRlEnv
from mjlab.envs.autoreset import When
from mjlab.names import UnknownNameError, suggest
from mjlab.random.rng import stream_id
from mjlab.render import Offscreen

Tree = torch.Tensor | Mapping[str, "Tree"]
"""One tensor, or several by name; the first dimension is the world."""

LARGEST = float(np.finfo(np.float32).max)
"""Bound of what has no bound: Gymnasium's checker warns of infinite ones."""


class Outcome(NamedTuple):
    """What a step of all worlds gives back. Every tensor is the caller's own."""

    observations: Tree
    """Of the new episode where one began."""

    reward: torch.Tensor
    """Shape (num_envs,), float32."""

    terminated: torch.Tensor
    """Whether the task ended the episode, shape (num_envs,), bool."""

    truncated: torch.Tensor
    """Whether time ended it, shape (num_envs,), bool."""

    info: dict[str, torch.Tensor]
    """More of each world, by name, shape (num_envs, ...)."""

    final_observations: Tree | None
    """What was observed before worlds began anew. None where none begins by itself."""

    final_info: dict[str, torch.Tensor]
    """The same for `info`; empty where no world begins anew by itself."""


class Worlds(Protocol):
    """What a Gymnasium form is made from."""

    num_envs: int
    device: torch.device
    single_observation_space: Space
    single_action_space: Space
    frames_per_second: float

    def choose_resets(self, when: When, *, ignore_terminations: bool = False) -> None:
        """Choose when worlds that end begin anew."""
        ...

    def reset(
        self, seeds: Sequence[int | None] | None, mask: torch.Tensor | None
    ) -> tuple[Tree, dict[str, torch.Tensor]]:
        """Begin new episodes; return observations and infos of all worlds.

        Args:
            seeds: One for each world; None goes on with the present numbers.
            mask: The worlds to reset, shape (num_envs,), bool. None means all.
        """
        ...

    def step(self, actions: torch.Tensor) -> Outcome:
        """Step all worlds.

        Args:
            actions: Shape (num_envs, ...), the parts of a Dict side by side.
        """
        ...

    def reconfigure(self, seed: int | None) -> None:
        """Build the scene anew; every world then waits for a reset.

        Args:
            seed: The scene's seed. None takes the next one after that of the scene
                before, so that the same seed gives the same scenes in the same order.
        """
        ...

    def frames(self) -> list[np.ndarray]:
        """A picture of each world, each of shape (height, width, 3), uint8."""
        ...

    def close(self) -> None:
        """Let go of what is held."""
        ...


class ManagedWorlds:
    """A manager-based environment as `Worlds`."""

    def __init__(
        self,
        env: ManagerBasedRlEnv,
        *,
        groups: str | Sequence[str] | None = "actor",
        action_bound: float = 1.0,
    ) -> None:
        """Make the spaces.

        Args:
            env: The environment.
            groups: The group that is observed; several make a Dict, None takes all.
            action_bound: Largest size of an action in the space. Nothing is clipped:
                terms take what they are given.
        """
        if not action_bound > 0.0:
            raise ValueError(f"action_bound={action_bound} has to be above 0.")
        self.env = env
        """The environment. `reconfigure` puts another one in its place."""
        self.num_envs = env.num_envs
        self.device = env.device
        self.frames_per_second = 1.0 / env.step_dt
        self._groups = _chosen_groups(env, groups)
        self._action_bound = action_bound
        self.single_observation_space, self.single_action_space = self._spaces()
        self._outcomes = env.outcome_manager.active_terms
        self._canvas: Offscreen | None = None
        self._resets: tuple[When, bool] | None = None
        # Seed that was given last, and how many scenes have followed from it.
        self._scene: tuple[int, int] = (env.seed, 0)
        self._holders: list[str] = []

    def choose_resets(self, when: When, *, ignore_terminations: bool = False) -> None:
        """Choose when worlds that end begin anew."""
        self._resets = (when, ignore_terminations)
        self.env.choose_resets(
            when, ignore_terminations=ignore_terminations, final_obs=True
        )

    def hold(self, holder: str) -> None:
        """Keep `env` from being exchanged for another.

        Args:
            holder: Who has taken parts of it, and cannot let go.
        """
        self._holders.append(holder)

    def reconfigure(self, seed: int | None) -> None:
        """Build the environment again, with another seed; see `Worlds.reconfigure`.

        The old one is closed and freed first, so that there is never room for two.
        Whoever has taken it out of `env` has to take the new one.
        """
        if self._holders:
            raise RuntimeError(
                f"The scene cannot be built anew: {', '.join(self._holders)} holds on "
                "to the present one. Leave out reconfiguration, or that wrapper."
            )
        given, scenes = self._scene
        self._scene = (given, scenes + 1) if seed is None else (seed, 0)
        old = self.env
        # Shallow, and without the config's own constructor: it is what was built from.
        cfg = copy.copy(old.cfg)
        cfg.seed = scene_seed(*self._scene)
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
        gc.collect()  # An environment and its terms hold each other.
        if left() is not None:
            warnings.warn(
                "Somebody holds on to the environment of before: it takes memory, and "
                "what is read from it is of the old scene. Take worlds.env anew.",
                RuntimeWarning,
                stacklevel=4,
            )
        self.env = build()
        present = (self.single_observation_space, self.single_action_space)
        if self._spaces() != present:
            raise RuntimeError(
                f"Built anew with seed {cfg.seed}, the scene has other spaces: "
                f"{self._spaces()}, and before {present}."
            )
        if self._resets is not None:
            when, ignore_terminations = self._resets
            self.choose_resets(when, ignore_terminations=ignore_terminations)

    def reset(
        self, seeds: Sequence[int | None] | None, mask: torch.Tensor | None
    ) -> tuple[Tree, dict[str, torch.Tensor]]:
        """Begin new episodes; see `Worlds.reset`."""
        if mask is None and seeds is not None and seeds[0] is not None:
            self._scene = (seeds[0], 0)
        given = None if seeds is None else [seed for seed in seeds if seed is not None]
        if seeds is not None and given is not None and len(given) == self.num_envs:
            observations, _ = self.env.reset(seed=given, mask=mask)
        else:
            self._reseed(seeds, mask)
            observations, _ = self.env.reset(mask=mask)
        return self._chosen(observations), self._info()

    def step(self, actions: torch.Tensor) -> Outcome:
        """Step all worlds; see `Worlds.step`."""
        env = self.env
        steps_before = env.episode_length_buf.clone()
        observations, reward, terminated, truncated, extras = env.step(actions)
        final: dict[str, torch.Tensor] = {}
        if "final_obs" in extras:
            final = {"elapsed_steps": steps_before.add_(1), **self._reached()}
        return Outcome(
            self._chosen(observations),
            reward,
            terminated,
            truncated,
            self._info(),
            self._chosen(extras["final_obs"]) if final else None,
            final,
        )

    def frames(self) -> list[np.ndarray]:
        """A picture of each world."""
        if self._canvas is None:
            self._canvas = Offscreen(
                self.env.sim,
                self.env.scene,
                self.env.cfg.viewer,
                worlds=range(self.num_envs),
                columns=1,
            )
        column = self._canvas.frame()
        height = self.env.cfg.viewer.height
        pitch = (column.shape[0] - height) // max(1, self.num_envs - 1)
        tops = [pitch * world for world in range(self.num_envs)]
        return [column[top : top + height].copy() for top in tops]

    def close(self) -> None:
        """Let go of the program and the canvas. Closing twice is harmless."""
        if self._canvas is not None:
            self._canvas.close()
            self._canvas = None
        self.env.close()

    def _spaces(self) -> tuple[Space, Space]:
        """What one world observes, and the action that it takes."""
        shown = self.env.single_observation_space.spaces
        if isinstance(self._groups, str):
            observed = to_space(shown[self._groups])
        else:
            observed = to_space(OurDict({name: shown[name] for name in self._groups}))
        return observed, _action_space(self.env, self._action_bound)

    def _chosen(self, observations: dict[str, Any]) -> Tree:
        if isinstance(self._groups, str):
            return observations[self._groups]
        return {name: observations[name] for name in self._groups}

    def _info(self) -> dict[str, torch.Tensor]:
        steps = self.env.episode_length_buf.clone()
        has_begun = steps > 0  # A world that was just reset has reached nothing.
        reached = self._reached()
        for flags in reached.values():
            flags.logical_and_(has_begun)
        return {"elapsed_steps": steps, **reached}

    def _reached(self) -> dict[str, torch.Tensor]:
        """Outcomes of the last step, as copies."""
        outcomes = self.env.outcome_manager
        return {name: outcomes.now(name).clone() for name in self._outcomes}

    def _reseed(
        self, seeds: Sequence[int | None] | None, mask: torch.Tensor | None
    ) -> None:
        """Seed the worlds that are given a seed, among those that are reset."""
        if seeds is None:
            return
        has_seed = torch.tensor([seed is not None for seed in seeds])
        has_seed = has_seed.to(self.device)
        numbers = torch.tensor([seed or 0 for seed in seeds], dtype=torch.int64)
        chosen = has_seed if mask is None else has_seed & mask
        self.env.rng.reseed(chosen, numbers.to(self.device))


def scene_seed(seed: int, scenes: int) -> int:
    """The seed of a scene.

    Args:
        seed: What was given.
        scenes: How many scenes have followed from it; 0 for the first, whose seed is
            the given one.
    """
    return stream_id(f"scene {scenes} of {seed}") % 2**31 if scenes else seed


def to_space(box: OurBox | OurDict) -> Space:
    """Gymnasium's space of one of our plain records."""
    if isinstance(box, OurDict):
        return spaces.Dict({name: to_space(part) for name, part in box.spaces.items()})
    low, high = max(box.low, -LARGEST), min(box.high, LARGEST)
    dtype = np.dtype(box.dtype)
    return spaces.Box(
        np.full(box.shape, low, dtype),
        np.full(box.shape, high, dtype),
        dtype=dtype.type,
    )


def _action_space(env: ManagerBasedRlEnv, bound: float) -> Space:
    """A Box, or for several terms a Dict in the order of the terms."""
    names = env.action_manager.active_terms
    sizes = env.action_manager.action_term_dim
    boxes = [to_space(OurBox((size,), -bound, bound)) for size in sizes]
    if len(names) == 1:
        return boxes[0]
    # A list of pairs keeps its order, which a plain dictionary does not.
    return spaces.Dict(list(zip(names, boxes, strict=True)))


def _chosen_groups(
    env: ManagerBasedRlEnv, groups: str | Sequence[str] | None
) -> str | tuple[str, ...]:
    present = list(env.observation_manager.groups)
    if groups is None:
        return tuple(present)
    for name in (groups,) if isinstance(groups, str) else groups:
        if name not in present:
            raise UnknownNameError(
                f"There is no observation group {name!r}. {suggest(name, present)} "
                "groups=None takes all of them, as a Dict."
            )
    return groups if isinstance(groups, str) else tuple(groups)

"""Worlds as the Gymnasium forms need them: spaces, seeds, infos, pictures."""

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

from mjlab.envs import Box, Dict, Discrete, ManagerBasedRlEnv, Step, Worlds
from mjlab.envs.worlds import When
from mjlab.names import UnknownNameError, suggest
from mjlab.random import stream_id
from mjlab.render import Offscreen

Tree = torch.Tensor | Mapping[str, "Tree"]
"""One tensor, or several by name; the first dimension is the world."""

Info = dict[str, Any]
"""More of each world by name, shape (num_envs, ...); forms add a mask to each."""

LARGEST = float(np.finfo(np.float32).max)
"""Bound of what has no bound: Gymnasium's checker warns of infinite ones."""


class HasSpec:
    """A form of worlds whose `spec` says after how many steps an episode is truncated.

    Gymnasium sets the spec of what it made, and could not know that before.
    """

    worlds: "GymWorlds"
    _spec: EnvSpec | None = None

    @property
    def spec(self) -> EnvSpec | None:
        """Gymnasium's note of how the environment was made."""
        return self._spec

    @spec.setter
    def spec(self, spec: EnvSpec | None) -> None:
        if spec is not None and spec.max_episode_steps is None:
            spec = copy.copy(spec)
            spec.max_episode_steps = steps = self.worlds.max_episode_steps
            # As `make_vec` notes it when it makes an environment from such a spec.
            spec.kwargs = {**spec.kwargs, "max_episode_steps": steps}
        self._spec = spec


class GymWorlds:
    """Worlds of any kind, from which every Gymnasium form is made.

    `TorchVectorEnv(GymWorlds(env))` is a Gymnasium `VectorEnv`, on the device.
    """

    def __init__(self, env: Worlds) -> None:
        """Make the spaces.

        Args:
            env: The worlds. When they begin anew is chosen by the form.
        """
        self.env = env
        self.num_envs = env.num_envs
        self.device = env.device
        self.frames_per_second = 1.0 / env.step_dt
        self.max_episode_steps: int | None = None
        """Steps after which an episode is truncated, where the worlds know that."""
        self.single_observation_space, self.single_action_space = self._spaces()

    def choose_resets(self, when: When, *, ignore_terminations: bool = False) -> None:
        """Choose when worlds that end begin anew."""
        self.env.choose_resets(
            when, ignore_terminations=ignore_terminations, final_obs=True
        )

    def reset(
        self, seeds: Sequence[int | None] | None, mask: torch.Tensor | None
    ) -> tuple[Tree, Info]:
        """Begin new episodes; return observations and infos of all worlds.

        Args:
            seeds: One for each world; None goes on with the present numbers.
            mask: The worlds to reset, shape (num_envs,), bool. None means all.
        """
        given = None if seeds is None else [seed for seed in seeds if seed is not None]
        if seeds is not None and given is not None and len(given) < self.num_envs:
            self._reseed(seeds, mask)
            given = None
        observations, _ = self.env.reset(seed=given, mask=mask)
        return self._chosen(observations), self._info()

    def step(self, actions: torch.Tensor) -> Step[Tree]:
        """Step all worlds; extras are infos, "final_obs" and "final_info".

        Args:
            actions: Shape (num_envs, ...), the parts of a Dict side by side.
        """
        steps_before = self.env.episode_length_buf.to(torch.int64, copy=True)
        step = self.env.step(actions)
        extras = self._info()
        if "final_obs" in step.extras:
            extras["final_obs"] = self._chosen(step.extras["final_obs"])
            reached = self._reached()
            extras["final_info"] = {"elapsed_steps": steps_before.add_(1), **reached}
        return Step(self._chosen(step.observations), *step[1:4], extras)

    def reconfigure(self, seed: int | None) -> None:
        """Build the scene anew; every world then waits for a reset.

        Args:
            seed: The scene's seed. None takes the next one after that of the scene
                before, so that the same seed gives the same scenes in the same order.
        """
        raise ValueError("These worlds have no scene that could be built anew.")

    def frames(self) -> list[np.ndarray]:
        """Return a picture of each world, each (height, width, 3), uint8."""
        raise NotImplementedError("These worlds cannot be drawn: render_mode=None.")

    def close(self) -> None:
        """Let go of what is held. Closing twice is harmless."""
        self.env.close()

    def _spaces(self) -> tuple[Space, Space]:
        """Return the spaces of what one world observes and takes."""
        env = self.env
        return to_space(env.single_observation_space), to_space(env.single_action_space)

    def _chosen(self, observations: Any) -> Tree:
        """Return what is shown of observations."""
        return observations

    def _reached(self) -> Info:
        """Return outcomes of the last step, as copies."""
        return {}

    def _reseed(self, seeds: Sequence[int | None], mask: torch.Tensor | None) -> None:
        """Seed the worlds that are given a seed, among those that are reset."""
        raise ValueError("Give these worlds a seed each, or none at all.")

    def _info(self) -> Info:
        steps = self.env.episode_length_buf.to(torch.int64, copy=True)
        has_begun = steps > 0  # A world that was just reset has reached nothing.
        reached = {name: flags & has_begun for name, flags in self._reached().items()}
        return {"elapsed_steps": steps, **reached}


class ManagedWorlds(GymWorlds):
    """Worlds of a manager-based environment: groups, outcomes, scenes and pictures."""

    env: ManagerBasedRlEnv  # pyright: ignore[reportIncompatibleVariableOverride]
    """The environment. `reconfigure` puts another one in its place."""

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
        self._groups = _chosen_groups(env, groups)
        self._action_bound = action_bound
        super().__init__(env)
        self.max_episode_steps = env.max_episode_length
        self._canvas: Offscreen | None = None
        self._resets: tuple[When, bool] | None = None
        # Seed that was given last, and how many scenes have followed from it.
        self._scene: tuple[int, int] = (env.seed, 0)
        self._holders: list[str] = []

    def choose_resets(self, when: When, *, ignore_terminations: bool = False) -> None:
        self._resets = (when, ignore_terminations)
        super().choose_resets(when, ignore_terminations=ignore_terminations)

    def hold(self, holder: str) -> None:
        """Keep `env` from being exchanged for another.

        Args:
            holder: Name of what has taken parts of it, and cannot let go.
        """
        self._holders.append(holder)

    def reconfigure(self, seed: int | None) -> None:
        """Build the environment again, with another seed; see `GymWorlds.reconfigure`.

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
        # A list of pairs keeps its order, which a plain dictionary does not.
        terms = zip(actions.active_terms, boxes, strict=True)
        return observed, spaces.Dict(list(terms))

    def _chosen(self, observations: Any) -> Tree:
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
        seed: What was given.
        scenes: How many scenes have followed from it; 0 for the first, whose seed is
            the given one.
    """
    return stream_id(f"scene {scenes} of {seed}") % 2**31 if scenes else seed


def to_space(record: Box | Dict | Discrete) -> Space:
    """Return Gymnasium's space of one of our plain records."""
    if isinstance(record, Dict):
        parts = {name: to_space(part) for name, part in record.spaces.items()}
        return spaces.Dict(parts)
    if isinstance(record, Discrete):
        return spaces.Discrete(record.n)
    dtype = np.dtype(record.dtype)
    low, high = (
        # Bounds that are given one by one are meant as they are.
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
                f"There is no observation group {name!r}. {suggest(name, present)} "
                "groups=None takes all of them, as a Dict."
            )
    return groups if isinstance(groups, str) else tuple(groups)


# Tensors by name.


def map_tree(change: Callable[..., Any], tree: Any, *others: Any) -> Any:
    """Change every tensor, together with those of the same name, and keep the names."""
    if not isinstance(tree, Mapping):
        return change(tree, *others)
    return {
        name: map_tree(change, part, *(other[name] for other in others))
        for name, part in tree.items()
    }


def leaves(tree: Tree) -> list[torch.Tensor]:
    """Return all tensors, in the order of their names."""
    if isinstance(tree, Mapping):
        return [leaf for part in tree.values() for leaf in leaves(part)]
    return [tree]


def where_tree(mask: torch.Tensor, chosen: Tree, other: Tree) -> Tree:
    """Return rows of `chosen` where `mask`, shape (num_envs,), holds, or of `other`."""

    def where(one: torch.Tensor, two: torch.Tensor) -> torch.Tensor:
        return torch.where(mask.view(-1, *(1,) * (one.ndim - 1)), one, two)

    return map_tree(where, chosen, other)

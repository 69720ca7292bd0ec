"""Wrappers of the vector environment with tensors, and their base class."""

from typing import Any, Union

import gymnasium
import numpy as np
import torch
from gymnasium import Space, spaces
from gymnasium.vector import (
    AutoresetMode,
    VectorEnv,
    VectorObservationWrapper,
    VectorWrapper,
)
from gymnasium.vector.utils import batch_space
from gymnasium.wrappers import TimeLimit

from mjlab.envs import CachedInitialStates
from mjlab.gym.resets import to_mask, to_mode
from mjlab.gym.torch_env import TorchVectorEnv
from mjlab.gym.worlds import Info, ManagedWorlds, Tree, leaves, map_tree, where_tree

Stepped = tuple[Tree, torch.Tensor, torch.Tensor, torch.Tensor, Info]
TensorEnv = Union[TorchVectorEnv, "TensorWrapper"]
"""Environment with tensors, or a wrapper of one."""

Wrapped = VectorEnv | gymnasium.Env
"""Environment that a `TensorWrapper` accepts: one with tensors, also inside a
`gymnasium.Wrapper` or `gymnasium.vector.VectorWrapper`."""


class TensorWrapper(  # pyright: ignore[reportIncompatibleVariableOverride, reportIncompatibleMethodOverride]
    VectorWrapper[Any, Any, Any, Any, torch.Tensor],
    gymnasium.Env[Any, Any],
):
    """Wrapper of a `TorchVectorEnv`, or of another wrapper.

    It is also a `gymnasium.Env`, so that a `gymnasium.Wrapper` can wrap it.
    """

    env: VectorEnv  # pyright: ignore[reportIncompatibleVariableOverride]
    """The wrapped environment."""

    def __init__(self, env: Wrapped) -> None:
        """Wrap an environment.

        A `gymnasium.wrappers.TimeLimit` is removed, because it has one step count for
        all worlds; the worlds are rebuilt with its limit instead.
        """
        inner = as_vector_env(env)
        self._below, self._between = _tensor_env(inner, type(self).__name__)
        super().__init__(inner)
        self._check_between(self._below.autoreset_mode)

    @property
    def device(self) -> torch.device:
        """Device of all tensors."""
        return self._below.device

    @property
    def unwrapped(self) -> VectorEnv:  # pyright: ignore[reportIncompatibleMethodOverride, reportIncompatibleVariableOverride]
        """The environment inside all wrappers."""
        return self.env.unwrapped

    @property
    def autoreset_mode(self) -> AutoresetMode:
        """Autoreset mode: when finished worlds are reset."""
        return self._below.autoreset_mode

    def use_autoreset(
        self,
        mode: AutoresetMode | str,
        *,
        ignore_terminations: bool = False,
        goes_on: bool = False,
    ) -> None:
        """Set the autoreset mode; see `TorchVectorEnv`."""
        self.use_inner_autoreset(
            mode, ignore_terminations=ignore_terminations, goes_on=goes_on
        )

    def use_inner_autoreset(
        self, mode: AutoresetMode | str, *, ignore_terminations: bool, goes_on: bool
    ) -> None:
        """Set the autoreset mode of the wrapped environment."""
        self._check_between(to_mode(mode))
        self._below.use_autoreset(
            mode, ignore_terminations=ignore_terminations, goes_on=goes_on
        )

    def _check_between(self, mode: AutoresetMode) -> None:
        """Raise if an inner wrapper changes observations but not `final_obs`."""
        if mode is not AutoresetMode.SAME_STEP:
            return
        for wrapper in self._between:
            if isinstance(wrapper, _OBSERVATION_WRAPPERS):
                raise TypeError(
                    f"{type(wrapper).__name__} changes observations, but not "
                    "info['final_obs'], the terminal observations of the mode "
                    "'same_step'. Write it as a subclass of mjlab.gym.TensorWrapper "
                    "that changes both, as FlattenObservation does, or use the mode "
                    "'next_step'."
                )

    def observe_as(self, single: Space) -> None:
        """Set the observation space of one world."""
        self.single_observation_space = single
        self.observation_space = batch_space(single, self.num_envs)

    def rows_of(self, options: dict[str, Any] | None) -> torch.Tensor:
        """Return the mask of worlds that a reset with these options selects."""
        mask = to_mask(options, self.num_envs, self.device)
        return ~self.no_rows() if mask is None else mask

    def no_rows(self) -> torch.Tensor:
        """Return a mask that is false in all worlds, shape (num_envs,)."""
        return torch.zeros(self.num_envs, dtype=torch.bool, device=self.device)

    def began_in(
        self, previous: torch.Tensor, terminated: torch.Tensor, truncated: torch.Tensor
    ) -> torch.Tensor:
        """Return a mask of worlds whose observation is the first of an episode.

        Args:
            previous: Worlds that finished in the previous step, shape (num_envs,).
            terminated: Worlds that terminated in this step, shape (num_envs,).
            truncated: Worlds that were truncated in this step, shape (num_envs,).
        """
        if self.autoreset_mode is AutoresetMode.SAME_STEP:
            return terminated | truncated
        if self.autoreset_mode is AutoresetMode.NEXT_STEP:
            return previous
        return torch.zeros_like(terminated)


class FlattenActionSpace(TensorWrapper):
    """Accepts one array of actions where the environment expects a dict by action term.

    The parts are concatenated in the order of the environment's `single_action_space`.
    With one world, an action can lack the batch dimension.
    """

    def __init__(self, env: Wrapped) -> None:
        """Wrap an environment whose action space is a Dict of flat Boxes."""
        super().__init__(env)
        self._parts: dict[str, int] = {}
        space = self.env.single_action_space
        if isinstance(space, spaces.Dict):
            self._parts = {name: _width(part, name) for name, part in space.items()}
            self.single_action_space = flat_box(space)
            self.action_space = batch_space(self.single_action_space, self.num_envs)

    def step(self, actions: Any) -> Stepped:
        """Step all worlds with actions of shape (num_envs, action_dim)."""
        flat = torch.as_tensor(actions, dtype=torch.float32, device=self.device)
        width = sum(self._parts.values()) or flat.shape[-1]
        if self.num_envs == 1 and flat.shape == (width,):
            flat = flat.unsqueeze(0)
        if not self._parts:
            return self.env.step(flat)
        if flat.shape != (self.num_envs, width):
            raise ValueError(
                f"The action has shape {tuple(flat.shape)}; it has to be "
                f"({self.num_envs}, {width}): the concatenation of {self._parts}."
            )
        parts = flat.split(list(self._parts.values()), dim=1)
        return self.env.step(dict(zip(self._parts, parts, strict=True)))


FlattenActionSpaceWrapper = FlattenActionSpace
"""Alias of `FlattenActionSpace`, for code written for ManiSkill."""


class FlattenObservation(TensorWrapper):
    """Returns observations as one tensor of shape (num_envs, obs_dim)."""

    def __init__(self, env: Wrapped) -> None:
        """Wrap an environment."""
        super().__init__(env)
        self.observe_as(flat_box(self.env.single_observation_space))

    def reset(
        self, *, seed: Any = None, options: dict[str, Any] | None = None
    ) -> tuple[Tree, Info]:
        """Start new episodes."""
        observations, info = self.env.reset(seed=seed, options=options)
        return flat_rows(observations), info

    def step(self, actions: Any) -> Stepped:
        """Step all worlds."""
        observations, reward, terminated, truncated, info = self.env.step(actions)
        if "final_obs" in info:
            info = info | {"final_obs": flat_rows(info["final_obs"])}
        return flat_rows(observations), reward, terminated, truncated, info


FlattenObservationWrapper = FlattenObservation
"""Alias of `FlattenObservation`, for code written for ManiSkill."""


class FrameStack(TensorWrapper):
    """Returns the last `num_stack` observations, shape (num_envs, num_stack, ...).

    The newest observation is last. The first observation of an episode fills the
    complete stack of its world. `final_obs` is stacked as well, with observations of
    the finished episode only.
    """

    def __init__(self, env: Wrapped, num_stack: int) -> None:
        """Wrap an environment.

        Args:
            env: The environment.
            num_stack: Number of stacked observations.
        """
        super().__init__(env)
        if num_stack < 1:
            raise ValueError(f"num_stack={num_stack} has to be 1 or more.")
        self.num_stack = num_stack
        self._frames: Tree | None = None
        self._ended = self.no_rows()
        self.observe_as(_stacked(self.env.single_observation_space, num_stack))

    def reset(
        self, *, seed: Any = None, options: dict[str, Any] | None = None
    ) -> tuple[Tree, Info]:
        """Start new episodes; the stacks of other worlds are unchanged."""
        rows = self.rows_of(options)
        observations, info = self.env.reset(seed=seed, options=options)
        filled = self._filled(observations)
        before = filled if self._frames is None else self._frames
        self._frames = where_tree(rows, filled, before)
        self._ended = self._ended & ~rows
        return map_tree(torch.clone, self._frames), info

    def step(self, actions: Any) -> Stepped:
        """Step all worlds."""
        observations, reward, terminated, truncated, info = self.env.step(actions)
        assert self._frames is not None, "The environment has been reset."
        begins = self.began_in(self._ended, terminated, truncated)
        if "final_obs" in info:
            info = info | {"final_obs": _moved_on(self._frames, info["final_obs"])}
        moved = _moved_on(self._frames, observations)
        self._frames = where_tree(begins, self._filled(observations), moved)
        self._ended = terminated | truncated
        # Copies, since the caller can modify returned tensors.
        shown = map_tree(torch.clone, self._frames)
        return shown, reward, terminated, truncated, info

    def _filled(self, observations: Tree) -> Tree:
        """Return a stack of equal observations, as a view."""
        shape = (-1, self.num_stack)
        return map_tree(
            lambda value: value.unsqueeze(1).expand(*shape, *value.shape[1:]),
            observations,
        )


def _moved_on(frames: Tree, newest: Tree) -> Tree:
    return map_tree(
        lambda old, new: torch.cat((old[:, 1:], new.unsqueeze(1)), dim=1),
        frames,
        newest,
    )


class CachedReset(TensorWrapper):
    """Starts episodes from initial states that were generated in advance.

    The constructor resets all worlds `num_resets` times and stores the states that
    reset events write. Afterwards, in every autoreset mode, a reset copies one of the
    world's stored states, selected by the world's random numbers, and the reset events
    do not run. Commands, noise and delays are sampled as usual.
    """

    def __init__(self, env: Wrapped, num_resets: int = 16) -> None:
        """Generate the states.

        Args:
            env: A manager-based environment.
            num_resets: Number of states per world.
        """
        super().__init__(env)
        base = env.unwrapped
        assert isinstance(base, TorchVectorEnv), "The base is a TorchVectorEnv."
        if not isinstance(base.worlds, ManagedWorlds):
            raise TypeError(
                "CachedReset replaces reset events, so it needs a manager-based "
                f"environment; this one is a {type(base.worlds.env).__name__}."
            )
        managed = base.worlds.env
        self.cache = CachedInitialStates(
            managed.program, managed.state, managed.cfg.events, num_resets
        )
        """The stored states."""
        managed.use_initial_states(self.cache)


CachedResetWrapper = CachedReset
"""Alias of `CachedReset`, for code written for ManiSkill."""


def flat_rows(tree: Tree) -> torch.Tensor:
    """Return all tensors concatenated as float32, shape (num_envs, dim)."""
    return torch.cat([leaf.flatten(1).float() for leaf in leaves(tree)], dim=1)


def flat_box(space: Space) -> spaces.Box:
    """Return one Box that concatenates a space's Boxes, in the order of names."""
    boxes = _boxes(space, "flattened")
    low = np.concatenate([box.low.astype(np.float32).ravel() for box in boxes])
    high = np.concatenate([box.high.astype(np.float32).ravel() for box in boxes])
    return spaces.Box(low, high, dtype=np.float32)


def _boxes(space: Space, what: str) -> list[spaces.Box]:
    """Return the Boxes of a space; `what` names the operation, for the error."""
    if isinstance(space, spaces.Dict):
        return [box for part in space.values() for box in _boxes(part, what)]
    if not isinstance(space, spaces.Box):
        raise TypeError(
            f"{space} cannot be {what}: it is neither a Box nor a Dict of Boxes."
        )
    return [space]


def _stacked(space: Space, number: int) -> Space:
    if isinstance(space, spaces.Dict):
        return spaces.Dict({key: _stacked(part, number) for key, part in space.items()})
    [box] = _boxes(space, "stacked")
    low = np.repeat(box.low[None], number, axis=0)
    high = np.repeat(box.high[None], number, axis=0)
    return spaces.Box(low, high, dtype=box.low.dtype.type)


def _width(space: Space, name: str) -> int:
    if not isinstance(space, spaces.Box) or len(space.shape) != 1:
        raise TypeError(
            f"The part {name!r} of the action space is {space}; it has to be a Box "
            "with one dimension."
        )
    return space.shape[0]


# Wrappers of users and of Gymnasium.


_OBSERVATION_WRAPPERS = (gymnasium.ObservationWrapper, VectorObservationWrapper)
"""Wrappers that change returned observations, but not `final_obs` in infos."""


class _OfBatch(VectorWrapper[Any, Any, Any, Any, Any]):
    """Vector environment that forwards all calls to a wrapped `BatchedEnv`."""

    def __init__(self, wrapper: gymnasium.Wrapper, batch: VectorEnv) -> None:
        super().__init__(batch)
        self.wrapper = wrapper
        for name in ("observation_space", "action_space"):
            setattr(self, name, getattr(wrapper, name))
            single = f"single_{name}"
            setattr(self, single, wrapper.get_wrapper_attr(single))

    def reset(
        self, *, seed: Any = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, Info]:
        return self.wrapper.reset(seed=seed, options=options)

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, Info]:
        return self.wrapper.step(actions)  # pyright: ignore[reportReturnType]

    def render(self) -> Any:
        return self.wrapper.render()

    def close(self, **kwargs: Any) -> None:
        self.wrapper.close()


def as_vector_env(env: Wrapped) -> VectorEnv:
    """Return an environment as a vector environment, without `TimeLimit`."""
    outer = env
    env = _without_clock(env)
    around = env
    while isinstance(env, gymnasium.Wrapper):
        env.env = _without_clock(env.env)
        env = env.env
    if not isinstance(env, VectorEnv):
        raise TypeError(
            f"{outer} is one world without a batch dimension. Create a vector "
            "environment with gymnasium.make(id, num_envs=N) or "
            "mjlab.make(task, num_envs=N)."
        )
    return _OfBatch(around, env) if isinstance(around, gymnasium.Wrapper) else env


def _tensor_env(env: VectorEnv, name: str) -> tuple[TensorEnv, list[Any]]:
    """Return the outermost environment with tensors, and the wrappers around it."""
    between: list[Any] = []
    inner: Any = env
    while not isinstance(inner, TorchVectorEnv | TensorWrapper):
        if not isinstance(inner, VectorWrapper):
            raise TypeError(
                f"{name} needs an environment with tensors, but got a "
                f"{type(inner).__name__}. Create the environment with mjlab.make."
            )
        each: Any = inner
        if isinstance(inner, _OfBatch):
            each = inner.wrapper
            while isinstance(each, gymnasium.Wrapper):
                between.append(each)
                each = each.env
        else:
            between.append(inner)
        inner = inner.env
    return inner, between


def _without_clock(env: Any) -> Any:
    """Remove a `TimeLimit`, and set its limit in the worlds instead.

    `gymnasium.make` adds this wrapper for `max_episode_steps=`. It has one step count
    for all worlds.
    """
    if not isinstance(env, TimeLimit):
        return env
    base = env.unwrapped
    if not isinstance(base, TorchVectorEnv):
        return env
    assert env.spec is not None, "The environment was made by Gymnasium."
    steps = env.spec.max_episode_steps
    if steps is not None and steps != base.worlds.max_episode_steps:
        base.limit_episodes(steps)
    return env.env

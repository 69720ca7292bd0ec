"""Wrappers around the vector form with tensors, and what they share."""

from typing import Any, Union

import numpy as np
import torch
from gymnasium import Space, spaces
from gymnasium.vector import AutoresetMode, VectorEnv, VectorWrapper
from gymnasium.vector.utils import batch_space
from gymnasium.wrappers import TimeLimit

from mjlab.envs import CachedInitialStates
from mjlab.gym.resets import to_mask
from mjlab.gym.torch_env import TorchVectorEnv
from mjlab.gym.worlds import Info, ManagedWorlds, Tree, leaves, map_tree, where_tree

Stepped = tuple[Tree, torch.Tensor, torch.Tensor, torch.Tensor, Info]
TensorEnv = Union[TorchVectorEnv, "TensorWrapper"]
"""What can be wrapped."""


class TensorWrapper(VectorWrapper[Any, Any, Any, Any, torch.Tensor]):
    """A wrapper around a `TorchVectorEnv`, or around another wrapper of one."""

    env: TensorEnv  # pyright: ignore[reportIncompatibleVariableOverride]
    """What is wrapped."""

    def __init__(self, env: TensorEnv) -> None:
        """Wrap an environment."""
        if isinstance(env, TimeLimit):
            env = _without_clock(env)
        if not isinstance(env, TorchVectorEnv | TensorWrapper):
            raise TypeError(
                f"{type(self).__name__} wraps environments with tensors, such as those "
                f"of mjlab.make, and this is a {type(env).__name__}."
            )
        super().__init__(env)

    @property
    def device(self) -> torch.device:
        """Device of all tensors."""
        return self.env.device

    @property
    def unwrapped(self) -> VectorEnv:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The environment below all wrappers."""
        return self.env.unwrapped

    @property
    def autoreset_mode(self) -> AutoresetMode:
        """Choice of when rows that end begin anew."""
        return self.env.autoreset_mode

    def use_autoreset(
        self,
        mode: AutoresetMode | str,
        *,
        ignore_terminations: bool = False,
        goes_on: bool = False,
    ) -> None:
        """Choose anew when rows that end begin anew; see `TorchVectorEnv`."""
        self.env.use_autoreset(
            mode, ignore_terminations=ignore_terminations, goes_on=goes_on
        )

    def observe_as(self, single: Space) -> None:
        """Declare what one row observes from here on."""
        self.single_observation_space = single
        self.observation_space = batch_space(single, self.num_envs)

    def rows_of(self, options: dict[str, Any] | None) -> torch.Tensor:
        """Return the rows that a reset with these options is for, as a mask."""
        mask = to_mask(options, self.num_envs, self.device)
        return ~self.no_rows() if mask is None else mask

    def no_rows(self) -> torch.Tensor:
        """Return a mask that holds for no row, shape (num_envs,)."""
        return torch.zeros(self.num_envs, dtype=torch.bool, device=self.device)

    def began_in(
        self, previous: torch.Tensor, terminated: torch.Tensor, truncated: torch.Tensor
    ) -> torch.Tensor:
        """Return the rows whose observation of this step is the first of an episode.

        Args:
            previous: The rows that ended in the step before.
            terminated: Rows that terminated in this step.
            truncated: Rows that were truncated in this step.
        """
        if self.autoreset_mode is AutoresetMode.SAME_STEP:
            return terminated | truncated
        if self.autoreset_mode is AutoresetMode.NEXT_STEP:
            return previous
        return torch.zeros_like(terminated)


class FlattenActionSpace(TensorWrapper):
    """Takes one array where the environment takes one for each action term.

    The parts are side by side in the order of the terms, which is the order of the
    environment's own `single_action_space`. One action without a batch will do where
    there is one row.
    """

    def __init__(self, env: TensorEnv) -> None:
        """Wrap an environment whose action space is a Dict of flat Boxes."""
        super().__init__(env)
        self._parts: dict[str, int] = {}
        space = self.env.single_action_space
        if isinstance(space, spaces.Dict):
            self._parts = {name: _width(part, name) for name, part in space.items()}
            self.single_action_space = flat_box(space)
            self.action_space = batch_space(self.single_action_space, self.num_envs)

    def step(self, actions: Any) -> Stepped:
        """Step all rows with actions of shape (num_envs, numbers)."""
        flat = torch.as_tensor(actions, dtype=torch.float32, device=self.device)
        width = sum(self._parts.values()) or flat.shape[-1]
        if self.num_envs == 1 and flat.shape == (width,):
            flat = flat.unsqueeze(0)
        if not self._parts:
            return self.env.step(flat)
        if flat.shape != (self.num_envs, width):
            raise ValueError(
                f"The action has shape {tuple(flat.shape)}; it has to be "
                f"({self.num_envs}, {width}): {self._parts} side by side."
            )
        parts = flat.split(list(self._parts.values()), dim=1)
        return self.env.step(dict(zip(self._parts, parts, strict=True)))


FlattenActionSpaceWrapper = FlattenActionSpace
"""The same by ManiSkill's name."""


class FlattenObservation(TensorWrapper):
    """Shows one tensor of shape (num_envs, numbers), whatever is observed."""

    def __init__(self, env: TensorEnv) -> None:
        """Wrap an environment."""
        super().__init__(env)
        self.observe_as(flat_box(self.env.single_observation_space))

    def reset(
        self, *, seed: Any = None, options: dict[str, Any] | None = None
    ) -> tuple[Tree, Info]:
        """Begin new episodes."""
        observations, info = self.env.reset(seed=seed, options=options)
        return flat_rows(observations), info

    def step(self, actions: Any) -> Stepped:
        """Step all rows."""
        observations, reward, terminated, truncated, info = self.env.step(actions)
        if "final_obs" in info:
            info = info | {"final_obs": flat_rows(info["final_obs"])}
        return flat_rows(observations), reward, terminated, truncated, info


class FrameStack(TensorWrapper):
    """Shows the last `num_stack` observations, shape (num_envs, num_stack, ...).

    The newest is last. The first observation of an episode fills all places, in the
    rows that begin one and in no others. `final_obs` is stacked as well: it is the
    episode's last stack, and never sees the episode that follows.
    """

    def __init__(self, env: TensorEnv, num_stack: int) -> None:
        """Wrap an environment.

        Args:
            env: The environment.
            num_stack: Number of observations that are shown.
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
        """Begin new episodes; the stacks of rows that are not reset stay."""
        rows = self.rows_of(options)
        observations, info = self.env.reset(seed=seed, options=options)
        filled = self._filled(observations)
        before = filled if self._frames is None else self._frames
        self._frames = where_tree(rows, filled, before)
        self._ended = self._ended & ~rows
        return map_tree(torch.clone, self._frames), info

    def step(self, actions: Any) -> Stepped:
        """Step all rows."""
        observations, reward, terminated, truncated, info = self.env.step(actions)
        assert self._frames is not None, "The environment has been reset."
        begins = self.began_in(self._ended, terminated, truncated)
        if "final_obs" in info:
            info = info | {"final_obs": _moved_on(self._frames, info["final_obs"])}
        moved = _moved_on(self._frames, observations)
        self._frames = where_tree(begins, self._filled(observations), moved)
        self._ended = terminated | truncated
        # Copies, since the caller may write into what is returned.
        shown = map_tree(torch.clone, self._frames)
        return shown, reward, terminated, truncated, info

    def _filled(self, observations: Tree) -> Tree:
        """Return the same observation in all places, as a view."""
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
    """Has episodes begin from states that were made before.

    When it is built, it resets all rows `num_resets` times and keeps what the reset
    events wrote. From then on these events do not run: a row that is reset, in
    whichever mode, begins from one of its own states, drawn by its own random numbers.
    Commands, noise and delays are drawn as always.
    """

    def __init__(self, env: TensorEnv, num_resets: int = 16) -> None:
        """Make the states.

        Args:
            env: The environment, of managers.
            num_resets: States for each row.
        """
        super().__init__(env)
        base = env.unwrapped
        assert isinstance(base, TorchVectorEnv), "Below all wrappers is such a form."
        if not isinstance(base.worlds, ManagedWorlds):
            raise TypeError(
                "CachedReset needs an environment of managers, whose reset events it "
                f"replaces, and these worlds are {type(base.worlds.env).__name__}."
            )
        managed = base.worlds.env
        self.cache = CachedInitialStates(
            managed.program, managed.state, managed.cfg.events, num_resets
        )
        """The states."""
        managed.use_initial_states(self.cache)


def flat_rows(tree: Tree) -> torch.Tensor:
    """Return everything side by side as float32, shape (num_envs, numbers)."""
    return torch.cat([leaf.flatten(1).float() for leaf in leaves(tree)], dim=1)


def flat_box(space: Space) -> spaces.Box:
    """Return one Box with all numbers of a space of Boxes, in the order of names."""
    boxes = _boxes(space, "flattened")
    low = np.concatenate([box.low.astype(np.float32).ravel() for box in boxes])
    high = np.concatenate([box.high.astype(np.float32).ravel() for box in boxes])
    return spaces.Box(low, high, dtype=np.float32)


def _boxes(space: Space, what: str) -> list[spaces.Box]:
    """Return the Boxes of a space; `what` says what cannot be done with another."""
    if isinstance(space, spaces.Dict):
        return [box for part in space.values() for box in _boxes(part, what)]
    if not isinstance(space, spaces.Box):
        raise TypeError(f"{space} cannot be {what}: it is no Box and no Dict of them.")
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


def _without_clock(env: TimeLimit) -> Any:
    """Return what Gymnasium gave a clock of its own, which is one for all rows.

    `gymnasium.make` does so where a spec says how long an episode is, though rows have
    that clock already.
    """
    inner: Any = env.env
    own, asked = inner.spec.max_episode_steps, env.spec.max_episode_steps  # pyright: ignore[reportOptionalMemberAccess]
    if own != asked:
        raise TypeError(
            f"gymnasium.make(max_episode_steps={asked}) has one clock for all rows. "
            f"Use mjlab.make(task, num_envs=, max_episode_steps={asked})."
        )
    return inner

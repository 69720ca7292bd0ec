"""The last observations of each row, as one."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from gymnasium import Space, spaces

from mjlab.gym.torch_env import Info
from mjlab.gym.trees import map_tree, where_tree
from mjlab.gym.worlds import Tree
from mjlab.gym.wrapper import Stepped, TensorEnv, TensorWrapper


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
            num_stack: How many observations are shown.
        """
        super().__init__(env)
        if num_stack < 1:
            raise ValueError(f"num_stack={num_stack} has to be 1 or more.")
        self.num_stack = num_stack
        self._frames: Tree | None = None
        self._ended = self.no_rows()
        self.observe_as(_stacked(env.single_observation_space, num_stack))

    def reset(
        self, *, seed: Any = None, options: dict[str, Any] | None = None
    ) -> tuple[Tree, Info]:
        """Begin new episodes; the stacks of rows that are not reset stay."""
        rows = self.rows_of(options)
        observations, info = self.env.reset(seed=seed, options=options)
        filled = self._filled(observations)
        if self._frames is None:
            self._frames = filled
        else:
            self._frames = where_tree(rows, filled, self._frames)
        self._ended = self._ended & ~rows
        return self._shown(), info

    def step(self, actions: Any) -> Stepped:
        """Step all rows."""
        observations, reward, terminated, truncated, info = self.env.step(actions)
        assert self._frames is not None, "The environment has been reset."
        begins = self.began_in(self._ended, terminated, truncated)
        if "final_obs" in info:
            last = self._moved_on(self._frames, info["final_obs"])
            info = info | {"final_obs": last}
        moved = self._moved_on(self._frames, observations)
        self._frames = where_tree(begins, self._filled(observations), moved)
        self._ended = terminated | truncated
        return self._shown(), reward, terminated, truncated, info

    def _filled(self, observations: Tree) -> Tree:
        """The same observation in all places; a view."""
        shape = (-1, self.num_stack)

        def fill(value: torch.Tensor) -> torch.Tensor:
            return value.unsqueeze(1).expand(*shape, *value.shape[1:])

        return map_tree(fill, observations)

    def _moved_on(self, frames: Tree, newest: Tree) -> Tree:
        if isinstance(frames, Mapping):
            assert isinstance(newest, Mapping), "Observations keep their names."
            return {name: self._moved_on(frames[name], newest[name]) for name in frames}
        assert isinstance(newest, torch.Tensor), "Observations keep their names."
        return torch.cat((frames[:, 1:], newest.unsqueeze(1)), dim=1)

    def _shown(self) -> Tree:
        """Copies, since the caller may write into what is returned."""
        assert self._frames is not None, "The environment has been reset."
        return map_tree(lambda value: value.clone(), self._frames)


def _stacked(space: Space, number: int) -> Space:
    if isinstance(space, spaces.Dict):
        parts = {name: _stacked(part, number) for name, part in space.spaces.items()}
        return spaces.Dict(parts)
    if not isinstance(space, spaces.Box):
        raise TypeError(f"{space} cannot be stacked: it is no Box and no Dict of them.")
    low = np.repeat(space.low[None], number, axis=0)
    high = np.repeat(space.high[None], number, axis=0)
    return spaces.Box(low, high, dtype=space.low.dtype.type)

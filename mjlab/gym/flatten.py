"""One array in place of several by name."""

from typing import Any

import numpy as np
import torch
from gymnasium import Space, spaces
from gymnasium.vector.utils import batch_space

from mjlab.gym.torch_env import Info
from mjlab.gym.trees import leaves
from mjlab.gym.worlds import Tree
from mjlab.gym.wrapper import Stepped, TensorEnv, TensorWrapper


class FlattenActionSpace(TensorWrapper):
    """Takes one array where the environment takes one for each action term.

    The parts are side by side in the order of the terms, which is the order of the
    environment's own `single_action_space`. One action without a batch will do where
    there is one row.
    """

    def __init__(self, env: TensorEnv) -> None:
        """Wrap an environment whose action space is a Dict of flat Boxes."""
        super().__init__(env)
        space = env.single_action_space
        if not isinstance(space, spaces.Dict):
            self._parts: dict[str, int] = {}
            return  # There is nothing to flatten.
        self._parts = {name: _width(part, name) for name, part in space.spaces.items()}
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


class FlattenObservation(TensorWrapper):
    """Shows one tensor of shape (num_envs, numbers), whatever is observed."""

    def __init__(self, env: TensorEnv) -> None:
        """Wrap an environment."""
        super().__init__(env)
        self.observe_as(flat_box(env.single_observation_space))

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


def flat_rows(tree: Tree) -> torch.Tensor:
    """Everything side by side as float32, shape (num_envs, numbers)."""
    return torch.cat([leaf.flatten(1).float() for leaf in leaves(tree)], dim=1)


def flat_box(space: Space) -> spaces.Box:
    """One Box with all numbers of a space of Boxes, in the order of the names."""
    boxes = _boxes(space)
    low = np.concatenate([box.low.astype(np.float32).ravel() for box in boxes])
    high = np.concatenate([box.high.astype(np.float32).ravel() for box in boxes])
    return spaces.Box(low, high, dtype=np.float32)


def _boxes(space: Space) -> list[spaces.Box]:
    if isinstance(space, spaces.Dict):
        return [box for part in space.spaces.values() for box in _boxes(part)]
    if not isinstance(space, spaces.Box):
        raise TypeError(
            f"{space} cannot be flattened: it is no Box and no Dict of them."
        )
    return [space]


def _width(space: Space, name: str) -> int:
    if not isinstance(space, spaces.Box) or len(space.shape) != 1:
        raise TypeError(
            f"The part {name!r} of the action space is {space}; it has to be a Box "
            "with one dimension."
        )
    return space.shape[0]

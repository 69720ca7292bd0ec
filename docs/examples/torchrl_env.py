"""TorchRL: an `EnvBase` of many worlds.

Copy this file next to your program:

    env = TorchRlEnv(mjlab.make("Velocity-G1", num_envs=64))
    data = env.rollout(8, break_when_any_done=False)
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from gymnasium import Space, spaces
from gymnasium.vector import AutoresetMode
from tensordict import TensorDict, TensorDictBase
from torchrl.data import (  # pyright: ignore[reportMissingImports]
    Bounded,
    Categorical,
    Composite,
    Unbounded,
)
from torchrl.envs import EnvBase  # pyright: ignore[reportMissingImports]

from mjlab.gym import VectorEnv
from mjlab.gym.worlds import LARGEST, Tree
from mjlab.gym.wrappers import TensorEnv


class TorchRlEnv(EnvBase):
    """An environment with tensors as an `EnvBase` of TorchRL; worlds are one batch.

    A Box observation is "observation", a Dict keeps its names; the action is "action",
    with the terms' names below it if there are several. Automatic resets are disabled:
    "next" holds the terminal observation of an episode, and TorchRL resets the rows of
    its "_reset".
    """

    def __init__(self, env: TensorEnv) -> None:
        """Wrap an environment.

        Args:
            env: Result of `mjlab.make`, or a wrapper around it. Its mode becomes
                DISABLED.
        """
        if isinstance(env, VectorEnv):
            raise TypeError(
                "TorchRL resets episodes itself, and so does VectorEnv. Pass the "
                "environment inside VectorEnv."
            )
        env.use_autoreset(AutoresetMode.DISABLED, goes_on=True)
        super().__init__(device=env.device, batch_size=torch.Size([env.num_envs]))
        self.wrapped = env
        """The environment."""
        self._seed: int | None = None
        rows, device = env.num_envs, env.device
        observed = to_spec(env.single_observation_space, rows, device)
        if not isinstance(observed, Composite):
            observed = Composite({"observation": observed}, shape=torch.Size((rows,)))
        self.observation_spec = observed.to(device)
        action = to_spec(env.single_action_space, rows, device)
        self.action_spec = Composite({"action": action}, shape=torch.Size((rows,))).to(
            device
        )
        self.reward_spec = Unbounded(
            torch.Size((rows, 1)), device=device, dtype=torch.float32
        )
        flags = {
            name: Categorical(2, torch.Size((rows, 1)), device, torch.bool)
            for name in _FLAGS
        }
        self.done_spec = Composite(flags, shape=torch.Size((rows,))).to(device)

    def _step(self, tensordict: TensorDictBase) -> TensorDict:
        action = _plain(tensordict.get("action"))
        observations, reward, terminated, truncated, _ = self.wrapped.step(action)
        return self._told(
            observations,
            reward=reward,
            terminated=terminated,
            truncated=truncated,
            done=terminated | truncated,
        )

    def _reset(
        self, tensordict: TensorDictBase | None = None, **kwargs: Any
    ) -> TensorDict:
        mask = None if tensordict is None else tensordict.get("_reset", None)
        options = None if mask is None else {"reset_mask": mask.view(-1)}
        seed, self._seed = self._seed, None
        observations, _ = self.wrapped.reset(seed=seed, options=options)
        nobody = torch.zeros(self.batch_size, dtype=torch.bool, device=self.device)
        return self._told(observations, **{name: nobody.clone() for name in _FLAGS})

    def _set_seed(self, seed: int | None) -> None:
        """Set the seed of the next reset: world i uses seed + i."""
        self._seed = seed

    def close(self, **kwargs: Any) -> None:
        """Close the worlds."""
        self.wrapped.close()
        super().close(**kwargs)

    def _told(self, observations: Tree, **columns: torch.Tensor) -> TensorDict:
        named = observations
        if not isinstance(named, Mapping):
            named = {"observation": named}
        entries: dict[str, Any] = {
            **named,
            **{key: value.unsqueeze(-1) for key, value in columns.items()},
        }
        return TensorDict(entries, self.batch_size, self.device)


_FLAGS = ("done", "terminated", "truncated")


def to_spec(space: Space, rows: int, device: torch.device) -> Any:
    """Return the TorchRL spec of a space of one world, for many worlds.

    Args:
        space: A Box, a Discrete, or a Dict of these.
        rows: Number of worlds.
        device: Device of the tensors.
    """
    if isinstance(space, spaces.Dict):
        parts = {key: to_spec(part, rows, device) for key, part in space.items()}
        return Composite(parts, shape=torch.Size((rows,)))
    if isinstance(space, spaces.Discrete):
        return Categorical(int(space.n), torch.Size((rows,)), device, torch.int64)
    if not isinstance(space, spaces.Box):
        raise TypeError(
            f"{space} has no TorchRL spec here. Supported: Box, Discrete, Dict."
        )
    shape, dtype = torch.Size((rows, *space.shape)), torch.as_tensor(space.low).dtype
    if np.any(space.low <= -LARGEST) or np.any(space.high >= LARGEST):
        return Unbounded(shape, device=device, dtype=dtype)
    low, high = (
        torch.as_tensor(bound, device=device).expand(shape)
        for bound in (space.low, space.high)
    )
    return Bounded(low, high, shape=shape, device=device, dtype=dtype)


def _plain(action: Any) -> Any:
    """Return an action with named terms as a plain dictionary."""
    if not isinstance(action, TensorDictBase):
        return action
    return {name: _plain(action.get(name)) for name in action.keys()}

"""Batch of worlds as one `gymnasium.Env`, as in ManiSkill."""

from typing import Any

import gymnasium

from mjlab.gym.torch_env import TorchVectorEnv


class BatchedEnv(TorchVectorEnv, gymnasium.Env[Any, Any]):  # pyright: ignore[reportIncompatibleVariableOverride, reportIncompatibleMethodOverride]
    """Vector environment with tensors, created by `gymnasium.make(id, num_envs=N)`.

    With `max_episode_steps=`, `gymnasium.make` adds a `TimeLimit` with one step count
    for all worlds. Every wrapper of this package replaces it by a time limit per world.
    To use no wrapper, pass `max_episode_steps` to `mjlab.make`.
    """

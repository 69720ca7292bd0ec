"""Batch of worlds as one `gymnasium.Env`, as in ManiSkill."""

from typing import Any

import gymnasium

from mjlab.gym.torch_env import TorchVectorEnv


class BatchedEnv(TorchVectorEnv, gymnasium.Env[Any, Any]):  # pyright: ignore[reportIncompatibleVariableOverride, reportIncompatibleMethodOverride]
    """Vector environment with tensors, created by `gymnasium.make(id, num_envs=N)`.

    With `max_episode_steps=`, `gymnasium.make` adds its `TimeLimit`, which counts the
    steps of all rows together. Any wrapper of this package removes it and gives the
    limit to the worlds. To step without a wrapper, pass the limit to `mjlab.make`.
    """

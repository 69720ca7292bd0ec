"""Batch of worlds as one `gymnasium.Env`, as in ManiSkill."""

from typing import Any

import gymnasium

from mjlab.gym.torch_env import TorchVectorEnv


class BatchedEnv(TorchVectorEnv, gymnasium.Env[Any, Any]):  # pyright: ignore[reportIncompatibleVariableOverride, reportIncompatibleMethodOverride]
    """Vector environment with tensors, created by `gymnasium.make(id, num_envs=N)`.

    Gymnasium's wrappers for single environments, which `gymnasium.make` adds for
    `max_episode_steps=`, do not support batches: pass that setting to `mjlab.make`.
    """

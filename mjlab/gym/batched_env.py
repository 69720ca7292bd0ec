"""Many worlds as one `gymnasium.Env`, as ManiSkill's users make them."""

from typing import Any

import gymnasium

from mjlab.gym.torch_env import TorchVectorEnv


class BatchedEnv(TorchVectorEnv, gymnasium.Env[Any, Any]):  # pyright: ignore[reportIncompatibleVariableOverride, reportIncompatibleMethodOverride]
    """The vector form with tensors, made by `gymnasium.make(id, num_envs=N)`.

    Gymnasium's wrappers of single environments, which `gymnasium.make` adds for
    `max_episode_steps=`, do not know batches: `mjlab.make` takes that setting.
    """

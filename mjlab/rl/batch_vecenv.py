"""Any worlds, as RSL-RL asks for them."""

from typing import Any

import torch
from rsl_rl.env import VecEnv
from tensordict import TensorDict

from mjlab.envs import Discrete, Worlds


class BatchVecEnv(VecEnv):
    """Worlds that observe one tensor, and that a learner of RSL-RL steps.

    There is one group of observations, "policy". Actions that are a choice come as rows
    with the largest number at their place, as `CategoricalCfg` draws them.
    """

    def __init__(self, env: Worlds, *, bootstraps: bool = True) -> None:
        """Begin new episodes.

        Args:
            env: The worlds. Those that end will begin anew in the same step.
            bootstraps: Whether what follows after time has run out still counts.
        """
        env.choose_resets("same_step")
        space = env.single_action_space
        self.env = env
        self.num_envs = env.num_envs
        self.num_actions = space.n if isinstance(space, Discrete) else space.shape[0]
        self.max_episode_length = env.max_episode_length
        self.device = env.device
        self.cfg = {}
        self._chooses = isinstance(space, Discrete)
        self._bootstraps = bootstraps
        self.episode_length_buf = torch.zeros(
            env.num_envs, dtype=torch.int64, device=env.device
        )
        self._observations = self._as_tensordict(env.reset()[0])

    def get_observations(self) -> TensorDict:
        """Return what the worlds observed last. Asking changes nothing."""
        return self._observations

    def step(
        self, actions: torch.Tensor
    ) -> tuple[TensorDict, torch.Tensor, torch.Tensor, dict[str, Any]]:
        """Step all worlds.

        Args:
            actions: Shape (num_envs, num_actions), float32.

        Returns:
            Observations, reward, whether an episode ended, and extras: "time_outs"
            where the value of the last state still counts.
        """
        if self._chooses:
            actions = actions.argmax(dim=-1)
        result = self.env.step(actions)
        dones = result.terminated | result.truncated
        self.episode_length_buf.add_(1).masked_fill_(dones, 0)
        self._observations = self._as_tensordict(result.observations)
        info: dict[str, Any] = {}
        if self._bootstraps:
            info["time_outs"] = result.truncated & ~result.terminated
        return self._observations, result.reward, dones, info

    def _as_tensordict(self, observations: torch.Tensor) -> TensorDict:
        return TensorDict(
            {"policy": observations}, batch_size=[self.num_envs], device=self.device
        )

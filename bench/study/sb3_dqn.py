"""Stable-Baselines3's DQN on the classic cartpole, for the learning study."""

import time
from typing import Any

import numpy as np
import torch

from bench.study.curves import Policy
from mjlab.tasks.cartpole.classic import ClassicCartpoleCfg, KernelCartpoles

CHUNK = 2048
"""Samples between two checks of the time."""

REPLAYED = 4.0
"""Times that a sample is learned from, on average, whatever the number of worlds."""

ROWS = 64
"""Samples per optimiser step."""


def vec_env(num_envs: int, seed: int) -> Any:
    """Worlds of the kernel as a `VecEnv` of Stable-Baselines3."""
    from stable_baselines3.common.vec_env import VecEnv  # pyright: ignore

    both: Any = type("CartpoleVecEnv", (Cartpoles, VecEnv), {})
    return both(num_envs, seed)


class Cartpoles:
    """Cartpoles in the interface of SB3, with NumPy arrays."""

    def __init__(self, num_envs: int, seed: int) -> None:
        from gymnasium.spaces import Box, Discrete

        self._num_envs = num_envs
        self._worlds = KernelCartpoles(
            ClassicCartpoleCfg(num_envs=num_envs, seed=seed, final_observations=True)
        )
        space = self._worlds.single_observation_space
        low, high = (np.array(ends, np.float32) for ends in (space.low, space.high))
        base: Any = super()
        base.__init__(num_envs, Box(low, high), Discrete(2))
        self._actions = torch.zeros(num_envs, dtype=torch.int64)

    def reset(self) -> np.ndarray:
        """Begin new episodes."""
        return self._worlds.reset()[0].numpy()

    def step_async(self, actions: np.ndarray) -> None:
        """Take actions."""
        self._actions = torch.from_numpy(np.asarray(actions, dtype=np.int64))

    def step_wait(self) -> tuple[Any, Any, Any, list[dict[str, Any]]]:
        """Do them."""
        result = self._worlds.step(self._actions)
        final = result.extras["final_obs"]
        dones = (result.terminated | result.truncated).numpy()
        infos: list[dict[str, Any]] = [{} for _ in range(self._num_envs)]
        for index in np.flatnonzero(dones):
            late = bool(result.truncated[index] & ~result.terminated[index])
            infos[index] = {
                "terminal_observation": final[index].numpy(),
                "TimeLimit.truncated": late,
            }
        return result.observations.numpy(), result.reward.numpy(), dones, infos

    def close(self) -> None:
        """Nothing outlives the tensors."""

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """Return the only attribute that SB3 reads: these worlds cannot be rendered."""
        if attr_name != "render_mode":
            raise AttributeError(attr_name)
        return [None] * self._num_envs

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Raise: no attribute can be set."""
        raise NotImplementedError("These worlds have no attributes.")

    def env_method(self, method_name: str, *args: Any, **more: Any) -> list[Any]:
        """Raise: there are no methods."""
        raise NotImplementedError("These worlds have no methods.")

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """Nobody wraps these."""
        return [False] * self._num_envs


class StableDqnLearner:
    """DQN with the same number of updates per sample for any number of worlds."""

    def __init__(self, num_envs: int, seed: int) -> None:
        from stable_baselines3 import DQN  # pyright: ignore

        steps = max(1, CHUNK // num_envs // 8)
        self._dqn: Any = DQN(
            "MlpPolicy",
            vec_env(num_envs, seed),
            learning_rate=1e-3,
            buffer_size=100_000,
            learning_starts=1000,
            batch_size=ROWS,
            train_freq=steps,
            gradient_steps=max(1, round(REPLAYED * steps * num_envs / ROWS)),
            target_update_interval=max(500, num_envs),
            exploration_fraction=0.1,
            exploration_final_eps=0.05,
            seed=seed,
            device="cpu",
        )
        # The exploration schedule needs an end, which is never reached.
        self._dqn._setup_learn(500_000)
        self._dqn.set_logger(_silent())
        self.policy: Policy = _Greedy(self._dqn)

    @property
    def samples(self) -> int:
        """Samples that it has taken."""
        return self._dqn.num_timesteps

    @property
    def updates(self) -> int:
        """Steps of its optimiser."""
        return self._dqn._n_updates

    def advance(self) -> float:
        """Act and learn for some time."""
        start = time.perf_counter()
        self._dqn.learn(CHUNK, reset_num_timesteps=False, log_interval=None)
        return time.perf_counter() - start

    def close(self) -> None:
        """Nothing outlives the tensors."""


def _silent() -> Any:
    from stable_baselines3.common.logger import configure  # pyright: ignore

    return configure(None, [])


class _Greedy:
    """The best action by the network."""

    def __init__(self, dqn: Any) -> None:
        self._dqn = dqn

    def begin(self, num_envs: int) -> None:
        """There is nothing to forget."""

    def __call__(self, observations: torch.Tensor) -> torch.Tensor:
        """Actions, shape (num_envs,)."""
        return self._dqn.policy.q_net(observations).argmax(dim=-1)

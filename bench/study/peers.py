"""Gymnasium's cartpole, stepped by Gymnasium, Stable-Baselines3 and Ray.

Imports few packages, because worker processes import it again.
"""

import os
from pathlib import Path
from typing import Any

import numpy as np

POOL = 8
"""Number of prepared sets of actions, used in turn."""

ROOT = Path(__file__).resolve().parents[2]


# Gymnasium's.


class GymnasiumRun:
    """Gymnasium's cartpole in one of its vector environments."""

    steps = 1

    def __init__(self, num_envs: int, mode: str) -> None:
        import gymnasium

        self._env: Any = gymnasium.make_vec(
            "CartPole-v1", num_envs=num_envs, vectorization_mode=mode
        )
        self._actions = np.random.default_rng(0).integers(0, 2, (POOL, num_envs))
        self._turn = 0
        self._env.reset(seed=0)
        self._last: Any = self._env.step(self._actions[0])

    def call(self) -> None:
        """Step all worlds."""
        self._turn = (self._turn + 1) % POOL
        self._last = self._env.step(self._actions[self._turn])

    def wait(self) -> None:
        """Do nothing: steps are synchronous."""

    def ended(self) -> int:
        """Episodes that ended in the last step."""
        return int((self._last[2] | self._last[3]).sum())

    def close(self) -> None:
        """Release all resources."""
        self._env.close()


# Stable-Baselines3's.


class StableBaselinesRun:
    """A `VecEnv` of Stable-Baselines3 with Gymnasium's cartpole."""

    steps = 1

    def __init__(self, num_envs: int, kind: str) -> None:
        from stable_baselines3.common import vec_env  # pyright: ignore

        self._env: Any = getattr(vec_env, kind)([one_cartpole] * num_envs)
        self._actions = np.random.default_rng(0).integers(0, 2, (POOL, num_envs))
        self._turn = 0
        self._env.reset()
        self._last: Any = self._env.step(self._actions[0])

    def call(self) -> None:
        """Step all worlds."""
        self._turn = (self._turn + 1) % POOL
        self._last = self._env.step(self._actions[self._turn])

    def wait(self) -> None:
        """Do nothing: a step has finished when it returns."""

    def ended(self) -> int:
        """Episodes that ended in the last step."""
        return int(self._last[2].sum())

    def close(self) -> None:
        """Release all resources."""
        self._env.close()


def one_cartpole() -> Any:
    """Return one Gymnasium cartpole."""
    import gymnasium

    return gymnasium.make("CartPole-v1")


# Ray's.


class RayRun:
    """Gymnasium's cartpole in remote Ray processes, one per world."""

    steps = 1

    def __init__(self, num_envs: int) -> None:
        import ray  # pyright: ignore

        self._ray: Any = ray
        if not ray.is_initialized():
            start_ray(ray)
        remote: Any = ray.remote(num_cpus=0)(RemoteCartpole)
        self._remotes = [remote.remote() for _ in range(num_envs)]
        self._actions = np.random.default_rng(0).integers(0, 2, (POOL, num_envs))
        self._turn = 0
        ray.get([one.reset.remote() for one in self._remotes])
        self._last: list[Any] = []
        self.call()

    def call(self) -> None:
        """Step all worlds."""
        self._turn = (self._turn + 1) % POOL
        pairs = zip(self._remotes, self._actions[self._turn].tolist(), strict=True)
        self._last = self._ray.get([one.step.remote(action) for one, action in pairs])

    def wait(self) -> None:
        """Do nothing: a step has finished when it returns."""

    def ended(self) -> int:
        """Episodes that ended in the last step."""
        return sum(ended for _, _, ended in self._last)

    def close(self) -> None:
        """End the processes."""
        for one in self._remotes:
            self._ray.kill(one)


def start_ray(ray: Any) -> None:
    """Start Ray; its processes must be able to import this file."""
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), before]))
    ray.init(
        num_cpus=os.cpu_count(),
        include_dashboard=False,
        log_to_driver=False,
        logging_level="ERROR",
    )


class RemoteCartpole:
    """Cartpole with automatic reset, as in the other implementations."""

    def __init__(self) -> None:
        self._env = one_cartpole()

    def reset(self) -> np.ndarray:
        """Begin an episode."""
        return self._env.reset()[0]

    def step(self, action: int) -> tuple[np.ndarray, float, bool]:
        """Advance; return observation, reward, and whether an episode ended."""
        seen, reward, terminated, truncated, _ = self._env.step(action)
        ended = terminated or truncated
        return (self._env.reset()[0] if ended else seen), reward, ended

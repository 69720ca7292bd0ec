"""Stable-Baselines3: a `VecEnv` of many worlds.

Copy this file next to your program:

    env = mjlab.make("Velocity-G1", num_envs=64, numpy=True, autoreset_mode="same_step")
    model = PPO("MlpPolicy", Sb3VecEnv(env))
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode
from stable_baselines3.common.vec_env import (  # pyright: ignore[reportMissingImports]
    VecEnv,
)

from mjlab.gym import NumpyVectorEnv


class Sb3VecEnv(VecEnv):
    """A `NumpyVectorEnv` as a `VecEnv` of Stable-Baselines3.

    Finished worlds are reset in the same step. Their infos then have the terminal
    observation as "terminal_observation", and "TimeLimit.truncated" is true if it
    should be bootstrapped.
    """

    def __init__(self, env: NumpyVectorEnv) -> None:
        """Wrap an environment in the mode SAME_STEP."""
        if env.metadata["autoreset_mode"] is not AutoresetMode.SAME_STEP:
            raise ValueError(
                "Stable-Baselines3 expects finished worlds to be reset in the same "
                "step. Create the environment with autoreset_mode='same_step'."
            )
        self.env = env
        self._actions: np.ndarray | None = None
        super().__init__(
            env.num_envs, env.single_observation_space, env.single_action_space
        )

    def reset(self) -> Any:
        """Start new episodes, from the seeds of `seed()` if it was called before."""
        seeds = self._seeds
        is_seeded = any(seed is not None for seed in seeds)
        observations, infos = self.env.reset(seed=list(seeds) if is_seeded else None)
        self.reset_infos = self._rows_of(infos)
        self._reset_seeds()
        self._reset_options()
        return observations

    def step_async(self, actions: np.ndarray) -> None:
        """Store the actions of the next step."""
        self._actions = actions

    def step_wait(self) -> Any:
        """Step; return observations, rewards, dones and a list of infos."""
        observations, reward, terminated, truncated, infos = self.env.step(
            self._actions
        )
        dones = terminated | truncated
        rows = self._rows_of(infos)
        for row in np.flatnonzero(dones):
            rows[row] = self._rows_of(infos["final_info"])[row]
            rows[row]["terminal_observation"] = infos["final_obs"][row]
            cut = bool(truncated[row] and not terminated[row])
            rows[row]["TimeLimit.truncated"] = cut
        return observations, reward.astype(np.float32), dones, rows

    def close(self) -> None:
        """Close the worlds."""
        self.env.close()

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """Return an attribute of the environment, once per row."""
        return [getattr(self.env, attr_name)] * len(self._rows(indices))

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Set an attribute of the environment, which is shared by all worlds."""
        self._require_all(indices)
        setattr(self.env, attr_name, value)

    def env_method(
        self,
        method_name: str,
        *method_args: Any,
        indices: Any = None,
        **method_kwargs: Any,
    ) -> list[Any]:
        """Call a method of the environment, which is shared by all worlds."""
        self._require_all(indices)
        result = getattr(self.env, method_name)(*method_args, **method_kwargs)
        return [result] * self.num_envs

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """Return False: worlds have no separate wrappers."""
        return [False] * len(self._rows(indices))

    def get_images(self) -> Sequence[np.ndarray | None]:
        """Return an image of each row."""
        frames = self.env.render()
        return [None] * self.num_envs if frames is None else list(frames)

    def _rows(self, indices: int | Iterable[int] | None) -> list[int]:
        return list(self._get_indices(indices))

    def _require_all(self, indices: Any) -> None:
        if len(self._rows(indices)) != self.num_envs:
            raise ValueError("All worlds form one environment: leave indices=None.")

    def _rows_of(self, infos: dict[str, Any]) -> list[dict[str, Any]]:
        """Return infos by row, without final values."""
        return [
            {
                key: value[row]
                for key, value in infos.items()
                if not key.startswith(("_", "final_")) and infos[f"_{key}"][row]
            }
            for row in range(self.num_envs)
        ]

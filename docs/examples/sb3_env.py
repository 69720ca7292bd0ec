"""Stable-Baselines3: a `VecEnv` of many worlds. Copy this file beside your program.

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

    Rows that end begin anew in the same step. Their infos then have the observation of
    before as "terminal_observation", and say in "TimeLimit.truncated" whether its value
    still counts.
    """

    def __init__(self, env: NumpyVectorEnv) -> None:
        """Take over an environment in the mode SAME_STEP."""
        if env.metadata["autoreset_mode"] is not AutoresetMode.SAME_STEP:
            raise ValueError(
                "Stable-Baselines3 expects rows to begin anew in the step in which "
                "they end. Make the environment with autoreset_mode='same_step'."
            )
        self.env = env
        self._actions: np.ndarray | None = None
        super().__init__(
            env.num_envs, env.single_observation_space, env.single_action_space
        )

    def reset(self) -> Any:
        """Begin new episodes, from the seeds of `seed()` if it was called before."""
        seeds = self._seeds
        is_seeded = any(seed is not None for seed in seeds)
        observations, infos = self.env.reset(seed=list(seeds) if is_seeded else None)
        self.reset_infos = self._rows_of(infos)
        self._reset_seeds()
        self._reset_options()
        return observations

    def step_async(self, actions: np.ndarray) -> None:
        """Take the actions of the next step."""
        self._actions = actions

    def step_wait(self) -> Any:
        """Step; return observations, rewards, ends and a list of infos."""
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
        """Let go of the worlds."""
        self.env.close()

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """What the environment has by a name, once for each row."""
        return [getattr(self.env, attr_name)] * len(self._rows(indices))

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Give the environment something by a name; it is one for all rows."""
        self._require_all(indices)
        setattr(self.env, attr_name, value)

    def env_method(
        self,
        method_name: str,
        *method_args: Any,
        indices: Any = None,
        **method_kwargs: Any,
    ) -> list[Any]:
        """Call a method of the environment, which is one for all rows."""
        self._require_all(indices)
        result = getattr(self.env, method_name)(*method_args, **method_kwargs)
        return [result] * self.num_envs

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """Nothing is wrapped around single rows."""
        return [False] * len(self._rows(indices))

    def get_images(self) -> Sequence[np.ndarray | None]:
        """A picture of each row."""
        frames = self.env.render()
        return [None] * self.num_envs if frames is None else list(frames)

    def _rows(self, indices: int | Iterable[int] | None) -> list[int]:
        return list(self._get_indices(indices))

    def _require_all(self, indices: Any) -> None:
        if len(self._rows(indices)) != self.num_envs:
            raise ValueError("The rows are one environment: leave indices=None.")

    def _rows_of(self, infos: dict[str, Any]) -> list[dict[str, Any]]:
        """Infos row by row, without what is final."""
        return [
            {
                key: value[row]
                for key, value in infos.items()
                if not key.startswith(("_", "final_")) and infos[f"_{key}"][row]
            }
            for row in range(self.num_envs)
        ]

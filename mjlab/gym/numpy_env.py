"""Gymnasium's vector environment with NumPy arrays, for whoever asks for these."""

from typing import Any

import numpy as np
import torch
from gymnasium.vector import AutoresetMode, VectorEnv

from mjlab.gym.torch_env import TorchVectorEnv
from mjlab.gym.worlds import Tree, Worlds

Info = dict[str, Any]


class NumpyVectorEnv(VectorEnv[Any, Any, np.ndarray]):
    """Worlds as Gymnasium's own vector environments show theirs.

    Observations, flags and infos are equal to those of a `SyncVectorEnv` of as many
    single environments. Every step waits for the device, and copies.
    """

    def __init__(
        self,
        worlds: Worlds,
        *,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        render_mode: str | None = None,
        reconfiguration_freq: int = 0,
    ) -> None:
        """Take over the worlds.

        Args:
            worlds: The worlds. Nobody else should step or reset them.
            autoreset_mode: When rows that end begin anew. The default is Gymnasium's.
            render_mode: "rgb_array", or None for no pictures.
            reconfiguration_freq: 0 builds the scene once; k builds it anew in every
                k-th full reset. See `Reconfigurations`.
        """
        self.tensors = TorchVectorEnv(
            worlds,
            autoreset_mode=autoreset_mode,
            render_mode=render_mode,
            reconfiguration_freq=reconfiguration_freq,
        )
        """The same with tensors."""
        self.num_envs = self.tensors.num_envs
        self.single_observation_space = self.tensors.single_observation_space
        self.single_action_space = self.tensors.single_action_space
        self.observation_space = self.tensors.observation_space
        self.action_space = self.tensors.action_space
        self.render_mode = render_mode
        self.metadata = dict(self.tensors.metadata)

    def reset(
        self, *, seed: Any = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, Info]:
        """Begin new episodes; see `TorchVectorEnv.reset`."""
        observations, info = self.tensors.reset(seed=seed, options=options)
        if isinstance(seed, int | np.integer):
            super().reset(seed=int(seed))
        infos = {key: to_numpy(value) for key, value in info.items()}
        for key, value in infos.items():
            if not key.startswith("_"):
                value[~infos[f"_{key}"]] = 0  # As Gymnasium has it.
        return to_numpy(observations), infos

    def step(
        self, actions: Any
    ) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray, Info]:
        """Step all rows; see `TorchVectorEnv.step`.

        `final_obs` and `final_info` are there in steps in which a row ended, as
        Gymnasium has it: an array of objects with None for the others.
        """
        observations, reward, terminated, truncated, info = self.tensors.step(actions)
        return (
            to_numpy(observations),
            to_numpy(reward).astype(np.float64),
            to_numpy(terminated),
            to_numpy(truncated),
            self._infos({key: to_numpy(value) for key, value in info.items()}),
        )

    def render(self) -> tuple[np.ndarray, ...] | None:
        """A picture of each row, or None without a render mode."""
        return self.tensors.render()

    def close_extras(self, **kwargs: Any) -> None:
        """Let go of the worlds."""
        self.tensors.close()

    def _infos(self, info: Info) -> Info:
        """Put what is final into Gymnasium's form."""
        ended = info.get("_final_obs")
        if ended is None:
            return info
        final, final_info = info.pop("final_obs"), info.pop("final_info")
        if not ended.any():
            return {k: v for k, v in info.items() if k not in _FINAL_MASKS}
        rows = np.full(self.num_envs, None, dtype=object)
        for row in np.flatnonzero(ended):
            rows[row] = _row(final, int(row))
        for key, value in final_info.items():
            if not key.startswith("_"):
                value[~ended] = 0
        return info | {"final_obs": rows, "final_info": final_info}


_FINAL_MASKS = ("_final_obs", "_final_info")


def to_numpy(value: Tree | Any) -> Any:
    """Tensors as arrays, by name where they have names."""
    if isinstance(value, dict):
        return {key: to_numpy(part) for key, part in value.items()}
    return value.cpu().numpy() if isinstance(value, torch.Tensor) else value


def _row(value: Any, row: int) -> Any:
    if isinstance(value, dict):
        return {key: _row(part, row) for key, part in value.items()}
    return value[row].copy()

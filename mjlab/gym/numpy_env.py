"""Gymnasium environments with NumPy arrays: a vector environment, and a single one."""

from typing import Any

import gymnasium
import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv

from mjlab.gym.resets import RECONFIGURE, Reconfigurations
from mjlab.gym.torch_env import (
    FINAL,
    NO_RENDER_MODE,
    TorchVectorEnv,
    check_render_mode,
    joined_actions,
    metadata_of,
)
from mjlab.gym.worlds import GymWorlds, HasSpec, Info, Tree, map_tree
from mjlab.random.seeds import to_seeds


class NumpyVectorEnv(HasSpec, VectorEnv[Any, Any, np.ndarray]):  # pyright: ignore[reportIncompatibleVariableOverride]
    """Gymnasium vector environment with NumPy arrays.

    Observations, flags and infos are the same as from a `SyncVectorEnv` of single
    environments. Every step synchronises with the device and copies the results.
    """

    def __init__(
        self,
        worlds: GymWorlds,
        *,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        render_mode: str | None = None,
        reconfiguration_freq: int = 0,
    ) -> None:
        """Wrap the worlds.

        Args:
            worlds: The worlds. They must not be stepped or reset elsewhere.
            autoreset_mode: When finished worlds are reset; in the next step by default,
                as in Gymnasium.
            render_mode: "rgb_array", or None for no rendering.
            reconfiguration_freq: 0 builds the scene once; k rebuilds it in every k-th
                full reset. See `Reconfigurations`.
        """
        self.worlds = worlds
        self.tensors = TorchVectorEnv(
            worlds,
            autoreset_mode=autoreset_mode,
            render_mode=render_mode,
            reconfiguration_freq=reconfiguration_freq,
        )
        """The same environment with tensors."""
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
        """Start new episodes; see `TorchVectorEnv.reset`."""
        observations, info = self.tensors.reset(seed=seed, options=options)
        if isinstance(seed, int | np.integer):
            super().reset(seed=int(seed))
        return to_numpy(observations), _zeroed(to_numpy(info))

    def step(
        self, actions: Any
    ) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray, Info]:
        """Step all worlds; see `TorchVectorEnv.step`.

        As in Gymnasium, infos contain `final_obs` and `final_info` only in steps in
        which a world finished; `final_obs` is an object array with None for the other
        worlds.
        """
        observations, reward, terminated, truncated, info = self.tensors.step(actions)
        return (
            to_numpy(observations),
            to_numpy(reward).astype(np.float64),
            to_numpy(terminated),
            to_numpy(truncated),
            self._infos(to_numpy(info)),
        )

    def render(self) -> tuple[np.ndarray, ...] | None:
        """Return an image of each world, or None without a render mode."""
        return self.tensors.render()

    def close_extras(self, **kwargs: Any) -> None:
        """Close the worlds."""
        self.tensors.close()

    def _infos(self, info: Info) -> Info:
        """Return infos with final values in Gymnasium's format."""
        ended = info.get("_final_obs")
        if ended is None:
            return info
        final = {key: info.pop(key) for key in FINAL}
        if not ended.any():
            return {key: info[key] for key in info if key[1:] not in FINAL}
        rows = np.full(self.num_envs, None, dtype=object)
        for row in np.flatnonzero(ended):
            rows[row] = _row(final["final_obs"], int(row))
        return info | {"final_obs": rows, "final_info": _zeroed(final["final_info"])}


class SingleEnv(HasSpec, gymnasium.Env[Any, Any]):  # pyright: ignore[reportIncompatibleVariableOverride]
    """Gymnasium environment of one world, with NumPy arrays and Python numbers.

    There are no automatic resets: call `reset` after a finished episode.
    """

    def __init__(
        self,
        worlds: GymWorlds,
        *,
        render_mode: str | None = None,
        reconfiguration_freq: int = 0,
    ) -> None:
        """Wrap the world.

        Args:
            worlds: One world.
            render_mode: "rgb_array", or None for no rendering.
            reconfiguration_freq: 0 builds the scene once; k rebuilds it in every k-th
                reset.
        """
        if worlds.num_envs != 1:
            raise ValueError(
                f"SingleEnv needs exactly 1 world, but got {worlds.num_envs}. Use "
                "TorchVectorEnv or NumpyVectorEnv."
            )
        check_render_mode(render_mode)
        self.worlds = worlds
        self.observation_space = worlds.single_observation_space
        self.action_space = worlds.single_action_space
        self.render_mode = render_mode
        self.metadata = metadata_of(worlds)
        self._is_reset = False
        self._reconfigurations = Reconfigurations(worlds, reconfiguration_freq)
        self._reconfigurations.choose_resets("never")

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start a new episode.

        Args:
            seed: Random seed. None continues the current sequence.
            options: `{"reconfigure": True}` rebuilds the scene first.
                `info["reconfigure"]` is True if the scene was rebuilt.
        """
        for key in options or ():
            if key != RECONFIGURE:
                raise ValueError(
                    f"Unknown reset option {key!r}: a single environment accepts only "
                    f"{RECONFIGURE!r}."
                )
        seeds = to_seeds(seed, 1)
        super().reset(seed=seed)
        observations, info = self._reconfigurations.reset(options, seeds, None)
        self._is_reset = True
        return _first(observations), _first(info)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Step the world."""
        if not self._is_reset:
            raise ResetNeeded("Call reset() before the first step().")
        space, device = self.action_space, self.worlds.device
        tensor = joined_actions(action, space, (), device).unsqueeze(0)
        return tuple(_first(part) for part in self.worlds.step(tensor))  # pyright: ignore[reportReturnType]

    def render(self) -> np.ndarray | None:
        """Return an image, shape (height, width, 3), or None without a render mode."""
        if self.render_mode is None:
            gymnasium.logger.warn(NO_RENDER_MODE)
            return None
        if not self._is_reset:
            raise ResetNeeded("Call reset() before the first render().")
        return self.worlds.frames()[0]

    def close(self) -> None:
        """Close the world. Can be called twice."""
        self.worlds.close()


def to_numpy(tree: Tree) -> Any:
    """Convert tensors to arrays, also within mappings."""
    return map_tree(lambda tensor: tensor.cpu().numpy(), tree)


def _row(tree: Any, row: int) -> Any:
    return map_tree(lambda array: array[row].copy(), tree)


def _zeroed(info: Info) -> Info:
    """Set unmasked rows of infos to zero in place, as in Gymnasium."""
    for key, value in info.items():
        if not key.startswith("_"):
            value[~info[f"_{key}"]] = 0
    return info


def _first(tree: Tree) -> Any:
    """Return the values of the first world: arrays, or Python numbers for scalars."""
    return map_tree(
        lambda value: value[0].item() if value.ndim == 1 else _row(to_numpy(value), 0),
        tree,
    )

"""One world as a `gymnasium.Env`."""

from typing import Any

import gymnasium
import numpy as np
import torch
from gymnasium.error import ResetNeeded

from mjlab.gym.numpy_env import to_numpy
from mjlab.gym.reconfigure import Reconfigurations
from mjlab.gym.requests import RECONFIGURE, to_seeds
from mjlab.gym.torch_env import (
    NO_RENDER_MODE,
    check_render_mode,
    joined_actions,
    metadata_of,
)
from mjlab.gym.worlds import Worlds


class SingleEnv(gymnasium.Env[Any, Any]):
    """A world of its own, with arrays and Python's numbers. Nothing resets it."""

    def __init__(
        self,
        worlds: Worlds,
        *,
        render_mode: str | None = None,
        reconfiguration_freq: int = 0,
    ) -> None:
        """Take over the world.

        Args:
            worlds: One world.
            render_mode: "rgb_array", or None for no pictures.
            reconfiguration_freq: 0 builds the scene once; k builds it anew in every
                k-th reset.
        """
        if worlds.num_envs != 1:
            raise ValueError(
                f"A single environment has 1 world, not {worlds.num_envs}. Use "
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
        worlds.choose_resets("never")

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin a new episode.

        Args:
            seed: Seed of all chance. None goes on with the present numbers.
            options: "reconfigure", a bool: whether the scene is built anew first. An
                info of that name then says whether it was.
        """
        for key in options or ():
            if key != RECONFIGURE:
                raise ValueError(
                    f"There is no reset option {key!r}: a single environment has only "
                    f"{RECONFIGURE!r}."
                )
        seeds = to_seeds(seed, 1)
        super().reset(seed=seed)
        rebuilt = self._reconfigurations.before_reset(options, seeds, None)
        observations, info = self.worlds.reset(seeds, None)
        self._is_reset = True
        return _first((observations, info | rebuilt))

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Step the world."""
        if not self._is_reset:
            raise ResetNeeded("Call reset() before the first step().")
        space, device = self.action_space, self.worlds.device
        tensor = joined_actions(action, space, (), device).unsqueeze(0)
        outcome = self.worlds.step(tensor)
        return (
            _first(outcome.observations),
            float(outcome.reward[0]),
            bool(outcome.terminated[0]),
            bool(outcome.truncated[0]),
            _first(outcome.info),
        )

    def render(self) -> np.ndarray | None:
        """A picture, shape (height, width, 3), or None without a render mode."""
        if self.render_mode is None:
            gymnasium.logger.warn(NO_RENDER_MODE)
            return None
        return self.worlds.frames()[0]

    def close(self) -> None:
        """Let go of the world. Closing twice is harmless."""
        self.worlds.close()


def _first(value: Any) -> Any:
    """The first row: arrays, and numbers where nothing else is left."""
    if isinstance(value, tuple):
        return tuple(_first(part) for part in value)
    if isinstance(value, dict):
        return {key: _first(part) for key, part in value.items()}
    assert isinstance(value, torch.Tensor), "Worlds return tensors."
    return value[0].item() if value.ndim == 1 else to_numpy(value[0]).copy()

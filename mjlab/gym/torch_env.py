"""Gymnasium vector environment with tensors on the device."""

import copy
from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
import torch
from gymnasium import Space, spaces
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from mjlab.envs import Step
from mjlab.gym.resets import WHEN, Reconfigurations, to_mask, to_mode
from mjlab.gym.worlds import GymWorlds, HasSpec, Info, Tree
from mjlab.random.seeds import to_seeds


class EndedRowsError(RuntimeError):
    """Raised when finished worlds are stepped in the mode DISABLED."""


class TorchVectorEnv(HasSpec, VectorEnv[Any, Any, torch.Tensor]):  # pyright: ignore[reportIncompatibleVariableOverride]
    """Gymnasium vector environment with tensors on the device instead of arrays.

    Returned tensors are never modified later. Infos have a mask "_key" for each "key".
    In the mode SAME_STEP, the infos of every step contain `final_obs` and `final_info`
    for all worlds, with masks of the worlds that finished in this step, so that no
    synchronisation with the device is needed. The mode DISABLED synchronises once per
    step, to raise an error if a finished world is stepped.
    """

    def __init__(
        self,
        worlds: GymWorlds,
        *,
        autoreset_mode: AutoresetMode | str = AutoresetMode.SAME_STEP,
        render_mode: str | None = None,
        reconfiguration_freq: int = 0,
    ) -> None:
        """Wrap the worlds.

        Args:
            worlds: The worlds. They must not be stepped or reset elsewhere.
            autoreset_mode: When finished worlds are reset.
            render_mode: "rgb_array", or None for no rendering.
            reconfiguration_freq: 0 builds the scene once; k rebuilds it in every k-th
                full reset. See `Reconfigurations`.
        """
        check_render_mode(render_mode)
        self.worlds = worlds
        self.num_envs = worlds.num_envs
        self.device = worlds.device
        self.single_observation_space = worlds.single_observation_space
        self.single_action_space = worlds.single_action_space
        self.observation_space, self.action_space = (
            batch_space(single, self.num_envs)
            for single in (self.single_observation_space, self.single_action_space)
        )
        self.render_mode = render_mode
        self.metadata = metadata_of(worlds)
        self._is_reset = False
        self._ended = torch.zeros(self.num_envs, dtype=torch.bool, device=self.device)
        self._checks_ended = True
        self._reconfigurations = Reconfigurations(worlds, reconfiguration_freq)
        self._choose(to_mode(autoreset_mode))

    @property
    def autoreset_mode(self) -> AutoresetMode:
        """Autoreset mode: when finished worlds are reset."""
        return self.metadata["autoreset_mode"]

    @property
    def elapsed_steps(self) -> torch.Tensor:
        """Steps since each world's reset, shape (num_envs,), int64, a copy."""
        return self.worlds.env.episode_length_buf.to(torch.int64, copy=True)

    def use_autoreset(
        self,
        mode: AutoresetMode | str,
        *,
        ignore_terminations: bool = False,
        goes_on: bool = False,
    ) -> None:
        """Set the autoreset mode, which defines when finished worlds are reset.

        Args:
            mode: The mode, or its name.
            ignore_terminations: End episodes by time limits only.
            goes_on: In the mode DISABLED, let finished worlds continue.
        """
        self._choose(to_mode(mode), ignore_terminations, goes_on)
        self._reconfigurations.check()

    def limit_episodes(self, steps: int) -> None:
        """Rebuild the worlds with another time limit; all worlds must be reset.

        Args:
            steps: Steps after which an episode is truncated.
        """
        self.worlds.limit_episodes(steps)
        self._is_reset = False
        if self._spec is not None:
            spec = copy.copy(self._spec)
            spec.max_episode_steps = None
            self.spec = spec

    def reset(
        self, *, seed: Any = None, options: dict[str, Any] | None = None
    ) -> tuple[Tree, Info]:
        """Start new episodes.

        Args:
            seed: An integer s seeds world i with s + i. A list has one seed per world,
                with None for worlds that continue their random sequence. None continues
                the sequences of all worlds.
            options: "reset_mask" (a bool per world) or "env_idx" (indices) selects the
                worlds to reset; other worlds are unchanged. "reconfigure" (a bool)
                rebuilds the scene first, which requires a reset of all worlds.

        Returns:
            Observations and infos. The infos' masks are true for the reset worlds. The
            info "reconfigure" is true if the scene was rebuilt; it is present if
            "reconfigure" is passed or full resets are counted.
        """
        seeds = to_seeds(seed, self.num_envs)
        mask = to_mask(options, self.num_envs, self.device)
        if isinstance(seed, int | np.integer):
            super().reset(seed=int(seed))
        observations, info = self._reconfigurations.reset(options, seeds, mask)
        rows = torch.ones_like(self._ended) if mask is None else mask
        self._ended = self._ended & ~rows
        self._is_reset = True
        return observations, with_masks(info, rows)

    def step(
        self, actions: Any
    ) -> tuple[Tree, torch.Tensor, torch.Tensor, torch.Tensor, Info]:
        """Step all worlds.

        Args:
            actions: Actions in the action space: a tensor, an array, or a dict of
                tensors or arrays.

        Returns:
            Observations, reward, terminated, truncated and infos.
        """
        if not self._is_reset:
            raise ResetNeeded("Call reset() before the first step().")
        if self._checks_ended:
            self._refuse_ended()
        step = self._reconfigurations.step(self.to_tensor(actions))
        if self._checks_ended:
            self._ended = step.terminated | step.truncated
        return (*step[:4], self._infos(step))

    def render(self) -> tuple[np.ndarray, ...] | None:
        """Return an image of each world, or None without a render mode."""
        if self.render_mode is None:
            gymnasium.logger.warn(NO_RENDER_MODE)
            return None
        return tuple(self.worlds.frames())

    def close_extras(self, **kwargs: Any) -> None:
        """Close the worlds."""
        self.worlds.close()

    def to_tensor(self, actions: Any) -> torch.Tensor:
        """Convert actions of the action space to one tensor on the device."""
        return joined_actions(
            actions, self.single_action_space, (self.num_envs,), self.device
        )

    def _choose(
        self,
        mode: AutoresetMode,
        ignore_terminations: bool = False,
        goes_on: bool = False,
    ) -> None:
        self.metadata = self.metadata | {"autoreset_mode": mode}
        self._checks_ended = mode is AutoresetMode.DISABLED and not goes_on
        self._reconfigurations.choose_resets(
            WHEN[mode], ignore_terminations=ignore_terminations
        )

    def _infos(self, step: Step[Tree]) -> Info:
        ended = step.terminated | step.truncated
        final = {key: step.extras[key] for key in FINAL if key in step.extras}
        info = {key: value for key, value in step.extras.items() if key not in FINAL}
        if final:
            final["final_info"] = with_masks(final["final_info"], ended)
        return with_masks(info, torch.ones_like(ended)) | with_masks(final, ended)

    def _refuse_ended(self) -> None:
        ended = self._ended.nonzero()[:, 0].tolist()
        if ended:
            raise EndedRowsError(
                f"Worlds {ended[:8]} have finished. In the mode DISABLED, reset "
                "finished worlds before the next step: "
                f"reset(options={{'reset_mask': terminated | truncated}})."
            )


FINAL = ("final_obs", "final_info")
"""Keys of infos that contain the terminal values of finished worlds."""

NO_RENDER_MODE = (
    "render() needs a render mode. Create the environment with render_mode='rgb_array'."
)


def metadata_of(worlds: GymWorlds) -> dict[str, Any]:
    """Return the render metadata of an environment."""
    return {
        "render_modes": ["rgb_array"],
        "render_fps": max(1, round(worlds.frames_per_second)),
    }


def check_render_mode(render_mode: str | None) -> None:
    """Raise for an unknown render mode."""
    if render_mode not in (None, "rgb_array"):
        raise ValueError(
            f"render_mode={render_mode!r} is unknown. Valid: None, 'rgb_array'. For a "
            "viewer, use scripts/play.py."
        )


def with_masks(info: Mapping[str, Tree], mask: torch.Tensor) -> Info:
    """Return infos with a separate mask for each key."""
    return {
        name: part
        for key, value in info.items()
        for name, part in ((key, value), (f"_{key}", mask.clone()))
    }


def joined_actions(
    actions: Any, space: Space, batch: tuple[int, ...], device: torch.device
) -> torch.Tensor:
    """Convert actions to one tensor, float32 or int64; concatenate parts of a Dict.

    Args:
        actions: A tensor, an array, or a dict of tensors or arrays with the keys of the
            space.
        space: Action space of one world.
        batch: Batch shape, before the shape of one world's action.
        device: Device of the result.
    """
    if not isinstance(space, spaces.Dict):
        return _as_tensor(actions, batch, space, "", device)
    if not isinstance(actions, dict) or actions.keys() != space.spaces.keys():
        shown = sorted(actions) if isinstance(actions, dict) else type(actions).__name__
        raise ValueError(
            f"The action ({shown}) has to be a dict with the keys "
            f"{list(space.spaces)}. FlattenActionSpace accepts one array for all terms."
        )
    parts = [
        _as_tensor(actions[name], batch, part, f" {name!r}", device)
        for name, part in space.spaces.items()
    ]
    return torch.cat(parts, dim=-1)


def _as_tensor(
    value: Any, batch: tuple[int, ...], space: Space, name: str, device: torch.device
) -> torch.Tensor:
    dtype = torch.float32 if isinstance(space, spaces.Box) else torch.int64
    if value is None:
        raise ValueError(
            f"The action{name} is None, but a step needs a tensor of shape "
            f"{(*batch, *(space.shape or ()))}."
        )
    # Physics is not differentiable, so detach even outside of `no_grad`.
    tensor = torch.as_tensor(value, dtype=dtype, device=device).detach()
    expected = (*batch, *(space.shape or ()))
    if tuple(tensor.shape) != expected:
        raise ValueError(
            f"The action{name} has shape {tuple(tensor.shape)}; it has to be "
            f"{expected}."
        )
    return tensor

"""What wrappers around the vector form with tensors share."""

from typing import Any, Union

import torch
from gymnasium import Space
from gymnasium.vector import AutoresetMode, VectorEnv, VectorWrapper
from gymnasium.vector.utils import batch_space

from mjlab.gym.requests import to_mask
from mjlab.gym.torch_env import Info, TorchVectorEnv
from mjlab.gym.worlds import Tree

Stepped = tuple[Tree, torch.Tensor, torch.Tensor, torch.Tensor, Info]
TensorEnv = Union[TorchVectorEnv, "TensorWrapper"]
"""What can be wrapped."""


class TensorWrapper(VectorWrapper[Any, Any, Any, Any, torch.Tensor]):
    """A wrapper around a `TorchVectorEnv`, or around another wrapper of one."""

    env: TensorEnv  # pyright: ignore[reportIncompatibleVariableOverride]
    """What is wrapped."""

    def __init__(self, env: TensorEnv) -> None:
        """Wrap an environment.

        Args:
            env: The environment.
        """
        if not isinstance(env, TorchVectorEnv | TensorWrapper):
            raise TypeError(
                f"{type(self).__name__} wraps environments with tensors, such as those "
                f"of mjlab.make, and this is a {type(env).__name__}."
            )
        super().__init__(env)

    @property
    def device(self) -> torch.device:
        """Where all tensors live."""
        return self.env.device

    @property
    def unwrapped(self) -> VectorEnv:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The environment below all wrappers."""
        return self.env.unwrapped

    @property
    def autoreset_mode(self) -> AutoresetMode:
        """When rows that end begin anew."""
        return self.env.autoreset_mode

    def use_autoreset(
        self,
        mode: AutoresetMode | str,
        *,
        ignore_terminations: bool = False,
        goes_on: bool = False,
    ) -> None:
        """Choose anew when rows that end begin anew; see `TorchVectorEnv`."""
        self.env.use_autoreset(
            mode, ignore_terminations=ignore_terminations, goes_on=goes_on
        )

    def observe_as(self, single: Space) -> None:
        """Declare what one row observes from here on."""
        self.single_observation_space = single
        self.observation_space = batch_space(single, self.num_envs)

    def rows_of(self, options: dict[str, Any] | None) -> torch.Tensor:
        """The rows that a reset with these options is for, shape (num_envs,), bool."""
        mask = to_mask(options, self.num_envs, self.device)
        if mask is None:
            return torch.ones(self.num_envs, dtype=torch.bool, device=self.device)
        return mask

    def no_rows(self) -> torch.Tensor:
        """A mask that holds for no row, shape (num_envs,)."""
        return torch.zeros(self.num_envs, dtype=torch.bool, device=self.device)

    def began_in(
        self, previous: torch.Tensor, terminated: torch.Tensor, truncated: torch.Tensor
    ) -> torch.Tensor:
        """The rows whose observation of this step is the first of an episode.

        Args:
            previous: The rows that ended in the step before.
            terminated: Rows that terminated in this step.
            truncated: Rows that were truncated in this step.
        """
        if self.autoreset_mode is AutoresetMode.SAME_STEP:
            return terminated | truncated
        if self.autoreset_mode is AutoresetMode.NEXT_STEP:
            return previous
        return torch.zeros_like(terminated)

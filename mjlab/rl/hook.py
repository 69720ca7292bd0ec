"""Hooks: what else happens after each iteration."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

from mjlab.settings import Config

if TYPE_CHECKING:  # A configuration is read without torch.
    import torch

    from mjlab.envs import ManagerBasedRlEnv
    from mjlab.rl.figures import Number
    from mjlab.rl.vecenv import TrainingEnv


class Training(Protocol):
    """The training that a hook acts in."""

    @property
    def env(self) -> "TrainingEnv":
        """The worlds of this process."""
        ...

    @property
    def iteration(self) -> int:
        """Iterations that are done."""
        ...


class Hook(ABC):
    """Does something of its own after each iteration, such as learning another model.

    Every process calls it. What it remembers is saved with the run, so that a run that
    is resumed goes on exactly.
    """

    name: str
    """Name of its state in a checkpoint."""

    def before_first_iteration(self, loop: Training) -> None:
        """Prepare a run that begins, not one that is resumed."""
        return

    def equip(self, env: "ManagerBasedRlEnv") -> None:
        """Give other worlds, in which the policy is evaluated, what has been learned.

        Only the first process does.
        """
        return

    @abstractmethod
    def after_iteration(self, loop: Training) -> "Mapping[str, Number]":
        """Act, after the update, and return figures.

        A figure on the device is read together with all others.
        """

    def tensors(self) -> "Mapping[str, torch.device]":
        """Return devices of its own tensors by name, for the start-up report."""
        return {}

    def state(self) -> dict[str, Any]:
        """Return what it remembers, as plain values, the same in all processes."""
        return {}

    def load_state(self, state: dict[str, Any]) -> None:
        """Remember that again; an empty one if the checkpoint knows nothing of it."""
        if state:
            raise ValueError(
                f"The hook {self.name!r} remembers nothing, but was saved."
            )


class HookCfg(Config, ABC):
    """Declares what else happens after each iteration, such as learning of muscles."""

    @abstractmethod
    def bind(self, name: str, env: "TrainingEnv") -> Hook:
        """Return the hook of one run.

        Args:
            name: The key that the user gave it, which its state has in checkpoints.
            env: The worlds that are trained in.
        """

    def equip(self, env: "ManagerBasedRlEnv", state: Mapping[str, Any]) -> None:
        """Give worlds in which a trained policy acts what the hook had learned.

        Args:
            env: The worlds.
            state: The hook's state of the checkpoint.
        """
        return

    def acting(self, state: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return what `equip` needs of the hook's state, for a policy that ships.

        Args:
            state: The hook's state of the checkpoint.
        """
        return state

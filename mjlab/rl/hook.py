"""Hooks: additional work after each training iteration."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

from mjlab.settings import Config

if TYPE_CHECKING:  # Configurations can be read without torch.
    import torch

    from mjlab.envs import ManagerBasedRlEnv
    from mjlab.rl.figures import Number
    from mjlab.rl.vecenv import TrainingEnv


class Training(Protocol):
    """Part of the training loop's interface that hooks use."""

    @property
    def env(self) -> "TrainingEnv":
        """Worlds of this process."""
        ...

    @property
    def iteration(self) -> int:
        """Finished iterations."""
        ...


class Hook(ABC):
    """Additional work after each iteration, such as training another model.

    Every process calls it. Its state is saved with the run, so that a resumed run
    continues exactly.
    """

    name: str
    """Name of the hook's state in a checkpoint."""

    def before_first_iteration(self, loop: Training) -> None:
        """Prepare a new run; not called when a run is resumed."""
        return

    def equip(self, env: "ManagerBasedRlEnv") -> None:
        """Apply the learned state to the worlds of an evaluation.

        Called in the first process only.
        """
        return

    @abstractmethod
    def after_iteration(self, loop: Training) -> "Mapping[str, Number]":
        """Run after the update; return metrics.

        Metrics on the device are read together with all others.
        """

    def tensors(self) -> "Mapping[str, torch.device]":
        """Return the devices of the hook's tensors by name, for the start-up report."""
        return {}

    def state(self) -> dict[str, Any]:
        """Return the state as plain values, the same in all processes."""
        return {}

    def load_state(self, state: dict[str, Any]) -> None:
        """Restore the state; it is empty if the checkpoint has none for the hook."""
        if state:
            raise ValueError(
                f"The hook {self.name!r} has no state, but the checkpoint has one."
            )


class HookCfg(Config, ABC):
    """Configuration of a hook, such as the training of a muscle network."""

    @abstractmethod
    def bind(self, name: str, env: "TrainingEnv") -> Hook:
        """Build the hook of a run.

        Args:
            name: Key in the configuration, also the name of its state in checkpoints.
            env: The training worlds.
        """

    def equip(self, env: "ManagerBasedRlEnv", state: Mapping[str, Any]) -> None:
        """Apply the hook's learned state to the worlds of a trained policy.

        Args:
            env: The worlds.
            state: The hook's state in the checkpoint.
        """
        return

    def acting(self, state: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the part of the state that `equip` needs, for a shipped policy.

        Args:
            state: The hook's state in the checkpoint.
        """
        return state

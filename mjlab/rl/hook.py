"""What else happens after each iteration."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import torch

from mjlab.rl.figures import Number

if TYPE_CHECKING:
    from mjlab.envs import ManagerBasedRlEnv
    from mjlab.rl.loop import TrainingLoop


class Hook(ABC):
    """Does something of its own after each iteration, such as learning another model.

    Every process calls it. What it remembers is saved with the run, so that a run that
    is resumed goes on exactly.
    """

    name: str
    """What its state is called in a checkpoint."""

    def before_first_iteration(self, loop: "TrainingLoop") -> None:
        """Prepare a run that begins, not one that is resumed."""
        return

    def equip(self, env: "ManagerBasedRlEnv") -> None:
        """Give other worlds, in which the policy is evaluated, what has been learned.

        Only the first process does.
        """
        return

    @abstractmethod
    def after_iteration(self, loop: "TrainingLoop") -> Mapping[str, Number]:
        """Act, after the update, and return figures.

        A figure on the device is read together with all others.
        """

    def tensors(self) -> Mapping[str, torch.device]:
        """Where its own tensors are, by what they are, for the start-up report."""
        return {}

    def state(self) -> dict[str, Any]:
        """What it remembers, as tensors and plain values, the same in all processes."""
        return {}

    def load_state(self, state: dict[str, Any]) -> None:
        """Remember that again; an empty one if the checkpoint knows nothing of it."""
        if state:
            raise ValueError(
                f"The hook {self.name!r} remembers nothing, but was saved."
            )

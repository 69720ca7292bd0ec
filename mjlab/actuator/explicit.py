"""What all explicit actuators share: a motor, and a law that computes its effort."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Protocol

import mujoco
import torch

from mjlab.actuator.config import ActuatorCfg, Quantity
from mjlab.actuator.place import new_actuator


@dataclass(frozen=True, eq=False)
class Commands:
    """What explicit actuators are asked for, each of shape (num_envs, n)."""

    position: torch.Tensor
    velocity: torch.Tensor
    effort: torch.Tensor


class ControlLaw(Protocol):
    """Computes the effort of n actuators in each world."""

    @property
    def stiffness(self) -> torch.Tensor | None:
        """Position gains, shape (num_envs, n); None where there are none."""
        ...

    @property
    def damping(self) -> torch.Tensor | None:
        """Velocity gains, shape (num_envs, n); None where there are none."""
        ...

    @property
    def effort_limit(self) -> torch.Tensor:
        """Largest efforts, shape (num_envs, n), infinite where there is no limit."""
        ...

    def compute(
        self, commands: Commands, position: torch.Tensor, velocity: torch.Tensor
    ) -> torch.Tensor:
        """Return the efforts, shape (num_envs, n).

        Args:
            commands: What is asked for.
            position: Positions or lengths now, shape (num_envs, n).
            velocity: Their rates now, shape (num_envs, n).
        """
        ...

    def reset(self, mask: torch.Tensor) -> None:
        """Forget the past of the worlds where `mask`, shape (num_envs,), holds."""
        ...

    def state(self) -> dict[str, torch.Tensor]:
        """Return the live tensors that change."""
        ...


class ExplicitActuatorCfg(ActuatorCfg):
    """An actuator whose effort is computed with torch in every physics step.

    In the model it is a `<motor>` without limits of its own. MuJoCo's integrators do
    not see its damping, so that stiff gains need a smaller time step than those of a
    native actuator.
    """

    def required_model_fields(self, *quantities: Quantity) -> frozenset[str]:
        """Return no model fields: the gains are tensors, which always vary."""
        return frozenset()

    def law_key(self) -> Hashable:
        """Return what configurations have in common that one law serves."""
        return None

    @abstractmethod
    def build_law(
        self, parts: Sequence[ExplicitPart], num_envs: int, device: torch.device
    ) -> ControlLaw:
        """Return one law for the actuators of several configurations, side by side.

        Args:
            parts: Configurations of this class and of equal `law_key`, this one first,
                each with its targets' names.
            num_envs: Number of worlds.
            device: Where tensors lie.
        """

    def check(self, targets: Sequence[str]) -> None:
        """Raise if a value is impossible; called before the model is compiled."""

    def _add_actuators(self, spec: mujoco.MjSpec, targets: Sequence[str]) -> list[str]:
        self.check(targets)
        names = []
        for target in targets:
            actuator = new_actuator(spec, self, target)
            actuator.set_to_motor()
            names.append(actuator.name)
        return names


ExplicitPart = tuple[ExplicitActuatorCfg, Sequence[str]]
"""A configuration and the names of its targets."""


def per_world(
    values: Sequence[float | None],
    num_envs: int,
    device: torch.device,
    *,
    absent: float = float("inf"),
) -> torch.Tensor:
    """Return one row of values for each world, shape (num_envs, n), writable.

    Args:
        values: The values of one world.
        num_envs: Number of worlds.
        device: Where the tensor lies.
        absent: What stands for None.
    """
    row = [absent if value is None else value for value in values]
    return torch.tensor([row], dtype=torch.float32, device=device).repeat(num_envs, 1)

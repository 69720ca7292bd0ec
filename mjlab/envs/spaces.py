"""Observation and action spaces of an environment, as plain dataclasses.

`mjlab.gym` converts them to Gymnasium spaces.
"""

import math
from dataclasses import dataclass, field

import torch

from mjlab.managers import ManagedEnv


@dataclass(frozen=True)
class Box:
    """Tensor of a given shape, with bounds for each element."""

    shape: tuple[int, ...]
    """Shape of one world's value."""

    low: float | tuple[float, ...] = -math.inf
    """Lower bound, or lower bounds along the last dimension."""

    high: float | tuple[float, ...] = math.inf
    """Upper bound, or upper bounds along the last dimension."""

    dtype: str = "float32"
    """Data type, by NumPy name."""

    def batch(self, num: int) -> "Box":
        """Return the space of a batch of `num` worlds."""
        return Box((num, *self.shape), self.low, self.high, self.dtype)


@dataclass(frozen=True)
class Discrete:
    """Integer from 0 to n - 1, of type int64."""

    n: int
    """Number of choices."""


@dataclass(frozen=True)
class Dict:
    """Dictionary of spaces by name."""

    spaces: "dict[str, Box | Dict]" = field(default_factory=dict)
    """Spaces by name."""

    def batch(self, num: int) -> "Dict":
        """Return the space of a batch of `num` worlds."""
        return Dict({name: space.batch(num) for name, space in self.spaces.items()})


def observation_space(env: ManagedEnv) -> Dict:
    """Return the observation space of one world, by group."""
    return Dict(
        {
            name: _box(value)
            if isinstance(value, torch.Tensor)
            else Dict({term: _box(part) for term, part in value.items()})
            for name, value in env.observation_manager.output.items()
        }
    )


def action_space(env: ManagedEnv) -> Box:
    """Return the action space of one world. It is unbounded: terms clip the action."""
    return Box((env.action_manager.total_action_dim,))


def _box(value: torch.Tensor) -> Box:
    shape = tuple(value.shape[1:])
    if value.dtype == torch.uint8:
        return Box(shape, 0, 255, "uint8")
    return Box(shape)

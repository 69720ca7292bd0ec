"""What goes in and out of an environment, as plain records.

Gymnasium's own spaces are made from these where Gymnasium is wanted.
"""

import math
from dataclasses import dataclass, field

import torch

from mjlab.managers import ManagedEnv


@dataclass(frozen=True)
class Box:
    """A tensor of a shape, each number between two bounds."""

    shape: tuple[int, ...]
    """Shape of one world's value."""

    low: float | tuple[float, ...] = -math.inf
    """Smallest number, or that of each along the last dimension."""

    high: float | tuple[float, ...] = math.inf
    """Largest number, or that of each along the last dimension."""

    dtype: str = "float32"
    """Type of the numbers, by NumPy's name."""

    def batch(self, num: int) -> "Box":
        """Return the same for `num` worlds side by side."""
        return Box((num, *self.shape), self.low, self.high, self.dtype)


@dataclass(frozen=True)
class Discrete:
    """One of the whole numbers from 0 to below `n`, of type int64."""

    n: int
    """Number of choices."""


@dataclass(frozen=True)
class Dict:
    """Spaces by name."""

    spaces: "dict[str, Box | Dict]" = field(default_factory=dict)
    """The spaces."""

    def batch(self, num: int) -> "Dict":
        """Return the same for `num` worlds side by side."""
        return Dict({name: space.batch(num) for name, space in self.spaces.items()})


def observation_space(env: ManagedEnv) -> Dict:
    """Return the space of what one world observes, by group."""
    return Dict(
        {
            name: _box(value)
            if isinstance(value, torch.Tensor)
            else Dict({term: _box(part) for term, part in value.items()})
            for name, value in env.observation_manager.output.items()
        }
    )


def action_space(env: ManagedEnv) -> Box:
    """Return the space of one world's action, unbounded: terms clip what they take."""
    return Box((env.action_manager.total_action_dim,))


def _box(value: torch.Tensor) -> Box:
    shape = tuple(value.shape[1:])
    if value.dtype == torch.uint8:
        return Box(shape, 0, 255, "uint8")
    return Box(shape)

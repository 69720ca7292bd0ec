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

    low: float = -math.inf
    """Smallest number."""

    high: float = math.inf
    """Largest number."""

    dtype: str = "float32"
    """Type of the numbers, by NumPy's name."""

    def batch(self, num: int) -> "Box":
        """The same for `num` worlds side by side."""
        return Box((num, *self.shape), self.low, self.high, self.dtype)


@dataclass(frozen=True)
class Dict:
    """Spaces by name."""

    spaces: "dict[str, Box | Dict]" = field(default_factory=dict)
    """The spaces."""

    def batch(self, num: int) -> "Dict":
        """The same for `num` worlds side by side."""
        return Dict({name: space.batch(num) for name, space in self.spaces.items()})


def observation_space(env: ManagedEnv) -> Dict:
    """What one world observes, by group."""
    return Dict(
        {
            name: _box(value)
            if isinstance(value, torch.Tensor)
            else Dict({term: _box(part) for term, part in value.items()})
            for name, value in env.observation_manager.output.items()
        }
    )


def action_space(env: ManagedEnv) -> Box:
    """What one world takes. It is not bounded: terms clip what they make of it."""
    return Box((env.action_manager.total_action_dim,))


def _box(value: torch.Tensor) -> Box:
    shape = tuple(value.shape[1:])
    if value.dtype == torch.uint8:
        return Box(shape, 0, 255, "uint8")
    return Box(shape)

"""Physical meaning of numbers, and observation terms that are measured as a whole."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from mjlab.managers.managed_env import ManagedEnv

Term = TypeVar("Term")
Units = str | list[str] | None


@dataclass(frozen=True)
class Quantity:
    """Unit, frame and elements of a vector."""

    unit: Units = None
    """SI unit of all numbers, or of each; "1" for none. None if unknown."""

    frame: str | None = None
    """Body or site in whose axes the numbers are, or "world". None without axes."""

    elements: list[str] | None = None
    """Name of each number, such as a joint. None if unknown."""


Describe = Callable[[ManagedEnv, Mapping[str, Any]], Quantity]
"""Quantity of a term, from the environment and the term's parameters."""

MEASURED: dict[Any, Describe] = {}
"""Measured observation terms, by function."""


def measured(quantity: Quantity | Describe) -> Callable[[Term], Term]:
    """Declare that a robot measures the value of an observation term as a whole.

    An exported policy then takes the term's value as an input, instead of computing it.
    Use it for object poses, height scans and other values that do not follow from the
    robot's joints, root and sensors.

    Args:
        quantity: Quantity of the value, or a function that returns it.
    """

    def constant(env: ManagedEnv, params: Mapping[str, Any]) -> Quantity:
        assert isinstance(quantity, Quantity), "Functions are used as they are."
        return quantity

    describe = constant if isinstance(quantity, Quantity) else quantity

    def declare(term: Term) -> Term:
        MEASURED[term] = describe
        return term

    return declare

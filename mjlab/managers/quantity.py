"""Units and frames of observations, and observation terms that the robot measures."""

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
    """SI unit of all elements, or a list with one for each; "1" if dimensionless. None
    if unknown."""

    frame: str | None = None
    """Frame of the vector: a body, a site or "world". None if it has no frame."""

    elements: list[str] | None = None
    """Name of each element, such as a joint name. None if unknown."""


Describe = Callable[[ManagedEnv, Mapping[str, Any]], Quantity]
"""Function that returns the quantity of a term, given the environment and the term's
parameters."""

MEASURED: dict[Any, Describe] = {}
"""Quantities of the observation terms declared by `measured`, by function or class."""


def measured(quantity: Quantity | Describe) -> Callable[[Term], Term]:
    """Declare that the robot measures the value of an observation term directly.

    An exported policy then takes the term's value as an input, instead of computing it.
    Use it for object poses, height scans and other values that do not follow from the
    robot's joints, root and sensors.

    Args:
        quantity: Quantity of the value, or a function that returns it.
    """

    def constant(env: ManagedEnv, params: Mapping[str, Any]) -> Quantity:
        assert isinstance(quantity, Quantity), "A function is called directly."
        return quantity

    describe = constant if isinstance(quantity, Quantity) else quantity

    def declare(term: Term) -> Term:
        MEASURED[term] = describe
        return term

    return declare

"""Forms that tasks give their own terms, so that a policy's file can hold them.

A task's own term is a function of the environment, which no file has. Here a task says
of it what a file, or a robot, can make the same numbers from.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import torch

from mjlab.managers.managed_env import ManagedEnv

Term = TypeVar("Term")


@dataclass(frozen=True)
class TimedForm:
    """A value that follows from the time of an episode and a command, and no more."""

    command_name: str
    """The command."""

    value: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
    """From seconds (1,) and the command (1, n) to the value (1, m)."""


TIMED: dict[Any, Callable[[ManagedEnv, Any], TimedForm]] = {}
"""Forms of observation terms, by function, from their parameters, and of action terms,
by class, from the term; of these the form is what is added to the scaled action."""

Recipe = dict[str, Any]
"""A way to measure an input: `op`, and what it is done with. `mjlab_runner.py` does
it."""

MEASURED: dict[Any, Callable[[ManagedEnv, Mapping[str, Any]], Recipe]] = {}
"""Recipes of observation terms, by function, from their parameters."""


def timed(build: Callable[[ManagedEnv, Any], TimedForm]) -> Callable[[Term], Term]:
    """Declare that a term follows from time and command.

    Args:
        build: From the environment and the term's parameters, or the action term.
    """

    def declare(term: Term) -> Term:
        TIMED[term] = build
        return term

    return declare


def measured(
    build: Callable[[ManagedEnv, Mapping[str, Any]], Recipe],
) -> Callable[[Term], Term]:
    """Declare how a robot can measure an observation term.

    Args:
        build: From the environment and the term's parameters.
    """

    def declare(term: Term) -> Term:
        MEASURED[term] = build
        return term

    return declare

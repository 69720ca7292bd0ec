"""Named phases of a step or a reset, and hooks that run after them."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, Protocol, TypeVar

AfterPhase = Callable[[str], None]
"""Hook that is called with the name of each finished phase."""


class HasPhases(Protocol):
    """Interface of an object whose methods are marked as phases with `phase`."""

    after_phase: list[AfterPhase]
    """Hooks that run after each phase; empty if no observer or profile needs them."""


S = TypeVar("S", bound=HasPhases)
P = ParamSpec("P")
Phase = Callable[Concatenate[S, P], None]


def phase(name: str) -> Callable[[Phase[S, P]], Phase[S, P]]:
    """Mark a method as the phase `name`: hooks run after it."""

    def decorate(method: Phase[S, P]) -> Phase[S, P]:
        @wraps(method)
        def run_phase(self: S, *args: P.args, **kwargs: P.kwargs) -> None:
            method(self, *args, **kwargs)
            for hook in self.after_phase:
                hook(name)

        return run_phase

    return decorate

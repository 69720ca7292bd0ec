"""Finding terms that write the state where nothing may write it any more."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from mjlab.envs.patch import stand_in
from mjlab.managers import TermError
from mjlab.sim.fields import FORWARD_FIELDS

if TYPE_CHECKING:
    from mjlab.envs.env import ManagerBasedRlEnv


@contextmanager
def no_writes_after_forward(env: "ManagerBasedRlEnv") -> Iterator[None]:
    """Raise, naming the term, if one writes the state after `forward()`.

    Derived quantities of such a state would be old in the observations, and the next
    step would continue from stages that are not its own.
    """
    guard = _Guard(env)
    try:
        guard.watch()
        yield
    finally:
        guard.undo()


class _Guard:
    def __init__(self, env: "ManagerBasedRlEnv") -> None:
        self._env = env
        self._versions: tuple[int, ...] | None = None
        self._undo: list[Callable[[], None]] = []

    def watch(self) -> None:
        env = self._env
        self._after(env.scene, "refresh", self._arm)
        self._after(env.observation_manager, "compute", self._disarm)
        for name, command in env.command_manager.terms.items():
            for method in ("advance", "update"):
                self._after(command, method, lambda n=name: self._check("Command", n))
        for name, term in env.observation_manager.terms.items():
            self._after(term, "_call", lambda n=name: self._check("Observation", n))

    def undo(self) -> None:
        for restore in reversed(self._undo):
            restore()

    def _after(self, owner: Any, attribute: str, then: Callable[[], None]) -> None:
        original = getattr(owner, attribute)

        def call(*args: Any, **kwargs: Any) -> Any:
            result = original(*args, **kwargs)
            then()
            return result

        self._undo.append(stand_in(owner, attribute, call))

    def _arm(self) -> None:
        self._versions = self._present()

    def _disarm(self) -> None:
        self._versions = None

    def _check(self, kind: str, name: str) -> None:
        if self._versions is not None and self._present() != self._versions:
            raise TermError(
                f"{kind} term {name!r} wrote the state after forward(), so that what "
                "is derived from it would be old. Write it in an event; a command "
                "sets writes_state=True and writes it in _resample."
            )

    def _present(self) -> tuple[int, ...]:
        engine = self._env.sim.engine
        return tuple(engine.data(name)._version for name in FORWARD_FIELDS)

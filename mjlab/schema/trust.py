"""Decide what a file may name, and find it."""

import dataclasses
import enum
import functools
import inspect
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any

from mjlab.schema.declare import is_declared
from mjlab.schema.names import PUBLIC, ConfigFileError, find, name_of

TRUSTED = ("mjlab",)
"""Packages whose declared names a file may use."""

_SCRIPT = "__main__"
"""The program that runs, which is no package that a file could have imported."""


class Trust:
    """The closed list of what a file may name.

    What is declared in the trusted packages, and besides, where the file's task is
    known, what the configurations of that task hold now: a function of one's own needs
    no declaration.
    """

    def __init__(
        self,
        packages: Collection[str] | None = TRUSTED,
        *,
        configs: Callable[[], Iterable[Any]] = tuple,
        task: str | None = None,
        tasks: Mapping[str, Collection[str]] | None = None,
    ) -> None:
        """Draw up the list.

        Args:
            packages: Top-level packages. None trusts whatever a file names, as is right
                only where this process made it.
            configs: Makes the configurations of the file's task.
            task: The id of that task.
            tasks: Ids of all tasks by package, for errors.
        """
        self.packages = None if packages is None else tuple(sorted(packages))
        self._configs = configs
        self._task = task
        self._tasks = tasks or {}

    @functools.cached_property
    def _held(self) -> dict[str, Any]:
        """Classes and functions that the task's configurations hold, by name."""
        held: dict[str, Any] = {}
        for value in _named_in(tuple(self._configs())):
            try:
                held[name_of(value, "")] = value
            except ConfigFileError:
                continue  # It has no name that a file could say.
        return held

    def find(self, text: Any, path: str) -> Any:
        """Return the class or function called `module:name`, if it may be named.

        Args:
            text: The name.
            path: Where the file says it, for errors.
        """
        found = self._find_declared(text, path)
        if found is None:
            found = self._find_held(text, path)
        if found is None:
            raise ConfigFileError(f"{path} names {text!r}. {self._refusal(text)}")
        return found

    def find_bindable(self, text: Any, path: str) -> Any:
        """Return it if a file may bind arguments of its own to it.

        What a task holds without a declaration is out: it was written for the
        arguments that the task gives it.
        """
        found = self._find_declared(text, path)
        if found is None:
            raise ConfigFileError(
                f"{path} binds arguments to {text!r}, which is not declared. Mark the "
                "function with `mjlab.schema.declared`, if it is harmless whatever a "
                "file gives it."
            )
        return found

    def trusts_package(self, name: Any) -> bool:
        """Tell if a file may name a package, or one within it, for a path in there."""
        if self.packages is None or not isinstance(name, str):
            return self.packages is None
        is_public = PUBLIC.fullmatch(f"{name}:x") is not None
        return is_public and _package(name) in self.packages

    def _find_declared(self, text: Any, path: str) -> Any:
        if not isinstance(text, str) or ":" not in text:
            raise ConfigFileError(f"{path} is {text!r}, which is no `module:name`.")
        if self.packages is None:
            return _import(text, path)
        if not self._may_import(text):
            return None
        found = _import(text, path)
        return found if is_declared(found) and self._defines(found) else None

    def _find_held(self, text: str, path: str) -> Any:
        """Return what the task holds by this name, or by another name of it."""
        if text in self._held:
            return self._held[text]
        found = _import(text, path) if self._may_import(text) else None
        return found if any(found is each for each in self._held.values()) else None

    def _may_import(self, text: str) -> bool:
        package = _package(text)
        is_public = PUBLIC.fullmatch(text) is not None
        return package == _SCRIPT or (package in (self.packages or ()) and is_public)

    def _defines(self, value: Any) -> bool:
        """Tell if it is of a trusted package, and not of what that imports."""
        return _package(value.__module__) in (*(self.packages or ()), _SCRIPT)

    def _refusal(self, text: str) -> str:
        package = _package(text)
        assert self.packages is not None
        if package not in self.packages:
            return (
                f"Only what is defined in {', '.join(self.packages)} is trusted; if "
                "you know where the file comes from, trust the package "
                f"{package!r} as well."
            )
        rule = "A file names configurations, terms and models that are declared as such"
        if self._task is not None:
            return f"{rule}, and what its task {self._task!r} holds; this is neither."
        if package in TRUSTED:
            return f"{rule}; this is none of them."
        ids = " or ".join(map(repr, self._tasks.get(package, ())))
        which = f": {ids}" if ids else ", which has to be registered"
        return f"{rule}. A function of your own is read only with its task{which}."


def _package(name: str) -> str:
    return name.partition(":")[0].partition(".")[0]


def _import(text: str, path: str) -> Any:
    try:
        return find(text)
    except (ImportError, AttributeError) as error:
        raise ConfigFileError(f"{path} names {text!r}: {error}.") from error


def _named_in(value: Any) -> Iterator[Any]:
    """Yield the classes and functions that a configuration would be written with."""
    if isinstance(value, type) or inspect.isroutine(value):
        yield value
    elif isinstance(value, functools.partial):
        yield value.func
        yield from _named_in((value.args, value.keywords))
    elif isinstance(value, enum.Enum):
        yield type(value)
    elif dataclasses.is_dataclass(value):
        yield type(value)
        fields = dataclasses.fields(value)
        yield from _named_in([getattr(value, field.name) for field in fields])
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _named_in(item)
    elif isinstance(value, tuple | list | set | frozenset):
        if type(value).__module__ != "builtins":
            yield type(value)
        for item in value:
            yield from _named_in(item)

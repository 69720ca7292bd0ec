"""Declare what files may name.

A file may name classes and functions of three kinds, and no others:

- Configurations: dataclasses called `...Cfg`, and records that are marked `@declared`.
- Terms: functions whose first parameter is `env`, and classes that are made from
  `cfg` and `env`, of a module that ends with `declare_terms(__name__)`.
- Models: functions that return a spec, marked `@declared`.
"""

import dataclasses
import inspect
import sys
from typing import Any, TypeVar

T = TypeVar("T")

_DECLARED: set[Any] = set()
_TERM_MODULES: dict[str, str] = {}
"""Modules that declare terms, each with the package that it speaks for."""


def declared(value: T) -> T:
    """Let files name a record, a model or a term.

    A function that is declared has to be harmless whatever arguments a file gives it.
    """
    _DECLARED.add(value)
    return value


def declare_terms(module: str) -> None:
    """Let files name the public terms of a module and of its package, as it ends."""
    package = sys.modules[module].__package__ or module
    _TERM_MODULES[module] = package
    for name, value in vars(sys.modules[module]).items():
        if not name.startswith("_") and is_term(value):
            if f"{value.__module__}.".startswith(f"{package}."):
                _DECLARED.add(value)


def public_modules(module: str) -> list[str]:
    """Modules that may give out what another one defines, in no order.

    They are the packages that it is in, and those modules of them that declare terms.
    """
    parts = module.split(".")
    packages = {".".join(parts[:end]) for end in range(1, len(parts))}
    speakers = {at for at, package in _TERM_MODULES.items() if package in packages}
    return sorted(packages | speakers)


def is_declared(value: Any) -> bool:
    """Tell if files may name it."""
    return is_config(value) or (
        (inspect.isroutine(value) or _is_class(value)) and (value in _DECLARED)
    )


def is_config(value: Any) -> bool:
    """Tell if it is a dataclass that is called a configuration."""
    is_record = dataclasses.is_dataclass(value)
    return _is_class(value) and is_record and value.__name__.endswith("Cfg")


def is_term(value: Any) -> bool:
    """Tell if it is a function of an environment, or a class bound to one."""
    if inspect.isfunction(value):
        return next(iter(inspect.signature(value).parameters), None) == "env"
    if not _is_class(value):
        return False
    return list(inspect.signature(value.__init__).parameters) == ["self", "cfg", "env"]


def _is_class(value: Any) -> bool:
    return isinstance(value, type)

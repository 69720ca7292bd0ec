"""The base of every configuration: a slip in a name is refused where it is made."""

import inspect
from abc import ABCMeta
from dataclasses import fields, is_dataclass
from typing import Any, Self

from mjlab.names import suggest


class _FirstByPosition(ABCMeta):
    """Takes a single positional argument as the first field."""

    def __call__(cls, *args: Any, **settings: Any) -> Any:
        """Make a configuration; its first field needs no name."""
        if len(args) == 1 and is_dataclass(cls) and fields(cls):
            settings, args = {fields(cls)[0].name: args[0], **settings}, ()
        return super().__call__(*args, **settings)


class Config(metaclass=_FirstByPosition):
    """A dataclass of settings, which has the names that it declares and no others.

    Python itself keeps `cfg.scene.num_env = 3` as an attribute that nobody reads, and
    a subclass without an annotation or the decorator goes on with its base's values.
    """

    def __init_subclass__(cls, **more: Any) -> None:
        """Refuse values of known fields that bear no type."""
        super().__init_subclass__(**more)
        given = vars(cls).keys() & _fields(cls) - inspect.get_annotations(cls).keys()
        for name in sorted(given):
            if not callable(vars(cls)[name]) and not isinstance(
                vars(cls)[name], property
            ):
                raise TypeError(
                    f"{cls.__name__}.{name} would stay as it is in its base, because "
                    f"it has no type: write `{name}: TYPE = {vars(cls)[name]!r}`."
                )

    def __new__(cls, *_: Any, **settings: Any) -> Self:
        """Refuse unknown settings, and a class of which nobody made a dataclass."""
        new = inspect.get_annotations(cls)
        has_fields = any("ClassVar" not in str(kind) for kind in new.values())
        is_decorated = "__dataclass_fields__" in vars(cls)
        if (has_fields or "__post_init__" in vars(cls)) and not is_decorated:
            raise TypeError(
                f"{cls.__name__} has fields or a __post_init__ of its own, but is no "
                "dataclass: write @dataclass(kw_only=True) above it."
            )
        for name in settings:
            if name not in _fields(cls):
                raise TypeError(_unknown(cls, name))
        return super().__new__(cls)

    def __setattr__(self, name: str, value: Any) -> None:
        """Set a field, or a private attribute."""
        cls, known = type(self), _fields(type(self))
        if name not in known and name[0] != "_" and name not in dir(cls):
            raise AttributeError(_unknown(cls, name))
        super().__setattr__(name, value)


def _fields(cls: type) -> set[str]:
    return {f.name for f in fields(cls)} if is_dataclass(cls) else set()


def _unknown(cls: type, name: str) -> str:
    return (
        f"{cls.__name__} has no field {name!r}. {suggest(name, sorted(_fields(cls)))}"
    )

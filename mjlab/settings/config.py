"""`Config`, the base class of all configurations.

    class VelocityG1FlatCfg(VelocityG1Cfg):
        episode_length_s = 20.0
        rewards = {**VelocityG1Cfg.rewards, "alive": RewardTermCfg(func=mdp.is_alive)}

Every subclass is a keyword-only dataclass, with or without the decorator.
"""

import copy
import dataclasses
import functools
import inspect
from abc import ABCMeta
from dataclasses import MISSING, Field, field
from typing import Any, dataclass_transform

from mjlab.names import suggest

_FIELDS = "__dataclass_fields__"
_OWN_ANNOTATIONS = "_own_annotations"
_DESCRIPTORS = (property, staticmethod, classmethod, functools.cached_property)


class _ConfigType(ABCMeta):
    """Turns each subclass into a dataclass at its first use, and copies defaults.

    This does not happen at class creation, because a `@dataclass` decorator runs later.
    """

    def __getattribute__(cls, name: str) -> Any:
        """Return an attribute of the class. Mutable defaults are copied."""
        if name == _FIELDS:
            _make_dataclass(cls)
        value = super().__getattribute__(name)
        if name[0] != "_" and _is_mutable(value):
            return copy.deepcopy(value)
        return value

    def __getattr__(cls, name: str) -> Any:
        """Return a new default value of a field that has a default factory."""
        is_made = _FIELDS in vars(cls)
        known = _fields(cls) if is_made else _inherited(cls)
        is_own = not is_made and name in inspect.get_annotations(cls)
        factory = known[name].default_factory if name in known else MISSING
        if is_own or factory is MISSING:
            raise AttributeError(f"{cls.__name__} has no attribute {name!r}.")
        return factory()

    def __call__(cls, *args: Any, **settings: Any) -> Any:
        """Create a configuration."""
        _make_dataclass(cls)
        for name in settings:
            if name not in _fields(cls):
                raise TypeError(_unknown(cls, name))
        return super().__call__(*args, **settings)


@dataclass_transform(kw_only_default=True, field_specifiers=(field,))
class Config(metaclass=_ConfigType):
    """Keyword-only dataclass that accepts only the fields it declares.

    A class attribute without an annotation is a new default of an inherited field.
    Mutable defaults (dictionaries, lists, configurations) are copied for each instance.
    Reading a mutable default from the class, as in `{**Base.rewards}`, also returns a
    copy, so writing into `Base.rewards` changes nothing. `__post_init__` can change
    fields. It must be safe to run twice, because `dataclasses.replace` calls it on each
    changed copy.
    """

    def __init_subclass__(cls, **more: Any) -> None:
        """Check the class attributes, and collect new defaults."""
        super().__init_subclass__(**more)
        inherited = _inherited(cls)
        own = inspect.get_annotations(cls)
        defaults = {}
        for name, value in vars(cls).items():
            if name in own or name[0] == "_":
                continue
            if name in inherited:
                defaults[name] = inherited[name].type
            elif not _is_no_field(cls, name, value):
                raise TypeError(_unknown(cls, name, inherited))
        if defaults:
            # For `dataclass`; `_make_dataclass` removes them again, because an
            # inherited annotation can use names that only the base's module imports.
            setattr(cls, _OWN_ANNOTATIONS, own)
            cls.__annotations__ = own | defaults

    def __setattr__(self, name: str, value: Any) -> None:
        """Set a field, or a private attribute."""
        cls = type(self)
        if name not in _fields(cls) and name[0] != "_" and name not in dir(cls):
            raise AttributeError(_unknown(cls, name))
        super().__setattr__(name, value)


def _make_dataclass(cls: Any) -> None:
    """Turn a subclass without the decorator into a dataclass."""
    known = vars(cls)
    if _FIELDS not in known:
        for name in inspect.get_annotations(cls):
            if name in known and _is_mutable(known[name]):
                setattr(cls, name, _copied(known[name]))
        dataclasses.dataclass(kw_only=True)(cls)
    if _OWN_ANNOTATIONS in known:
        cls.__annotations__ = known[_OWN_ANNOTATIONS]
        delattr(cls, _OWN_ANNOTATIONS)


def _copied(value: Any) -> Any:
    return field(default_factory=lambda: copy.deepcopy(value))


def _is_mutable(value: Any) -> bool:
    """Return True for a value that `dataclass` refuses as a default."""
    return type(value).__hash__ is None


def _is_no_field(cls: type, name: str, value: Any) -> bool:
    """Return True for a method, a property, a class, or a variable of a base class."""
    bases = cls.__mro__[1:]
    declared = [{*vars(base), *inspect.get_annotations(base)} for base in bases]
    is_known = any(name in names for names in declared)
    is_method = callable(value) or isinstance(value, _DESCRIPTORS)
    return is_known or is_method


def _inherited(cls: type) -> dict[str, Field]:
    """Return the fields of the bases by name."""
    found: dict[str, Field] = {}
    for base in reversed(cls.__mro__[1:]):
        found |= _fields(base)
    return found


def _fields(cls: Any) -> dict[str, Field]:
    """Return the fields of a dataclass by name, without class variables."""
    if not dataclasses.is_dataclass(cls):
        return {}
    return {each.name: each for each in dataclasses.fields(cls)}


def _unknown(cls: type, name: str, known: Any = None) -> str:
    # Imported here: only errors need the tables.
    from mjlab.settings.mjlab_1_6 import MJLAB

    row = MJLAB.field([base.__name__ for base in cls.__mro__], name)
    if row is not None:
        return f"{cls.__name__} has no field {name!r} of mjlab 1.6: {row.text()}."
    fields = _fields(cls) if known is None else known
    return f"{cls.__name__} has no field {name!r}. {suggest(name, sorted(fields))}"

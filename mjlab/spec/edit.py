"""Base class of spec edits."""

import abc
from collections.abc import Sequence
from typing import Any

import mujoco

from mjlab.names import find_name, match_names
from mjlab.settings import Config

Patterns = str | tuple[str, ...]
"""One or several regular expressions that must match complete names."""

_IN_BODIES = ("body", "joint", "geom", "site", "camera", "light")


class SpecPart:
    """Subtree of one root body of a spec, for edits restricted to it."""

    def __init__(self, spec: mujoco.MjSpec, root: Any) -> None:
        self.spec, self.root = spec, root
        inner = {kind: root.find_all(kind) for kind in _IN_BODIES}
        self.bodies = [root, *inner.pop("body")]
        self.joints, self.geoms = inner["joint"], inner["geom"]
        self.sites, self.cameras, self.lights = map(inner.get, _IN_BODIES[3:])
        ids = {(type(e), e.name) for elements in inner.values() for e in elements}
        self.tendons = [
            tendon
            for tendon in spec.tendons
            if all(
                (type(wrap.target), wrap.target.name) in ids
                for wrap in tendon.path
                if wrap.target is not None
            )
        ]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.spec, name)


class SpecEditCfg(Config, abc.ABC):
    """Base class of edits of a spec. The elements that an edit names must exist."""

    @abc.abstractmethod
    def edit(self, spec: mujoco.MjSpec) -> None:
        """Edit `spec` in place."""


def apply_edits(spec: mujoco.MjSpec, edits: Sequence[SpecEditCfg]) -> None:
    """Apply edits to `spec` in place, in the given order."""
    for edit in edits:
        edit.edit(spec)


def match_indices(
    elements: Sequence[Any], patterns: Patterns, *, what: str, spec: mujoco.MjSpec
) -> list[int]:
    """Return the list indices of the elements whose names match.

    An unnamed element has the name "". List indices are needed, because the `id` of an
    unnamed element is not unique before compilation.
    """
    names = [element.name for element in elements]
    return match_names(patterns, names, what=what, owner=spec.modelname)


def match_elements(
    elements: Sequence[Any], patterns: Patterns, *, what: str, spec: mujoco.MjSpec
) -> list[Any]:
    """Return the elements whose names match; an unnamed element has the name ""."""
    found = match_indices(elements, patterns, what=what, spec=spec)
    return [elements[index] for index in found]


def find_body(spec: mujoco.MjSpec, name: str | None) -> Any:
    """Return a body by name, the world body for "world" and None."""
    if name is None or name == "world":
        return spec.worldbody
    names = [body.name for body in spec.bodies]
    return spec.bodies[find_name(name, names, what="body", owner=spec.modelname)]


def check_new(name: str, elements: Sequence[Any], *, what: str) -> None:
    """Raise an error if the spec already has an element of this name."""
    if name in [element.name for element in elements]:
        raise ValueError(
            f"The spec already has a {what} {name!r}; choose another name."
        )


def write_attribute(element: Any, attribute: str, value: Any) -> None:
    """Set one attribute of an element.

    A number or a short tuple sets the leading entries of a vector; the others are
    unchanged.
    """
    vector = getattr(element, attribute)
    if isinstance(vector, bool | int | float | str):
        setattr(element, attribute, value)
        return
    entries = (value,) if isinstance(value, int | float) else tuple(value)
    if len(entries) > len(vector):
        raise ValueError(
            f"{attribute} has at most {len(vector)} entries, not {len(entries)} as in "
            f"{value}."
        )
    vector[: len(entries)] = entries

"""Edits of contact parameters and collision filters."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import mujoco

from mjlab.names import resolve_values
from mjlab.spec.edit import (
    Patterns,
    SpecEditCfg,
    match_elements,
    match_indices,
    write_attribute,
)

ByName = dict[str, int]
IntValue = int | ByName
FloatValue = float | dict[str, float]
VectorValue = float | tuple[float, ...] | dict[str, float | tuple[float, ...]]


class _ContactParameters(SpecEditCfg):
    """Base class of edits of contact parameters; None leaves a parameter unchanged."""

    geom_names: Patterns
    """Patterns of the edited geoms. An unnamed geom has the name ""."""

    friction: VectorValue | None = None
    """Sliding, torsional and rolling friction, or only the first of these values; None
    leaves it unchanged."""

    solref: VectorValue | None = None
    """Reference of the constraint: (timeconst, dampratio); None leaves it unchanged."""

    solimp: VectorValue | None = None
    """Impedance of the constraint: (dmin, dmax, width, midpoint, power); None leaves it
    unchanged."""

    margin: FloatValue | None = None
    """Distance below which contacts are detected, in metres; None leaves it
    unchanged."""

    gap: FloatValue | None = None
    """Part of the margin in which contacts exert no force, in metres; None leaves it
    unchanged."""

    solmix: FloatValue | None = None
    """Weight of this geom when two geoms' parameters are mixed; None leaves it
    unchanged."""

    _covering: ClassVar[tuple[str, ...]] = ()
    """Attributes for which a dictionary must cover every edited geom."""

    def _write(self, spec: mujoco.MjSpec, geoms: Sequence[Any], name: str) -> None:
        """Write the configured attributes to geoms of the spec."""
        values = getattr(self, name)
        if values is None:
            return
        _check_entries(name, values)
        resolved = resolve_values(
            values,
            [geom.name for geom in geoms],
            what=f"geom (for {name})",
            owner=spec.modelname,
            required=name in self._covering,
        )
        for geom, value in zip(geoms, resolved, strict=True):
            if value is not None:
                write_attribute(geom, name, value)


_OPTIONAL = ("friction", "solref", "solimp", "margin", "gap", "solmix")
_MASKS = ("contype", "conaffinity", "condim", "priority")


class CollisionCfg(_ContactParameters):
    """Sets which geoms of a model collide, and with which parameters.

    A dictionary gives values by pattern of geom names. For `contype`, `conaffinity`,
    `condim` and `priority` the patterns must cover every edited geom.
    """

    contype: IntValue = 1
    """Contact types of the geom, as a bit mask (`contype`)."""

    conaffinity: IntValue = 1
    """Contact types with which the geom collides, as a bit mask (`conaffinity`)."""

    condim: IntValue = 3
    """Dimension of the contact: 1, 3, 4 or 6."""

    priority: IntValue = 0
    """Priority of the geom. A contact has the parameters of the geom with the higher
    priority."""

    disable_other_geoms: bool = True
    """Disable collisions of all other geoms."""

    _covering = _MASKS

    def edit(self, spec: mujoco.MjSpec) -> None:
        chosen = match_indices(spec.geoms, self.geom_names, what="geom", spec=spec)
        geoms = [spec.geoms[index] for index in chosen]
        for attribute in (*_MASKS, *_OPTIONAL):
            self._write(spec, geoms, attribute)
        if not self.disable_other_geoms:
            return
        for index, geom in enumerate(spec.geoms):
            if index not in chosen:
                geom.contype = geom.conaffinity = 0


class GeomCfg(_ContactParameters):
    """Changes single contact parameters of some geoms.

    A dictionary gives values by pattern of geom names.
    """

    contype: IntValue | None = None
    """Bit mask of the geom's contact types; None leaves it unchanged."""

    conaffinity: IntValue | None = None
    """Bit mask of the contact types with which the geom collides; None leaves it
    unchanged."""

    condim: IntValue | None = None
    """Dimension of the contact, 1, 3, 4 or 6; None leaves it unchanged."""

    priority: IntValue | None = None
    """Priority of the geom; a contact has the parameters of the geom with the higher
    priority. None leaves it unchanged."""

    group: IntValue | None = None
    """Group of the geom, for rays and rendering; None leaves it unchanged."""

    rgba: tuple[float, ...] | dict[str, tuple[float, ...]] | None = None
    """Colour of the geom; None leaves it unchanged."""

    def edit(self, spec: mujoco.MjSpec) -> None:
        geoms = match_elements(spec.geoms, self.geom_names, what="geom", spec=spec)
        for attribute in (*_MASKS, *_OPTIONAL, "group", "rgba"):
            self._write(spec, geoms, attribute)


def _check_entries(attribute: str, values: Any) -> None:
    listed = values.values() if isinstance(values, Mapping) else (values,)
    for value in listed:
        if attribute == "condim" and value not in (1, 3, 4, 6):
            raise ValueError(f"condim={value} has to be 1, 3, 4 or 6.")
        if attribute in ("contype", "conaffinity") and value < 0:
            raise ValueError(f"{attribute}={value} has to be a bit mask, 0 or more.")

"""From declared pairs of things that touch to contact sensors."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import mujoco

from mjlab.names import match_names
from mjlab.scene.config import ContactPairCfg
from mjlab.sensor import ContactMatch, ContactSensorCfg

PairKey = tuple[str, str | None]
"""Names of two bodies or entities; None stands for whatever the first one touches."""


class ContactPairError(ValueError):
    """A pair between which no contact can be measured."""


@dataclass(frozen=True)
class ContactPair:
    """One pair, and the sensor that measures it."""

    first: str
    """Name of a body or an entity."""

    second: str | None
    """Name of its partner; None stands for whatever it touches."""

    sensor: ContactSensorCfg
    """Measures the sum of the forces on the partner, in the world frame."""


def build_pairs(
    cfgs: Sequence[ContactPairCfg],
    spec: mujoco.MjSpec,
    groups: Mapping[str, Sequence[str]],
) -> tuple[ContactPair, ...]:
    """Add a sensor to the spec for each pair of names that the patterns match.

    Args:
        cfgs: The pairs.
        spec: The scene with its entities, edited in place.
        groups: Entities that stand for one in different worlds, by the name of that.
    """
    found: dict[tuple[str, str | None], ContactPair] = {}
    for cfg in cfgs:
        pairs = _pairs_of(cfg, spec, groups)
        for first, second in pairs:
            reverse = (second, first) in found
            if (first, second) not in found and not reverse:
                found[first, second] = _pair(first, second, spec)
    for pair in found.values():
        pair.sensor.edit_spec(spec)
    return tuple(found.values())


def _pairs_of(
    cfg: ContactPairCfg, spec: mujoco.MjSpec, groups: Mapping[str, Sequence[str]]
) -> list[tuple[str, str | None]]:
    firsts = _matched(cfg.first, spec, groups)
    if cfg.second is None:
        return [(first, None) for first in firsts]
    seconds = _matched(cfg.second, spec, groups)
    pairs = [(a, b) for a in firsts for b in seconds if a != b]
    if not pairs:
        raise ContactPairError(
            f"ContactPairCfg(first={cfg.first!r}, second={cfg.second!r}) matches "
            f"{firsts[0]!r} on both sides; a thing has no contact with itself."
        )
    for first, second in pairs:
        if second.split("/")[0] == first or first.split("/")[0] == second:
            raise ContactPairError(
                f"The pair of {first!r} and {second!r} is of a thing and a part of it; "
                "name two bodies."
            )
    return list(pairs)


def _matched(
    patterns: str | tuple[str, ...],
    spec: mujoco.MjSpec,
    groups: Mapping[str, Sequence[str]],
) -> list[str]:
    """Names that patterns match: with a slash those of bodies, without it the others.

    So `cube.*` means the entities cube_1 and cube_2 and not their bodies as well.
    """
    bodies = [body.name for body in spec.bodies if body.name]
    entities = dict.fromkeys(n.split("/")[0] for n in bodies if "/" in n)
    whole = [*groups, *entities, *(name for name in bodies if "/" not in name)]
    parts = [name for name in bodies if "/" in name]
    listed = [patterns] if isinstance(patterns, str) else list(patterns)
    what = "body or entity"
    names: dict[str, None] = {}
    for pattern in listed:
        pool = parts if "/" in pattern else whole
        for index in match_names(pattern, pool, what=what, owner="scene"):
            names |= dict.fromkeys(groups.get(pool[index], [pool[index]]))
    return list(names)


def _pair(first: str, second: str | None, spec: mujoco.MjSpec) -> ContactPair:
    # With nothing on the other side, contacts between two links of one entity would
    # count for one of them only; so each link is measured, and the sum taken.
    primary = _links(first, spec) if second is None else _match(first, spec)
    sensor = ContactSensorCfg(
        name=f"contact_force({first}, {second or 'anything'})",
        primary=primary,
        secondary=None if second is None else _match(second, spec),
        fields=("force",),
        reduce="netforce",
    )
    return ContactPair(first, second, sensor)


def _match(name: str, spec: mujoco.MjSpec) -> ContactMatch:
    """Match a body alone, or an entity from its root body on."""
    if any(body.name == name for body in spec.bodies):
        return ContactMatch(mode="body", pattern=re.escape(name))
    roots = [b.name for b in spec.worldbody.bodies if b.name.startswith(f"{name}/")]
    return ContactMatch(mode="subtree", pattern=re.escape(roots[0]))


def _links(name: str, spec: mujoco.MjSpec) -> ContactMatch:
    """Match a body, or all bodies of an entity that can touch something."""
    if any(body.name == name for body in spec.bodies):
        return ContactMatch(mode="body", pattern=re.escape(name))
    links = [b.name for b in spec.bodies if b.name.startswith(f"{name}/") and b.geoms]
    if not links:
        raise ContactPairError(
            f"The entity {name!r} has no body with a geom, so nothing can touch it."
        )
    return ContactMatch(mode="body", pattern=tuple(map(re.escape, links)))

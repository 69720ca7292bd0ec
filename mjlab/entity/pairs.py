"""Contacts that a fixed base would lose by becoming a mocap body."""

import itertools
from typing import Any

import mujoco
import numpy as np

_TINY = 1e-15  # Where MuJoCo takes a weight for zero (mjMINVAL).


def restore_contacts(spec: mujoco.MjSpec, base: list[Any]) -> None:
    """Name the pairs of geoms that collide only while the base is fixed to the world.

    MuJoCo never collides a body with its parent, except where the parent is fixed to
    the world. A mocap body is not, so the contacts between the base and the links that
    hang in it by a joint have to be asked for.

    Args:
        spec: Edited in place. Its geoms must have names.
        base: The bodies of the base.
    """
    links = [child for body in base for child in body.bodies if child.joints]
    moving = [body for link in links for body in welded(link)]
    excluded = {frozenset((e.bodyname1, e.bodyname2)) for e in spec.excludes}
    paired = {frozenset((p.geomname1, p.geomname2)) for p in spec.pairs}
    pairs = itertools.product(_geoms_of(base), _geoms_of(moving))
    for one, two in pairs:
        bodies = frozenset((one.parent.name, two.parent.name))
        if bodies in excluded or frozenset((one.name, two.name)) in paired:
            continue
        if one.contype & two.conaffinity or two.contype & one.conaffinity:
            _add_pair(spec, one, two)


def welded(body: Any) -> list[Any]:
    """Return the bodies that move as one with a body, itself first."""
    children = [child for child in body.bodies if not child.joints]
    return [body, *(inner for child in children for inner in welded(child))]


def _geoms_of(bodies: list[Any]) -> list[Any]:
    return [geom for body in bodies for geom in body.geoms]


def _add_pair(spec: mujoco.MjSpec, one: Any, two: Any) -> None:
    """Name one pair, with the parameters MuJoCo would mix from its geoms.

    The rules are those of MuJoCo's documentation, "Contact parameters": the geom of
    higher priority decides; else friction and dimension are the larger ones, and the
    solver's parameters are averaged by weight.
    """
    decides = [geom for geom in (one, two) if geom.priority == _top(one, two)]
    slide, spin, roll = np.max([geom.friction for geom in decides], axis=0)
    share = _share(one, two)
    solref = np.array([one.solref, two.solref])
    timed = bool(np.all(solref[:, 0] > 0.0))
    spec.add_pair(
        name=f"{one.name}+{two.name}",
        geomname1=one.name,
        geomname2=two.name,
        condim=max(geom.condim for geom in decides),
        friction=[slide, slide, spin, roll, roll],
        solref=share @ solref if timed else solref.min(axis=0),
        solreffriction=[0.0, 0.0],
        solimp=share @ np.array([one.solimp, two.solimp]),
        margin=one.margin + two.margin,
        gap=one.gap + two.gap,
        adhesion=sum(geom.adhesion for geom in decides),
    )


def _top(one: Any, two: Any) -> int:
    return max(one.priority, two.priority)


def _share(one: Any, two: Any) -> np.ndarray:
    """Return how much each geom counts in the average, shape (2,)."""
    if one.priority != two.priority:
        decides = one.priority > two.priority
        return np.array([float(decides), float(not decides)])
    weights = np.array([one.solmix, two.solmix])
    weights[weights < _TINY] = 0.0
    return weights / weights.sum() if weights.any() else np.array([0.5, 0.5])

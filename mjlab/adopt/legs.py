"""Find the legs of a robot, their feet and soles."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import mujoco
import numpy as np

from mjlab.adopt.notes import AdoptError, Notes, listed
from mjlab.adopt.shape import Posed
from mjlab.names import suggest

_NEAR_GROUND = 0.2
"""Largest height of a foot above the robot's lowest point, as a fraction of the robot's
height."""

_SOLE = 0.004
"""Points of a foot up to this height above its lowest point belong to the sole, m."""

_FLAT = 0.015
"""Smallest width of a flat sole, m."""

_TURNS = np.radians(np.arange(-60.0, 61.0, 1.0))
"""Rotations about the ankle that are tried to level a sole, rad."""


@dataclass(frozen=True, kw_only=True)
class Leg:
    """Foot, sole and joints of a leg."""

    foot: str
    """Body of the foot."""

    joints: tuple[str, ...]
    """Joints that move only this leg, from the base to the foot."""

    geoms: tuple[str, ...]
    """Geoms that touch the ground."""

    sole: tuple[float, float, float]
    """Centre of the sole in the frame of the foot's body, m."""

    normal: tuple[float, float, float]
    """Unit vector that points up if the sole is level, in the frame of the foot's
    body."""

    flat: bool
    """Whether the sole is an area, which can be level, instead of a point or a line."""

    flexion: tuple[str, ...]
    """Joints with parallel axes that bend the leg: hip, knee and perhaps ankle."""

    side: int
    """Side of the robot: 1 left, -1 right, 0 middle."""

    clock: int = 0
    """Half of the stride in which the foot steps, 0 or 1."""


def find_legs(posed: Posed, notes: Notes, feet: Sequence[str] = ()) -> list[Leg]:
    """Find the legs, from front to hind, and left before right.

    A leg is a chain of joints that ends near the lowest point of the robot in the
    current pose.

    Args:
        posed: Robot in its reference pose.
        notes: Receives findings.
        feet: Foot bodies that the user names. If empty, feet are found by their height.

    Raises:
        AdoptError: If there are fewer than two feet, or a leg has fewer than two
            joints or a ball joint.
    """
    model = posed.model
    tips = _tips(model)
    names = {model.body(tip).name: tip for tip in tips}
    if feet:
        for name in feet:
            if name not in names:
                raise AdoptError(
                    f"--feet: {name!r} is not the last moving body of a chain. "
                    f"{suggest(name, list(names))}"
                )
        chosen = [names[name] for name in feet]
    else:
        chosen = _near_ground(posed, tips)
    if len(chosen) < 2:
        raise AdoptError(_too_few(model, tips, len(chosen)))
    legs = [_leg(posed, tip) for tip in chosen]
    short = [leg.foot for leg in legs if len(leg.joints) < 2]
    if short:
        raise AdoptError(
            f"The leg of {listed(short)} has fewer than two joints, so the foot "
            "cannot be lifted. Wheels and linear feet are not supported."
        )
    legs = _with_clock(posed, legs)
    notes.findings.append(
        f"{len(legs)} legs with {' and '.join(_counts(legs))} joints each; feet "
        f"{listed([leg.foot for leg in legs], 8)} (--feet)."
    )
    return legs


def _too_few(model: mujoco.MjModel, tips: Sequence[int], number: int) -> str:
    """Return the error message for a robot with fewer than two feet."""
    bare = [model.body(tip).name for tip in tips if not welded_geoms(model, tip)]
    if bare:
        return (
            f"{listed(bare)} has no geom, so it cannot touch the ground. If it is a "
            "foot, add a sphere or a box to it in the file."
        )
    names = listed([model.body(tip).name for tip in tips])
    return (
        f"Found {number} {'foot' if number == 1 else 'feet'}; a walking robot needs at "
        f"least two. Chains of joints end at: {names or 'no body'}. Name the feet: "
        "--feet BODY BODY."
    )


def _counts(legs: Sequence[Leg]) -> list[str]:
    return [str(number) for number in sorted({len(leg.joints) for leg in legs})]


def _tips(model: mujoco.MjModel) -> list[int]:
    """Return the last jointed body of each kinematic chain, without the base."""
    has_joint = [body for body in range(2, model.nbody) if model.body_jntnum[body]]
    inner = {a for body in has_joint for a in _ancestors(model, body)[1:]}
    return [body for body in has_joint if body not in inner]


def _ancestors(model: mujoco.MjModel, body: int) -> list[int]:
    """Return a body and its ancestors up to the base."""
    chain = [body]
    while model.body_parentid[chain[-1]] > 0:
        chain.append(int(model.body_parentid[chain[-1]]))
    return chain


def welded_geoms(model: mujoco.MjModel, body: int) -> list[int]:
    """Return the ids of the geoms of a body and of the bodies welded to it."""
    bodies = np.flatnonzero(model.body_weldid == model.body_weldid[body])
    return np.flatnonzero(np.isin(model.geom_bodyid, bodies)).tolist()


def collides(model: mujoco.MjModel, geom: int) -> bool:
    """Return whether a geom can have contacts."""
    return bool(model.geom_contype[geom] or model.geom_conaffinity[geom])


def _near_ground(posed: Posed, tips: Sequence[int]) -> list[int]:
    model = posed.model
    everything = posed.points(range(model.ngeom))
    if not len(everything):
        raise AdoptError(
            "No body has a geom, so nothing can touch the ground. Meshes whose files "
            "are missing do not count."
        )
    low, high = everything[:, 2].min(), everything[:, 2].max()
    ends = {tip: _lowest(posed, tip) for tip in tips}
    limit = low + _NEAR_GROUND * (high - low)
    return [tip for tip, height in ends.items() if height <= limit]


def _lowest(posed: Posed, tip: int) -> float:
    geoms = welded_geoms(posed.model, tip)
    points = posed.points(geoms)
    return float(points[:, 2].min() if len(points) else posed.data.xpos[tip, 2])


def _leg(posed: Posed, tip: int) -> Leg:
    model = posed.model
    chain = _ancestors(model, tip)[:-1]
    others = {
        body
        for other in _tips(model)
        if other != tip
        for body in _ancestors(model, other)
    }
    own = [body for body in reversed(chain) if body not in others]
    joints = [
        model.joint(model.body_jntadr[body] + i).name
        for body in own
        for i in range(model.body_jntnum[body])
    ]
    odd = [name for name in joints if name not in posed.joints]
    if odd:
        raise AdoptError(
            f"The leg of {model.body(tip).name!r} has the ball joint {odd[0]!r}. Legs "
            "need hinge or slide joints: replace it by three hinges."
        )
    flexion = _flexion(posed, joints)
    geoms, sole = _sole(posed, tip, flexion)
    rotation = posed.data.xmat[tip].reshape(3, 3)
    local, up = rotation.T @ (sole.centre - posed.data.xpos[tip]), rotation.T @ sole.up
    side = posed.data.xpos[tip][1]
    return Leg(
        foot=model.body(tip).name,
        joints=tuple(joints),
        geoms=tuple(model.geom(geom).name for geom in geoms),
        sole=(float(local[0]), float(local[1]), float(local[2])),
        normal=(float(up[0]), float(up[1]), float(up[2])),
        flat=sole.width > _FLAT,
        flexion=flexion,
        side=int(np.sign(side)) if abs(side) > 5e-3 else 0,
    )


class Sole(NamedTuple):
    """Part of a foot that touches the ground when the foot is level."""

    centre: np.ndarray
    """Centre in the world, m, shape (3,)."""

    up: np.ndarray
    """Unit normal in the world that points up, shape (3,)."""

    width: float
    """Smaller side of the area, m; 0 for a point or an edge."""


def _sole(posed: Posed, tip: int, flexion: Sequence[str]) -> tuple[list[int], Sole]:
    """Return the geom ids and the area of a sole.

    The sole consists of colliding geoms; of primitive shapes if no geom collides; else
    of meshes. If the foot has an ankle, it is turned to the angle at which the sole is
    widest.
    """
    model = posed.model
    geoms = welded_geoms(model, tip)
    choices = (
        [geom for geom in geoms if collides(model, geom)],
        [g for g in geoms if model.geom_type[g] != mujoco.mjtGeom.mjGEOM_MESH],
        geoms,
    )
    chosen = next((some for some in choices if some), None)
    if chosen is None:
        raise AdoptError(
            f"The foot {model.body(tip).name!r} has no geom, so it cannot touch the "
            "ground. Add a sphere or a box to it in the file."
        )
    axis = posed.axis(flexion[-1]) if flexion else np.array((0.0, 1.0, 0.0))
    points = posed.points(chosen)
    turns = _TURNS if len(flexion) > 2 else (0.0,)
    best = max(
        (_area(points, axis, angle) for angle in turns),
        key=lambda sole: round(sole.width, 3) - 1e-3 * np.arccos(min(sole.up[2], 1.0)),
    )
    below = {g: ((posed.points([g]) - best.centre) @ best.up).min() for g in chosen}
    return [geom for geom, height in below.items() if height < _SOLE], best


def _area(points: np.ndarray, axis: np.ndarray, angle: float) -> Sole:
    """Turn points about an axis; return the area of the lowest points."""
    turn = np.zeros(9)
    quat = np.zeros(4)
    mujoco.mju_axisAngle2Quat(quat, axis, angle)
    mujoco.mju_quat2Mat(turn, quat)
    turned = points @ turn.reshape(3, 3).T
    touching = turned[:, 2] < turned[:, 2].min() + _SOLE
    size = np.ptp(turned[touching, :2], axis=0)
    up = turn.reshape(3, 3)[2]
    return Sole(points[touching].mean(axis=0), up, float(size.min()))


def _flexion(posed: Posed, joints: Sequence[str]) -> tuple[str, ...]:
    """Return the largest set of hinges with parallel axes.

    Among sets of equal size, the axes closest to the lateral direction are chosen.
    """
    hinges = [
        joint
        for joint in joints
        if posed.model.jnt_type[posed.joints[joint]] == mujoco.mjtJoint.mjJNT_HINGE
    ]
    best: tuple[tuple[int, float], list[str]] = ((0, 0.0), [])
    for first in hinges:
        axis = posed.axis(first)
        same = [other for other in hinges if abs(posed.axis(other) @ axis) > 0.95]
        best = max(best, ((len(same), abs(float(axis[1]))), same), key=lambda b: b[0])
    return tuple(best[1])


def _with_clock(posed: Posed, legs: Sequence[Leg]) -> list[Leg]:
    """Sort the legs, and set the half of the stride in which each steps.

    Neighbouring legs on a side alternate, and so do left and right: two legs walk, four
    trot, six use the tripod gait.
    """
    model = posed.model

    def front(leg: Leg) -> float:
        return -float(posed.data.xpos[model.body(leg.foot).id, 0])

    rows = {
        side: sorted((leg for leg in legs if leg.side == side), key=front)
        for side in (1, 0, -1)
    }
    clocked = [
        replace(leg, clock=(place + (side < 0)) % 2)
        for side, row in rows.items()
        for place, leg in enumerate(row)
    ]
    order = {leg.foot: place for row in rows.values() for place, leg in enumerate(row)}
    return sorted(clocked, key=lambda leg: (order[leg.foot], -leg.side))

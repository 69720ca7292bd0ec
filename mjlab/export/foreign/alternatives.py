"""Variants of a contract: each makes one common mistake."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from mjlab.export.foreign.interface import (
    PHASE_SOURCES,
    Interface,
    Term,
)
from mjlab.export.foreign.robot_model import RobotModel

_SCALES = {"gyro": (1.0, 0.25, 0.2), "joint_vel": (1.0, 0.05), "lin_vel": (1.0, 2.0)}
"""Usual scales of observations: 1, and the scales of legged_gym and Isaac Lab."""

_GAINS = ("stiffness", "damping")


@dataclass(frozen=True)
class Alternative:
    """Contract with one change."""

    place: str
    """Field or observation term that is changed."""

    said: str
    """Description of the change, such as "scale: 0.25"."""

    interface: Interface
    late: int = 0
    """Delay of the targets, in control steps."""


def alternatives(interface: Interface, robot: RobotModel) -> Iterator[Alternative]:
    """Yield every variant of a contract that differs by one common mistake."""
    yield from _of_terms(interface)
    yield from _of_joints(interface, robot)
    yield from _of_histories(interface)
    yield from _of_clock(interface)
    yield from _of_actions(interface)
    yield Alternative("delay", "targets one control step late", interface, late=1)


def _of_terms(interface: Interface) -> Iterator[Alternative]:
    for term in interface.terms:
        if term.source in ("gyro", "lin_vel", "gravity", "command"):
            other = interface.with_term(term.name, scale=-np.asarray(term.scale))
            yield Alternative(term.name, "sign: the negative", other)
        if term.source in ("gyro", "lin_vel"):
            yield Alternative(
                term.name,
                "frame: in world axes",
                interface.with_term(term.name, frame="world"),
            )
        for scale in _SCALES.get(term.source, ()):
            if not np.allclose(term.scale, scale):
                other = interface.with_term(term.name, scale=scale)
                yield Alternative(term.name, f"scale: {scale:g}", other)
        if term.source == "joint_pos_rel":
            other = interface.with_term(term.name, source="joint_pos")
            said = "default pose: not subtracted"
            yield Alternative(term.name, said, other)
        if term.source == "joint_vel":
            degrees = np.asarray(term.scale) * 180.0 / np.pi
            other = interface.with_term(term.name, scale=degrees)
            yield Alternative(term.name, "units: degrees/s", other)


def breadth_first(robot: RobotModel) -> tuple[str, ...]:
    """Return the joints in breadth-first order of the body tree, as in Isaac Lab."""
    model = robot.model
    depth = np.zeros(model.nbody, int)
    for body in range(1, model.nbody):
        depth[body] = depth[model.body_parentid[body]] + 1
    levels = [int(depth[model.jnt_bodyid[model.joint(n).id]]) for n in robot.joints]
    order = np.argsort(levels, kind="stable")
    return tuple(robot.joints[place] for place in order)


def reordered(interface: Interface, joints: Sequence[str]) -> Interface:
    """Return the contract with another joint order; each joint keeps its gains."""
    names = dict(zip(interface.joints, joints, strict=True))
    terms = tuple(
        replace(term, joints=tuple(names[name] for name in term.joints))
        for term in interface.terms
    )
    own = {name: place for place, name in enumerate(interface.joints)}
    places = [own[name] for name in joints]
    return replace(
        interface,
        joints=tuple(joints),
        acted=tuple(names[name] for name in interface.acted),
        terms=terms,
        stiffness=interface.stiffness[places],
        damping=interface.damping[places],
    )


def _of_joints(interface: Interface, robot: RobotModel) -> Iterator[Alternative]:
    orders = {
        "in the order of the robot model": robot.joints,
        "level by level of the body tree": breadth_first(robot),
        "in alphabetical order": tuple(sorted(robot.joints)),
    }
    seen = {interface.joints}
    for said, order in orders.items():
        if order in seen or sorted(order) != sorted(interface.joints):
            continue
        seen.add(order)
        yield Alternative("joints", f"order: {said}", reordered(interface, order))
        own = {name: place for place, name in enumerate(interface.joints)}
        places = [own[name] for name in order]
        for way, chosen in (("", places), (" (inverse)", np.argsort(places))):
            gains = replace(
                interface,
                stiffness=interface.stiffness[chosen],
                damping=interface.damping[chosen],
            )
            if not _same_gains(interface, gains):
                yield Alternative("gains", f"order: listed {said}{way}", gains)
    for name in _GAINS:
        for factor in (0.5, 2.0):
            changed = {name: factor * getattr(interface, name)}
            said = f"{name}: {factor:g} times as large"
            yield Alternative("gains", said, replace(interface, **changed))


def _same_gains(interface: Interface, other: Interface) -> bool:
    pairs = ((getattr(each, n) for each in (interface, other)) for n in _GAINS)
    return all(np.allclose(*pair) for pair in pairs)


def _of_histories(interface: Interface) -> Iterator[Alternative]:
    lengths = {term.history for term in interface.terms}
    if lengths == {1}:
        return
    newest = replace(interface, newest_first=not interface.newest_first)
    yield Alternative("history order", "the other end first", newest)
    if len(lengths) == 1:
        by_step = replace(interface, by_step=not interface.by_step)
        said = "grouped by term" if interface.by_step else "grouped by step"
        yield Alternative("history order", said, by_step)
    start = replace(interface, fills=not interface.fills)
    said = "starts with zeros" if interface.fills else "starts with copies"
    yield Alternative("history start", said, start)


def _of_clock(interface: Interface) -> Iterator[Alternative]:
    clock = interface.clock
    if clock is None:
        return
    half = replace(clock, offsets=tuple(each + np.pi for each in clock.offsets))
    said = "phase offset: half a period"
    yield Alternative("gait clock", said, replace(interface, clock=half))
    for factor in (0.8, 1.25):
        other = replace(clock, hz=factor * clock.hz)
        said = f"frequency: {other.hz:.3g} Hz"
        yield Alternative("gait clock", said, replace(interface, clock=other))
    terms = tuple(map(_swapped, interface.terms))
    said = "order: sine and cosine exchanged"
    yield Alternative("gait clock", said, replace(interface, terms=terms))


def _swapped(term: Term) -> Term:
    """Exchange sine and cosine in a phase term; return other terms unchanged."""
    if term.source not in PHASE_SOURCES:
        return term
    (other,) = {*PHASE_SOURCES} - {term.source}
    return replace(term, source=other)


def _of_actions(interface: Interface) -> Iterator[Alternative]:
    for factor in (0.5, 2.0):
        other = replace(interface, action_scale=factor * interface.action_scale)
        yield Alternative("action scale", f"{factor:g} times as large", other)
    default = dict(zip(interface.joints, interface.default, strict=True))
    pose = np.array([default[name] for name in interface.acted])
    if not np.allclose(interface.action_offset, pose):
        other = replace(interface, action_offset=pose)
        yield Alternative("action offset", "the default pose", other)
    if pose.any():
        other = replace(interface, action_offset=np.zeros_like(pose))
        yield Alternative("action offset", "zero", other)
    kinds = {"raw": "before its clip", "clipped": "after its clip"}
    kinds = {} if interface.action_clip is None else kinds
    for kind, said in (kinds | {"target": "the joint targets"}).items():
        if kind != interface.kept:
            yield Alternative("last action", said, replace(interface, kept=kind))

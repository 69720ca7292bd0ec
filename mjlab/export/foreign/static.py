"""Checks of a policy's files alone, against each other and against a robot model."""

from collections.abc import Iterator, Mapping

import numpy as np

from mjlab.export.foreign.interface import Interface
from mjlab.export.foreign.robot_model import RobotModel
from mjlab.export.foreign.verdict import Finding

_CLOSE = 6e-3
"""Relative tolerance between two files: some have three significant digits."""

_SIDES = (("left_", "right_"), ("Left_", "Right_"), ("FL_", "FR_"), ("RL_", "RR_"))
_SIDES += (("LL_", "LR_"), ("L_", "R_"), ("l_", "r_"))
"""Prefixes of left and right joints."""


def check_files(face: Interface, robot: RobotModel | None) -> Iterator[Finding]:
    """Yield findings from the contract and the robot model."""
    yield from _widths(face)
    yield from _symmetry(face)
    yield from _numbers(face)
    if robot is not None:
        yield from _robot(face, robot)


def compare(face: Interface, other: Interface) -> Iterator[Finding]:
    """Yield differences from another file about the same policy."""
    names = set(face.joints) & set(other.joints)
    if len(names) != len(face.joints):
        return
    for name in ("default", "stiffness", "damping"):
        values = (
            dict(zip(each.joints, getattr(each, name), strict=True))
            for each in (face, other)
        )
        yield from _differ(face, other, name, *values)
    for name in ("action_scale", "action_offset"):
        values = (
            dict(zip(each.acted, getattr(each, name), strict=True))
            for each in (face, other)
        )
        yield from _differ(face, other, name, *values)
    for place, (term, twin) in enumerate(zip(face.terms, other.terms, strict=False)):
        if (term.source, term.history) != (twin.source, twin.history):
            yield Finding(
                f"{face.place('terms')}: {term.name}",
                "mismatch",
                f"term {place} has {term.history} steps of {term.source}, but "
                f"{twin.history} of {twin.source} in {other.place('terms')}",
            )
        elif not np.allclose(term.scale, twin.scale, rtol=_CLOSE):
            yield Finding(
                f"{face.place('terms')}: {term.name}",
                "mismatch",
                f"scale is {_said(term.scale)}, but {_said(twin.scale)} in "
                f"{other.place('terms')}",
            )


def _differ(
    face: Interface,
    other: Interface,
    name: str,
    found: Mapping[str, float],
    wanted: Mapping[str, float],
) -> Iterator[Finding]:
    size = max(map(abs, wanted.values()), default=0.0)
    wrong = [
        joint
        for joint in found
        if joint in wanted
        and abs(found[joint] - wanted[joint])
        > _CLOSE * max(abs(wanted[joint]), 0.1 * size)
    ]
    if wrong:
        first = wrong[0]
        more = f" and {len(wrong) - 1} more joints" * (len(wrong) > 1)
        yield Finding(
            face.place(name),
            "mismatch",
            f"{first} has {found[first]:.4g}, but {wanted[first]:.4g} in "
            f"{other.place(name)}{more}",
        )


def _widths(face: Interface) -> Iterator[Finding]:
    if face.width != face.network.inputs:
        parts = ", ".join(
            f"{term.name} {face.size(term) * term.history}" for term in face.terms
        )
        yield Finding(
            face.place("terms"),
            "mismatch",
            f"the terms have {face.width} numbers ({parts}), but the network expects "
            f"{face.network.inputs}",
        )
    if len(face.acted) != face.network.outputs:
        yield Finding(
            face.place("action_scale"),
            "mismatch",
            f"{len(face.acted)} joints are moved, but the network has "
            f"{face.network.outputs} actions",
        )
    for term in face.terms:
        scale = np.asarray(term.scale)
        if scale.ndim and scale.size not in (1, face.size(term)):
            yield Finding(
                f"{face.place('terms')}: {term.name}",
                "mismatch",
                f"scale has {scale.size} numbers, but the term has {face.size(term)}",
            )


def mirror(joint: str) -> str | None:
    """Return the joint on the right side, for a joint on the left side."""
    for left, right in _SIDES:
        if joint.startswith(left):
            return right + joint.removeprefix(left)
    return None


def _symmetry(face: Interface) -> Iterator[Finding]:
    """Yield values that differ between the left and the right side."""
    for name, order in (
        ("stiffness", face.joints),
        ("damping", face.joints),
        ("action_scale", face.acted),
        ("default", face.joints),
    ):
        values = dict(zip(order, getattr(face, name), strict=True))
        for joint, value in values.items():
            twin = mirror(joint)
            if twin not in values or np.isclose(abs(value), abs(values[twin]), 1e-3):
                continue
            yield Finding(
                face.place(name),
                "mismatch",
                f"order or value: {joint} has {value:.4g}, but {twin} has "
                f"{values[twin]:.4g}; the two sides should be equal",
            )
            break


def _numbers(face: Interface) -> Iterator[Finding]:
    for name in ("stiffness", "damping"):
        low = [
            j for j, v in zip(face.joints, getattr(face, name), strict=True) if v <= 0
        ]
        if low:
            yield Finding(
                face.place(name), "mismatch", f"{low[0]} has no positive gain"
            )
    default = dict(zip(face.joints, face.default, strict=True))
    away = [
        joint
        for joint, offset in zip(face.acted, face.action_offset, strict=True)
        if abs(default[joint] - offset) > 1e-3
    ]
    if away:
        offset = dict(zip(face.acted, face.action_offset, strict=True))[away[0]]
        yield Finding(
            face.place("action_offset"),
            "mismatch",
            f"a zero action moves {away[0]} to {offset:.4g}, but its default pose in "
            f"{face.place('default')} is {default[away[0]]:.4g}",
        )
    if face.physics_dt is not None:
        steps = face.control_dt / face.physics_dt
        if abs(steps - round(steps)) > 1e-6:
            yield Finding(
                face.place("control_dt"),
                "mismatch",
                f"the control period {face.control_dt:g} s is not a multiple of the "
                f"physics timestep {face.physics_dt:g} s",
            )
    if not 0.002 <= face.control_dt <= 0.1:
        yield Finding(
            face.place("control_dt"),
            "mismatch",
            f"the control period is {face.control_dt:g} s, expected 0.002 to 0.1 s",
        )


def _robot(face: Interface, robot: RobotModel) -> Iterator[Finding]:
    absent = [joint for joint in face.joints if joint not in robot.joints]
    if absent:
        yield Finding(
            face.place("joints"), "mismatch", f"{robot.path} has no joint {absent[0]!r}"
        )
    limits = robot.limits()
    for joint, value in zip(face.joints, face.default, strict=True):
        low, high = limits.get(joint, (-np.inf, np.inf))
        if not low - 1e-3 <= value <= high + 1e-3:
            yield Finding(
                face.place("default"),
                "mismatch",
                f"{joint} is {value:.4g} rad, outside its limits {low:.4g} to "
                f"{high:.4g} in {robot.path.name}",
            )
            break
    gains = robot.gains()
    for place, name in enumerate(("stiffness", "damping")):
        for joint, value in zip(face.joints, getattr(face, name), strict=True):
            wanted = gains.get(joint, (value, value))[place]
            if not np.isclose(value, wanted, rtol=2e-2):
                yield Finding(
                    face.place(name),
                    "mismatch",
                    f"{joint} has {value:.4g}, but its servo in {robot.path.name} has "
                    f"{wanted:.4g}",
                )
                break


def _said(value: object) -> str:
    found = np.unique(np.round(np.asarray(value, float), 4))
    return ", ".join(f"{each:g}" for each in found[:3]) + ", ..." * (len(found) > 3)

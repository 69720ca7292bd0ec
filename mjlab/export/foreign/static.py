"""Checks of a policy's files, against each other and against a robot model.

Nothing is simulated or replayed.
"""

from collections.abc import Iterator, Mapping

import numpy as np

from mjlab.export.foreign.interface import Interface
from mjlab.export.foreign.robot_model import RobotModel
from mjlab.export.foreign.verdict import Finding

_CLOSE = 6e-3
"""Relative tolerance between two files: some are rounded to three digits."""

_SIDES = (("left_", "right_"), ("Left_", "Right_"), ("FL_", "FR_"), ("RL_", "RR_"))
_SIDES += (("LL_", "LR_"), ("L_", "R_"), ("l_", "r_"))
"""Prefixes of joint names, (left, right)."""


def check_files(interface: Interface, robot: RobotModel | None) -> Iterator[Finding]:
    """Yield findings about sizes, symmetry and values, and about the robot model."""
    yield from _widths(interface)
    yield from _symmetry(interface)
    yield from _numbers(interface)
    if robot is not None:
        yield from _robot(interface, robot)


def compare(interface: Interface, other: Interface) -> Iterator[Finding]:
    """Yield differences from another contract of the same policy."""
    missing = [name for name in interface.joints if name not in other.joints]
    if missing:
        yield Finding(
            interface.place("joints"),
            "undetermined",
            f"not compared with {other.place('joints')}, which has no joint "
            f"{missing[0]!r}",
        )
        return
    for name in ("default", "stiffness", "damping"):
        values = (
            dict(zip(each.joints, getattr(each, name), strict=True))
            for each in (interface, other)
        )
        yield from _differ(interface, other, name, *values)
    for name in ("action_scale", "action_offset"):
        values = (
            dict(zip(each.acted, getattr(each, name), strict=True))
            for each in (interface, other)
        )
        yield from _differ(interface, other, name, *values)
    for place, (term, twin) in enumerate(
        zip(interface.terms, other.terms, strict=False)
    ):
        if (term.source, term.history) != (twin.source, twin.history):
            yield Finding(
                f"{interface.place('terms')}: {term.name}",
                "mismatch",
                f"term {place} has {term.history} steps of {term.source}, but "
                f"{twin.history} of {twin.source} in {other.place('terms')}",
            )
        elif not np.allclose(term.scale, twin.scale, rtol=_CLOSE):
            yield Finding(
                f"{interface.place('terms')}: {term.name}",
                "mismatch",
                f"scale is {_said(term.scale)}, but {_said(twin.scale)} in "
                f"{other.place('terms')}",
            )


def _differ(
    interface: Interface,
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
            interface.place(name),
            "mismatch",
            f"{first} has {found[first]:.4g}, but {wanted[first]:.4g} in "
            f"{other.place(name)}{more}",
        )


def _widths(interface: Interface) -> Iterator[Finding]:
    if interface.width != interface.network.inputs:
        parts = ", ".join(
            f"{term.name} {interface.size(term) * term.history}"
            for term in interface.terms
        )
        yield Finding(
            interface.place("terms"),
            "mismatch",
            f"the terms have {interface.width} numbers ({parts}), but the network "
            f"expects {interface.network.inputs}",
        )
    if len(interface.acted) != interface.network.outputs:
        yield Finding(
            interface.place("action_scale"),
            "mismatch",
            f"{len(interface.acted)} joints are moved, but the network has "
            f"{interface.network.outputs} actions",
        )
    for term in interface.terms:
        scale = np.asarray(term.scale)
        if scale.ndim and scale.size not in (1, interface.size(term)):
            yield Finding(
                f"{interface.place('terms')}: {term.name}",
                "mismatch",
                f"scale has {scale.size} numbers, but the term has "
                f"{interface.size(term)}",
            )


def mirror(joint: str) -> str | None:
    """Return the right-side twin of a left-side joint, None for other joints."""
    for left, right in _SIDES:
        if joint.startswith(left):
            return right + joint.removeprefix(left)
    return None


def _symmetry(interface: Interface) -> Iterator[Finding]:
    """Yield the first joint per field whose value differs between left and right."""
    for name, order in (
        ("stiffness", interface.joints),
        ("damping", interface.joints),
        ("action_scale", interface.acted),
        ("default", interface.joints),
    ):
        values = dict(zip(order, getattr(interface, name), strict=True))
        for joint, value in values.items():
            twin = mirror(joint)
            if twin not in values or np.isclose(abs(value), abs(values[twin]), 1e-3):
                continue
            yield Finding(
                interface.place(name),
                "mismatch",
                f"order or value: {joint} has {value:.4g}, but {twin} has "
                f"{values[twin]:.4g}; the two sides should be equal",
            )
            break


def _numbers(interface: Interface) -> Iterator[Finding]:
    for name in ("stiffness", "damping"):
        low = [
            j
            for j, v in zip(interface.joints, getattr(interface, name), strict=True)
            if v <= 0
        ]
        if low:
            yield Finding(
                interface.place(name), "mismatch", f"{low[0]} has no positive gain"
            )
    default = dict(zip(interface.joints, interface.default, strict=True))
    away = [
        joint
        for joint, offset in zip(interface.acted, interface.action_offset, strict=True)
        if abs(default[joint] - offset) > 1e-3
    ]
    if away:
        offset = dict(zip(interface.acted, interface.action_offset, strict=True))[
            away[0]
        ]
        yield Finding(
            interface.place("action_offset"),
            "mismatch",
            f"a zero action moves {away[0]} to {offset:.4g}, but its default pose in "
            f"{interface.place('default')} is {default[away[0]]:.4g}",
        )
    if interface.physics_dt is not None:
        steps = interface.control_dt / interface.physics_dt
        if abs(steps - round(steps)) > 1e-6:
            yield Finding(
                interface.place("control_dt"),
                "mismatch",
                f"the control period {interface.control_dt:g} s is not a multiple of "
                f"the physics timestep {interface.physics_dt:g} s",
            )
    if not 0.002 <= interface.control_dt <= 0.1:
        yield Finding(
            interface.place("control_dt"),
            "mismatch",
            f"the control period is {interface.control_dt:g} s, expected 0.002 to "
            "0.1 s",
        )


def _robot(interface: Interface, robot: RobotModel) -> Iterator[Finding]:
    absent = [joint for joint in interface.joints if joint not in robot.joints]
    if absent:
        yield Finding(
            interface.place("joints"),
            "mismatch",
            f"{robot.path} has no joint {absent[0]!r}",
        )
    limits = robot.limits()
    for joint, value in zip(interface.joints, interface.default, strict=True):
        low, high = limits.get(joint, (-np.inf, np.inf))
        if not low - 1e-3 <= value <= high + 1e-3:
            yield Finding(
                interface.place("default"),
                "mismatch",
                f"{joint} is {value:.4g} rad, outside its limits {low:.4g} to "
                f"{high:.4g} in {robot.path.name}",
            )
            break
    gains = robot.gains()
    for place, name in enumerate(("stiffness", "damping")):
        for joint, value in zip(
            interface.joints, getattr(interface, name), strict=True
        ):
            wanted = gains.get(joint, (value, value))[place]
            if not np.isclose(value, wanted, rtol=2e-2):
                yield Finding(
                    interface.place(name),
                    "mismatch",
                    f"{joint} has {value:.4g}, but its servo in {robot.path.name} has "
                    f"{wanted:.4g}",
                )
                break


def _said(value: object) -> str:
    found = np.unique(np.round(np.asarray(value, float), 4))
    return ", ".join(f"{each:g}" for each in found[:3]) + ", ..." * (len(found) > 3)

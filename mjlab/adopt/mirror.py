"""Find the left-right symmetry of a robot from its geometry."""

from collections.abc import Sequence

import numpy as np

from mjlab.adopt.legs import Leg
from mjlab.adopt.notes import Notes, listed
from mjlab.adopt.shape import Posed
from mjlab.tasks.robots.robot import Mirror

_NEAR = 0.02
"""Largest distance between a joint's mirrored anchor and its image, m."""

_MASS = 0.05
"""Largest relative difference between masses of mirrored bodies."""

_FLIP = np.array((-1.0, 1.0, -1.0))
"""Factors that mirror a rotation axis in the xz plane."""


def find_mirror(
    posed: Posed, joints: Sequence[str], legs: Sequence[Leg], notes: Notes
) -> Mirror | None:
    """Return the symmetry about the xz plane of the base, None if there is none.

    Args:
        posed: Robot in a symmetric pose.
        joints: Joints that the policy moves.
        legs: Legs of the robot.
        notes: Receives findings.
    """
    images = {joint: _image(posed, joint, joints) for joint in joints}
    alone = [joint for joint, image in images.items() if image is None]
    pairs = _leg_pairs(legs, images)
    if alone or pairs is None:
        what = f"{listed(alone)} has no mirror image" if alone else "the legs differ"
        notes.findings.append(
            f"No left-right symmetry: {what}. The policy is a network without "
            "symmetry, which needs more samples."
        )
        return None
    heavier = _unequal_masses(posed, images)
    if heavier:
        notes.findings.append(
            f"Left and right masses differ by more than {_MASS:.0%} at "
            f"{listed(heavier)}."
        )
    swapped = [
        (joint, image)
        for joint, image in images.items()
        if image is not None and joint != image and _is_left(posed, joint)
    ]
    flipped = [joint for joint, image in images.items() if _flips(posed, joint, image)]
    middle = [(joint, joint) for joint, image in images.items() if joint == image]
    sides = name_rule([*swapped, *pairs], middle)
    left, right = min(sides, key=lambda names: len(names[0]))
    notes.findings.append(
        f"Left and right are mirror images: {left!r} and {right!r}"
        + (f", and {len(sides) - 1} more" if len(sides) > 1 else "")
        + f"; {len(flipped)} joints change sign (--no-mirror)."
    )
    return Mirror(sides=sides, flipped_joints="|".join(flipped))


def _image(posed: Posed, joint: str, joints: Sequence[str]) -> str | None:
    """Return the joint whose anchor and axis are the mirror image, None if missing."""
    anchor, axis = posed.anchor(joint) * (1.0, -1.0, 1.0), posed.axis(joint) * _FLIP
    away = {
        other: float(np.linalg.norm(posed.anchor(other) - anchor))
        for other in joints
        if abs(posed.axis(other) @ axis) > 0.97
    }
    near = [other for other, distance in away.items() if distance < _NEAR]
    # Prefer the joint itself, if several joints share anchor and axis in the middle.
    return min(near, key=lambda one: (round(away[one], 4), one != joint), default=None)


def _is_left(posed: Posed, joint: str) -> bool:
    return bool(posed.anchor(joint)[1] > 0.0)


def _flips(posed: Posed, joint: str, image: str | None) -> bool:
    assert image is not None
    return bool(posed.axis(joint) * _FLIP @ posed.axis(image) < 0.0)


def _leg_pairs(
    legs: Sequence[Leg], images: dict[str, str | None]
) -> list[tuple[str, str]] | None:
    """Return (left, right) names of feet and sole geoms; None if the legs differ."""
    pairs: list[tuple[str, str]] = []
    for leg in legs:
        mirrored = tuple(images.get(joint) for joint in leg.joints)
        other = next((one for one in legs if one.joints == mirrored), None)
        if other is None or len(other.geoms) != len(leg.geoms):
            return None
        if leg.side > 0:
            pairs.append((leg.foot, other.foot))
            pairs.extend(zip(leg.geoms, other.geoms, strict=True))
    return pairs


def _unequal_masses(posed: Posed, images: dict[str, str | None]) -> list[str]:
    model = posed.model
    mass = {
        joint: float(model.body_mass[model.jnt_bodyid[posed.joints[joint]]])
        for joint in images
    }
    return [
        joint
        for joint, image in images.items()
        if image is not None and mass[joint] > (1.0 + _MASS) * mass[image] + 1e-3
    ]


def name_rule(
    pairs: Sequence[tuple[str, str]], middle: Sequence[tuple[str, str]] = ()
) -> tuple[tuple[str, str], ...]:
    """Return (left, right) name prefixes for `Mirror.sides`.

    The prefixes are short, such as ("FL", "FR"), if they map every left name to its
    right name, otherwise whole names. Longer prefixes come first, because the first
    match is used.

    Args:
        pairs: (left, right) names.
        middle: (name, name) for each element that is its own image.
    """
    short = _longest_first({_shortened(left, right) for left, right in pairs})
    rule = Mirror(sides=short, flipped_joints="")
    suffices = all(
        rule.other(left) == right and rule.other(right) == left
        for left, right in (*pairs, *middle)
    )
    return short if suffices else _longest_first(set(pairs))


def _longest_first(pairs: set[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(pairs, key=lambda pair: (-len(pair[0]), pair)))


def _shortened(left: str, right: str) -> tuple[str, str]:
    """Remove the common end of two names, but only whole words."""
    shared = _shared_end(left, right)
    while shared and left[-shared].islower():
        shared -= 1
    shared = min(shared, len(left) - 1, len(right) - 1)
    return left[: len(left) - shared], right[: len(right) - shared]


def _shared_end(left: str, right: str) -> int:
    """Return the number of equal characters at the end of two names."""
    pairs = zip(reversed(left), reversed(right), strict=False)
    return next(
        (place for place, (a, b) in enumerate(pairs) if a != b),
        min(len(left), len(right)),
    )

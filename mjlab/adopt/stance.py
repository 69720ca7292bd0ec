"""Find a balanced stance with bent legs, feet below the hips and level soles."""

from collections.abc import Mapping, Sequence

import mujoco
import numpy as np

from mjlab.adopt.legs import Leg
from mjlab.adopt.notes import AdoptError
from mjlab.adopt.shape import Posed

BENT = {2: 0.95, 4: 0.7}
"""Height of the hip above the foot, as a fraction of its maximum, for two legs and for
three or more."""

_KNEE_ANGLES = 81

_SINGULAR = 0.03
"""Singular values of a leg's Jacobian below this fraction of the largest count as zero
(`rcond`)."""

_LEVEL = 0.3
"""Weight of a sole's rotation relative to its position, in leg lengths."""

_MARGIN = 0.03
"""Margin between joint positions and limits, as a fraction of the joint's range."""


def stand(
    posed: Posed, legs: Sequence[Leg], *, bent: float | None = None
) -> dict[str, float]:
    """Return joint positions of a stance, and set them in `posed`.

    Only the joints that bend a leg are solved: hip and knee place the foot below the
    hip, and the ankle levels the sole. Other joints stay in the reference pose, clipped
    to their limits. The feet are shifted forward or back until the centre of mass is
    above their mean.

    Args:
        posed: Robot in its reference pose.
        legs: Legs of the robot.
        bent: Height of the hip, as a fraction of its maximum. None uses `BENT`.

    Raises:
        AdoptError: If a foot cannot be below its hip.
    """
    height = (BENT[2] if len(legs) == 2 else BENT[4]) if bent is None else bent
    start = {name: _inside(posed, name) for name in posed.joints}
    shift, pose = 0.0, dict(start)
    for _ in range(6):
        posed.place(start)
        pose = dict(start)
        for leg in legs:
            pose |= _bent_leg(posed, leg, start, height, shift, len(legs))
        posed.place(pose)
        feet = np.mean([sole_centre(posed, leg)[0] for leg in legs])
        error = float(posed.centre_of_mass()[0] - feet)
        shift += error
        if abs(error) < 1e-3:
            break
    return pose


def moves(
    posed: Posed, leg: Leg, height: float
) -> dict[str, tuple[float, float, float, float]]:
    """Return motions of a leg's joints in a gait, rad or m, by joint.

    The numbers of a joint are its change when the sole is lifted straight up by
    `height`, its changes per metre that the sole moves ahead and to the left, and its
    change per radian that the sole turns around the base. Flat soles stay level. The
    lift respects the joint limits. The pose of `posed` does not change.

    Args:
        posed: Robot in its stance.
        leg: A leg.
        height: Height of the lifted sole above the stance, m.
    """
    joints = [joint for joint in leg.joints if joint in posed.joints]
    start = {joint: posed.position(joint) for joint in posed.joints}
    level = _orientation(posed, leg).copy()
    x, y, z = sole_centre(posed, leg)
    wanted = np.array((x, y, z + height))
    ground = np.zeros((3, 6))
    ground[0, 0] = ground[1, 1] = 1.0
    ground[2] = -y, x, 0.0, 0.0, 0.0, 1.0
    shifts = [_turns(posed, leg, joints, motion) for motion in ground]
    pose = dict(start)
    for _ in range(20):
        error = np.zeros(6)
        error[:3] = wanted - sole_centre(posed, leg)
        mujoco.mju_subQuat(error[3:], level, _orientation(posed, leg))
        # From the frame of the foot to the world.
        mujoco.mju_rotVecQuat(error[3:], error[3:].copy(), _orientation(posed, leg))
        turns = _turns(posed, leg, joints, 0.5 * error)
        for joint, turn in zip(joints, turns, strict=True):
            pose[joint] = float(np.clip(pose[joint] + turn, *posed.limits(joint)))
        posed.place(pose)
    posed.place(start)
    return {
        joint: (pose[joint] - start[joint], float(ahead), float(left), float(turn))
        for joint, ahead, left, turn in zip(joints, *shifts, strict=True)
    }


def _turns(
    posed: Posed, leg: Leg, joints: Sequence[str], motion: np.ndarray
) -> np.ndarray:
    """Return the joint changes that move a sole by a small displacement.

    The rotation of a flat sole is controlled too if the leg has more than three joints.
    Rotation errors have a smaller weight than translation errors.

    Args:
        posed: Robot in a pose.
        leg: A leg.
        joints: Joints of the leg.
        motion: Translation, m, and rotation vector, rad, in the world, shape (6,).
    """
    model, data = posed.model, posed.data
    jacobian = np.zeros((6, model.nv))
    mujoco.mj_comPos(model, data)
    body = model.body(leg.foot).id
    centre = sole_centre(posed, leg)
    mujoco.mj_jac(model, data, jacobian[:3], jacobian[3:], centre, body)
    columns = jacobian[:, [model.joint(joint).dofadr[0] for joint in joints]]
    weights = np.ones(6)
    levels = leg.flat and len(joints) > 3
    length = np.linalg.norm(centre - posed.anchor(leg.joints[0]))
    weights[3:] = _LEVEL * length if levels else 0.0
    weighted = weights[:, None] * columns
    return np.linalg.lstsq(weighted, weights * motion, rcond=_SINGULAR)[0]


def _orientation(posed: Posed, leg: Leg) -> np.ndarray:
    """Return the orientation of a foot in the world, wxyz."""
    return posed.data.xquat[posed.model.body(leg.foot).id]


def sole_centre(posed: Posed, leg: Leg) -> np.ndarray:
    """Return the centre of a sole in the world, m, shape (3,)."""
    body = posed.model.body(leg.foot).id
    return posed.data.xpos[body] + posed.data.xmat[body].reshape(3, 3) @ leg.sole


def feet_gap(posed: Posed, legs: Sequence[Leg]) -> float:
    """Return the sideways distance between a biped's feet, m.

    It is the distance between the points nearest to the other foot that touch the
    ground.
    """
    left, right = (
        posed.points([posed.model.geom(name).id for name in leg.geoms])[:, 1]
        for leg in sorted(legs, key=lambda leg: -leg.side)
    )
    return float(left.min() - right.max())


def base_height(posed: Posed, legs: Sequence[Leg]) -> float:
    """Return the height of the base at which the lowest foot touches the ground, m."""
    geoms = [posed.model.geom(name).id for leg in legs for name in leg.geoms]
    return float(-posed.points(geoms)[:, 2].min())


def uneven(posed: Posed, legs: Sequence[Leg]) -> float:
    """Return the largest difference in height between two feet, m."""
    heights = [
        posed.points([posed.model.geom(name).id for name in leg.geoms])[:, 2].min()
        for leg in legs
    ]
    return float(np.ptp(heights))


def _inside(posed: Posed, joint: str) -> float:
    low, high = posed.limits(joint)
    margin = _MARGIN * (high - low)
    return float(np.clip(posed.position(joint), low + margin, high - margin))


def _bent_leg(
    posed: Posed,
    leg: Leg,
    start: Mapping[str, float],
    height: float,
    shift: float,
    number: int,
) -> dict[str, float]:
    """Find positions of the joints that bend a leg, for the wanted hip height."""
    if len(leg.flexion) < 2:
        return {}
    knee = leg.flexion[1]
    low, high = posed.limits(knee)
    margin = _MARGIN * (high - low)
    found = []
    for angle in np.linspace(low + margin, high - margin, _KNEE_ANGLES):
        pose = _with_knee(posed, leg, start, float(angle), shift)
        if pose is None:
            continue
        drop = posed.anchor(leg.flexion[0])[2] - sole_centre(posed, leg)[2]
        found.append((drop, _knee_ahead(posed, leg), pose))
    posed.place(start)
    if not found:
        raise AdoptError(
            f"The leg of {leg.foot!r} cannot place its foot below its hip within its "
            "joint limits. Pass a stance: --stance JOINT=RADIANS ..."
        )
    wanted = height * max(drop for drop, _, _ in found)

    def cost(one: tuple[float, float, dict[str, float]]) -> float:
        # A leg can bend in two directions: bipeds bend forward, quadrupeds backward.
        ahead = one[1] if number == 2 else -one[1]
        return abs(one[0] - wanted) - 1e-2 * np.sign(ahead) * wanted

    return min(found, key=cost)[2]


def _with_knee(
    posed: Posed, leg: Leg, start: Mapping[str, float], angle: float, shift: float
) -> dict[str, float] | None:
    """Solve hip and ankle for a knee angle; return None if a limit is exceeded."""
    hip, knee, *ankles = leg.flexion
    pose = {hip: start[hip], knee: angle, **{name: start[name] for name in ankles}}
    posed.place(pose)
    upright = np.array((0.0, 0.0, 1.0))
    for _ in range(4 if ankles and leg.flat else 2):
        foot = sole_centre(posed, leg) - posed.anchor(hip)
        below = np.array((shift, foot[1], -np.linalg.norm(foot)))
        pose[hip] += _turn(posed.axis(hip), foot, below)
        posed.place(pose)
        if ankles and leg.flat:
            body = posed.model.body(leg.foot).id
            normal = posed.data.xmat[body].reshape(3, 3) @ leg.normal
            pose[ankles[0]] += _turn(posed.axis(ankles[0]), normal, upright)
            posed.place(pose)
    for name, value in pose.items():
        low, high = posed.limits(name)
        wrapped = (value + np.pi) % (2.0 * np.pi) - np.pi
        pose[name] = wrapped if low <= wrapped <= high else value
        if not low <= pose[name] <= high:
            return None
    return pose


def _turn(axis: np.ndarray, now: np.ndarray, wanted: np.ndarray) -> float:
    """Return the rotation about an axis from one direction to another, rad."""
    now, wanted = now - axis * (axis @ now), wanted - axis * (axis @ wanted)
    return float(np.arctan2(axis @ np.cross(now, wanted), now @ wanted))


def _knee_ahead(posed: Posed, leg: Leg) -> float:
    """Return the distance of the knee in front of the line from hip to foot, m."""
    hip, knee = posed.anchor(leg.flexion[0]), posed.anchor(leg.flexion[1])
    foot = sole_centre(posed, leg)
    share = (hip[2] - knee[2]) / max(hip[2] - foot[2], 1e-6)
    return float(knee[0] - (hip[0] + share * (foot[0] - hip[0])))

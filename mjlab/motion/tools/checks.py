"""Checks of a motion: limits, speeds, penetration, foot slip, loop, velocities."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from mjlab.motion.motion import Motion
from mjlab.motion.rates import angular_velocity, velocity
from mjlab.motion.robot import MotionRobot

_LENGTH = 5e-3
"""Largest foot slip, ground penetration and self-penetration, in metres."""

_LOOP = 1e-3
"""Largest difference between the ends of a loop, in metres and radians."""

_STEP = 0.02
"""Largest error of a velocity against finite differences, in m or rad per frame."""

_UNIT = 1e-3


@dataclass(frozen=True, kw_only=True)
class MotionFigure:
    """Measured property of a motion, and the limit for passing the check."""

    name: str
    """Name of the property."""

    value: float
    """Measured value."""

    most: float
    """Largest value that passes."""

    unit: str
    """Unit of the value and of its limit."""

    place: str = ""
    """Robot part and time at which the worst value occurs."""

    @property
    def passes(self) -> bool:
        """True if the value is within its limit."""
        return self.value <= self.most

    def __str__(self) -> str:
        verdict = "ok" if self.passes else "TOO MUCH"
        value, most = (f"{number:.3g}" for number in (self.value, self.most))
        where = f"  {self.place}" if self.value > 0.0 and self.place else ""
        return (
            f"{self.name:<34}{value:>10} of {most:>6} {self.unit:<6} {verdict}{where}"
        )


def check_motion(
    motion: Motion, robot: MotionRobot, speed_limits: Sequence[float | None] = ()
) -> list[MotionFigure]:
    """Run all checks on a motion; return the measured values with their limits.

    Args:
        motion: The motion; missing bodies are computed.
        robot: The robot of the motion.
        speed_limits: Speed limit of each joint of the robot, in rad/s; None if not
            known.
    """
    full = robot.completed(motion)
    found = [_joint_limits(full, robot), *_speeds(full, speed_limits)]
    found += [_quaternions(motion), _velocities(motion)]
    found += [_ground(full, robot), _self_contact(full, robot)]
    found += _slip(full)
    if motion.info.loops:
        found.append(_loop(full))
    return found


def lowest_points(motion: Motion, robot: MotionRobot) -> np.ndarray:
    """Return the height of the lowest point of each collision geom.

    Args:
        motion: A motion with all bodies.
        robot: The robot of the motion.

    Returns:
        Shape (frames, geoms), in the order of the model's collision geoms.
    """
    model = robot.sim.mj_model
    bodies = {f"robot/{name}": i for i, name in enumerate(motion.body_names)}
    columns = []
    for geom in collision_geoms(model):
        body = bodies[model.body(int(model.geom_bodyid[geom])).name]
        rotation = _matrices(motion.body_quat_w[:, body])
        center = motion.body_pos_w[:, body, 2] + rotation[:, 2] @ model.geom_pos[geom]
        own = np.zeros(9)
        mujoco.mju_quat2Mat(own, model.geom_quat[geom])
        columns.append(center - _reach(model, geom, rotation[:, 2] @ own.reshape(3, 3)))
    return np.stack(columns, axis=1)


def collision_geoms(model: mujoco.MjModel) -> list[int]:
    """Return the geoms with collision enabled."""
    touches = (model.geom_contype != 0) | (model.geom_conaffinity != 0)
    return np.flatnonzero(touches).tolist()


def stances(contacts: np.ndarray) -> Iterator[tuple[int, int, int]]:
    """Yield each stance phase: (foot, first frame, one after the last frame)."""
    for foot in range(contacts.shape[1]):
        padded = np.concatenate(([False], contacts[:, foot], [False])).astype(int)
        edges = np.flatnonzero(np.diff(padded))
        for first, last in zip(edges[::2], edges[1::2], strict=True):
            yield foot, int(first), int(last)


def estimate_contacts(
    motion: Motion, feet: Sequence[str], *, height: float = 0.03, speed: float = 0.25
) -> np.ndarray:
    """Estimate foot contacts from height and speed.

    Args:
        motion: A motion with all bodies.
        feet: Bodies of the feet.
        height: Largest height of a foot in contact, above its lowest one, in metres.
        speed: Largest speed of a foot in contact, in m/s.

    Returns:
        Shape (frames, feet), bool.
    """
    columns = motion.body_columns(feet)
    heights = motion.body_pos_w[:, columns, 2]
    speeds = np.linalg.norm(motion.body_lin_vel_w[:, columns], axis=-1)
    return (heights < heights.min(axis=0) + height) & (speeds < speed)


def _joint_limits(motion: Motion, robot: MotionRobot) -> MotionFigure:
    low, high = robot.joint_limits.T
    beyond = np.maximum(low - motion.joint_pos, motion.joint_pos - high)
    return _worst(
        "joint limit violation", beyond, 1e-5, "rad", motion.joint_names, motion.fps
    )


def _speeds(motion: Motion, limits: Sequence[float | None]) -> Iterator[MotionFigure]:
    if limits:
        most = np.array([np.inf if limit is None else limit for limit in limits])
        share = np.abs(motion.joint_vel) / most
        names = motion.joint_names
        yield _worst("fraction of motor speed limit", share, 1.0, "", names, motion.fps)


def _quaternions(motion: Motion) -> MotionFigure:
    away = np.abs(np.linalg.norm(motion.body_quat_w, axis=-1) - 1.0)
    names = motion.body_names
    return _worst("quaternion norm error", away, _UNIT, "", names, motion.fps)


def _velocities(motion: Motion) -> MotionFigure:
    """Compare the velocities with finite differences of the frames."""
    parts = [
        (
            motion.joint_names,
            (motion.joint_vel - velocity(motion.joint_pos, motion.fps)),
        )
    ]
    linear = motion.body_lin_vel_w - velocity(motion.body_pos_w, motion.fps)
    parts.append((motion.body_names, np.linalg.norm(linear, axis=-1)))
    turns = [
        motion.body_ang_vel_w[:, body]
        - angular_velocity(motion.body_quat_w[:, body], motion.fps)
        for body in range(len(motion.body_names))
    ]
    parts.append((motion.body_names, np.linalg.norm(np.stack(turns, axis=1), axis=-1)))
    names = [name for part, _ in parts for name in part]
    # One-sided differences at the ends are less exact than a simulator's velocities.
    apart = np.concatenate([np.abs(away) for _, away in parts], axis=1)[1:-1]
    return _worst(
        "velocity minus finite differences",
        apart / motion.fps,
        _STEP,
        "/frame",
        names,
        motion.fps,
    )


def _ground(motion: Motion, robot: MotionRobot) -> MotionFigure:
    model = robot.sim.mj_model
    names = [
        model.geom(geom).name.removeprefix("robot/") for geom in collision_geoms(model)
    ]
    depth = -lowest_points(motion, robot)
    return _worst("ground penetration", depth, _LENGTH, "m", names, motion.fps)


def _self_contact(motion: Motion, robot: MotionRobot) -> MotionFigure:
    """Find the deepest self-penetration of the robot, with MuJoCo's collisions."""
    model = robot.sim.mj_model
    data = mujoco.MjData(model)
    places = [model.joint(f"robot/{name}").qposadr[0] for name in motion.joint_names]
    deepest, place = 0.0, ""
    for frame in range(motion.num_frames):
        data.qpos[:3] = motion.root_pos[frame]
        data.qpos[3:7] = motion.root_quat[frame]
        data.qpos[places] = motion.joint_pos[frame]
        mujoco.mj_fwdPosition(model, data)
        for number in range(data.ncon):
            contact = data.contact[number]
            if -contact.dist > deepest:
                pair = (model.geom(geom).name for geom in contact.geom.tolist())
                one, two = (name.removeprefix("robot/") for name in pair)
                deepest = -float(contact.dist)
                place = f"{one} in {two} at {frame / motion.fps:.2f} s"
    return MotionFigure(
        name="self-penetration",
        value=deepest,
        most=_LENGTH,
        unit="m",
        place=place,
    )


def _slip(motion: Motion) -> Iterator[MotionFigure]:
    if motion.contacts is None or not motion.contact_names:
        return
    columns = motion.body_columns(motion.contact_names)
    away = np.zeros(motion.contacts.shape)
    for foot, first, last in stances(motion.contacts):
        place = motion.body_pos_w[first:last, columns[foot]]
        away[first:last, foot] = np.linalg.norm(place - place[0], axis=-1)
    names = motion.contact_names
    yield _worst("foot slip in stance", away, _LENGTH, "m", names, motion.fps)


def _loop(motion: Motion) -> MotionFigure:
    """Compare first and last frame, regardless of position and heading."""
    ends = np.array((0, -1))
    joints = np.abs(np.diff(motion.joint_pos[ends], axis=0))[0]
    height = abs(float(np.diff(motion.root_pos[ends, 2])[0]))
    upright = _matrices(motion.root_quat[ends])[:, 2]
    tilt = float(np.linalg.norm(upright[1] - upright[0]))
    gaps = np.array([[*joints, height, tilt]])
    names = [*motion.joint_names, "root height", "root tilt"]
    return _worst("loop closure error", gaps, _LOOP, "", names, motion.fps)


def _worst(
    name: str,
    values: np.ndarray,
    most: float,
    unit: str,
    columns: Sequence[str],
    fps: float,
) -> MotionFigure:
    frame, column = divmod(int(values.argmax()), values.shape[1])
    return MotionFigure(
        name=name,
        value=max(0.0, float(values[frame, column])),
        most=most,
        unit=unit,
        place=f"{columns[column]} at {frame / fps:.2f} s",
    )


def _matrices(quats: np.ndarray) -> np.ndarray:
    """Convert wxyz quaternions, (frames, 4), to matrices, (frames, 3, 3)."""
    found = np.zeros((len(quats), 9))
    for matrix, quat in zip(found, quats, strict=True):
        mujoco.mju_quat2Mat(matrix, quat)
    return found.reshape(-1, 3, 3)


_Reach = Callable[[np.ndarray, np.ndarray], np.ndarray]

_REACHES: dict[int, _Reach] = {
    mujoco.mjtGeom.mjGEOM_SPHERE: lambda size, up: np.full(len(up), size[0]),
    mujoco.mjtGeom.mjGEOM_CAPSULE: lambda size, up: (
        size[0] + size[1] * np.abs(up[:, 2])
    ),
    mujoco.mjtGeom.mjGEOM_CYLINDER: lambda size, up: (
        size[0] * np.hypot(up[:, 0], up[:, 1]) + size[1] * np.abs(up[:, 2])
    ),
    mujoco.mjtGeom.mjGEOM_BOX: lambda size, up: np.abs(up) @ size,
    mujoco.mjtGeom.mjGEOM_ELLIPSOID: lambda size, up: np.linalg.norm(up * size, axis=1),
}
"""By geom type, functions of the geom's size and of the vertical in the geom's frame
that return the depth of the lowest point below the centre, m."""


def _reach(model: mujoco.MjModel, geom: int, up: np.ndarray) -> np.ndarray:
    kind = int(model.geom_type[geom])
    if kind == mujoco.mjtGeom.mjGEOM_MESH:
        mesh = int(model.geom_dataid[geom])
        first, number = model.mesh_vertadr[mesh], model.mesh_vertnum[mesh]
        return -(up @ model.mesh_vert[first : first + number].T).min(axis=1)
    if kind not in _REACHES:
        name = model.geom(geom).name
        raise ValueError(
            f"The lowest point of geom {name!r} cannot be computed: use a sphere, "
            "capsule, cylinder, box, ellipsoid or mesh."
        )
    return _REACHES[kind](model.geom_size[geom], up)

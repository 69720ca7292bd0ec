"""Inertial properties of links and poses of sensors, in the default pose."""

from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

from mjlab.export.runner.robot import MujocoRobot

_KINDS = ("sliding", "torsional", "rolling")
_NEEDS = (3, 4, 6)
"""Kinds of friction, and the minimum contact dimension of each."""

_TURN = ("GYRO", "FRAMEANGVEL", "FRAMEANGACC", "FRAMEQUAT", "MAGNETOMETER")
_TURN += ("FRAMEXAXIS", "FRAMEYAXIS", "FRAMEZAXIS")
"""Sensors whose readings do not depend on their position on a link."""


@dataclass(frozen=True)
class Link:
    """Body with a joint, and all bodies that are fixed to this body."""

    name: str
    """Name of the body."""

    mass: float
    """Mass, kg."""

    centre: np.ndarray
    """Centre of mass relative to the joint anchor, in the axes of the root, m."""

    inertia: np.ndarray
    """Inertia about the centre of mass, in the axes of the root, kg m^2."""

    friction: dict[str, tuple[float, float]]
    """Minimum and maximum friction with static geoms, by kind of friction. Empty if the
    link has no contacts with them."""


@dataclass(frozen=True)
class Mount:
    """Type and pose of a sensor on the robot."""

    kind: str
    """MuJoCo sensor type, such as "gyro"."""

    link: str
    """Key of the sensor's link in `links`; empty if the sensor is not on a link."""

    place: np.ndarray
    """Position relative to the anchor of the link's joint, in the axes of the root,
    m."""

    axes: np.ndarray
    """Rotation matrix from the sensor's frame to the root's, shape (3, 3)."""

    has_place: bool
    """Whether readings depend on the position."""

    has_axes: bool
    """Whether readings depend on the orientation."""


def links(robot: MujocoRobot) -> dict[str, Link]:
    """Return a robot's links, by the name of the joint that moves them or "root"."""
    data = _default(robot)
    model, found = robot.model, {}
    for key, (weld, anchor) in _welds(robot, data).items():
        bodies = np.flatnonzero(model.body_weldid == weld)
        mass = model.body_mass[bodies]
        whole = max(float(mass.sum()), 1e-12)
        centre = mass @ data.xipos[bodies] / whole
        inertia = np.zeros((3, 3))
        for body in bodies:
            axes, way = data.ximat[body].reshape(3, 3), data.xipos[body] - centre
            inertia += axes @ np.diag(model.body_inertia[body]) @ axes.T
            inertia += model.body_mass[body] * (way @ way * np.eye(3))
            inertia -= model.body_mass[body] * np.outer(way, way)
        name = model.body(weld).name.removeprefix(robot.entity["prefix"])
        friction = _friction(model, bodies)
        found[key] = Link(name, whole, centre - anchor, inertia, friction)
    return found


def mounts(robot: MujocoRobot, name: str) -> Mount:
    """Return a sensor's type, and its pose relative to the link that carries it."""
    data, model = _default(robot), robot.model
    index = robot.find("sensor", name)
    kind = mujoco.mjtSensor(int(model.sensor_type[index])).name.removeprefix("mjSENS_")
    obj, on = int(model.sensor_objtype[index]), int(model.sensor_objid[index])
    # A sensor with a reference frame measures there, such as gravity in an IMU's frame.
    if model.sensor_refid[index] >= 0:
        obj, on = int(model.sensor_reftype[index]), int(model.sensor_refid[index])
    body, place, axes = _carrier(model, data, obj, on)
    welds = _welds(robot, data)
    weld = int(model.body_weldid[body])
    link = next((key for key, (own, _) in welds.items() if own == weld), "")
    origin = welds[link][1] if link else np.zeros(3)
    return Mount(
        kind.lower(),
        link,
        place - origin,
        axes,
        body > 0 and kind not in _TURN,
        body > 0 and int(model.sensor_dim[index]) >= 3,
    )


def _default(robot: MujocoRobot) -> Any:
    data = mujoco.MjData(robot.model)
    for joint, (position, _) in zip(robot.entity["joints"], robot.joints, strict=True):
        data.qpos[position] = joint["default_pos"]
    mujoco.mj_kinematics(robot.model, data)
    return data


def _welds(robot: MujocoRobot, data: Any) -> dict[str, tuple[int, np.ndarray]]:
    """Return body id and joint anchor (or root origin) of each link, by its key."""
    model = robot.model
    joints = [int(model.dof_jntid[dof]) for _, dof in robot.joints]
    bodies = [int(model.body_weldid[model.jnt_bodyid[joint]]) for joint in joints]
    names = [joint["name"] for joint in robot.entity["joints"]]
    found: dict[str, tuple[int, np.ndarray]] = {}
    if joints and not robot.entity["root"]["is_fixed"]:
        root = int(model.body_rootid[bodies[0]])
        found["root"] = root, data.xpos[root]
    for name, joint, body in zip(names, joints, bodies, strict=True):
        if body not in [known for known, _ in found.values()]:
            found[name] = body, data.xanchor[joint]
    return found


def _carrier(
    model: Any, data: Any, kind: int, index: int
) -> tuple[int, np.ndarray, np.ndarray]:
    """Return body id, world position and axes of a sensor's object.

    The body is 0 if the object is of another type.
    """
    names = {
        mujoco.mjtObj.mjOBJ_SITE: ("site", "site_x"),
        mujoco.mjtObj.mjOBJ_GEOM: ("geom", "geom_x"),
        mujoco.mjtObj.mjOBJ_CAMERA: ("cam", "cam_x"),
        mujoco.mjtObj.mjOBJ_BODY: ("", "xi"),
        mujoco.mjtObj.mjOBJ_XBODY: ("", "x"),
    }
    if kind not in names:
        return 0, np.zeros(3), np.eye(3)
    owner, field = names[mujoco.mjtObj(kind)]
    body = int(getattr(model, f"{owner}_bodyid")[index]) if owner else index
    place = getattr(data, f"{field}pos")[index].copy()
    return body, place, getattr(data, f"{field}mat")[index].reshape(3, 3).copy()


def _friction(model: Any, bodies: np.ndarray) -> dict[str, tuple[float, float]]:
    """Return minimum and maximum friction between bodies and static geoms, by kind."""
    welds = model.body_weldid[model.geom_bodyid]
    found = [
        _of_pair(model, [geom, ground])
        for geom in np.flatnonzero(np.isin(model.geom_bodyid, bodies))
        for ground in np.flatnonzero(welds == 0)
        if model.geom_contype[geom] & model.geom_conaffinity[ground]
        or model.geom_contype[ground] & model.geom_conaffinity[geom]
    ]
    if not found:
        return {}
    low, high = np.min(found, axis=0), np.max(found, axis=0)
    return {
        kind: (float(low[i]), float(high[i]))
        for i, kind in enumerate(_KINDS)
        if high[i] > 0.0
    }


def _of_pair(model: Any, pair: list[Any]) -> np.ndarray:
    """Combine the friction of two geoms as MuJoCo does.

    Torsional and rolling friction are 0 if the contact dimension excludes them.
    """
    priority = model.geom_priority[pair]
    if priority[0] != priority[1]:
        pair = [pair[int(np.argmax(priority))]]
    is_used = np.array(_NEEDS) <= model.geom_condim[pair].max()
    return np.where(is_used, model.geom_friction[pair].max(axis=0), 0.0)

"""Units, frames and element names of inputs in a contract."""

import inspect
import re
from collections.abc import Mapping, Sequence
from typing import Any

import mujoco

from mjlab import mdp
from mjlab.entity import Entity
from mjlab.managers.managed_env import ManagedEnv
from mjlab.managers.quantity import MEASURED, Describe, Quantity, Units
from mjlab.muscle import mdp as muscle
from mjlab.scene import SceneEntityCfg, Selection

WORLD = "world"
XYZ = ["x", "y", "z"]
WXYZ = ["w", "x", "y", "z"]


def known_measured(func: Any) -> Describe | None:
    """Return the function that describes a measured term; None for a traced term."""
    return MEASURED.get(func) or _MEASURED.get(func)


def meaning(func: Any) -> str:
    """Return the first paragraph of a function's docstring as one line."""
    text = inspect.getdoc(func) or func.__name__
    text = " ".join(text.split("\n\n")[0].split())
    text = text.removeprefix("Return ").removeprefix("the ")
    return _SHAPE.sub("", text[0].upper() + text[1:])


# Joints.


def joint_units(
    env: ManagedEnv, entity: Entity, names: Sequence[str], hinge: str, slide: str
) -> Units:
    """Return one unit if all joints are hinges or all slides, else a list of units."""
    model = env.sim.mj_model
    prefix = entity.index.prefix
    types = [int(model.joint(prefix + name).type[0]) for name in names]
    is_slide = [kind == int(mujoco.mjtJoint.mjJNT_SLIDE) for kind in types]
    units = [slide if each else hinge for each in is_slide]
    return units[0] if len(set(units)) == 1 else units


def root_frame(env: ManagedEnv, entity: Entity) -> str:
    """Return the name of an entity's root body; "world" if it has none."""
    body = entity.index.root_body_id
    return env.sim.mj_model.body(body).name if body else WORLD


def _joints(hinge: str, slide: str) -> Describe:
    def of(env: ManagedEnv, params: Mapping[str, Any]) -> Quantity:
        chosen = selection(env, params)
        names = list(chosen.joint_names)
        units = joint_units(env, chosen.entity, names, hinge, slide)
        return Quantity(units, None, names)

    return of


def _fixed(
    unit: Units, elements: list[str] | None = None, frame: str | None = None
) -> Describe:
    """Return a function that ignores the term and returns this description."""
    return lambda env, params: Quantity(unit, frame, elements)


def _tendons(env: ManagedEnv, params: Mapping[str, Any]) -> Quantity:
    return Quantity("m", None, list(selection(env, params).tendon_names))


def _poses(env: ManagedEnv, params: Mapping[str, Any]) -> Quantity:
    bodies = selection(env, params).body_names
    each = [*XYZ, *(f"quat_{axis}" for axis in WXYZ)]
    elements = [f"{body} {part}" for body in bodies for part in each]
    units = ["m"] * 3 + ["1"] * 4
    return Quantity(units * len(bodies), WORLD, elements)


def selection(env: ManagedEnv, params: Mapping[str, Any]) -> Selection:
    """Return a term's `asset_cfg`, resolved; by default, all of entity "robot"."""
    chosen = params.get("asset_cfg")
    if isinstance(chosen, Selection):
        return chosen
    return (chosen or SceneEntityCfg("robot")).resolve(env.scene)


# Sensors.


def sensor_quantity(env: ManagedEnv, name: str) -> Quantity:
    """Return the unit, frame and elements of a MuJoCo sensor's reading."""
    sensor = env.sim.mj_model.sensor(name)
    kind = mujoco.mjtSensor(int(sensor.type[0])).name.removeprefix("mjSENS_").lower()
    unit, has_own_frame = _SENSORS.get(kind, (None, False))
    elements = {3: XYZ, 4: WXYZ if kind.endswith("quat") else None}
    frame = None
    if int(sensor.dim[0]) >= 3:
        frame = _sensor_frame(env.sim.mj_model, sensor, has_own_frame)
    return Quantity(unit, frame, elements.get(int(sensor.dim[0])))


def _sensor_frame(model: mujoco.MjModel, sensor: Any, has_own_frame: bool) -> str:
    pair = (sensor.objtype, sensor.objid) if has_own_frame else ()
    pair = pair or (sensor.reftype, sensor.refid)
    kind, index = int(pair[0][0]), int(pair[1][0])
    if index < 0 or kind == int(mujoco.mjtObj.mjOBJ_UNKNOWN):
        return WORLD
    if kind == int(mujoco.mjtObj.mjOBJ_XBODY):
        kind = int(mujoco.mjtObj.mjOBJ_BODY)
    return mujoco.mj_id2name(model, kind, index) or WORLD


_SENSORS: dict[str, tuple[str, bool]] = {
    "touch": ("N", False),
    "accelerometer": ("m/s^2", True),
    "velocimeter": ("m/s", True),
    "gyro": ("rad/s", True),
    "force": ("N", True),
    "torque": ("N m", True),
    "rangefinder": ("m", False),
    "tendonpos": ("m", False),
    "tendonvel": ("m/s", False),
    "ballquat": ("1", False),
    "ballangvel": ("rad/s", False),
    "framepos": ("m", False),
    "framequat": ("1", False),
    "framexaxis": ("1", False),
    "frameyaxis": ("1", False),
    "framezaxis": ("1", False),
    "framelinvel": ("m/s", False),
    "frameangvel": ("rad/s", False),
    "framelinacc": ("m/s^2", False),
    "frameangacc": ("rad/s^2", False),
    "subtreecom": ("m", False),
    "subtreelinvel": ("m/s", False),
    "subtreeangmom": ("kg m^2/s", False),
    "clock": ("s", False),
}
"""Unit by sensor type, and whether the reading is in the frame of the sensor's site or
body."""


_SHAPE = re.compile(r",? (shape )?\(num_envs[^)]*\)")
_MEASURED: dict[Any, Describe] = {
    mdp.base_height: _fixed("m", ["z"], WORLD),
    mdp.root_pos_local: _fixed("m", XYZ, WORLD),
    mdp.joint_effort: _joints("N m", "N"),
    mdp.tendon_length: _tendons,
    mdp.body_pose_local: _poses,
    mdp.height_scan: _fixed("m", None, WORLD),
    mdp.contact_found: _fixed("1"),
    muscle.muscle_torque_capacity: _fixed("1"),
    muscle.muscle_length: _fixed("m"),
    muscle.muscle_velocity: _fixed("m/s"),
    muscle.muscle_activation: _fixed("1"),
    muscle.muscle_force: _fixed("N"),
}
"""Observation functions of mjlab that are measured, with functions describing them."""

"""The physics of an observation: unit, frame, and the owner of each number.

Of the terms of mjlab it is known. Of others it is found out as far as possible: from a
sensor of MuJoCo's whose readings they pass on, or from their own description, which in
this project says the unit.
"""

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import mujoco
import torch

from mjlab import mdp, motion
from mjlab.entity import Entity
from mjlab.managers.managed_env import ManagedEnv
from mjlab.managers.term import BoundTerm
from mjlab.mdp.velocity_command import UniformVelocityCommand
from mjlab.scene import SceneEntityCfg, Selection
from mjlab.sensor.native import MujocoSensor

WORLD = "world"
XYZ = ["x", "y", "z"]
WXYZ = ["w", "x", "y", "z"]

Units = str | list[str] | None


@dataclass(frozen=True)
class Quantity:
    """The physics of some numbers."""

    unit: Units = None
    """SI unit, of all or of each; "1" for none. None where it is not known."""

    frame: str | None = None
    """The body or site in whose axes they are, or "world". None where there are no
    axes, or they are not known."""

    elements: list[str] | None = None
    """The owner of each number, such as a joint. None where it is not known."""


def describe(env: ManagedEnv, term: BoundTerm, value: torch.Tensor) -> Quantity:
    """Return the physics of an observation term, whose value is now `value`."""
    known = _KNOWN.get(term.cfg.func)
    if known is not None:
        return known(env, term.params)
    if passed_on(env, term, value) is not None:
        return _sensor(env, term.params)
    return Quantity(unit=_unit_in(meaning(term.cfg.func)))


def meaning(func: Any) -> str:
    """Return the first sentences of a function's description, in one line."""
    text = inspect.getdoc(func) or func.__name__
    text = " ".join(text.split("\n\n")[0].split())
    text = text.removeprefix("Return ").removeprefix("the ")
    return _SHAPE.sub("", text[0].upper() + text[1:])


# Joints.


def joint_units(
    env: ManagedEnv, entity: Entity, names: Sequence[str], hinge: str, slide: str
) -> Units:
    """Return the unit of each joint, or that of all if it is the same."""
    model = env.sim.mj_model
    prefix = entity.index.prefix
    types = [int(model.joint(prefix + name).type[0]) for name in names]
    is_slide = [kind == int(mujoco.mjtJoint.mjJNT_SLIDE) for kind in types]
    units = [slide if each else hinge for each in is_slide]
    return units[0] if len(set(units)) == 1 else units


def root_frame(env: ManagedEnv, entity: Entity) -> str:
    """Return the name of the frame of an entity's root."""
    body = entity.index.root_body_id
    return env.sim.mj_model.body(body).name if body else WORLD


def _joints(hinge: str, slide: str) -> Callable[[ManagedEnv, dict[str, Any]], Quantity]:
    def of(env: ManagedEnv, params: dict[str, Any]) -> Quantity:
        chosen = selection(env, params)
        names = list(chosen.joint_names)
        units = joint_units(env, chosen.entity, names, hinge, slide)
        return Quantity(units, None, names)

    return of


def _fixed(
    unit: Units, elements: list[str] | None = None, frame: str | None = None
) -> Callable[[ManagedEnv, dict[str, Any]], Quantity]:
    """Always the same."""
    return lambda env, params: Quantity(unit, frame, elements)


def _in_root(unit: str) -> Callable[[ManagedEnv, dict[str, Any]], Quantity]:
    """A vector in the root frame."""

    def of(env: ManagedEnv, params: dict[str, Any]) -> Quantity:
        return Quantity(unit, root_frame(env, selection(env, params).entity), XYZ)

    return of


def _tendons(env: ManagedEnv, params: dict[str, Any]) -> Quantity:
    return Quantity("m", None, list(selection(env, params).tendon_names))


def _poses(env: ManagedEnv, params: dict[str, Any]) -> Quantity:
    bodies = selection(env, params).body_names
    each = [*XYZ, *(f"quat_{axis}" for axis in WXYZ)]
    elements = [f"{body} {part}" for body in bodies for part in each]
    units = ["m"] * 3 + ["1"] * 4
    return Quantity(units * len(bodies), WORLD, elements)


def selection(env: ManagedEnv, params: Mapping[str, Any]) -> Selection:
    """Return the parts that a term is about: those given, or all of its robot."""
    chosen = params.get("asset_cfg")
    if isinstance(chosen, Selection):
        return chosen
    return (chosen or SceneEntityCfg("robot")).resolve(env.scene)


# Commands and sensors.


def _command(env: ManagedEnv, params: dict[str, Any]) -> Quantity:
    term = env.command_manager.get_term(params["command_name"])
    if not isinstance(term, UniformVelocityCommand):
        return Quantity()
    entity = env.scene.entity(term.cfg.entity_name)
    return Quantity(
        ["m/s", "m/s", "rad/s"],
        root_frame(env, entity),
        ["lin_vel_x", "lin_vel_y", "ang_vel_z"],
    )


def _sensor(env: ManagedEnv, params: dict[str, Any]) -> Quantity:
    name = params["sensor_name"]
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
"""Unit by type, and True for readings in the axes of what carries the sensor."""


def passed_on(
    env: ManagedEnv, term: BoundTerm, value: torch.Tensor
) -> torch.Tensor | None:
    """Return the readings that a term passes on, as they are or negated."""
    name = term.params.get("sensor_name")
    if not isinstance(name, str):
        return None
    sensor = env.scene.sensor(name)
    if not isinstance(sensor, MujocoSensor) or sensor.data.shape != value.shape:
        return None
    if not torch.equal(sensor.data.abs(), value.abs()) or not value.any():
        return None
    return sensor.data


def _unit_in(text: str) -> Units:
    """Return the unit in a description, between commas or at its end."""
    found = _UNIT.search(text)
    if found:
        return found[1].replace("²", "^2")
    return "1" if _NO_UNIT.match(text) else None


_SHAPE = re.compile(r",? (shape )?\(num_envs[^)]*\)")
_UNIT = re.compile(
    r"(?:,| in) (kg m²/s|N m|rad/s²|rad/s|m/s²|m/s|rad|N|m|s)(?=[,.;]|$)"
)
_NO_UNIT = re.compile(r"(Cosine|Sine|Direction|Whether|Share)\b")

_KNOWN: dict[Any, Callable[[ManagedEnv, dict[str, Any]], Quantity]] = {
    mdp.base_lin_vel: _in_root("m/s"),
    mdp.base_ang_vel: _in_root("rad/s"),
    mdp.projected_gravity: _in_root("1"),
    mdp.base_height: _fixed("m", ["z"], WORLD),
    mdp.root_pos_local: _fixed("m", XYZ, WORLD),
    mdp.root_quat_w: _fixed("1", WXYZ, WORLD),
    mdp.joint_pos: _joints("rad", "m"),
    mdp.joint_pos_rel: _joints("rad", "m"),
    mdp.joint_pos_limit_normalized: _joints("rad", "m"),
    mdp.joint_vel: _joints("rad/s", "m/s"),
    mdp.joint_vel_rel: _joints("rad/s", "m/s"),
    mdp.joint_effort: _joints("N m", "N"),
    mdp.tendon_length: _tendons,
    mdp.body_pose_local: _poses,
    mdp.generated_commands: _command,
    mdp.episode_progress: _fixed("1"),
    motion.mdp.motion_time_step: _fixed("1", ["row of the clips"]),
    motion.mdp.robot_anchor_pose_w: _fixed(
        ["m"] * 3 + ["1"] * 4, [*XYZ, *(f"quat_{axis}" for axis in WXYZ)], WORLD
    ),
    motion.mdp.robot_anchor_quat_w: _fixed("1", WXYZ, WORLD),
    mdp.builtin_sensor: _sensor,
    mdp.height_scan: _fixed("m", None, WORLD),
    mdp.contact_found: _fixed("1"),
}

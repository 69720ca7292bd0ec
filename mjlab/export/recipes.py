"""Recipes of inputs: what a robot measures each by, as far as it is known."""

from collections.abc import Callable, Mapping
from typing import Any

import mujoco
import torch

from mjlab import mdp, motion
from mjlab.export.cameras import CHANNELS, camera_recipe
from mjlab.export.forms import MEASURED, Recipe
from mjlab.export.motion import TIME_STEP
from mjlab.export.plan import encoder_pos
from mjlab.export.quantities import passed_on, root_frame, selection
from mjlab.managers.managed_env import ManagedEnv
from mjlab.managers.term import BoundTerm
from mjlab.mdp.velocity_command import UniformVelocityCommand

Params = Mapping[str, Any]


def recipe(env: ManagedEnv, term: BoundTerm, value: torch.Tensor) -> Recipe:
    """Return how an input is measured whose value is now `value`."""
    func = term.cfg.func
    build = MEASURED.get(func, _KNOWN.get(func))
    if build is not None:
        return build(env, term.params)
    if func in CHANNELS:
        return camera_recipe(env, term, value)
    sensor = passed_on(env, term, value)
    if sensor is not None:
        sign = 1.0 if torch.equal(sensor, value) else -1.0
        return {"op": "sensor", "name": term.params["sensor_name"], "sign": sign}
    return {"op": "given"}


def upright_reading(env: ManagedEnv, entity: str, how: Recipe) -> list[float] | None:
    """Return the reading of an upright root; None for what is no direction of gravity.

    Args:
        env: The environment.
        entity: The robot.
        how: The recipe of the input.
    """
    robot, model = env.scene.entity(entity), env.sim.mj_model
    if robot.is_fixed_base:
        return None
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    root = model.body(root_frame(env, robot)).id
    if how["op"] == "gravity":
        body, axes, sign = model.body(how["body"]).id, None, -1.0
    elif how["op"] == "sensor":
        body, axes = _up_sensor(model, data, model.sensor(how["name"]))
        sign = how["sign"]
    else:
        return None
    if model.body_weldid[body] != root:
        return None
    turn = data.xmat[body] if axes is None else axes
    # The root's upward axis, in the axes of what measures.
    up = data.xmat[root].reshape(3, 3)[:, 2] @ turn.reshape(3, 3)
    return (sign * up + 0.0).tolist()


def _up_sensor(model: Any, data: Any, sensor: Any) -> tuple[int, Any]:
    """Return the body that a sensor of the vertical is on, and its axes there.

    The body is that of the world for any other sensor.
    """
    objects = mujoco.mjtObj
    of_world = int(sensor.objtype[0]) in (objects.mjOBJ_BODY, objects.mjOBJ_XBODY)
    of_world = of_world and int(sensor.objid[0]) == 0
    is_up = int(sensor.type[0]) == int(mujoco.mjtSensor.mjSENS_FRAMEZAXIS)
    kind, index = int(sensor.reftype[0]), int(sensor.refid[0])
    if is_up and of_world and kind == int(objects.mjOBJ_SITE):
        return int(model.site_bodyid[index]), data.site_xmat[index]
    if is_up and of_world and kind == int(objects.mjOBJ_XBODY):
        return index, data.xmat[index]
    return 0, None


def described_commands(
    env: ManagedEnv, inputs: list[dict[str, Any]], first: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Return what can be commanded, from the recipes of inputs.

    Args:
        env: The environment.
        inputs: Descriptions of the inputs.
        first: First recorded values, by name of the command.
    """
    found = []
    for name in named_commands(inputs):
        term = env.command_manager.term(name)
        width = len(first[name])
        start, ranges = list(first[name]), None
        if isinstance(term, UniformVelocityCommand):
            start = [0.0] * width
            given = vars(term.cfg.ranges)
            ranges = [list(given[k]) for k in ("lin_vel_x", "lin_vel_y", "ang_vel_z")]
        found.append(
            {"name": name, "width": width, "start": start, "range": ranges}
            | {"kind": type(term).__name__}
        )
    return found


def named_commands(inputs: list[dict[str, Any]]) -> list[str]:
    """Return the commands that inputs are measured by."""
    names: dict[str, None] = {}
    for entry in inputs:
        used = entry["measured"]
        parts = [used, used.get("start", {}), used.get("end", {})]
        names |= {part["command"]: None for part in parts if "command" in part}
    return [name for name in names if name != TIME_STEP]


def _joints(op: str) -> Callable[[ManagedEnv, Params], Recipe]:
    def build(env: ManagedEnv, params: Params) -> Recipe:
        chosen = selection(env, params)
        prefix = chosen.entity.index.prefix
        return {"op": op, "joints": [prefix + name for name in chosen.joint_names]}

    return build


def _in_root(op: str) -> Callable[[ManagedEnv, Params], Recipe]:
    return lambda env, params: {
        "op": op,
        "body": root_frame(env, selection(env, params).entity),
    }


def _anchor(start: int) -> Callable[[ManagedEnv, Params], Recipe]:
    def build(env: ManagedEnv, params: Params) -> Recipe:
        command = motion.motion_command(env, params["command_name"])
        body = command.entity.index.prefix + command.cfg.anchor_body
        return {"op": "pose", "body": body, "part": [start, 7]}

    return build


_KNOWN: dict[Any, Callable[[ManagedEnv, Params], Recipe]] = {
    encoder_pos: _joints("joint_pos"),
    mdp.joint_pos: _joints("joint_pos"),
    mdp.joint_vel: _joints("joint_vel"),
    mdp.base_lin_vel: _in_root("lin_vel"),
    mdp.base_ang_vel: _in_root("ang_vel"),
    mdp.projected_gravity: _in_root("gravity"),
    mdp.root_quat_w: lambda env, params: (
        _in_root("pose")(env, params) | {"part": [3, 7]}
    ),
    mdp.builtin_sensor: lambda env, params: {
        "op": "sensor",
        "name": params["sensor_name"],
        "sign": 1.0,
    },
    mdp.generated_commands: lambda env, params: {
        "op": "command",
        "command": params["command_name"],
    },
    motion.mdp.motion_time_step: lambda env, params: {
        "op": "command",
        "command": TIME_STEP,
    },
    motion.mdp.robot_anchor_pose_w: _anchor(0),
    motion.mdp.robot_anchor_quat_w: _anchor(3),
}
"""Recipes of terms that mjlab has; of tasks' own terms, see `forms.measured`."""

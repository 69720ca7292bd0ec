"""Recipes of inputs: what a robot measures each by, as far as it is known."""

from collections.abc import Callable, Mapping
from typing import Any

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

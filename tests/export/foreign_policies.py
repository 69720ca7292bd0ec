"""A small robot, networks and files in the formats of other projects."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

JOINTS = ("left_hip", "left_knee", "right_hip", "right_knee")
"""Joints in the order of the model."""

DEFAULT = (-0.2, 0.4, -0.2, 0.4)
STIFFNESS, DAMPING = (40.0, 60.0, 40.0, 60.0), (1.0, 2.0, 1.0, 2.0)

LEG = """
<body name="{side}_thigh" pos="0 {y} -0.1">
  <joint name="{side}_hip" axis="0 1 0" range="-1 1" actuatorfrcrange="-80 80"/>
  <geom name="{side}_thigh" type="capsule" fromto="0 0 0 0 0 -0.2" size="0.03"/>
  <body name="{side}_shin" pos="0 0 -0.2">
    <joint name="{side}_knee" axis="0 1 0" range="-0.1 2" actuatorfrcrange="-80 80"/>
    <geom name="{side}_shin" type="capsule" fromto="0 0 0 0 0 -0.2" size="0.03"/>
    <geom name="{side}_foot" type="box" pos="0.03 0 -0.2" size="0.1 0.05 0.02"/>
  </body>
</body>
"""

ROBOT = f"""
<mujoco>
  <compiler angle="radian"/>
  <worldbody>
    <geom name="floor" type="plane" size="0 0 0.05"/>
    <body name="base" pos="0 0 0.7">
      <freejoint/>
      <geom name="base" type="box" size="0.1 0.15 0.1" mass="8"/>
      <site name="imu" pos="0.05 0 0.1"/>
      {LEG.format(side="left", y=0.1)}
      {LEG.format(side="right", y=-0.1)}
    </body>
  </worldbody>
  <actuator>
    {"".join(f'<motor name="{name}" joint="{name}"/>' for name in JOINTS)}
  </actuator>
</mujoco>
"""


def write_robot(folder: Path) -> Path:
    """Write the robot's MJCF file."""
    path = folder / "robot.xml"
    path.write_text(ROBOT)
    return path


def write_network(
    path: Path, inputs: int, outputs: int = 4, metadata: dict[str, str] | None = None
) -> np.ndarray:
    """Write a network of one layer, tanh(weights x observation); return the weights."""
    rng = np.random.default_rng(0)
    weights = rng.normal(0.0, 0.5, (inputs, outputs)).astype(np.float32)
    nodes = [
        helper.make_node("MatMul", ["obs", "weights"], ["hidden"]),
        helper.make_node("Tanh", ["hidden"], ["actions"]),
    ]
    kind = onnx.TensorProto.FLOAT
    graph = helper.make_graph(
        nodes,
        "policy",
        [helper.make_tensor_value_info("obs", kind, [1, inputs])],
        [helper.make_tensor_value_info("actions", kind, [1, outputs])],
        [numpy_helper.from_array(weights, "weights")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    helper.set_model_props(model, metadata or {})
    onnx.save(model, path)
    return weights


MJLAB = {
    "joint_names": ",".join(JOINTS),
    "joint_stiffness": ",".join(f"{value:.3f}" for value in STIFFNESS),
    "joint_damping": ",".join(f"{value:.3f}" for value in DAMPING),
    "default_joint_pos": ",".join(f"{value:.3f}" for value in DEFAULT),
    "observation_names": "base_ang_vel,projected_gravity,command,joint_pos,joint_vel,"
    "actions",
    "observation_terms_scale": "0.250,1.000,2.000;2.000;0.250,1.000,0.050,1.000",
    "observation_terms_history_length": "0.000,0.000,0.000,0.000,0.000,0.000",
    "observation_terms_clip": "-inf;inf,-inf;inf,-1.000;1.000,-inf;inf,-inf;inf,"
    "-inf;inf",
    "action_scale": "0.250,0.500,0.250,0.500",
}
"""Metadata as mjlab 1.6 writes it."""

MAP = (2, 0, 3, 1)
"""Motor of each joint of the policy in deploy.yaml."""

DEPLOY = """
joint_ids_map: [2, 0, 3, 1]
step_dt: 0.02
stiffness: [40.0, 60.0, 40.0, 60.0]
damping: [1.0, 2.0, 1.0, 2.0]
default_joint_pos: [-0.2, -0.2, 0.4, 0.4]
commands:
  base_velocity:
    ranges: {lin_vel_x: [-0.5, 1.0], lin_vel_y: [-0.3, 0.3], ang_vel_z: [-1.0, 1.0]}
actions:
  JointPositionAction:
    clip: null
    joint_names: [.*]
    scale: [0.25, 0.25, 0.5, 0.5]
    offset: [-0.2, -0.2, 0.4, 0.4]
    joint_ids: !!python/object/apply:builtins.slice [null, null, null]
observations:
  base_ang_vel:
    params: {}
    clip: null
    scale: [0.2, 0.2, 0.2]
    history_length: 3
  projected_gravity:
    params: {}
    clip: null
    scale: [1.0, 1.0, 1.0]
    history_length: 3
  velocity_commands:
    params: {command_name: base_velocity}
    clip: null
    scale: [1.0, 1.0, 1.0]
    history_length: 3
  joint_pos_rel:
    params: {}
    clip: null
    scale: [1.0, 1.0, 1.0, 1.0]
    history_length: 3
  joint_vel_rel:
    params: {}
    clip: [-10.0, 10.0]
    scale: [0.05, 0.05, 0.05, 0.05]
    history_length: 3
  last_action:
    params: {}
    clip: null
    scale: [1.0, 1.0, 1.0, 1.0]
    history_length: 3
"""
"""deploy.yaml as unitree_rl_lab writes it."""

LEGGED_GYM = """
simulation_dt: 0.002
control_decimation: 10
kps: [40, 60, 40, 60]
kds: [1, 2, 1, 2]
default_angles: [-0.2, 0.4, -0.2, 0.4]
ang_vel_scale: 0.25
dof_pos_scale: 1.0
dof_vel_scale: 0.05
action_scale: 0.25
cmd_scale: [2.0, 2.0, 0.25]
num_actions: 4
num_obs: 23
"""
"""Deploy script's file of unitree_rl_gym, with a gait clock."""


def states(steps: int = 40) -> dict[str, Any]:
    """Return random states of the robot in the order of a recording."""
    rng = np.random.default_rng(1)
    quats = rng.normal(0.0, 0.15, (steps, 4)) + np.eye(4)[0]
    quats /= np.linalg.norm(quats, axis=1, keepdims=True)
    return {
        "time": 0.02 * np.arange(steps),
        "joint_pos": np.array(DEFAULT) + rng.normal(0.0, 0.2, (steps, 4)),
        "joint_vel": rng.normal(0.0, 5.0, (steps, 4)),
        "root_quat_w": quats,
        "root_ang_vel_b": rng.normal(0.0, 1.0, (steps, 3)),
        "root_lin_vel_b": rng.normal(0.0, 1.0, (steps, 3)),
        "command": rng.uniform(-0.5, 0.5, (steps, 3)),
    }


def gravity(quats: np.ndarray) -> np.ndarray:
    """Return the direction down in the axes of each quaternion wxyz."""
    w, x, y, z = quats.T
    return np.stack(
        [2 * (w * y - x * z), -2 * (w * x + y * z), 2 * (x * x + y * y) - 1], axis=1
    )

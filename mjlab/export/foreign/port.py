"""Convert a foreign policy to our own format, with contract, scene and first steps.

The file is like a file of `mjlab export`: it works with the Python and C++ runners,
`mjlab verify` and the browser page.
"""

import datetime
import importlib.metadata
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import onnx

from mjlab.export.foreign.graph import COMMAND, TARGET, Graph, assemble
from mjlab.export.foreign.interface import Interface, Term
from mjlab.export.foreign.robot_model import RobotModel
from mjlab.export.foreign.scene import (
    physics_dt,
    scene_spec,
    start_pose,
)
from mjlab.export.reader import CONVENTIONS, FOREIGN, to_text
from mjlab.export.runner.policy import (
    CONTRACT,
    FORMAT,
    NO_CHECKSUM,
    RECORD,
    SCENE,
    ContractPolicy,
    digest_of,
    files_of,
    pack,
    with_checksum,
)
from mjlab.export.runner.robot import MujocoRobot
from mjlab.export.scene_file import packed_scene
from mjlab.files import write_atomic, write_text
from mjlab.provenance import versions
from mjlab.spec import torque_limits

STEPS = 200
"""Number of recorded control steps."""

MOST = float(np.finfo(np.float32).max)
"""Largest single-precision number."""

DRIVE = 0.5
"""Commanded forward velocity in the recorded steps, m/s, clipped to the policy's
range."""


def port(interface: Interface, robot: RobotModel, to: Path, *, task: str = "") -> Path:
    """Write a foreign policy in our format, with NAME.contract.json beside it.

    Args:
        interface: Contract and network of the policy.
        robot: Robot model of the policy.
        to: ONNX file to write.
        task: Id of a task of this framework in which the policy can be played.

    Returns:
        `to`.
    """
    graph = assemble(interface, robot.joints, robot.mount(interface.imu), robot.root)
    whole, texts = described(interface, robot, graph, task=task)
    with tempfile.TemporaryDirectory(prefix="mjlab-port-") as folder:
        draft = Path(folder) / "draft.onnx"
        draft.write_bytes(packed(graph, whole, texts)[0])
        policy = ContractPolicy(draft)
        record, steps = first_steps(interface, policy)
        whole["record"], texts[RECORD] = record, steps
    content, whole["checksum"] = packed(graph, whole, texts)
    write_atomic(to, lambda file: file.write(content))
    write_text(to.with_suffix(".contract.json"), to_text(whole))
    return to


def packed(
    graph: Graph, whole: dict[str, Any], texts: Mapping[str, str]
) -> tuple[bytes, str]:
    """Return the bytes of the ONNX file, and their checksum."""
    model = onnx.ModelProto()
    model.CopyFrom(graph.model)
    model.producer_name = "mjlab-fused"
    blank = whole | {"checksum": NO_CHECKSUM}
    onnx.helper.set_model_props(model, {CONTRACT: to_text(blank), **texts})
    return with_checksum(model.SerializeToString())


def described(
    interface: Interface, robot: RobotModel, graph: Graph, *, task: str
) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the contract, without recorded steps, and the packed metadata texts."""
    spec = scene_spec(interface, robot)
    model = spec.compile()
    scene = packed_scene(spec)
    dt = physics_dt(interface)
    whole = {
        "format": FORMAT,
        "checksum": NO_CHECKSUM,
        "task": task,
        "made": {
            "at": datetime.datetime.now().astimezone().isoformat(timespec="seconds"),
            "by": versions() | {"onnx": importlib.metadata.version("onnx")},
            "checkpoint": interface.network.path.name,
            "iteration": 0,
        },
        "conventions": CONVENTIONS,
        "rates": {
            "physics_dt": dt,
            "decimation": round(interface.control_dt / dt),
            "control_dt": interface.control_dt,
            "control_hz": 1.0 / interface.control_dt,
        },
        "robot": "robot",
        "model": {
            "sha256": digest_of(files_of(scene)),
            "mujoco": mujoco.__version__,
            "lacks": None,
        },
        "record": {"steps": 0, "fields": []},
        "commands": _commands(interface, graph),
        "inputs": graph.about["inputs"],
        "states": graph.about["states"],
        "outputs": graph.about["outputs"],
        "actions": [_action(interface, robot)],
        "action_clip": interface.action_clip,
        "observations": [
            _observation(interface, graph, term) for term in interface.terms
        ],
        "network": {"class_name": FOREIGN, "format": interface.format},
        "entities": {"robot": entity(interface, robot, model)},
    }
    return whole, {SCENE: pack(scene), RECORD: pack(b"")}


def _commands(interface: Interface, graph: Graph) -> list[dict[str, Any]]:
    if COMMAND not in [entry["name"] for entry in graph.about["inputs"]]:
        return []
    ranges = (
        None if interface.ranges is None else [list(pair) for pair in interface.ranges]
    )
    about = {"name": COMMAND, "width": 3, "start": [0.0] * 3, "range": ranges}
    return [about | {"kind": "UniformVelocityCommand"}]


def _action(interface: Interface, robot: RobotModel) -> dict[str, Any]:
    return {
        "name": TARGET.removesuffix("_target"),
        "kind": "JointPositionActionCfg",
        "output": TARGET,
        "action": [0, len(interface.acted)],
        "entity": "robot",
        "quantity": "joint_pos",
        "unit": "rad",
        "targets": list(robot.joints),
        "relative_to": None,
    }


def _observation(interface: Interface, graph: Graph, term: Term) -> dict[str, Any]:
    scale = np.asarray(term.scale, float)
    return {
        "term": f"policy/{term.name}",
        "depends_on": _depends(graph, term),
        "shape": [interface.size(term) * term.history],
        # JSON has no infinity.
        "clip": None if term.clip is None else np.clip(term.clip, -MOST, MOST).tolist(),
        "scale": scale.tolist(),
        "history": term.history,
        "delay_in_training": None,
        "noise_in_training": None,
    }


def _depends(graph: Graph, term: Term) -> list[str]:
    """Return the inputs that a term depends on."""
    used = {
        "gyro": ("root_ang_vel_b",),
        "lin_vel": ("root_lin_vel_b", "root_ang_vel_b"),
        "gravity": ("root_quat_w",),
        "command": (COMMAND,),
        "joint_pos": ("joint_pos",),
        "joint_pos_rel": ("joint_pos",),
        "joint_vel": ("joint_vel",),
    }.get(term.source, ())
    return [e["name"] for e in graph.about["inputs"] if e["name"] in used]


def entity(interface: Interface, robot: RobotModel, model: Any) -> dict[str, Any]:
    """Return the robot's contract entry, from the compiled scene."""
    start = start_pose(interface, model)
    default = dict(zip(interface.joints, interface.default, strict=True))
    limits = torque_limits(robot.model, robot.joints)
    gains = {
        name: (float(kp), float(kd))
        for name, kp, kd in zip(
            interface.joints, interface.stiffness, interface.damping, strict=True
        )
    }
    joints = []
    for name in robot.joints:
        joint, dof = model.joint(name), int(model.joint(name).dofadr[0])
        is_slide = int(joint.type[0]) == int(mujoco.mjtJoint.mjJNT_SLIDE)
        bounds = joint.range.tolist() if model.jnt_limited[joint.id] else [None, None]
        joints.append(
            {
                "name": name,
                "type": "slide" if is_slide else "hinge",
                "unit": "m" if is_slide else "rad",
                "limits": bounds,
                "soft_limits": bounds,
                "default_pos": float(default[name]),
                "default_vel": 0.0,
                "armature": float(model.dof_armature[dof]),
                "damping": float(np.ravel(model.dof_damping[dof])[0]),
                "frictionloss": float(model.dof_frictionloss[dof]),
            }
        )
    return {
        "prefix": "",
        "root": {
            "frame": robot.root,
            "is_fixed": False,
            "default_pos": start[:3].tolist(),
            "default_quat": start[3:7].tolist(),
        },
        "joints": joints,
        "actuators": [
            {
                "target": name,
                "transmission": "joint",
                "kind": "position",
                "actuator": name,
                "commands": ["position"],
                "law": None,
                "stiffness": gains[name][0],
                "damping": gains[name][1],
                "effort_limit": limits[name],
                "gear": 1.0,
                "control_range": None,
                "delay_in_physics_steps": None,
            }
            for name in robot.joints
        ],
    }


def first_steps(
    interface: Interface, policy: ContractPolicy
) -> tuple[dict[str, Any], str]:
    """Simulate `STEPS` control steps; return their contract entry and packed arrays."""
    robot = MujocoRobot(policy)
    robot.start(start_pose(interface, robot.model), np.zeros(robot.model.nv))
    policy.reset()
    low, high = interface.ranges[0] if interface.ranges else (-DRIVE, DRIVE)
    commands = {COMMAND: np.array([np.clip(DRIVE, low, high), 0.0, 0.0])}
    commands = commands if policy.contract["commands"] else {}
    rows: list[dict[str, np.ndarray]] = []
    for _ in range(STEPS):
        measured = robot.read(commands)
        row = {"qpos": robot.data.qpos.copy(), "qvel": robot.data.qvel.copy()}
        row |= {f"input {name}": value for name, value in measured.items()}
        row |= {f"command {name}": value for name, value in commands.items()}
        targets = policy(measured)
        rows.append(row | {f"output {name}": v for name, v in targets.items()})
        robot.write(targets)
        robot.wait()
    arrays = {n: np.stack([row[n] for row in rows]).astype("<f4") for n in rows[0]}
    # States need double precision: contacts amplify rounding errors.
    for name in ("qpos", "qvel"):
        arrays[name] = np.stack([row[name] for row in rows]).astype("<f8")
    fields = [
        {"name": name, "shape": list(array.shape), "dtype": str(array.dtype)}
        for name, array in arrays.items()
    ]
    content = b"".join(array.tobytes() for array in arrays.values())
    return {"steps": len(rows), "fields": fields}, pack(content)

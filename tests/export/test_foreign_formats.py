"""Contracts of other projects, read from their files."""

import json
from pathlib import Path

import numpy as np
import pytest

from mjlab.export.foreign import read_policy
from mjlab.export.foreign.formats.isaaclab_env import compare_env
from mjlab.export.foreign.robot_model import RobotModel
from mjlab.export.runner.policy import ContractError
from tests.export.foreign_policies import (
    DEPLOY,
    JOINTS,
    LEGGED_GYM,
    MAP,
    MJLAB,
    ROBOT,
    write_network,
    write_robot,
)


@pytest.fixture
def robot(tmp_path: Path) -> RobotModel:
    return RobotModel(write_robot(tmp_path))


def test_metadata_of_mjlab_gives_the_contract(tmp_path):
    write_network(tmp_path / "policy.onnx", 21, metadata=MJLAB)
    interface = read_policy(tmp_path / "policy.onnx", "mjlab", (), None)
    assert interface.joints == JOINTS
    assert interface.width == 3 + 3 + 3 + 4 + 4 + 4
    assert interface.stiffness.tolist() == [40.0, 60.0, 40.0, 60.0]
    assert interface.action_scale.tolist() == [0.25, 0.5, 0.25, 0.5]
    command = interface.terms[2]
    assert (command.source, command.clip) == ("command", (-1.0, 1.0))
    assert np.asarray(command.scale).tolist() == [2.0, 2.0, 0.25]
    # Neither the rate nor the offset of actions is in the metadata.
    assert any("control period" in said for said in interface.assumed)
    assert any("offset" in said for said in interface.assumed)


def test_deploy_yaml_orders_gains_by_motor_and_the_rest_by_policy(tmp_path, robot):
    write_network(tmp_path / "policy.onnx", 63)
    (tmp_path / "deploy.yaml").write_text(DEPLOY)
    path = tmp_path / "policy.onnx"
    interface = read_policy(path, "isaaclab", [tmp_path / "deploy.yaml"], robot)
    assert interface.joints == tuple(JOINTS[motor] for motor in MAP)
    gains = dict(zip(interface.joints, interface.stiffness, strict=True))
    assert gains["left_knee"] == 60.0 and gains["right_hip"] == 40.0
    pose = dict(zip(interface.joints, interface.default, strict=True))
    assert pose["right_hip"] == -0.2 and pose["right_knee"] == 0.4
    assert (interface.width, interface.terms[0].history) == (63, 3)
    assert interface.ranges == ((-0.5, 1.0), (-0.3, 0.3), (-1.0, 1.0))


def test_deploy_yaml_without_a_robot_numbers_the_motors(tmp_path):
    write_network(tmp_path / "policy.onnx", 63)
    (tmp_path / "deploy.yaml").write_text(DEPLOY)
    path = tmp_path / "policy.onnx"
    interface = read_policy(path, "isaaclab", [tmp_path / "deploy.yaml"], None)
    assert interface.joints == ("motor_2", "motor_0", "motor_3", "motor_1")
    (assumed,) = interface.assumed
    assert "pass their robot with --robot" in assumed


def test_legged_gym_layout_follows_from_its_width(tmp_path, robot):
    write_network(tmp_path / "policy.onnx", 23)
    (tmp_path / "g1.yaml").write_text(LEGGED_GYM)
    path = tmp_path / "policy.onnx"
    interface = read_policy(path, "legged-gym", [tmp_path / "g1.yaml"], robot)
    sources = [term.source for term in interface.terms]
    assert sources[-2:] == ["sin_phase", "cos_phase"]
    assert interface.clock is not None and interface.clock.hz == 1.25
    assert (interface.control_dt, interface.physics_dt) == (0.02, 0.002)


def test_playground_takes_pose_and_gains_of_the_robot_model(tmp_path):
    servos = "".join(
        f'<position name="{name}" joint="{name}" kp="35" kv="0.5"/>' for name in JOINTS
    )
    start, _, rest = ROBOT.partition("<actuator>")
    key = '<keyframe><key name="home" qpos="0 0 0.7 1 0 0 0 -0.2 0.4 -0.2 0.4"/>'
    text = f"{start}<actuator>{servos}</actuator>{key}</keyframe></mujoco>"
    assert rest
    (tmp_path / "scene.xml").write_text(text)
    layout = {
        "task": "Walker",
        "terms": ["lin_vel", "gyro", "gravity", "joint_pos", "last_action"],
        "action_scale": 0.5,
        "keyframe": "home",
        "imu": "imu",
    }
    (tmp_path / "layout.json").write_text(json.dumps(layout))
    write_network(tmp_path / "policy.onnx", 17)
    model = RobotModel(tmp_path / "scene.xml")
    path = tmp_path / "policy.onnx"
    interface = read_policy(path, "playground", [tmp_path / "layout.json"], model)
    assert interface.default.tolist() == [-0.2, 0.4, -0.2, 0.4]
    assert interface.stiffness.tolist() == [35.0] * 4
    assert interface.damping.tolist() == [0.5] * 4


def test_env_yaml_is_compared_with_deploy_yaml(tmp_path, robot):
    write_network(tmp_path / "policy.onnx", 63)
    (tmp_path / "deploy.yaml").write_text(DEPLOY)
    path = tmp_path / "policy.onnx"
    interface = read_policy(path, "isaaclab", [tmp_path / "deploy.yaml"], robot)
    terms = {
        "base_ang_vel": {"scale": 0.2},
        "projected_gravity": {},
        "velocity_commands": {},
        "joint_pos_rel": {},
        "joint_vel_rel": {"scale": 0.05, "clip": [-10.0, 10.0]},
        "last_action": {},
    }
    group = {name: {"func": f"mdp:{name}", **more} for name, more in terms.items()}
    env = {
        "decimation": 4,
        "sim": {"dt": 0.005},
        "observations": {"policy": {"history_length": 3, **group}},
        "actions": {"joint_pos": {"scale": {".*_hip": 0.25, ".*_knee": 0.5}}},
        "scene": {
            "robot": {
                "init_state": {"joint_pos": {".*_hip": -0.2, ".*_knee": 0.4}},
                "actuators": {
                    "hips": {"joint_names_expr": [".*_hip"], "stiffness": 40.0},
                    "knees": {"joint_names_expr": [".*_knee"], "stiffness": 60.0},
                },
            }
        },
    }
    file = tmp_path / "env.yaml"
    file.write_text(json.dumps(env))  # JSON is YAML.
    assert not list(compare_env(interface, [file]))
    env["decimation"] = 8
    group["joint_vel_rel"]["scale"] = 1.0
    env["observations"]["policy"] |= group
    env["scene"]["robot"]["actuators"]["knees"]["stiffness"] = 150.0
    file.write_text(json.dumps(env))
    said = [f"{each.place}: {each.said}" for each in compare_env(interface, [file])]
    assert len(said) == 3
    assert "step_dt: 0.02 s, but env.yaml: decimation x sim.dt is 0.04 s" in said[0]
    assert "joint_vel_rel.scale" in said[1]
    assert "right_knee has 60, but 150" in said[2]


BROKEN = {
    "no map": ("joint_ids_map: [2, 0, 3, 1]", "", "with one deploy.yaml"),
    "repeated motor": ("[2, 0, 3, 1]", "[2, 0, 3, 3]", "each motor from 0 to 3 once"),
    "text": ("step_dt: 0.02", "step_dt: fast", "step_dt is not numeric"),
    "infinite": ("step_dt: 0.02", "step_dt: .inf", "not finite"),
    "short": ("damping: [1.0, 2.0, 1.0, 2.0]", "damping: [1.0]", "damping has 1 numb"),
    "misspelt": ("stiffness:", "stifness:", "stiffness is missing"),
    "other action": ("JointPositionAction", "JointEffortAction", "is supported"),
    "unknown term": ("  last_action:", "  height_scan:", "height_scan"),
    "not YAML": ("commands:", "commands: [", "not valid YAML"),
}


@pytest.mark.parametrize("fault", BROKEN)
def test_damaged_deploy_yaml_is_refused_with_file_and_key(tmp_path, robot, fault):
    old, new, said = BROKEN[fault]
    write_network(tmp_path / "policy.onnx", 63)
    assert old in DEPLOY
    (tmp_path / "deploy.yaml").write_text(DEPLOY.replace(old, new, 1))
    path = tmp_path / "policy.onnx"
    with pytest.raises(ContractError) as error:
        read_policy(path, "isaaclab", [tmp_path / "deploy.yaml"], robot)
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_files_that_are_no_network_are_refused(tmp_path):
    (tmp_path / "policy.pt").write_bytes(b"PK")
    (tmp_path / "policy.onnx").write_bytes(b"not onnx")
    with pytest.raises(ContractError, match=r"torch\.onnx\.export"):
        read_policy(tmp_path / "policy.pt", "mjlab", (), None)
    with pytest.raises(ContractError, match="not a valid ONNX file"):
        read_policy(tmp_path / "policy.onnx", "mjlab", (), None)


def test_missing_metadata_names_the_key(tmp_path):
    known = {k: v for k, v in MJLAB.items() if k != "joint_damping"}
    write_network(tmp_path / "policy.onnx", 21, metadata=known)
    with pytest.raises(ContractError, match="joint_damping"):
        read_policy(tmp_path / "policy.onnx", "mjlab", (), None)

"""Contract: valid by its schema, for every shipped policy."""

import hashlib
import json
import struct
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import mujoco
import numpy as np
import pytest
import torch
from jsonschema import Draft202012Validator

from mjlab.entity import EntityCfg
from mjlab.envs import ManagerBasedRlEnv
from mjlab.export import FilePolicy, OnnxPolicy, driven_by
from mjlab.export.contract import upright_reading
from mjlab.export.runner.loop import check, fed
from mjlab.export.runner.policy import ContractPolicy
from mjlab.export.runner.robot import MujocoRobot
from mjlab.export.verify import verify
from mjlab.registry import entries, load_task
from mjlab.rl import GaussianCfg, MlpModelCfg, load_policy
from mjlab.rl.learners import network_names
from mjlab.tasks.cartpole.env import CartpoleBalanceCfg
from mjlab.tasks.manipulation.lift_ik import LiftYamIKCfg
from mjlab.tasks.velocity import VelocityG1FlatCfg
from mjlab.tasks.velocity.gait import Gait
from tests.worlds.export_runs import errors, record, write
from tests.worlds.rl_runs import agent_cfg
from tests.worlds.shipped import shipped

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = json.loads((ROOT / "mjlab/export/contract.schema.json").read_text("utf-8"))
VALIDATOR = Draft202012Validator(SCHEMA)
TRAINED = [name for name in entries() if load_task(name).trained is not None]
_BY_DEPTH = ("Reach-Yam-Depth", "Lift-Yam-Depth")
_THING = {"gripper_to_object", "object_heading", "object_to_goal"}
GIVEN = {
    "Velocity-G1": {"height_scan"},
    "Velocity-Go1": {"height_scan"},
    "Velocity-Go1-Stairs": {"height_scan"},
    "Velocity-Go1-Sight": {"depth"},
    "Lift-Yam": _THING,
    "Lift-Yam-Taught": _THING,
    "Lift-Yam-Depth": {"gripper_to_goal", "depth"},
    "Reach-Yam-Depth": {"depth"},
    "Reach-Yam": {"gripper_to_goal"},
    "Muscle-Walk-W18": {"pace_lag", "capacity"},
}
"""Inputs that are measured as a whole, by task."""
ROUNDINGS = dict.fromkeys(_BY_DEPTH, 1e-5 / 0.03)
"""A soft-argmax divides its input, with its rounding errors, by the temperature."""


def small() -> MlpModelCfg:
    return MlpModelCfg(
        hidden_dims=(16, 8), distribution_cfg=GaussianCfg(), obs_normalization=True
    )


def contract_of(path: Path) -> dict[str, Any]:
    return json.loads(path.with_suffix(".contract.json").read_text())


# --- Every policy ---------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("task", TRAINED)
def test_every_shipped_policy_is_exported(task, tmp_path):
    exported = shipped(task, tmp_path)
    assert exported.error < ROUNDINGS.get(task, 1e-5)
    VALIDATOR.validate(exported.contract)
    inputs = exported.contract["inputs"]
    given = {e["name"] for e in inputs if e["measured"]["kind"] == "given"}
    assert given == GIVEN.get(task, set())
    assert all(e["unit"] for e in inputs if e["measured"]["kind"] != "command")


@pytest.mark.slow
@pytest.mark.parametrize("task", sorted(set(entries()) - set(TRAINED)))
def test_other_tasks_are_exported_with_random_weights(task, tmp_path):
    cfg, learner = load_task(task).env(), load_task(task).rl()
    acting = network_names(learner)[0]
    actor = replace(getattr(learner, acting), hidden_dims=(16, 8))
    groups = {"actor": learner.obs_groups[acting], "critic": ("actor",)}
    agent = agent_cfg(1, actor=actor, obs_groups=groups)
    _, exported = write(tmp_path, cfg, agent, task)
    VALIDATOR.validate(exported.contract)


@pytest.mark.slow
def test_the_gait_of_a_policy_is_in_its_file(tmp_path):
    cfg = VelocityG1FlatCfg(seed=2, episode_length_s=1.6)
    actor = cfg.observations["actor"]
    assert actor is not None
    actor.enable_corruption = False
    cfg.events = {}
    agent = agent_cfg(1, actor=small())
    checkpoint, exported = write(tmp_path, cfg, agent)
    file = OnnxPolicy(exported.path)
    assert "gait_clock" not in file.input_names and "twist" in file.input_names
    moments = record(checkpoint, cfg, agent, file.contract, entity="robot", steps=100)
    assert sum(moment.ends.sum() for moment in moments) >= 2
    assert max(errors(file, moments)) < 1e-5
    # A constant clock would be detected.
    still = [replace(m, begins=np.ones(2, bool)) for m in moments]
    assert min(errors(file, still)) > 1e-3


def test_the_gait_pose_follows_the_formula(tmp_path):
    """A leg of the gait at a quarter of its swing, by hand arithmetic."""
    cfg = VelocityG1FlatCfg()
    cfg.scene.num_envs, cfg.events = 1, {}
    cfg.actions["joint_pos"].gait = Gait(period=0.8, knee=0.6, hip=0.3)
    env = ManagerBasedRlEnv(cfg, device="cpu")
    term = env.action_manager.term("joint_pos")
    command = env.command_manager.term("twist")
    # The left leg swings from 0.48 to 0.8 s; at 0.64 s it is highest.
    env.episode_length_buf.fill_(32)
    poses = []
    for twist in ([0.5, 0.0, 0.0], [0.02, 0.0, 0.02]):
        command.command.copy_(torch.tensor([twist]))
        command.derive()
        poses.append(term.summand()[0])
    found, still = poses
    by_name = dict(zip(term.target_names, (found - still).tolist(), strict=True))
    assert by_name["left_knee_joint"] == pytest.approx(0.6)
    # The foot is below the hip: 0.5 - 1 + 0.25 * 2 of a step.
    assert by_name["left_hip_pitch_joint"] == pytest.approx(-0.3, abs=1e-6)
    assert by_name["waist_yaw_joint"] == 0.0
    env.close()


@pytest.mark.slow
def test_a_frame_moves_to_the_target_of_the_file(tmp_path):
    """Compared in plain MuJoCo, in the task, and in the task driven by the file."""
    cfg = LiftYamIKCfg(seed=3)
    checkpoint, exported = write(tmp_path, cfg, agent_cfg(1, actor=small()))
    VALIDATOR.validate(exported.contract)
    policy = ContractPolicy(exported.path)
    recorded = policy.record()["qpos"]
    assert np.ptp(recorded[:21], axis=0).max() > 0.5
    by_answer, by_joint = check(policy, MujocoRobot(policy))
    assert by_answer < 1e-5 and by_joint < 1e-5
    assert verify(exported.path).departures == []
    file = OnnxPolicy(exported.path)
    totals = []
    for driven in (False, True):
        worlds = driven_by(cfg, file.contract) if driven else cfg
        worlds = replace(worlds, scene=replace(worlds.scene, num_envs=2))
        if not driven:
            worlds.observations["actor"].enable_corruption = False
        else:
            worlds.observations["onnx"].enable_corruption = False
        env = ManagerBasedRlEnv(worlds, device="cpu")
        agent = agent_cfg(1, actor=small())
        act = FilePolicy(env, file) if driven else load_policy(checkpoint, env, agent)
        observations, _ = env.reset(seed=4)
        for _ in range(15):
            observations, *_ = env.step(act(observations))
        totals.append(env.sim.data.qpos.clone())
        env.close()
    assert torch.allclose(*totals, atol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command_type", "is_relative", "frame"),
    [
        ("position", True, "base"),
        ("position", False, "world"),
        ("pose", False, "base"),
        ("pose", True, "world"),
    ],
)
def test_other_inverse_kinematics_settings_agree_in_plain_mujoco(
    command_type, is_relative, frame, tmp_path
):
    cfg = LiftYamIKCfg(seed=3)
    own = cfg.actions["arm"]
    cfg.actions["arm"] = replace(
        own,
        command_type=command_type,
        use_relative_mode=is_relative,
        command_frame=frame,
        clip=(-0.4, 0.3),
        limit_rounds=1,
        posture_weight=0.1,
        posture={"joint2": 0.8},
        orientation_weight=0.5,
        use_soft_limits=False,
    )
    _, exported = write(tmp_path, cfg, agent_cfg(1, actor=small()))
    policy = ContractPolicy(exported.path)
    by_answer, by_joint = check(policy, MujocoRobot(policy))
    assert by_answer < 1e-5 and by_joint < 1e-4
    assert np.ptp(policy.record()["qpos"][:21], axis=0).max() > 0.2


@pytest.mark.slow
def test_the_quaternion_of_an_absolute_pose_is_normalised_and_not_clipped(tmp_path):
    cfg = LiftYamIKCfg(seed=3)
    cfg.actions["arm"] = replace(
        cfg.actions["arm"],
        command_type="pose",
        use_relative_mode=False,
        clip=(-0.1, 0.2),
    )
    _, exported = write(tmp_path, cfg, agent_cfg(1, actor=small()))
    policy = ContractPolicy(exported.path)
    term = next(t for t in policy.contract["actions"] if "reach" in t)
    start, stop = term["action"]
    scale, record = cfg.actions["arm"].position_scale, policy.record()
    told = np.array([answer[term["output"]] for _, answer in fed(policy)])
    raw = record["output action"][:, start:stop].astype(float)
    # By hand: three clipped numbers, and four divided by their norm.
    place = np.clip(scale * raw[:, :3], -0.1, 0.2)
    quat = raw[:, 3:] / np.sqrt((raw[:, 3:] ** 2).sum(axis=1, keepdims=True))
    assert told == pytest.approx(np.concatenate((place, quat), axis=1), abs=1e-5)
    assert record[f"output {term['output']}"] == pytest.approx(told, abs=1e-5)
    # Clipping before instead of after the division gives another value.
    assert np.abs(raw[:, 3:]).max() > 0.25 and np.abs(quat).max() > 0.25


@pytest.mark.parametrize("turn", [(1.0, 0.0, 0.0, 0.0), (0.5, 0.5, -0.5, 0.5)])
def test_the_reading_for_an_upright_root_equals_mujocos(turn, go1):
    policy = ContractPolicy(go1)
    spec = mujoco.MjSpec.from_string(policy.scene()["scene.xml"].decode())
    spec.site("robot/imu").quat = turn
    model = spec.compile()
    data = mujoco.MjData(model)
    data.qpos[3:7] = np.cos(0.3), 0.0, 0.0, np.sin(0.3)  # Upright, with any yaw.
    mujoco.mj_forward(model, data)
    root = SimpleNamespace(root_body_id=model.body("robot/trunk").id)
    robot = SimpleNamespace(is_fixed_base=False, index=root)
    env: Any = SimpleNamespace(
        sim=SimpleNamespace(mj_model=model),
        scene=SimpleNamespace(entity=lambda name: robot),
    )
    about = {"name": "robot/imu_upvector"}
    found = upright_reading(env, "robot", SimpleNamespace(kind="sensor", about=about))
    assert found == pytest.approx(data.sensor("robot/imu_upvector").data, abs=1e-6)
    about = {"name": "robot/imu_ang_vel"}
    gyro = SimpleNamespace(kind="sensor", about=about)
    assert upright_reading(env, "robot", gyro) is None


# --- Its schema -----------------------------------------------------------------------


def test_a_contract_matches_its_schema(cartpole):
    Draft202012Validator.check_schema(SCHEMA)
    VALIDATOR.validate(contract_of(cartpole))
    assert (
        SCHEMA["properties"]["format"]["const"] == contract_of(cartpole)["format"] == 4
    )


def forgets(contract):
    del contract["rates"]["decimation"]


def invents(contract):
    contract["entities"]["cartpole"]["joints"][0]["gains"] = 3.0


def misnames(contract):
    contract["inputs"][0]["measured"]["kind"] = "joint_position"


def mistakes(contract):
    contract["inputs"][0]["elements"] = "slider"


def shortens(contract):
    contract["checksum"] = "sha256:12"


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (forgets, "$.rates: 'decimation' is a required property"),
        (invents, "$.entities.cartpole.joints[0]: Additional properties are not"),
        (misnames, "$.inputs[0].measured.kind: 'joint_position' is not one"),
        (mistakes, "$.inputs[0].elements: 'slider' is not valid under any"),
        (shortens, "$.checksum: 'sha256:12' does not match"),
    ],
)
def test_a_planted_fault_of_a_contract_is_found(fault, said, cartpole):
    planted = contract_of(cartpole)
    fault(planted)
    (found,) = VALIDATOR.iter_errors(planted)
    assert f"{found.json_path}: {found.message}".startswith(said)


def test_every_key_is_explained():
    kinds = [SCHEMA, *SCHEMA["$defs"].values()]
    for kind in kinds:
        for key, value in kind["properties"].items():
            assert value["description"].endswith("."), key


def test_the_hash_of_the_scene_matches_its_text(cartpole):
    files = ContractPolicy(cartpole).scene()
    assert list(files) == ["scene.xml"]
    digest = hashlib.sha256(b"scene.xml\0" + files["scene.xml"] + b"\0").hexdigest()
    assert contract_of(cartpole)["model"]["sha256"] == f"sha256:{digest}"


TETRAHEDRON = [(0, 0, 0), (0.1, 0, 0), (0, 0.1, 0), (0, 0, 0.1)]


@pytest.mark.slow
def test_file_contains_meshes_without_their_folder(tmp_path):
    faces = [(0, 2, 1), (0, 3, 2), (0, 1, 3), (1, 2, 3)]
    stl = bytes(80) + struct.pack("<I", len(faces))
    for face in faces:
        corners = [number for i in face for number in TETRAHEDRON[i]]
        stl += struct.pack("<12fH", 0, 0, 0, *corners, 0)
    (tmp_path / "secret_folder").mkdir()
    (tmp_path / "secret_folder" / "hat.stl").write_bytes(stl)
    model = tmp_path / "secret_folder" / "hat.xml"
    model.write_text(
        '<mujoco><asset><mesh name="hat" file="hat.stl"/></asset><worldbody>'
        '<body name="hat"><geom type="mesh" mesh="hat" mass="0.1"/></body>'
        "</worldbody></mujoco>"
    )
    cfg = CartpoleBalanceCfg()
    cfg.scene.entities["hat"] = EntityCfg(source=model)
    _, exported = write(tmp_path, cfg, agent_cfg(1, actor=small()))
    policy = ContractPolicy(exported.path)
    assert sorted(policy.scene()) == ["assets/hat.stl", "scene.xml"]
    assert MujocoRobot(policy).model.nmesh == 1
    assert b"secret_folder" not in b"".join(policy.scene().values())
    assert b"secret_folder" not in exported.path.read_bytes()

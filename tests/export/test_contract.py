"""The contract: whole by its schema, and of every policy that ships."""

import hashlib
import json
import struct
from collections.abc import Callable
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
from mjlab.export import ExportError, FilePolicy, OnnxPolicy, driven_by
from mjlab.export.forms import TIMED
from mjlab.export.recipes import upright_reading
from mjlab.export.runner.loop import check, fed
from mjlab.export.runner.policy import ContractPolicy
from mjlab.export.runner.robot import MujocoRobot
from mjlab.export.verify import verify
from mjlab.registry import entries, load_task
from mjlab.rl import GaussianCfg, MlpModelCfg, load_policy
from mjlab.tasks.cartpole.env import CartpoleBalanceCfg
from mjlab.tasks.manipulation.lift_ik import LiftYamIKCfg
from mjlab.tasks.muscle.track_arm6 import TrackArm6Cfg
from mjlab.tasks.velocity.g1_gait import VelocityG1GaitCfg
from tests.worlds.export_runs import errors, record, write
from tests.worlds.rl_runs import agent_cfg
from tests.worlds.shipped import shipped

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = json.loads((ROOT / "mjlab/export/contract.schema.json").read_text("utf-8"))
VALIDATOR = Draft202012Validator(SCHEMA)
TRAINED = [name for name in entries() if load_task(name).trained is not None]
UNWRITTEN = {
    **dict.fromkeys(
        ("Muscle-Walk-W18", "Muscle-Walk-W54", "Muscle-Track-Arm6"),
        "'muscles' is a MuscleAction, which decides anew in every physics step",
    ),
}
_BY_DEPTH = ("Reach-Yam-Depth", "Lift-Yam-Depth")
SEEN = {task: {"height_scan"} for task in ("Velocity-G1", "Velocity-Go1")}
SEEN |= {task: {"depth"} for task in _BY_DEPTH}
ROUNDINGS = dict.fromkeys(_BY_DEPTH, 1e-5 / 0.03)
"""A soft-argmax divides what it is given by its temperature, rounding and all."""


def small() -> MlpModelCfg:
    return MlpModelCfg(
        hidden_dims=(16, 8), distribution_cfg=GaussianCfg(), obs_normalization=True
    )


def contract_of(path: Path) -> dict[str, Any]:
    return json.loads(path.with_suffix(".contract.json").read_text())


# --- Every policy ---------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("task", TRAINED)
def test_every_policy_that_ships_is_written_or_says_why_not(task, tmp_path):
    if task in UNWRITTEN:
        with pytest.raises(ExportError, match=UNWRITTEN[task]):
            shipped(task, tmp_path)
        return
    exported = shipped(task, tmp_path)
    assert exported.error < ROUNDINGS.get(task, 1e-5)
    VALIDATOR.validate(exported.contract)
    # Nothing that a robot of theirs measures is a riddle, but what its eyes see.
    inputs = exported.contract["inputs"]
    riddles = {entry["name"] for entry in inputs if entry["measured"]["op"] == "given"}
    assert riddles == SEEN.get(task, set())


@pytest.mark.slow
@pytest.mark.parametrize("task", sorted(set(entries()) - set(TRAINED)))
def test_other_tasks_are_written_with_weights_by_chance_or_say_why_not(task, tmp_path):
    cfg, agent = load_task(task).env(), agent_cfg(1, actor=small())
    if task in UNWRITTEN:
        with pytest.raises(ExportError, match=UNWRITTEN[task]):
            write(tmp_path, cfg, agent, task)
        return
    _, exported = write(tmp_path, cfg, agent, task)
    VALIDATOR.validate(exported.contract)


def test_the_gait_of_a_policy_is_in_its_file(tmp_path):
    cfg = VelocityG1GaitCfg(seed=2, episode_length_s=1.6)
    actor = cfg.observations["actor"]
    assert actor is not None
    actor.enable_corruption = False
    cfg.events = {}
    agent = agent_cfg(1, actor=small())
    checkpoint, exported = write(tmp_path, cfg, agent)
    file = OnnxPolicy(exported.path)
    assert "gait_clock" not in file.input_names and "command" in file.input_names
    moments = record(checkpoint, cfg, agent, file.contract, entity="robot", steps=100)
    assert sum(moment.ends.sum() for moment in moments) >= 2
    assert max(errors(file, moments)) < 1e-5
    # A clock that stands still would be seen.
    still = [replace(m, begins=np.ones(2, bool)) for m in moments]
    assert min(errors(file, still)) > 1e-3


def test_the_pose_of_a_gait_is_what_the_formula_says(tmp_path):
    """At a quarter of its swing, a leg of the gait, by hand."""
    cfg = VelocityG1GaitCfg()
    cfg.scene.num_envs, cfg.events = 1, {}
    env = ManagerBasedRlEnv(cfg, device="cpu")
    term = env.action_manager.term("joint_pos")
    form = TIMED[type(term)](env, term)
    # The left leg swings from 0.48 to 0.8 s; at 0.64 s it is lifted most.
    found = form.value(torch.tensor([0.64]), torch.tensor([[0.5, 0.0, 0.0]]))[0]
    still = form.value(torch.tensor([0.64]), torch.tensor([[0.02, 0.0, 0.02]]))[0]
    by_name = dict(zip(term.target_names, (found - still).tolist(), strict=True))
    assert by_name["left_knee_joint"] == pytest.approx(0.6)
    # The foot is below the hip: 0.5 - 1 + 0.25 * 2 of a step.
    assert by_name["left_hip_pitch_joint"] == pytest.approx(-0.3, abs=1e-6)
    assert by_name["waist_yaw_joint"] == 0.0
    env.close()


def without_command(cfg):
    cfg.observations["actor"].terms["command"] = None
    return cfg


def test_a_frame_goes_where_the_file_sends_it(tmp_path):
    """In plain MuJoCo, in the task, and in the task driven by the file."""
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
def test_other_ways_of_reaching_are_the_same_in_plain_mujoco(
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
    assert term["clip"] == [[-0.1, 0.2]] * 3 + [[None, None]] * 4
    start, stop = term["action"]
    scale, record = cfg.actions["arm"].position_scale, policy.record()
    told = np.array([answer[term["output"]] for _, answer in fed(policy)])
    raw = record["output action"][:, start:stop].astype(float)
    # By hand: three clipped numbers, and four divided by their length.
    place = np.clip(scale * raw[:, :3], -0.1, 0.2)
    quat = raw[:, 3:] / np.sqrt((raw[:, 3:] ** 2).sum(axis=1, keepdims=True))
    assert told == pytest.approx(np.concatenate((place, quat), axis=1), abs=1e-5)
    assert record[f"output {term['output']}"] == pytest.approx(told, abs=1e-5)
    # Clipped before or after its division, it would be another.
    assert np.abs(raw[:, 3:]).max() > 0.25 and np.abs(quat).max() > 0.25


@pytest.mark.parametrize("turn", [(1.0, 0.0, 0.0, 0.0), (0.5, 0.5, -0.5, 0.5)])
def test_the_reading_of_an_upright_root_is_that_of_mujoco(turn, go1):
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
    for sign in (1.0, -1.0):
        how = {"op": "sensor", "name": "robot/imu_upvector", "sign": sign}
        found = upright_reading(env, "robot", how)
        wanted = sign * data.sensor("robot/imu_upvector").data
        assert found == pytest.approx(wanted, abs=1e-6)
    other = {"op": "sensor", "name": "robot/imu_ang_vel", "sign": 1.0}
    assert upright_reading(env, "robot", other) is None
    trunk, calf = (
        upright_reading(env, "robot", {"op": "gravity", "body": body})
        for body in ("robot/trunk", "robot/FL_calf")
    )
    assert trunk == [0.0, 0.0, -1.0] and calf is None


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: without_command(VelocityG1GaitCfg()),
            r"'actor/gait_clock' follows the command 'twist', which the policy does no",
        ),
        (TrackArm6Cfg, r"'muscles' is a MuscleAction, which decides anew in every phy"),
    ],
)
def test_what_a_file_cannot_say_is_refused_with_the_reason(
    make: Callable, message: str, tmp_path
):
    with pytest.raises(ExportError, match=message):
        write(tmp_path, make(), agent_cfg(1, actor=small()))
    assert not (tmp_path / "policy.onnx").exists()


# --- Its schema -----------------------------------------------------------------------


def test_a_contract_is_what_its_schema_says(cartpole):
    Draft202012Validator.check_schema(SCHEMA)
    VALIDATOR.validate(contract_of(cartpole))
    assert (
        SCHEMA["properties"]["format"]["const"] == contract_of(cartpole)["format"] == 3
    )


def forgets(contract):
    del contract["rates"]["decimation"]


def invents(contract):
    contract["entities"]["cartpole"]["joints"][0]["gains"] = 3.0


def misnames(contract):
    contract["inputs"][0]["measured"]["op"] = "joint_position"


def mistakes(contract):
    contract["inputs"][0]["elements"] = "slider"


def shortens(contract):
    contract["checksum"] = "sha256:12"


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (forgets, "$.rates: 'decimation' is a required property"),
        (
            invents,
            "$.entities.cartpole.joints[0]: Additional properties are not allowed "
            "('gains'",
        ),
        (misnames, "$.inputs[0].measured.op: 'joint_position' is not one of"),
        (mistakes, "$.inputs[0].elements: 'slider' is not valid under any of"),
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


def test_the_hash_of_the_scene_is_that_of_its_text(cartpole):
    files = ContractPolicy(cartpole).scene()
    assert list(files) == ["scene.xml"]
    digest = hashlib.sha256(b"scene.xml\0" + files["scene.xml"] + b"\0").hexdigest()
    assert contract_of(cartpole)["model"]["sha256"] == f"sha256:{digest}"


TETRAHEDRON = [(0, 0, 0), (0.1, 0, 0), (0, 0.1, 0), (0, 0, 0.1)]


def test_meshes_travel_in_the_file_without_the_folder_that_they_were_in(tmp_path):
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

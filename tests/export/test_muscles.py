"""Muscle controllers of exported policies: excitations in each physics step."""

import re
import sys
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
import torch
from jsonschema import Draft202012Validator

from mjlab.envs import ManagerBasedRlEnv
from mjlab.export import ExportError, FilePolicy, OnnxPolicy, driven_by
from mjlab.export.compare import ExcitationCheck, difference
from mjlab.export.muscles import MuscleController, muscle_controllers
from mjlab.export.runner import policy as runner
from mjlab.export.runner.policy import ContractPolicy
from mjlab.export.runner.robot import MujocoRobot
from mjlab.export.trace import Tracer
from mjlab.export.verify import verify
from mjlab.export.write import nominal
from mjlab.muscle.action import muscle_action
from mjlab.muscle.config import MuscleNetworkCfg, TorqueLawCfg
from mjlab.muscle.law import PlainPdLaw
from mjlab.rl import GaussianCfg, MlpModelCfg
from mjlab.tasks.muscle import TrackArm6Cfg
from mjlab.tasks.muscle.models import arm6_cfg
from tests.export.test_runner_cpp import (
    ROOM,
    SCHEMA,
    compiled,
    contract_beside,
    driven,
    needs_compiler,
    numbers,
    plain,
)
from tests.worlds.export_runs import write
from tests.worlds.rl_runs import agent_cfg


def arm(**options: Any) -> TrackArm6Cfg:
    """The arm with a small muscle network; `options` are those of the action."""
    cfg = TrackArm6Cfg(seed=1)
    muscles = cfg.actions["muscles"]
    muscles.network = MuscleNetworkCfg(hidden=(32, 32))
    for name, value in options.items():
        setattr(muscles, name, value)
    if "excitation" in options:
        cfg.scene.entities["robot"] = arm6_cfg(has_dynamics=True)
    return cfg


def small() -> Any:
    actor = MlpModelCfg(hidden_dims=(16, 8), distribution_cfg=GaussianCfg())
    return agent_cfg(1, actor=actor)


@pytest.fixture(scope="module")
def file(tmp_path_factory) -> Path:
    """Random policy and muscle network of the arm."""
    _, exported = write(tmp_path_factory.mktemp("arm"), arm(), small())
    assert exported.error < 1e-5
    return exported.path


def controller_of(policy: ContractPolicy) -> dict[str, Any]:
    (action,) = policy.contract["actions"]
    return action["tracked_by"]


# --- The file -------------------------------------------------------------------------


def test_the_contract_names_inputs_and_muscles_with_units(file):
    policy = ContractPolicy(file)
    Draft202012Validator(SCHEMA).validate(policy.contract)
    about = controller_of(policy)
    model = MujocoRobot(policy).model
    names = [model.actuator(i).name.removeprefix("robot/") for i in range(model.nu)]
    (output,) = about["outputs"]
    assert output["name"] == "muscles_excitation" and output["unit"] == "1"
    assert output["elements"] == names and len(names) == 6
    inputs = {entry["name"]: entry for entry in about["inputs"]}
    assert {name: entry["unit"] for name, entry in inputs.items()} == {
        "muscles_target": "rad",
        "joint_pos": "rad",
        "joint_vel": "rad/s",
        "inertia": "kg m^2",
        "bias_force": "N m",
        "passive_force": "N m",
        "constraint_force": "N m",
        "moment_arm": "m",
        "muscle_length": "m",
        "muscle_velocity": "m/s",
    }
    joints = policy.contract["actions"][0]["targets"]
    assert inputs["muscles_target"]["elements"] == joints
    first, second = joints
    pairs = [f"{first} {first}", f"{second} {first}", f"{second} {second}"]
    assert inputs["inertia"]["elements"] == pairs
    assert inputs["muscle_length"]["elements"] == names
    for pair in inputs["moment_arm"]["elements"]:
        muscle, joint = pair.split()
        assert muscle in names and joint in joints


def stable_pd(model: Any, data: Any, target: np.ndarray, cfg: TorqueLawCfg) -> Any:
    """Return the torques of Tan, Liu and Turk (2011), equation 6."""
    h, stiffness = model.opt.timestep, cfg.stiffness
    damping = (2.0 * stiffness) ** 0.5
    inertia = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, inertia)
    wanted = stiffness * (target - data.qpos - h * data.qvel) - damping * data.qvel
    others = data.qfrc_passive + data.qfrc_constraint - data.qfrc_bias
    mass = inertia + h * damping * np.eye(model.nv)
    return wanted - h * damping * np.linalg.solve(mass, wanted + others)


def wanted_excitation(
    robot: MujocoRobot, target: np.ndarray, weights: dict[str, np.ndarray]
) -> np.ndarray:
    """Return the network's excitations, computed from MuJoCo's own muscle forces."""
    model, data = robot.model, robot.data
    arms, red, passive, pairs = np.zeros((model.nu, model.nv)), [], np.zeros(2), []
    for muscle in range(model.nu):
        tendon = model.actuator_trnid[muscle, 0]
        row = slice(
            model.ten_J_rowadr[tendon],
            model.ten_J_rowadr[tendon] + model.ten_J_rownnz[tendon],
        )
        arms[muscle, model.ten_J_colind[row]] = data.ten_J[row]
        length, speed = data.actuator_length[muscle], data.actuator_velocity[muscle]
        about = model.actuator_lengthrange[muscle], model.actuator_acc0[muscle]
        gain = mujoco.mju_muscleGain(
            length, speed, *about, model.actuator_gainprm[muscle, :9]
        )
        bias = mujoco.mju_muscleBias(length, *about, model.actuator_biasprm[muscle, :9])
        passive += arms[muscle] * bias
        for joint in range(model.nv):
            if weights["crosses"][muscle, joint]:
                red.append(arms[muscle, joint] * gain)
                pairs.append(joint)
    pairs, red = np.array(pairs), np.array(red)
    torque = stable_pd(model, data, target, TorqueLawCfg()) - passive
    low = [np.minimum(red[pairs == j], 0.0).sum() for j in range(2)]
    high = [np.maximum(red[pairs == j], 0.0).sum() for j in range(2)]
    x = np.concatenate((red, np.clip(torque, low, high))) / 200.0
    for layer in ("0", "2"):
        x = weights[f"fc.{layer}.weight"] @ x + weights[f"fc.{layer}.bias"]
        x = np.where(x < 0.0, 0.2 * x, x)
    y = weights["fc.4.weight"] @ x + weights["fc.4.bias"]
    return np.maximum(np.tanh(y), 0.0)


def test_excitations_equal_those_of_published_formulas(file):
    """Torque law, muscle forces and network by NumPy and MuJoCo C."""
    policy = ContractPolicy(file)
    robot, chance = MujocoRobot(policy), np.random.default_rng(0)
    env = ManagerBasedRlEnv(nominal(arm()), device="cpu")
    term = muscle_action(env)
    weights = {n: w.numpy().astype(float) for n, w in term.network_state().items()}
    crosses = np.zeros((6, 2), bool)
    crosses[list(term.map.entry_muscle), list(term.map.entry_dof)] = True
    weights["crosses"] = crosses
    env.close()
    entries, controller = controller_of(policy)["inputs"], policy.controllers["muscles"]
    seen = []
    for _ in range(20):
        low, high = robot.model.jnt_range.T
        robot.start(chance.uniform(low, high), chance.normal(0.0, 2.0, 2))
        target = chance.uniform(low, high)
        inputs = robot.measure(entries, {"muscles_target": target})
        found = controller(inputs)["muscles_excitation"]
        expected = wanted_excitation(robot, target, weights)
        assert np.abs(found - expected).max() < 1e-5
        seen.append(found)
    assert (np.ptp(seen, axis=0) > 0.05).sum() >= 3


# --- Runners --------------------------------------------------------------------------


def test_the_python_runner_drives_muscles_in_plain_mujoco(file):
    verdict = verify(file)
    assert verdict.departures == []
    assert verdict.largest["output muscles_excitation"] < 1e-5
    assert max(early for early, _ in verdict.joints.values()) < 1e-4
    policy = ContractPolicy(file)
    robot, record = MujocoRobot(policy), policy.record()
    robot.start(record["qpos"][0], record["qvel"][0])
    target = record["output muscles_target"][0]
    robot.write({"muscles_target": target})
    robot.wait()
    excited = robot.data.ctrl.copy()
    assert excited.max() > 0.01
    robot.damp()
    assert (robot.data.ctrl == 0.0).all()


def test_inputs_in_the_wrong_order_are_a_mismatch(file, tmp_path, monkeypatch):
    read = MujocoRobot._measure

    def swapped(robot, entry, known):
        values = np.array(read(robot, entry, known))
        return values[::-1] if entry["name"] == "muscle_length" else values

    monkeypatch.setattr(MujocoRobot, "_measure", swapped)
    (said,) = verify(file).departures
    assert said.startswith("The motion after the recorded targets")


def test_a_file_drives_the_muscles_of_its_task(file):
    policy = OnnxPolicy(file)
    cfg = nominal(arm())
    env = ManagerBasedRlEnv(cfg, device="cpu")
    own = muscle_action(env)
    twin = ManagerBasedRlEnv(driven_by(cfg, policy.contract), device="cpu")
    driver = FilePolicy(twin, policy)
    for each in (env, twin):
        each.reset(seed=3)
    policy.reset()
    wanted, found = [], []
    own.watches.append(lambda excitation: wanted.append(excitation.clone()))
    theirs = muscle_action(twin)
    theirs.watches.append(lambda excitation: found.append(excitation.clone()))
    for _ in range(5):
        action = driver({})
        twin.step(action)
        env.step(action)
    assert len(wanted) == len(found) == 5 * cfg.decimation
    assert torch.stack(found).max() > 0.01
    assert difference(torch.stack(found).numpy(), torch.stack(wanted).numpy()) < 1e-4
    env.close()
    twin.close()


def moments_of(path: Path) -> tuple[list[Any], list[np.ndarray], list[np.ndarray]]:
    """Return recorded physics steps, the model's inputs, and the excitations."""
    policy = ContractPolicy(path)
    controller, record = policy.controllers["muscles"], policy.record()
    names = [entry["name"] for entry in controller.about["inputs"]]
    moments, fed, answers = [], [], []
    for step in range(len(record["muscles output muscles_excitation"])):
        inputs = {name: record[f"muscles input {name}"][step] for name in names}
        whole = inputs | controller.state
        fed.append(np.concatenate([value.ravel() for value in whole.values()]))
        (answer,) = controller(inputs).values()
        answers.append(answer)
        told = np.concatenate([answer, *controller.state.values()])
        given = {"begins": step == 0, "inputs": plain(inputs), "answer": told.tolist()}
        moments.append(given)
    return moments, fed, answers


@needs_compiler
def test_cpp_excitations_match_the_python_runner(file, tmp_path):
    driver = compiled(tmp_path / "driver")
    moments, fed, answers = moments_of(file)
    rows = driven(
        driver, "controller", contract_beside(file), "muscles", moments=moments
    )
    assert len(rows) == len(moments), rows[-1]
    elements = controller_of(ContractPolicy(file))["outputs"][0]["elements"]
    for row, expected, answer in zip(rows, fed, answers, strict=True):
        left, right = row.split("|")
        assert np.abs(numbers(left) - expected).max() < 1e-6
        assert right.split()[::2] == elements
        assert np.abs([float(n) for n in right.split()[1::2]] - answer).max() < 1e-6
    (said,) = driven(driver, "controller", contract_beside(file), "arms", moments=[])
    assert said == "The file has no muscle controller for 'arms'"


# --- Tracing --------------------------------------------------------------------------


def traced(cfg: TrackArm6Cfg) -> tuple[ManagerBasedRlEnv, MuscleController]:
    env = ManagerBasedRlEnv(nominal(cfg), device="cpu")
    env.reset(seed=0)
    (controller,) = muscle_controllers(Tracer(env, ("actor",)))
    return env, controller


WAYS = {
    "plain": {"law": TorqueLawCfg(kind="pd")},
    "diagonal": {"law": TorqueLawCfg(kind="diagonal_stable_pd")},
    "direct": {"law": TorqueLawCfg(kind="direct", stiffness=5.0)},
    "qp": {"coordinator": "qp", "iterations": 3},
    "inverse": {"excitation": "inverse", "clip_torque": False},
}


@pytest.mark.parametrize("way", WAYS)
def test_other_laws_and_coordinators_are_traced(way):
    env, controller = traced(arm(**WAYS[way]))
    term, worst, seen = controller.term, [], []
    last = [term.activation.clone()]

    def watch(excitation: torch.Tensor) -> None:
        found = controller.excitation(last[0])
        worst.append(difference(found.numpy(), excitation.numpy()))
        seen.append(excitation.clone())
        last[0] = term.activation.clone()

    term.watches.append(watch)
    chance = torch.Generator().manual_seed(0)
    for _ in range(2):
        env.step(torch.randn(1, 2, generator=chance))
    assert len(worst) == 2 * env.cfg.decimation and max(worst) < 1e-5
    assert torch.stack(seen).std() > 1e-3
    about = controller.described()
    names = {entry["name"] for entry in about["inputs"]}
    assert ("inertia" in names) == (way not in ("plain", "direct"))
    assert ("muscle_activation" in names) == (way == "inverse")
    assert bool(about["states"]) == (way == "qp")
    env.close()


class CountingLaw(PlainPdLaw):
    """Counts in Python."""

    calls = 0

    def compute(self, fields, target):
        self.calls += 1
        return super().compute(fields, target) * (1.0 + 0.1 * self.calls)


class AccelerationLaw(PlainPdLaw):
    """Reads an acceleration."""

    def compute(self, fields: Any, target):
        return super().compute(fields, target) - fields.qacc[:, :2]


def with_law(kind: type[PlainPdLaw]) -> ManagerBasedRlEnv:
    env = ManagerBasedRlEnv(nominal(arm(clip_torque=False)), device="cpu")
    env.reset(seed=0)
    term = muscle_action(env)
    term.law = kind(term.sim_model, term.map)
    return env


def test_torque_law_with_a_python_counter_is_refused_by_term():
    env = with_law(CountingLaw)
    (controller,) = muscle_controllers(Tracer(env, ("actor",)))
    ExcitationCheck(controller)
    said = r"^Action term 'muscles' cannot be exported: over 100 random steps"
    chance = torch.Generator().manual_seed(0)
    with pytest.raises(ExportError, match=said):
        for _ in range(3):
            env.step(torch.randn(1, 2, generator=chance))
    env.close()


def test_torque_law_that_reads_accelerations_is_refused_with_its_line():
    env = with_law(AccelerationLaw)
    said = r"^Action term 'muscles' cannot be exported: test_muscles\.py:\d+ \(return "
    with pytest.raises(ExportError, match=said + r".* reads sim\.data\.qacc,"):
        muscle_controllers(Tracer(env, ("actor",)))
    env.close()


PAGE = (ROOM.parents[2] / "docs/howto/muscles.md").read_text("utf-8")


def test_the_function_of_the_page_excites_muscles(file, monkeypatch):
    (text,) = re.findall(r"```python\n(from mjlab_runner .*?)```", PAGE, re.DOTALL)
    names: dict[str, Any] = {}
    monkeypatch.setitem(sys.modules, "mjlab_runner", runner)
    exec(text.replace("w18.onnx", str(file)), names)
    policy = ContractPolicy(file)
    robot, record = MujocoRobot(policy), policy.record()
    robot.start(record["qpos"][0], record["qvel"][0])
    targets = {"muscles_target": record["output muscles_target"][0]}
    entries = [e for e in controller_of(policy)["inputs"] if e["name"] not in targets]
    found = names["excite"](targets, robot.measure(entries, {}))
    robot.write(targets)
    robot.muscles[0].excite(targets)
    ctrl = zip(robot.muscles[0].names, robot.data.ctrl, strict=True)
    assert found == dict(ctrl) and max(found.values()) > 0.0


def test_two_robots_have_separate_muscle_states(file):
    policy = OnnxPolicy(file)
    twin = policy.another()
    assert twin.controllers["muscles"] is not policy.controllers["muscles"]
    assert twin.controllers["muscles"].session is policy.controllers["muscles"].session

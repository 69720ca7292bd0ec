"""C++ header: the same inputs, targets and faults as the Python runner.

Inputs and outputs of the Python runner are recorded, and replayed in a program that is
compiled here (`runner_driver.cpp`).
"""

import json
import os
import re
import shutil
import subprocess
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import onnxruntime
import pytest
from jsonschema import Draft202012Validator

from mjlab.export.runner import HEADER, write_runner
from mjlab.export.runner import policy as runner
from mjlab.export.runner.policy import ContractPolicy, checked
from mjlab.export.runner.robot import MujocoRobot
from mjlab.export.verify import verify_log
from mjlab.rl import GaussianCfg, MlpModelCfg
from tests.worlds.export_runs import cartpole, write
from tests.worlds.rl_runs import agent_cfg
from tests.worlds.shipped import shipped

COMPILER = shutil.which("g++") or shutil.which("clang++")
SOURCE = Path(__file__).with_name("runner_driver.cpp")
ROOM = Path(runner.__file__).parent
SCHEMA = json.loads((ROOM.parent / "contract.schema.json").read_text("utf-8"))
STEPS = 200

needs_compiler = pytest.mark.skipif(
    COMPILER is None, reason="no C++ compiler: neither g++ nor clang++ is installed"
)


def compiled(to: Path, *more: str, source: Path = SOURCE) -> Path:
    warnings = ["-Wall", "-Wextra", "-Werror", "-Wpedantic"]
    line = [str(COMPILER), "-std=c++17", "-O1", *warnings, "-I", str(ROOM), str(source)]
    done = subprocess.run([*line, "-o", str(to), *more], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return to


@pytest.fixture(scope="session")
def driver(tmp_path_factory) -> Path:
    return compiled(tmp_path_factory.mktemp("cpp") / "driver")


def driven(driver: Path, *words: Any, moments: list[Any] | None = None) -> list[str]:
    """Return the output lines of the program for a list of states."""
    told = "\n".join(json.dumps(moment) for moment in moments or [])
    line = [str(driver), *map(str, words)]
    # 500 steps of a policy with a history of depth images are 150 MB of JSON: 25 s.
    done = subprocess.run(line, input=told, capture_output=True, text=True, timeout=240)
    assert done.returncode in (0, 1), done.stderr
    return done.stdout.splitlines()


def plain(arrays: dict[str, Any]) -> dict[str, Any]:
    return {name: np.ravel(values).tolist() for name, values in arrays.items()}


def numbers(text: str) -> np.ndarray:
    return np.array([float(word) for word in text.split()])


def contract_beside(path: Path) -> Path:
    return path.with_suffix(".contract.json")


# --- Compared with the Python runner ------------------------------------------------


def inputs_of(policy: ContractPolicy) -> list[dict[str, np.ndarray]]:
    """Return recorded inputs, with random values for missing ones."""
    record, chance = policy.record(), np.random.default_rng(0)
    entries = policy.contract["inputs"]
    steps = min(STEPS, policy.contract["record"]["steps"])
    found = [
        {e["name"]: record[f"input {e['name']}"][step] for e in entries}
        for step in range(steps)
    ]
    while len(found) < STEPS:
        found.append(
            {
                e["name"]: chance.normal(size=e["shape"]).astype(e["dtype"])
                for e in entries
            }
        )
    return found


def check_steps(driver: Path, path: Path) -> None:
    """Compare the file's inputs, and the targets, of 200 steps."""
    policy, moments, targets, fed = ContractPolicy(path), [], [], []
    names = [term["output"] for term in policy.contract["actions"]]
    for step, inputs in enumerate(inputs_of(policy)):
        begins = step in (0, 70)
        if begins:
            policy.reset()
        whole = checked(policy.contract["inputs"], inputs) | policy.state
        fed.append(np.concatenate([v.ravel() for v in whole.values()]))
        answer = policy(inputs)
        nexts = [policy.state[s["name"]] for s in policy.contract["states"]]
        told = np.concatenate([v.ravel() for v in [*answer.values(), *nexts]])
        moments.append(
            {"begins": begins, "inputs": plain(inputs), "answer": told.tolist()}
        )
        targets.append(np.concatenate([answer[name] for name in names]))
    order = [
        name
        for term in policy.contract["actions"]
        for name in term.get("elements", term["targets"])
    ]
    rows = driven(driver, "file", contract_beside(path), moments=moments)
    assert len(rows) == STEPS, rows
    for row, expected, target in zip(rows, fed, targets, strict=True):
        left, right = row.split("|")
        assert np.abs(numbers(left) - expected).max() < 1e-6
        assert right.split()[::2] == order
        assert np.abs([float(n) for n in right.split()[1::2]] - target).max() < 1e-6


@needs_compiler
def test_cpp_inputs_and_targets_match_the_python_runner(driver, go1):
    check_steps(driver, go1)


@pytest.mark.slow
@needs_compiler
def test_states_start_at_the_values_of_the_contract(driver, tmp_path):
    actor = MlpModelCfg(hidden_dims=(8,), distribution_cfg=GaussianCfg())
    _, exported = write(tmp_path, cartpole(), agent_cfg(1, actor=actor))
    Draft202012Validator(SCHEMA).validate(exported.contract)
    states = {s["name"]: s["initial"] for s in exported.contract["states"]}
    assert states["state_actor_history_4_empty"] == 1.0
    assert states["state_last_action"] == 0.0
    check_steps(driver, exported.path)


def state_of(robot: MujocoRobot) -> dict[str, Any]:
    """Return the state of MuJoCo's model, as JSON."""
    model, data = robot.model, robot.data
    bodies, velocity = {}, np.zeros(6)
    for index in range(model.nbody):
        kind = mujoco.mjtObj.mjOBJ_XBODY
        mujoco.mj_objectVelocity(model, data, kind, index, velocity, 1)
        bodies[model.body(index).name] = {
            "pos": data.xpos[index].tolist(),
            "quat": data.xquat[index].tolist(),
            "lin_vel": velocity[3:].tolist(),
            "ang_vel": velocity[:3].tolist(),
        }
    joints = zip(robot.entity["joints"], robot.joints, strict=True)
    sensors = [model.sensor(i).name for i in range(model.nsensor)]
    return {
        # Without the prefix, which a robot's driver can omit.
        "joints": {j["name"]: [data.qpos[p], data.qvel[v]] for j, (p, v) in joints},
        "bodies": bodies,
        "sensors": {name: data.sensor(name).data.tolist() for name in sensors},
    }


TRUNK, CALF = "robot/trunk", "robot/FL_calf"
ROBOT = {"entity": "robot"}
KINDS: dict[str, tuple[dict[str, str], int]] = {
    "given": ({}, 2),
    "command": ({"command": "twist"}, 3),
    "clip_row": ({"command": "time_step"}, 1),
    "joint_pos": (ROBOT, 12),
    "joint_vel": (ROBOT, 12),
    "sensor": ({"name": "robot/imu_lin_acc"}, 3),
    "root_quat_w": ({"body": TRUNK}, 4),
    "root_ang_vel_b": ({"body": TRUNK}, 3),
    "root_lin_vel_b": ({"body": TRUNK}, 3),
    "body_pos": ({"body": CALF}, 3),
    "body_quat": ({"body": CALF}, 4),
    "mujoco": ({"field": "qfrc_bias", "columns": [6, 8, 7]}, 3),
    "target": ({}, 2),
}


def with_kinds(contract: dict[str, Any]) -> dict[str, Any]:
    """Return a contract with one input of each kind."""
    pattern = contract["inputs"][0]
    joints = [joint["name"] for joint in contract["entities"]["robot"]["joints"]]
    contract["inputs"] = [
        pattern
        | {"name": kind, "measured": {"kind": kind, **about}, "shape": [size]}
        | {"elements": joints if size == 12 else None}
        for kind, (about, size) in KINDS.items()
    ]
    return contract


@needs_compiler
def test_each_kind_of_input_is_measured_as_the_runner_measures_it(
    driver, go1, tmp_path
):
    kinds = SCHEMA["$defs"]["measured"]["properties"]["kind"]["enum"]
    assert list(KINDS) == kinds
    policy = ContractPolicy(go1)
    robot, record = MujocoRobot(policy), policy.record()
    contract = with_kinds(policy.contract)
    file = tmp_path / "policy.contract.json"
    file.write_text(json.dumps(contract))
    moments, expected = [], []
    robot.start(record["qpos"][0], record["qvel"][0])
    for step in range(STEPS):
        robot.place(record["qpos"][step], record["qvel"][step])
        commands = {"twist": np.array([0.1, -0.2, 0.001 * step])}
        commands["time_step"] = np.array([step])
        target = np.array([0.3, 0.01 * step])
        robot.given = {"given": np.array([step, 0.5]), "target": target}
        found = robot.read(commands)
        expected.append(np.concatenate([found[kind] for kind in KINDS]))
        state = state_of(robot) | {"commands": plain(commands | {"target": target})}
        given = robot.given | {"mujoco": robot.data.qfrc_bias[[6, 8, 7]]}
        moments.append(state | {"given": plain(given)})
    rows = driven(driver, "measure", file, moments=moments)
    assert len(rows) == STEPS, rows
    wrong = np.abs(np.array([numbers(row) for row in rows]) - expected)
    assert (wrong < 1e-6 * np.maximum(1.0, np.abs(expected))).all()
    assert np.ptp(expected, axis=0).max() > 1.0
    moments[0]["bodies"].pop(CALF)
    (said,) = driven(driver, "measure", file, moments=moments)
    assert said.startswith(
        "No reading for body robot/FL_calf: set the key 'FL_calf' or 'robot/FL_calf', "
        "there are "
    )
    moments[0]["bodies"][CALF] = moments[1]["bodies"][CALF]
    moments[0]["sensors"] = {"imu_gyro": [0.0, 0.0, 0.0]}
    (said,) = driven(driver, "measure", file, moments=moments)
    assert said == (
        "No reading for sensor robot/imu_lin_acc: set the key 'imu_lin_acc' or "
        "'robot/imu_lin_acc', there are 'imu_gyro'"
    )


# --- Stops ----------------------------------------------------------------------------

FAULT = 5


@cache
def standing(path: Path) -> list[dict[str, Any]]:
    """Return states of an upright robot in its default pose."""
    policy = ContractPolicy(path)
    inputs = {e["name"]: np.zeros(e["shape"]) for e in policy.contract["inputs"]}
    inputs["joint_pos"][:] = [j["default_pos"] for j in policy.entity["joints"]]
    inputs["imu_upvector"][2] = 1.0
    return [{"inputs": plain(inputs)}] * 10


BEYOND_OF_CALF = "beyond its limits -2.818 to -0.888 rad"
BEYOND_OF_HIP = "beyond its limits -0.863 to 0.863 rad; 5.73 degrees are 0.1 rad"
LEANS_180 = "implies a tilt of 180 degrees, and upright() 0"
IN_DEGREES = "joint positions: it is in degrees per second, expected rad/s"
GYRO_IN_DEGREES = "imu_upvector: it is in degrees per second, expected rad/s"
FORGOTTEN = (
    "state_last_action is not the action of the last period: the policy was reset, or "
    "its state was replaced"
)
MISSING = (
    "is missing from the readings: the policy expects 3 numbers (x, y, z), in m/s, "
    "in the axes of robot/imu"
)


@needs_compiler
@pytest.mark.parametrize(
    ("fault", "reason", "within"),
    [
        ("nan", "joint_vel of FL_hip_joint is not a finite number", 0),
        ("nan_joint", "joint_pos() of FR_calf_joint is not a finite number", 0),
        ("limit", f"joint_pos() of FR_calf_joint is 0, {BEYOND_OF_CALF}", 0),
        ("input", f"joint_pos of FR_calf_joint is 0, {BEYOND_OF_CALF}", 0),
        ("degrees", f"joint_pos of FR_hip_joint is 5.73, {BEYOND_OF_HIP}", 0),
        (
            "apart",
            "joint_pos of FR_hip_joint is 0.9, but joint_pos() returns 0.1 rad",
            0,
        ),
        ("down", f"imu_upvector {LEANS_180}", 0),
        ("long", "imu_upvector has the length 9.81, expected 1", 0),
        ("speed", f"joint_vel is 57.3 times the change of the {IN_DEGREES}", 2 - FAULT),
        ("backwards", "joint_vel is the negative of the change of the joint posi", 0),
        ("gyro", f"imu_ang_vel is 57.3 times the rotation of {GYRO_IN_DEGREES}", -3),
        ("forgets", FORGOTTEN, 0),
        ("stateless", FORGOTTEN, 1 - FAULT),
        ("fall", "the robot fell: the tilt is 70 degrees, more than 60", 0),
        ("stall", "the last step was 0.050 s ago", 0),
        ("packet", "the newest command is 0.04 s old", 1),
        ("answer", "the policy's output is not finite", 0),
        ("key", "a key or button stopped it", 0),
        ("throws", "error: the bus is gone", 0),
        (
            "missing",
            "error: joint_pos() returns 11 numbers, but the contract has 12",
            0,
        ),
        ("no_velocity", f"error: imu_lin_vel {MISSING}", 0),
        (
            "narrow",
            "error: joint_pos has 11 numbers: the policy expects 12 numbers (F",
            0,
        ),
        ("none", "", None),
    ],
)
def test_a_fault_stops_the_robot(driver, go1, fault, reason, within):
    moments = standing(go1)
    rows = driven(driver, "loop", contract_beside(go1), fault, moments=moments)
    said = dict(
        row.split(" ", 1) for row in rows if row.startswith(("damped ", "reason "))
    )
    acts = [row for row in rows if row in ("write 12", "damp")]
    assert said["reason"].startswith(reason) and bool(said["reason"]) == bool(reason)
    if within is None:
        assert said["damped"] == "-1" and acts == ["write 12"] * 10
        return
    period = FAULT + within
    assert said["damped"] == str(period)
    # No more targets are sent, and the robot is damped until the end.
    is_error = reason.startswith("error")
    assert acts == ["write 12"] * period + ["damp"] * (1 if is_error else 10 - period)
    # Commands are limited to the range of training.
    commands = [numbers(r.partition(" ")[2]) for r in rows if r.startswith("commands")]
    if fault != "key" and period > 3:
        assert commands[3] == pytest.approx([0.2, 1.0, 0.0])


@needs_compiler
def test_slide_joints_have_a_tenth_of_the_hinge_tolerance(driver, go1, tmp_path):
    whole = json.loads(contract_beside(go1).read_text())
    path, said = tmp_path / "go1.json", []
    for unit in ("rad", "m"):
        path.write_text(changed(whole, "entities/robot/joints/2/unit", unit))
        said.append(driven(driver, "loop", path, "beyond", moments=standing(go1))[-1])
    # 0.05 rad beyond, and 0.05 m beyond.
    assert said[0] == "reason "
    assert said[1].startswith("reason joint_pos of FR_calf_joint is -0.838, beyond ")


@needs_compiler
@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("gains", "damping is 0 on the robot, but 2.277 in the contract"),
        ("weak", "effort_limit is 30 on the robot, but 35.55 in the contract"),
    ],
)
def test_other_gains_are_refused_before_the_first_period(driver, go1, fault, said):
    rows = driven(driver, "loop", contract_beside(go1), fault, moments=standing(go1))
    assert rows == [
        "damp",
        "damped -1",
        f"reason error: gains of FL_calf_joint: {said}",
    ]


# --- Its log --------------------------------------------------------------------------


@needs_compiler
def test_its_log_is_verified_like_the_log_of_the_python_runner(driver, go1, tmp_path):
    """Log of a walk in plain MuJoCo, read and computed again."""
    policy = ContractPolicy(go1)
    robot, record, moments = MujocoRobot(policy), policy.record(), []
    robot.start(record["qpos"][0], record["qvel"][0])
    for _ in range(60):
        inputs = robot.read({"twist": np.array([0.5, 0.0, 0.0])})
        answer = policy(inputs)
        nexts = [policy.state[s["name"]] for s in policy.contract["states"]]
        whole = np.concatenate([v.ravel() for v in [*answer.values(), *nexts]])
        moments.append({"inputs": plain(inputs), "answer": whole.tolist()})
        robot.write(answer)
        robot.wait()
    lines = driven(driver, "log", contract_beside(go1), moments=moments)
    log = tmp_path / "steps.jsonl"
    log.write_text("\n".join(lines))
    verdict = verify_log(go1, log)
    assert verdict.text == "OK: 60 lines match the contract."
    row = json.loads(lines[7])
    assert row["time"] == pytest.approx(0.14) and row["damped"] is None
    for name, values in moments[7]["inputs"].items():
        assert np.array_equal(np.float32(row["measured"][name]), np.float32(values))
    # An invalid reading is in its line, with the reason.
    moments[20]["inputs"]["joint_pos"][2] = 0.0
    lines = driven(driver, "log", contract_beside(go1), moments=moments)
    log.write_text("\n".join(lines))
    said = f"joint_pos of FR_calf_joint is 0, {BEYOND_OF_CALF}"
    assert json.loads(lines[20])["damped"] == said
    verdict = verify_log(go1, log)
    assert verdict.departures == [f"line 21: {said}"] and verdict.let_go == (21, said)


# --- Unsupported contracts ------------------------------------------------------------


def changed(contract: dict[str, Any], place: str, value: Any) -> str:
    contract = deepcopy(contract)
    *way, last = place.split("/")
    here: Any = contract
    for name in way:
        here = here[int(name) if name.isdigit() else name]
    here[int(last) if last.isdigit() else last] = value
    return json.dumps(contract)


REFUSED = [
    ("format", 3, "The contract has format 3, and this header reads 4: export "),
    ("conventions/quaternions", "xyzw", "Quaternions are xyzw, not wxyz"),
    ("inputs/0/measured/kind", "odometry", "joint_pos is measured by 'odometry', whi"),
    ("inputs/0/shape", [2.5], ".inputs[0].shape[0] is not a count"),
    (
        "states/1/initial",
        [1.0],
        ".states[1].initial has a different size from the state",
    ),
    ("robot", "arm", "The contract has no .entities.arm"),
    ("rates/control_dt", "fast", ".rates.control_dt is not a number"),
]

BROKEN = [
    ('{"a": 1,}', 'expected "'),
    ('{"a": 1, "a": 2}', ".a appears twice"),
    ("[01]", "expected ]"),
    ("[1.]", "expected a value"),
    ("[NaN]", "expected a value"),
    ("[1e999]", "a number is too large"),
    ('["\\x41"]', "unknown escape after \\"),
    ('["\\ud83d"]', "half of a surrogate pair"),
    ('["\t"]', "a string without an end, or with a control character"),
    ('["', "a string without an end, or with a control character"),
    ("{} {}", "expected the end"),
    ("[" * 70, "more than 64 levels"),
]


@needs_compiler
def test_unsupported_contracts_are_refused_by_name(driver, go1):
    whole = json.loads(contract_beside(go1).read_text())
    lines = [json.dumps(whole), *(changed(whole, *case[:2]) for case in REFUSED)]
    lines += [text for text, _ in BROKEN]
    done = subprocess.run(
        [driver, "refuse"], input="\n".join(lines), capture_output=True, text=True
    )
    said = done.stdout.splitlines()
    assert said[0] == "taken" and len(said) == len(lines)
    for found, (_, _, expected) in zip(said[1:], REFUSED, strict=False):
        assert found.startswith(expected)
    for found, (text, expected) in zip(said[1 + len(REFUSED) :], BROKEN, strict=True):
        assert found.startswith(f"Not valid JSON: {expected}, at byte "), text


@needs_compiler
def test_json_strings_and_numbers_are_parsed_like_in_python(driver, go1):
    whole = json.loads(contract_beside(go1).read_text())
    name = 'ä😀 "\\/\b\f\n\r\t\u0001'
    first = whole["entities"]["robot"]["joints"][0]
    (said,) = driven(driver, "refuse", moments=[whole | {"robot": name}])[:1]
    assert said == f"The contract has no .entities.{name}".splitlines()[0]
    for text, value in (("1e-3", 0.001), ("-0.5E+1", -5.0), ("0", 0.0)):
        assert json.loads(text) == value
        first["default_pos"] = value
        assert driven(driver, "refuse", moments=[whole]) == ["taken"]


@needs_compiler
def test_an_input_of_the_wrong_width_is_named_with_the_expected_one(driver, go1):
    inputs = deepcopy(standing(go1)[0])
    inputs["inputs"]["imu_lin_vel"] = [0.0, 0.0]
    moments = [inputs | {"answer": [], "begins": True}]
    (said,) = driven(driver, "file", contract_beside(go1), moments=moments)
    assert said == (
        "imu_lin_vel has 2 numbers: the policy expects 3 numbers (x, y, z), in m/s, in "
        "the axes of robot/imu"
    )


# --- Files ----------------------------------------------------------------------------


@needs_compiler
def test_a_file_of_another_contract_is_refused(driver, go1, cartpole, tmp_path):
    whole = contract_beside(go1)
    assert driven(driver, "check", whole, go1) == []
    other = driven(driver, "check", whole, cartpole)
    assert other == ["The contract belongs to another file"]
    content = bytearray(go1.read_bytes())
    content[-1] ^= 1
    damaged = tmp_path / "policy.onnx"
    damaged.write_bytes(bytes(content))
    (said,) = driven(driver, "check", whole, damaged)
    assert said == "The file is damaged: its content does not match its checksum"


def test_export_writes_the_header_next_to_the_runner(tmp_path):
    write_runner(tmp_path / "policy.onnx")
    assert (tmp_path / HEADER).read_bytes() == (ROOM / HEADER).read_bytes()
    text = (ROOM / HEADER).read_text("utf-8")
    assert max(map(len, text.splitlines())) <= 88


# --- onnxruntime ----------------------------------------------------------------------

PAGE = (ROOM.parents[2] / "docs/tutorials/policy_to_robot.md").read_text("utf-8")
BUS = """
struct Bus {
  double position(const std::string&) { return 0.0; }
  double velocity(const std::string&) { return 0.0; }
  mjlab::Numbers estimated_velocity() { return {0, 0, 0}; }
  mjlab::Numbers gyro() { return {0, 0, 0}; }
  mjlab::Numbers up() { return {0, 0, 1}; }
  void move(const std::string&, float) {}
  void damp() {}
  double time() { return 0.0; }
};
int main() {
  Bus bus;
  return walk(bus).empty();
}
"""


@needs_compiler
def test_inputs_of_the_world_model_are_named_when_the_contract_is_read(
    driver, go1, tmp_path
):
    contract = json.loads(contract_beside(go1).read_text())
    contract["world"] = {"outputs": [{"name": "object_heading"}, {"name": "goal"}]}
    path = tmp_path / "lift.contract.json"
    path.write_text(json.dumps(contract))
    line = [str(driver), "measure", str(path)]
    done = subprocess.run(line, input="", capture_output=True, text=True, check=True)
    assert done.stderr == (
        f"{path}: measure these inputs yourself, because this header does not run the "
        "world model of the file: object_heading, goal\n"
    )
    line[2] = str(contract_beside(go1))
    done = subprocess.run(line, input="", capture_output=True, text=True, check=True)
    assert done.stderr == ""


HEADERS = Path(os.environ.get("ONNXRUNTIME_INCLUDE", "/usr/include/onnxruntime"))


@needs_compiler
@pytest.mark.slow
@pytest.mark.skipif(
    not (HEADERS / "onnxruntime_c_api.h").is_file(),
    reason=f"no onnxruntime_c_api.h in {HEADERS}: name its folder in "
    "ONNXRUNTIME_INCLUDE (Debian has it as libonnxruntime-dev)",
)
def test_with_onnxruntime_cpp_gives_the_same_outputs_as_the_python_runner(
    go1, tmp_path
):
    folder = Path(onnxruntime.__file__).parent / "capi"
    (library,) = folder.glob("libonnxruntime.so.*")
    # The library in a wheel has another name than the linker expects.
    (tmp_path / "libonnxruntime.so.1").symlink_to(library)
    more = ["-DMJLAB_ONNXRUNTIME", "-I", str(HEADERS), str(library)]
    driver = compiled(tmp_path / "driver", *more, f"-Wl,-rpath,{tmp_path}")
    for path in (go1, shipped("Tracking-G1", tmp_path).path):
        policy = ContractPolicy(path)
        names = [term["output"] for term in policy.contract["actions"]]
        moments, expected = [], []
        for inputs in inputs_of(policy):
            answer = policy(inputs)
            moments.append({"inputs": plain(inputs)})
            expected.append(np.concatenate([answer[name] for name in names]))
        rows = driven(driver, "onnx", path, moments=moments)
        assert len(rows) == STEPS, rows
        found = [[float(word) for word in row.split()[1::2]] for row in rows]
        assert np.abs(np.array(found) - expected).max() < 1e-6
    (page,) = re.findall(r"```cpp\n(.*?)```", PAGE, re.DOTALL)
    (tmp_path / "page.cpp").write_text(page + BUS)
    compiled(tmp_path / "page", *more[1:], source=tmp_path / "page.cpp")
    broken = tmp_path / "broken.onnx"
    broken.write_bytes(b"no policy")
    (said,) = driven(driver, "onnx", broken)
    assert said.startswith(f"{broken} cannot be loaded: onnxruntime: ")

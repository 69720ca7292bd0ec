"""The runner: policy without mjlab, and stops for safety."""

import io
import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import mujoco
import numpy as np
import pytest

from mjlab.actuator import IdealPdActuatorCfg
from mjlab.export.runner import runner_text, write_runner
from mjlab.export.runner.commands import (
    CommandSource,
    GamepadSource,
    KeyboardSource,
    UdpSource,
)
from mjlab.export.runner.loop import Safety, follow, main, run
from mjlab.export.runner.policy import ContractError, ContractPolicy
from mjlab.export.runner.robot import MujocoRobot
from mjlab.rl import GaussianCfg, MlpModelCfg
from mjlab.tasks.velocity import VelocityGo1FlatCfg
from tests.worlds.export_runs import write
from tests.worlds.rl_runs import agent_cfg

ALONE = """
import importlib.util, json, sys

class Alone:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("mjlab", "torch", "rsl_rl", "warp", "onnx"):
            raise ImportError(f"{name} is not on a robot")

sys.meta_path.insert(0, Alone())
spec = importlib.util.spec_from_file_location("mjlab_runner", sys.argv[1])
runner = importlib.util.module_from_spec(spec)
spec.loader.exec_module(runner)
if len(sys.argv) > 3:
    sys.exit(runner.main(sys.argv[2:]))
policy = runner.ContractPolicy(sys.argv[2])
record = policy.record()
robot = runner.MujocoRobot(policy)
answers = {}
for step, found in runner.fed(policy):
    for name, values in found.items():
        if f"output {name}" in record:
            error = float(abs(values - record[f"output {name}"][step]).max())
            answers[name] = max(error, answers.get(name, 0.0))
places = [place for place, _ in robot.joints]
joints = [
    abs(found["qpos"] - record["qpos"][step])[places].tolist()
    for step, found in runner.follow(policy, robot)
]
names = [joint["name"] for joint in policy.entity["joints"]]
print(json.dumps({"answers": answers, "joints": joints, "names": names}))
"""


def alone(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the runner, copied into a folder where mjlab cannot be imported."""
    path = write_runner(folder / "policy.onnx")
    return subprocess.run(
        [sys.executable, "-I", "-c", ALONE, str(path), *arguments],
        capture_output=True,
        text=True,
        cwd=folder,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )


@pytest.fixture
def policy(go1) -> ContractPolicy:
    return ContractPolicy(go1)


def text_of(policy: ContractPolicy) -> str:
    return policy.scene()["scene.xml"].decode()


def begun(policy: ContractPolicy, kind: type[MujocoRobot] = MujocoRobot) -> MujocoRobot:
    robot, record = kind(policy), policy.record()
    robot.start(record["qpos"][0], record["qvel"][0])
    return robot


# --- Same behaviour as the environment
# -------------------------------------------------


def check_alone(path: Path, folder: Path, record_property) -> None:
    done = alone(folder, str(path))
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    joints = np.array(found["joints"])
    worst = joints.max(axis=0)
    table = [
        f"{path.stem}: answers {max(found['answers'].values()):.1e}; "
        f"joints, first 20 and all {len(joints)} steps:"
    ]
    early = joints[:21].max(axis=0)
    for name, first, whole in zip(found["names"], early, worst, strict=True):
        table.append(f"  {name:28s} {first:.1e} {whole:.1e}")
    record_property("summary", "\n".join(table))
    assert max(found["answers"].values()) < 1e-5
    assert early.max() < 1e-4


def test_file_without_this_package_matches_torch_and_the_environment(
    go1, tmp_path, record_property
):
    policy = ContractPolicy(go1)
    assert policy.contract["record"]["steps"] == 200
    # The robot must move, or the test shows nothing.
    assert np.ptp(policy.record()["qpos"][:20, 7:], axis=0).max() > 0.1
    check_alone(go1, tmp_path, record_property)


def test_recorded_steps_equal_the_physics_of_their_scene(policy):
    """The state that the recorded targets lead to in MuJoCo, by a loop of its own."""
    record = policy.record()
    model = mujoco.MjModel.from_xml_string(text_of(policy))
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = record["qpos"][0], record["qvel"][0]
    order = [
        model.actuator(f"robot/{name}").id
        for name in policy.contract["actions"][0]["targets"]
    ]
    for step in range(20):
        data.ctrl[order] = record["output joint_pos_target"][step]
        mujoco.mj_step(model, data, 4)
        assert np.abs(data.qpos - record["qpos"][step + 1]).max() < 1e-5
    # Rotated by 90 degrees from the world's axes, so that frames cannot be confused.
    assert abs(record["qpos"][0][6]) > 0.1


@pytest.mark.slow
def test_explicit_servos_are_computed_by_the_runner_too(tmp_path):
    cfg = VelocityGo1FlatCfg(seed=1)
    robot = cfg.scene.entities["robot"].articulation
    robot.actuators = tuple(
        IdealPdActuatorCfg(
            target_names_expr=motor.target_names_expr,
            stiffness=0.5 * motor.stiffness,
            damping=0.4 * motor.damping,
            effort_limit=motor.effort_limit,
            armature=motor.armature,
        )
        for motor in robot.actuators
    )
    actor = MlpModelCfg(hidden_dims=(16,), distribution_cfg=GaussianCfg())
    _, exported = write(tmp_path, cfg, agent_cfg(1, actor=actor))
    servo = exported.contract["entities"]["robot"]["actuators"][0]
    assert (servo["law"], servo["commands"]) == ("pd", ["effort"])
    policy = ContractPolicy(exported.path)
    assert policy.contract["record"]["steps"] > 10
    recorded = policy.record()["qpos"]
    for step, found in follow(policy, MujocoRobot(policy)):
        # Random weights cause large motions, which diverge soon.
        assert step > 5 or np.abs(found["qpos"] - recorded[step]).max() < 5e-6
    assert np.ptp(recorded[:6], axis=0).max() > 0.5
    robot = begun(policy)
    robot.damp()
    robot.data.qvel[6:] = 0.5
    robot.wait()
    speeds = [robot.data.qvel[dof] for _, dof in robot.joints]
    assert np.abs(speeds).max() < 5.0  # It brakes.
    name = policy.entity["joints"][0]["name"]
    robot.servos[name].pull()
    effort = robot.data.ctrl[robot.controls[name, "effort"]]
    servos = {each["target"]: each for each in policy.entity["actuators"]}
    assert effort == pytest.approx(
        -servos[name]["damping"] * robot.data.qvel[robot.joints[0][1]]
    )


def test_a_control_law_unknown_to_plain_mujoco_is_named(tmp_path, policy):
    policy.entity["actuators"][2]["law"] = "the control law of LearnedActuatorCfg"
    with pytest.raises(ContractError, match=r"FL_hip_joint uses .* LearnedActuator"):
        MujocoRobot(policy)


def test_runner_is_one_file_with_few_dependencies(tmp_path):
    text = runner_text()
    assert "mjlab." not in text and text.count("import numpy as np") == 1
    compile(text, "mjlab_runner.py", "exec")
    # The file starts with its usage.
    assert text.splitlines()[2].strip().startswith("python mjlab_runner.py")


def test_runner_command_line_runs_checks_and_logs(go1, tmp_path):
    log = tmp_path / "steps.jsonl"
    line = [str(go1), "--seconds", "1", "--command", "0.4", "0", "0.5", "--log"]
    done = alone(tmp_path, *line, str(log))
    assert (done.returncode, done.stdout) == (0, "50 steps, 1 s.\n"), done.stderr
    rows = [json.loads(row) for row in log.read_text().splitlines()]
    assert len(rows) == 50 and rows[9]["time"] == pytest.approx(9 * 0.02)
    assert rows[0]["commands"] == {"twist": [0.4, 0.0, 0.5]}
    assert all(len(row["targets"]["joint_pos_target"]) == 12 for row in rows)
    done = alone(tmp_path, str(go1), "--check")
    assert done.returncode == 0 and "in 200 recorded steps" in done.stdout


# --- Stops --------------------------------------------------------------------------

FAULT = 5
"""Period of the injected fault."""


class Faulty(MujocoRobot):
    """Robot that counts periods, and records when it was stopped."""

    period = -1
    damped: int | None = None

    def read(self, commands):
        self.period += 1
        return super().read(commands)

    def damp(self):
        self.damped = self.period if self.damped is None else self.damped
        super().damp()

    @property
    def is_faulty(self):
        return self.period >= FAULT


class SeesNothing(Faulty):
    def read(self, commands):
        found = super().read(commands)
        if self.period == FAULT:  # In one period only: the robot stays stopped.
            found["joint_vel"][3] = np.nan
        return found


class BendsTooFar(Faulty):
    def read(self, commands):
        found = super().read(commands)
        if self.is_faulty:
            self.data.qpos[self.joints[2][0]] = 0.0  # The limit of a calf is -0.888.
        return found


class Falls(Faulty):
    def read(self, commands):
        if self.period >= FAULT - 1:
            half = np.radians(70.0) / 2.0
            self.data.qpos[3:7] = np.cos(half), np.sin(half), 0.0, 0.0
            mujoco.mj_forward(self.model, self.data)
        return super().read(commands)


class Stalls(Faulty):
    def now(self):
        return super().now() + (0.03 if self.is_faulty else 0.0)


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        (SeesNothing, "joint_vel of FL_hip_joint is not a finite number"),
        (
            BendsTooFar,
            "joint_pos() of FR_calf_joint is 0, beyond its limits -2.818 to -0.888 rad",
        ),
        (Falls, "the robot fell: the tilt is 70 degrees, more than 60"),
        (Stalls, "the last step was 0.050 s ago"),
        (Faulty, None),
    ],
)
def test_a_fault_stops_the_robot_within_two_periods(kind, reason, policy):
    robot = begun(policy, kind)
    log = io.StringIO()
    source = CommandSource(policy.contract)
    found = run(policy, robot, source, Safety(policy), steps=10, log=log)
    assert found == reason
    rows = [json.loads(row) for row in log.getvalue().splitlines()]
    is_damped = [row["damped"] is not None for row in rows]
    if reason is None:
        assert robot.damped is None and not any(is_damped)
        return
    assert FAULT <= robot.damped <= FAULT + 2
    assert is_damped == [False] * robot.damped + [True] * (10 - robot.damped)
    assert not any(row["targets"] for row in rows[robot.damped :])


# --- Invalid readings
# -------------------------------------------------------------------


def misread(change: Callable[[dict], dict | None]) -> type[Faulty]:
    """Return a robot whose driver changes its readings."""

    class Misread(Faulty):
        def read(self, commands):
            found = super().read(commands)
            return change(found) or found

    return Misread


def scaled(name: str, factor: float) -> type[Faulty]:
    return misread(lambda found: found | {name: factor * found[name]})


def other_joints(change: Callable[[np.ndarray], np.ndarray]) -> type[Faulty]:
    """Return a robot whose driver changes `joint_pos`."""

    class Other(Faulty):
        def joint_pos(self):
            return change(super().joint_pos())

    return Other


class Forgets(Faulty):
    """Policy that restarts in each period."""

    policy: ContractPolicy

    def read(self, commands):
        self.policy.reset()
        return super().read(commands)


PER_RADIAN = 180.0 / np.pi
THIRD_IS_NAN = np.array([0.0, 0.0, np.nan] + [0.0] * 9)
MISREAD = {
    "joint positions in degrees": (
        scaled("joint_pos", PER_RADIAN),
        # The first joint is at 0.1 rad.
        r"joint_pos of FR_hip_joint is 5.73, beyond its limits -0.863 to 0.863 rad; 5\."
        r"73 degrees are 0.1 rad",
        0,
    ),
    "joint velocities in degrees": (
        scaled("joint_vel", PER_RADIAN),
        r"joint_vel is [3-6]\d.* times the change of the joint positions: it is in "
        r"degrees per second, expected rad/s",
        4,
    ),
    "a gyro in degrees": (
        scaled("imu_ang_vel", PER_RADIAN),
        r"imu_ang_vel is [3-6]\d.* times the rotation of imu_upvector: it is in "
        r"degrees per second, expected rad/s",
        4,
    ),
    "joint velocities of the other sign": (
        scaled("joint_vel", -1.0),
        r"joint_vel is the negative of the change of the joint positions",
        15,
    ),
    "a vertical that points down": (
        scaled("imu_upvector", -1.0),
        r"imu_upvector implies a tilt of 180 degrees, and upright\(\) 0",
        0,
    ),
    "a vertical in m/s^2": (
        scaled("imu_upvector", 9.81),
        r"imu_upvector has the length 9.81, expected 1",
        0,
    ),
    "a joint beyond its limit in the input alone": (
        misread(lambda found: found["joint_pos"].__setitem__(2, 0.0)),
        r"joint_pos of FR_calf_joint is 0, beyond its limits -2.818 to -0.888 rad",
        0,
    ),
    "joints in another order": (
        misread(
            lambda found: (
                found | {"joint_pos": found["joint_pos"][[1, 0, *range(2, 12)]]}
            )
        ),
        r"joint_pos of FR_hip_joint is 0.9, but joint_pos\(\) returns 0.1 rad",
        0,
    ),
    "a joint that reads NaN": (
        other_joints(lambda found: found + THIRD_IS_NAN),
        r"joint_pos\(\) of FR_calf_joint is not a finite number",
        0,
    ),
    "a forgotten last action": (
        Forgets,
        r"state_last_action is not the action of the last period: the policy was reset",
        1,
    ),
}


@pytest.mark.parametrize("kind", MISREAD)
def test_impossible_reading_is_named(kind, policy):
    driver, said, latest = MISREAD[kind]
    robot = begun(policy, driver)
    vars(robot)["policy"] = policy
    source = CommandSource(policy.contract)
    source.set("twist", [0.5, 0.0, 0.0])
    log = io.StringIO()
    reason = run(policy, robot, source, Safety(policy), steps=20, log=log)
    assert re.match(said, reason or ""), reason
    assert isinstance(robot, Faulty) and robot.damped is not None
    assert robot.damped <= latest
    rows = [json.loads(row) for row in log.getvalue().splitlines()]
    assert rows[robot.damped]["damped"] == reason


NUMBERS_OF_JOINTS = r"12 numbers \(FR_hip_joint, FR_thigh_joint, .*\), in rad$"


@pytest.mark.parametrize(
    ("driver", "said"),
    [
        (
            misread(lambda found: {n: found[n] for n in found if n != "imu_lin_vel"}),
            r"^imu_lin_vel is missing from the readings: the policy expects 3 numbers "
            r"\(x, y, z\), in m/s, in the axes of robot/imu$",
        ),
        (
            misread(lambda found: found | {"joint_pos": found["joint_pos"][:11]}),
            r"^joint_pos has the shape \(11,\): the policy expects "
            + NUMBERS_OF_JOINTS,
        ),
        (
            other_joints(lambda found: found[:11]),
            r"^joint_pos\(\) returns 11 numbers, but the contract has 12 joints$",
        ),
    ],
)
def test_readings_of_another_shape_are_refused_by_name(driver, said, policy):
    robot, source = begun(policy, driver), CommandSource(policy.contract)
    log = io.StringIO()
    with pytest.raises(ContractError, match=said) as error:
        run(policy, robot, source, Safety(policy), steps=3, log=log)
    assert isinstance(robot, Faulty) and robot.damped == 0
    (row,) = [json.loads(row) for row in log.getvalue().splitlines()]
    assert row["damped"] == str(error.value) and row["targets"] == {}


def test_a_missing_reading_is_also_named_by_the_policy(policy):
    with pytest.raises(ContractError, match=r"^joint_pos is missing from the readings"):
        policy({})


def test_a_slide_stops_the_robot_a_centimetre_beyond_its_limit(cartpole):
    """A hinge has a tolerance ten times larger, in rad."""
    policy = ContractPolicy(cartpole)
    limit = policy.entity["joints"][0]["limits"][1]
    assert policy.entity["joints"][0]["unit"] == "m"
    for beyond, is_fault in ((0.02, True), (0.005, False)):
        robot = begun(policy, Faulty)
        robot.data.qpos[robot.joints[0][0]] = limit + beyond
        mujoco.mj_forward(robot.model, robot.data)
        source = CommandSource(policy.contract)
        reason = run(policy, robot, source, Safety(policy), steps=1)
        said = f"joint_pos of slider is {limit + beyond:.4g}, beyond its limits"
        assert (reason or "").startswith(said) == is_fault
        assert (reason is not None) == is_fault


def test_a_mounting_of_the_imu_is_part_of_the_tilt(policy):
    """The vector of an upright root is the contract's, in the axes of the IMU."""
    entry = next(e for e in policy.contract["inputs"] if e["name"] == "imu_upvector")
    assert entry["upright"] == [0.0, 0.0, 1.0]
    # Rotated by 90 degrees about x, so that up is along -y.
    entry["upright"] = [0.0, -1.0, 0.0]

    def turned(found):
        x, y, z = found["imu_upvector"]
        return found | {"imu_upvector": np.array([x, -z, y])}

    source = CommandSource(policy.contract)
    robot = begun(policy, misread(turned))
    assert run(policy, robot, source, Safety(policy), steps=3) is None
    policy.reset()
    found = run(policy, begun(policy), source, Safety(policy), steps=3)
    assert found and found.startswith("imu_upvector implies a tilt of")


# --- Gains ----------------------------------------------------------------------------


def with_stiffness(policy: ContractPolicy, factor: float) -> str:
    spec = mujoco.MjSpec.from_string(text_of(policy))
    for actuator in spec.actuators:
        actuator.gainprm[0] *= factor
        actuator.biasprm[1] *= factor
    spec.compile()
    return spec.to_xml()


OTHER_GAINS = "gains of FR_hip_joint: stiffness is 19.07 on the robot, but 15.9 in the "


def test_a_robot_with_other_gains_is_refused(policy, go1, tmp_path, capsys):
    path = tmp_path / "robot.xml"
    path.write_text(with_stiffness(policy, 1.2))
    for more in ([], ["--check"]):
        assert main([str(go1), "--robot", str(path), "--seconds", "0.1", *more]) == 2
        said = capsys.readouterr()
        assert said.out == ""
        assert said.err == f"error: {OTHER_GAINS}contract (and 11 more)\n"
    path.write_text(with_stiffness(policy, 1.0))
    assert main([str(go1), "--robot", str(path), "--seconds", "0.1"]) == 0


def test_gains_that_a_driver_reads_out_are_compared(policy):
    class Told(Faulty):
        def gains(self):
            return {"FL_calf_joint": {"damping": 0.0}}

    robot, source = begun(policy, Told), CommandSource(policy.contract)
    said = "gains of FL_calf_joint: damping is 0 on the robot, but 2.277 in the contra"
    with pytest.raises(ContractError, match=said):
        run(policy, robot, source, Safety(policy), steps=1)
    assert robot.damped == -1  # Before the first period.


# --- Packets and drivers --------------------------------------------------------------


def test_a_late_packet_stops_the_robot_within_two_periods(policy):
    robot = begun(policy, Faulty)
    source = UdpSource(policy.contract, 0, robot.now)
    sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)

    class Steered(Faulty):
        def wait(self):
            if self.period < FAULT:
                message = json.dumps({"twist": [0.1 * self.period, 9.0, 0.0]})
                sender.sendto(message.encode(), ("127.0.0.1", source.port))
            super().wait()

    robot.__class__ = Steered
    safety = Safety(policy, late=1.5 * policy.dt)
    log = io.StringIO()
    reason = run(policy, robot, source, safety, steps=10, log=log)
    assert reason == "the newest command is 0.04 s old"
    assert FAULT < robot.damped <= FAULT + 2
    rows = [json.loads(row) for row in log.getvalue().splitlines()]
    # Received commands are applied, within the range of training.
    assert rows[3]["commands"]["twist"] == pytest.approx([0.2, 1.0, 0.0])


class Breaks(Faulty):
    def read(self, commands):
        if self.period == FAULT:
            raise OSError("the bus is gone")
        return super().read(commands)


def test_a_failing_driver_stops_the_robot(policy):
    robot = begun(policy, Breaks)
    source = CommandSource(policy.contract)
    with pytest.raises(OSError, match="the bus is gone"):
        run(policy, robot, source, Safety(policy), steps=10)
    assert robot.damped == FAULT


def test_a_stopped_robot_brakes_without_tracking(policy):
    robot = begun(policy)
    source = CommandSource(policy.contract)
    run(policy, robot, source, Safety(policy), steps=3)
    robot.damp()
    robot.data.qvel[6:] = np.linspace(-1.0, 1.0, 12)
    mujoco.mj_forward(robot.model, robot.data)
    gains = [a["damping"] for a in policy.entity["actuators"]]
    order = [
        robot.controls[a["target"], "position"] for a in policy.entity["actuators"]
    ]
    speeds = [
        robot.data.qvel[robot.joint(f"robot/{a['target']}")[1]]
        for a in policy.entity["actuators"]
    ]
    braking = -np.array(gains) * speeds
    assert robot.data.actuator_force[order] == pytest.approx(braking, abs=1e-5)


# --- Commands -------------------------------------------------------------------------


def test_keys_change_commands_and_x_stops(policy, monkeypatch):
    reading, writing = os.pipe()
    monkeypatch.setattr(sys, "stdin", os.fdopen(reading))
    source = KeyboardSource(policy.contract)
    os.write(writing, b"wwaqz")
    assert source.read() == 0.0
    assert source.values["twist"] == pytest.approx([0.2, 0.1, 0.1])
    os.write(writing, b"s" * 30)
    source.read()
    assert source.values["twist"][0] == -1.0  # Within the range of training.
    os.write(writing, b" ")
    source.read()
    assert not source.values["twist"].any()
    os.write(writing, b"x")
    assert source.read() == np.inf


def test_a_key_stops_the_robot(policy, monkeypatch):
    reading, writing = os.pipe()
    monkeypatch.setattr(sys, "stdin", os.fdopen(reading))
    robot, source = begun(policy, Faulty), KeyboardSource(policy.contract)
    os.write(writing, b"wx")
    assert (
        run(policy, robot, source, Safety(policy), steps=3)
        == "a key or button stopped it"
    )
    assert robot.damped == 0


class Pad:
    """Fake evdev gamepad: stick positions, and pending button presses."""

    name = "Pad"

    def __init__(self, path="", buttons=(0x130, 0x131)):
        self.buttons = list(buttons)
        # Sticks of different makers have different ranges.
        self.ends = {0: (-32768, 32767), 1: (0, 255), 3: (-128, 127), 9: (0, 1)}
        self.shares = dict.fromkeys(self.ends, 0.0)
        self.events, self.held, self.is_gone = [], [], False

    def capabilities(self, absinfo):
        assert not absinfo
        return {0: [0], 1: self.buttons, 3: [*self.ends]}

    def read_one(self):
        if self.is_gone:
            raise OSError(19, "No such device")
        return self.events.pop(0) if self.events else None

    def active_keys(self):
        return self.held

    def absinfo(self, axis):
        low, high = self.ends[axis]
        value = round((low + high) / 2.0 + self.shares[axis] * (high - low) / 2.0)
        return SimpleNamespace(value=value, min=low, max=high)


def event(kind, code, value):
    return SimpleNamespace(type=kind, code=code, value=value)


def test_sticks_cover_the_trained_range_and_their_centre_is_zero(policy):
    policy.contract["commands"][0]["range"] = [[-0.5, 1.0], [-0.4, 0.4], [0.2, 1.5]]
    pad = Pad()
    source = GamepadSource(policy.contract, pad)
    assert source.read() == 0.0
    # A yaw rate of 0 is below its range.
    assert source.values["twist"] == pytest.approx([0.0, 0.0, 0.2])
    pad.shares |= {1: -1.0, 0: -1.0, 3: -1.0}  # Forward and to the left.
    # Releasing a button is not a press.
    pad.events = [event(3, 1, 0), event(0, 0, 0), event(1, 0x130, 0)]
    assert source.read() == 0.0 and pad.events == []
    assert source.values["twist"] == pytest.approx([1.0, 0.4, 1.5])
    pad.shares |= {1: 1.0, 0: 1.0, 3: 1.0}
    source.read()
    assert source.values["twist"] == pytest.approx([-0.5, -0.4, 0.2])
    # Half of the stick's range, a tenth of which is the dead zone.
    pad.shares |= {1: -0.55, 0: 0.09, 3: -0.55}
    source.read()
    assert source.values["twist"] == pytest.approx([0.5, 0.0, 0.75], abs=0.01)


def test_sticks_without_a_known_range_command_fractions_up_to_one(
    policy,
):
    (command,) = policy.contract["commands"]
    command |= {"range": None, "start": [0.0, 0.0]}
    pad = Pad()
    pad.shares |= {1: -1.0, 0: 0.55, 3: 1.0}
    source = GamepadSource(policy.contract, pad)
    source.read()
    assert source.values["twist"] == pytest.approx([1.0, -0.5], abs=1e-4)


@pytest.mark.parametrize(
    "planted", [{"events": [event(1, 0x131, 1), event(1, 0x131, 0)]}, {"held": [0x13D]}]
)
def test_any_button_of_a_gamepad_stops_the_robot(policy, planted):
    robot, pad = begun(policy, Faulty), Pad()

    class Pressed(GamepadSource):
        def read(self):
            if robot.period + 1 == FAULT:
                vars(pad).update(planted)
            return super().read()

    source, safety = Pressed(policy.contract, pad), Safety(policy)
    pad.shares[1] = -1.0
    assert run(policy, robot, source, safety, steps=8) == "a key or button stopped it"
    assert robot.damped == FAULT


def test_an_unplugged_gamepad_stops_the_robot(policy):
    robot, pad = begun(policy, Faulty), Pad()
    pad.is_gone = True
    source = GamepadSource(policy.contract, pad)
    with pytest.raises(OSError, match="No such device"):
        run(policy, robot, source, Safety(policy), steps=3)
    assert robot.damped == -1  # Before the first period.


def test_a_gamepad_is_found_among_devices_or_named_as_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "evdev", None)
    with pytest.raises(ContractError, match=r"evdev \(Linux only\): `pip inst"):
        GamepadSource.find()
    kinds = {"/dev/input/event0": (30, 48), "/dev/input/event1": (0x130,)}
    evdev = SimpleNamespace(
        list_devices=lambda: [*kinds], InputDevice=lambda p: Pad(p, kinds[p])
    )
    monkeypatch.setitem(sys.modules, "evdev", evdev)
    assert GamepadSource.find().buttons == [0x130]
    kinds.pop("/dev/input/event1")
    with pytest.raises(ContractError, match=r"readable\. Other devices: Pad\. C"):
        GamepadSource.find()
    kinds.clear()
    with pytest.raises(ContractError, match="Other devices: none"):
        GamepadSource.find()


def test_gamepad_steers_from_the_command_line(go1, tmp_path, monkeypatch, capsys):
    pad = Pad()
    pad.shares[1] = -1.0
    evdev = SimpleNamespace(list_devices=lambda: ["a"], InputDevice=lambda _: pad)
    monkeypatch.setitem(sys.modules, "evdev", evdev)
    log = tmp_path / "steps.jsonl"
    assert main([str(go1), "--gamepad", "--seconds", "0.1", "--log", str(log)]) == 0
    rows = [json.loads(row) for row in log.read_text().splitlines()]
    assert [row["commands"]["twist"] for row in rows] == [[1.0, 0.0, 0.0]] * 5
    assert capsys.readouterr().out == "5 steps, 0.1 s.\n"


def test_invalid_command_is_refused(policy):
    source = CommandSource(policy.contract)
    for wrong in ([0.1], [0.1, np.nan, 0.0]):
        with pytest.raises(ContractError, match="twist needs 3 finite numbers"):
            source.set("twist", wrong)


def test_packets_are_accepted_from_this_machine_only(policy):
    """127.0.0.2 is another address of this machine, like its network address."""
    source = UdpSource(policy.contract, 0, lambda: 0.0)
    sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    packet = json.dumps({"twist": [0.5, 0.0, 0.0]}).encode()
    sender.sendto(packet, ("127.0.0.2", source.port))
    source.read()
    assert not source.values["twist"].any()
    sender.sendto(packet, ("127.0.0.1", source.port))
    source.read()
    assert source.values["twist"][0] == 0.5


def test_invalid_packets_are_ignored(policy):
    clock = [0.0]
    source = UdpSource(policy.contract, 0, lambda: clock[0])
    sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    for packet in (b"no JSON", b"[1]", b'{"speed": [1]}', b'{"twist": [1, 2]}'):
        sender.sendto(packet, ("127.0.0.1", source.port))
    clock[0] = 3.0
    assert source.read() == 3.0
    assert not source.values["twist"].any()


# --- Files ----------------------------------------------------------------------------


def test_a_file_that_was_changed_is_refused(go1, tmp_path):
    content = bytearray(go1.read_bytes())
    content[content.find(b"joint_pos")] ^= 1
    path = tmp_path / "policy.onnx"
    path.write_bytes(bytes(content))
    with pytest.raises(ContractError, match="content does not match its checksum"):
        ContractPolicy(path)
    path.write_bytes(b"no policy")
    with pytest.raises(ContractError, match="incomplete or not an ONNX file"):
        ContractPolicy(path)
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(ContractError, match="incomplete or not an ONNX file"):
        ContractPolicy(path)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{none}", "{none}: No such file or directory"),
        (
            "{go1} --seconds -1",
            "argument --seconds: -1 is not a duration of at least 0 s",
        ),
        (
            "{go1} --seconds nan",
            "argument --seconds: nan is not a duration of at least 0 s",
        ),
        ("{go1} --udp 99999", "argument --udp: 99999 is not a port from 0 to 65535"),
        ("{go1} --command 1 2", "twist needs 3 finite numbers, not [1.0, 2.0]"),
        ("{cartpole} --command 1", "The policy has no command"),
        ("{go1} --fast", "unrecognized arguments: --fast"),
        ("{go1} --keyboard", "--keyboard needs a terminal as standard input"),
        ("{go1} --log {none}/a.jsonl", "{none}/a.jsonl: No such file or directory"),
        ("{go1} --robot {none}", "MuJoCo cannot load {none}: "),
        ("{json}", "{json} is JSON, not ONNX: pass its ONNX file, such as "),
    ],
)
def test_command_line_errors_are_one_line(
    line, said, go1, cartpole, tmp_path, capsys, monkeypatch
):
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    names = {"go1": go1, "cartpole": cartpole, "none": tmp_path / "none"}
    names["json"] = go1.with_suffix(".contract.json")
    try:
        code = main(line.format(**names).split())
    except SystemExit as end:
        code = end.code
    assert code == 2
    (found,) = capsys.readouterr().err.splitlines()
    assert found.startswith(f"error: {said.format(**names)}")


def test_a_robot_without_a_joint_is_refused_by_its_name(policy):
    text = text_of(policy).replace("robot/FL_hip_joint", "robot/FL_hip")
    with pytest.raises(ContractError, match="has no joint 'robot/FL_hip_joint'"):
        MujocoRobot(policy, text)

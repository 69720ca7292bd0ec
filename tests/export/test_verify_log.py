"""`verify.py --log`: a clean log passes, and a planted fault is named with its line.

Logs are written by the runner with a robot in plain MuJoCo. A fault is planted in its
driver, in its model, or in the lines themselves, as from another program.
"""

import io
import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest

from mjlab.export.runner.commands import CommandSource
from mjlab.export.runner.loop import Safety, run
from mjlab.export.runner.policy import ContractError, ContractPolicy
from mjlab.export.runner.robot import MujocoRobot
from mjlab.export.verify import verify_log
from tests.worlds.shipped import shipped

ROOT = Path(__file__).resolve().parents[2]
STEPS = 120
PER_RADIAN = 180.0 / np.pi

Row = dict[str, Any]
Change = Callable[[dict[str, Any]], dict[str, Any] | None]


class Driver(MujocoRobot):
    """Robot whose driver changes its readings and its targets."""

    policy: ContractPolicy
    reads: Change = staticmethod(lambda found: found)
    writes: Change = staticmethod(lambda targets: targets)
    tells: Callable[[np.ndarray], np.ndarray] = staticmethod(lambda found: found)
    forgets = False

    def read(self, commands):
        if self.forgets:
            self.policy.reset()
        found = super().read(commands)
        return self.reads(found) or found

    def write(self, targets):
        super().write(self.writes(targets) or targets)

    def joint_pos(self):
        return self.tells(super().joint_pos())


def logged(
    path: Path, change: Callable[[Any], None] | None = None, **driver: Any
) -> list[Row]:
    """Return the lines of the runner's log.

    Args:
        path: The policy.
        change: Changes the model.
        driver: Attributes of `Driver`.
    """
    policy = ContractPolicy(path)
    text = None
    if change is not None:
        spec = mujoco.MjSpec.from_string(policy.scene()["scene.xml"].decode())
        change(spec)
        spec.compile()
        text = spec.to_xml()
    robot, record = Driver(policy, text), policy.record()
    vars(robot).update(driver, policy=policy)
    robot.start(record["qpos"][0], record["qvel"][0])
    robot.given = {k[6:]: v[0] for k, v in record.items() if k.startswith("input ")}
    source = CommandSource(policy.contract)
    if "twist" in source.values:
        source.set("twist", [0.5, 0.0, 0.3])
    log = io.StringIO()
    try:
        run(policy, robot, source, Safety(policy), steps=STEPS, log=log)
    except ContractError:
        pass  # The line exists.
    return [json.loads(line) for line in log.getvalue().splitlines()]


def departures(path: Path, rows: list[Row], folder: Path) -> list[str]:
    log = folder / "steps.jsonl"
    log.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return verify_log(path, log).departures


@pytest.fixture(scope="module")
def clean(go1) -> str:
    """A clean log as JSON."""
    return json.dumps(logged(go1))


# --- Clean logs -----------------------------------------------------------------------


def test_a_clean_log_passes(go1, clean, tmp_path):
    rows = json.loads(clean)
    assert len(rows) == STEPS and departures(go1, rows, tmp_path) == []
    # The robot must walk, or the test shows nothing.
    assert np.ptp([row["measured"]["joint_pos"] for row in rows], axis=0).max() > 0.2


def test_a_log_without_fields_of_the_runner_passes(go1, clean, tmp_path):
    rows = json.loads(clean)
    for row in rows:
        for key in ("policy", "gains", "joint_pos", "upright", "last_action", "damped"):
            row.pop(key, None)
    assert departures(go1, rows, tmp_path) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "task",
    "Cartpole-Balance Lift-Yam-Taught Reach-Yam Tracking-G1 Velocity-G1-Flat "
    "Velocity-Go1".split(),
)
def test_clean_logs_of_other_policies_pass(task, tmp_path):
    path = shipped(task, tmp_path).path
    assert departures(path, logged(path), tmp_path) == []


def test_a_stopped_robot_is_not_a_mismatch(go1, clean, tmp_path):
    rows = json.loads(clean)[:50]
    for row in rows[40:]:
        row |= {"damped": "a key or button stopped it", "targets": {}}
    log = tmp_path / "steps.jsonl"
    log.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert verify_log(go1, log).text == (
        "Stopped in line 41: a key or button stopped it.\n"
        "OK: 50 lines match the contract."
    )


# --- Faults in the driver
# ---------------------------------------------------------------


def scaled(name: str, factor: float) -> dict[str, Any]:
    return {"reads": lambda found: found | {name: factor * found[name]}}


def reordered(order: list[int], *, targets: bool = False) -> dict[str, Any]:
    """Return a driver with joints in another order."""
    names = ("joint_pos", "joint_vel")
    told: dict[str, Any] = {
        "reads": lambda found: found | {name: found[name][order] for name in names},
        "tells": lambda found: found[order],
    }
    if targets:
        sent = "joint_pos_target"
        told["writes"] = lambda found: found | {sent: found[sent][order]}
    return told


def signed(place: int) -> dict[str, Any]:
    """Return a driver that reads a joint with the wrong sign."""
    sign = np.where(np.arange(12) == place, -1.0, 1.0)
    names = ("joint_pos", "joint_vel")
    return {
        "reads": lambda found: found | {name: sign * found[name] for name in names},
        "tells": lambda found: sign * found,
    }


def turned(*names: str) -> dict[str, Any]:
    """Return a driver with sensor axes rotated by 90 degrees about z."""

    def reads(found):
        return found | {
            n: np.array([found[n][1], -found[n][0], found[n][2]]) for n in names
        }

    return {"reads": reads}


def late_nan(found: dict[str, Any]) -> None:
    if found["imu_lin_vel"][0] > 0.3:
        found["joint_vel"][3] = np.nan


class Sticks:
    """Encoder that is stuck at its 40th value."""

    def __init__(self) -> None:
        self.shown: list[float] = []

    def __call__(self, found: dict[str, Any]) -> None:
        self.shown.append(found["joint_pos"][4])
        found["joint_pos"][4] = self.shown[min(len(self.shown), 40) - 1]


def clipped(found: dict[str, Any]) -> None:
    """Saturate the gyro at a small rate about x."""
    found["imu_ang_vel"][0] = min(found["imu_ang_vel"][0], -0.5)


IMU = ("imu_lin_vel", "imu_ang_vel", "imu_upvector")
THIGHS = [0, 4, 2, 3, 1, *range(5, 12)]
FRONT_LEGS = [3, 4, 5, 0, 1, 2, *range(6, 12)]
LEFT_AND_RIGHT = [3, 4, 5, 0, 1, 2, 9, 10, 11, 6, 7, 8]
IN_THE_DRIVER = {
    "joint positions in degrees": (
        scaled("joint_pos", PER_RADIAN),
        r"line 1: joint_pos of FR_hip_joint is 5.73, beyond its limits -0.863 to 0.863 "
        r"rad; 5.73 degrees are 0.1 rad$",
    ),
    "joint velocities in degrees": (
        scaled("joint_vel", PER_RADIAN),
        r"line [2-5]: joint_vel is [3-6]\d.* times the change of the joint positions: "
        r"it is in degrees per second, expected rad/s$",
    ),
    "a gyro in degrees": (
        scaled("imu_ang_vel", PER_RADIAN),
        r"line [2-5]: imu_ang_vel is .* in degrees per second, expected rad/s$",
    ),
    "a vertical that points down": (
        scaled("imu_upvector", -1.0),
        r"line 1: imu_upvector implies a tilt of 180 degrees, and "
        r"upright\(\) 0$",
    ),
    "a forgotten last action": (
        {"forgets": True},
        r"line 2: last_action\[\d+\] is 0, expected -?\d.*, the action of the previous",
    ),
    "eleven joints": (
        {"reads": lambda found: found | {"joint_pos": found["joint_pos"][:11]}},
        r"line 1: joint_pos has the shape \(11,\): the policy expects 12 numbers \(FR",
    ),
    "a missing input": (
        {"reads": lambda found: {n: found[n] for n in found if n != "imu_lin_vel"}},
        r"line 1: imu_lin_vel is missing from the readings: the policy expects 3 n",
    ),
    "a number that is none": (
        {"reads": late_nan},
        r"line [1-9]\d: joint_vel of FL_hip_joint is not a finite number$",
    ),
    "an encoder that sticks": (
        {"reads": Sticks()},
        r"line 4\d: joint_pos of FL_thigh_joint is .* in 10 lines in a row, while the "
        r"joint moves: stuck or saturated$",
    ),
    "a gyro at the end of its range": (
        {"reads": clipped},
        r"line \d+: imu_ang_vel of x is -0.5 in 10 lines in a row, while the other "
        r"axes change: stuck or saturated$",
    ),
    "thighs exchanged": (
        reordered(THIGHS),
        r"line 1: order: FR_thigh_joint and FL_thigh_joint are swapped in joint_pos "
        r"and joint_vel: with this correction, the targets lead to the next lines",
    ),
    "front legs exchanged": (
        reordered(FRONT_LEGS),
        r"line 1: order: FR and FL are swapped in joint_pos and joint_vel: ",
    ),
    "left and right exchanged in readings and targets": (
        reordered(LEFT_AND_RIGHT, targets=True),
        r"line 1: order: FR and FL, RR and RL are swapped in readings and targets: ",
    ),
    "a joint of the other sign": (
        signed(3),
        r"line 1: sign: joint_pos and joint_vel of FL_hip_joint are negated: ",
    ),
    "an IMU that is turned": (
        turned(*IMU),
        r"line 1: frame: the IMU is in axes rotated by 90 degrees about z: ",
    ),
    "a gyro that is turned": (
        turned("imu_ang_vel"),
        r"line 1: frame: the gyro is in axes rotated by 90 degrees about z, compared",
    ),
    "a linear velocity that is turned": (
        turned("imu_lin_vel"),
        r"line 1: frame: the linear velocity is in axes rotated by 90 degrees about z",
    ),
}
SLOW = {"front legs exchanged", "a linear velocity that is turned"}


def kinds_of(names):
    slow = pytest.mark.slow
    return [pytest.param(n, marks=slow) if n in SLOW else n for n in names]


@pytest.mark.parametrize("kind", kinds_of(IN_THE_DRIVER))
def test_driver_mistake_is_reported_first(kind, go1, tmp_path):
    driver, said = IN_THE_DRIVER[kind]
    found = departures(go1, logged(go1, **driver), tmp_path)
    assert found and re.match(said, found[0]), found


# --- Faults in the model
# ----------------------------------------------------------------


def turns_axis(spec):
    joint = spec.joint("robot/FL_calf_joint")
    joint.axis = -joint.axis


def steps_faster(spec):
    spec.option.timestep = 0.004


def turns_imu(spec):
    spec.site("robot/imu").quat = [np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5)]


def adds_mass(spec):
    spec.body("robot/trunk").mass += 2.0


def moves_imu(spec):
    spec.site("robot/imu").pos = spec.site("robot/imu").pos + np.array([0.19, 0.0, 0.0])


def slips(spec):
    for leg in ("FR", "FL", "RR", "RL"):
        spec.geom(f"robot/{leg}_foot_collision").friction[0] = 0.05


def falls_slower(spec):
    spec.option.gravity = [0.0, 0.0, -3.7]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            turns_axis,
            "line 1: sign: the axis of FL_calf_joint points in the opposite direct",
        ),
        (steps_faster, "line 2: time: lines are 0.016 s apart, expected 0.02 s"),
        pytest.param(
            turns_imu,
            "line 1: frame: the IMU is in axes rotated by 90 degrees about z: with t",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_a_mistake_of_the_robot_is_named(change, said, go1, tmp_path):
    found = departures(go1, logged(go1, change), tmp_path)
    assert found and found[0].startswith(said), found


@pytest.mark.slow
@pytest.mark.parametrize("change", [adds_mass, moves_imu, slips, falls_slower])
def test_undetectable_fault_is_not_reported_as_another(change, go1, tmp_path):
    """`verify --robot` compares these by number."""
    assert departures(go1, logged(go1, change), tmp_path) == []


# --- Faults in the lines
# ----------------------------------------------------------------


def sent(row: Row) -> np.ndarray:
    return np.array(row["targets"]["joint_pos_target"])


def set_sent(row: Row, values: Any) -> None:
    row["targets"]["joint_pos_target"] = np.asarray(values).tolist()


def strengthens(rows):
    rows[0]["gains"]["FR_hip_joint"]["stiffness"] *= 1.2


def brakes_not(rows):
    rows[0]["gains"]["RL_calf_joint"]["damping"] = -0.0


def is_of_another_policy(rows):
    rows[0]["policy"] = "sha256:0"


def counts_milliseconds(rows):
    for row in rows:
        row["time"] *= 1000.0


def misses_a_period(rows):
    for row in rows[30:]:
        row["time"] += 0.02


def goes_back_in_time(rows):
    rows[30]["time"] = rows[28]["time"]


def commands_too_much(rows):
    rows[9]["commands"]["twist"][1] = 1.5


def commands_something_else(rows):
    rows[9]["measured"]["twist"][0] = 0.4


def sends_degrees(rows):
    for row in rows:
        set_sent(row, sent(row) * PER_RADIAN)


def sends_the_targets_before(rows):
    late = [sent(row) for row in rows]
    for row, values in zip(rows[1:], late, strict=False):
        set_sent(row, values)


def sends_another_number(rows):
    values = sent(rows[36])
    values[5] += 0.5
    set_sent(rows[36], values)


def sends_nothing(rows):
    del rows[36]["targets"]["joint_pos_target"]


def is_cut(rows):
    del rows[20]["measured"]


IN_THE_LINES = {
    strengthens: r"line 1: gains of FR_hip_joint: stiffness is 19.07 in the log, but "
    r"15.9 in the contract$",
    brakes_not: r"line 1: gains of RL_calf_joint: damping is 0 in the log, but 2.277",
    is_of_another_policy: r"line 1: policy is sha256:0, expected sha256:\w{64}$",
    counts_milliseconds: r"line 2: time: lines are 20 s apart, expected 0.02 s; it is "
    r"in milliseconds$",
    misses_a_period: r"line 31: time is 0.62, 0.04 s after the previous line, expe",
    goes_back_in_time: r"line 31: time is 0.56, expected above 0.58$",
    commands_too_much: r"line 10: command twist\[1\] is 1.5, expected -1 to 1$",
    commands_something_else: r"line 10: twist is \[0.4, 0, 0.3\], expected \[0.5, "
    r"0, 0.3\], the command$",
    sends_degrees: r"line 1: joint_pos_target of .*_joint is .*, expected .* from the "
    r"network: degrees: found degrees instead of radians",
    sends_the_targets_before: r"line 2: joint_pos_target of .* from the network: "
    r"delay: it is 1 control step late",
    sends_another_number: r"line 37: joint_pos_target of FL_calf_joint is .*, expec",
    sends_nothing: r"line 37: joint_pos_target is missing from the targets$",
    is_cut: r"line 21: measured is missing$",
}
BY_NAME = {change.__name__: change for change in IN_THE_LINES}


@pytest.mark.parametrize("kind", BY_NAME)
def test_impossible_log_line_is_named(kind, go1, clean, tmp_path):
    change, rows = BY_NAME[kind], json.loads(clean)
    change(rows)
    found = departures(go1, rows, tmp_path)
    assert found and re.match(IN_THE_LINES[change], found[0]), found


def test_efforts_beyond_the_limit_in_most_lines_are_named(go1, clean, tmp_path):
    rows = json.loads(clean)
    for row in rows:
        values = sent(row)
        values[2] += 2.0
        set_sent(row, values)
    found = departures(go1, rows, tmp_path)
    # By hand arithmetic, from the gains and the readings of the first line.
    row = rows[0]
    calf = next(
        a
        for a in ContractPolicy(go1).entity["actuators"]
        if a["target"] == "FR_calf_joint"
    )
    measured = row["measured"]
    effort = calf["stiffness"] * (sent(row)[2] - measured["joint_pos"][2])
    effort -= calf["damping"] * measured["joint_vel"][2]
    said = (
        f"line 1: joint_pos_target of FR_calf_joint requests an effort of {effort:.4g}"
        f", expected up to {calf['effort_limit']:.4g}; it is saturated in 1"
    )
    assert [each for each in found if each.startswith(said)], found


def test_external_state_reset_is_identified_by_its_targets(go1, clean, tmp_path):
    """As written by a driver that runs the network itself, without `last_action`."""
    rows, policy = json.loads(clean), ContractPolicy(go1)
    for row in rows:
        policy.reset()
        answer = policy(row["measured"])
        row["targets"] = {name: answer[name].tolist() for name in answer}
        row.pop("last_action")
    found = departures(go1, rows, tmp_path)
    said = r"line 2: joint_pos_target of .*: the policy's state was reset in each"
    assert re.match(said, found[0]), found


def test_a_log_that_is_cut_short_or_empty_is_named(go1, clean, tmp_path):
    log = tmp_path / "steps.jsonl"
    lines = [json.dumps(row) for row in json.loads(clean)[:5]]
    log.write_text("\n".join(lines)[:-40])
    (said,) = verify_log(go1, log).departures
    assert said.startswith("line 5: not valid JSON: ")
    log.write_text("")
    with pytest.raises(ContractError, match=r"steps.jsonl has no lines"):
        verify_log(go1, log)


# --- Typed ----------------------------------------------------------------------------


def typed(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "scripts/verify.py", *map(str, arguments)]
    return subprocess.run(line, cwd=ROOT, capture_output=True, text=True)


def test_the_command_line_prints_the_line_and_returns_the_exit_code(
    go1, clean, tmp_path
):
    log = tmp_path / "steps.jsonl"
    rows = json.loads(clean)[:30]
    log.write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = typed(go1, "--log", log)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "OK: 30 lines match the contract.\n"
    rows[7]["measured"]["joint_pos"][2] = 0.0
    log.write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = typed(go1, "--log", log)
    assert done.returncode == 1, done.stderr
    assert done.stdout.splitlines()[:2] == [
        "Mismatch:",
        "  line 8: joint_pos of FR_calf_joint is 0, beyond its limits -2.818 to -0.888 "
        "rad.",
    ]
    done = typed(go1, "--log", tmp_path / "none.jsonl")
    assert done.returncode == 2 and "does not exist" in done.stderr
    done = typed("Velocity-Go1-Flat")
    assert done.returncode == 2
    assert "Export it first: mjlab export Velocity-Go1-Flat" in done.stderr

"""Safety checks of the runner, and its commands, by hand arithmetic."""

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from mjlab.export.runner.commands import CommandSource
from mjlab.export.runner.loop import Safety
from mjlab.export.runner.policy import ContractPolicy
from mjlab.export.runner.robot import MujocoRobot, Servo


class Still:
    """Robot with a fake clock and tilt."""

    def __init__(self) -> None:
        self.time, self.angle = 0.0, 0.0

    def joint_pos(self) -> np.ndarray:
        return np.zeros(1)

    def upright(self) -> float:
        return math.cos(math.radians(self.angle))

    def now(self) -> float:
        return self.time


def safety(**more: Any) -> Safety:
    joint = {"name": "hinge", "limits": [-1.0, 1.0], "unit": "rad"}
    robot = {"joints": [joint], "prefix": "", "root": {"frame": "base"}}
    contract = {"inputs": [], "robot": "robot", "entities": {"robot": robot}}
    policy: Any = SimpleNamespace(contract=contract, dt=0.02)
    return Safety(policy, **more)


@pytest.mark.parametrize("tilt", [30.0, 60.0, 80.0])
def test_robot_has_fallen_beyond_the_tilt_limit(tilt: float) -> None:
    for angle, fell in ((0.0, False), (tilt - 1.0, False), (tilt + 1.0, True)):
        robot: Any = Still()
        robot.angle = angle
        found = safety(tilt=tilt).fault(robot, {}, 0.0)
        leans = f"the tilt is {angle:.0f} degrees, more than {tilt:g}"
        assert found == (f"the robot fell: {leans}" if fell else None)


def test_late_step_is_detected_by_the_time_since_the_last_one() -> None:
    """Period of 0.02 s, late after 1.5 times that."""
    robot: Any = Still()
    watch = safety(periods=1.5)
    for time, late in ((5.0, False), (5.02, False), (5.049, False), (5.09, True)):
        robot.time = time
        found = watch.fault(robot, {}, 0.0)
        assert (found is not None) == late, time
    robot.time = 5.11
    assert watch.fault(robot, {}, 0.0) is None


def test_a_command_stays_within_the_ranges_of_its_training() -> None:
    ranges = [[-0.5, 1.0], [-0.3, 0.3], [-1.0, 2.0]]
    known = {"name": "twist", "start": [0.0] * 3, "range": ranges}
    source = CommandSource({"commands": [known]})
    source.set("twist", [9.0, 0.1, -9.0])
    assert source.values["twist"].tolist() == [1.0, 0.1, -1.0]
    source.set("twist", [-9.0, -9.0, 9.0])
    assert source.values["twist"].tolist() == [-0.5, -0.3, 2.0]
    free = CommandSource({"commands": [known | {"range": None}]})
    free.set("twist", [9.0, 0.1, -9.0])
    assert free.values["twist"].tolist() == [9.0, 0.1, -9.0]


def test_a_servo_adds_the_requested_effort_and_is_clipped_afterwards() -> None:
    data = SimpleNamespace(qpos=np.array([0.2]), qvel=np.array([0.5]), ctrl=np.zeros(1))
    robot: Any = SimpleNamespace(
        data=data,
        controls={("knee", "effort"): 0},
        entity={"prefix": ""},
        joint=lambda name: (0, 0),
    )
    actuator = {"target": "knee", "stiffness": 10.0, "damping": 2.0}
    servo = Servo(robot, actuator | {"effort_limit": 7.0})
    servo.pull()
    assert data.ctrl[0] == 0.0  # No command was received.
    servo.asked = {"position": 0.5, "velocity": 1.0, "effort": 1.5}
    servo.pull()
    assert data.ctrl[0] == pytest.approx(10.0 * 0.3 + 2.0 * 0.5 + 1.5)
    servo.asked["effort"] = -20.0
    servo.pull()
    assert data.ctrl[0] == -7.0


@pytest.mark.parametrize("kind", ["control step", "physics step"])
def test_a_relative_target_starts_from_the_position_of_its_own_step(kind: str) -> None:
    """At the start of the control step the joint was at 0.1, now it is at 0.4."""
    robot: Any = SimpleNamespace(
        reaches={},
        targets={"out": np.array([0.05])},
        servos={},
        controls={("knee", "position"): 0},
        entity={"prefix": ""},
        joint=lambda name: (0, 0),
        data=SimpleNamespace(qpos=np.array([0.4]), ctrl=np.zeros(1)),
    )
    term = {
        "quantity": "joint_pos",
        "output": "out",
        "targets": ["knee"],
        "relative_to": f"position at each {kind}",
    }
    MujocoRobot._send(robot, term, np.array([0.1]))
    wanted = 0.45 if kind == "physics step" else 0.15
    assert robot.data.ctrl[0] == pytest.approx(wanted)


def test_clip_time_stops_at_the_last_frame_of_its_clip() -> None:
    """Rows 0 to 3 belong to the first clip, 4 to 9 to the second."""
    clips = [{"first": 0, "frames": 4}, {"first": 4, "frames": 6}]
    for start, last in ((0.0, 3.0), (2.0, 3.0), (4.0, 9.0), (7.0, 9.0)):
        record = {"command time_step": np.array([[start]])}
        policy: Any = SimpleNamespace(
            contract={"motion": {"clips": clips}}, record=lambda r=record: r
        )
        rows = [
            float(ContractPolicy.clock(policy, step)["time_step"][0])
            for step in range(12)
        ]
        assert rows == [min(start + step, last) for step in range(12)]

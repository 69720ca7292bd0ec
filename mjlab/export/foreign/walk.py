"""Short walk of a foreign policy in simulation: stand, then walk forward."""

import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mjlab.export.foreign.graph import COMMAND, TARGET, assemble
from mjlab.export.foreign.interface import Interface
from mjlab.export.foreign.port import described, packed
from mjlab.export.foreign.robot_model import RobotModel
from mjlab.export.foreign.scene import start_pose
from mjlab.export.runner.policy import Arrays, ContractPolicy
from mjlab.export.runner.robot import MujocoRobot

STAND_S, WALK_S, SETTLE_S = 1.0, 4.0, 1.5
"""Duration of standing, of walking, and of the acceleration excluded from the mean
velocity, s."""

SPEED = 0.5
"""Forward command, m/s, clipped to the policy's range."""

_HEADING = 2.0
"""Initial heading, rad."""

_FALL = 0.6, 0.5
"""Fraction of the initial height, and cosine of the tilt, below which a robot fell."""

_CLOSE = 0.5
"""Largest accepted velocity error, as a fraction of the command."""


@dataclass(frozen=True)
class Walk:
    """Result of a simulated walk."""

    fell_s: float | None
    """Time of the fall, s. None if the robot did not fall."""

    speed: tuple[float, float]
    """Mean forward and left velocity in the heading's frame, m/s."""

    wanted: float
    """Forward command, m/s."""

    @property
    def error(self) -> float:
        """Norm of the difference between mean velocity and command, m/s."""
        return float(np.hypot(self.speed[0] - self.wanted, self.speed[1]))

    @property
    def is_good(self) -> bool:
        """Whether the robot stayed up and followed the command."""
        return self.fell_s is None and self.error <= _CLOSE * self.wanted

    @property
    def said(self) -> str:
        """Description for a message."""
        if self.fell_s is not None:
            return f"it falls after {self.fell_s:.1f} s"
        forward, left = (value + 0.0 for value in self.speed)
        return f"it walks {forward:.2f} m/s forward and {left:.2f} m/s to the left"


def walk(interface: Interface, robot: RobotModel, *, late: int = 0) -> Walk:
    """Simulate a policy that stands, then walks forward.

    Args:
        interface: Contract and network of the policy.
        robot: Robot model of the policy.
        late: Delay of the targets, in control steps.
    """
    policy = loaded(interface, robot)
    world = MujocoRobot(policy)
    pose = start_pose(interface, world.model)
    # A heading along x would hide confusions of world frame and robot frame.
    pose[3:7] = np.cos(_HEADING / 2.0), 0.0, 0.0, np.sin(_HEADING / 2.0)
    world.start(pose, np.zeros(world.model.nv))
    height = float(world.data.qpos[2])
    low, high = interface.ranges[0] if interface.ranges else (-SPEED, SPEED)
    wanted = float(np.clip(SPEED, low, high))
    default = dict(zip(interface.joints, interface.default, strict=True))
    rest: Arrays = {TARGET: np.array([default[name] for name in robot.joints])}
    sent = [rest] * (late + 1)
    speeds: list[np.ndarray] = []
    for step in range(round((STAND_S + WALK_S) / interface.control_dt)):
        time = step * interface.control_dt
        forward = wanted if time >= STAND_S else 0.0
        measured = world.read({COMMAND: np.array([forward, 0.0, 0.0])})
        sent = [*sent[1:], policy(measured)]
        if not np.isfinite(sent[-1][TARGET]).all():
            return Walk(time, (0.0, 0.0), wanted)
        world.write(sent[0])
        world.wait()
        is_low = world.data.qpos[2] < _FALL[0] * height
        if is_low or not world.upright() >= _FALL[1]:
            return Walk(time, (0.0, 0.0), wanted)
        if time >= STAND_S + SETTLE_S:
            speeds.append(_heading_speed(world))
    mean = np.mean(speeds, axis=0)
    return Walk(None, (float(mean[0]), float(mean[1])), wanted)


def loaded(interface: Interface, robot: RobotModel) -> ContractPolicy:
    """Load a foreign policy as a file of our format, without recorded steps."""
    graph = assemble(interface, robot.joints, robot.mount(interface.imu), robot.root)
    whole, texts = described(interface, robot, graph, task="")
    with tempfile.TemporaryDirectory(prefix="mjlab-walk-") as folder:
        file = Path(folder) / "policy.onnx"
        file.write_bytes(packed(graph, whole, texts)[0])
        return ContractPolicy(file)


def _heading_speed(world: MujocoRobot) -> np.ndarray:
    """Return the forward and left velocity of the root, m/s."""
    w, x, y, z = world.data.qpos[3:7]
    yaw = np.arctan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))
    turn = np.array([[np.cos(yaw), np.sin(yaw)], [-np.sin(yaw), np.cos(yaw)]])
    return turn @ world.data.qvel[:2]

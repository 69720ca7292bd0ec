"""Keyframes of joints, base, weight shift and feet, solved by inverse kinematics.

    sketch = Sketch(robot)
    sketch.hold(1.0)
    sketch.move(0.8, height=-0.1, waist_pitch=0.3)
    sketch.step("left_foot", 0.6, forward=0.2)
    qpos, contacts = sketch.solve(50.0)

A cursor marks the current time. Each movement begins at the cursor and advances it;
`at` sets the cursor, for example to add simultaneous movements.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Self

import mujoco
import numpy as np

from mjlab.motion.tools.channel import Channel, pendulum_path
from mjlab.motion.tools.inverse_kinematics import (
    Goal,
    InverseKinematics,
    body_height,
    body_rotation,
    joint_positions,
    mass_center,
    site_pose,
)
from mjlab.names import UnknownNameError, find_name, suggest

BASE = ("height", "roll", "pitch", "yaw", "support")
"""Channels besides joints: the base relative to its first pose, and the weight shift,
which is 1 on the left foot, -1 on the right foot, and 0 on both."""

_FOOT = ("x", "y", "z", "yaw", "pitch")
_INSIDE = 0.015
"""Inward offset of the pressure from a foot's centre in single support, in metres, as
in human gait: the ankle rolls less."""
_LEAN = 0.08
"""Roll of the base towards the stance foot in single support, in radians."""

_SOLE = 1e-9
_JOINT = "_joint"


@dataclass(frozen=True, kw_only=True)
class SketchRobot:
    """Description of a robot with two flat feet, in the initial pose of a motion."""

    model: mujoco.MjModel
    """Model of the robot only; its first keyframe is the initial pose."""

    base: str
    """Body with the free joint."""

    feet: tuple[str, str]
    """Sites at the centres of the soles, left and right."""

    sole: float
    """Height of the foot sites above the ground in stance, in metres."""

    mirror_signs: Mapping[str, float]
    """Sign of each joint when mirrored."""


class Sketch:
    """Builder of a keyframed motion, with a solver for its poses."""

    def __init__(self, robot: SketchRobot) -> None:
        """Start on both feet, in the initial pose."""
        self.robot, self.now = robot, 0.0
        model = robot.model
        data = mujoco.MjData(model)
        mujoco.mj_resetDataKeyframe(model, data, 0)
        mujoco.mj_forward(model, data)
        self._first = data.qpos.copy()
        self._base = find_name(robot.base, _names(model, "body"), what="body")
        self._sites = [
            find_name(name, _names(model, "site"), what="site") for name in robot.feet
        ]
        middle = data.site_xpos[self._sites, :2].mean(axis=0)
        self._origin = middle
        lowest = data.site_xpos[self._sites, 2].mean()
        self._height = float(data.xpos[self._base, 2] - lowest + robot.sole)
        self._mass_height = float(data.subtree_com[self._base, 2] - lowest)
        self._joints = {
            name: int(joint)
            for joint, name in enumerate(_names(model, "joint"))
            if model.jnt_type[joint] != mujoco.mjtJoint.mjJNT_FREE
        }
        starts = {
            name: float(self._first[model.jnt_qposadr[joint]])
            for name, joint in self._joints.items()
        }
        starts.update(dict.fromkeys(BASE, 0.0))
        self._places: dict[str, np.ndarray] = {}
        for foot, site in zip(robot.feet, self._sites, strict=True):
            x, y = data.site_xpos[site, :2] - middle
            starts.update(zip(_channels(foot), (x, y, 0.0, 0.0, 0.0), strict=True))
            self._places[foot] = np.array((x, y, 0.0))
        self.channels = {name: Channel(value) for name, value in starts.items()}
        """Channels by name."""

    def at(self, time: float) -> Self:
        """Set the cursor to a time."""
        self.now = time
        return self

    def hold(self, seconds: float) -> Self:
        """Advance the cursor without movement."""
        self.now += seconds
        return self

    def move(self, seconds: float, **goals: float) -> Self:
        """Move channels to values.

        Args:
            seconds: Duration of the movement.
            **goals: Value by channel: one of `BASE` in metres and radians, or a joint
                position by the joint's name without "_joint". A name without a side,
                such as `elbow`, sets the left joint to the value and mirrors it on the
                right.
        """
        start, self.now = self.now, self.now + seconds
        for name, value in self.resolved(goals).items():
            self._set(name, start, value)
        return self

    def home(self, seconds: float) -> Self:
        """Move all joints and the base back to the initial pose; feet stay."""
        start, self.now = self.now, self.now + seconds
        for name in (*self._joints, *BASE):
            channel = self.channels[name]
            if channel.last != channel.values[0]:
                self._set(name, start, channel.values[0])
        return self

    def step(
        self,
        foot: str,
        seconds: float,
        *,
        forward: float = 0.0,
        left: float = 0.0,
        turn: float = 0.0,
        up: float = 0.06,
        shift: float = 0.3,
    ) -> Self:
        """Shift the weight to the other foot, and take a step with `foot`.

        Args:
            foot: The swing foot.
            seconds: Time in the air.
            forward: Step length along the foot's direction, in metres.
            left: Step to the left, in metres.
            turn: Turn to the left, in radians.
            up: Largest height, in metres.
            shift: Duration of the weight shift before the swing.
        """
        self.stand_on(self._other(foot), shift)
        x, y, yaw = self._places[foot]
        cos, sin = math.cos(yaw), math.sin(yaw)
        place = (
            x + cos * forward - sin * left,
            y + sin * forward + cos * left,
            yaw + turn,
        )
        self._places[foot] = np.array(place)
        start, self.now = self.now, self.now + seconds
        for name, value in zip(("x", "y", "yaw"), place, strict=True):
            self._set(f"{foot}.{name}", start, value)
        middle, end = start + 0.5 * seconds, self.now
        self.channels[f"{foot}.z"].move(start, middle, up)
        self.channels[f"{foot}.z"].move(middle, end, 0.0)
        return self

    def lift(
        self,
        foot: str,
        seconds: float,
        *,
        forward: float = 0.0,
        left: float = 0.0,
        up: float = 0.0,
        pitch: float = 0.0,
        turn: float = 0.0,
    ) -> Self:
        """Move a foot relative to its position on the ground; zero offsets set it down.

        Args:
            foot: The foot, which carries no weight.
            seconds: Duration of the movement.
            forward: Offset along the foot's direction, in metres.
            left: Offset to the left, in metres.
            up: Height, in metres.
            pitch: Pitch, toes down, in radians.
            turn: Turn to the left, in radians.
        """
        x, y, yaw = self._places[foot]
        cos, sin = math.cos(yaw), math.sin(yaw)
        goal = (
            x + cos * forward - sin * left,
            y + sin * forward + cos * left,
            up,
            yaw + turn,
            pitch,
        )
        start, self.now = self.now, self.now + seconds
        for name, value in zip(_channels(foot), goal, strict=True):
            self._set(name, start, value)
        return self

    def stand_on(self, foot: str | None, seconds: float) -> Self:
        """Shift the weight to a foot, or to both feet if None."""
        value = 0.0 if foot is None else 1.0 - 2.0 * self.robot.feet.index(foot)
        if self.channels["support"].last == value:
            return self
        return self.move(seconds, support=value)

    def solve(
        self, fps: float, progress: Callable[[int, int], None] | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Solve for the poses and foot contacts.

        Args:
            fps: Frames per second.
            progress: Called with the number of finished frames and the total.

        Returns:
            `qpos`, shape (frames, nq), and ground contact of each foot, shape
            (frames, 2), bool.
        """
        number = round(self.now * fps) + 1
        times = np.arange(number) / fps
        values = {name: channel(times) for name, channel in self.channels.items()}
        stands = np.stack(
            [
                np.all([self.channels[c].rests(times) for c in _channels(foot)], axis=0)
                & (values[f"{foot}.z"] < _SOLE)
                for foot in self.robot.feet
            ],
            axis=1,
        )
        solver = InverseKinematics(self.robot.model)
        mass = pendulum_path(self._pressure(values), 1.0 / fps, self._mass_height)
        free = self._free_joints()
        pose, poses = self._first.copy(), []
        pose[2] = self._height
        pose[:2] -= self._origin
        for frame in range(number):
            here = {name: float(column[frame]) for name, column in values.items()}
            pose = solver.solve(pose, self._layers(here, mass[frame], free))
            poses.append(pose)
            if progress is not None:
                progress(frame + 1, number)
        return np.array(poses), stands

    def _pressure(self, values: Mapping[str, np.ndarray]) -> np.ndarray:
        """Return the centre of pressure, m, shape (frames, 2)."""
        points = []
        for foot, inward in zip(self.robot.feet, (-_INSIDE, _INSIDE), strict=True):
            x, y, yaw = (values[f"{foot}.{name}"] for name in ("x", "y", "yaw"))
            aside = np.stack([-np.sin(yaw), np.cos(yaw)], axis=1)
            points.append(np.stack([x, y], axis=1) + inward * aside)
        left, right = points
        share = 0.5 * (values["support"] + 1.0)[:, None]
        return right + share * (left - right)

    def _layers(
        self, here: Mapping[str, float], mass: np.ndarray, free: dict[str, int]
    ) -> list[list[Goal]]:
        """Return the layers: feet, centre of mass, base, and the remaining joints."""
        feet: list[Goal] = []
        for foot, site in zip(self.robot.feet, self._sites, strict=True):
            x, y, z, yaw, pitch = (here[name] for name in _channels(foot))
            place = np.array((x, y, z + self.robot.sole))
            feet.append(site_pose(site, place, _quat(0.0, pitch, yaw)))
        heading = 0.5 * sum(here[f"{foot}.yaw"] for foot in self.robot.feet)
        roll = here["roll"] - _LEAN * here["support"]
        turn = _quat(roll, here["pitch"], here["yaw"] + heading)
        joints = np.array(list(free.values()))
        wanted = np.array([here[name] for name in free])
        return [
            feet,
            [mass_center(self._base, mass)],
            [
                body_height(self._base, self._height + here["height"]),
                body_rotation(self._base, turn),
            ],
            [joint_positions(joints, wanted)],
        ]

    def _free_joints(self) -> dict[str, int]:
        """Return the joints outside of the legs' kinematic chains."""
        model = self.robot.model
        chain: set[int] = set()
        for site in self._sites:
            body = int(model.site_bodyid[site])
            while body != self._base:
                chain.add(body)
                body = int(model.body_parentid[body])
        joints = self._joints.items()
        return {name: j for name, j in joints if int(model.jnt_bodyid[j]) not in chain}

    def resolved(self, goals: Mapping[str, float]) -> dict[str, float]:
        found: dict[str, float] = {}
        for name, value in goals.items():
            sides = (f"left_{name}{_JOINT}", f"right_{name}{_JOINT}")
            if name in BASE:
                found[name] = value
            elif f"{name}{_JOINT}" in self._joints:
                found[f"{name}{_JOINT}"] = value
            elif sides[0] in self._joints:
                found[sides[0]] = value
                found[sides[1]] = self.robot.mirror_signs[sides[1]] * value
            else:
                known = [joint.removesuffix(_JOINT) for joint in self._joints]
                hint = suggest(name, [*BASE, *known])
                raise UnknownNameError(f"There is no movable part {name!r}. {hint}")
        return found

    def _set(self, name: str, start: float, value: float) -> None:
        try:
            self.channels[name].move(start, self.now, value)
        except ValueError as error:
            error.add_note(f"This error occurred for {name!r}.")
            raise

    def _other(self, foot: str) -> str:
        left, right = self.robot.feet
        return {left: right, right: left}[foot]


def _channels(foot: str) -> list[str]:
    return [f"{foot}.{name}" for name in _FOOT]


def _names(model: mujoco.MjModel, kind: str) -> list[str]:
    number = {"body": model.nbody, "site": model.nsite, "joint": model.njnt}[kind]
    return [getattr(model, kind)(i).name for i in range(number)]


def _quat(roll: float, pitch: float, yaw: float) -> np.ndarray:
    quat = np.zeros(4)
    mujoco.mju_euler2Quat(quat, np.array((yaw, pitch, roll)), "ZYX")
    return quat

"""Retargeting of motion capture to a robot, by matching limb directions."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import mujoco
import numpy as np

from mjlab.motion.motion import Motion, MotionError, MotionInfo
from mjlab.motion.rates import resample_times, sample
from mjlab.motion.robot import MotionRobot
from mjlab.motion.tools.bvh import BvhRecording
from mjlab.motion.tools.checks import lowest_points
from mjlab.motion.tools.inverse_kinematics import (
    Goal,
    InverseKinematics,
    Rows,
    body_rotation,
    joint_positions,
)

_SIDES = ("left", "right")
_NAMES = {
    "hip": ("UpLeg", "Hip", "Thigh", "UpperLeg"),
    "knee": ("Leg", "Knee", "Shin", "LowerLeg"),
    "ankle": ("Foot", "Ankle"),
    "shoulder": ("Arm", "Shoulder", "UpArm", "UpperArm"),
    "elbow": ("ForeArm", "Elbow", "LowArm", "LowerArm"),
    "wrist": ("Hand", "Wrist"),
}
"""Joint names in recordings after "Left" or "Right", the most common first."""

LANDMARKS = tuple(f"{side}_{part}" for side in _SIDES for part in _NAMES)
"""Names of the matched landmarks, which robots map to their bodies."""

_LIMBS = (("hip", "knee"), ("knee", "ankle"), ("shoulder", "elbow"), ("elbow", "wrist"))


@dataclass(frozen=True, kw_only=True)
class HumanoidParts:
    """Robot bodies that correspond to the joints of a person."""

    base: str
    """Pelvis body, with the free joint."""

    torso: str
    """Body that carries the arms."""

    landmarks: Mapping[str, str]
    """Body at each of `LANDMARKS`."""


def retargeted(
    recording: BvhRecording,
    robot: MotionRobot,
    parts: HumanoidParts,
    name: str,
    fps: float,
    progress: Callable[[int, int], None] | None = None,
) -> Motion:
    """Retarget a recording to a robot, by matching limb directions.

    The pelvis path is scaled by the leg length, feet are kept flat, and the lowest foot
    of the whole motion is put on the ground. Feet can slide a little, because step
    lengths differ with leg proportions; `check_motion` measures the slip.

    Args:
        recording: Motion capture of a person.
        robot: The robot.
        parts: Robot bodies that correspond to the person's joints.
        name: Name of the motion.
        fps: Frames per second to solve.
        progress: Called with the number of finished frames and the total.
    """
    places = _landmarks(recording)
    times = resample_times(len(places["left_hip"]), recording.fps, fps)
    person = {key: sample(place, times) for key, place in places.items()}
    figure = _Figure(robot, parts)
    frames = figure.solve(person, progress)
    info = MotionInfo(robot=robot.name, model_hash=robot.hash)
    motion = Motion.from_root(
        name,
        fps,
        frames[:, :3] - frames[0, :3] * (1.0, 1.0, 0.0),
        frames[:, 3:7],
        frames[:, 7:],
        root_body=robot.root_body,
        joint_names=robot.joint_names,
        info=info.logged("directions of a person's limbs, feet flat"),
    )
    lowest = float(lowest_points(robot.completed(motion), robot).min())
    return replace(motion, body_pos_w=motion.body_pos_w - (0.0, 0.0, lowest))


def _landmarks(recording: BvhRecording) -> dict[str, np.ndarray]:
    known = {name.rpartition(":")[2].lower(): name for name in recording.positions}
    found: dict[str, np.ndarray] = {}
    for side in _SIDES:
        for part, names in _NAMES.items():
            tried = [f"{side}{name}".lower() for name in names]
            hits = [known[each] for each in tried if each in known]
            if not hits:
                raise MotionError(
                    f"The recording has no joint for the {side} {part}: one of "
                    f"{', '.join(f'{side.capitalize()}{n}' for n in names)}. It has "
                    f"{', '.join(recording.positions)}."
                )
            found[f"{side}_{part}"] = recording.positions[hits[0]]
    return found


class _Figure:
    """Robot to retarget to: segment lengths and inverse kinematics."""

    def __init__(self, robot: MotionRobot, parts: HumanoidParts) -> None:
        self.model = robot.sim.mj_model
        data = mujoco.MjData(self.model)
        mujoco.mj_resetDataKeyframe(self.model, data, 0)
        mujoco.mj_forward(self.model, data)
        self.first = data.qpos.copy()
        prefix = robot.entity.name
        self.ids = {
            key: self.model.body(f"{prefix}/{body}").id
            for key, body in parts.landmarks.items()
        }
        self.base = self.model.body(f"{prefix}/{parts.base}").id
        self.torso = self.model.body(f"{prefix}/{parts.torso}").id
        self.lengths = {
            (side, *limb): float(np.linalg.norm(self._between(data, side, limb)))
            for side in _SIDES
            for limb in _LIMBS
        }
        self.hips = data.xpos[[self.ids["left_hip"], self.ids["right_hip"]]].mean(
            axis=0
        )
        self.hips = self.hips - data.xpos[self.base]
        self.joints = np.arange(1, self.model.njnt)

    def solve(
        self,
        person: Mapping[str, np.ndarray],
        progress: Callable[[int, int], None] | None,
    ) -> np.ndarray:
        """Return `qpos` of all frames, shape (frames, nq)."""
        leg = sum(self.lengths["left", *limb] for limb in _LIMBS[:2])
        theirs = sum(
            np.linalg.norm(person[f"left_{b}"] - person[f"left_{a}"], axis=1).mean()
            for a, b in _LIMBS[:2]
        )
        scale = leg / float(theirs)
        hips = 0.5 * scale * (person["left_hip"] + person["right_hip"])
        solver, pose, poses = InverseKinematics(self.model), self.first.copy(), []
        number = len(hips)
        rest = self.first[self.model.jnt_qposadr[self.joints]]
        for frame in range(number):
            here = {key: place[frame] for key, place in person.items()}
            pelvis, chest = _rotations(here)
            turn = _quat(pelvis)
            heading = np.arctan2(pelvis[1, 0], pelvis[0, 0])
            flat = np.array((np.cos(heading / 2), 0.0, 0.0, np.sin(heading / 2)))
            base = hips[frame] - pelvis @ self.hips
            goals = [_body_place(self.base, base), body_rotation(self.base, turn)]
            goals += [body_rotation(self.torso, _quat(chest)), *self._limbs(here)]
            feet = [body_rotation(self.ids[f"{s}_ankle"], flat) for s in _SIDES]
            pose = solver.solve(
                pose, [goals, feet, [joint_positions(self.joints, rest)]]
            )
            poses.append(pose)
            if progress is not None:
                progress(frame + 1, number)
        return np.array(poses)

    def _limbs(self, here: Mapping[str, np.ndarray]) -> list[Goal]:
        goals: list[Goal] = []
        for (side, start, end), length in self.lengths.items():
            way = here[f"{side}_{end}"] - here[f"{side}_{start}"]
            ids = self.ids[f"{side}_{start}"], self.ids[f"{side}_{end}"]
            goals.append(_segment(*ids, length * way / np.linalg.norm(way)))
        return goals

    def _between(
        self, data: mujoco.MjData, side: str, limb: tuple[str, str]
    ) -> np.ndarray:
        start, end = (self.ids[f"{side}_{part}"] for part in limb)
        return data.xpos[end] - data.xpos[start]


def _rotations(here: Mapping[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return the axes of pelvis and chest: y is lateral, z along the spine."""
    hips, shoulders = (
        (here[f"left_{part}"], here[f"right_{part}"]) for part in ("hip", "shoulder")
    )
    spine = 0.5 * (shoulders[0] + shoulders[1] - hips[0] - hips[1])
    return _axes(hips[0] - hips[1], spine), _axes(shoulders[0] - shoulders[1], spine)


def _axes(left: np.ndarray, up: np.ndarray) -> np.ndarray:
    y = left / np.linalg.norm(left)
    x = np.cross(y, up)
    x /= np.linalg.norm(x)
    return np.stack((x, y, np.cross(x, y)), axis=1)


def _quat(axes: np.ndarray) -> np.ndarray:
    quat = np.zeros(4)
    mujoco.mju_mat2Quat(quat, axes.reshape(9))
    return quat


def _body_place(body: int, place: np.ndarray) -> Goal:
    def rows(model: mujoco.MjModel, data: mujoco.MjData) -> Rows:
        linear = np.zeros((3, model.nv))
        mujoco.mj_jacBody(model, data, linear, None, body)
        return Rows(linear, place - data.xpos[body])

    return rows


def _segment(start: int, end: int, way: np.ndarray) -> Goal:
    """Goal: vector `way` from the body `start` to the body `end`, m."""

    def rows(model: mujoco.MjModel, data: mujoco.MjData) -> Rows:
        one, two = np.zeros((2, 3, model.nv))
        mujoco.mj_jacBody(model, data, one, None, start)
        mujoco.mj_jacBody(model, data, two, None, end)
        return Rows(two - one, way - (data.xpos[end] - data.xpos[start]))

    return rows

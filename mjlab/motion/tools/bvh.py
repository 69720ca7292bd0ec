"""BVH motion capture files: joint positions of a person in each frame."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from mjlab.motion.files import read_text
from mjlab.motion.motion import MotionError

_AXES = {"X": 0, "Y": 1, "Z": 2}


@dataclass
class BvhJoint:
    """Joint of a BVH skeleton."""

    name: str
    """Name of the joint."""

    parent: int
    """Index of the parent; -1 for the root."""

    offset: np.ndarray
    """Offset in the parent's frame, in the file's unit, shape (3,)."""

    channels: list[str] = field(default_factory=list)
    """Channel names, such as "Xrotation"."""


@dataclass(frozen=True, kw_only=True)
class BvhRecording:
    """Joint positions of a person; z is up, and x is the file's z (forward)."""

    fps: float
    """Frames per second."""

    positions: dict[str, np.ndarray]
    """Position of each joint by name, shape (frames, 3), in the file's unit."""


def read_bvh(path: Path) -> BvhRecording:
    """Read a y-up BVH file; nearly all files are y-up."""
    words = iter(read_text(path).split())
    try:
        joints = _read_skeleton(words)
        frames, seconds = _read_head(words)
        numbers = np.array(list(words), dtype=float)
    except (StopIteration, ValueError, KeyError, IndexError) as error:
        raise MotionError(
            f"{path} is not a BVH file: {error or 'it ends early'}."
        ) from None
    columns = sum(len(joint.channels) for joint in joints)
    if numbers.size != frames * columns or frames < 2 or not seconds > 0.0:
        raise MotionError(
            f"{path} has {numbers.size} numbers; {frames} frames of {columns} "
            f"channels, {seconds:g} s each, need {frames * columns}. At least 2 "
            "frames are needed."
        )
    places = _forward(joints, numbers.reshape(frames, columns))
    return BvhRecording(fps=1.0 / seconds, positions=places)


def _read_skeleton(words: Iterator[str]) -> list[BvhJoint]:
    joints: list[BvhJoint] = []
    open_joints: list[int] = []
    for word in words:
        if word == "MOTION":
            return joints
        if word in ("ROOT", "JOINT", "End"):
            name = next(words)
            parent = open_joints[-1] if open_joints else -1
            # An end site has no name.
            joints.append(BvhJoint("" if word == "End" else name, parent, np.zeros(3)))
        elif word == "{":
            open_joints.append(len(joints) - 1)
        elif word == "}":
            open_joints.pop()
        elif word == "OFFSET":
            joints[-1].offset = np.array([float(next(words)) for _ in range(3)])
        elif word == "CHANNELS":
            joints[-1].channels = [next(words) for _ in range(int(next(words)))]
        elif word != "HIERARCHY":
            raise ValueError(f"its hierarchy contains {word!r}")
    raise ValueError("it has no MOTION section")


def _read_head(words: Iterator[str]) -> tuple[int, float]:
    if next(words) != "Frames:":
        raise ValueError("'Frames:' has to follow MOTION")
    frames = int(next(words))
    if [next(words), next(words)] != ["Frame", "Time:"]:
        raise ValueError("'Frame Time:' has to follow the number of frames")
    return frames, float(next(words))


def _forward(joints: list[BvhJoint], numbers: np.ndarray) -> dict[str, np.ndarray]:
    places: list[np.ndarray] = []
    turns: list[np.ndarray] = []
    first = 0
    for joint in joints:
        place, turn = np.tile(joint.offset, (len(numbers), 1)), np.eye(3)
        for column, channel in enumerate(joint.channels, first):
            axis, kind = _AXES[channel[0]], channel[1:]
            if kind == "position":
                place[:, axis] = numbers[:, column]
            elif kind == "rotation":
                turn = turn @ _turns(axis, np.radians(numbers[:, column]))
            else:
                raise MotionError(f"{joint.name!r} has an unknown channel {channel!r}.")
        first += len(joint.channels)
        turn = np.broadcast_to(turn, (len(numbers), 3, 3))
        if joint.parent >= 0:
            above = turns[joint.parent]
            place = places[joint.parent] + np.einsum("fij,fj->fi", above, place)
            turn = above @ turn
        places.append(place)
        turns.append(turn)
    # Convert from y up and z forward to z up and x forward.
    return {
        joint.name: place[:, (2, 0, 1)]
        for joint, place in zip(joints, places, strict=True)
        if joint.name
    }


def _turns(axis: int, angles: np.ndarray) -> np.ndarray:
    one, two = (axis + 1) % 3, (axis + 2) % 3
    found = np.zeros((len(angles), 3, 3))
    found[:, axis, axis] = 1.0
    found[:, one, one] = found[:, two, two] = np.cos(angles)
    found[:, two, one] = np.sin(angles)
    found[:, one, two] = -found[:, two, one]
    return found

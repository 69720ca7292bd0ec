"""Import of motions from other formats: CSV, and npz files of other projects."""

import zipfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from mjlab.motion.files import load_motion, read_text
from mjlab.motion.motion import Motion, MotionError, MotionInfo
from mjlab.motion.robot import MotionRobot

_ROOT = 7
"""Number of root columns: position and quaternion."""

_FAR = 0.05
"""Maximum mean distance of a file's bodies from our model of the robot, m."""


def read_csv(
    path: Path,
    robot: MotionRobot,
    *,
    fps: float,
    joint_names: Sequence[str] | None = None,
    quat: str | None = None,
    rows: tuple[int, int] | None = None,
) -> Motion:
    """Read a CSV file of root position, root quaternion and joints (Unitree's format).

    Args:
        path: The file, without a header.
        robot: The robot of the motion.
        fps: Rows per second.
        joint_names: Order of the joints. None uses the order of the robot's model,
            which for the G1 is Unitree's order.
        quat: Order of the quaternion, "xyzw" or "wxyz". None uses xyzw.
        rows: First and last row, counted from 1. None reads all.
    """
    numbers = _numbers(path)
    first, last = rows if rows is not None else (1, len(numbers))
    if not 1 <= first < last <= len(numbers):
        raise MotionError(
            f"{path}: {first} to {last} is not a range of two or more of its rows, 1 "
            f"to {len(numbers)}."
        )
    joints = tuple(joint_names) if joint_names else robot.joint_names
    if numbers.shape[1] != _ROOT + len(joints):
        raise MotionError(
            f"{path} has {numbers.shape[1]} columns; {len(joints)} joints of "
            f"{robot.name or 'the robot'} require {_ROOT + len(joints)}: position, "
            "quaternion, joints."
        )
    kept = numbers[first - 1 : last]
    order = quat or "xyzw"
    turns = _normalised(path, kept[:, 3:_ROOT])
    turns = turns[:, (3, 0, 1, 2)] if order == "xyzw" else turns
    if quat is None:
        _check_upright(path, turns)
    info = MotionInfo(robot=robot.name, model_hash=robot.hash)
    step = f"imported from {path.name}, rows {first} to {last} at {fps:g} fps"
    return Motion.from_root(
        path.stem,
        fps,
        kept[:, :3],
        turns,
        kept[:, _ROOT:],
        root_body=robot.root_body,
        joint_names=joints,
        info=info.logged(step),
    )


def read_npz(
    path: Path,
    robot: MotionRobot,
    *,
    joint_names: Sequence[str] | None = None,
    body_names: Sequence[str] | None = None,
) -> Motion:
    """Read an npz file of this project, BeyondMimic, mjlab or HoloSoma.

    Args:
        path: The file.
        robot: The robot of the motion.
        joint_names: Order of the joints, for a file without names.
        body_names: Order of the bodies, the root first, for a file without names.
    """
    with_root = _with_root(path, robot, joint_names)
    if with_root is None:
        found = load_motion(path, joint_names=joint_names, body_names=body_names)
    else:
        found = with_root
    info = replace(found.info, robot=found.info.robot or robot.name)
    return replace(found, info=info.logged(f"imported from {path.name}"))


def _with_root(
    path: Path, robot: MotionRobot, joint_names: Sequence[str] | None
) -> Motion | None:
    """Read a file whose joint positions include the root pose; None for other files.

    Its bodies only have to agree roughly, and its velocities are ignored: in HoloSoma
    0.0.3 the torso is 1 cm from its place in our G1, and the angular velocity of the
    pelvis differs from the change of its orientation by up to 7 rad/s.
    """
    if path.suffix != ".npz" or not path.is_file():
        return None
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {key: file[key] for key in file.files}
    except (ValueError, EOFError, zipfile.BadZipFile):
        return None  # `load_motion` reports the reason for the failure.
    names = arrays.get("joint_names", joint_names)
    joints = arrays.get("joint_pos")
    if names is None or joints is None or "fps" not in arrays:
        return None
    if joints.ndim != 2 or joints.shape[1] != _ROOT + len(names):
        return None
    found = Motion.from_root(
        path.stem,
        float(np.ravel(arrays["fps"])[0]),
        joints[:, :3],
        _normalised(path, joints[:, 3:_ROOT]),
        joints[:, _ROOT:],
        root_body=robot.root_body,
        joint_names=tuple(map(str, names)),
        info=MotionInfo(source=f"file with the root among its joints: {path.name}"),
    )
    if {"body_names", "body_pos_w"} <= set(arrays):
        bodies = list(map(str, arrays["body_names"]))
        _check_bodies(path, robot.completed(found), bodies, arrays["body_pos_w"])
    return found


def _check_bodies(
    path: Path, motion: Motion, names: Sequence[str], positions: np.ndarray
) -> None:
    """Raise if the bodies of a file are far from those of a motion, on average."""
    shared = [name for name in motion.body_names if name in names]
    found = positions[:, [names.index(name) for name in shared]]
    error = found - motion.body_pos_w[:, motion.body_columns(shared)]
    distance = np.linalg.norm(error, axis=-1).mean() if shared else 0.0
    if distance > _FAR:
        raise MotionError(
            f"{path}: the bodies are {100.0 * distance:.0f} cm from forward kinematics "
            "on average. Check that the quaternion in joint_pos is wxyz, that "
            "joint_names is in the order of joint_pos, and that the robot is right."
        )


def _numbers(path: Path) -> np.ndarray:
    text = read_text(path)
    rows = [line.split(",") for line in text.splitlines() if line.strip()]
    if len(rows) < 2:
        raise MotionError(f"{path} has {len(rows)} rows; it needs at least 2.")
    for number, row in enumerate(rows, 1):
        if len(row) != len(rows[0]):
            raise MotionError(
                f"{path}: row {number} has {len(row)} columns, the first one "
                f"{len(rows[0])}."
            )
    try:
        found = np.array(rows, dtype=float)
    except ValueError as error:
        raise MotionError(
            f"{path} contains a value that is not a number: {error}. Remove any header."
        ) from None
    bad = np.argwhere(~np.isfinite(found))
    if len(bad):
        row, column = bad[0] + 1
        raise MotionError(
            f"{path}: row {row} has {found[row - 1, column - 1]} in column {column}."
        )
    return found


def _normalised(path: Path, quats: np.ndarray) -> np.ndarray:
    lengths = np.linalg.norm(quats, axis=1)
    bad = np.flatnonzero(np.abs(lengths - 1.0) > 0.05)
    if len(bad):
        raise MotionError(
            f"{path}: the quaternion of frame {bad[0]} has length "
            f"{lengths[bad[0]]:.3g}; it has to be 1. Check the order of columns."
        )
    return quats / lengths[:, None]


def _check_upright(path: Path, quats: np.ndarray) -> None:
    """Raise if the robot is upside down, but upright in the other quaternion order."""
    other = quats[:, (1, 2, 3, 0)]
    if np.median(_uprightness(quats)) < 0.0 < np.median(_uprightness(other)) - 0.5:
        raise MotionError(
            f"{path}: the robot is upside down with quaternions read as xyzw, and "
            "upright with wxyz. Set the order: --quat wxyz or --quat xyzw."
        )


def _uprightness(quats: np.ndarray) -> np.ndarray:
    """Return the cosine between the root's z axis and the vertical."""
    return 1.0 - 2.0 * (quats[:, 1] ** 2 + quats[:, 2] ** 2)

"""Recordings of a policy: NPZ arrays, or JSON lines as the runner logs them."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mjlab.export.runner.policy import ContractError
from mjlab.names import suggest

WIDTHS: dict[str, int | None] = {
    "time": 1,
    "joint_pos": None,
    "joint_vel": None,
    "root_quat_w": 4,
    "root_ang_vel_b": 3,
    "root_lin_vel_b": 3,
    "command": 3,
    "observation": None,
    "action": None,
    "joint_pos_target": None,
    "effort": None,
}
"""Arrays of a recording and their widths; None is any width. One row per control step.

Joint quantities are in the order of the joint names in `joints`. `observation` is the
network's input, `action` its output, and `effort` the motor torque (N m) at the start
of the step.
"""


@dataclass(frozen=True)
class Recording:
    """Recorded arrays by name, one row per control step."""

    name: str
    joints: tuple[str, ...] | None
    """Order of joint quantities. None means the order of the robot model."""
    arrays: dict[str, np.ndarray]

    @property
    def steps(self) -> int:
        """Number of control steps."""
        return min(len(each) for each in self.arrays.values())

    def get(self, name: str) -> np.ndarray | None:
        """Return an array, or None if it was not recorded."""
        return self.arrays.get(name)

    def in_order(self, joints: tuple[str, ...]) -> "Recording":
        """Return the recording with joint quantities in the order of `joints`."""
        own = self.joints or joints
        if sorted(own) != sorted(joints):
            odd = sorted(set(own) ^ set(joints))
            raise ContractError(
                f"{self.name} has the joints {', '.join(own[:3])}, ... and the policy "
                f"{', '.join(joints[:3])}, ...: {odd[0] if odd else 'repeated'} is in "
                "only one of them. Write the recording's joint names to `joints`; for "
                "a format without joint names, also pass --robot"
            )
        order = [own.index(name) for name in joints]
        moved = ("joint_pos", "joint_vel", "joint_pos_target", "effort")
        arrays = {
            name: each[:, order] if name in moved else each
            for name, each in self.arrays.items()
        }
        return Recording(self.name, joints, arrays)


def read_recording(path: Path) -> Recording:
    """Read a recording.

    Raises:
        ContractError: If the file has unknown or invalid arrays.
    """
    found = _read_npz(path) if path.suffix == ".npz" else _read_lines(path)
    named = found.pop("joints", None)
    joints = None if named is None else tuple(str(each) for each in np.ravel(named))
    arrays = {
        name: _checked(path, name, values, joints) for name, values in found.items()
    }
    if not arrays or min(map(len, arrays.values())) < 2:
        raise ContractError(f"{path} has fewer than two steps")
    lengths = {len(each) for each in arrays.values()}
    if len(lengths) > 1:
        raise ContractError(f"{path} has arrays of {len(lengths)} different lengths")
    return Recording(path.name, joints, arrays)


def _read_npz(path: Path) -> dict[str, Any]:
    try:
        with np.load(path, allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    except (OSError, ValueError, EOFError) as error:
        raise ContractError(f"{path} is not a valid NPZ file: {error}") from error


def _read_lines(path: Path) -> dict[str, Any]:
    """Read JSON lines: nested as in the runner's log, or flat by array name.

    Reading stops at the first line with the runner's damped stop or with other keys.
    """
    rows: list[dict[str, Any]] = []
    joints: dict[str, Any] = {}
    for number, text in enumerate(path.read_text("utf-8").splitlines(), 1):
        try:
            line = json.loads(text)
            row = {key: line[key] for key in WIDTHS if key in line}
            row |= {k: v for k, v in line.get("measured", {}).items() if k in WIDTHS}
            row |= {k: v for k, v in line.get("targets", {}).items() if k in WIDTHS}
            commands = list(line.get("commands", {}).values())
        except (ValueError, AttributeError, TypeError) as error:
            raise ContractError(f"{path}: line {number} is invalid: {error}") from error
        if commands:
            row["command"] = commands[0]
        if line.get("damped") or (rows and set(row) != set(rows[0])):
            break
        rows.append(row)
        if number == 1 and "joints" in line:
            joints = {"joints": line["joints"]}
    if not rows:
        raise ContractError(f"{path} has no lines")
    return joints | {key: [row[key] for row in rows] for key in rows[0]}


def _checked(
    path: Path, name: str, values: Any, joints: tuple[str, ...] | None
) -> np.ndarray:
    if name not in WIDTHS:
        raise ContractError(f"{path} has an array {name!r}. {suggest(name, WIDTHS)}")
    try:
        found = np.asarray(values, float)
    except (TypeError, ValueError) as error:
        raise ContractError(f"{path}: {name} is not numeric") from error
    found = found.reshape(len(found), -1)
    width = WIDTHS[name]
    if name.startswith("joint_") and joints is not None:
        width = len(joints)
    if width is not None and found.shape[1] != width:
        raise ContractError(
            f"{path}: {name} has {found.shape[1]} numbers per step, expected {width}"
        )
    if not np.isfinite(found).all():
        step = int(np.argmax(~np.isfinite(found).all(axis=1)))
        raise ContractError(f"{path}: {name} is not finite in step {step}")
    return found

"""Read logs of a robot: the runner's log, or CSV."""

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from mjlab.export.runner.policy import ContractPolicy
from mjlab.export.verify.lines import active, joint_series, read_lines, series
from mjlab.names import suggest

SIGNALS = ("target", "pos", "vel", "torque")
"""Signals of a joint. Only `target` and `pos` are required."""

_MAPPING = re.compile(r"(?P<name>[^=]+)=(?P<column>[^=]+?)(:(?P<factor>[-+.\deE]+))?")


class IdentifyError(ValueError):
    """Raised for a log, a robot or a parameter that cannot be identified."""


@dataclass(frozen=True)
class Log:
    """Recorded motion of a robot. Signals are by joint name, each of shape (rows,)."""

    times: np.ndarray
    """Times of the rows, s, starting at 0, shape (rows,)."""

    targets: dict[str, np.ndarray]
    """Targets of motors, rad, m, N m or N. A target applies until the next row."""

    pos: dict[str, np.ndarray]
    """Measured positions, rad or m."""

    vel: dict[str, np.ndarray]
    """Measured velocities, rad/s or m/s. Empty if they were not logged."""

    torque: dict[str, np.ndarray]
    """Measured motor torques at the joint, N m or N. Empty if they were not logged."""

    @classmethod
    def checked(cls, times: np.ndarray, place: str, **signals: Any) -> "Log":
        """Return a log whose times start at 0; raise `IdentifyError` if it is invalid.

        Args:
            times: Times of the rows, s.
            place: Name of the file, for messages.
            signals: Values of the other fields.
        """
        log = cls(np.asarray(times, float), **signals)
        if not log.targets or not log.pos:
            raise IdentifyError(
                f"{place} has no {'targets' if log.pos else 'positions'}: it needs "
                "time, and JOINT.target and JOINT.pos of at least one joint."
            )
        if len(log.times) < 20:
            raise IdentifyError(
                f"{place} has {len(log.times)} rows; at least 20 are needed."
            )
        steps = np.diff(log.times)
        if not (np.isfinite(log.times).all() and (steps > 0.0).all()):
            row = int(np.argmax(~(steps > 0.0))) + 2
            raise IdentifyError(f"{place}: time does not increase at row {row}.")
        for signal in SIGNALS:
            for joint, values in log.signal(signal).items():
                if not np.isfinite(values).all():
                    row = int(np.argmax(~np.isfinite(values))) + 1
                    raise IdentifyError(
                        f"{place}: {joint}.{signal} is {values[row - 1]} in row {row}."
                    )
        return replace(log, times=log.times - log.times[0])

    def signal(self, name: str) -> dict[str, np.ndarray]:
        """Return the values by joint of a signal in `SIGNALS`."""
        return {
            "target": self.targets,
            "pos": self.pos,
            "vel": self.vel,
            "torque": self.torque,
        }[name]

    def of(self, joints: Sequence[str]) -> "Log":
        """Return the log with measurements of these joints only, and all targets."""

        def kept(signal: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
            return {joint: signal[joint] for joint in joints if joint in signal}

        return replace(
            self, pos=kept(self.pos), vel=kept(self.vel), torque=kept(self.torque)
        )


def read_runner_log(path: Path, policy: ContractPolicy) -> Log:
    """Read a log that the Python or C++ runner wrote.

    Args:
        path: Log with one line of JSON per control period.
        policy: Policy that ran. Its contract names joints and targets.
    """
    rows, found = read_lines(path)
    if found:
        line, said = found[0]
        raise IdentifyError(f"{path}, line {line}: {said}.")
    rows = active(rows)
    contract = policy.contract
    targets: dict[str, np.ndarray] = {}
    for term in contract["actions"]:
        is_servo = term["quantity"] in ("joint_pos", "joint_effort")
        if term["entity"] != contract["robot"] or not is_servo or term["relative_to"]:
            continue
        values = series(rows, term["output"], "targets")
        if values is not None:
            targets |= dict(zip(term["targets"], values.T, strict=True))
    names = [joint["name"] for joint in policy.entity["joints"]]
    pos = joint_series(contract, rows, "joint_pos")
    whole = _whole_positions(rows, len(names))
    if whole is not None:
        pos = dict(zip(names, whole.T, strict=True))
    return Log.checked(
        np.array([row["time"] for row in rows], float),
        str(path),
        targets=targets,
        pos=pos,
        vel=joint_series(contract, rows, "joint_vel"),
        torque={},
    )


def _whole_positions(rows: list[dict[str, Any]], count: int) -> np.ndarray | None:
    """Return the positions of all joints, shape (rows, joints).

    None for logs of the C++ runner, which do not contain them.
    """
    found = [np.ravel(row.get("joint_pos") or ()) for row in rows]
    if not found or any(each.size != count for each in found):
        return None
    return np.array(found, float)


def read_csv(
    path: Path,
    joints: Sequence[str],
    columns: Sequence[str] = (),
    *,
    motion: bool = False,
) -> Log:
    """Read a CSV file with a header.

    Without a mapping, the columns are named time, JOINT.target, JOINT.pos, JOINT.vel
    and JOINT.torque. Other columns are ignored.

    Args:
        path: CSV file.
        joints: Joints of the robot.
        columns: Mapping of names to columns, NAME=COLUMN or NAME=COLUMN:FACTOR. `*`
            stands for each joint: "*.pos=q_*:0.0174533".
        motion: Read a file that has only targets, and set positions to the targets.
    """
    with path.open(newline="", encoding="utf-8") as file:
        rows = [row for row in csv.reader(file) if row]
    if len(rows) < 2:
        raise IdentifyError(f"{path} has no rows below its header.")
    header = [name.strip() for name in rows[0]]
    place = _placed(header, joints, columns, path)
    values = _numbers(rows, len(header), path)
    if "time" not in place:
        raise IdentifyError(
            f"{path} has no column 'time'. {suggest('time', header)} Name it with "
            "--columns time=COLUMN."
        )
    found = {name: values[:, at] * factor for name, (at, factor) in place.items()}
    by_signal: dict[str, dict[str, np.ndarray]] = {
        signal: {j: found[f"{j}.{signal}"] for j in joints if f"{j}.{signal}" in found}
        for signal in SIGNALS
    }
    targets = by_signal["target"]
    return Log.checked(
        found["time"],
        str(path),
        targets=targets,
        pos=targets if motion else by_signal["pos"],
        vel=by_signal["vel"],
        torque=by_signal["torque"],
    )


def write_csv(path: Path, log: Log) -> None:
    """Write a log, or the targets of a motion, as CSV that `read_csv` reads."""
    columns = {"time": log.times}
    for signal in SIGNALS:
        for joint, values in log.signal(signal).items():
            columns[f"{joint}.{signal}"] = values
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        for row in zip(*columns.values(), strict=True):
            writer.writerow([f"{value:.7g}" for value in row])


def _placed(
    header: Sequence[str], joints: Sequence[str], columns: Sequence[str], path: Path
) -> dict[str, tuple[int, float]]:
    """Return column index and factor, by name such as "time" or "JOINT.pos"."""
    known = ["time", *(f"{joint}.{signal}" for joint in joints for signal in SIGNALS)]
    place = {name: (header.index(name), 1.0) for name in known if name in header}
    for text in columns:
        match = _MAPPING.fullmatch(text)
        if match is None:
            raise IdentifyError(
                f"--columns {text!r} is not NAME=COLUMN or NAME=COLUMN:FACTOR, such as "
                "time=t_ms:0.001."
            )
        factor = float(match["factor"] or 1.0)
        for name, column in _expanded(match["name"], match["column"], joints):
            if name not in known:
                raise IdentifyError(f"--columns {text!r}: {suggest(name, known)}")
            if column in header:
                place[name] = (header.index(column), factor)
            elif "*" not in text:
                raise IdentifyError(
                    f"{path} has no column {column!r}. {suggest(column, header)}"
                )
    return place


def _expanded(
    name: str, column: str, joints: Sequence[str]
) -> Sequence[tuple[str, str]]:
    if "*" not in name:
        return [(name, column)]
    return [(name.replace("*", j), column.replace("*", j)) for j in joints]


def _numbers(rows: Sequence[Sequence[str]], width: int, path: Path) -> np.ndarray:
    values = np.full((len(rows) - 1, width), np.nan)
    for index, row in enumerate(rows[1:]):
        if len(row) != width:
            raise IdentifyError(
                f"{path}, row {index + 1} has {len(row)} values, but the header has "
                f"{width} columns."
            )
        for at, text in enumerate(row):
            try:
                values[index, at] = float(text)
            except ValueError:
                continue  # Text columns are errors only if they are used.
    return values

"""Read a runner's log, and extract time series from it."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np

from mjlab.export.runner.policy import Arrays

Row = dict[str, Any]
"""Line of a log, with the keys time, damped, commands, measured and targets.

The Python runner also writes joint_pos, upright and last_action. The first line also
has policy and gains.
"""
Found = tuple[int, str]
"""Line number, from 1, and its fault."""

_KEYS = ("time", "commands", "measured", "targets")


def read_lines(log: Path) -> tuple[list[Row], list[Found]]:
    """Return the lines before the first unreadable line, and the fault of that line."""
    rows: list[Row] = []
    for line, text in enumerate(log.read_text("utf-8").splitlines(), 1):
        try:
            row = json.loads(text)
        except ValueError as error:
            return rows, [(line, f"not valid JSON: {error}")]
        if not isinstance(row, dict):
            return rows, [(line, "not a JSON object")]
        missing = [key for key in _KEYS if key not in row]
        if missing:
            return rows, [(line, f"{missing[0]} is missing")]
        rows.append(row)
    return rows, []


def active(rows: list[Row]) -> list[Row]:
    """Return the lines before the robot was stopped."""
    ends = [i for i, row in enumerate(rows) if row.get("damped") or not row["targets"]]
    return rows[: ends[0]] if ends else rows


def shaped(entries: list[dict[str, Any]], given: dict[str, Any]) -> Arrays:
    """Reshape logged numbers, nested or flat, to the shapes of the contract."""
    shapes = {entry["name"]: tuple(entry["shape"]) for entry in entries}
    found = {}
    for name, values in given.items():
        array = np.asarray(values, float)
        fits = name in shapes and array.size == math.prod(shapes[name])
        found[name] = array.reshape(shapes[name]) if fits else array
    return found


def series(rows: list[Row], name: str, key: str = "measured") -> np.ndarray | None:
    """Return an entry over all lines, shape (lines, n); None if a line lacks it."""
    found = [np.ravel(row[key].get(name, ())) for row in rows]
    if not found or not found[0].size or len({each.size for each in found}) > 1:
        return None
    return np.array(found, float)


def joint_series(
    contract: dict[str, Any], rows: list[Row], kind: str
) -> dict[str, np.ndarray]:
    """Return the robot's joint readings by joint name, each of shape (lines,).

    Args:
        contract: The contract.
        rows: Lines of the log.
        kind: "joint_pos" or "joint_vel".
    """
    found: dict[str, np.ndarray] = {}
    for entry in contract["inputs"]:
        how = entry["measured"]
        if how["kind"] != kind or how["entity"] != contract["robot"]:
            continue
        values = series(rows, entry["name"])
        if values is not None:
            found |= dict(zip(entry["elements"], values.T, strict=True))
    return found

"""Find stuck readings, and targets that saturate the effort limit."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from mjlab.export.runner.checks import element
from mjlab.export.runner.policy import ContractPolicy
from mjlab.export.verify.lines import Found, Row, active, joint_series, series

_LINES = 10
"""Number of consecutive lines with equal values that count as stuck."""

_MOVES = 0.1
"""Speed above which a joint moves, rad/s or m/s."""

_OVER = 0.5
"""Maximum fraction of lines in which a joint's target exceeds its effort limit."""


def stuck(policy: ContractPolicy, rows: list[Row]) -> Iterator[Found]:
    """Yield readings that are constant while their quantity changes."""
    sent, inputs = active(rows), policy.contract["inputs"]
    speeds = joint_series(policy.contract, sent, "joint_vel")
    for entry in inputs:
        values = series(sent, entry["name"])
        if values is None:
            continue
        moves, why = _moving(entry, values, speeds)
        for place in range(values.shape[1]):
            is_held = (np.diff(values[:, place]) == 0.0) & moves[1:, place]
            first = _run(is_held, _LINES - 1)
            if first is not None:
                yield (
                    first + 1,
                    f"{element(entry, place)} is {values[first, place]:.4g} in "
                    f"{_LINES} lines in a row, while {why}: stuck or saturated",
                )


def over_limit(policy: ContractPolicy, sent: list[Row]) -> Iterator[Found]:
    """Yield joints whose targets request more than the effort limit in most lines."""
    kinds = ("joint_pos", "joint_vel")
    pos, vel = (joint_series(policy.contract, sent, kind) for kind in kinds)
    gains = {a["target"]: a for a in policy.entity["actuators"]}
    for term in policy.contract["actions"]:
        targets = series(sent, term["output"], "targets")
        is_plain = term["quantity"] == "joint_pos" and not term["relative_to"]
        if targets is None or not is_plain:
            continue
        for place, name in enumerate(term["targets"]):
            gain = gains.get(name)
            if gain is None or gain["effort_limit"] is None or name not in pos:
                continue
            effort = gain["stiffness"] * (targets[:, place] - pos[name])
            effort = effort - gain["damping"] * vel.get(name, 0.0)
            is_over = np.abs(effort) > gain["effort_limit"]
            if len(is_over) >= _LINES and is_over.mean() > _OVER:
                line = int(np.argmax(is_over))
                yield (
                    line + 1,
                    f"{term['output']} of {name} requests an effort of "
                    f"{effort[line]:.4g}, expected up to {gain['effort_limit']:.4g}; "
                    f"it is saturated in {is_over.sum()} of {len(is_over)} lines",
                )


def _moving(
    entry: dict[str, Any], values: np.ndarray, speeds: dict[str, np.ndarray]
) -> tuple[np.ndarray, str]:
    """Return a mask of numbers that should change, (lines, n), and the reason."""
    moves = np.zeros(values.shape, bool)
    if entry["measured"]["kind"] == "joint_pos":
        for place, joint in enumerate(entry["elements"]):
            if joint in speeds:
                moves[:, place] = np.abs(speeds[joint]) > _MOVES
        return moves, "the joint moves"
    if entry["elements"] == ["x", "y", "z"] and entry["unit"] in ("m/s", "rad/s"):
        # A value of exactly zero belongs to an axis that the sensor does not measure.
        changes = np.diff(values, axis=0, prepend=values[:1]) != 0.0
        others = changes.sum(axis=1, keepdims=True) - changes
        moves = (others == 2) & (values != 0.0)
    return moves, "the other axes change"


def _run(holds: np.ndarray, count: int) -> int | None:
    """Return the start of the first `count` consecutive true values, None if absent."""
    length = 0
    for place, hold in enumerate(holds.tolist()):
        length = length + 1 if hold else 0
        if length == count:
            return place - count + 1
    return None

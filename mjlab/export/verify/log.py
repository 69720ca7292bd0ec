"""Check a runner's log against the contract.

Each line is checked alone and against the previous line. The lines before the first
fault are then simulated, to detect swapped joints or axes (`replay.py`).
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import numpy as np

from mjlab.export.runner.checks import ReadingChecks
from mjlab.export.runner.policy import ContractError, ContractPolicy
from mjlab.export.runner.robot import gain_faults
from mjlab.export.verify.answers import other_targets
from mjlab.export.verify.lines import Found, Row, active, read_lines, shaped
from mjlab.export.verify.replay import exchanged
from mjlab.export.verify.saturation import over_limit, stuck

_RATE = 0.05
"""Tolerance of the median period, as a fraction of the contract's period."""


@dataclass
class LogVerdict:
    """Faults of a log, and the stop of the robot if there was one."""

    lines: int = 0
    """Number of readable lines."""

    found: list[Found] = field(default_factory=list)
    """Faults in the order of lines, at most one per check."""

    let_go: Found | None = None
    """Line in which the runner stopped the robot, and the reason."""

    @property
    def departures(self) -> list[str]:
        """Faults with their line numbers."""
        return [f"line {line}: {said}" for line, said in self.found]

    @property
    def text(self) -> str:
        """Report for the console."""
        lines = []
        if self.let_go is not None:
            lines.append(f"Stopped in line {self.let_go[0]}: {self.let_go[1]}.")
        if self.found:
            lines += ["Mismatch:", *(f"  {said}." for said in self.departures)]
        else:
            lines.append(f"OK: {self.lines} lines match the contract.")
        return "\n".join(lines)


def verify_log(path: Path, log: Path) -> LogVerdict:
    """Check a log of the runner against the contract of its policy.

    Args:
        path: The policy file.
        log: Log with one line of JSON per control period.

    Raises:
        ContractError: If a file cannot be read, or the log has no lines.
    """
    policy = ContractPolicy(path)
    rows, found = read_lines(log)
    if not rows and not found:
        raise ContractError(f"{log} has no lines")
    checks = (_header, _times, _readings, _commands, _memory, other_targets, stuck)
    for check in checks if rows else ():
        found += _first(check(policy, rows))
    # Swapped readings can be the cause of a fault in a later line.
    first = min((line for line, _ in found), default=len(rows) + 1)
    said = exchanged(policy, active(rows[: first - 1]))
    found += [] if said is None else [(1, said)]
    found += _first(over_limit(policy, active(rows)))
    ends = [(i, row["damped"]) for i, row in enumerate(rows, 1) if row.get("damped")]
    # The sort is stable: within a line, faults are in the order of the checks.
    ordered = sorted(found, key=lambda each: each[0])
    return LogVerdict(len(rows), ordered, ends[0] if ends else None)


def _first(found: Iterator[Found]) -> list[Found]:
    first = next(found, None)
    return [] if first is None else [first]


def _header(policy: ContractPolicy, rows: list[Row]) -> Iterator[Found]:
    """Yield a different policy, or different gains, in the first line."""
    wanted = policy.contract["checksum"]
    logged = rows[0].get("policy", wanted)
    if logged != wanted:
        yield 1, f"policy is {logged}, expected {wanted}"
    for said in gain_faults(policy.entity, rows[0].get("gains", {}), "in the log"):
        yield 1, said


def _times(policy: ContractPolicy, rows: list[Row]) -> Iterator[Found]:
    times, dt = np.array([row["time"] for row in rows], float), policy.dt
    if not np.isfinite(times).all():
        place = int(np.argmax(~np.isfinite(times)))
        yield place + 1, f"time is {times[place]}, expected seconds"
    periods = np.diff(times)
    backwards = np.flatnonzero(~(periods > 0.0))
    for place in backwards[:1].tolist():
        before, time = times[place : place + 2].tolist()
        yield place + 2, f"time is {time:g}, expected above {before:g}"
    typical = float(np.median(periods)) if len(periods) else dt
    if abs(typical - dt) > _RATE * dt:
        said = f"time: lines are {typical:.4g} s apart, expected {dt:g} s"
        is_milli = abs(typical - 1e3 * dt) < 100.0 * dt
        yield 2, said + "; it is in milliseconds" * is_milli
    for place in np.flatnonzero((periods > 1.5 * dt) | (periods < 0.5 * dt))[:1]:
        yield (
            int(place) + 2,
            f"time is {times[place + 1]:.6g}, {periods[place]:.4g} s after the "
            f"previous line, expected {dt:g} s",
        )


def _readings(policy: ContractPolicy, rows: list[Row]) -> Iterator[Found]:
    """Yield readings that are invalid, or that contradict another reading."""
    checks = ReadingChecks(policy.contract)
    inputs, last = policy.contract["inputs"], -math.inf
    for line, row in enumerate(rows, 1):
        since, last = row["time"] - last, row["time"]
        measured = shaped(inputs, row["measured"])
        joints, upright = row.get("joint_pos"), row.get("upright")
        try:
            said = checks.fault(measured, joints, upright, since)
        except ContractError as error:
            said = str(error)
        if said is not None:
            yield line, said


def _commands(policy: ContractPolicy, rows: list[Row]) -> Iterator[Found]:
    """Yield commands beyond their range, and inputs that differ from the command."""
    for line, row in enumerate(rows, 1):
        for command in policy.contract["commands"]:
            name = command["name"]
            values = np.ravel(row["commands"].get(name, ()))
            if values.size != command["width"]:
                wanted = f"expected {command['width']}"
                yield line, f"command {name} has {values.size} numbers, {wanted}"
                continue
            pairs = zip(values.tolist(), command["range"] or [], strict=False)
            for place, (value, (low, high)) in enumerate(pairs):
                if not low - 1e-6 <= value <= high + 1e-6:
                    wanted = f"expected {low:g} to {high:g}"
                    yield line, f"command {name}[{place}] is {value:g}, {wanted}"
        for entry in policy.contract["inputs"]:
            if entry["measured"]["kind"] != "command":
                continue
            values = np.ravel(row["measured"].get(entry["name"], ()))
            told = np.ravel(row["commands"].get(entry["measured"]["command"], values))
            if values.shape == told.shape and not np.allclose(values, told, atol=1e-6):
                wanted = f"expected {_list(told)}, the command"
                yield line, f"{entry['name']} is {_list(values)}, {wanted}"


def _memory(policy: ContractPolicy, rows: list[Row]) -> Iterator[Found]:
    """Yield lines whose `last_action` differs from the action of the previous line."""
    for line, (before, row) in enumerate(pairwise(rows), 2):
        kept, wanted = row.get("last_action"), before["targets"].get("action")
        if kept is None or wanted is None:
            continue
        kept, wanted = np.ravel(kept), np.ravel(wanted)
        if kept.shape != wanted.shape:
            yield line, f"last_action has {kept.size} numbers, expected {wanted.size}"
        elif not np.allclose(kept, wanted, rtol=1e-5, atol=1e-6):
            place = int(np.argmax(np.abs(kept - wanted)))
            yield (
                line,
                f"last_action[{place}] is {kept[place]:.4g}, expected "
                f"{wanted[place]:.4g}, the action of the previous line",
            )


def _list(values: np.ndarray) -> str:
    return f"[{', '.join(f'{each:g}' for each in values.tolist())}]"

"""Find the targets that give the recorded motion; compare with the sent targets."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from mjlab.export.runner.policy import Arrays, ContractPolicy
from mjlab.export.runner.robot import MujocoRobot
from mjlab.export.verify.reasons import Departure

_STEPS = 30
"""Number of recorded steps to examine."""

_NUDGE = 1e-3
"""Finite-difference step of a target, rad or m."""

_ROUNDS = 2
"""Number of Newton iterations. Contacts make the effect of targets nonlinear."""

_LEAST = 1e-3
"""Smallest change of position per change of target that counts as an effect."""

_ROUGH, _MOST = 0.05, 0.75
"""Values of `Departure.rough` and `Departure.most` for targets.

`most` is below 1 because targets have no effect at effort limits.
"""


def wanted_targets(
    policy: ContractPolicy, robot: MujocoRobot, record: Arrays, names: Sequence[str]
) -> Iterator[Departure | str]:
    """Yield the sent targets, compared with targets that give the recorded motion.

    The targets are solved by Newton's method with finite differences, step by step. If
    the targets of a term have no effect within their own control step, yield this
    reason instead.
    """
    for term in policy.contract["actions"]:
        if term["quantity"] != "joint_pos" or term["relative_to"]:
            continue
        columns = [list(names).index(name) for name in term["targets"]]
        places = [robot.joints[column][0] for column in columns]
        sent = record[f"output {term['output']}"].astype(float)
        wanted = sent.copy()
        rows = range(1, min(len(sent) - 1, 1 + _STEPS))
        robot.start(record["qpos"][0], record["qvel"][0])
        # Repeat the step, so that delayed targets are equal too.
        _reached(robot, record, 1, term, sent[1], places)
        reached = _reached(robot, record, 1, term, sent[1], places)
        nudged = _reached(robot, record, 1, term, sent[1] + _NUDGE, places)
        if np.abs(nudged - reached).max() < _LEAST * _NUDGE:
            yield "delay: targets have no effect in their own control step"
            continue
        for step in rows:
            wanted[step] = _wanted(robot, record, step, term, places)
        default = np.array(
            [policy.entity["joints"][column]["default_pos"] for column in columns]
        )
        chosen = slice(rows.start, rows.stop)
        options: dict[str, Any] = {"rough": _ROUGH, "most": _MOST}
        yield Departure(
            sent[chosen], wanted[chosen], term["targets"], default, **options
        )


def _wanted(
    robot: MujocoRobot,
    record: Arrays,
    step: int,
    term: dict[str, Any],
    places: list[int],
) -> np.ndarray:
    """Return targets that give the recorded next positions, by Newton's method."""
    targets = record[f"output {term['output']}"][step].astype(float)
    goal = record["qpos"][step + 1, places]
    for _ in range(_ROUNDS):
        reached, effect = _effect(robot, record, step, term, targets, places)
        targets += np.linalg.lstsq(effect, goal - reached, rcond=1e-6)[0]
    return targets


def _effect(
    robot: MujocoRobot,
    record: Arrays,
    step: int,
    term: dict[str, Any],
    targets: np.ndarray,
    places: list[int],
) -> tuple[np.ndarray, np.ndarray]:
    """Return the positions after a step, and their Jacobian by the targets."""
    reached = _reached(robot, record, step, term, targets, places)
    effect = np.zeros((len(places), len(places)))
    for column in range(len(places)):
        nudged = targets.copy()
        nudged[column] += _NUDGE
        moved = _reached(robot, record, step, term, nudged, places)
        effect[:, column] = (moved - reached) / _NUDGE
    return reached, effect


def _reached(
    robot: MujocoRobot,
    record: Arrays,
    step: int,
    term: dict[str, Any],
    targets: np.ndarray,
    places: list[int],
) -> np.ndarray:
    """Simulate a control step from a recorded state; return the joint positions."""
    robot.place(record["qpos"][step], record["qvel"][step])
    outputs = {k[7:]: v[step] for k, v in record.items() if k.startswith("output ")}
    robot.write(outputs | {term["output"]: targets})
    robot.wait()
    return robot.data.qpos[places].copy()

"""Targets that would lead to the recorded motion, compared with the sent targets."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from mjlab.export.runner.policy import Arrays, ContractPolicy
from mjlab.export.runner.robot import MujocoRobot
from mjlab.export.verify.reasons import Departure

_STEPS = 30
"""Number of steps to examine."""

_NUDGE = 1e-3
"""Change of a target for finite differences."""

_ROUNDS = 2
"""Number of iterations; contacts are nonlinear."""

_LEAST = 1e-3
"""Effect of a target, relative to its change, below which it counts as no effect."""

_ROUGH, _MOST = 0.05, 0.75
"""Maximum remaining error of a reason, and minimum fraction of numbers that agree.

The fraction is below 1 because targets have no effect at effort limits.
"""


def wanted_targets(
    policy: ContractPolicy, robot: MujocoRobot, record: Arrays, names: Sequence[str]
) -> Iterator[Departure | str]:
    """Yield the sent targets and the targets that explain the recorded motion.

    The effect of a target in a control step is nearly linear, and measured by finite
    differences. A target without effect is reported as the reason.
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
        # Two steps with the same targets, so that delayed targets are the same too.
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
    """Return targets that lead to the recorded next state, by Newton's method."""
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
    """Return the result of targets, and its derivative for each target."""
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
    """Return positions after a control step from a recorded state."""
    robot.place(record["qpos"][step], record["qvel"][step])
    outputs = {k[7:]: v[step] for k, v in record.items() if k.startswith("output ")}
    robot.write(outputs | {term["output"]: targets})
    robot.wait()
    return robot.data.qpos[places].copy()

"""Replay recorded steps; report where a file or a robot model differs, and why.

Three comparisons start from recorded data in every step: the outputs of the file, the
measurements, and the result of the control step. A fourth runs file and robot in closed
loop.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from mjlab.export.runner.loop import fed, follow
from mjlab.export.runner.policy import Arrays, ContractError, ContractPolicy
from mjlab.export.runner.robot import MujocoRobot
from mjlab.export.verify.motion import wanted_targets
from mjlab.export.verify.reasons import Departure, likeliest
from mjlab.export.verify.same import differences, missing

EARLY = 20
"""Number of closed-loop steps that must agree. Later, contacts amplify rounding."""

ANSWERED, MEASURED, MOVED, LOOPED = 1e-5, 1e-4, 1e-4, 1e-4
"""Tolerances of outputs and measurements (relative for values above 1), of joints after
one step from a recorded state, and of joints in closed loop (rad or m)."""


CONTACTS = 0.03
"""Fraction of single control steps that can exceed `MOVED`, because of contacts."""


@dataclass
class Verdict:
    """Differences of a file or a robot model from the recorded steps."""

    departures: list[str] = field(default_factory=list)
    """Quantities that differ, each with the first step, the size and the reason."""

    largest: dict[str, float] = field(default_factory=dict)
    """Maximum difference of each output and measurement, and of a control step."""

    joints: dict[str, tuple[float, float]] = field(default_factory=dict)
    """Maximum closed-loop difference of each joint, in the first `EARLY` steps and in
    all steps."""

    steps: int = 0
    """Number of recorded steps."""

    @property
    def text(self) -> str:
        """Report for the console."""
        lines = [f"  {name:32s} {value:.1e}" for name, value in self.largest.items()]
        if lines:
            lines.insert(0, f"Maximum differences in {self.steps} recorded steps:")
        if self.joints:
            lines.append(f"In closed loop, first {EARLY} and all steps:")
            lines += [
                f"  {n:32s} {a:.1e}  {b:.1e}" for n, (a, b) in self.joints.items()
            ]
        if self.departures:
            lines += ["Mismatch:", *(f"  {said}" for said in self.departures)]
        else:
            lines.append("OK: matches the recording.")
        return "\n".join(lines)


def verify(path: Path, robot: Path | None = None) -> Verdict:
    """Replay a file's recorded steps.

    Args:
        path: The policy file.
        robot: MJCF file of a robot model. None uses the recorded scene.

    Raises:
        ContractError: If the file or the model cannot be read.
    """
    policy, verdict = ContractPolicy(path), Verdict()
    scene = MujocoRobot(policy)
    chosen = scene
    if robot is None:
        verdict.departures += differences(scene, scene)
    else:
        verdict.departures += missing(policy, scene.loaded(robot), scene.model)
        if not verdict.departures:
            chosen = _loaded(policy, robot, scene, verdict)
    if chosen is None or verdict.departures:
        return verdict
    record = policy.record()
    verdict.steps = len(record["qpos"])
    turns = None if policy.entity["root"]["is_fixed"] else _turns(record["qpos"])
    _answers(policy, record, verdict)
    _excitations(policy, record, verdict)
    _measurements(policy, chosen, record, turns, verdict)
    _motion(policy, chosen, record, verdict)
    _closed_loop(policy, chosen, record, verdict)
    return verdict


def _loaded(
    policy: ContractPolicy, path: Path, scene: MujocoRobot, verdict: Verdict
) -> MujocoRobot | None:
    """Load a robot model; add its differences from the recorded scene to `verdict`.

    Return None if the model cannot be simulated with the policy.
    """
    try:
        robot = MujocoRobot(policy, path)
        verdict.departures += differences(robot, scene)
    except ContractError as error:
        verdict.departures.append(str(error))
        return None
    return robot


def _turns(qpos: np.ndarray) -> np.ndarray:
    """Return rotation matrices of the first free joint, shape (steps, 3, 3)."""
    turns = np.zeros((len(qpos), 9))
    for turn, quat in zip(turns, qpos[:, 3:7].astype(float), strict=True):
        mujoco.mju_quat2Mat(turn, quat)
    return turns.reshape(-1, 3, 3)


def _answers(policy: ContractPolicy, record: Arrays, verdict: Verdict) -> None:
    """Run the file on the recorded inputs; compare with the recorded outputs."""
    rows = [answers for _, answers in fed(policy)]
    outputs = {o["name"]: o for o in policy.contract["outputs"]}
    names = [name for name in outputs if f"output {name}" in record]
    found = {name: np.array([row[name] for row in rows]) for name in names}
    acts = _departs(found["action"], record["output action"], ANSWERED) is None
    for name in names:
        expected = record[f"output {name}"]
        first = _note(verdict, f"output {name}", found[name], expected, ANSWERED)
        if first is None or (name == "action" and len(names) > 1 and not acts):
            continue
        elements = outputs[name]["elements"]
        default = _defaults(policy, name)
        departure = Departure(
            found[name], expected, _named(elements, expected), default
        )
        seen = f"The file's output {name}"
        verdict.departures.append(_said(seen, first, likeliest(departure)))


def _excitations(policy: ContractPolicy, record: Arrays, verdict: Verdict) -> None:
    """Run muscle controllers on recorded inputs; compare with recorded excitations."""
    for action, controller in policy.controllers.items():
        names = [entry["name"] for entry in controller.about["inputs"]]
        (output,) = controller.about["outputs"]
        expected = record[f"{action} output {output['name']}"]
        controller.reset()
        found = np.array(
            [
                controller({n: record[f"{action} input {n}"][step] for n in names})[
                    output["name"]
                ]
                for step in range(len(expected))
            ]
        )
        controller.reset()
        name = output["name"]
        first = _note(verdict, f"output {name}", found, expected, ANSWERED)
        if first is not None:
            departure = Departure(found, expected, output["elements"], None)
            said = f"The muscle controller's output {name}"
            verdict.departures.append(_said(said, first, likeliest(departure)))


def _measurements(
    policy: ContractPolicy,
    robot: MujocoRobot,
    record: Arrays,
    turns: Any,
    verdict: Verdict,
) -> None:
    """Measure all inputs in the recorded states; compare with the recorded inputs."""
    rows = []
    for step in range(len(record["qpos"])):
        robot.start(record["qpos"][step], record["qvel"][step])
        robot.given = _given(policy, record, step)
        rows.append(robot.read(_commands(record, step)))
    # MuJoCo stores the angular velocity of a free joint in the body's frame.
    spin = None if turns is None else record["qvel"][:, 3:6].astype(float)
    for entry in policy.contract["inputs"]:
        name = entry["name"]
        found = np.array([row[name] for row in rows])
        expected = record[f"input {name}"]
        first = _note(verdict, f"input {name}", found, expected, MEASURED)
        if first is None:
            continue
        shape = (len(found), -1)
        default = _default_of(policy, entry["elements"], entry["measured"]["kind"])
        departure = Departure(
            found.reshape(shape),
            expected.reshape(shape),
            _named(entry["elements"], expected.reshape(shape)),
            default,
            turns,
            spin=spin if entry["unit"] == "m/s" else None,
        )
        seen = f"The measured {name}"
        verdict.departures.append(_said(seen, first, likeliest(departure)))


def _motion(
    policy: ContractPolicy, robot: MujocoRobot, record: Arrays, verdict: Verdict
) -> None:
    """Apply the recorded targets in each recorded state; compare the next positions."""
    steps = len(record["qpos"]) - 1
    places = [position for position, _ in robot.joints]
    rows = []
    robot.start(record["qpos"][0], record["qvel"][0])
    for step in range(steps):
        robot.place(record["qpos"][step], record["qvel"][step])
        robot.write(_outputs(record, step))
        robot.wait()
        rows.append(robot.data.qpos[places].copy())
    names = [joint["name"] for joint in policy.entity["joints"]]
    away = np.abs(np.array(rows) - record["qpos"][1:, places])
    # Ignore the steps in which rounding errors change contacts.
    largest = np.quantile(away, 1.0 - CONTACTS, axis=0)
    verdict.largest["a control step"] = float(largest.max())
    if largest.max() <= MOVED:
        return
    first = int(np.argmax(away.max(axis=1) > MOVED)), float(largest.max())
    reason = None
    for found in wanted_targets(policy, robot, record, names):
        reason = reason or (found if isinstance(found, str) else likeliest(found))
    worst = [int(i) for i in np.argsort(-largest) if largest[i] > MOVED]
    by = ", ".join(f"{names[i]} {largest[i]:.2g}" for i in worst[:3])
    by += f" and {len(worst) - 3} more" * (len(worst) > 3)
    seen = f"The motion after the recorded targets ({by})"
    if reason is None:
        reason = (
            "undetermined; gravity, masses, friction and gains agree, so compare "
            "solver options, contact geometry, springs and the ground"
        )
    verdict.departures.append(_said(seen, first, reason))


def _closed_loop(
    policy: ContractPolicy, robot: MujocoRobot, record: Arrays, verdict: Verdict
) -> None:
    """Run file and robot in closed loop; compare joints with the recorded positions."""
    places = [position for position, _ in robot.joints]
    names = [joint["name"] for joint in policy.entity["joints"]]
    found = np.array([row["qpos"][places] for _, row in follow(policy, robot)])
    away = np.abs(found - record["qpos"][:, places])
    for column, name in enumerate(names):
        early = float(away[: EARLY + 1, column].max())
        verdict.joints[name] = early, float(away[:, column].max())
        first = _departs(
            found[: EARLY + 1, [column]],
            record["qpos"][:, places][: EARLY + 1, [column]],
            LOOPED,
        )
        # Report closed-loop differences only if the step-by-step checks found none.
        if first is not None and not verdict.departures:
            seen = f"The joint {name} in closed loop"
            verdict.departures.append(_said(seen, first, None))


# Parts of the recorded steps.


def _commands(record: Arrays, step: int) -> Arrays:
    return {k[8:]: v[step] for k, v in record.items() if k.startswith("command ")}


def _outputs(record: Arrays, step: int) -> Arrays:
    return {k[7:]: v[step] for k, v in record.items() if k.startswith("output ")}


def _given(policy: ContractPolicy, record: Arrays, step: int) -> Arrays:
    names = [
        entry["name"]
        for entry in policy.contract["inputs"]
        if entry["measured"]["kind"] == "given"
    ]
    return {name: record[f"input {name}"][step] for name in names}


def _defaults(policy: ContractPolicy, output: str) -> np.ndarray | None:
    for term in policy.contract["actions"]:
        if term["output"] == output and term["quantity"] == "joint_pos":
            return _default_of(policy, term["targets"], "joint_pos")
    return None


def _default_of(
    policy: ContractPolicy, names: list[str] | None, op: str
) -> np.ndarray | None:
    known = {j["name"]: j["default_pos"] for j in policy.entity["joints"]}
    if op != "joint_pos" or not names or not set(names) <= known.keys():
        return None
    return np.array([known[name] for name in names])


# Messages.


def _named(elements: list[str] | None, values: np.ndarray) -> list[str]:
    return elements or [f"number {i}" for i in range(values.shape[1])]


def _departs(
    found: np.ndarray, expected: np.ndarray, tolerance: float
) -> tuple[int, float] | None:
    """Return the first step with a difference above the tolerance, and the maximum.

    None if all differences are within the tolerance. Differences are relative for
    values above 1.
    """
    away = np.abs(found - expected) / np.maximum(1.0, np.abs(expected))
    away = np.nan_to_num(away.reshape(len(away), -1), nan=np.inf).max(axis=1)
    wrong = np.flatnonzero(away > tolerance)
    return (int(wrong[0]), float(away.max())) if wrong.size else None


def _note(
    verdict: Verdict, name: str, found: np.ndarray, expected: np.ndarray, most: float
) -> tuple[int, float] | None:
    """Store the maximum difference in `verdict`; return `_departs` with `most`."""
    away = _departs(found, expected, -1.0)
    verdict.largest[name] = 0.0 if away is None else away[1]
    return _departs(found, expected, most)


def _said(what: str, first: tuple[int, float], reason: str | None) -> str:
    why = reason or "undetermined, no single convention explains it"
    return f"{what} differs from step {first[0]} on, by up to {first[1]:.3g}: {why}."

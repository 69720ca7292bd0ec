"""Runs a policy's file on a robot, or in MuJoCo: NumPy and onnxruntime suffice.

    python mjlab_runner.py policy.onnx --seconds 10 --command 0.5 0 0
    python mjlab_runner.py policy.onnx --keyboard --view
    python mjlab_runner.py policy.onnx --gamepad --view
    python mjlab_runner.py policy.onnx --udp 9870 --log steps.jsonl
    python mjlab_runner.py policy.onnx --check

It needs NumPy, onnxruntime and, for simulation, MuJoCo. For a robot of yours, write a
class with the methods of `RobotInterface`, and give an object of it to `run`.
"""

import argparse
import contextlib
import importlib
import json
import math
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from mjlab.export.runner.commands import (
    CommandSource,
    GamepadSource,
    KeyboardSource,
    UdpSource,
)
from mjlab.export.runner.policy import (
    SCENE_FILE,
    Arrays,
    ContractError,
    ContractPolicy,
)
from mjlab.export.runner.robot import MujocoRobot, RobotInterface


class Safety:
    """Finds reasons to let the robot go."""

    def __init__(
        self,
        policy: ContractPolicy,
        *,
        margin: float = 0.1,
        tilt: float = 60.0,
        periods: float = 1.5,
        late: float = 0.5,
    ) -> None:
        """Take the limits.

        Args:
            policy: The policy, whose contract has the limits of joints.
            margin: Way of a joint beyond its limit, rad; a tenth of that in m.
            tilt: Angle from upright that is a fall, degrees.
            periods: Longest time between two steps, in control periods.
            late: Greatest age of a command, s.
        """
        joints = policy.entity["joints"]
        self._names = [joint["name"] for joint in joints]
        limits = [joint["limits"] for joint in joints]
        low = [-np.inf if pair[0] is None else pair[0] for pair in limits]
        high = [np.inf if pair[1] is None else pair[1] for pair in limits]
        ways = [margin if joint["unit"] == "rad" else 0.1 * margin for joint in joints]
        self._low, self._high = np.array(low) - ways, np.array(high) + ways
        self._upright, self._late = math.cos(math.radians(tilt)), late
        self._longest, self._last = periods * policy.dt, -math.inf

    def fault(self, robot: RobotInterface, measured: Arrays, age: float) -> str | None:
        """Return what is wrong with what was measured, if anything is."""
        for name, values in measured.items():
            if not np.isfinite(values).all():
                return f"{name} is not a finite number"
        found = robot.joint_pos()
        beyond = ~((found >= self._low) & (found <= self._high))
        if beyond.any():
            return f"{self._names[int(np.argmax(beyond))]} is beyond its limit"
        if not robot.upright() >= self._upright:
            return "the robot fell"
        if age == math.inf:
            return "a key stopped it"
        if not age <= self._late:
            return f"the newest command is {age:.2f} s old"
        now = robot.now()
        since, self._last = now - self._last, now
        if self._longest < since < math.inf:
            return f"the last step is {since:.3f} s ago"
        return None


def run(
    policy: ContractPolicy,
    robot: RobotInterface,
    source: CommandSource,
    safety: Safety,
    *,
    steps: int,
    log: Any = None,
) -> str | None:
    """Have a robot do what a policy says; return the reason why it was let go.

    Args:
        policy: The policy.
        robot: The robot.
        source: Where commands come from.
        safety: What is watched.
        steps: Control periods.
        log: A file for a line of JSON each period.
    """
    reason = None
    try:
        for step in range(steps):
            reason = _period(policy, robot, source, safety, step, reason, log)
    except BaseException:
        robot.damp()
        raise
    return reason


def _period(
    policy: ContractPolicy,
    robot: RobotInterface,
    source: CommandSource,
    safety: Safety,
    step: int,
    reason: str | None,
    log: Any,
) -> str | None:
    """Do one control period; return the reason why the robot is let go, if it is."""
    age = source.read()
    commands = source.values | policy.clock(step)
    measured, targets = robot.read(commands), {}
    reason = reason or safety.fault(robot, measured, age)
    if reason is None:
        targets = policy(measured)
        if not all(np.isfinite(values).all() for values in targets.values()):
            reason = "the policy's answer is not a finite number"
    if reason is None:
        robot.write(targets)
    else:
        robot.damp()
    if log is not None:
        row = {"time": robot.now(), "damped": reason, "commands": commands}
        row |= {"measured": measured, "targets": {} if reason else targets}
        log.write(json.dumps(row, default=lambda array: array.tolist()) + "\n")
    robot.wait()
    return reason


# The record.


def follow(policy: ContractPolicy, robot: MujocoRobot) -> Iterator[tuple[int, Arrays]]:
    """Run the recorded steps again; yield what is measured in each, and answered.

    What no model tells is taken from the record, and so are commands.
    """
    record = policy.record()
    robot.start(record["qpos"][0], record["qvel"][0])
    policy.reset()
    for step in range(policy.contract["record"]["steps"]):
        now = {
            name: values[step] for name, values in record.items() if step < len(values)
        }
        robot.given = {
            e["name"]: now[f"input {e['name']}"]
            for e in policy.contract["inputs"]
            if e["measured"]["op"] == "given"
        }
        commands = {
            name.removeprefix("command "): values
            for name, values in now.items()
            if name.startswith("command ")
        }
        measured = robot.read(commands)
        targets = policy(measured)
        yield step, measured | targets | {"qpos": robot.data.qpos.copy()}
        robot.write(targets)
        robot.wait()


def fed(policy: ContractPolicy) -> Iterator[tuple[int, Arrays]]:
    """Give the policy what was recorded; yield its answers."""
    record = policy.record()
    names = [entry["name"] for entry in policy.contract["inputs"]]
    policy.reset()
    for step in range(policy.contract["record"]["steps"]):
        yield step, policy({name: record[f"input {name}"][step] for name in names})


def check(policy: ContractPolicy, robot: MujocoRobot) -> tuple[float, float]:
    """Return the largest departures: of answers, and of joints in 20 steps."""
    record = policy.record()
    by_answer = max(
        float(np.abs(values - record[f"output {name}"][step]).max())
        for step, answers in fed(policy)
        for name, values in answers.items()
        if f"output {name}" in record
    )
    places = [position for position, _ in robot.joints]
    by_joint = max(
        float(np.abs(found["qpos"] - record["qpos"][step])[places].max())
        for step, found in follow(policy, robot)
        if step <= 20
    )
    return by_answer, by_joint


def write_scene(files: dict[str, bytes], path: Path) -> None:
    """Write a recorded scene to a file, and its other files beside it.

    Only the file itself is replaced.
    """
    beside = {path.parent / name: c for name, c in files.items() if name != SCENE_FILE}
    for place, content in beside.items():
        if place.exists() and place.read_bytes() != content:
            raise ContractError(
                f"{place} exists with other content and is not replaced: name a "
                "--scene in another folder."
            )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(files[SCENE_FILE])
    for place, content in beside.items():
        if not place.exists():
            place.parent.mkdir(exist_ok=True)
            with place.open("xb") as file:
                file.write(content)


# The program.


def main(arguments: list[str] | None = None) -> int:
    """Run the program; return 0, or 1 if the robot was let go or departs."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("policy", help="the ONNX file")
    parser.add_argument("--robot", type=Path, help="a model of yours, as MJCF")
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--command", type=float, nargs="+", help="values that stay")
    parser.add_argument("--keyboard", action="store_true", help="w s a d q e, space, x")
    parser.add_argument("--gamepad", action="store_true", help="sticks; buttons stop")
    parser.add_argument("--udp", type=int, help="port of this machine for packets")
    parser.add_argument("--log", type=Path, help="file for a line of JSON each period")
    parser.add_argument("--view", action="store_true", help="open MuJoCo's window")
    parser.add_argument(
        "--scene", type=Path, help="file to write the scene to, as MJCF"
    )
    parser.add_argument("--check", action="store_true", help="play the recorded steps")
    options = parser.parse_args(arguments)
    policy = ContractPolicy(options.policy)
    if options.scene is not None:
        write_scene(policy.scene(), options.scene)
    robot = MujocoRobot(policy, options.robot)
    if options.check:
        by_answer, by_joint = check(policy, robot)
        steps = policy.contract["record"]["steps"]
        sys.stdout.write(
            f"Answers differ by up to {by_answer:.1e} in {steps} recorded steps, "
            f"joints by up to {by_joint:.1e} in the first 20.\n"
        )
        return int(not (by_answer < 1e-5 and by_joint < 1e-4))
    with contextlib.ExitStack() as stack:
        return _run(policy, robot, options, stack)


def _run(
    policy: ContractPolicy,
    robot: MujocoRobot,
    options: Any,
    stack: contextlib.ExitStack,
) -> int:
    record = policy.record()
    robot.start(record["qpos"][0], record["qvel"][0])
    robot.given = {k[6:]: v[0] for k, v in record.items() if k.startswith("input ")}
    told = options.keyboard or options.gamepad or options.udp is not None
    if options.view or told:
        robot.on_step = _pacer(policy.dt)
    if options.view:
        window = importlib.import_module("mujoco.viewer").launch_passive(
            robot.model, robot.data
        )
        paced, viewer = robot.on_step, stack.enter_context(window)

        def on_step() -> None:
            viewer.sync()
            paced()

        robot.on_step = on_step
    source = CommandSource(policy.contract)
    if options.keyboard:
        source = KeyboardSource(policy.contract)
        stack.enter_context(source.listening())
    elif options.gamepad:
        source = GamepadSource(policy.contract, GamepadSource.find())
    elif options.udp is not None:
        source = UdpSource(policy.contract, options.udp, time.monotonic)
    if options.command:
        source.set(next(iter(source.values)), options.command)
    log = None if options.log is None else stack.enter_context(options.log.open("w"))
    steps = round(options.seconds / policy.dt)
    reason = run(policy, robot, source, Safety(policy), steps=steps, log=log)
    end = "" if reason is None else f" It was let go: {reason}."
    sys.stdout.write(f"{steps} steps, {steps * policy.dt:g} s.{end}\n")
    return int(reason is not None)


def _pacer(period: float) -> Any:
    """Return what waits until each period is over."""
    due = [time.monotonic()]

    def wait() -> None:
        due[0] = max(due[0] + period, time.monotonic())
        time.sleep(max(0.0, due[0] - time.monotonic()))

    return wait


if __name__ == "__main__":
    sys.exit(main())

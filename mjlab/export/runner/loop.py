"""Runs a policy file on a robot, or in MuJoCo, without the training framework.

    python mjlab_runner.py policy.onnx --seconds 10 --command 0.5 0 0
    python mjlab_runner.py policy.onnx --keyboard --view
    python mjlab_runner.py policy.onnx --gamepad --view
    python mjlab_runner.py policy.onnx --udp 9870 --log steps.jsonl
    python mjlab_runner.py policy.onnx --check

It needs NumPy, onnxruntime and, for simulation, MuJoCo. For your own robot, implement
`RobotInterface` and pass an instance to `run`.
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
from typing import Any, NoReturn

import numpy as np

from mjlab.export.runner.checks import ReadingChecks, tilt_of
from mjlab.export.runner.commands import (
    CommandSource,
    GamepadSource,
    KeyboardSource,
    UdpSource,
)
from mjlab.export.runner.policy import (
    LAST_ACTION,
    SCENE_FILE,
    Arrays,
    ContractError,
    ContractPolicy,
)
from mjlab.export.runner.robot import MujocoRobot, RobotInterface, refuse_gains


class Safety:
    """Checks readings, tilt, timing and commands in each period, to stop the robot."""

    def __init__(
        self,
        policy: ContractPolicy,
        *,
        margin: float = 0.1,
        tilt: float = 60.0,
        periods: float = 1.5,
        late: float = 0.5,
    ) -> None:
        """Store the limits.

        Args:
            policy: Policy whose contract has the joint limits.
            margin: Margin beyond joint limits, rad; 0.1 m per rad for slides.
            tilt: Angle from upright that counts as a fall, degrees.
            periods: Maximum time between two steps, in control periods.
            late: Maximum age of a command, s.
        """
        self._checks = ReadingChecks(policy.contract, margin)
        self._tilt, self._late = tilt, late
        self._longest, self._last = periods * policy.dt, -math.inf
        self.seen: dict[str, Any] = {}
        """Values of `joint_pos()` and `upright()` in the last period, for the log."""

    def fault(self, robot: RobotInterface, measured: Arrays, age: float) -> str | None:
        """Return the reason to stop the robot, None if there is none.

        Args:
            robot: The robot.
            measured: Readings of this period, by input.
            age: Age of the newest command, s; infinite if the user stopped.

        Raises:
            ContractError: If readings do not have the contract's shapes.
        """
        now = robot.now()
        since, self._last = now - self._last, now
        joints, upright = robot.joint_pos(), robot.upright()
        self.seen = {"joint_pos": joints, "upright": upright}
        said = self._checks.fault(measured, joints, upright, since)
        if said is not None:
            return said
        if not upright >= math.cos(math.radians(self._tilt)):
            leans = f"the tilt is {tilt_of(upright):.0f} degrees"
            return f"the robot fell: {leans}, more than {self._tilt:g}"
        if age == math.inf:
            return "a key or button stopped it"
        if not age <= self._late:
            return f"the newest command is {age:.2f} s old"
        if self._longest < since < math.inf:
            return f"the last step was {since:.3f} s ago"
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
    """Run a policy on a robot; return the reason for a stop, or None.

    After a stop, the joints are damped for the remaining periods. An exception also
    damps them.

    Args:
        policy: The policy.
        robot: The robot.
        source: Source of commands.
        safety: Checks that can stop the robot.
        steps: Number of control periods.
        log: Text file that gets one line of JSON per period, or None.

    Raises:
        ContractError: If gains, readings or joints differ from the contract.
    """
    periods = _Periods(policy, robot, source, safety, log)
    try:
        periods.begin()
        for step in range(steps):
            periods.next(step)
    except BaseException:
        robot.damp()
        raise
    return periods.reason


class _Periods:
    """Runs control periods: reads, checks, applies the policy and writes the log."""

    def __init__(
        self,
        policy: ContractPolicy,
        robot: RobotInterface,
        source: CommandSource,
        safety: Safety,
        log: Any,
    ) -> None:
        self.reason: str | None = None
        """Reason for the stop, None while the policy runs."""
        self._policy, self._robot, self._source = policy, robot, source
        self._safety, self._log = safety, log
        self._action: np.ndarray | None = None
        self._first: dict[str, Any] = {}

    def begin(self) -> None:
        """Compare the robot's gains with the contract, and store them for the log."""
        gains = refuse_gains(self._policy.entity, self._robot)
        checksum = self._policy.contract["checksum"]
        self._first = {"policy": checksum, "gains": gains}

    def next(self, step: int) -> None:
        """Run one control period."""
        age = self._source.read()
        commands = self._source.values | self._policy.clock(step)
        measured, targets = self._robot.read(commands), {}
        row: dict[str, Any] = {"commands": commands, "measured": measured}
        row |= {"last_action": self._policy.state.get(LAST_ACTION)}
        try:
            if self.reason is None:
                self.reason = self._fault(measured, age)
                row |= self._safety.seen
            if self.reason is None:
                targets = self._policy(measured)
        except ContractError as error:
            self._write(row | {"damped": str(error), "targets": {}})
            raise
        if not all(np.isfinite(values).all() for values in targets.values()):
            self.reason = "the policy's output is not finite"
        if self.reason is None:
            self._action = targets.get("action")
            self._robot.write(targets)
        else:
            self._robot.damp()
        sent = {} if self.reason else targets
        self._write(row | {"damped": self.reason, "targets": sent})
        self._robot.wait()

    def _fault(self, measured: Arrays, age: float) -> str | None:
        kept, expected = self._policy.state.get(LAST_ACTION), self._action
        if kept is not None and expected is not None:
            if not np.array_equal(kept, expected):
                return (
                    f"{LAST_ACTION} is not the action of the last period: the policy "
                    "was reset, or its state was replaced"
                )
        return self._safety.fault(self._robot, measured, age)

    def _write(self, row: dict[str, Any]) -> None:
        if self._log is None:
            return
        whole = {"time": self._robot.now()} | row | self._first
        self._first = {}
        text = json.dumps(whole, default=lambda array: np.asarray(array).tolist())
        self._log.write(text + "\n")


# Recorded steps.


def follow(policy: ContractPolicy, robot: MujocoRobot) -> Iterator[tuple[int, Arrays]]:
    """Simulate the recorded steps in closed loop.

    Commands, and inputs that the model does not determine, are taken from the record.

    Yields:
        Step, and the inputs, outputs and qpos of the simulation, by name.
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
            if e["measured"]["kind"] == "given"
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
    """Run the policy on the recorded inputs, without simulation.

    Yields:
        Step, and the outputs by name.
    """
    record = policy.record()
    names = [entry["name"] for entry in policy.contract["inputs"]]
    policy.reset()
    for step in range(policy.contract["record"]["steps"]):
        yield step, policy({name: record[f"input {name}"][step] for name in names})


def check(policy: ContractPolicy, robot: MujocoRobot) -> tuple[float, float]:
    """Compare the policy and the simulated robot with the recorded steps.

    Returns:
        Maximum difference of outputs for recorded inputs, and of simulated joint
        positions (rad or m) in the first 20 steps.
    """
    refuse_gains(policy.entity, robot)
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
    """Write a recorded scene to a file, with its assets in the same folder.

    Replaces a file at `path`. Raises if an asset exists with other content.
    """
    beside = {path.parent / name: c for name, c in files.items() if name != SCENE_FILE}
    for place, content in beside.items():
        if place.exists() and place.read_bytes() != content:
            raise ContractError(
                f"{place} exists with different content and is not replaced: pass a "
                "--scene in another folder."
            )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(files[SCENE_FILE])
    for place, content in beside.items():
        if not place.exists():
            place.parent.mkdir(exist_ok=True)
            with place.open("xb") as file:
                file.write(content)


# Command line.


class _Parser(argparse.ArgumentParser):
    """Argument parser that prints errors on one line, without the usage."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"error: {message}\n")


def main(arguments: list[str] | None = None) -> int:
    """Run the program; return its exit code.

    The exit code is 1 if the robot was stopped or differs from the record, 2 for
    invalid input, and 0 otherwise.
    """
    try:
        return _main(arguments)
    except (ContractError, ImportError, OSError) as error:
        said = " ".join(str(error).split()).rstrip(".")
        if isinstance(error, OSError) and error.filename is not None:
            said = f"{error.filename}: {error.strerror}"
        if isinstance(error, ImportError) and error.name is not None:
            said += f": pip install {error.name}"
        sys.stderr.write(f"error: {said}\n")
        return 2


def _main(arguments: list[str] | None) -> int:
    parser = _Parser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("policy", help="the ONNX file")
    parser.add_argument("--robot", type=Path, help="MJCF file of your own model")
    parser.add_argument("--seconds", type=_seconds, default=10.0)
    parser.add_argument("--command", type=float, nargs="+", help="constant command")
    parser.add_argument(
        "--keyboard",
        action="store_true",
        help="keys w/s, a/d, q/e change the command; space sets zero, x stops",
    )
    parser.add_argument(
        "--gamepad", action="store_true", help="sticks command, any button stops"
    )
    parser.add_argument("--udp", type=_port, help="local UDP port for commands")
    parser.add_argument("--log", type=Path, help="write a line of JSON per period")
    parser.add_argument("--view", action="store_true", help="open MuJoCo's viewer")
    parser.add_argument("--scene", type=Path, help="write the scene to this MJCF file")
    parser.add_argument(
        "--check",
        action="store_true",
        help="compare with the recorded steps, then exit",
    )
    options = parser.parse_args(arguments)
    policy = ContractPolicy(options.policy)
    if options.scene is not None:
        write_scene(policy.scene(), options.scene)
    robot = MujocoRobot(policy, options.robot)
    if options.check:
        by_answer, by_joint = check(policy, robot)
        steps = policy.contract["record"]["steps"]
        sys.stdout.write(
            f"Outputs differ by up to {by_answer:.1e} in {steps} recorded steps, "
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
    robot.world = policy.world
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
        source.set(source.first(), options.command)
    robot.render_depth()
    held = policy.constant_inputs(depth=bool(robot.cameras))
    if held:
        sys.stdout.write(f"Held at the first recorded value: {', '.join(held)}.\n")
    log = None if options.log is None else stack.enter_context(options.log.open("w"))
    steps = round(options.seconds / policy.dt)
    reason = run(policy, robot, source, Safety(policy), steps=steps, log=log)
    end = "" if reason is None else f" Stopped: {reason}."
    sys.stdout.write(f"{steps} steps, {steps * policy.dt:g} s.{end}\n")
    return int(reason is not None)


def _seconds(text: str) -> float:
    """Parse a time from the command line."""
    seconds = float(text)
    if not 0.0 <= seconds < math.inf:
        raise argparse.ArgumentTypeError(f"{text} is not a duration of at least 0 s")
    return seconds


def _port(text: str) -> int:
    """Parse a port from the command line; 0 selects a free one."""
    port = int(text)
    if not 0 <= port < 65536:
        raise argparse.ArgumentTypeError(f"{text} is not a port from 0 to 65535")
    return port


def _pacer(period: float) -> Any:
    """Return a function that waits until `period` seconds after its last return."""
    due = [time.monotonic()]

    def wait() -> None:
        due[0] = max(due[0] + period, time.monotonic())
        time.sleep(max(0.0, due[0] - time.monotonic()))

    return wait


if __name__ == "__main__":
    sys.exit(main())

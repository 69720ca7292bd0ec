"""Verify a policy of another project by its files, recordings, logs and simulation."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from mjlab.export.foreign.acted import check_actions
from mjlab.export.foreign.closed_loop import Progress, check_walk
from mjlab.export.foreign.formats import READERS, mjlab
from mjlab.export.foreign.formats.files import MOTOR
from mjlab.export.foreign.formats.isaaclab_env import compare_env
from mjlab.export.foreign.graph import Graph, assemble
from mjlab.export.foreign.interface import Interface
from mjlab.export.foreign.network import read_network
from mjlab.export.foreign.observed import check_observations
from mjlab.export.foreign.recording import Recording, read_recording
from mjlab.export.foreign.robot_log import check_log
from mjlab.export.foreign.robot_model import Mount, RobotModel
from mjlab.export.foreign.static import check_files, compare
from mjlab.export.foreign.verdict import Finding, ForeignVerdict, Level
from mjlab.export.runner.policy import ContractError
from mjlab.names import suggest

_AGREE = "the files agree with each other"
_SIGHT = (
    "order, sign, unit, frame and delay of observations and targets cannot be seen in "
    "files: add --recording, --log or --simulate"
)


def read_policy(
    path: Path, form: str, configs: Sequence[Path], robot: RobotModel | None
) -> Interface:
    """Read a policy of another project.

    Args:
        path: The ONNX file.
        form: The format, a key of `READERS`.
        configs: Configuration files of the format.
        robot: Robot model, which gives the joint names of formats without names.

    Raises:
        ContractError: If a file cannot be read.
    """
    if form not in READERS:
        raise ContractError(f"The format {form!r} is unknown. {suggest(form, READERS)}")
    return READERS[form](read_network(path), configs, robot)


def joint_order(interface: Interface, robot: RobotModel | None) -> tuple[str, ...]:
    """Return the joint order of readings and targets.

    It is the order of the robot model; without a model, the order of the motors if
    joints are named by motor, else the policy's order.
    """
    if robot is not None:
        return robot.joints
    motors = tuple(f"{MOTOR}{index}" for index in range(len(interface.joints)))
    return motors if set(motors) == set(interface.joints) else interface.joints


def graph_of(interface: Interface, robot: RobotModel | None) -> Graph:
    """Return the graph of a policy. Without a robot model, the IMU is at the root."""
    joints = joint_order(interface, robot)
    if robot is None:
        return assemble(interface, joints, Mount(np.zeros(3), np.eye(3)), "root")
    return assemble(interface, joints, robot.mount(interface.imu), robot.root)


def verify_foreign(
    path: Path,
    form: str,
    configs: Sequence[Path] = (),
    *,
    robot: Path | None = None,
    recording: Path | None = None,
    log: Path | None = None,
    simulate: bool = False,
    progress: Progress | None = None,
) -> ForeignVerdict:
    """Check a policy of another project with all given evidence.

    If the network's widths or the robot's joints do not fit the contract, only the
    files are checked.

    Args:
        path: The ONNX file.
        form: The format, a key of `READERS`.
        configs: Configuration files of the format.
        robot: MJCF file of the robot.
        recording: Recorded states with their observations and actions.
        log: Log of a robot, in the format of a recording.
        simulate: Also walk the robot in simulation. Needs `robot`.
        progress: Called after each simulated walk.

    Raises:
        ContractError: If a file cannot be read.
    """
    model = None if robot is None else RobotModel(robot)
    interface = read_policy(path, form, configs, model)
    verdict = ForeignVerdict(interface)
    found = list(_contract(interface, configs, model))
    verdict.findings["contract"] = found or [Finding("files", "ok", _AGREE)]
    if _is_broken(interface, model):
        return verdict
    levels: dict[Level, Path | None] = {"recorded states": recording, "robot log": log}
    for level, file in levels.items():
        if file is not None:
            given = read_recording(file)
            verdict.findings[level] = open_loop(interface, given, model)
    if log is not None:
        verdict.findings["robot log"] += check_log(interface, log, model)
    if simulate:
        if model is None:
            raise ContractError("A simulation needs --robot with an MJCF file")
        verdict.findings["simulation"] = check_walk(interface, model, progress)
    if len(verdict.findings) == 1:
        sight = Finding("behaviour", "undetermined", _SIGHT)
        verdict.findings["contract"].append(sight)
    return verdict


def open_loop(
    interface: Interface, recording: Recording, robot: RobotModel | None
) -> list[Finding]:
    """Recompute a recording's observations and actions; return the findings."""
    graph, joints = graph_of(interface, robot), joint_order(interface, robot)
    ordered = recording.in_order(joints)
    found = [
        *check_observations(interface, graph, ordered),
        *check_actions(interface, graph, ordered),
    ]
    return [each for each in found if each.state != "ok"] + [
        each for each in found if each.state == "ok"
    ]


def _contract(
    interface: Interface, configs: Sequence[Path], robot: RobotModel | None
) -> Iterator[Finding]:
    yield from check_files(interface, robot)
    if interface.format != "mjlab" and mjlab.is_mjlab(interface.network):
        yield from compare(interface, mjlab.read(interface.network, (), robot))
    if interface.format == "isaaclab":
        yield from compare_env(interface, configs)


def _is_broken(interface: Interface, robot: RobotModel | None) -> bool:
    """Whether widths of contract and network differ, or the robot lacks joints."""
    widths = interface.width, len(interface.acted)
    fits = widths == (interface.network.inputs, interface.network.outputs)
    return not fits or (
        robot is not None and not set(interface.joints) <= set(robot.joints)
    )

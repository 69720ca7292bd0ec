"""`verify`: replay the first steps of an exported policy in plain MuJoCo."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tyro.conf import Positional

from mjlab.cli.answers import UsageError
from mjlab.cli.line import Options, read_line

EQUAL, DEPARTS, UNREADABLE = 0, 1, 2
"""Exit codes for no mismatch, a mismatch, and an unreadable file."""


@dataclass(kw_only=True)
class VerifyOptions(Options):
    """Replay a policy's first steps in plain MuJoCo.

    Replays the recorded first steps of an exported policy, and reports the first
    mismatch, its size and the most likely reason: order, sign, quaternions, degrees,
    default offset, scale, delay, gains, frame, lever arm, mass, friction or gravity.
    With --log, checks the runner's log from a robot, and reports the first implausible
    field. The exit code is 0 if everything matches, 1 for a mismatch, 2 for an
    unreadable file.
    """

    program = "verify.py"
    examples = (
        "policy.onnx",
        "policy.onnx --robot robot.xml",
        "policy.onnx --log steps.jsonl",
    )

    file: Positional[Path | None] = None
    """The ONNX file."""

    robot: Path | None = None
    """MJCF model of a robot, used instead of the scene in the file."""

    log: Path | None = None
    """Log that the runner wrote on a robot, checked against the contract."""


def main(arguments: Sequence[str]) -> None:
    """Verify the file, and exit with the exit code."""
    options = read_line(VerifyOptions, arguments).options
    file, robot, log = options.file, options.robot, options.log
    if file is None:
        raise UsageError("FILE is missing: name an ONNX file, such as policy.onnx.")
    if robot is not None and log is not None:
        raise UsageError("--robot and --log exclude each other: run verify twice.")
    for path in (file, robot, log):
        if path is not None and not path.is_file():
            raise UsageError(f"File {path} does not exist.")
    from mjlab.export.runner.policy import ContractError
    from mjlab.export.verify import verify, verify_log

    try:
        verdict = verify(file, robot) if log is None else verify_log(file, log)
    except ContractError as error:
        sys.stderr.write(f"error: {str(error).rstrip('.')}\n")
        sys.exit(UNREADABLE)
    print(verdict.text)
    sys.exit(DEPARTS if verdict.departures else EQUAL)

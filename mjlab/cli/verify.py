"""`verify`: play the first steps of an exported policy again in plain MuJoCo."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tyro.conf import Positional

from mjlab.cli.answers import UsageError
from mjlab.cli.line import Options, read_line

EQUAL, DEPARTS, UNREADABLE = 0, 1, 2
"""Exit codes."""


@dataclass(kw_only=True)
class VerifyOptions(Options):
    """Play a policy's first steps again in plain MuJoCo.

    Replays the recorded first steps of an exported policy, and reports the first
    mismatch, its size and the likeliest reason: order, sign, quaternions, degrees,
    default offset, scale, delay, gains, frame, lever arm, mass, friction or gravity.
    With --log, checks what the runner recorded on a robot, and reports the first field
    that cannot be right. The exit code is 0 if all matches, 1 for a mismatch, 2 for a
    file that cannot be read.
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
    """Model of a robot, as MJCF, played instead of the scene in the file."""

    log: Path | None = None
    """Log that the runner wrote on a robot, checked against the contract."""


def main(arguments: Sequence[str]) -> None:
    """Verify the file, and leave with the exit code."""
    options = read_line(VerifyOptions, arguments).options
    file, robot, log = options.file, options.robot, options.log
    if file is None:
        raise UsageError("Name an ONNX file, such as policy.onnx.")
    if robot is not None and log is not None:
        raise UsageError("--robot and --log exclude each other: run verify twice.")
    for path in (file, robot, log):
        if path is not None and not path.is_file():
            raise UsageError(f"There is no file {path}.")
    from mjlab.export.runner.policy import ContractError
    from mjlab.export.verify import verify, verify_log

    try:
        verdict = verify(file, robot) if log is None else verify_log(file, log)
    except ContractError as error:
        sys.stderr.write(f"error: {str(error).rstrip('.')}\n")
        sys.exit(UNREADABLE)
    print(verdict.text)
    sys.exit(DEPARTS if verdict.departures else EQUAL)

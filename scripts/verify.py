"""Verifies an exported policy: `python scripts/verify.py policy.onnx`."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from mjlab.cli import Program, UsageError, read_line, run_program

EQUAL, DEPARTS, UNREADABLE = 0, 1, 2
"""Exit codes."""


@dataclass(kw_only=True)
class Options:
    """Options of `verify.py`."""

    robot: Path | None = None
    """Model of a robot, as MJCF, played instead of the scene in the file."""

    log: Path | None = None
    """Log that the runner wrote on a robot, checked against the contract."""


PROGRAM = Program(
    name="verify.py",
    summary=(
        "Replay the recorded first steps of an exported policy in plain MuJoCo, and "
        "report the first mismatch, its size and the likeliest reason: order, sign, "
        "quaternions, degrees, default offset, scale, delay, gains, frame, lever arm, "
        "mass, friction or gravity. With --log, check what the runner recorded on a "
        "robot, and report the first field that cannot be right. The exit code is 0 if "
        "all matches, 1 for a mismatch, 2 for a file that cannot be read."
    ),
    subject="FILE",
    options=Options,
    examples=(
        "policy.onnx",
        "policy.onnx --robot robot.xml",
        "policy.onnx --log steps.jsonl",
    ),
)


def main(arguments: Sequence[str]) -> None:
    """Verify the file, and leave with the exit code."""
    line = read_line(PROGRAM, arguments)
    if line.subject is None:
        raise UsageError("Name an ONNX file, such as policy.onnx.")
    robot, log = line.options.robot, line.options.log
    if robot is not None and log is not None:
        raise UsageError("--robot and --log exclude each other: run verify twice.")
    for path in (Path(line.subject), robot, log):
        if path is not None and not path.is_file():
            raise UsageError(f"There is no file {path}.")
    from mjlab.export.runner.policy import ContractError
    from mjlab.export.verify import verify, verify_log

    file = Path(line.subject)
    try:
        verdict = verify(file, robot) if log is None else verify_log(file, log)
    except ContractError as error:
        sys.stderr.write(f"error: {str(error).rstrip('.')}\n")
        sys.exit(UNREADABLE)
    print(verdict.text)
    sys.exit(DEPARTS if verdict.departures else EQUAL)


if __name__ == "__main__":
    sys.exit(run_program(main))

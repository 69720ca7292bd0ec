"""Plays a policy's recorded steps again: `python scripts/verify.py policy.onnx`."""

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
    """Model of a robot, as MJCF, to be played in place of the scene that the file
    brings."""


PROGRAM = Program(
    name="verify.py",
    summary=(
        "Play the first steps that an exported policy recorded again, in plain MuJoCo, "
        "and say where it first departs, by how much, and the likeliest reason: order, "
        "sign, quaternions, degrees, default offset, scale, delay, gains or frame. "
        "The exit code is 0 for equal, 1 if something departs, 2 for a file that "
        "cannot be read."
    ),
    subject="FILE",
    options=Options,
    examples=("policy.onnx", "policy.onnx --robot robot.xml"),
)


def main(arguments: Sequence[str]) -> None:
    """Verify the file, and leave with the exit code."""
    line = read_line(PROGRAM, arguments)
    if line.subject is None:
        raise UsageError("Name an ONNX file, such as policy.onnx.")
    robot = line.options.robot
    for path in (Path(line.subject), robot):
        if path is not None and not path.is_file():
            raise UsageError(f"There is no file {path}.")
    from mjlab.export.runner.policy import ContractError
    from mjlab.export.verify import verify

    try:
        verdict = verify(Path(line.subject), robot)
    except ContractError as error:
        sys.stderr.write(f"error: {str(error).rstrip('.')}\n")
        sys.exit(UNREADABLE)
    print(verdict.text)
    sys.exit(DEPARTS if verdict.departures else EQUAL)


if __name__ == "__main__":
    sys.exit(run_program(main))

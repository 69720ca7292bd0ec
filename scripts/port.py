"""Lists what to change in a task of others: `python scripts/port.py their_task.py`."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from mjlab.cli import Program, UsageError, read_line, run_program


@dataclass(kw_only=True)
class Options:
    """Options of `port.py`: it has none."""


PROGRAM = Program(
    name="port.py",
    summary=(
        "List what to change in a task file of mjlab 1.6 or of Isaac Lab's manager "
        "layer: line, their name, ours, and what differs. Names of theirs that no "
        "table has are listed as unknown. The file is read, and neither run nor "
        "changed."
    ),
    subject="FILE",
    options=Options,
    examples=("their_env_cfg.py",),
)


def main(arguments: Sequence[str]) -> None:
    """Print the list."""
    line = read_line(PROGRAM, arguments)
    if line.subject is None:
        raise UsageError("Name a file in Python, such as their_env_cfg.py.")
    path = Path(line.subject)
    if not path.is_file():
        raise UsageError(f"There is no file {path}.")
    from mjlab.cli.porting.reading import read_task

    try:
        print(read_task(path.read_text("utf-8")).text(line.subject))
    except (SyntaxError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is no file in Python: {error}.") from None


if __name__ == "__main__":
    sys.exit(run_program(main))

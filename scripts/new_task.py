"""Begins a task of your own: `python scripts/new_task.py Walk-Backwards`."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from mjlab.cli import Program, UsageError, read_line, run_program
from mjlab.cli.answers import as_called
from mjlab.cli.new_task import Pattern, write_package
from mjlab.registry import entries, find_entry, load_task
from mjlab.threads import prepare_threads


@dataclass(kw_only=True)
class Options:
    """Options of `new_task.py`."""

    like: str = "Velocity-Go1-Flat"
    """The task to begin with."""

    folder: Path = Path(".")
    """Where to put the package's folder."""


PROGRAM = Program(
    name="new_task.py",
    summary="Write a package with a task of your own, which subclasses another task's "
    "configuration, and a test of it.",
    subject="NAME",
    options=Options,
    examples=("Walk-Backwards", "Pole-On-Ice --like Cartpole-Balance --folder ~/work"),
)


def main(arguments: Sequence[str]) -> None:
    """Write the package."""
    line = read_line(PROGRAM, arguments)
    if line.subject is None:
        raise UsageError("Name the task: new_task.py NAME, such as Walk-Backwards.")
    find_entry(line.options.like)
    if line.subject in entries():
        raise UsageError(f"There is a task {line.subject!r} already.")
    prepare_threads()
    cls = type(load_task(line.options.like).env())
    pattern = Pattern(
        task=line.options.like,
        module=cls.__module__,
        cls=cls.__name__,
        has_play=callable(getattr(cls, "play", None)),
    )
    folder = line.options.folder.expanduser()
    for path in write_package(folder, line.subject, pattern):
        print(path)
    print(as_called(f"Next: pip install -e that folder, then train.py {line.subject}"))


if __name__ == "__main__":
    sys.exit(run_program(main))

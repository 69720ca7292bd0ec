"""Writes a policy to an ONNX file: `python scripts/export.py latest`."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from mjlab.cli import Program, UsageError, read_line, run_program
from mjlab.threads import prepare_threads

prepare_threads()


@dataclass(kw_only=True)
class Options:
    """Options of `export.py`."""

    out: Path | None = None
    """File to write, such as policy.onnx; its contract is written beside it as JSON.
    Default: export/TASK.onnx in the run's folder."""

    best: bool = False
    """Whether to take the best checkpoint of the run rather than its newest."""

    runner: bool = False
    """Whether to write mjlab_runner.py beside the file, which runs it on a robot or in
    MuJoCo without this framework, and mjlab_runner.hpp, which does so in C++."""

    accept_changes: bool = False
    """Open a run whose task has changed since in more than values: the task counts as
    it is now."""

    logs: Path = Path("logs")
    """Folder of all runs."""


PROGRAM = Program(
    name="export.py",
    summary=(
        "Write a trained policy to one ONNX file that takes what a robot measures, in "
        "SI units, and gives targets of its joints. PLACE is a run's folder, a "
        "checkpoint, a task, of which the newest run is taken, or 'latest', which is "
        "the default. The file acts as the network does, or it is not written; play.py "
        "and evaluate.py take it as well."
    ),
    subject="[PLACE]",
    options=Options,
    examples=(
        "latest",
        "Velocity-G1 --best --out g1.onnx --runner",
        "logs/Velocity-G1/latest/checkpoints/model_000100.pt",
    ),
)


def main(arguments: Sequence[str]) -> None:
    """Write the file."""
    line = read_line(PROGRAM, arguments)
    options: Options = line.options
    place = line.subject or "latest"
    check(place, options)
    from mjlab.cli.runs import find_run, write_file

    run = find_run(place, options.logs)
    exported = write_file(
        run,
        run.configs(accept_changes=options.accept_changes),
        logs=options.logs,
        to=options.out,
        checkpoint=Path(place) if Path(place).is_file() else None,
        best=options.best,
    )
    print(exported.summary)
    if options.runner:
        from mjlab.export.runner import write_runner

        print(f"Run it with {write_runner(exported.path)}.")


def check(place: str, options: Options) -> None:
    """Refuse what cannot work before anything is looked for."""
    if place.endswith(".onnx"):
        raise UsageError(f"{place} is an ONNX file already. Watch it with play.py.")
    if options.out is not None and options.out.suffix != ".onnx":
        raise UsageError(f"--out {options.out}: its name has to end in .onnx.")


if __name__ == "__main__":
    sys.exit(run_program(main))

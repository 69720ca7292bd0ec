"""Says why a run does not learn: `python scripts/doctor.py latest`."""

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
    """Options of `doctor.py`."""

    try_: int = 0
    """Iterations to train with the first remedy that is a setting, beside as many
    without it, from the same checkpoint."""

    accept_changes: bool = False
    """Open a run whose task has changed since in more than values: the task counts as
    it is now."""

    logs: Path = Path("logs")
    """Folder of all runs."""


PROGRAM = Program(
    name="doctor.py",
    summary=(
        "Say what is wrong with a training and what to try, the surest first: from its "
        "figures, its newest checkpoint, and a short rollout. RUN is a run's folder, a "
        "task, or 'latest', which is the default. The run may still be going. The "
        "report shows the findings too."
    ),
    subject="[RUN]",
    options=Options,
    configs=(),
    examples=("latest", "Velocity-G1-Flat --try 20"),
)


def main(arguments: Sequence[str]) -> None:
    """Examine, and try a remedy if that is asked for."""
    line = read_line(PROGRAM, arguments)
    if line.options.try_ < 0:
        raise UsageError(f"--try {line.options.try_}: it has to be 1 or more.")
    from mjlab.cli import runs
    from mjlab.cli.doctor import examine, first_to_try, try_remedy
    from mjlab.doctor import listing, save

    run = runs.find_run(line.subject or "latest", line.options.logs)
    configs = run.configs(accept_changes=line.options.accept_changes)
    findings, looked_at = examine(run, configs)
    print(listing(findings, looked_at))
    if not runs.ships(run):
        save(run.path, findings, looked_at)
    if line.options.try_:
        chosen = first_to_try(findings)
        print(f"\nTrying {chosen.options}", flush=True)
        print(try_remedy(run, configs, chosen, line.options.try_))


if __name__ == "__main__":
    sys.exit(run_program(main))

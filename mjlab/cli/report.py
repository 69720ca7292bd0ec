"""`report`: write the report page of a run."""

import time
import webbrowser
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tyro.conf import Positional

from mjlab.cli.line import Options, read_line
from mjlab.names import UnknownNameError
from mjlab.registry import BrokenTaskError, load_task
from mjlab.runs import find
from mjlab.runs.run import KEPT_DEFAULTS
from mjlab.task_file import typed_task
from mjlab.threads import prepare_threads

if TYPE_CHECKING:
    from mjlab.settings.file import Settings


@dataclass(kw_only=True)
class ReportOptions(Options):
    """Write the report page of a run.

    report.html in the run's folder shows curves, configuration, evaluations and videos
    in one file. Training may still be running; it writes the same page when it ends.
    """

    program = "report.py"
    examples = (
        "",
        "latest --open",
        "Velocity-G1",
        "logs/Velocity-G1/latest",
    )

    place: Positional[str] = "latest"
    """A run's folder, a task (its newest run), or 'latest'."""

    open: bool = False
    """Open the page in the default browser."""

    logs: Path = Path("logs")
    """Folder of all runs."""


def main(arguments: Sequence[str]) -> None:
    """Write the report page of the run."""
    options = read_line(ReportOptions, arguments).options
    from mjlab.report import write_report

    run = find(typed_task(options.place), options.logs, shipped=False).run
    defaults = None
    if not (run.path / KEPT_DEFAULTS).is_file():
        defaults = find_defaults(run.task)
    start = time.perf_counter()
    file = write_report(run.path, defaults)
    size, seconds = file.stat().st_size / 1000, time.perf_counter() - start
    print(f"{file} ({size:,.0f} kB, written in {seconds:.2f} s)")
    if options.open:
        webbrowser.open(file.as_uri())


def find_defaults(task_id: str) -> "Settings | None":
    """Return the current settings of a task, for a run that stored no defaults.

    This takes seconds, because the task is imported.
    """
    prepare_threads()
    try:
        task = load_task(task_id)
    except (UnknownNameError, BrokenTaskError) as error:
        print(f"The report does not include the task's defaults. {error}")
        return None
    from mjlab.settings.file import read_out

    makers = {"env": task.env, "agent": task.rl}
    return read_out({name: make() for name, make in makers.items() if make is not None})

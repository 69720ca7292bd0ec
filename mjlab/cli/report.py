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
from mjlab.threads import prepare_threads

if TYPE_CHECKING:
    from mjlab.settings.file import Settings


@dataclass(kw_only=True)
class ReportOptions(Options):
    """Write the report page of a run.

    report.html in the run's folder shows curves, configuration, evaluations and videos
    in one file. The run may still be going. Training writes the same page when it ends.
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
    """Show the page in the browser of this machine."""

    logs: Path = Path("logs")
    """Folder of all runs."""


def main(arguments: Sequence[str]) -> None:
    """Write the page."""
    options = read_line(ReportOptions, arguments).options
    from mjlab.report import read_info, write_report
    from mjlab.rl.run_folder import KEPT_DEFAULTS, find_run

    place, logs = options.place, options.logs
    try:
        folder = find_run(place, logs)
    except UnknownNameError as error:
        from mjlab.cli.runs import no_run

        raise no_run(place.removesuffix("/latest"), logs, "", error) from error
    defaults = None
    if not (folder / KEPT_DEFAULTS).is_file():
        defaults = find_defaults(str(read_info(folder).get("task")))
    start = time.perf_counter()
    file = write_report(folder, defaults)
    size, seconds = file.stat().st_size / 1000, time.perf_counter() - start
    print(f"{file} ({size:,.0f} kB, written in {seconds:.2f} s)")
    if options.open:
        webbrowser.open(file.as_uri())


def find_defaults(task_id: str) -> "Settings | None":
    """Settings of a task as they are today, for a run that kept none of its own.

    This takes seconds, because the task is imported.
    """
    prepare_threads()
    try:
        task = load_task(task_id)
    except (UnknownNameError, BrokenTaskError) as error:
        print(f"The report goes without the task's defaults. {error}")
        return None
    from mjlab.settings.file import read_out

    makers = {"env": task.env, "agent": task.rl}
    return read_out({name: make() for name, make in makers.items() if make is not None})

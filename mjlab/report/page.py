"""Render the report page from `templates/report.html`."""

import time
from pathlib import Path

from mjlab.files import write_text
from mjlab.report import curves, outcome
from mjlab.report.record import REPORT as REPORT
from mjlab.report.record import read_record
from mjlab.report.settings import configuration
from mjlab.report.template import render_page
from mjlab.settings.file import Settings


def write_report(folder: Path, defaults: Settings | None = None) -> Path:
    """Write the report of a run to its folder; return the file.

    The file is written atomically: readers see the old report or the new one.

    Args:
        folder: Folder of the run.
        defaults: Default settings of the task, used if the run did not store them.
    """
    file = folder / REPORT
    write_text(file, render(folder, defaults))
    return file


def render(folder: Path, defaults: Settings | None = None) -> str:
    """Return the report of a run as HTML, with the arguments of `write_report`."""
    start = time.perf_counter()
    record = read_record(folder, defaults)
    files = outcome.files(record)
    return render_page(
        "report.html",
        start=start,
        record=record,
        best_score=outcome.best_score(record),
        typical_speed=outcome.typical_speed(record),
        learning=curves.learning(record),
        rewards=curves.rewards(record),
        terminations=curves.terminations(record),
        goals=curves.goals(record),
        others=curves.others(record),
        scores=outcome.scores(record),
        evaluations=outcome.evaluations(record),
        clip_figures=outcome.CLIPS,
        videos=outcome.videos(record),
        health=outcome.health(record),
        configuration=configuration(record),
        files=files,
        exports={k: v for k, v in files.items() if k.startswith("export/")},
    )

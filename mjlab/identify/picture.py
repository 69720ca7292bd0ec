"""Chart of a fit: errors of predicted positions before and after."""

import numpy as np

from mjlab.identify.fit import Fit
from mjlab.report.chart import Chart, ChartLine, svg

_POINTS = 400


def picture(fit: Fit) -> str:
    """Return an SVG with one panel per joint, from the first log.

    Each panel shows the measured minus the predicted position, once predicted with the
    task's parameters and once with the estimated parameters.

    Args:
        fit: Fit after `run`.
    """
    problem = fit.problem
    nominal = np.array([u.nominal for u in problem.unknowns]) / problem.scales
    before, after = (problem.signals(x)[0] for x in (nominal, fit.x))
    charts = []
    for index, column in enumerate(problem.columns):
        if column.signal != "pos":
            continue
        lines = []
        for colour, (label, found) in enumerate(
            (("task", before), ("estimated", after))
        ):
            times, predicted, measured = found
            some = slice(None, None, max(1, len(times) // _POINTS))
            errors = 1e3 * (measured - predicted)[some, index]
            lines.append(
                ChartLine(
                    x=times[some].tolist(),
                    y=errors.tolist(),
                    label=label,
                    colour=colour,
                )
            )
        title = f"{column.joint}, mrad (mm)"
        charts.append(Chart(title=title, lines=lines, across="seconds", with_zero=True))
    return svg(charts, width=320, height=240)

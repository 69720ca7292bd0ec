"""Plots of reward terms in MuJoCo's window."""

import math
from collections import deque
from collections.abc import Sequence

import mujoco
import numpy as np

HISTORY = 300
"""Number of steps in a curve."""

_COLUMNS = 3
"""Maximum number of columns of figures."""

_WIDTH, _NARROWEST = 0.2, 220
"""Width of a figure, as a fraction of the window's width, and its minimum in pixels."""

_HEIGHT = 75
"""Minimum height of a figure, in pixels, unless the figures do not fit."""

_MARGIN = 0.1
"""Space above and below a curve, as a fraction of its range."""

_TITLE = 200
"""Length of a title, padded with zeros: MuJoCo 4.0 also draws the rest of an earlier,
longer title."""

_FLATTEST = 1e-3
"""Minimum range of a curve, relative to its values, or to 1 if they are smaller."""


class TermFigures:
    """Figures with the values of terms over the last steps, one for each term."""

    def __init__(self, names: Sequence[str], step_dt: float) -> None:
        """Create the figures.

        Args:
            names: Names of the terms.
            step_dt: Duration of a step, s.
        """
        self._names, self._step_dt = tuple(names), step_dt
        self._values: deque[np.ndarray] = deque(maxlen=HISTORY)
        self._figures = [_empty(HISTORY * step_dt) for _ in names]

    def record(self, values: Sequence[float]) -> None:
        """Append the values of a step, term by term."""
        self._values.append(np.array(values, dtype=np.float64))

    def clear(self) -> None:
        """Remove the curves, as when another world is shown."""
        self._values.clear()

    def placed(
        self, window: mujoco.MjrRect
    ) -> list[tuple[mujoco.MjrRect, mujoco.MjvFigure]]:
        """Return the figures with their rectangles at the right side of a window."""
        places = _grid(len(self._names), window)
        self._write()
        return list(zip(places, self._figures, strict=True))

    def _write(self) -> None:
        """Write the curves into the figures."""
        number = len(self._values)
        if not number:
            for name, figure in zip(self._names, self._figures, strict=True):
                figure.title, figure.linepnt[0] = _title(name), 0
            return
        times = self._step_dt * np.arange(1 - number, 1)
        curves = np.stack(self._values, axis=1)
        for name, figure, curve in zip(self._names, self._figures, curves, strict=True):
            last = curve[-1] + 0.0  # Avoid minus zero.
            figure.title = _title(f"{name} {last:+.2g}")
            figure.linepnt[0] = number
            figure.linedata[0, : 2 * number] = np.stack((times, curve), axis=1).ravel()
            low, high = float(curve.min()), float(curve.max())
            margin = _MARGIN * max(high - low, _FLATTEST * max(abs(high), 1.0))
            figure.range[1] = low - margin, high + margin


def _title(text: str) -> str:
    return text[:_TITLE].ljust(_TITLE, "\0")


def _empty(seconds: float) -> mujoco.MjvFigure:
    figure = mujoco.MjvFigure()
    mujoco.mjv_defaultFigure(figure)
    figure.flg_legend, figure.flg_extend = 0, 0
    figure.gridsize[:] = 2, 2
    figure.figurergba[3] = 0.6
    figure.flg_ticklabel[0], figure.yformat = 0, "%.2g"
    figure.range[0] = -seconds, 0.0
    return figure


def _grid(number: int, window: mujoco.MjrRect) -> list[mujoco.MjrRect]:
    """Return a rectangle per figure, by columns from the upper right corner."""
    fitting = max(1, window.height // _HEIGHT)
    columns = min(_COLUMNS, math.ceil(number / fitting))
    rows = max(fitting, math.ceil(number / max(columns, 1)))
    width = max(int(_WIDTH * window.width), _NARROWEST)
    height = window.height // rows
    right, top = window.left + window.width, window.bottom + window.height
    return [
        mujoco.MjrRect(
            right - (index // rows + 1) * width,
            top - (index % rows + 1) * height,
            width,
            height,
        )
        for index in range(number)
    ]

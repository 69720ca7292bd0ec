"""Gait measures as text."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mjlab.gait.limits import ERRORS, Failure
from mjlab.gait.motion import Figures

Worlds = Mapping[str, Mapping[str, Figures]]
"""Measures by world and command."""


@dataclass(frozen=True)
class _Unit:
    """How a measure is called and written."""

    name: str
    unit: str = ""
    scale: float = 1.0
    digits: int = 2
    short: str = ""

    @property
    def heading(self) -> str:
        return f"{self.short or self.name} {self.unit}".rstrip()

    def text(self, value: object) -> str:
        """Return a value as it stands in a table."""
        if isinstance(value, list):
            return " ".join(f"{self.scale * one:.{self.digits}f}" for one in value)
        return self._written(value, self.digits)

    def exact(self, value: object) -> str:
        """Return a value with one more digit, to compare it with a limit."""
        return self._written(value, self.digits + 1)

    def _written(self, value: object, digits: int) -> str:
        if not isinstance(value, int | float):
            return "-"
        return f"{self.scale * value:.{0 if isinstance(value, int) else digits}f}"


_UNITS = {
    "steps_per_s": _Unit("steps", "1/s", digits=1),
    "steps_per_s_per_leg": _Unit("steps per leg", "1/s", digits=1, short="per leg"),
    "step_length": _Unit("step length", "cm", 100, 0, "length"),
    "clearance": _Unit("clearance", "cm", 100, 1, "clear."),
    "double_support": _Unit("double support", "%", 100, 0, "double"),
    "duty_factor": _Unit("duty factor", "%", 100, 0, "duty"),
    "phases": _Unit("phases"),
    "diagonal_lag": _Unit("lag of diagonal feet", "stride"),
    "flight": _Unit("flight", "%", 100, 0),
    "slip": _Unit("slip", "cm", 100, 1),
    "impact": _Unit("impact", "BW", digits=1),
    "touchdown_speed": _Unit("touchdown speed", "m/s", short="touch"),
    "vibration": _Unit("vibration", digits=1, short="vibr."),
    "asymmetry": _Unit("asymmetry", "%", 100, 0, "asym."),
    "cost_of_transport": _Unit("cost of transport", short="cost"),
    "speed": _Unit("speed", "m/s"),
    "foot_drift": _Unit("foot drift", "cm", 100, 1),
    "linear_error": _Unit("error", "m/s"),
    "turning_error": _Unit("error", "rad/s"),
    "mean_linear_error": _Unit("error", "m/s"),
    "mean_turning_error": _Unit("error", "rad/s"),
    "falls": _Unit("falls", digits=0),
}

_SHARED = ("clearance", "flight", "slip", "impact", "touchdown_speed", "vibration")
_SHARED += ("asymmetry", "cost_of_transport", "speed")
_BIPED = ("steps_per_s", "step_length", "double_support", *_SHARED)
_QUADRUPED = ("steps_per_s_per_leg", "step_length", "duty_factor", *_SHARED, "phases")


def gait_table(rows: Mapping[str, Figures]) -> str:
    """Return the gait measures of several policies, one row each.

    Args:
        rows: Measures by the name of the row. Bipeds and quadrupeds have tables of
            their own.
    """
    parts = []
    for is_biped, measures in ((True, _BIPED), (False, _QUADRUPED)):
        chosen = {n: f for n, f in rows.items() if (f["feet"] == 2) == is_biped}
        if chosen:
            head = ["", *(_UNITS[m].heading for m in measures)]
            body = [
                [name, *(_UNITS[m].text(figures.get(m)) for m in measures)]
                for name, figures in chosen.items()
            ]
            parts.append(columns([head, *body]))
    return "\n\n".join(parts)


def tracking_table(worlds: Worlds) -> str:
    """Return errors and falls under each command, in each world."""
    head, measures = ["command"], []
    for world in worlds:
        head += [f"{world}: m/s", "rad/s", "falls"]
        measures.append([*ERRORS[world].values(), "falls"])
    commands = next(iter(worlds.values()))
    body = [
        [
            command,
            *(
                _UNITS[measure].text(worlds[world][command].get(measure))
                for world, listed in zip(worlds, measures, strict=True)
                for measure in listed
            ),
        ]
        for command in commands
    ]
    return columns([head, *body])


def verdict(found: Sequence[Failure]) -> str:
    """Return whether a gait is natural, and a line for each measure that fails."""
    if not found:
        return "natural gait: every measure is within its limits"
    lines = [f"not a natural gait: {len(found)} measures fail"]
    return "\n".join([*lines, *(f"  {failure_text(one)}" for one in found)])


def failure_text(failure: Failure) -> str:
    """Return a failed measure with its figure and its limit."""
    unit, limit = _UNITS[failure.measure], failure.limit
    if math.isinf(limit.high):
        bounds = f"at least {unit.text(limit.low)}"
    elif math.isinf(limit.low):
        bounds = f"at most {unit.text(limit.high)}"
    else:
        bounds = f"allowed {unit.text(limit.low)} to {unit.text(limit.high)}"
    return (
        f"{failure.command}, {failure.world}: {unit.name} {unit.exact(failure.value)}, "
        f"{bounds} {unit.unit}"
    ).rstrip()


def columns(rows: Sequence[Sequence[str]]) -> str:
    """Return rows of text: names to the left, figures to the right."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = []
    for name, *cells in rows:
        shown = [c.rjust(w) for c, w in zip(cells, widths[1:], strict=True)]
        lines.append("  ".join([name.ljust(widths[0]), *shown]).rstrip())
    return "\n".join(lines)

"""Format gait metrics as tables, and compare them with their limits in words."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mjlab.gait.commands import Figures
from mjlab.gait.limits import ERRORS, FAST, SLOW, Failure
from mjlab.gait.size import relative_size, scaled_name

Worlds = Mapping[str, Mapping[str, Figures]]
"""Gait metrics by test condition (`QUIET` or `AS_TRAINED`) and command."""


@dataclass(frozen=True)
class _Unit:
    """Heading, unit and number format of a metric."""

    name: str
    unit: str = ""
    scale: float = 1.0
    digits: int = 2
    short: str = ""

    @property
    def heading(self) -> str:
        return f"{self.short or self.name} {self.unit}".rstrip()

    def text(self, value: object) -> str:
        """Format a value for a table."""
        if isinstance(value, list):
            return " ".join(self._written(one, self.digits) for one in value)
        return self._written(value, self.digits)

    def exact(self, value: object) -> str:
        """Format a value with one more digit, for comparison with a limit."""
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
    "linear_error": _Unit("velocity error", "m/s"),
    "turning_error": _Unit("yaw rate error", "rad/s"),
    "mean_linear_error": _Unit("velocity error", "m/s"),
    "mean_turning_error": _Unit("yaw rate error", "rad/s"),
    "falls": _Unit("falls", digits=0),
}

_SHARED = ("clearance", "flight", "slip", "impact", "touchdown_speed", "vibration")
_SHARED += ("asymmetry", "cost_of_transport", "speed", "falls")
_BIPED = ("steps_per_s", "step_length", "double_support", *_SHARED)
_QUADRUPED = ("steps_per_s_per_leg", "step_length", "duty_factor", *_SHARED, "phases")


Table = list[list[str]]
"""Rows of cells. The first row is the header, the first cell of a row its name."""


def gait_tables(rows: Mapping[str, Figures]) -> list[Table]:
    """Return tables of gait metrics, one for bipeds and one for quadrupeds.

    Args:
        rows: Metrics by row name.
    """
    tables: list[Table] = []
    for is_biped, measures in ((True, _BIPED), (False, _QUADRUPED)):
        chosen = {n: f for n, f in rows.items() if (f.get("feet") == 2) == is_biped}
        if chosen:
            head = ["", *(_UNITS[m].heading for m in measures)]
            body = [
                [name, *(_UNITS[m].text(figures.get(m)) for m in measures)]
                for name, figures in chosen.items()
            ]
            tables.append([head, *body])
    return tables


def gait_rows(worlds: Worlds) -> dict[str, Figures]:
    """Return the rows of a policy for `gait_tables`, one per speed and condition."""
    return {
        f"{_told(command, commands[command])} m/s, {world}": commands[command]
        for command in (SLOW, FAST)
        for world, commands in worlds.items()
        if command in commands
    }


def legend() -> str:
    """Explain the abbreviated headings of gait tables."""
    names = [f"{unit.short}: {unit.name}" for unit in _UNITS.values() if unit.short]
    return "; ".join([*names, "BW: body weights"])


def tracking_table(worlds: Worlds) -> Table:
    """Return a table of tracking errors and falls, by command and condition."""
    head, measures = ["command"], []
    for world in worlds:
        head += [f"{world}: m/s", "rad/s", "falls"]
        measures.append([*ERRORS[world].values(), "falls"])
    commands = next(iter(worlds.values()))
    body = [
        [
            _told(command, commands[command]),
            *(
                _UNITS[measure].text(worlds[world][command].get(measure))
                for world, listed in zip(worlds, measures, strict=True)
                for measure in listed
            ),
        ]
        for command in commands
    ]
    return [head, *body]


def _told(command: str, figures: Figures) -> str:
    """Return the name of a command with the speed that the robot was told."""
    return scaled_name(command, relative_size(figures))


def verdict(found: Sequence[Failure], most: int | None = None) -> str:
    """Describe whether a gait is natural, with a line per metric outside its limit.

    Args:
        found: The metrics outside their limits.
        most: Maximum number of lines for metrics. None: no maximum.
    """
    if not found:
        return "natural gait: every measure is within its limits"
    measures = "1 measure fails" if len(found) == 1 else f"{len(found)} measures fail"
    lines = [f"not a natural gait: {measures}"]
    lines += [f"  {failure_text(one)}" for one in found[:most]]
    if most is not None and len(found) > most:
        lines.append(f"  and {len(found) - most} more")
    return "\n".join(lines)


def failure_text(failure: Failure) -> str:
    """Describe a metric outside its limit, with its value and the limit."""
    unit, limit = _UNITS[failure.measure], failure.limit
    if math.isinf(limit.high):
        bounds = f"at least {unit.text(limit.low)}"
    elif math.isinf(limit.low):
        bounds = f"at most {unit.text(limit.high)}"
    else:
        bounds = f"allowed {unit.text(limit.low)} to {unit.text(limit.high)}"
    where = f"{failure.command}, {failure.world}: {unit.name}"
    if failure.value is None:
        return f"{where} not measured: the robots fell, or took no steps"
    return f"{where} {unit.exact(failure.value)}, {bounds} {unit.unit}".rstrip()


def text(table: Table) -> str:
    """Format a table as text: names left-aligned, numbers right-aligned."""
    widths = [max(len(cell) for cell in column) for column in zip(*table, strict=True)]
    lines = []
    for name, *cells in table:
        shown = [c.rjust(w) for c, w in zip(cells, widths[1:], strict=True)]
        lines.append("  ".join([name.ljust(widths[0]), *shown]).rstrip())
    return "\n".join(lines)

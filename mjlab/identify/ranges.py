"""Task file with the intervals of an identification as randomisation ranges."""

import math
from collections.abc import Sequence

from mjlab.identify.fit import Estimate, FitResult
from mjlab.identify.robot import Robot

_FIELDS = {
    "armature": "joint_armature",
    "friction": "joint_friction",
    "damping": "joint_damping",
    "effort_limit": "effort_limits",
}
"""Term of `mjlab.mdp.randomize` that sets each kind to values of the interval."""

_DIGITS = 4


def task_file(
    task: str, base: type, robot: Robot, result: FitResult, *, logs: Sequence[str]
) -> str:
    """Return a Python file with a subclass of the task's configuration.

    Parameters that the logs do not determine keep the values of the task, and are named
    in a comment.

    Args:
        task: Id of the task.
        base: Class of its environment configuration.
        robot: The identified robot.
        result: The estimates.
        logs: Names of the logs, for the file's docstring.
    """
    told = [each for each in result.estimates if each.determined]
    untold = [each.candidate.name for each in result.undetermined]
    events = [event for event in _events(robot, told) if event]
    delay = next((each for each in told if each.candidate.kind == "delay"), None)
    words = {
        "TASK": task,
        "MODULE": base.__module__,
        "BASE": base.__name__,
        "CLASS": f"Measured{base.__name__}",
        "LOGS": ", ".join(logs),
        "UNTOLD": _wrapped(untold) if untold else "",
        "DELAY_IMPORT": _DELAY_IMPORT if delay else "",
        "EVENTS": "".join(events),
        "DELAY": _delay(robot, delay) if delay else "",
        "ENTITY": robot.entity,
    }
    text = _FILE
    for word, value in words.items():
        text = text.replace(f"<{word}>", value)
    return text


def _events(robot: Robot, told: Sequence[Estimate]) -> list[str]:
    found = []
    for kind, term in _FIELDS.items():
        some = [each for each in told if each.candidate.kind == kind]
        chosen = "actuator" if kind == "effort_limit" else "joint"
        ranges = {each.candidate.owner: _pair(each.low, each.high) for each in some}
        found.append(_event(kind, term, chosen, {"ranges": _mapping(ranges)}, ranges))
    gains = [each for each in told if each.candidate.kind == "gain"]
    ranges = {each.candidate.owner: _pair(each.low, each.high) for each in gains}
    both = {"kp_range": _mapping(ranges), "kd_range": _mapping(ranges)}
    found.append(_event("gain", "pd_gains", "actuator", both, ranges, "scale"))
    masses = {
        each.candidate.owner: _pair(each.low, each.high)
        for each in told
        if each.candidate.kind == "mass"
    }
    found.append(
        _event("mass", "body_mass", "body", {"ranges": _mapping(masses)}, masses)
    )
    found += _centres(told)
    return found


def _centres(told: Sequence[Estimate]) -> list[str]:
    """Return one event per body: shifts of the centre of mass along its axes."""
    found = []
    bodies = dict.fromkeys(e.candidate.owner for e in told if e.candidate.kind == "com")
    for index, body in enumerate(bodies, 1):
        axes = {
            each.candidate.axis: _pair(
                each.low - each.candidate.nominal, each.high - each.candidate.nominal
            )
            for each in told
            if each.candidate.kind == "com" and each.candidate.owner == body
        }
        name = "com" if len(bodies) == 1 else f"com_{index}"
        ranges = {"ranges": _mapping(axes)}
        found.append(_event(name, "body_com_offset", "body", ranges, [body], "add"))
    return found


def _event(
    name: str,
    term: str,
    chosen: str,
    params: dict[str, str],
    owners: Sequence[str] | dict[str, str],
    operation: str = "abs",
) -> str:
    """Return the source of an event term, empty without elements."""
    if not owners:
        return ""
    names = "".join(f"{owner!r}, " for owner in owners)
    lines = "".join(
        f'                "{key}": {value},\n' for key, value in params.items()
    )
    return (
        f'        "measured_{name}": EventTermCfg(\n'
        f"            func=dr.{term},\n"
        '            mode="startup",\n'
        "            params={\n"
        f'                "asset_cfg": SceneEntityCfg("<ENTITY>", '
        f"{chosen}_names=({names.strip()})),\n"
        f'                "operation": "{operation}",\n'
        f"{lines}"
        "            },\n"
        "        ),\n"
    )


def _delay(robot: Robot, delay: Estimate) -> str:
    step = robot.timestep
    lowest = math.floor(delay.low / step + 1e-6)
    highest = max(lowest, math.ceil(delay.high / step - 1e-6))
    return (
        "\n    def __post_init__(self) -> None:\n"
        f'        """Delay commands by {_text(delay.low)} to {_text(delay.high)} s, in '
        f'steps of {step:g} s."""\n'
        "        super().__post_init__()\n"
        f'        robot = self.scene.entities["{robot.entity}"]\n'
        "        for actuator in robot.articulation.actuators:\n"
        f"            actuator.delay = DelayCfg(min_lag={lowest}, max_lag={highest}, "
        "hold_prob=1.0)\n"
    )


def _mapping(ranges: dict[str, str]) -> str:
    inside = "".join(f"\n                    {k!r}: {v}," for k, v in ranges.items())
    return "{" + inside.replace("'", '"') + "\n                }"


def _pair(low: float, high: float) -> str:
    return f"({_text(low)}, {_text(high)})"


def _text(value: float) -> str:
    return f"{value:.{_DIGITS}g}"


def _wrapped(names: Sequence[str]) -> str:
    lines, line = [], "# The logs do not determine:"
    for name in names:
        if len(line) + len(name) > 85:
            lines.append(line)
            line = "#"
        line += f" {name},"
    return "\n".join([*lines, line.rstrip(",") + "."]) + "\n"


_DELAY_IMPORT = "from mjlab.tensors import DelayCfg\n"

_FILE = '''\
"""<TASK> with the parameters of a measured robot. Written by `mjlab identify`.

The ranges are 95 % intervals from <LOGS>.
"""

import dataclasses

from <MODULE> import <BASE>
from mjlab.managers import EventTermCfg, SceneEntityCfg
from mjlab.mdp import dr
from mjlab.registry import load_task
<DELAY_IMPORT>

<UNTOLD>class <CLASS>(<BASE>):
    """<BASE> with ranges of a measured robot. Each world draws once, at start-up."""

    events = {
        **<BASE>.events,
<EVENTS>    }
<DELAY>

TASK = dataclasses.replace(load_task("<TASK>"), env=<CLASS>, trained=None)
'''

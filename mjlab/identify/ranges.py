"""Write a task file that uses identified intervals as randomisation ranges."""

import math
from collections.abc import Sequence

from mjlab.identify.fit import Estimate, FitResult
from mjlab.identify.robot import Robot

_FIELDS = {
    "armature": "joint_armature",
    "friction": "joint_friction",
    "damping": "joint_damping",
    "effort_limit": "effort_limits",
    "gain": "pd_gains",
    "mass": "body_mass",
}
"""Term of `mjlab.mdp.randomize` for each kind. Centres of mass need a term per body."""

_DIGITS = 4


def task_file(
    task: str, base: type, robot: Robot, result: FitResult, *, logs: Sequence[str]
) -> str:
    """Return the source of a Python file with a subclass of the task's configuration.

    Undetermined parameters are not randomised. A comment in the file names them.

    Args:
        task: Id of the task.
        base: Class of the task's environment configuration.
        robot: The identified robot.
        result: Result of the fit.
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
        "DELAY": _delay(base, robot, delay) if delay else "",
    }
    text = _FILE
    for word, value in words.items():
        text = text.replace(f"<{word}>", value)
    return text


def _events(robot: Robot, told: Sequence[Estimate]) -> list[str]:
    entity = f'SceneEntityCfg("{robot.entity}")'
    found = []
    for kind, term in _FIELDS.items():
        ranges = {
            each.candidate.owner: (each.low, each.high)
            for each in told
            if each.candidate.kind == kind
        }
        keys = ("kp_range", "kd_range") if kind == "gain" else ("ranges",)
        operation = "scale" if kind == "gain" else "abs"
        found.append(_event(kind, term, entity, operation, keys, ranges))
    return [*found, *_centres(robot, told)]


def _centres(robot: Robot, told: Sequence[Estimate]) -> list[str]:
    """Return the code of one event per body, which shifts its centre of mass."""
    centres = [each for each in told if each.candidate.kind == "com"]
    found = []
    for body in dict.fromkeys(each.candidate.owner for each in centres):
        axes = {
            each.candidate.axis: (
                each.low - each.candidate.nominal,
                each.high - each.candidate.nominal,
            )
            for each in centres
            if each.candidate.owner == body
        }
        entity = f'SceneEntityCfg("{robot.entity}", body_names="{body}")'
        name = f"com_{body}"
        found.append(_event(name, "body_com_offset", entity, "add", ("ranges",), axes))
    return found


def _event(
    name: str,
    term: str,
    entity: str,
    operation: str,
    keys: Sequence[str],
    ranges: dict[str, tuple[float, float]],
) -> str:
    """Return the Python code of an event term, or "" if there are no ranges.

    Args:
        name: Name of the event, without the prefix.
        term: Name of the term in `mjlab.mdp.randomize`.
        entity: Python code of the entity selection.
        operation: Operation between sampled and compiled values, such as "add".
        keys: Parameters of the term that get these ranges.
        ranges: Ranges by element name or axis.
    """
    if not ranges:
        return ""
    rows = "".join(
        f'                    "{owner}": ({_text(low)}, {_text(high)}),\n'
        for owner, (low, high) in ranges.items()
    )
    mapping = f"{{\n{rows}                }}"
    lines = "".join(f'                "{key}": {mapping},\n' for key in keys)
    return (
        f'        "measured_{name}": EventTermCfg(\n'
        f"            func=dr.{term},\n"
        '            mode="startup",\n'
        "            params={\n"
        f'                "asset_cfg": {entity},\n'
        f'                "operation": "{operation}",\n'
        f"{lines}"
        "            },\n"
        "        ),\n"
    )


def _delay(base: type, robot: Robot, delay: Estimate) -> str:
    has_own = any("__post_init__" in vars(each) for each in base.__mro__)
    step = robot.timestep
    lowest = math.floor(delay.low / step + 1e-6)
    highest = max(lowest, math.ceil(delay.high / step - 1e-6))
    return (
        "\n    def __post_init__(self) -> None:\n"
        f'        """Delay commands by {_text(delay.low)} to {_text(delay.high)} s, in '
        f'steps of {step:g} s."""\n'
        + "        super().__post_init__()\n"
        * has_own
        + f'        robot = self.scene.entities["{robot.entity}"]\n'
        "        for actuator in robot.articulation.actuators:\n"
        f"            actuator.delay = DelayCfg(min_lag={lowest}, max_lag={highest}, "
        "hold_prob=1.0)\n"
    )


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

from mjlab.managers import EventTermCfg, SceneEntityCfg
from mjlab.mdp import dr
from mjlab.registry import load_task
from <MODULE> import <BASE>
<DELAY_IMPORT>

<UNTOLD>class <CLASS>(<BASE>):
    """Parameters of a measured robot. Each world draws once, at start-up."""

    events = {
        **<BASE>.events,
<EVENTS>    }
<DELAY>

TASK = dataclasses.replace(load_task("<TASK>"), env=<CLASS>, trained=None)
'''

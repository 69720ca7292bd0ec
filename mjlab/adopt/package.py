"""Write a walking task: one Python file of at most 80 lines, and the model."""

import math
import os.path
import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from mjlab.adopt.legs import Leg
from mjlab.adopt.motors import standing_torques
from mjlab.adopt.notes import AdoptError
from mjlab.adopt.robot import Adopted
from mjlab.adopt.stance import feet_gap, moves
from mjlab.spec import write_spec
from mjlab.tasks.robots.legged import step_height
from mjlab.tasks.robots.robot import Mirror, Motor

_WIDTH = 88


def module_of(robot: Adopted) -> str:
    """Return the name of the task's module and folder, such as "walk_aliengo"."""
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", robot.name)
    return "walk_" + re.sub(r"\W+", "_", snake).strip("_").lower()


def write_task(robot: Adopted, folder: Path) -> Path:
    """Write the task, and return the path of its Python file.

    Args:
        robot: Findings about the robot.
        folder: Folder to create for the file and the model (`robot/scene.xml`).
    """
    file = folder / f"{module_of(robot)}.py"
    if folder.exists():
        again = (
            f" To resume the training of its task, type: python scripts/train.py "
            f"{file}:TASK --resume latest."
        )
        raise AdoptError(
            f"{folder} already exists; nothing was written. Remove it, or choose "
            f"another folder: --folder FOLDER.{again if file.is_file() else ''}"
        )
    write_spec(robot.spec, folder / "robot")
    file.write_text(task_text(robot), "utf-8")
    return file


def task_text(robot: Adopted) -> str:
    """Return the Python source of a task."""
    biped = len(robot.legs) == 2
    words = {
        "NAME": robot.name,
        "BASE": "BipedWalkCfg" if biped else "WalkCfg",
        "FEET": _feet(robot),
        "BODY": _string(robot.base),
        "TORSO": _string(robot.torso),
        "KNEES": _patterns(_kinds(robot, _knees(robot))),
        "STANCE": _stance(robot),
        "HEIGHT": f"{robot.height:.3f}",
        "LEG": f"{robot.leg_length:.3f}",
        "MASS": f"{robot.mass:.4g}",
        "GAP": f" feet_gap={feet_gap(robot.posed, robot.legs):.3f}," if biped else "",
        "MOTORS": _motors(robot),
        "HELD": _held(robot),
        "MIRROR": _mirror(robot.mirror),
        "MODEL": _MODEL.replace("<NAME>", robot.name) if robot.mirror else "",
        "AGENT": f", {robot.name}ModelCfg" if robot.mirror else "",
        "ASSIST": _ASSIST if biped else "",
        "IMPORTS": _imports(biped, robot.mirror is not None),
        "LEGS": str(len(robot.legs)),
    }
    text = _TASK
    for word, value in words.items():
        text = text.replace(f"<{word}>", value)
    return text


def _imports(biped: bool, mirrored: bool) -> str:
    lines = []
    if biped:
        lines.append("from mjlab.managers import EventTermCfg")
    lines.append("from mjlab.tasks.robots.legged import Foot, legged_robot, motor")
    if mirrored:
        lines.append("from mjlab.tasks.robots.robot import Mirror")
    lines.append("from mjlab.tasks.velocity import walk")
    if mirrored:
        lines.append("from mjlab.tasks.robots.symmetry import EquivariantModelCfg")
    return "\n".join(lines)


# Name patterns. Joints that differ only in their side share a pattern.


def _kinds(robot: Adopted, joints: Sequence[str]) -> dict[str, list[str]]:
    """Return joints by pattern, such as "(FL|FR|RL|RR)_hip_joint"."""
    prefixes = (
        [side for pair in robot.mirror.sides for side in pair] if robot.mirror else []
    )
    found: dict[tuple[bool, str], list[tuple[str, str]]] = {}
    for joint in joints:
        side = max(
            (p for p in prefixes if joint.startswith(p) and joint != p),
            key=len,
            default="",
        )
        key = (bool(side), joint.removeprefix(side))
        found.setdefault(key, []).append((side, joint))
    kinds: dict[str, list[str]] = {}
    for (sided, rest), members in found.items():
        sides = "|".join(re.escape(side) for side, _ in members)
        several = sided and len(members) > 1
        name = f"({sides}){re.escape(rest)}" if several else re.escape(members[0][1])
        kinds[name] = [joint for _, joint in members]
    return kinds


def _knees(robot: Adopted) -> list[str]:
    return [
        leg.flexion[1] if len(leg.flexion) > 1 else leg.joints[-1] for leg in robot.legs
    ]


def _quoted(names: Sequence[str]) -> str:
    text = ", ".join(_string(name) for name in names)
    return f"({text},)" if len(names) == 1 else f"({text})"


def _string(text: str) -> str:
    return f'r"{text}"' if "\\" in text else f'"{text}"'


def _patterns(kinds: Mapping[str, Sequence[str]]) -> str:
    return _wrapped(_quoted(list(kinds)), indent=8)


def _wrapped(text: str, indent: int) -> str:
    """Break the source of a tuple into lines of at most `_WIDTH` characters."""
    if len(text) + indent + 12 <= _WIDTH:
        return text
    lines = textwrap.wrap(
        text[1:-1],
        _WIDTH - indent - 1,
        break_long_words=False,
        break_on_hyphens=False,
    )
    if not lines[-1].endswith(","):
        lines[-1] += ","
    pad = " " * indent
    return "\n".join(["(", *(f"{pad}{line}" for line in lines), f"{pad[4:]})"])


# Parts of the file.


def _feet(robot: Adopted) -> str:
    lines = []
    model = robot.posed.model
    for leg in sorted(robot.legs, key=lambda leg: model.body(leg.foot).id):
        geoms = _quoted(_joined_ends(leg.geoms))
        line = f'        Foot(body="{leg.foot}", clock={leg.clock}, geoms={geoms}),'
        if len(line) > _WIDTH:
            head = f'        Foot(body="{leg.foot}", clock={leg.clock}, geoms='
            line = head + _wrapped(geoms, indent=12) + "),"
        lines.append(line.removesuffix("),") + _moves(robot, leg))
    return "\n".join(lines)


def _moves(robot: Adopted, leg: Leg) -> str:
    """Return the source of the motions of a foot's joints; see `Foot.moves`."""
    biped = len(robot.legs) == 2
    height = step_height(len(robot.legs), robot.leg_length)
    torques = standing_torques(robot.posed, [leg])
    lines = [", moves={"]
    for joint, numbers in moves(robot.posed, leg, height).items():
        load = torques[joint] / robot.motors[joint].stiffness
        written = (*numbers, load) if biped else numbers
        rounded = ", ".join(f"{round(by, 2) + 0.0:.2f}" for by in written)
        lines.append(f"    {_string(joint)}: ({rounded}),")
    return "\n        ".join([*lines, "}),"])


def _joined_ends(names: Sequence[str]) -> list[str]:
    """Return names as patterns. Three or more names with a common start share one."""
    start = os.path.commonprefix(list(names))  # noqa: RUF071
    if len(names) < 3 or not start:
        return [re.escape(name) for name in names]
    ends = "|".join(re.escape(name.removeprefix(start)) for name in names)
    return [f"{re.escape(start)}({ends})"]


def _stance(robot: Adopted) -> str:
    """Return the source of the stance: nonzero joint positions by name pattern."""
    entries: dict[str, float] = {}
    for members in _kinds(robot, list(robot.stance)).values():
        by_value: dict[float, list[str]] = {}
        for joint in members:
            by_value.setdefault(round(robot.stance[joint], 2) + 0.0, []).append(joint)
        for value, joints in by_value.items():
            if value:
                (pattern,) = _kinds(robot, joints)
                entries[pattern] = value
    texts = [f"{_string(name)}: {value:g}" for name, value in entries.items()]
    return _block(texts, "{", "}")


def _block(entries: Sequence[str], opening: str, closing: str) -> str:
    """Return entries on one line if they fit, otherwise as an indented block."""
    if sum(len(entry) + 2 for entry in entries) + 20 <= _WIDTH:
        return f"{opening}{', '.join(entries)}{closing}"
    lines = [""]
    for entry in entries:
        if lines[-1] and len(lines[-1]) + len(entry) + 10 > _WIDTH:
            lines.append("")
        lines[-1] += f"{' ' if lines[-1] else ''}{entry},"
    body = "\n".join(f"        {line}" for line in lines)
    return f"{opening}\n{body}\n    {closing}"


def _motors(robot: Adopted) -> str:
    """Return one line per pattern and torque limit of the policy's joints."""
    lines = []
    for joints in _kinds(robot, robot.acted).values():
        for same in _alike(robot, joints):
            (pattern,) = _kinds(robot, same)
            lines.append(f"        {_string(pattern)}: {_motor(robot, same)},")
    return "\n".join(lines)


def _held(robot: Adopted) -> str:
    """Return the source of `held`: motors of joints that the policy does not move."""
    held = [joint for joint in robot.motors if joint not in robot.acted]
    if not held:
        return ""
    lines = []
    for same in _alike(robot, held):
        drive = _motor(robot, same, digits=2)
        room = _WIDTH - len(f'        "": {drive},')
        joined = _joined(_kinds(robot, same), room)
        lines += [f"        {_string(pattern)}: {drive}," for pattern in joined]
    return "\n    held={\n" + "\n".join(lines) + "\n    },"


def _joined(patterns: Iterable[str], room: int) -> list[str]:
    """Combine patterns to alternatives of at most `room` characters.

    Common sides and ends are written once, such as "(l|r)_(elbow|wrist)_joint".
    """
    groups: dict[tuple[str, str], list[str]] = {}
    for pattern in patterns:
        sides, closing, rest = pattern.partition(")")
        head = sides + closing if pattern.startswith("(") and rest else ""
        rest = pattern.removeprefix(head)
        end = "_joint" if rest.endswith("_joint") else ""
        start = "_" if head and rest.startswith("_") else ""
        middle = rest.removesuffix(end).removeprefix(start)
        groups.setdefault((head + start, end), []).append(middle)
    joined: list[str] = []
    for (head, end), names in groups.items():
        rows: list[list[str]] = [[]]
        for name in names:
            size = len(head) + len(end) + 2 + len("|".join([*rows[-1], name]))
            if rows[-1] and size > room:
                rows.append([])
            rows[-1].append(name)
        for row in rows:
            text = "|".join(row)
            joined.append(f"{head}({text}){end}" if len(row) > 1 else head + text + end)
    return joined


def _alike(robot: Adopted, joints: Sequence[str]) -> list[list[str]]:
    """Group joints by the torque limit of their motors."""
    groups: dict[str, list[str]] = {}
    for joint in joints:
        limit = f"{robot.motors[joint].effort_limit:.2g}"
        groups.setdefault(limit, []).append(joint)
    return list(groups.values())


def _motor(robot: Adopted, joints: Sequence[str], digits: int = 3) -> str:
    """Return the source of one motor for similar joints.

    Inertia, stiffness and damping are means over the joints, torque limit and armature
    maxima.
    """
    motors: list[Motor] = [robot.motors[joint] for joint in joints]
    number = len(motors)
    inertia = sum(motor.loop_inertia for motor in motors) / number
    stiffness = sum(motor.stiffness for motor in motors) / number
    frequency = math.sqrt(stiffness / inertia) / (2.0 * math.pi)
    effort = max(motor.effort_limit for motor in motors)
    armature = max(motor.armature for motor in motors)
    ratio = sum(motor.damping_ratio for motor in motors) / number
    values = (inertia, frequency, armature, *((ratio,) if ratio < 1.0 else ()))
    numbers = ", ".join(f"{value:.{digits}g}" for value in values)
    return f"motor({effort:.{digits + 1}g}, {numbers})"


def _mirror(mirror: Mirror | None) -> str:
    if mirror is None:
        return "None"
    sides = ", ".join(f'("{left}", "{right}")' for left, right in mirror.sides)
    flipped = mirror.flipped_joints.split("|")
    parts = [f"sides=({sides},)", f"flipped_joints={_flips(mirror, flipped)}"]
    return _block(parts, "Mirror(", ")")


def _flips(mirror: Mirror, flipped: Sequence[str]) -> str:
    """Return a pattern that matches the joints whose sign changes."""
    prefixes = sorted({s for pair in mirror.sides for s in pair}, key=len, reverse=True)
    rests: list[str] = []
    for joint in flipped:
        side = next((p for p in prefixes if joint.startswith(p)), "")
        rest = joint.removeprefix(side)
        rests.append(f"(.*){rest}" if side and rest else joint)
    joined = _joined(dict.fromkeys(rests), 10 * _WIDTH)
    return '"' + "|".join(joined).replace("(.*)", ".*") + '"'


_ASSIST = """
    def assistance(self) -> EventTermCfg:
        return walk.assistance(ROBOT)
"""

_MODEL = """
class <NAME>ModelCfg(EquivariantModelCfg):
    mirror = ROBOT.mirror

"""

_TASK = '''\
"""<NAME>, <LEGS> legs, walks on flat ground. Written by `mjlab adopt`: edit freely."""

<IMPORTS>

ROBOT = legged_robot(
    name="<NAME>",
    file=__file__,
    base=<BODY>, torso=<TORSO>,
    mass=<MASS>, height=<HEIGHT>, leg_length=<LEG>,<GAP>
    feet=(
<FEET>
    ),
    knees=<KNEES>,
    stance=<STANCE>,
    motors={  # Torque limit, inertia, frequency, armature[, damping ratio]: SI units.
<MOTORS>
    },<HELD>
    mirror=<MIRROR>,
)

<MODEL>
class <NAME>Cfg(walk.<BASE>):
    scene = walk.scene(ROBOT)
    sim = walk.simulation(ROBOT)
    commands = walk.commands(ROBOT)
    observations = walk.observations(ROBOT)
    actions = walk.actions(ROBOT)
    rewards = walk.rewards(ROBOT)
    terminations = walk.terminations(ROBOT)
    events = walk.events(ROBOT)
    viewer = walk.grounds.viewer(ROBOT)
<ASSIST>

TASK = walk.task(ROBOT, <NAME>Cfg<AGENT>)
'''

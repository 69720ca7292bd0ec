"""`adopt`: write and train a walking task for a robot's model file."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from tyro.conf import Positional

from mjlab.cli.answers import UsageError, as_called
from mjlab.cli.line import Options, read_line
from mjlab.render import prepare_gl
from mjlab.settings.bounds import between
from mjlab.threads import prepare_threads


@dataclass(kw_only=True)
class AdoptOptions(Options):
    """Write and train a walking task for a robot's model file.

    Prints faults of the file, changes made in its copy, and the detected legs, feet,
    symmetry, stance and motors. Writes a folder with the task, the model and a page
    with pictures, and trains a policy. Options override detected values.
    """

    program = "adopt.py"
    examples = (
        "my_robot.xml",
        "my_robot.urdf --name Rex --no-train",
        "my_robot.xml --feet left_foot right_foot --stance knee=0.6 hip=-0.3",
    )

    file: Positional[Path | None] = None
    """MJCF or URDF file, which is not modified."""

    name: str = ""
    """Name of the robot: letters and digits. Default: taken from the file."""

    folder: Path | None = None
    """New folder. Default: walk_NAME in this folder."""

    feet: tuple[str, ...] = ()
    """Names of the foot bodies. Default: detected."""

    torso: str = ""
    """Body that should be upright. Default: the heaviest body outside the legs."""

    stance: tuple[str, ...] = ()
    """Joint positions of the stance, JOINT=RADIANS."""

    bent: Annotated[float | None, between(0.3, 1.0)] = None
    """Height of the hips in the stance, as a fraction of their height with straight
    legs."""

    effort: tuple[str, ...] = ()
    """Torque limits of joints, JOINT=NM. They override the limits in the file."""

    mirror: bool = True
    """Use the left-right symmetry, if the robot has one."""

    pictures: bool = True
    """Draw the pictures of the page."""

    train: bool = True
    """Train after writing the task. For options of train.py, type --no-train, then run
    train.py."""


def main(arguments: Sequence[str]) -> None:
    """Print the detected robot, write the task and its page, and train."""
    options = read_line(AdoptOptions, arguments).options
    if options.file is None:
        raise UsageError("FILE is missing: adopt.py FILE, such as adopt.py robot.xml.")
    if options.name and not (options.name.isalnum() and options.name[0].isalpha()):
        raise UsageError(
            f"--name {options.name!r} is not a valid name. Use letters and digits, "
            "such as Rex2."
        )
    prepare_threads()
    prepare_gl()
    from mjlab.adopt.package import module_of, write_task
    from mjlab.adopt.page import write_page
    from mjlab.adopt.robot import Overrides, adopt

    overrides = Overrides(
        feet=options.feet,
        torso=options.torso,
        stance=_values(options.stance, "--stance"),
        bent=options.bent,
        effort=_values(options.effort, "--effort"),
        mirror=options.mirror,
    )
    robot = adopt(options.file, options.name, overrides)
    print(robot.notes.text())
    folder = options.folder or Path(module_of(robot))
    task = write_task(robot, folder)
    page = write_page(robot, folder, pictures=options.pictures)
    print(f"Wrote {task} ({len(task.read_text('utf-8').splitlines())} lines)", end="")
    print(f", {folder / 'robot'} and {page}.", flush=True)
    if not options.train:
        print(as_called(f"Next: python scripts/train.py {task}:TASK"))
        return
    from mjlab.cli.train import main as train

    train([f"{task}:TASK"])
    words = f"python scripts/doctor.py latest --task {task}:TASK"
    print(as_called(f"If it does not walk: {words}"))


def _values(words: Sequence[str], flag: str) -> dict[str, float]:
    """Return numbers by joint, from words such as "knee=0.6"."""
    found: dict[str, float] = {}
    for word in words:
        joint, _, value = word.rpartition("=")
        try:
            found[joint] = float(value)
        except ValueError:
            joint = ""
        if not joint:
            raise UsageError(
                f"{flag}: {word!r} is not a joint and a number. Write {flag} "
                "JOINT=NUMBER, such as knee=0.6."
            )
    return found

"""What can be done with motion files, and by which options."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from mjlab.cli.help import WIDTH, two_columns
from mjlab.cli.line import Program

FAILED = 1
"""Exit code where a motion does not pass its checks."""


@dataclass(kw_only=True)
class ImportOptions:
    """Options of `motion.py import`."""

    robot: str = "G1"
    """The robot that moves."""

    out: Path | None = None
    """File to write. Default: the name of the input with .npz, in this folder."""

    rate: float = 30.0
    """Frames in a second of a CSV file; other files say it."""

    fps: float = 50.0
    """Frames in a second to write."""

    rows: tuple[int, int] | None = None
    """First and last row of a CSV file, counted from 1. Default: all."""

    quat: Literal["xyzw", "wxyz"] | None = None
    """Order of the quaternions of a CSV file. Default: xyzw; the robot has to
    stand."""

    joints: tuple[str, ...] | None = None
    """Order of the joints of a file that does not name them, or 'model' for that of the
    robot's model."""

    bodies: tuple[str, ...] | None = None
    """Order of the bodies of a file that does not name them, root first, or 'model'."""

    source: str | None = None
    """Origin of the motion, such as a data set; it is kept in the file."""

    licence: str | None = None
    """Licence under which it may be used; it is kept in the file."""

    authors: tuple[str, ...] | None = None
    """Authors; they are kept in the file."""


@dataclass(kw_only=True)
class MakeOptions:
    """Options of `motion.py make`."""

    out: Path = Path("motions")
    """Folder to write to."""


@dataclass(kw_only=True)
class RecordOptions:
    """Options of `motion.py record`."""

    out: Path | None = None
    """File to write. Default: the name of the task, in this folder."""

    command: tuple[float, float, float] | None = None
    """Velocity to hold, forward and left in m/s and turning in rad/s. Default: drawn
    as in training."""

    after: float = 2.0
    """Seconds before the recording begins, in which the robot finds its gait."""

    seconds: float = 10.0
    """Seconds of the recording."""

    seed: int = 0
    """Seed of all chance."""

    accept_changes: bool = False
    """Open a run whose task has changed since in more than values: the task counts as
    it is now."""

    logs: Path = Path("logs")
    """Folder of all runs."""


@dataclass(kw_only=True)
class CheckOptions:
    """Options of `motion.py check`."""

    robot: str | None = None
    """The robot. Default: the robot that the file names."""


@dataclass(kw_only=True)
class ShowOptions:
    """Options of `motion.py show`."""

    robot: str | None = None
    """The robot. Default: the robot that the file names."""

    film: Path | None = None
    """Video to write, such as out.mp4. It needs no display."""

    plots: Path | None = None
    """Charts of heights, contacts and speeds to write, such as out.svg."""

    width: int = 640
    """Width of the video, in pixels."""

    height: int = 480
    """Height of the video, in pixels."""

    port: int = 8080
    """Where the browser's page is, or the next port that is free."""

    steps: int | None = None
    """Steps to show in the browser. Default: until stopped."""


@dataclass(kw_only=True)
class MirrorOptions:
    """Options of `motion.py mirror`."""

    out: Path | None = None
    """File to write. Default: the name of the input with _mirrored."""

    robot: str | None = None
    """The robot. Default: the robot that the file names."""


@dataclass(kw_only=True)
class SimulateOptions:
    """Options of `motion.py simulate`."""

    out: Path | None = None
    """File to write. Default: the name of the input with _simulated."""

    robot: str | None = None
    """The robot. Default: the robot that the file names."""


@dataclass(kw_only=True)
class CutOptions:
    """Options of `motion.py cut`."""

    frames: tuple[int, int] | None = None
    """First frame, counted from 0, and one after the last."""

    out: Path | None = None
    """File to write. Default: the name of the input with _cut."""


@dataclass(kw_only=True)
class BlendOptions:
    """Options of `motion.py blend`."""

    then: Path | None = None
    """The motion that follows."""

    seconds: float = 0.5
    """Overlap, in which one fades into the other."""

    out: Path | None = None
    """File to write. Default: both names together."""


@dataclass(kw_only=True)
class ListOptions:
    """Options of `motion.py list`."""


def _program(
    verb: str, subject: str, options: Any, summary: str, *examples: str
) -> Program:
    return Program(
        name=f"motion.py {verb}",
        summary=summary,
        subject=subject,
        options=options,
        examples=examples,
    )


PROGRAMS = {
    "import": _program(
        "import",
        "FILE",
        ImportOptions,
        "Turn a CSV file of root and joints (Unitree's rows), the npz of BeyondMimic, "
        "mjlab or HoloSoma, or a BVH file of a person into a motion file with all "
        "bodies, at another rate. Pickles are refused: they can run code.",
        "dance.csv --rate 30 --out dance.npz",
        "old.npz --joints model --bodies model",
    ),
    "make": _program(
        "make",
        "[NAME]",
        MakeOptions,
        "Solve the clips of our own anew from their descriptions, one or all.",
        "wave",
        "--out motions",
    ),
    "record": _program(
        "record",
        "RUN",
        RecordOptions,
        "Write what a trained policy does as a motion: of a run, or of the policy that "
        "ships with a task.",
        "Velocity-G1-Gait --command 0.6 0 0",
        "latest --seconds 20 --out walk.npz",
    ),
    "check": _program(
        "check",
        "PLACE",
        CheckOptions,
        "Measure a motion, or all of a folder: limits, speeds, ground, slip, contact "
        "of the robot with itself, loop, velocities. Ends with code 1 if one fails.",
        "dance.npz",
        "tasks/tracking/clips/g1",
    ),
    "show": _program(
        "show",
        "FILE",
        ShowOptions,
        "Show a motion in a browser of this machine, with a slider along it; or write "
        "a film of it, charts of it, or both.",
        "dance.npz",
        "dance.npz --film dance.mp4",
        "dance.npz --plots dance.svg",
    ),
    "simulate": _program(
        "simulate",
        "FILE",
        SimulateOptions,
        "Simulate a motion with the robot's motors and a hand on its root, as weak as "
        "it can be, and write what the robot does, with what the hand carried.",
        "dance.npz",
    ),
    "mirror": _program(
        "mirror",
        "FILE",
        MirrorOptions,
        "Write the motion that a mirror shows, left and right swapped.",
        "kick.npz --out kick_left.npz",
    ),
    "cut": _program(
        "cut",
        "FILE",
        CutOptions,
        "Write a range of frames.",
        "dance.npz --frames 100 400",
    ),
    "blend": _program(
        "blend",
        "FILE",
        BlendOptions,
        "Write two motions one after the other, the second where the first one ends.",
        "wave.npz --then bow.npz --seconds 0.8 --out both.npz",
    ),
    "list": _program(
        "list",
        "[FOLDER]",
        ListOptions,
        "List the motions of a folder, or those that ship.",
        "",
        "motions",
    ),
}
"""What can be done, by its word."""


def overview() -> str:
    """Return the words and what they do."""
    lines = ["usage: motion.py WORD [FILE] [options]", "", "words:"]
    for word, program in PROGRAMS.items():
        lines += two_columns(f"{word} {program.subject}", program.summary)
    lines += ["", "motion.py WORD --help has the options of each."]
    assert all(len(line) <= WIDTH for line in lines), "The help fits its width."
    return "\n".join(lines)


def tell_progress(
    what: str, unit: str = "frame", every: int = 20
) -> Callable[[int, int], None]:
    """Return what tells a person how far something is; a file or pipe is not told."""

    def tell(done: int, number: int) -> None:
        if sys.stderr.isatty() and (done == number or done % every == 0):
            end = "\n" if done == number else ""
            sys.stderr.write(f"\r{what}: {unit} {done} of {number}{end}")
            sys.stderr.flush()

    return tell

"""Options of the subcommands of `motion`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tyro.conf import Positional

from mjlab.cli.line import Options
from mjlab.cli.tasks import RunOptions


@dataclass(kw_only=True)
class ImportOptions(Options):
    """Convert a motion from another format or rate, with poses of all bodies.

    Reads a CSV file of root and joint positions (Unitree's row layout), the npz of
    BeyondMimic, mjlab or HoloSoma, or a BVH file of a person. Pickles are refused: they
    can run code.
    """

    program = "motion.py import"
    examples = (
        "dance.csv --rate 30 --out dance.npz",
        "old.npz --joints model --bodies model",
    )

    file: Positional[Path | None] = None
    """File to import."""

    robot: str = "G1"
    """Name of the robot, such as G1."""

    out: Path | None = None
    """File to write. Default: the name of the input with .npz, in this folder."""

    rate: float = 30.0
    """Frame rate of a CSV file, in Hz; other files contain their own."""

    fps: float = 50.0
    """Frame rate to write, in Hz."""

    rows: tuple[int, int] | None = None
    """First and last row of a CSV file, counted from 1. Default: all."""

    quat: Literal["xyzw", "wxyz"] | None = None
    """Order of the quaternions of a CSV file. Default: xyzw, with an error if the robot
    is then upside down, but upright with wxyz."""

    joints: tuple[str, ...] | None = None
    """Order of the joints of a file without joint names, or 'model' for the order of
    the robot's model."""

    bodies: tuple[str, ...] | None = None
    """Order of the bodies of a file without body names, root first, or 'model'."""

    source: str | None = None
    """Origin of the motion, such as a data set; stored in the file."""

    licence: str | None = None
    """Licence of the motion; stored in the file."""

    authors: tuple[str, ...] | None = None
    """Authors; stored in the file."""


@dataclass(kw_only=True)
class MakeOptions(Options):
    """Generate shipped clips of the G1, or random motions to train a tracker on."""

    program = "motion.py make"
    examples = ("wave", "--out motions", "--random 20 --out random")

    clip: Positional[str | None] = None
    """Name of the clip. Default: all clips."""

    random: int = 0
    """Number of random motions to generate, instead of clips."""

    seed: int = 0
    """Seed of the first random motion."""

    out: Path = Path("motions")
    """Folder to write to."""


@dataclass(kw_only=True)
class RecordMotionOptions(RunOptions):
    """Record the rollout of a trained policy as a motion."""

    program = "motion.py record"
    examples = (
        "Velocity-G1-Flat --command 0.6 0 0",
        "latest --seconds 20 --out walk.npz",
    )

    run: Positional[str | None] = None
    """A run, or a task: its newest run, else the policy that ships with it."""

    out: Path | None = None
    """File to write. Default: the name of the task, in this folder."""

    command: tuple[float, float, float] | None = None
    """Velocity command: forward and left in m/s, yaw rate in rad/s. Default: drawn as
    in training."""

    after: float = 2.0
    """Seconds before the recording starts, in which the robot reaches a steady gait."""

    seconds: float = 10.0
    """Duration of the recording, in seconds."""

    seed: int = 0
    """Random seed."""


@dataclass(kw_only=True)
class CheckOptions(Options):
    """Check a motion, or all motions of a folder. The exit code is 1 if one fails.

    Checks joint limits and speeds, quaternions, velocities, ground penetration,
    self-contact, foot slip, and whether a looping motion ends as it starts.
    """

    program = "motion.py check"
    examples = ("dance.npz", "tasks/tracking/clips/g1")

    place: Positional[Path | None] = None
    """A motion file, or a folder of motion files."""

    robot: str | None = None
    """Name of the robot. Default: the robot named in the file."""


@dataclass(kw_only=True)
class ShowOptions(Options):
    """Show a motion in a browser, or write a video or charts of it."""

    program = "motion.py show"
    examples = (
        "dance.npz",
        "dance.npz --film dance.mp4",
        "dance.npz --plots dance.svg",
    )

    file: Positional[Path | None] = None
    """Motion file (npz)."""

    robot: str | None = None
    """Name of the robot. Default: the robot named in the file."""

    film: Path | None = None
    """Video file to write, such as out.mp4. Needs no display."""

    plots: Path | None = None
    """Charts of heights, contacts and speeds to write, such as out.svg."""

    width: int = 640
    """Width of the video, in pixels."""

    height: int = 480
    """Height of the video, in pixels."""

    port: int = 8080
    """Port of the browser's page; the next free one if it is taken."""

    steps: int | None = None
    """Steps to show in the browser. Default: until stopped."""


@dataclass(kw_only=True)
class MirrorOptions(Options):
    """Write a motion with left and right swapped."""

    program = "motion.py mirror"
    examples = ("kick.npz --out kick_left.npz",)

    file: Positional[Path | None] = None
    """Motion file (npz)."""

    out: Path | None = None
    """File to write. Default: the name of the input with _mirrored."""

    robot: str | None = None
    """Name of the robot. Default: the robot named in the file."""


@dataclass(kw_only=True)
class SimulateOptions(Options):
    """Simulate a motion with the robot's motors, and write the simulated motion.

    An assistive wrench on the root, as small as possible, supports the robot where the
    motors cannot follow; it is stored in the file.
    """

    program = "motion.py simulate"
    examples = ("dance.npz",)

    file: Positional[Path | None] = None
    """Motion file (npz)."""

    out: Path | None = None
    """File to write. Default: the name of the input with _simulated."""

    robot: str | None = None
    """Name of the robot. Default: the robot named in the file."""


@dataclass(kw_only=True)
class CutOptions(Options):
    """Write a range of a motion's frames as a new motion."""

    program = "motion.py cut"
    examples = ("dance.npz --frames 100 400",)

    file: Positional[Path | None] = None
    """Motion file (npz)."""

    frames: tuple[int, int] | None = None
    """First frame, counted from 0, and last frame plus one."""

    out: Path | None = None
    """File to write. Default: the name of the input with _cut."""


@dataclass(kw_only=True)
class BlendOptions(Options):
    """Write two motions in sequence, the second placed where the first ends."""

    program = "motion.py blend"
    examples = ("wave.npz --then bow.npz --seconds 0.8 --out both.npz",)

    file: Positional[Path | None] = None
    """First motion file (npz)."""

    then: Path | None = None
    """Second motion file (npz)."""

    seconds: float = 0.5
    """Duration of the cross-fade, in seconds."""

    out: Path | None = None
    """File to write. Default: the names of both motions, joined."""


@dataclass(kw_only=True)
class ListMotionsOptions(Options):
    """List the motions of a folder."""

    program = "motion.py list"
    examples = ("", "motions")

    folder: Positional[Path | None] = None
    """The folder. Default: the motions that ship."""


WORKS: dict[str, type[Options]] = {
    "import": ImportOptions,
    "make": MakeOptions,
    "record": RecordMotionOptions,
    "check": CheckOptions,
    "show": ShowOptions,
    "simulate": SimulateOptions,
    "mirror": MirrorOptions,
    "cut": CutOptions,
    "blend": BlendOptions,
    "list": ListMotionsOptions,
}
"""Options of each subcommand of `motion`; the class docstrings are the help texts."""

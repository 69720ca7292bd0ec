"""Ten held-out motion clips of the G1, of other kinds than the training clips.

    python bench/held_out_clips.py held_out/

Writes the clips to a folder and prints the distance of each to the nearest training
clip: for every frame the smallest root mean square difference of the joint angles to
any frame of the other clip, averaged over frames.
"""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np

from mjlab.motion.files import load_motion, save_motion
from mjlab.motion.motion import Motion
from mjlab.motion.robot import MotionRobot
from mjlab.motion.tools.clips.g1 import make_clip
from mjlab.motion.tools.clips.stepping import LEFT, RIGHT, pivot
from mjlab.motion.tools.sketch import Sketch
from mjlab.tasks.robots.g1 import G1
from mjlab.tasks.tracking.clips import G1_CLIPS, G1_RANDOM_CLIPS


def main() -> None:
    """Compute the clips, write them and print their distances."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    files = (*sorted(G1_CLIPS.glob("*.npz")), *sorted(G1_RANDOM_CLIPS.glob("*.npz")))
    training = [load_motion(path) for path in files]
    for path in write_clips(folder):
        nearest, distance = nearest_clip(load_motion(path), training)
        print(f"{path.stem:16s} {distance:.3f} rad from {nearest}", flush=True)


def write_clips(folder: Path) -> list[Path]:
    """Write the clips that are missing in a folder; return the paths of all ten."""
    folder.mkdir(parents=True, exist_ok=True)
    robot = MotionRobot(G1.entity_cfg())
    paths = []
    for name, describe in HELD_OUT.items():
        path = folder / f"{name}.npz"
        if not path.exists():
            save_motion(make_clip(name, robot, describe=describe), path)
        paths.append(path)
    return paths


def nearest_clip(motion: Motion, others: list[Motion]) -> tuple[str, float]:
    """Return the name of the nearest clip and its distance, rad."""
    found = {other.name: distance(motion, other) for other in others}
    name = min(found, key=lambda key: found[key])
    return name, found[name]


def distance(motion: Motion, other: Motion) -> float:
    """Return the mean distance of a clip's frames to their nearest in another, rad."""
    ours, theirs = motion.joint_pos, other.joint_pos
    squares = (ours**2).sum(1)[:, None] + (theirs**2).sum(1) - 2.0 * ours @ theirs.T
    nearest = np.maximum(squares.min(axis=1), 0.0) / ours.shape[1]
    return float(np.sqrt(nearest).mean())


def reach_up(m: Sketch) -> None:
    """Stretch both arms upwards twice and lean back."""
    m.hold(1.0)
    for _ in range(2):
        m.move(1.2, shoulder_pitch=-2.2, shoulder_roll=0.6, elbow=1.2)
        m.move(0.8, waist_pitch=-0.12)
        m.hold(0.4)
        m.move(0.8, waist_pitch=0.0)
        m.home(1.2)
    m.hold(1.0)


def arm_circles(m: Sketch) -> None:
    """Circle both arms four times, forward and outward."""
    m.hold(1.0)
    for _ in range(4):
        m.move(0.5, shoulder_pitch=-1.4, shoulder_roll=0.45, elbow=1.2)
        m.move(0.5, shoulder_pitch=-2.2, shoulder_roll=0.8)
        m.move(0.5, shoulder_pitch=-1.0, shoulder_roll=1.3)
        m.move(0.5, shoulder_pitch=0.3, shoulder_roll=0.4)
    m.home(1.0)
    m.hold(1.0)


def walk_backward(m: Sketch) -> None:
    """Walk backward with eight short steps."""
    m.hold(0.6)
    m.move(0.6, height=-0.03)
    m.step(RIGHT, 0.5, forward=-0.11, shift=0.4)
    m.move(0.4, shoulder_roll=0.35)
    for count in range(6):
        m.step((LEFT, RIGHT)[count % 2], 0.5, forward=-0.22, shift=0.2)
    m.step(LEFT, 0.5, forward=-0.11, shift=0.2)
    m.stand_on(None, 0.6)
    m.home(0.8)
    m.hold(1.0)


def march(m: Sketch) -> None:
    """March in place with raised knees and swinging arms."""
    m.hold(1.0)
    m.move(0.6, height=-0.02)
    for count in range(8):
        foot, other = (LEFT, RIGHT) if count % 2 == 0 else (RIGHT, LEFT)
        m.stand_on(other, 0.5)
        start = m.now
        m.lift(foot, 0.35, up=0.14, pitch=0.2)
        m.lift(foot, 0.35)
        ahead, behind = ("right", "left") if foot == LEFT else ("left", "right")
        m.at(start)
        m.move(
            0.7,
            **{f"{ahead}_shoulder_pitch": -0.7, f"{behind}_shoulder_pitch": 0.5},
            elbow=0.3,
        )
    m.stand_on(None, 0.6)
    m.home(0.8)
    m.hold(1.0)


def sway(m: Sketch) -> None:
    """Shift the weight from side to side, with the arms up to the other side."""
    m.hold(1.0)
    for foot, roll in ((LEFT, 0.2), (RIGHT, -0.2)) * 3:
        m.stand_on(foot, 0.9)
        m.at(m.now - 0.9)
        m.move(
            0.9,
            waist_roll=roll,
            left_shoulder_roll=1.5 if roll < 0.0 else 0.3,
            right_shoulder_roll=-1.5 if roll > 0.0 else -0.3,
            elbow=1.0,
        )
        m.hold(0.2)
    m.stand_on(None, 0.8)
    m.home(1.0)
    m.hold(1.0)


def lunge(m: Sketch) -> None:
    """Step far forward, lower the body, and step back, with each leg."""
    m.hold(1.0)
    m.move(0.8, height=-0.06)
    for foot in (LEFT, RIGHT):
        m.step(foot, 0.7, forward=0.26, shift=0.5)
        m.stand_on(None, 0.5)
        m.move(0.9, height=-0.14, shoulder_pitch=-0.9, elbow=0.9)
        m.hold(0.5)
        m.move(0.9, height=-0.06, shoulder_pitch=0.1)
        m.step(foot, 0.7, forward=-0.26, shift=0.5)
        m.stand_on(None, 0.6)
    m.home(1.0)
    m.hold(1.0)


def turn_right(m: Sketch) -> None:
    """Turn right by half a turn, in six steps of each foot, with raised forearms."""
    m.hold(1.0)
    m.move(0.9, shoulder_pitch=-0.5, shoulder_roll=0.1, elbow=-0.7)
    for count in range(6):
        pivot(m, RIGHT, -0.5236, shift=0.25 if count else 0.4)
        pivot(m, LEFT, -0.5236, shift=0.25)
    m.stand_on(None, 0.6)
    m.home(0.9)
    m.hold(1.0)


def throw(m: Sketch) -> None:
    """Swing the right arm back and throw, twice."""
    m.hold(1.0)
    for _ in range(2):
        m.move(
            0.9,
            waist_yaw=-0.7,
            right_shoulder_pitch=0.6,
            right_shoulder_roll=-1.0,
            right_elbow=-0.4,
            left_shoulder_pitch=-0.9,
        )
        m.hold(0.2)
        m.move(
            0.4,
            waist_yaw=0.6,
            waist_pitch=0.25,
            right_shoulder_pitch=-1.9,
            right_shoulder_roll=-0.2,
            right_elbow=1.1,
            left_shoulder_pitch=0.5,
        )
        m.hold(0.4)
        m.home(1.0)
    m.hold(1.0)


def pick_up(m: Sketch) -> None:
    """Bend down to the right, reach for the ground, and lift with both hands."""
    m.hold(1.0)
    m.move(
        1.5,
        height=-0.2,
        pitch=0.35,
        waist_pitch=0.35,
        waist_yaw=-0.5,
        shoulder_pitch=-0.7,
        shoulder_roll=0.1,
        elbow=1.1,
    )
    m.hold(0.5)
    m.move(1.6, height=-0.02, pitch=0.0, waist_pitch=0.0, elbow=-0.3)
    m.move(1.0, waist_yaw=0.5)
    m.hold(0.4)
    m.home(1.2)
    m.hold(1.0)


def diagonal_steps(m: Sketch) -> None:
    """Step diagonally forward and backward, to the left and then to the right."""
    m.hold(1.0)
    m.move(0.8, height=-0.05)
    for first, second, left in ((LEFT, RIGHT, 0.08), (RIGHT, LEFT, -0.08)):
        for one, two, sign in ((first, second, 1.0), (second, first, -1.0)):
            m.step(one, 0.6, forward=0.1 * sign, left=left * sign, shift=0.4)
            m.step(two, 0.6, forward=0.1 * sign, left=left * sign, shift=0.4)
            m.stand_on(None, 0.5)
            m.hold(0.2)
    m.home(0.8)
    m.hold(1.0)


HELD_OUT: dict[str, Callable[[Sketch], None]] = {
    describe.__name__: describe
    for describe in (
        reach_up,
        arm_circles,
        walk_backward,
        march,
        sway,
        lunge,
        turn_right,
        throw,
        pick_up,
        diagonal_steps,
    )
}
"""Functions that describe the clips by keyframes, by clip name."""


if __name__ == "__main__":
    main()

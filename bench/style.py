"""Style distance of walking policies to a clip that no training reads.

    python bench/style.py Velocity-G1-Style logs/Velocity-G1-Style/latest
    python bench/style.py Velocity-G1-Flat --seeds 1 2 3 4

Each policy walks at 0.75 m/s without noise and pushes (`motion.py record`) for 8 s; the
last 4 s are measured. Its legs and waist are compared with the same joints of the clip;
`mjlab.gait.style` defines the distance, in rad. A seed whose episode ends early has no
distance.
"""

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from mjlab.threads import prepare_threads

prepare_threads()

import numpy as np

from bench.record import save
from mjlab.cli.answers import UsageError
from mjlab.cli.motion_options import RecordMotionOptions
from mjlab.cli.motion_record import recorded
from mjlab.gait.style import style_distance
from mjlab.motion import Motion, load_motion
from mjlab.tasks.robots.g1 import G1
from mjlab.tasks.velocity.clips import G1_HELD_OUT
from mjlab.tasks.velocity.g1 import ACTED

COMMAND = (0.75, 0.0, 0.0)
"""Velocity of the held-out clip: forward and left, m/s, and yaw rate, rad/s."""


def main() -> None:
    """Record the policies, print their distances and save them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("policies", nargs="+", help="tasks, runs or checkpoints")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--name", default="style", help="name of the results file")
    args = parser.parse_args()
    clip, found = load_motion(G1_HELD_OUT), {}
    for place in args.policies:
        found[place] = distances(place, clip, args.seeds)
        print(f"{place}: {as_text(found[place])}", flush=True)
    print(f"saved {save(args.name, {'command': COMMAND, 'policies': found})}")


def distances(place: str, clip: Motion, seeds: Sequence[int]) -> list[dict[str, Any]]:
    """Return distance and speed of a policy for each seed."""
    return [{"seed": seed, **measured(place, clip, seed)} for seed in seeds]


def measured(place: str, clip: Motion, seed: int) -> dict[str, Any]:
    """Return distance, rad, and speed, m/s, of a rollout, or why there is none."""
    options = RecordMotionOptions(command=COMMAND, after=4.0, seconds=4.0, seed=seed)
    try:
        motion = recorded(place, options, {"G1": G1})
    except UsageError as error:
        return {"failure": str(error)}
    way = motion.root_pos[-1, :2] - motion.root_pos[0, :2]
    return {
        "distance": style_distance(joints(motion), joints(clip), clip.fps),
        "speed": float(np.linalg.norm(way)) / motion.duration,
    }


def joints(motion: Motion) -> np.ndarray:
    """Return the positions of legs and waist, rad, shape (frames, joints)."""
    acted = re.compile("|".join(ACTED))
    names = [name for name in sorted(motion.joint_names) if acted.fullmatch(name)]
    return motion.joint_pos[:, motion.joint_columns(names)]


def as_text(rows: Sequence[dict[str, Any]]) -> str:
    """Return the distances of a policy as text."""
    return ", ".join(
        row.get("failure") or f"{row['distance']:.3f} rad at {row['speed']:.2f} m/s"
        for row in rows
    )


if __name__ == "__main__":
    main()

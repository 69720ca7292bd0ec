"""Make the picture strips of the motion clips: `python docs/render_motions.py [NAME]`.

The project has to be installed (`pip install -e .`). Without a display, set
MUJOCO_GL=egl or MUJOCO_GL=osmesa.
"""

import sys
from pathlib import Path

import numpy as np
from PIL import Image

from mjlab.cli.motion_pictures import pictures
from mjlab.envs import ViewerCfg
from mjlab.motion import Motion, MotionRobot, find_motions, load_motion
from mjlab.tasks.robots.g1 import G1
from mjlab.tasks.tracking.clips import G1_CLIPS

IMAGES = Path(__file__).parent / "images" / "motions"
COLUMNS, ROWS = 6, 2
SIZE = (150, 180)


def telling_frames(motion: Motion, number: int) -> list[int]:
    """Return indices of the most different frames in order, with first and last.

    Each frame is the one with the largest body distance to all frames selected before.
    """
    poses = motion.body_pos_w.reshape(motion.num_frames, -1)
    taken = [0, motion.num_frames - 1]
    away = np.minimum(*(np.linalg.norm(poses - poses[i], axis=1) for i in taken))
    while len(taken) < number:
        taken.append(int(away.argmax()))
        away = np.minimum(away, np.linalg.norm(poses - poses[taken[-1]], axis=1))
    return sorted(taken)


def main() -> None:
    """Write every strip to docs/images/motions."""
    IMAGES.mkdir(parents=True, exist_ok=True)
    robot = MotionRobot(G1.entity_cfg(), G1.name)
    # Rendered at twice the size, for smooth edges after downsampling.
    width, height = (2 * side for side in SIZE)
    view = ViewerCfg(
        entity="robot",
        body=G1.base_body,
        distance=2.1,
        azimuth=145.0,
        elevation=-8.0,
        width=width,
        height=height,
    )
    for path in find_motions([G1_CLIPS]):
        if len(sys.argv) > 1 and path.stem not in sys.argv[1:]:
            continue
        motion = robot.completed(load_motion(path))
        numbers = telling_frames(motion, COLUMNS * ROWS)
        fps = motion.fps
        shots = pictures(
            motion, G1, view, numbers, lambda frame, fps=fps: [f"{frame / fps:.1f} s"]
        )
        strip = Image.new("RGB", (COLUMNS * SIZE[0], ROWS * SIZE[1]))
        for place, shot in enumerate(shots):
            row, column = divmod(place, COLUMNS)
            small = Image.fromarray(shot).resize(SIZE, Image.Resampling.LANCZOS)
            strip.paste(small, (column * SIZE[0], row * SIZE[1]))
        out = IMAGES / f"{path.stem}.jpg"
        strip.save(out, quality=80, optimize=True)
        print(f"{out.name} {out.stat().st_size // 1024} kB", flush=True)


if __name__ == "__main__":
    main()

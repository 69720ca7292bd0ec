"""Clips of the Unitree G1: keyframe descriptions, solved by inverse kinematics."""

from collections.abc import Callable

import numpy as np

from mjlab.entity.build import build_entity
from mjlab.motion.motion import Motion, MotionInfo
from mjlab.motion.robot import MotionRobot
from mjlab.motion.tools.clips import forms, standing, stepping
from mjlab.motion.tools.sketch import Sketch, SketchRobot
from mjlab.tasks.robots.g1 import FOOT_BODIES, FOOT_SITES, G1, MIRROR

FPS = 50.0
"""Frame rate of the clips, in Hz."""

SKETCHES: dict[str, Callable[[Sketch], None]] = {
    "wave": standing.wave,
    "bow": standing.bow,
    "squat": standing.squat,
    "box": standing.box,
    "look_around": standing.look_around,
    "single_leg_stand": standing.single_leg_stand,
    "side_steps": stepping.side_steps,
    "kick": stepping.kick,
    "full_turn": stepping.full_turn,
    "walk": stepping.walk,
    "karate": forms.karate,
    "dance": forms.dance,
}
"""Functions that describe the G1's clips by keyframes, by clip name."""

_SOLE_SITE = -0.002
"""Height of a foot site above the ground in stance, in metres: the site is below the
capsules."""

GRID = 2.0**15
"""Quantisation steps per metre or radian, for better file compression; the error is
below 2e-5."""


def sketch_robot() -> SketchRobot:
    """Return the G1 with bent knees, for clip descriptions."""
    model = build_entity(G1.entity_cfg(), G1.name).compile()
    joints = [model.joint(i).name for i in range(1, model.njnt)]
    left, right = FOOT_SITES
    signs = dict(zip(joints, MIRROR.joint_signs(joints), strict=True))
    return SketchRobot(
        model=model,
        base=G1.base_body,
        feet=(left, right),
        sole=_SOLE_SITE,
        mirror_signs=signs,
    )


def make_clip(
    name: str,
    robot: MotionRobot,
    progress: Callable[[int, int], None] | None = None,
    *,
    describe: Callable[[Sketch], None] | None = None,
    grid: float = GRID,
) -> Motion:
    """Compute the motion of a clip from its keyframes.

    Args:
        name: One of `SKETCHES`, or another name with `describe`.
        robot: The G1.
        progress: Called with the number of finished frames and their total.
        describe: Function that adds the keyframes; by default `SKETCHES[name]`.
        grid: Quantisation steps per metre or radian.
    """
    describe = describe or SKETCHES[name]
    sketch = Sketch(sketch_robot())
    describe(sketch)
    qpos, stands = sketch.solve(FPS, progress)
    kept = np.round(qpos * grid) / grid
    info = MotionInfo(
        robot=G1.name,
        model_hash=robot.hash,
        source="synthetic: key poses and layered least squares, no recording of anyone",
        licence="Apache-2.0",
        authors=("the authors of mjlab-fused",),
        log=(f"described by {describe.__module__}: {name}",),
        loops=True,
    )
    return Motion.from_root(
        name,
        FPS,
        kept[:, :3],
        qpos[:, 3:7],
        kept[:, 7:],
        root_body=robot.root_body,
        joint_names=robot.joint_names,
        contact_names=FOOT_BODIES,
        contacts=stands,
        info=info,
    )

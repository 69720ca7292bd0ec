"""Clip of the Go1, which bows and sways with fixed feet."""

import mujoco
import numpy as np

from mjlab.entity.build import build_entity
from mjlab.motion.motion import Motion, MotionInfo
from mjlab.motion.robot import MotionRobot
from mjlab.motion.tools.inverse_kinematics import (
    Goal,
    InverseKinematics,
    body_height,
    body_rotation,
    site_pose,
)
from mjlab.tasks.robots.go1 import FOOT_BODIES, FOOT_SITES, GO1

FPS = 50.0
"""Frames per second."""

_KEYS: tuple[tuple[float, float, float, float, float], ...] = (
    (0.0, 0.0, 0.0, 0.0, 0.0),
    (0.6, 0.0, 0.0, 0.0, 0.0),
    (1.8, -0.05, 0.0, 0.22, 0.0),
    (2.6, -0.05, 0.0, 0.22, 0.0),
    (3.6, 0.0, 0.0, -0.15, 0.0),
    (4.4, -0.02, 0.2, 0.0, 0.0),
    (5.4, -0.02, -0.2, 0.0, 0.0),
    (6.2, -0.02, 0.0, 0.0, 0.2),
    (7.0, -0.02, 0.0, 0.0, -0.2),
    (7.8, 0.0, 0.0, 0.0, 0.0),
    (8.4, 0.0, 0.0, 0.0, 0.0),
)
"""Keys of the trunk: time (s), change of height (m), roll, pitch and yaw (rad). The
trunk is at rest at every key."""


def sway(robot: MotionRobot) -> Motion:
    """Compute the motion of the clip from its keyframes."""
    model = build_entity(GO1.entity_cfg(), GO1.name).compile()
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    mujoco.mj_forward(model, data)
    sites = [model.site(name).id for name in FOOT_SITES]
    trunk = model.body(GO1.base_body).id
    radius = float(model.geom(f"{FOOT_SITES[0]}_foot_collision").size[0])
    places = data.site_xpos[sites].copy()
    height = float(data.xpos[trunk, 2]) - places[:, 2].mean() + radius
    places[:, 2] = radius
    solver, pose = InverseKinematics(model), data.qpos.copy()
    times = np.arange(round(_KEYS[-1][0] * FPS) + 1) / FPS
    frames = []
    for change, roll, pitch, yaw in _trunk(times):
        quat = np.zeros(4)
        mujoco.mju_euler2Quat(quat, np.array((roll, pitch, yaw)), "XYZ")
        feet: list[Goal] = [
            site_pose(site, place, None)
            for site, place in zip(sites, places, strict=True)
        ]
        body = [body_height(trunk, height + change), body_rotation(trunk, quat)]
        pose = solver.solve(pose, [feet, body])
        frames.append(pose)
    qpos = np.array(frames)
    return Motion.from_root(
        "sway",
        FPS,
        qpos[:, :3],
        qpos[:, 3:7],
        qpos[:, 7:],
        root_body=robot.root_body,
        joint_names=robot.joint_names,
        contact_names=FOOT_BODIES,
        contacts=np.ones((len(qpos), len(FOOT_BODIES)), bool),
        info=MotionInfo(
            robot=GO1.name,
            model_hash=robot.hash,
            source="synthetic: key poses and layered least squares, no recording",
            licence="Apache-2.0",
            authors=("the authors of mjlab-fused",),
            log=("described by mjlab.motion.tools.clips.go1",),
            loops=True,
        ),
    )


def _trunk(times: np.ndarray) -> np.ndarray:
    """Return height, roll, pitch and yaw at given times, shape (frames, 4)."""
    keys = np.array(_KEYS)
    later = np.clip(np.searchsorted(keys[:, 0], times, side="right"), 1, len(keys) - 1)
    start, end = keys[later - 1], keys[later]
    share = (times - start[:, 0]) / (end[:, 0] - start[:, 0])
    # Quintic interpolation with zero velocity and acceleration at both ends.
    smooth = share**3 * (10.0 + share * (6.0 * share - 15.0))
    return start[:, 1:] + smooth[:, None] * (end - start)[:, 1:]

"""Velocity task of the Unitree Go1 on stairs, blocks and gaps, with a depth camera.

The student imitates the policy of `go1_stairs.py`, which has a height scan. The camera
shows the ground in front of the robot. Past images show the ground that is now below
the robot, so the student observes a history of images.
"""

import math
from dataclasses import replace
from typing import Self

from mjlab.managers import ObservationGroupCfg, ObservationTermCfg
from mjlab.render import RayRendererCfg, depth_frame
from mjlab.rl import (
    CheckpointCfg,
    CnnCfg,
    DaggerCfg,
    DistillationAgentCfg,
    EstimatingModelCfg,
    EvaluationCfg,
    GaussianCfg,
)
from mjlab.scene import SceneCfg
from mjlab.sensor import CameraSensorCfg, ObjRef
from mjlab.tasks.robots.go1 import GO1
from mjlab.tasks.velocity.go1_stairs import (
    VelocityGo1StairsCfg,
    go1_stairs_rl,
    stairs_observations,
    stairs_scene,
)
from mjlab.tensors.buffers import DelayCfg

EYE = "eye"
"""Name of the camera sensor."""

FARTHEST = 1.5
"""Depth of white pixels, m."""

PERIOD = 5
"""Control steps per image, which gives 10 images per second."""

IMAGES = 12
"""Number of images that the policy observes. At 0.6 m/s, the robot walks 0.66 m from
the first to the last, as far as from the nearest visible point to its hind feet."""

MOMENTS, MOMENT_STRIDE = 20, 3
"""History length of velocity and gravity, and control steps between its values. It
covers the image history, because the camera moves between two images."""


def eye() -> CameraSensorCfg:
    """Return a depth camera at the head, 40 degrees below the horizontal.

    It has 32 by 24 pixels and a vertical field of view of 58 degrees. On level ground
    it sees from 0.1 to 1.6 m in front of the head. It does not see the robot.
    """
    half = math.radians(40.0) / 2
    level, down = math.cos(half), math.sin(half)
    more, less = 0.5 * (level + down), 0.5 * (level - down)
    return CameraSensorCfg(
        name=EYE,
        parent=ObjRef(type="body", name=GO1.base_body, entity="robot"),
        pos=(0.28, 0.0, 0.03),
        quat=(more, less, -less, -more),
        fovy=58.0,
        width=32,
        height=24,
        data_types=("depth",),
        update_every=PERIOD,
        max_distance=FARTHEST,
        geom_groups=(0,),
        renderer=RayRendererCfg(),
    )


def sight_scene() -> SceneCfg:
    """Return the scene of `Velocity-Go1-Stairs`, with a camera."""
    scene = stairs_scene()
    scene.sensors = (*scene.sensors, eye())
    return scene


def sight_observations() -> dict[str, ObservationGroupCfg | None]:
    """Return the observations of the student and of the teacher.

    The teacher observes the groups "actor", "scan" and "clock", concatenated as in its
    training. The student's observations have the same noise samples. With a noise-free
    teacher, the imitation loss consists mostly of noise, and the student ignores the
    images.

    The images have a delay of 20 to 80 ms, noise of 2% of the depth, and holes in 5%
    of the image.
    """
    groups = stairs_observations()
    terms = {name: term for name, term in groups["actor"].terms.items() if term}
    images = ObservationTermCfg(
        func=depth_frame,
        params={"sensor_name": EYE, "cutoff": FARTHEST, "noise": 0.02, "holes": 0.05},
        delay=DelayCfg(min_lag=1, max_lag=4, hold_prob=1.0),
        history_length=IMAGES,
        history_stride=PERIOD,
        flatten_history_dim=False,
    )
    names = list(terms)
    scan = names.index("height_scan")
    moved = {
        name: replace(terms[name], history_length=MOMENTS, history_stride=MOMENT_STRIDE)
        for name in ("base_lin_vel", "base_ang_vel", "projected_gravity")
    }

    def group(chosen: list[str]) -> ObservationGroupCfg:
        return ObservationGroupCfg(
            terms={name: terms[name] for name in chosen}, enable_corruption=True
        )

    return {
        "actor": group(names[:scan]),
        "scan": group(names[scan : scan + 1]),
        "clock": group(names[scan + 1 :]),
        "motion": ObservationGroupCfg(terms=moved, enable_corruption=True),
        "camera": ObservationGroupCfg(terms={"depth": images}),
    }


class VelocityGo1SightCfg(VelocityGo1StairsCfg):
    """Unitree Go1 walks across stairs, blocks and gaps, with a depth camera."""

    scene = sight_scene()
    observations = sight_observations()

    def play(self) -> Self:
        """Return the configuration for play, also without noise and holes of images."""
        watched = super().play()
        camera = watched.observations.get("camera")
        images = None if camera is None else camera.terms["depth"]
        if images is not None:
            images.params |= {"noise": 0.0, "holes": 0.0}
        return watched


def go1_sight_rl() -> DistillationAgentCfg:
    """Return settings for imitating the policy of `Velocity-Go1-Stairs`."""
    teacher = go1_stairs_rl().actor
    return DistillationAgentCfg(
        num_steps_per_env=25,
        max_iterations=300,
        obs_groups={
            "student": ("actor", "clock", "motion", "camera"),
            "teacher": ("actor", "scan", "clock"),
        },
        student=EstimatingModelCfg(
            estimated="scan",
            policy=replace(teacher, distribution_cfg=GaussianCfg(init_std=0.1)),
            hidden_dims=(256, 192),
            obs_normalization=True,
            cnn_cfg=CnnCfg(
                output_channels=(32, 32, 8),
                kernel_size=(5, 3, 3),
                stride=(2, 2, 1),
                padding="zeros",
            ),
        ),
        teacher=teacher,
        teacher_checkpoint="Velocity-Go1-Stairs",
        algorithm=DaggerCfg(
            max_grad_norm=1.0,
            batch_size=256,
            num_updates_per_iteration=100,
            teacher_share=0.25,
            capacity=200_000,
            learning_rate=2e-3,
            half_life=400_000,
        ),
        checkpoint=CheckpointCfg(every=100),  # 2 GB, with the images of the buffer.
        evaluation=EvaluationCfg(every=50, num_envs=32),
    )

"""Unitree Go1, 12 joints: motors, pose, contact sets and entity."""

from __future__ import annotations

from functools import partial

from mjlab.entity import ArticulationCfg, EntityCfg, InitialStateCfg
from mjlab.spec import CollisionCfg
from mjlab.tasks.robots.robot import (
    ROBOTS_DIR,
    Mirror,
    Motor,
    Robot,
    action_scales,
    position_actuators,
    reflected_inertia,
)
from mjlab.tasks.robots.skin import load_with_skin

GO1_XML = ROBOTS_DIR / "go1.xml"

# One rotor type for all joints. Its gearbox has the ratio 6; the calf is driven through
# a linkage with a further ratio of 1.5.
_ROTOR_INERTIA = 0.000111842
_GEAR = 6.0
_CALF_GEAR = _GEAR * 1.5

MOTOR_HIP_THIGH = Motor(
    armature=reflected_inertia((_ROTOR_INERTIA, 0.0), (1.0, _GEAR)),
    effort_limit=23.7,
    velocity_limit=30.1,
)
MOTOR_CALF = Motor(
    armature=reflected_inertia((_ROTOR_INERTIA, 0.0), (1.0, _CALF_GEAR)),
    effort_limit=35.55,
    velocity_limit=20.06,
)

MOTORS: dict[tuple[str, ...], Motor] = {
    (".*_hip_joint", ".*_thigh_joint"): MOTOR_HIP_THIGH,
    (".*_calf_joint",): MOTOR_CALF,
}
"""Motor of each joint; every joint matches exactly one pattern."""

ACTION_SCALE = action_scales(MOTORS)
"""Change of the position target per unit of action, in rad, by joint pattern."""

SOFT_JOINT_POS_LIMIT_FACTOR = 0.9

FOOT_BODIES = ("FR_calf", "FL_calf", "RR_calf", "RL_calf")
FOOT_SITES = ("FR", "FL", "RR", "RL")
FOOT_GEOMS = (
    "FR_foot_collision",
    "FL_foot_collision",
    "RR_foot_collision",
    "RL_foot_collision",
)

# Patterns of one dictionary are disjoint, so their order does not matter.
_FEET = "(FR|FL|RR|RL)_foot_collision"
_NOT_FEET = r"(?!.*_foot_).*_collision\d*"

TRACKING_BODIES = (
    "trunk",
    *(
        f"{leg}_{link}"
        for leg in ("FR", "FL", "RR", "RL")
        for link in ("thigh", "calf")
    ),
)
"""Bodies that a motion-tracking task compares; the trunk is its anchor."""

MIRROR = Mirror(sides=(("FL", "FR"), ("RL", "RR")), flipped_joints=".*_hip_joint")

POSTURE_STD_STANDING = {
    ".*_hip_joint": 0.05,
    ".*_thigh_joint": 0.05,
    ".*_calf_joint": 0.1,
}
POSTURE_STD_MOVING = {
    ".*_hip_joint": 0.3,
    ".*_thigh_joint": 0.3,
    ".*_calf_joint": 0.6,
}


def home() -> InitialStateCfg:
    """Return the crouched stance, with feet slightly outside the hips."""
    return InitialStateCfg(
        pos=(0.0, 0.0, 0.278),
        joint_pos={
            ".*_thigh_joint": 0.9,
            ".*_calf_joint": -1.8,
            ".*R_hip_joint": 0.1,
            ".*L_hip_joint": -0.1,
        },
    )


def full_collision(*, self_collision: bool = True) -> CollisionCfg:
    """Return contacts of every link with the ground, and between links.

    The round feet define the friction of their contacts, with torsional and rolling
    friction, without which a foot would spin freely about its contact point.
    """
    return CollisionCfg(
        geom_names=(r".*_collision\d*",),
        contype=1 if self_collision else 0,
        conaffinity=1,
        condim={_FEET: 6, _NOT_FEET: 1},
        priority={_FEET: 1, _NOT_FEET: 0},
        friction={_FEET: (1.0, 5e-3, 5e-4)},
        solref=(0.01, 1.0),
    )


def go1_cfg(*, skin: bool = False) -> EntityCfg:
    """Return a new Go1: crouched, position actuators, contacts of every link.

    Args:
        skin: Use the official meshes instead of primitive shapes. They do not affect
            physics, and must be downloaded first; see `mjlab.tasks.robots.skin`.
    """
    return EntityCfg(
        source=partial(load_with_skin, GO1_XML, "go1") if skin else GO1_XML,
        init_state=home(),
        articulation=ArticulationCfg(
            actuators=position_actuators(MOTORS),
            soft_joint_pos_limit_factor=SOFT_JOINT_POS_LIMIT_FACTOR,
        ),
        collisions=(full_collision(),),
    )


GO1 = Robot(
    name="Go1",
    entity_cfg=go1_cfg,
    base_body="trunk",
    torso_body="trunk",
    foot_bodies=FOOT_BODIES,
    foot_sites=FOOT_SITES,
    foot_geoms=FOOT_GEOMS,
    action_scale=ACTION_SCALE,
    motors=MOTORS,
    posture_std_standing=POSTURE_STD_STANDING,
    posture_std_walking=POSTURE_STD_MOVING,
    posture_std_running=POSTURE_STD_MOVING,
    mirror=MIRROR,
    tracking_bodies=TRACKING_BODIES,
)

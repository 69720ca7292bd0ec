"""Unitree G1, 29 joints: motors, poses, contact sets and entity."""

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

G1_XML = ROBOTS_DIR / "g1.xml"

# Motors, by Unitree's names. Each is a rotor with a two-stage planetary gearbox:
# (rotor, first carrier, second carrier) inertias and (1, ratio, ratio). A planetary
# stage with a fixed ring gear has the ratio 1 + ring teeth / sun teeth.
MOTOR_5020 = Motor(
    armature=reflected_inertia(
        (0.139e-4, 0.017e-4, 0.169e-4), (1.0, 1.0 + 46.0 / 18.0, 1.0 + 56.0 / 16.0)
    ),
    effort_limit=25.0,
    velocity_limit=37.0,
)
MOTOR_7520_14 = Motor(
    armature=reflected_inertia(
        (0.489e-4, 0.098e-4, 0.533e-4), (1.0, 4.5, 1.0 + 48.0 / 22.0)
    ),
    effort_limit=88.0,
    velocity_limit=32.0,
)
MOTOR_7520_22 = Motor(
    armature=reflected_inertia((0.489e-4, 0.109e-4, 0.738e-4), (1.0, 4.5, 5.0)),
    effort_limit=139.0,
    velocity_limit=20.0,
)
MOTOR_4010 = Motor(
    armature=reflected_inertia((0.068e-4, 0.0, 0.0), (1.0, 5.0, 5.0)),
    effort_limit=5.0,
    velocity_limit=22.0,
)
# Waist and ankles are parallel linkages: two motors drive pitch and roll together.
# The inertia at the joint depends on the pose; at the nominal pose it is twice the
# inertia of one motor.
MOTOR_5020_PAIR = MOTOR_5020.doubled()

MOTORS: dict[tuple[str, ...], Motor] = {
    (
        ".*_elbow_joint",
        ".*_shoulder_pitch_joint",
        ".*_shoulder_roll_joint",
        ".*_shoulder_yaw_joint",
        ".*_wrist_roll_joint",
    ): MOTOR_5020,
    (".*_hip_pitch_joint", ".*_hip_yaw_joint", "waist_yaw_joint"): MOTOR_7520_14,
    (".*_hip_roll_joint", ".*_knee_joint"): MOTOR_7520_22,
    (".*_wrist_pitch_joint", ".*_wrist_yaw_joint"): MOTOR_4010,
    (
        "waist_pitch_joint",
        "waist_roll_joint",
        ".*_ankle_pitch_joint",
        ".*_ankle_roll_joint",
    ): MOTOR_5020_PAIR,
}
"""Motor of each joint; every joint matches exactly one pattern."""

ACTION_SCALE = action_scales(MOTORS)
"""Change of the position target per unit of action, in rad, by joint pattern."""

SOFT_JOINT_POS_LIMIT_FACTOR = 0.9

FOOT_BODIES = ("left_ankle_roll_link", "right_ankle_roll_link")
FOOT_SITES = ("left_foot", "right_foot")
FOOT_GEOMS = ("left_foot[1-7]_collision", "right_foot[1-7]_collision")

# Patterns of one dictionary are disjoint, so their order does not matter.
_FEET = "(left|right)_foot[1-7]_collision"
_NOT_FEET = "(?!(left|right)_foot).*_collision"

TRACKING_BODIES = (
    "pelvis",
    "left_hip_roll_link",
    "left_knee_link",
    "left_ankle_roll_link",
    "right_hip_roll_link",
    "right_knee_link",
    "right_ankle_roll_link",
    "torso_link",
    "left_shoulder_roll_link",
    "left_elbow_link",
    "left_wrist_yaw_link",
    "right_shoulder_roll_link",
    "right_elbow_link",
    "right_wrist_yaw_link",
)
"""Bodies that a motion-tracking task compares; `torso_link` is its anchor."""

LANDMARKS = {
    f"{side}_{part}": f"{side}_{link}_link"
    for side in ("left", "right")
    for part, link in (
        ("hip", "hip_roll"),
        ("knee", "knee"),
        ("ankle", "ankle_roll"),
        ("shoulder", "shoulder_roll"),
        ("elbow", "elbow"),
        ("wrist", "wrist_yaw"),
    )
}
"""Bodies that correspond to the joints of a person, for retargeting."""

MIRROR = Mirror(sides=(("left_", "right_"),), flipped_joints=".*_(roll|yaw)_joint")

POSTURE_STD_STANDING = {".*": 0.05}
POSTURE_STD_WALKING = {
    ".*_hip_pitch_joint": 0.3,
    ".*_hip_roll_joint": 0.15,
    ".*_hip_yaw_joint": 0.15,
    ".*_knee_joint": 0.35,
    ".*_ankle_pitch_joint": 0.25,
    ".*_ankle_roll_joint": 0.1,
    "waist_yaw_joint": 0.2,
    "waist_roll_joint": 0.08,
    "waist_pitch_joint": 0.1,
    ".*_shoulder_pitch_joint": 0.15,
    ".*_shoulder_roll_joint": 0.15,
    ".*_shoulder_yaw_joint": 0.1,
    ".*_elbow_joint": 0.15,
    ".*_wrist_.*_joint": 0.3,
}
POSTURE_STD_RUNNING = {
    ".*_hip_pitch_joint": 0.5,
    ".*_hip_roll_joint": 0.2,
    ".*_hip_yaw_joint": 0.2,
    ".*_knee_joint": 0.6,
    ".*_ankle_pitch_joint": 0.35,
    ".*_ankle_roll_joint": 0.15,
    "waist_yaw_joint": 0.3,
    "waist_roll_joint": 0.08,
    "waist_pitch_joint": 0.2,
    ".*_shoulder_pitch_joint": 0.5,
    ".*_shoulder_roll_joint": 0.2,
    ".*_shoulder_yaw_joint": 0.15,
    ".*_elbow_joint": 0.35,
    ".*_wrist_.*_joint": 0.3,
}


def home() -> InitialStateCfg:
    """Return the pose with nearly straight legs and raised forearms."""
    return InitialStateCfg(
        pos=(0.0, 0.0, 0.783675),
        joint_pos={
            ".*_hip_pitch_joint": -0.1,
            ".*_knee_joint": 0.3,
            ".*_ankle_pitch_joint": -0.2,
            ".*_shoulder_pitch_joint": 0.2,
            "left_shoulder_roll_joint": 0.2,
            "right_shoulder_roll_joint": -0.2,
            ".*_elbow_joint": 1.28,
        },
    )


def knees_bent() -> InitialStateCfg:
    """Return the pose with bent knees; the default of `g1_cfg`."""
    return InitialStateCfg(
        pos=(0.0, 0.0, 0.76),
        joint_pos={
            ".*_hip_pitch_joint": -0.312,
            ".*_knee_joint": 0.669,
            ".*_ankle_pitch_joint": -0.363,
            ".*_shoulder_pitch_joint": 0.2,
            "left_shoulder_roll_joint": 0.2,
            "right_shoulder_roll_joint": -0.2,
            ".*_elbow_joint": 0.6,
        },
    )


def full_collision(*, self_collision: bool = True) -> CollisionCfg:
    """Return contacts of every link with the ground, and between links.

    Feet define the friction of their contacts (priority 1) and have tangential forces;
    contacts of other links are frictionless, which is cheaper and sufficient for
    contacts that a policy learns to avoid.
    """
    return CollisionCfg(
        geom_names=(".*_collision",),
        contype=1 if self_collision else 0,
        conaffinity=1,
        condim={_FEET: 3, _NOT_FEET: 1},
        priority={_FEET: 1, _NOT_FEET: 0},
        friction={_FEET: (0.6, 0.005, 0.0001)},
    )


def g1_cfg(*, skin: bool = False) -> EntityCfg:
    """Return a new G1: bent knees, position actuators, contacts of every link.

    Args:
        skin: Use the official meshes instead of primitive shapes. They do not affect
            physics, and must be downloaded first; see `mjlab.tasks.robots.skin`.
    """
    return EntityCfg(
        source=partial(load_with_skin, G1_XML, "g1") if skin else G1_XML,
        init_state=knees_bent(),
        articulation=ArticulationCfg(
            actuators=position_actuators(MOTORS),
            soft_joint_pos_limit_factor=SOFT_JOINT_POS_LIMIT_FACTOR,
        ),
        collisions=(full_collision(),),
    )


G1 = Robot(
    name="G1",
    entity_cfg=g1_cfg,
    base_body="pelvis",
    torso_body="torso_link",
    foot_bodies=FOOT_BODIES,
    foot_sites=FOOT_SITES,
    foot_geoms=FOOT_GEOMS,
    action_scale=ACTION_SCALE,
    motors=MOTORS,
    posture_std_standing=POSTURE_STD_STANDING,
    posture_std_walking=POSTURE_STD_WALKING,
    posture_std_running=POSTURE_STD_RUNNING,
    mirror=MIRROR,
    tracking_bodies=TRACKING_BODIES,
    landmarks=LANDMARKS,
)

"""I2RT YAM, an arm of six joints with a gripper: motors, pose, contacts, entity."""

from __future__ import annotations

from functools import partial

import mujoco

from mjlab.entity import ArticulationCfg, EntityCfg, InitialStateCfg
from mjlab.spec import CollisionCfg
from mjlab.tasks.robots.robot import (
    ROBOTS_DIR,
    Motor,
    action_scales,
    position_actuators,
)
from mjlab.tasks.robots.skin import with_skin

YAM_XML = ROBOTS_DIR / "yam.xml"

# A crank turns the gripper's motor into a slide: 0.071 m for 2.7 rad.
_CRANK = 0.071 / 2.7
_DM4310_ARMATURE, _DM4310_EFFORT = 0.0018, 10.0


def _dm4340(inertia: float) -> Motor:
    """Return the motor of a joint near the base, which moves `inertia`, in kg m²."""
    return Motor(
        armature=0.032,
        effort_limit=28.0,
        velocity_limit=10.0,
        natural_frequency=2.0,
        inertia=inertia,
    )


def _dm4310(inertia: float) -> Motor:
    """Return the motor of a joint of the wrist, which moves `inertia`, in kg m²."""
    return Motor(
        armature=_DM4310_ARMATURE,
        effort_limit=_DM4310_EFFORT,
        velocity_limit=30.0,
        natural_frequency=2.0,
        inertia=inertia,
    )


# The loops are made for the inertias that the joints move, armature included.
MOTORS: dict[tuple[str, ...], Motor] = {
    ("joint1",): _dm4340(0.123153),
    ("joint2",): _dm4340(0.277411),
    ("joint3",): _dm4340(0.232763),
    ("joint4",): _dm4310(0.030154),
    ("joint5",): _dm4310(0.009126),
    ("joint6",): _dm4310(0.002868),
    # Masses and forces, since the finger slides. A tenth of the motor's force keeps the
    # contacts of light objects stable.
    ("left_finger",): Motor(
        armature=_DM4310_ARMATURE / _CRANK**2,
        effort_limit=0.1 * _DM4310_EFFORT / _CRANK,
        natural_frequency=1.0,
        inertia=2.781624,
    ),
}
"""Motors by joint; the right finger has none, it follows the left one."""

ACTION_SCALE = action_scales(MOTORS)
"""Change of the position target per unit of action, in rad or m, by joint."""

SOFT_JOINT_POS_LIMIT_FACTOR = 0.9

ARM_JOINTS = ("joint1", "joint2", "joint3", "joint4", "joint5", "joint6")
FINGER_JOINTS = ("left_finger", "right_finger")
GRASP_SITE = "grasp_site"
"""Between the fingertips; its z axis points out of the gripper, y along its closing."""

FINGER_OPEN = 0.0375
"""Position of the left finger with the gripper wide open, 76 mm between the tips."""

FINGER_CLOSED = -0.05
"""Target beyond closed, with which the gripper squeezes a thing of 4 cm with 7 N."""

FINGERTIPS = r"(lf|rf)_down([6-9]|10|11)_collision"
"""Pattern of the spheres that what is gripped is held by."""

GRIPPER = r"(link6_\d|(lf|rf)_(rot|down)\d+)_collision"
"""Pattern of the geoms of the gripper that touch things."""

_NOT_TIPS = r"(link6_\d|(lf|rf)_rot\d|(lf|rf)_down[1-5])_collision"


def home() -> InitialStateCfg:
    """Return the pose with the gripper over the table, half open."""
    return InitialStateCfg(
        pos=(0.0, 0.0, 0.01),
        joint_pos={
            "joint2": 1.047,
            "joint3": 1.05,
            "joint4": -0.9,
            "left_finger": 0.01875,
            "right_finger": -0.01875,
        },
    )


def gripper_collision() -> CollisionCfg:
    """Return contacts of the gripper with what is not the arm.

    The fingertips rule the friction of their contacts, and hold against turning and
    rolling too. Fingers stop at their joints' limits before they meet, so contacts
    between them are not looked for: a quarter of the time of a physics step.
    """
    return CollisionCfg(
        geom_names=(GRIPPER,),
        contype=0,
        condim={FINGERTIPS: 6, _NOT_TIPS: 3},
        priority={FINGERTIPS: 1, _NOT_TIPS: 0},
        friction={FINGERTIPS: (1.0, 5e-3, 5e-4), _NOT_TIPS: (0.6, 5e-3, 1e-4)},
        solref={FINGERTIPS: (0.01, 1.0)},
    )


def load_yam(skin: bool, gravity_compensation: bool) -> mujoco.MjSpec:
    """Load the arm, with official meshes or without its weight if so asked."""
    spec = mujoco.MjSpec.from_file(str(YAM_XML))
    if gravity_compensation:
        for body in spec.bodies[1:]:
            body.gravcomp = 1.0
    return with_skin(spec, "yam") if skin else spec


def load_weightless_yam() -> mujoco.MjSpec:
    """Load the arm without its weight."""
    return load_yam(skin=False, gravity_compensation=True)


def yam_cfg(*, skin: bool = False, gravity_compensation: bool = False) -> EntityCfg:
    """Return a fresh YAM: at home, position actuators, contacts of the gripper.

    Args:
        skin: Whether to wear the official meshes instead of primitive shapes. They
            change no physics, and must be fetched first; see `mjlab.tasks.robots.skin`.
        gravity_compensation: Whether the arm's own weight is held by a controller below
            the position loops, and so is no load for them.
    """
    plain = load_weightless_yam if gravity_compensation else YAM_XML
    return EntityCfg(
        source=partial(load_yam, True, gravity_compensation) if skin else plain,
        init_state=home(),
        articulation=ArticulationCfg(
            actuators=position_actuators(MOTORS),
            soft_joint_pos_limit_factor=SOFT_JOINT_POS_LIMIT_FACTOR,
        ),
        collisions=(gripper_collision(),),
    )

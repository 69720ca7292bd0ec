"""I2RT YAM, a six-joint arm with a gripper: motors, pose, contacts, entity."""

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

# A crank converts the gripper motor's rotation into a slide: 0.071 m for 2.7 rad.
_CRANK = 0.071 / 2.7
_DM4310_ARMATURE, _DM4310_EFFORT = 0.0018, 10.0


def _dm4340(inertia: float) -> Motor:
    """Return the motor of a joint near the base, with load inertia in kg m²."""
    return Motor(
        armature=0.032,
        effort_limit=28.0,
        velocity_limit=10.0,
        natural_frequency=2.0,
        inertia=inertia,
    )


def _dm4310(inertia: float) -> Motor:
    """Return the motor of a wrist joint, with load inertia in kg m²."""
    return Motor(
        armature=_DM4310_ARMATURE,
        effort_limit=_DM4310_EFFORT,
        velocity_limit=30.0,
        natural_frequency=2.0,
        inertia=inertia,
    )


# Position loops are designed for the inertia at each joint, including armature.
MOTORS: dict[tuple[str, ...], Motor] = {
    ("joint1",): _dm4340(0.123153),
    ("joint2",): _dm4340(0.277411),
    ("joint3",): _dm4340(0.232763),
    ("joint4",): _dm4310(0.030154),
    ("joint5",): _dm4310(0.009126),
    ("joint6",): _dm4310(0.002868),
    # The finger slides, so these values are masses and forces. A tenth of the motor's
    # force keeps contacts of light objects stable.
    ("left_finger",): Motor(
        armature=_DM4310_ARMATURE / _CRANK**2,
        effort_limit=0.1 * _DM4310_EFFORT / _CRANK,
        natural_frequency=1.0,
        inertia=2.781624,
    ),
}
"""Motor of each joint. The right finger has no motor: it is coupled to the left."""

ACTION_SCALE = action_scales(MOTORS)
"""Change of the position target per unit of action, in rad or m, by joint."""

SOFT_JOINT_POS_LIMIT_FACTOR = 0.9

ARM_JOINTS = ("joint1", "joint2", "joint3", "joint4", "joint5", "joint6")
FINGER_JOINTS = ("left_finger", "right_finger")
GRASP_SITE = "grasp_site"
"""Site between the fingertips; z points out of the gripper, y along the closing
axis."""

FINGER_OPEN = 0.0375
"""Position of the left finger with a fully open gripper, 76 mm between the tips."""

FINGER_CLOSED = -0.05
"""Target beyond the closed position, so that a 4 cm object is squeezed with 7 N."""

FINGERTIPS = r"(lf|rf)_down([6-9]|10|11)_collision"
"""Pattern of the fingertip spheres that hold an object."""

GRIPPER = r"(link6_\d|(lf|rf)_(rot|down)\d+)_collision"
"""Pattern of the gripper geoms with contacts."""

_NOT_TIPS = r"(link6_\d|(lf|rf)_rot\d|(lf|rf)_down[1-5])_collision"


def home() -> InitialStateCfg:
    """Return the pose with the gripper above the table, half open."""
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
    """Return contacts of the gripper with everything but the arm.

    The fingertips define the friction of their contacts, with torsional and rolling
    friction. Fingers stop at their joint limits before they meet, so contacts between
    them are disabled: they took a quarter of the time of a physics step.
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
    """Load the arm, optionally with official meshes or gravity compensation."""
    spec = mujoco.MjSpec.from_file(str(YAM_XML))
    if gravity_compensation:
        for body in spec.bodies[1:]:
            body.gravcomp = 1.0
    return with_skin(spec, "yam") if skin else spec


def load_weightless_yam() -> mujoco.MjSpec:
    """Load the arm with gravity compensation."""
    return load_yam(skin=False, gravity_compensation=True)


def yam_cfg(*, skin: bool = False, gravity_compensation: bool = False) -> EntityCfg:
    """Return a new YAM: home pose, position actuators, contacts of the gripper.

    Args:
        skin: Use the official meshes instead of primitive shapes. They do not affect
            physics, and must be downloaded first; see `mjlab.tasks.robots.skin`.
        gravity_compensation: Compensate the arm's own weight in addition to position
            control.
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

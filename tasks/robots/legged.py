"""Legged robot whose description is a model file and a few numbers."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import mujoco

from mjlab.entity import ArticulationCfg, EntityCfg, InitialStateCfg
from mjlab.tasks.robots.robot import (
    Mirror,
    Motor,
    Robot,
    position_actuators,
)

_SOFT_LIMIT_FACTOR = 0.9
_STANDING, _MOVING, _KNEE = 0.08, 0.3, 0.6
"""Tolerances of joints around the stance, rad: standing, moving, and a moving knee."""


@dataclass(frozen=True, kw_only=True)
class Foot:
    """Foot of a legged robot. The model needs a site called BODY_sole at its sole."""

    body: str
    """Body of the foot."""

    geoms: tuple[str, ...]
    """Geoms of the sole."""

    clock: int
    """Half of the stride in which the foot steps, 0 or 1."""

    moves: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    """Joint motions of the reference gait. For each joint: its change when the foot is
    lifted in a swing, rad or m, its changes per metre that the foot moves ahead and to
    the left, and its change per radian that the foot turns around the base. A biped has
    a fifth number: the position error at which the motor carries the robot on this leg
    alone, which is added to the joint target."""


@dataclass(frozen=True, kw_only=True)
class LeggedRobot(Robot):
    """Robot with the data that walking tasks need; create it with `legged_robot`."""

    feet: tuple[Foot, ...] = ()
    """The feet, in the order of their bodies in the model, which is also the order of
    the contact sensor."""

    acted: tuple[str, ...] = ()
    """Patterns of the joints that the policy moves."""

    height: float = 0.3
    """Height of the base in the stance, m."""

    leg_length: float = 0.3
    """Height of the hips above the soles in the stance, m."""

    mass: float = 10.0
    """Total mass, kg."""

    feet_gap: float = math.inf
    """Sideways distance between a biped's soles in the stance, edge to edge, m."""

    stance: Mapping[str, float] = field(default_factory=dict)
    """Joint positions of the stance, rad or m, by pattern."""

    @property
    def clock(self) -> tuple[int, ...]:
        """For each foot, the half of the stride in which it steps, 0 or 1."""
        return tuple(foot.clock for foot in self.feet)


def step_height(legs: int, leg_length: float) -> float:
    """Return how high a robot should lift its feet, m.

    The Unitree G1 should lift them by 10 cm. Policies of quadrupeds with long legs lift
    the feet up to a third higher than this; the limit of their natural gait is 12 cm.

    Args:
        legs: Number of legs.
        leg_length: Height of the hips above the soles in the stance, m.
    """
    if legs == 2:
        return min(0.1, 0.154 * leg_length)
    return min(0.085, 0.3 * leg_length)


def action_scale(legs: int, motor: Motor) -> float:
    """Return the change of a position target per unit of action, rad.

    One unit requests a quarter of the maximum torque, as for the Unitree Go1 and G1.
    For bipeds it requests half, because their motors are stiffer: a quarter moves a
    foot so little that the policy does not learn to recover with a step.

    Args:
        legs: Number of legs.
        motor: Motor of the joint.
    """
    return (2.0 if legs == 2 else 1.0) * motor.action_scale


def motor(
    effort: float,
    inertia: float,
    frequency: float,
    armature: float,
    damping_ratio: float = 1.0,
) -> Motor:
    """Return a motor with a position loop.

    Args:
        effort: Maximum torque, N m.
        inertia: Effective inertia at the joint, with armature, kg m².
        frequency: Natural frequency of the position loop with this inertia, Hz.
        armature: Reflected inertia of the rotor, kg m².
        damping_ratio: Damping ratio of the position loop; 1 is critical.
    """
    return Motor(
        effort_limit=effort,
        inertia=inertia,
        natural_frequency=frequency,
        damping_ratio=damping_ratio,
        armature=armature,
    )


def legged_robot(
    *,
    name: str,
    file: str | Path,
    base: str,
    torso: str,
    feet: tuple[Foot, ...],
    knees: tuple[str, ...],
    stance: Mapping[str, float],
    height: float,
    leg_length: float,
    mass: float,
    feet_gap: float = math.inf,
    motors: Mapping[str, Motor],
    held: Mapping[str, Motor] | None = None,
    mirror: Mirror | None = None,
) -> LeggedRobot:
    """Return a legged robot.

    Args:
        name: Short name, as in task ids.
        file: Python file of the task. The model is beside it, in `robot/scene.xml`,
            with the sensors of the walking tasks, as `mjlab adopt` writes it.
        base: Body with the free joint.
        torso: Body that should be upright.
        feet: The feet, in the order of their bodies in the model.
        knees: Patterns of the knee joints, which move more than others.
        stance: Joint positions by pattern, rad or m; 0 for other joints.
        height: Height of the base in the stance, m.
        leg_length: Height of the hips above the soles in the stance, m.
        mass: Total mass, kg.
        feet_gap: Sideways distance between a biped's soles in the stance, edge to edge,
            m.
        motors: Motors of the joints that the policy moves, by pattern.
        held: Motors of the joints that hold the stance, by pattern.
        mirror: Left-right symmetry, if any.
    """
    all_motors = {**motors, **(held or {})}
    drives = {(pattern,): drive for pattern, drive in all_motors.items()}
    knee = "|".join(knees)
    moving = {knee: _KNEE, f"(?!({knee})$).*": _MOVING}

    source = Path(file).parent / "robot" / "scene.xml"

    def entity() -> EntityCfg:
        _check_order([foot.body for foot in feet], source)
        return EntityCfg(
            source=source,
            init_state=InitialStateCfg(pos=(0.0, 0.0, height), joint_pos={**stance}),
            articulation=ArticulationCfg(
                actuators=position_actuators(drives),
                soft_joint_pos_limit_factor=_SOFT_LIMIT_FACTOR,
            ),
        )

    return LeggedRobot(
        name=name,
        entity_cfg=entity,
        base_body=base,
        torso_body=torso,
        foot_bodies=tuple(foot.body for foot in feet),
        foot_sites=tuple(f"{foot.body}_sole" for foot in feet),
        foot_geoms=tuple(geom for foot in feet for geom in foot.geoms),
        action_scale={
            pattern: action_scale(len(feet), drive)
            for pattern, drive in all_motors.items()
        },
        posture_std_standing={".*": _STANDING},
        posture_std_walking=moving,
        posture_std_running=moving,
        motors=drives,
        mirror=mirror,
        feet=feet,
        acted=tuple(motors),
        height=height,
        leg_length=leg_length,
        mass=mass,
        feet_gap=feet_gap,
        stance=stance,
    )


def _check_order(feet: Sequence[str], source: Path) -> None:
    """Raise if feet are not in the order of the model."""
    bodies = [body.name for body in mujoco.MjSpec.from_file(str(source)).bodies]
    ordered = sorted(feet, key=bodies.index)
    if list(feet) != ordered:
        raise ValueError(
            f"The feet of a legged robot have to be in the order of {source.name}: "
            f"{', '.join(ordered)}."
        )

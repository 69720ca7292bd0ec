"""Facts of a robot that a task asks for, its motors, and its image in a mirror."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from mjlab.actuator import PositionActuatorCfg
from mjlab.entity import EntityCfg
from mjlab.names import UnknownNameError, suggest

ROBOTS_DIR = Path(__file__).parent
"""The folder that holds the MJCF files."""


def reflected_inertia(
    rotor_inertias: Sequence[float], stage_ratios: Sequence[float]
) -> float:
    """Return the inertia that a geared drive shows at its output shaft.

    Args:
        rotor_inertias: Inertia of each rotating stage about its own axis, in kg m²,
            motor side first.
        stage_ratios: The reduction in front of each stage; 1 for the motor itself.

    A stage turns faster than the output by the product of all reductions that follow
    it, and kinetic energy goes with the square of speed.
    """
    if len(rotor_inertias) != len(stage_ratios):
        raise ValueError(
            f"{len(rotor_inertias)} rotor inertias need as many stage ratios, "
            f"not {len(stage_ratios)}."
        )
    total = 0.0
    for stage, inertia in enumerate(rotor_inertias):
        speed_up = math.prod(stage_ratios[stage + 1 :])
        total += inertia * speed_up**2
    return total


@dataclass(frozen=True, kw_only=True)
class Motor:
    """A motor as its joint feels it, held by a position loop of chosen stiffness.

    The loop is made to behave the same on every joint: its stiffness and damping are
    those of a spring on the motor's own reflected inertia, or on one that is given,
    with a natural frequency of 10 Hz, overdamped twofold. This is gentle enough for a
    policy to learn compliance, and it leaves one rule in place of a table of hand-tuned
    gains.
    """

    armature: float
    """Reflected inertia at the joint, in kg m²."""

    effort_limit: float
    """Largest torque at the joint, in N m."""

    velocity_limit: float | None = None
    """Largest speed of the joint, in rad/s; None where it is not published."""

    natural_frequency: float = 10.0
    """Natural frequency of the position loop, in Hz."""

    damping_ratio: float = 2.0
    """Damping ratio of the position loop."""

    inertia: float | None = None
    """Inertia that the position loop is made for, in kg m². None takes the armature, as
    if the links weighed nothing."""

    @property
    def loop_inertia(self) -> float:
        """Inertia that the position loop is made for, in kg m²."""
        return self.armature if self.inertia is None else self.inertia

    @property
    def stiffness(self) -> float:
        """Position gain, in N m/rad."""
        return self.loop_inertia * (2.0 * math.pi * self.natural_frequency) ** 2

    @property
    def damping(self) -> float:
        """Velocity gain, in N m s/rad."""
        omega = 2.0 * math.pi * self.natural_frequency
        return 2.0 * self.damping_ratio * self.loop_inertia * omega

    @property
    def action_scale(self) -> float:
        """Change of the position target per unit of action, in rad.

        One unit asks for a quarter of the largest torque from a joint at rest, so that
        an untrained policy of unit variance seldom saturates the motor.
        """
        return 0.25 * self.effort_limit / self.stiffness

    def doubled(self) -> Motor:
        """Return two of these motors driving one joint through a parallel linkage."""
        return Motor(
            armature=2.0 * self.armature,
            effort_limit=2.0 * self.effort_limit,
            natural_frequency=self.natural_frequency,
            damping_ratio=self.damping_ratio,
            inertia=None if self.inertia is None else 2.0 * self.inertia,
        )


@dataclass(frozen=True, kw_only=True)
class Mirror:
    """The reflection of a robot in its own xz plane, by the names of its parts."""

    sides: tuple[tuple[str, str], ...]
    """Beginnings of names, left and right; a name with neither is in the middle."""

    flipped_joints: str
    """Pattern of joints whose position changes its sign: those that roll or yaw."""

    def other(self, name: str) -> str:
        """Return the name of the part on the other side."""
        for left, right in self.sides:
            for here, there in ((left, right), (right, left)):
                if name.startswith(here):
                    return there + name.removeprefix(here)
        return name

    def permutation(self, names: Sequence[str]) -> list[int]:
        """Return for each name the place of its mirror image among the names."""
        places = {name: place for place, name in enumerate(names)}
        images = [self.other(name) for name in names]
        for name, image in zip(names, images, strict=True):
            if image not in places:
                raise UnknownNameError(
                    f"{name!r} is {image!r} in the mirror, which is not among the "
                    f"names. {suggest(image, list(names))}"
                )
        return [places[image] for image in images]

    def joint_signs(self, joints: Sequence[str]) -> list[float]:
        """Return -1 for joints that turn the other way in the mirror, else 1."""
        pattern = re.compile(self.flipped_joints)
        return [-1.0 if pattern.fullmatch(name) else 1.0 for name in joints]


@dataclass(frozen=True, kw_only=True)
class Robot:
    """A robot by name: its entity and the names and numbers that task terms need."""

    name: str
    """Short name, as it stands in task ids (`G1`)."""

    entity_cfg: Callable[[], EntityCfg]
    """Builds a fresh entity config, which the caller may change as it likes."""

    base_body: str
    """The body that carries the free joint."""

    torso_body: str
    """The body whose uprightness means that the robot stands."""

    foot_bodies: tuple[str, ...]
    """The body of each foot."""

    foot_sites: tuple[str, ...]
    """A site under each foot, in the order of `foot_bodies`."""

    foot_geoms: tuple[str, ...]
    """Patterns of the collision geoms of each foot, in the order of `foot_bodies`."""

    action_scale: Mapping[str, float]
    """Change of the position target per unit of action, in rad, by joint pattern."""

    posture_std_standing: Mapping[str, float]
    """Distance that joints may stray from the default pose, in rad, standing still."""

    posture_std_walking: Mapping[str, float]
    """The same at walking speed."""

    posture_std_running: Mapping[str, float]
    """The same at running speed."""

    motors: Mapping[tuple[str, ...], Motor]
    """The motor of each joint, by patterns of which each joint matches one."""

    mirror: Mirror | None = None
    """Mirror image of the robot; None where its sides differ."""

    tracking_bodies: tuple[str, ...] = ()
    """Bodies whose motion a tracking task compares; empty where there is none."""

    landmarks: Mapping[str, str] = field(default_factory=dict)
    """Bodies at the joints of a person; empty where the robot is not like one."""

    def speed_limits(self, joints: Sequence[str]) -> list[float | None]:
        """Return the greatest speed of each joint in rad/s, None if not published."""
        patterns = {
            name: motor for names, motor in self.motors.items() for name in names
        }
        return [
            next(
                m.velocity_limit for p, m in patterns.items() if re.fullmatch(p, joint)
            )
            for joint in joints
        ]


def position_actuators(
    motors: Mapping[tuple[str, ...], Motor],
) -> tuple[PositionActuatorCfg, ...]:
    """Return one position actuator group for each motor and the joints it drives."""
    return tuple(
        PositionActuatorCfg(
            target_names_expr=joints,
            stiffness=motor.stiffness,
            damping=motor.damping,
            effort_limit=motor.effort_limit,
            armature=motor.armature,
        )
        for joints, motor in motors.items()
    )


def action_scales(motors: Mapping[tuple[str, ...], Motor]) -> dict[str, float]:
    """Return the action scale of each joint pattern."""
    return {
        joint: motor.action_scale
        for joints, motor in motors.items()
        for joint in joints
    }

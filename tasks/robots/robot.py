"""Description of a robot for tasks: names, motors, and left-right symmetry."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from mjlab.actuator import PositionActuatorCfg
from mjlab.entity import EntityCfg
from mjlab.names import UnknownNameError, suggest

ROBOTS_DIR = Path(__file__).parent
"""Folder of the MJCF files."""


def reflected_inertia(
    rotor_inertias: Sequence[float], stage_ratios: Sequence[float]
) -> float:
    """Return the reflected inertia of a geared drive at its output shaft.

    Args:
        rotor_inertias: Inertia of each rotating stage about its own axis, in kg m²,
            motor side first.
        stage_ratios: Gear ratio before each stage; 1 for the motor itself.

    A stage rotates faster than the output by the product of all following ratios, and
    kinetic energy is proportional to the square of speed.
    """
    if len(rotor_inertias) != len(stage_ratios):
        raise ValueError(
            f"rotor_inertias has {len(rotor_inertias)} entries and stage_ratios "
            f"{len(stage_ratios)}; the numbers have to be equal."
        )
    total = 0.0
    for stage, inertia in enumerate(rotor_inertias):
        speed_up = math.prod(stage_ratios[stage + 1 :])
        total += inertia * speed_up**2
    return total


@dataclass(frozen=True, kw_only=True)
class Motor:
    """Motor parameters at the joint, with gains of the position control loop.

    The loop behaves the same on every joint: its gains give a natural frequency of 10
    Hz and a damping ratio of 2 with the motor's reflected inertia, or with a given
    inertia. These low gains allow a compliant policy, and replace a table of hand-tuned
    gains.
    """

    armature: float
    """Reflected inertia at the joint, in kg m²."""

    effort_limit: float
    """Maximum torque at the joint, in N m."""

    velocity_limit: float | None = None
    """Maximum speed of the joint, in rad/s; None if not published."""

    natural_frequency: float = 10.0
    """Natural frequency of the position loop, in Hz."""

    damping_ratio: float = 2.0
    """Damping ratio of the position loop."""

    inertia: float | None = None
    """Inertia for the design of the position loop, in kg m². None uses the armature,
    neglecting the links."""

    @property
    def loop_inertia(self) -> float:
        """Inertia for the design of the position loop, in kg m²."""
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

        One unit requests a quarter of the maximum torque from a joint at rest, so an
        untrained policy of unit variance seldom saturates the motor.
        """
        return 0.25 * self.effort_limit / self.stiffness

    def doubled(self) -> Motor:
        """Return two of these motors driving one joint through a parallel linkage."""
        return replace(
            self,
            armature=2.0 * self.armature,
            effort_limit=2.0 * self.effort_limit,
            inertia=None if self.inertia is None else 2.0 * self.inertia,
        )


@dataclass(frozen=True, kw_only=True)
class Mirror:
    """Reflection of a robot in its xz plane, by the names of its parts."""

    sides: tuple[tuple[str, str], ...]
    """Name prefixes, left and right; a name without a prefix is in the middle."""

    flipped_joints: str
    """Pattern of joints whose position changes its sign: roll and yaw joints."""

    def other(self, name: str) -> str:
        """Return the name of the corresponding part on the other side."""
        for left, right in self.sides:
            for here, there in ((left, right), (right, left)):
                if name.startswith(here):
                    return there + name.removeprefix(here)
        return name

    def permutation(self, names: Sequence[str]) -> list[int]:
        """Return the index of the mirror image of each name."""
        places = {name: place for place, name in enumerate(names)}
        images = [self.other(name) for name in names]
        for name, image in zip(names, images, strict=True):
            if image not in places:
                raise UnknownNameError(
                    f"The mirror image of {name!r} is {image!r}, which is not among "
                    f"the names. {suggest(image, list(names))}"
                )
        return [places[image] for image in images]

    def joint_signs(self, joints: Sequence[str]) -> list[float]:
        """Return -1 for joints with opposite sign in the mirror, otherwise 1."""
        pattern = re.compile(self.flipped_joints)
        return [-1.0 if pattern.fullmatch(name) else 1.0 for name in joints]


@dataclass(frozen=True, kw_only=True)
class Robot:
    """Robot: its entity, and the names and values that task terms need."""

    name: str
    """Short name, as in task ids (`G1`)."""

    entity_cfg: Callable[[], EntityCfg]
    """Returns a new entity configuration, which the caller can change."""

    base_body: str
    """Body with the free joint."""

    torso_body: str
    """Body whose uprightness defines a standing robot."""

    foot_bodies: tuple[str, ...]
    """Body of each foot."""

    foot_sites: tuple[str, ...]
    """Site under each foot, in the order of `foot_bodies`."""

    foot_geoms: tuple[str, ...]
    """Patterns of the collision geoms of each foot, in the order of `foot_bodies`."""

    action_scale: Mapping[str, float]
    """Change of the position target per unit of action, in rad, by joint pattern."""

    posture_std_standing: Mapping[str, float]
    """Tolerance of joints around the default pose when standing, in rad."""

    posture_std_walking: Mapping[str, float]
    """Tolerance of joints around the default pose at walking speed, in rad."""

    posture_std_running: Mapping[str, float]
    """Tolerance of joints around the default pose at running speed, in rad."""

    motors: Mapping[tuple[str, ...], Motor]
    """Motor of each joint, by patterns; each joint matches exactly one."""

    mirror: Mirror | None = None
    """Left-right symmetry; None for asymmetric robots."""

    tracking_bodies: tuple[str, ...] = ()
    """Bodies whose motion a tracking task compares; empty without a tracking task."""

    landmarks: Mapping[str, str] = field(default_factory=dict)
    """Bodies at the joints of a person; empty for non-humanoid robots."""

    def speed_limits(self, joints: Sequence[str]) -> list[float | None]:
        """Return the maximum speed of each joint in rad/s, None if not published."""
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
    """Return one position actuator configuration per motor type."""
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

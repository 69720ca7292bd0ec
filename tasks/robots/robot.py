"""Facts of a robot that a task asks for, so that one task serves many robots."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from mjlab.actuator import PositionActuatorCfg
from mjlab.entity import EntityCfg
from mjlab.tasks.robots.mirror import Mirror
from mjlab.tasks.robots.motor import Motor

ROBOTS_DIR = Path(__file__).parent
"""The folder that holds the MJCF files."""


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

    mirror: Mirror | None = None
    """Mirror image of the robot; None where its sides differ."""

    tracking_bodies: tuple[str, ...] = ()
    """Bodies whose motion a tracking task compares; empty where there is none."""


def position_actuators(
    motors: Mapping[tuple[str, ...], Motor],
) -> tuple[PositionActuatorCfg, ...]:
    """Return one position actuator group for each motor and the joints it drives."""
    return tuple(
        PositionActuatorCfg(
            target_names=joints,
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

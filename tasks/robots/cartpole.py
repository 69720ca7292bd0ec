"""Cart and pole: one cart on a rail, one free pole on the cart."""

from __future__ import annotations

from mjlab.actuator import XmlActuatorCfg
from mjlab.entity import ArticulationCfg, EntityCfg
from mjlab.tasks.robots.robot import ROBOTS_DIR

CARTPOLE_XML = ROBOTS_DIR / "cartpole.xml"

SLIDER_JOINT = "slider"
"""Position of the cart along the rail, in m; the pole's rest frame moves with it."""

POLE_JOINT = "hinge_1"
"""Angle of the pole, in rad; 0 is upright, positive leans towards +x."""


def cartpole_cfg() -> EntityCfg:
    """Return a fresh cartpole; the motor of the cart stands in the MJCF file."""
    return EntityCfg(
        source=CARTPOLE_XML,
        articulation=ArticulationCfg(
            actuators=(XmlActuatorCfg(target_names_expr=(SLIDER_JOINT,)),)
        ),
    )

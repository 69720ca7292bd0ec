"""Cart and pole: a cart on a rail, with a free pole."""

from __future__ import annotations

from mjlab.actuator import XmlActuatorCfg
from mjlab.entity import ArticulationCfg, EntityCfg
from mjlab.tasks.robots.robot import ROBOTS_DIR

CARTPOLE_XML = ROBOTS_DIR / "cartpole.xml"

SLIDER_JOINT = "slider"
"""Name of the slide joint of the cart along the rail; its position is in m."""

POLE_JOINT = "hinge_1"
"""Name of the pole's hinge. Angle in rad: 0 is upright, positive towards +x."""


def cartpole_cfg() -> EntityCfg:
    """Return a new cartpole; the MJCF file defines the cart's motor."""
    return EntityCfg(
        source=CARTPOLE_XML,
        articulation=ArticulationCfg(
            actuators=(XmlActuatorCfg(target_names_expr=(SLIDER_JOINT,)),)
        ),
    )

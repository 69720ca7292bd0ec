"""Entity configurations of muscle-driven models: an arm and two walkers."""

from __future__ import annotations

from pathlib import Path

import mujoco

from mjlab.actuator import XmlActuatorCfg
from mjlab.entity import ArticulationCfg, EntityCfg
from mjlab.spec import SpecSource

FOLDER = Path(__file__).parent
ARM6_XML = FOLDER / "arm6.xml"
W18_XML = FOLDER / "w18.xml"
W54_XML = FOLDER / "w54.xml"

TIME_CONSTANTS = (0.01, 0.04)
"""Time constants of activation and deactivation, in s, with activation dynamics."""


def arm6_cfg(*, has_dynamics: bool = False) -> EntityCfg:
    """Return a new arm with two hinges and six muscles.

    Args:
        has_dynamics: Use MuJoCo's activation dynamics; otherwise activations equal the
            controls.
    """
    return muscle_entity(arm6_with_dynamics if has_dynamics else ARM6_XML)


def w18_cfg(*, has_dynamics: bool = False) -> EntityCfg:
    """Return a new planar walker, with 18 muscles on hips, knees and ankles.

    Args:
        has_dynamics: Use activation dynamics.
    """
    return muscle_entity(w18_with_dynamics if has_dynamics else W18_XML)


def w54_cfg(*, has_dynamics: bool = False) -> EntityCfg:
    """Return a new walker with 54 muscles on legs and trunk.

    Args:
        has_dynamics: Use activation dynamics.
    """
    return muscle_entity(w54_with_dynamics if has_dynamics else W54_XML)


def arm6_with_dynamics() -> mujoco.MjSpec:
    """Return the arm with activation dynamics."""
    return _with_dynamics(ARM6_XML)


def w18_with_dynamics() -> mujoco.MjSpec:
    """Return the planar walker with activation dynamics."""
    return _with_dynamics(W18_XML)


def w54_with_dynamics() -> mujoco.MjSpec:
    """Return the three-dimensional walker with activation dynamics."""
    return _with_dynamics(W54_XML)


def _with_dynamics(xml: Path) -> mujoco.MjSpec:
    spec = mujoco.MjSpec.from_file(str(xml))
    for actuator in spec.actuators:
        actuator.dyntype = mujoco.mjtDyn.mjDYN_MUSCLE
        actuator.dynprm[:3] = (*TIME_CONSTANTS, 0.0)
    return spec


def muscle_entity(source: SpecSource) -> EntityCfg:
    """Return an entity with the tendon actuators that its model defines.

    Args:
        source: The model: a file, or a function that returns a spec.
    """
    return EntityCfg(
        source=source,
        articulation=ArticulationCfg(
            actuators=(
                XmlActuatorCfg(target_names_expr=(".*",), transmission="tendon"),
            )
        ),
    )

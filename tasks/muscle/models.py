"""The muscle models as entities."""

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
"""Of rising and falling activation, in s, where muscles have dynamics."""


def arm6_cfg(*, has_dynamics: bool = False) -> EntityCfg:
    """Return a fresh arm with two hinges and six muscles.

    Args:
        has_dynamics: Whether activations follow their controls late, as MuJoCo's
            `<muscle>`, or are the controls themselves.
    """
    return muscle_entity(arm6_with_dynamics if has_dynamics else ARM6_XML)


def w18_cfg(*, has_dynamics: bool = False) -> EntityCfg:
    """Return a fresh walker in the plane, with 18 muscles on hips, knees and ankles.

    Args:
        has_dynamics: Whether activations follow their controls late.
    """
    return muscle_entity(w18_with_dynamics if has_dynamics else W18_XML)


def w54_cfg(*, has_dynamics: bool = False) -> EntityCfg:
    """Return a fresh walker with 54 muscles on legs and trunk.

    Args:
        has_dynamics: Whether activations follow their controls late.
    """
    return muscle_entity(w54_with_dynamics if has_dynamics else W54_XML)


def arm6_with_dynamics() -> mujoco.MjSpec:
    """Return the arm with activation dynamics."""
    return _with_dynamics(ARM6_XML)


def w18_with_dynamics() -> mujoco.MjSpec:
    """Return the planar walker with activation dynamics."""
    return _with_dynamics(W18_XML)


def w54_with_dynamics() -> mujoco.MjSpec:
    """Return the walker in space with activation dynamics."""
    return _with_dynamics(W54_XML)


def _with_dynamics(xml: Path) -> mujoco.MjSpec:
    spec = mujoco.MjSpec.from_file(str(xml))
    for actuator in spec.actuators:
        actuator.dyntype = mujoco.mjtDyn.mjDYN_MUSCLE
        actuator.dynprm[:3] = (*TIME_CONSTANTS, 0.0)
    return spec


def muscle_entity(source: SpecSource) -> EntityCfg:
    """Return an entity whose tendons are driven as its model says.

    Args:
        source: The model: a file, or what makes it.
    """
    return EntityCfg(
        source=source,
        articulation=ArticulationCfg(
            actuators=(
                XmlActuatorCfg(target_names_expr=(".*",), transmission="tendon"),
            )
        ),
    )

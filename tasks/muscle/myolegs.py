"""MyoLegs, a pair of legs with 80 muscles, of the package `myo-sim` (Apache-2.0).

It is an extra of its own: `pip install "mjlab-fused[myo-sim]"`.
"""

from __future__ import annotations

import importlib
import warnings

import mujoco

from mjlab.entity import EntityCfg
from mjlab.extras import missing
from mjlab.tasks.muscle.models import muscle_entity

TIED = (r"knee_angle_(beta_)?(translation|rotation)\d_[rl]",)
"""Joints that equalities tie to a knee's angle, for `MuscleActionCfg.ignore`."""


def myolegs_cfg() -> EntityCfg:
    """Return fresh legs, which float, with activation dynamics."""
    return muscle_entity(myolegs)


def myolegs() -> mujoco.MjSpec:
    """Return the legs without the ground and lights that they come with.

    Raises:
        ImportError: Without the package.
    """
    try:
        myo_sim = importlib.import_module("myo_sim")
    except ImportError as error:
        raise ImportError(missing("MyoLegs", "myo-sim", "myo-sim")) from error
    with warnings.catch_warnings():
        # It attaches its parts without a prefix, and MuJoCo warns of that.
        warnings.simplefilter("ignore")
        spec = myo_sim.load_spec("myolegs")
    for element in (*spec.worldbody.geoms, *spec.worldbody.lights):
        spec.delete(element)
    return spec

"""MyoLegs, a pair of legs with 80 muscles, from the package `myo-sim` (Apache-2.0).

Install the package with its extra: `pip install "mjlab-fused[myo-sim]"`.
"""

from __future__ import annotations

import importlib
import warnings

import mujoco

from mjlab.entity import EntityCfg
from mjlab.extras import missing
from mjlab.tasks.muscle.models import muscle_entity

TIED = (r"knee_angle_(beta_)?(translation|rotation)\d_[rl]",)
"""Joints coupled to a knee's angle by equalities, for `MuscleActionCfg.ignore`."""


def myolegs_cfg() -> EntityCfg:
    """Return a new MyoLegs entity with a floating base and activation dynamics."""
    return muscle_entity(myolegs)


def myolegs() -> mujoco.MjSpec:
    """Return the legs without the ground and lights of their file.

    Raises:
        ImportError: If the package is not installed.
    """
    try:
        myo_sim = importlib.import_module("myo_sim")
    except ImportError as error:
        raise ImportError(missing("MyoLegs", "myo-sim", "myo-sim")) from error
    with warnings.catch_warnings():
        # The package attaches its parts without a prefix, which causes a warning of
        # MuJoCo.
        warnings.simplefilter("ignore")
        spec = myo_sim.load_spec("myolegs")
    for element in (*spec.worldbody.geoms, *spec.worldbody.lights):
        spec.delete(element)
    return spec

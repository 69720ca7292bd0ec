"""Two-level muscle control: joint targets, the torques they ask for, and activations.

The configuration is there at once; the rest is imported when it is first used, because
it needs torch and MuJoCo.
"""

import importlib
from typing import TYPE_CHECKING, Any

from mjlab.muscle.config import MuscleLearnerCfg as MuscleLearnerCfg
from mjlab.muscle.config import MuscleNetworkCfg as MuscleNetworkCfg
from mjlab.muscle.config import TorqueLawCfg as TorqueLawCfg
from mjlab.muscle.config import original_preset as original_preset

if TYPE_CHECKING:
    from mjlab.muscle.action import MuscleAction as MuscleAction
    from mjlab.muscle.action import MuscleActionCfg as MuscleActionCfg
    from mjlab.muscle.action import muscle_action as muscle_action
    from mjlab.muscle.buffer import MuscleTupleBuffer as MuscleTupleBuffer
    from mjlab.muscle.buffer import TupleLayout as TupleLayout
    from mjlab.muscle.cascade import CascadeCoordinator as CascadeCoordinator
    from mjlab.muscle.cascade import MuscleCascade as MuscleCascade
    from mjlab.muscle.coordinator import Coordinator as Coordinator
    from mjlab.muscle.coordinator import NetworkCoordinator as NetworkCoordinator
    from mjlab.muscle.coordinator import QpCoordinator as QpCoordinator
    from mjlab.muscle.coordinator import RefinedCoordinator as RefinedCoordinator
    from mjlab.muscle.excitation import direct_excitation as direct_excitation
    from mjlab.muscle.excitation import inverse_excitation as inverse_excitation
    from mjlab.muscle.force import muscle_act_rate as muscle_act_rate
    from mjlab.muscle.force import muscle_bias as muscle_bias
    from mjlab.muscle.force import muscle_gain as muscle_gain
    from mjlab.muscle.law import DiagonalStablePdLaw as DiagonalStablePdLaw
    from mjlab.muscle.law import DirectLaw as DirectLaw
    from mjlab.muscle.law import PdLaw as PdLaw
    from mjlab.muscle.law import StablePdLaw as StablePdLaw
    from mjlab.muscle.law import TorqueLaw as TorqueLaw
    from mjlab.muscle.law import make_law as make_law
    from mjlab.muscle.learner import LearnerError as LearnerError
    from mjlab.muscle.learner import MuscleLearner as MuscleLearner
    from mjlab.muscle.map import MuscleMap as MuscleMap
    from mjlab.muscle.map import MuscleMapError as MuscleMapError
    from mjlab.muscle.mirror import MirrorError as MirrorError
    from mjlab.muscle.mirror import MuscleMirror as MuscleMirror
    from mjlab.muscle.network import MuscleNetwork as MuscleNetwork
    from mjlab.muscle.original import generating_muscle_nn as generating_muscle_nn
    from mjlab.muscle.original import load_original as load_original
    from mjlab.muscle.original import to_original as to_original
    from mjlab.muscle.qp import BoxQp as BoxQp
    from mjlab.muscle.state import MuscleState as MuscleState
    from mjlab.muscle.store import WeightError as WeightError
    from mjlab.muscle.store import WeightStore as WeightStore
    from mjlab.muscle.torque_map import TorqueMap as TorqueMap

_NAMES = {
    "action": ("MuscleAction", "MuscleActionCfg", "muscle_action"),
    "buffer": ("MuscleTupleBuffer", "TupleLayout"),
    "cascade": ("CascadeCoordinator", "MuscleCascade"),
    "coordinator": (
        "Coordinator",
        "NetworkCoordinator",
        "QpCoordinator",
        "RefinedCoordinator",
    ),
    "excitation": ("direct_excitation", "inverse_excitation"),
    "force": ("muscle_act_rate", "muscle_bias", "muscle_gain"),
    "law": (
        "DiagonalStablePdLaw",
        "DirectLaw",
        "PdLaw",
        "StablePdLaw",
        "TorqueLaw",
        "make_law",
    ),
    "learner": ("LearnerError", "MuscleLearner"),
    "map": ("MuscleMap", "MuscleMapError"),
    "mirror": ("MirrorError", "MuscleMirror"),
    "network": ("MuscleNetwork",),
    "original": ("generating_muscle_nn", "load_original", "to_original"),
    "qp": ("BoxQp",),
    "state": ("MuscleState",),
    "store": ("WeightError", "WeightStore"),
    "torque_map": ("TorqueMap",),
}
_LAZY = {name: part for part, names in _NAMES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Import a part that needs torch, now that somebody asks for it."""
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_LAZY[name]}"), name)

"""Two-level muscle control: from joint targets to torques to muscle activations.

The configuration is imported eagerly; the rest is imported on first use, because it
needs torch and MuJoCo.
"""

from typing import TYPE_CHECKING

from mjlab.lazy import imported_on_use
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
    from mjlab.muscle.coordinator import BoxQp as BoxQp
    from mjlab.muscle.coordinator import CascadeCoordinator as CascadeCoordinator
    from mjlab.muscle.coordinator import Coordinator as Coordinator
    from mjlab.muscle.coordinator import NetworkCoordinator as NetworkCoordinator
    from mjlab.muscle.coordinator import QpCoordinator as QpCoordinator
    from mjlab.muscle.coordinator import RefinedCoordinator as RefinedCoordinator
    from mjlab.muscle.force import MuscleCurves as MuscleCurves
    from mjlab.muscle.force import inverse_excitation as inverse_excitation
    from mjlab.muscle.force import muscle_act_rate as muscle_act_rate
    from mjlab.muscle.law import DiagonalStablePdLaw as DiagonalStablePdLaw
    from mjlab.muscle.law import DirectLaw as DirectLaw
    from mjlab.muscle.law import PlainPdLaw as PlainPdLaw
    from mjlab.muscle.law import StablePdLaw as StablePdLaw
    from mjlab.muscle.law import TorqueLaw as TorqueLaw
    from mjlab.muscle.law import make_law as make_law
    from mjlab.muscle.learner import LearnerError as LearnerError
    from mjlab.muscle.learner import MuscleRegression as MuscleRegression
    from mjlab.muscle.map import MuscleMap as MuscleMap
    from mjlab.muscle.map import MuscleMapError as MuscleMapError
    from mjlab.muscle.network import MuscleCascade as MuscleCascade
    from mjlab.muscle.network import MuscleNetwork as MuscleNetwork
    from mjlab.muscle.network import cascade_weights as cascade_weights
    from mjlab.muscle.original import MuscleLearner as MuscleLearner
    from mjlab.muscle.original import MuscleTuples as MuscleTuples
    from mjlab.muscle.original import generating_muscle_nn as generating_muscle_nn
    from mjlab.muscle.original import load_original as load_original
    from mjlab.muscle.original import to_original as to_original
    from mjlab.muscle.state import MuscleState as MuscleState
    from mjlab.muscle.state import TorqueMap as TorqueMap
    from mjlab.muscle.store import WeightError as WeightError
    from mjlab.muscle.store import WeightStore as WeightStore


__getattr__ = imported_on_use(__name__, __file__)

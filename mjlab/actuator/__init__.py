"""Actuators: map joint, tendon and site targets to MuJoCo controls."""

from mjlab.actuator.actuator import ActuatorBinding as ActuatorBinding
from mjlab.actuator.actuator import ActuatorTargets as ActuatorTargets
from mjlab.actuator.actuator import Command as Command
from mjlab.actuator.actuator_set import ActuatorSet as ActuatorSet
from mjlab.actuator.config import ActuatorCfg as ActuatorCfg
from mjlab.actuator.config import Quantity as Quantity
from mjlab.actuator.config import resolve_targets as resolve_targets
from mjlab.actuator.dc import DcCoggingCfg as DcCoggingCfg
from mjlab.actuator.dc import DcFrictionCfg as DcFrictionCfg
from mjlab.actuator.dc import DcMotorActuatorCfg as DcMotorActuatorCfg
from mjlab.actuator.dc import DcThermalCfg as DcThermalCfg
from mjlab.actuator.explicit import DcPdActuatorCfg as DcPdActuatorCfg
from mjlab.actuator.explicit import ExplicitActuatorCfg as ExplicitActuatorCfg
from mjlab.actuator.explicit import IdealPdActuatorCfg as IdealPdActuatorCfg
from mjlab.actuator.groups import WriteTime as WriteTime
from mjlab.actuator.learned import LearnedActuatorCfg as LearnedActuatorCfg
from mjlab.actuator.native import MotorActuatorCfg as MotorActuatorCfg
from mjlab.actuator.native import MuscleActuatorCfg as MuscleActuatorCfg
from mjlab.actuator.native import NativeActuatorCfg as NativeActuatorCfg
from mjlab.actuator.native import PdActuatorCfg as PdActuatorCfg
from mjlab.actuator.native import PositionActuatorCfg as PositionActuatorCfg
from mjlab.actuator.native import VelocityActuatorCfg as VelocityActuatorCfg
from mjlab.actuator.native import XmlActuatorCfg as XmlActuatorCfg
from mjlab.actuator.place import ActuatorError as ActuatorError
from mjlab.actuator.place import Transmission as Transmission
from mjlab.tensors.buffers import DelayCfg as DelayCfg

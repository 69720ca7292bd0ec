"""Physics of many worlds: the native and the Warp engine behind one interface."""

from mjlab.sim.backend import Backend as Backend
from mjlab.sim.backend import BackendError as BackendError
from mjlab.sim.backend import resolve_backend as resolve_backend
from mjlab.sim.compile import OptionError as OptionError
from mjlab.sim.compile import compile_model as compile_model
from mjlab.sim.config import MujocoCfg as MujocoCfg
from mjlab.sim.config import SimulationCfg as SimulationCfg
from mjlab.sim.config import TrainingPhysicsCfg as TrainingPhysicsCfg
from mjlab.sim.engine import Control as Control
from mjlab.sim.engine import EngineError as EngineError
from mjlab.sim.engine import SensePass as SensePass
from mjlab.sim.fields import ModelTable as ModelTable
from mjlab.sim.fields import Stage as Stage
from mjlab.sim.health import Health as Health
from mjlab.sim.health import HealthReport as HealthReport
from mjlab.sim.options import authored_options as authored_options
from mjlab.sim.options import read_options as read_options
from mjlab.sim.simulation import FieldError as FieldError
from mjlab.sim.simulation import Simulation as Simulation
from mjlab.sim.simulation import SimulationUseError as SimulationUseError
from mjlab.sim.simulation import check_num_envs as check_num_envs
from mjlab.sim.sizes import Calibration as Calibration
from mjlab.sim.sizes import calibrate as calibrate
from mjlab.sim.views import SharedFieldError as SharedFieldError
from mjlab.sim.views import StaleReadError as StaleReadError

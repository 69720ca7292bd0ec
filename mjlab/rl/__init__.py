"""Reinforcement learning: training loop for RSL-RL's algorithms, checkpoints and logs.

The configuration is imported eagerly; the rest is imported on first use, because it
needs torch and RSL-RL.
"""

from typing import TYPE_CHECKING

from mjlab.lazy import imported_on_use
from mjlab.rl.algorithms.config import CloningCfg as CloningCfg
from mjlab.rl.algorithms.config import ConstantScheduleCfg as ConstantScheduleCfg
from mjlab.rl.algorithms.config import CriticCfg as CriticCfg
from mjlab.rl.algorithms.config import DaggerCfg as DaggerCfg
from mjlab.rl.algorithms.config import DistillationCfg as DistillationCfg
from mjlab.rl.algorithms.config import LinearScheduleCfg as LinearScheduleCfg
from mjlab.rl.algorithms.config import ObservedActionsCfg as ObservedActionsCfg
from mjlab.rl.algorithms.config import PpoCfg as PpoCfg
from mjlab.rl.algorithms.config import RndCfg as RndCfg
from mjlab.rl.algorithms.config import StepScheduleCfg as StepScheduleCfg
from mjlab.rl.algorithms.config import StyleCfg as StyleCfg
from mjlab.rl.algorithms.config import SymmetryCfg as SymmetryCfg
from mjlab.rl.config import AgentCfg as AgentCfg
from mjlab.rl.config import CheckpointCfg as CheckpointCfg
from mjlab.rl.config import CloningAgentCfg as CloningAgentCfg
from mjlab.rl.config import DistillationAgentCfg as DistillationAgentCfg
from mjlab.rl.config import DumpCfg as DumpCfg
from mjlab.rl.config import EvaluationCfg as EvaluationCfg
from mjlab.rl.config import LoggingCfg as LoggingCfg
from mjlab.rl.config import PpoAgentCfg as PpoAgentCfg
from mjlab.rl.config import StopCfg as StopCfg
from mjlab.rl.hook import Hook as Hook
from mjlab.rl.hook import HookCfg as HookCfg
from mjlab.rl.hook import Training as Training
from mjlab.rl.models.config import BetaCfg as BetaCfg
from mjlab.rl.models.config import CategoricalCfg as CategoricalCfg
from mjlab.rl.models.config import CnnCfg as CnnCfg
from mjlab.rl.models.config import CnnModelCfg as CnnModelCfg
from mjlab.rl.models.config import DistributionCfg as DistributionCfg
from mjlab.rl.models.config import EstimatingModelCfg as EstimatingModelCfg
from mjlab.rl.models.config import GaussianCfg as GaussianCfg
from mjlab.rl.models.config import (
    HeteroscedasticGaussianCfg as HeteroscedasticGaussianCfg,
)
from mjlab.rl.models.config import MlpModelCfg as MlpModelCfg
from mjlab.rl.models.config import RnnModelCfg as RnnModelCfg
from mjlab.rl.models.config import SpatialCnnModelCfg as SpatialCnnModelCfg
from mjlab.settings.file import SettingsFileError as SettingsFileError

if TYPE_CHECKING:
    from mjlab.rl.check import check_agent as check_agent
    from mjlab.rl.check import groups_of as groups_of
    from mjlab.rl.distributed import Ranks as Ranks
    from mjlab.rl.distributed import relaunch as relaunch
    from mjlab.rl.learners import Learner as Learner
    from mjlab.rl.loop import TrainingLoop as TrainingLoop
    from mjlab.rl.loop import TrainingResult as TrainingResult
    from mjlab.rl.policy import load_policy as load_policy
    from mjlab.rl.shipping import ship as ship
    from mjlab.rl.vecenv import RslRlVecEnv as RslRlVecEnv
    from mjlab.rl.vecenv import TrainingEnv as TrainingEnv
    from mjlab.rl.vecenv import terms_of as terms_of


__getattr__ = imported_on_use(__name__, __file__)

# Names of mjlab 1.6.
RslRlBaseRunnerCfg = AgentCfg
RslRlModelCfg = MlpModelCfg
RslRlOnPolicyRunnerCfg = PpoAgentCfg
RslRlPpoAlgorithmCfg = PpoCfg

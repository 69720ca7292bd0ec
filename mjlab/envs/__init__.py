"""Environments: physics and managers, captured in one CUDA graph where possible."""

import sys

from mjlab import mdp as mdp
from mjlab.envs.build import LoadedScene as LoadedScene
from mjlab.envs.build import load as load
from mjlab.envs.config import ConfigError as ConfigError
from mjlab.envs.config import ManagerBasedRlEnvCfg as ManagerBasedRlEnvCfg
from mjlab.envs.config import ViewerCfg as ViewerCfg
from mjlab.envs.env import ManagerBasedRlEnv as ManagerBasedRlEnv
from mjlab.envs.initial_states import CachedInitialStates as CachedInitialStates
from mjlab.envs.manual import PhaseError as PhaseError
from mjlab.envs.rollout import Policy as Policy
from mjlab.envs.rollout import RandomPolicy as RandomPolicy
from mjlab.envs.rollout import Rollout as Rollout
from mjlab.envs.rollout import ZeroPolicy as ZeroPolicy
from mjlab.envs.spaces import Box as Box
from mjlab.envs.spaces import Dict as Dict
from mjlab.envs.spaces import Discrete as Discrete
from mjlab.envs.worlds import Step as Step
from mjlab.envs.worlds import Worlds as Worlds

# Allow `import mjlab.envs.mdp`, the import path that mjlab uses.
sys.modules[f"{__name__}.mdp"] = mdp

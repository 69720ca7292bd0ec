"""The environment: physics and managers as one device program."""

from mjlab import mdp as mdp
from mjlab.envs.config import ConfigError as ConfigError
from mjlab.envs.config import ManagerBasedRlEnvCfg as ManagerBasedRlEnvCfg
from mjlab.envs.config import ViewerCfg as ViewerCfg
from mjlab.envs.env import ManagerBasedRlEnv as ManagerBasedRlEnv
from mjlab.envs.lifecycle import LoadedScene as LoadedScene
from mjlab.envs.lifecycle import PhaseError as PhaseError
from mjlab.envs.lifecycle import allocate as allocate
from mjlab.envs.lifecycle import load as load
from mjlab.envs.spaces import Box as Box
from mjlab.envs.spaces import Dict as Dict

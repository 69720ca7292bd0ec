"""Managers of the MDP terms: actions, observations, rewards, events and others."""

from mjlab.managers.action import ActionManager as ActionManager
from mjlab.managers.action import ActionTerm as ActionTerm
from mjlab.managers.action import ActionTermCfg as ActionTermCfg
from mjlab.managers.command import CommandManager as CommandManager
from mjlab.managers.command import CommandTerm as CommandTerm
from mjlab.managers.command import CommandTermCfg as CommandTermCfg
from mjlab.managers.command import Dial as Dial
from mjlab.managers.curriculum import CurriculumManager as CurriculumManager
from mjlab.managers.curriculum import CurriculumTermCfg as CurriculumTermCfg
from mjlab.managers.env import Env as Env
from mjlab.managers.env import EpisodeLog as EpisodeLog
from mjlab.managers.env import StepOrder as StepOrder
from mjlab.managers.event import EventManager as EventManager
from mjlab.managers.event import EventTermCfg as EventTermCfg
from mjlab.managers.event import required_fields as required_fields
from mjlab.managers.indexed_command import IndexedCommandTerm as IndexedCommandTerm
from mjlab.managers.indexed_command import (
    IndexedCommandTermCfg as IndexedCommandTermCfg,
)
from mjlab.managers.managed_env import ManagedEnv as ManagedEnv
from mjlab.managers.managed_env import Managers as Managers
from mjlab.managers.metrics import MetricsManager as MetricsManager
from mjlab.managers.metrics import MetricsTermCfg as MetricsTermCfg
from mjlab.managers.metrics import OutcomeManager as OutcomeManager
from mjlab.managers.metrics import OutcomeTermCfg as OutcomeTermCfg
from mjlab.managers.observation import ObservationGroupCfg as ObservationGroupCfg
from mjlab.managers.observation import ObservationManager as ObservationManager
from mjlab.managers.observation import Observations as Observations
from mjlab.managers.observation import ObservationTermCfg as ObservationTermCfg
from mjlab.managers.observation import copied as copied
from mjlab.managers.quantity import Quantity as Quantity
from mjlab.managers.quantity import measured as measured
from mjlab.managers.recorder import RecorderManager as RecorderManager
from mjlab.managers.recorder import RecorderTermCfg as RecorderTermCfg
from mjlab.managers.reward import RewardManager as RewardManager
from mjlab.managers.reward import RewardTermCfg as RewardTermCfg
from mjlab.managers.term import BoundTerm as BoundTerm
from mjlab.managers.term import ManagerTermBase as ManagerTermBase
from mjlab.managers.term import TermCfg as TermCfg
from mjlab.managers.term import TermError as TermError
from mjlab.managers.termination import TerminationManager as TerminationManager
from mjlab.managers.termination import TerminationTermCfg as TerminationTermCfg
from mjlab.scene import SceneEntityCfg as SceneEntityCfg
from mjlab.scene import Selection as Selection

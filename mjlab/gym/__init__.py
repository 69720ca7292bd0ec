"""Gymnasium interfaces of environments, and wrappers.

The task "Velocity-G1" has the id "mjlab/Velocity-G1-v0". Importing this module
registers all ids. Gymnasium imports it if an id has the prefix "mjlab.gym:", as in
`gymnasium.make("mjlab.gym:mjlab/Velocity-G1-v0")`. MuJoCo is imported at the first use.
"""

import importlib
import importlib.util
from typing import TYPE_CHECKING, Any

from mjlab.lazy import imported_on_use, modules_by_name

if TYPE_CHECKING:
    from mjlab.gym.batched_env import BatchedEnv as BatchedEnv
    from mjlab.gym.build import make as make
    from mjlab.gym.build import make_worlds as make_worlds
    from mjlab.gym.episodes import ActionRepeat as ActionRepeat
    from mjlab.gym.episodes import ActionRepeatWrapper as ActionRepeatWrapper
    from mjlab.gym.episodes import ManiSkillVectorEnv as ManiSkillVectorEnv
    from mjlab.gym.episodes import VectorEnv as VectorEnv
    from mjlab.gym.numpy_env import NumpyVectorEnv as NumpyVectorEnv
    from mjlab.gym.numpy_env import SingleEnv as SingleEnv
    from mjlab.gym.record_episode import RecordEpisode as RecordEpisode
    from mjlab.gym.torch_env import TorchVectorEnv as TorchVectorEnv
    from mjlab.gym.worlds import GymWorlds as GymWorlds
    from mjlab.gym.worlds import ManagedWorlds as ManagedWorlds
    from mjlab.gym.wrappers import CachedReset as CachedReset
    from mjlab.gym.wrappers import CachedResetWrapper as CachedResetWrapper
    from mjlab.gym.wrappers import FlattenActionSpace as FlattenActionSpace
    from mjlab.gym.wrappers import (
        FlattenActionSpaceWrapper as FlattenActionSpaceWrapper,
    )
    from mjlab.gym.wrappers import FlattenObservation as FlattenObservation
    from mjlab.gym.wrappers import (
        FlattenObservationWrapper as FlattenObservationWrapper,
    )
    from mjlab.gym.wrappers import FrameStack as FrameStack
    from mjlab.gym.wrappers import TensorWrapper as TensorWrapper

if importlib.util.find_spec("gymnasium") is not None:
    from mjlab.gym import build as build


_import = imported_on_use(__name__, __file__)


def __getattr__(name: str) -> Any:
    """Import a public name of this package at its first use."""
    if name in modules_by_name(__file__):
        # Raises an error with the install command if Gymnasium is missing.
        importlib.import_module(f"{__name__}.build")
    return _import(name)

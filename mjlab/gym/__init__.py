"""Gymnasium's forms of an environment, and wrappers around them.

The task "Velocity-G1" has the id "mjlab/Velocity-G1-v0". Importing this makes all ids
known to Gymnasium, which imports a module by itself where an id names one:
`gymnasium.make("mjlab.gym:mjlab/Velocity-G1-v0")`. MuJoCo is imported when something
here is first used.
"""

import importlib
import importlib.util
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mjlab.gym.action_repeat import ActionRepeat as ActionRepeat
    from mjlab.gym.build import make as make
    from mjlab.gym.build import make_worlds as make_worlds
    from mjlab.gym.cached_reset import CachedReset as CachedReset
    from mjlab.gym.conformance import check_vector_env as check_vector_env
    from mjlab.gym.episodes import VectorEnv as VectorEnv
    from mjlab.gym.flatten import FlattenActionSpace as FlattenActionSpace
    from mjlab.gym.flatten import FlattenObservation as FlattenObservation
    from mjlab.gym.frame_stack import FrameStack as FrameStack
    from mjlab.gym.numpy_env import NumpyVectorEnv as NumpyVectorEnv
    from mjlab.gym.single_env import SingleEnv as SingleEnv
    from mjlab.gym.torch_env import TorchVectorEnv as TorchVectorEnv
    from mjlab.gym.worlds import ManagedWorlds as ManagedWorlds
    from mjlab.gym.worlds import Worlds as Worlds

if importlib.util.find_spec("gymnasium") is not None:
    from mjlab.gym import register as register

_LAZY = {
    "make": "build",
    "make_worlds": "build",
    "ActionRepeat": "action_repeat",
    "CachedReset": "cached_reset",
    "check_vector_env": "conformance",
    "VectorEnv": "episodes",
    "FlattenActionSpace": "flatten",
    "FlattenObservation": "flatten",
    "FrameStack": "frame_stack",
    "NumpyVectorEnv": "numpy_env",
    "SingleEnv": "single_env",
    "TorchVectorEnv": "torch_env",
    "ManagedWorlds": "worlds",
    "Worlds": "worlds",
}


def __getattr__(name: str) -> Any:
    """Import a part, now that somebody asks for it."""
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    importlib.import_module(f"{__name__}.register")  # Says so if Gymnasium is absent.
    return getattr(importlib.import_module(f"{__name__}.{_LAZY[name]}"), name)

"""Gymnasium's forms of an environment, and wrappers around them.

Importing this makes the tasks known to Gymnasium, as `import mjlab.gym` does. MuJoCo is
imported when something here is first used.
"""

import importlib
import importlib.util
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mjlab.wrappers.action_repeat import ActionRepeat as ActionRepeat
    from mjlab.wrappers.cached_reset import CachedReset as CachedReset
    from mjlab.wrappers.conformance import check_vector_env as check_vector_env
    from mjlab.wrappers.episodes import VectorEnv as VectorEnv
    from mjlab.wrappers.flatten import FlattenActionSpace as FlattenActionSpace
    from mjlab.wrappers.flatten import FlattenObservation as FlattenObservation
    from mjlab.wrappers.frame_stack import FrameStack as FrameStack
    from mjlab.wrappers.numpy_env import NumpyVectorEnv as NumpyVectorEnv
    from mjlab.wrappers.record_episode import RecordEpisode as RecordEpisode
    from mjlab.wrappers.single_env import SingleEnv as SingleEnv
    from mjlab.wrappers.torch_env import TorchVectorEnv as TorchVectorEnv
    from mjlab.wrappers.worlds import ManagedWorlds as ManagedWorlds
    from mjlab.wrappers.worlds import Worlds as Worlds

if importlib.util.find_spec("gymnasium") is not None:
    from mjlab.wrappers import register as register

_LAZY = {
    "ActionRepeat": "action_repeat",
    "CachedReset": "cached_reset",
    "check_vector_env": "conformance",
    "VectorEnv": "episodes",
    "FlattenActionSpace": "flatten",
    "FlattenObservation": "flatten",
    "FrameStack": "frame_stack",
    "NumpyVectorEnv": "numpy_env",
    "RecordEpisode": "record_episode",
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

"""Convert an environment configuration for training to one for play."""

import dataclasses
from typing import Any, Protocol, TypeVar, runtime_checkable

T = TypeVar("T")


@runtime_checkable
class Watchable(Protocol):
    """Environment configuration with its own settings for play."""

    def play(self) -> Any:
        """Return the configuration for play."""
        ...


def watched(cfg: T) -> T:
    """Return `cfg.play()` if it exists, else `cfg` without noise and time limit."""
    if isinstance(cfg, Watchable):
        return cfg.play()
    plain: Any = cfg
    groups = {
        name: group and dataclasses.replace(group, enable_corruption=False)
        for name, group in plain.observations.items()
    }
    return dataclasses.replace(plain, observations=groups, episode_length_s=1e9)

"""How a run's environment is best watched."""

import dataclasses
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from mjlab.envs import ManagerBasedRlEnvCfg


@runtime_checkable
class Watchable(Protocol):
    """An environment's configuration that knows how it is best watched."""

    def play(self) -> "ManagerBasedRlEnvCfg":
        """The configuration to watch with."""
        ...


def watched(cfg: "ManagerBasedRlEnvCfg") -> "ManagerBasedRlEnvCfg":
    """The configuration of a run, to be watched: no noise, no end of time."""
    if isinstance(cfg, Watchable):
        return cfg.play()
    groups = {
        name: group and dataclasses.replace(group, enable_corruption=False)
        for name, group in cfg.observations.items()
    }
    return dataclasses.replace(cfg, observations=groups, episode_length_s=1e9)

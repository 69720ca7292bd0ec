"""Everything of a run that a checkpoint holds, out and in."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from mjlab.rl.checkpoint import (
    CheckpointError,
    check_layout,
    load_model,
    load_own,
    random_state,
    set_random_state,
)
from mjlab.rl.config import AgentCfg
from mjlab.rl.distributed import Ranks
from mjlab.rl.figures import IterationFigures
from mjlab.rl.hook import Hook
from mjlab.rl.layout import policy_layout, worlds_layout
from mjlab.rl.learners import Learner
from mjlab.rl.scores import Scores
from mjlab.rl.vecenv import RslRlVecEnv

_INEXACT = (
    "With --no-exact (in Python exact=False) it begins new episodes with what was "
    "learned, which does not need that."
)
"""The way out, where a run cannot go on bit for bit."""


class RunState:
    """The parts of a run that have a memory, as what a checkpoint can hold."""

    def __init__(
        self,
        worlds: RslRlVecEnv,
        cfg: AgentCfg,
        ranks: Ranks,
        *,
        learner: Learner,
        figures: IterationFigures,
        scores: Scores,
        hooks: Sequence[Hook],
    ) -> None:
        self._worlds = worlds
        self._cfg = cfg
        self._ranks = ranks
        self._learner = learner
        self._figures = figures
        self._scores = scores
        self._hooks = hooks

    def shared(self, progress: Mapping[str, Any]) -> dict[str, Any]:
        """What all processes have in common, with the loop's own `progress`."""
        return {
            "layout": policy_layout(self._worlds.env, self._cfg),
            "learner": self._learner.shared_state(),
            "hooks": {hook.name: hook.state() for hook in self._hooks},
            "scores": self._scores.state(),
            "window": self._figures.shared_state(),
            "progress": dict(progress),
        }

    def own(self) -> dict[str, Any]:
        """What this process has for itself."""
        saves_worlds = self._cfg.checkpoint.env_state
        return {
            "world": self._ranks.world,
            "layout": worlds_layout(self._worlds.env),
            "random": random_state(self._worlds.env.device),
            "figures": self._figures.own_state(),
            "learner": self._learner.own_state(),
            "worlds": self._worlds.state() if saves_worlds else None,
        }

    def restore(self, path: Path, *, exact: bool) -> dict[str, Any]:
        """Restore everything from a checkpoint, and return the loop's `progress`.

        Nothing is changed before it is known that all of it fits.
        """
        device = self._worlds.env.device
        model = load_model(path, device)
        check_layout(model["layout"], policy_layout(self._worlds.env, self._cfg), path)
        own = self._load_own(path) if exact else None
        self._learner.load_shared_state(model["learner"])
        for hook in self._hooks:
            hook.load_state(model["hooks"].get(hook.name, {}))
        self._scores.load_state(model["scores"])
        self._figures.load_shared_state(model["window"])
        if own is not None:
            self._restore_own(own)
        return model["progress"]

    def _load_own(self, path: Path) -> dict[str, Any]:
        own = load_own(path, self._ranks)
        try:
            check_layout(own["layout"], worlds_layout(self._worlds.env), path)
        except CheckpointError as error:
            raise CheckpointError(f"{error}\n{_INEXACT}") from None
        if own["worlds"] is None:
            raise CheckpointError(
                f"{path} has no state of the worlds (checkpoint.env_state was False), "
                f"so the run cannot go on exactly. {_INEXACT}"
            )
        return own

    def _restore_own(self, own: dict[str, Any]) -> None:
        device = self._worlds.env.device
        self._worlds.load_state(_on_device(own["worlds"], device))
        self._learner.load_own_state(_on_device(own["learner"], device))
        for name, tensor in self._figures.own_state().items():
            tensor.copy_(own["figures"][name])
        set_random_state(own["random"], device)


def _on_device(value: Any, device: torch.device) -> Any:
    if isinstance(value, torch.Tensor):
        return value.to(device)
    if isinstance(value, dict):
        return {key: _on_device(item, device) for key, item in value.items()}
    if isinstance(value, tuple):
        return tuple(_on_device(item, device) for item in value)
    return value

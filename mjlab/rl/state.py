"""State of a run, saved in checkpoints."""

import random
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np
import torch

from mjlab.envs.state import is_per_world
from mjlab.rl.changed_settings import (
    apply_to_learner,
    apply_to_worlds,
    changes_optimizer,
    describe,
    find_changes,
    find_fixed,
)
from mjlab.rl.checkpoint import load_first_worlds, load_model, load_own
from mjlab.rl.config import AgentCfg
from mjlab.rl.distributed import Ranks
from mjlab.rl.figures import IterationFigures, Scores
from mjlab.rl.hook import Hook
from mjlab.rl.layout import check_layout, policy_layout, saved_layout, worlds_layout
from mjlab.rl.learners import Learner
from mjlab.rl.vecenv import RslRlVecEnv, terms_of
from mjlab.runs import CheckpointError, Run
from mjlab.runs.settings import settings_digest

_INEXACT = (
    "Use --no-exact (in Python exact=False) to start new episodes with the saved "
    "networks instead."
)
"""Advice in errors if a run cannot be resumed exactly."""

_NEW = "--no-exact (in Python exact=False) starts new episodes with the new value."

_CURRICULA = ("step_counter", "curriculum.*", "scene.ground.levels", "event.*.level")
"""Name patterns of the worlds' state that new episodes continue from: the step count of
schedules, and levels of difficulty."""


_NO_CURRICULA = (
    "curricula start again, because the checkpoint has no state of the worlds"
)


@dataclass(frozen=True)
class Restored:
    """Restored progress of the loop, and the settings that replaced restored state."""

    progress: dict[str, Any]
    """The loop's own progress."""

    changes: list[str]
    """Settings that the user changed, each as "path before -> after"."""


@dataclass(frozen=True)
class RunState:
    """Stateful parts of a run, in the form of a checkpoint."""

    worlds: RslRlVecEnv
    cfg: AgentCfg
    ranks: Ranks
    learner: Learner
    figures: IterationFigures
    scores: Scores
    hooks: Sequence[Hook]

    def shared(self, progress: Mapping[str, Any], config: str) -> dict[str, Any]:
        """Return the state shared by all processes.

        Args:
            progress: The loop's own progress.
            config: Text of the run's configuration; its SHA-256 is stored.
        """
        return {
            "config": settings_digest(config),
            "layout": policy_layout(self.worlds.env, self.cfg),
            "learner": self.learner.shared_state(),
            "hooks": {hook.name: hook.state() for hook in self.hooks},
            "scores": self.scores.state(),
            "window": self.figures.window.state(),
            "progress": dict(progress),
        }

    def own(self) -> dict[str, Any]:
        """Return the state of this process."""
        saves_worlds = self.cfg.checkpoint.env_state
        return {
            "world": self.ranks.world,
            "layout": worlds_layout(self.worlds.env),
            "random": random_state(self.worlds.env.device),
            "figures": self.figures.tally.state(),
            "learner": self.learner.own_state(),
            "worlds": self.worlds.state() if saves_worlds else None,
        }

    def restore(
        self,
        path: Path,
        *,
        exact: bool,
        config_text: str = "",
        chosen: Collection[str] = (),
    ) -> Restored:
        """Restore everything from a checkpoint except changed settings.

        The whole checkpoint is checked before anything is restored.

        Args:
            path: The checkpoint.
            exact: Whether to restore the worlds too. Otherwise new episodes continue
                with the progress of the curricula.
            config_text: The current configuration, which is compared with the
                checkpoint's. Empty if there is none.
            chosen: Paths of the settings that the user typed.
        """
        env = self.worlds.env
        model = load_model(path, env.device)
        saved_text = ""
        if config_text and model["config"]:
            saved_text = Run(path.parent.parent).saved_config(model["config"])
        changes = find_changes(saved_text, config_text, chosen)
        fixed = find_fixed(changes, env) if exact else None
        if fixed is not None:
            change = changes[fixed]
            said = describe(fixed, change.before, change.after)
            raise CheckpointError(f"{said} cannot change in an exact resume. {_NEW}")
        saved = saved_layout(model, self.cfg)
        check_layout(saved, policy_layout(env, self.cfg), path)
        own = self._load_own(path) if exact else None
        keeps_optimizer = not changes_optimizer(changes)
        self.learner.load_shared_state(model["learner"], optimizer=keeps_optimizer)
        for hook in self.hooks:
            hook.load_state(model["hooks"].get(hook.name, {}))
        self.scores.load_state(model["scores"])
        self.figures.window.load_state(model["window"])
        lines = {
            name: describe(name, change.before, change.after)
            for name, change in changes.items()
            if change.before != change.after
        }
        lines |= apply_to_learner(changes, self.learner, self.cfg)
        if own is not None:
            lines |= apply_to_worlds(changes, own["worlds"]["env"], env)
            self._restore_own(own)
        elif not self._restore_curricula(path):
            lines["curricula"] = _NO_CURRICULA
        return Restored(model["progress"], list(lines.values()))

    def _load_own(self, path: Path) -> dict[str, Any]:
        own = load_own(path, self.ranks)
        try:
            check_layout(own["layout"], worlds_layout(self.worlds.env), path)
        except CheckpointError as error:
            raise CheckpointError(f"{error}\n{_INEXACT}") from None
        if own["worlds"] is None:
            raise CheckpointError(
                f"{path} has no state of the worlds (checkpoint.env_state was False), "
                f"so an exact resume is impossible. {_INEXACT}"
            )
        return own

    def _restore_own(self, own: dict[str, Any]) -> None:
        device = self.worlds.env.device
        self.worlds.load_state(_on_device(own["worlds"], device))
        self.learner.load_own_state(_on_device(own["learner"], device))
        for name, tensor in self.figures.tally.state().items():
            tensor.copy_(own["figures"][name])
        set_random_state(own["random"], device)

    def _restore_curricula(self, path: Path) -> bool:
        """Restore the progress of curricula, and start new episodes with it.

        The number of worlds can differ from the checkpoint's.

        Returns:
            False if the checkpoint has no state of the worlds.
        """
        saved, env = load_first_worlds(path), self.worlds.env
        if saved is None:
            return False
        before, state = saved["episode_length"].shape[0], env.get_state()
        for name, now in state.items():
            if name not in saved or not any(fnmatchcase(name, n) for n in _CURRICULA):
                continue
            value = saved[name].to(now.device)
            if is_per_world(name, value, before):
                value = value[torch.arange(len(now), device=now.device) % before]
            if value.shape == now.shape:
                now.copy_(value)
        ground = terms_of(env).scene.ground
        if ground is not None:
            levels = state["scene.ground.levels"].clamp_(
                max=ground.terrain.num_rows - 1
            )
            origins = ground.tile_origins[levels, state["scene.ground.columns"]]
            state["scene.ground.origins"].copy_(origins)
        env.set_state(state)
        self.worlds.reset()
        return True


def _on_device(value: Any, device: torch.device) -> Any:
    if isinstance(value, torch.Tensor):
        return value.to(device)
    if isinstance(value, dict):
        return {key: _on_device(item, device) for key, item in value.items()}
    if isinstance(value, tuple):
        return tuple(_on_device(item, device) for item in value)
    return value


# Global random generators: Python, NumPy and torch.


def seed_everything(seed: int) -> None:
    """Seed the generators of Python, NumPy and torch."""
    random.seed(seed)
    np.random.seed(seed % 2**32)
    torch.manual_seed(seed)


def random_state(device: torch.device) -> dict[str, Any]:
    """Return states of the generators of Python, NumPy and torch, as plain values."""
    version, words, gauss = random.getstate()
    numpy = np.random.get_state(legacy=False)
    assert isinstance(numpy, dict)
    state: dict[str, Any] = {
        "python": {"version": version, "words": torch.tensor(words), "gauss": gauss},
        "numpy": {
            "key": torch.from_numpy(numpy["state"]["key"].astype(np.int64)),
            "pos": int(numpy["state"]["pos"]),
            "has_gauss": int(numpy["has_gauss"]),
            "gauss": float(numpy["gauss"]),
        },
        "torch": torch.get_rng_state(),
    }
    if device.type == "cuda":
        state["cuda"] = torch.cuda.get_rng_state(device)
    return state


def set_random_state(state: dict[str, Any], device: torch.device) -> None:
    """Restore the states of the generators."""
    python, numpy = state["python"], state["numpy"]
    words = tuple(python["words"].tolist())
    random.setstate((python["version"], words, python["gauss"]))
    key = numpy["key"].numpy().astype(np.uint32)
    np.random.set_state(
        ("MT19937", key, numpy["pos"], numpy["has_gauss"], numpy["gauss"])
    )
    torch.set_rng_state(state["torch"].cpu())
    if device.type == "cuda" and "cuda" in state:
        torch.cuda.set_rng_state(state["cuda"].cpu(), device)

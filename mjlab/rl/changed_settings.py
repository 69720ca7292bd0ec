"""Settings that the user changes when a run is resumed.

A checkpoint stores the current values of some settings: learning rate, action noise,
reward weights, command ranges. A setting that the user changes replaces its stored
value.
"""

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch

from mjlab.rl.config import AgentCfg
from mjlab.rl.learners import Learner, network_names
from mjlab.rl.models.config import GaussianCfg
from mjlab.rl.vecenv import TrainingEnv, terms_of
from mjlab.settings.file import Settings, parse_settings

_SHOWN = 40
"""Longest shown text of a value, in characters."""

_SEED = "env.seed"
_OPTIMIZER = "agent.algorithm.optimizer"
_LEARNING_RATE = "agent.algorithm.learning_rate"
_CURIOSITY_RATE = "agent.algorithm.rnd_cfg.learning_rate"


@dataclass(frozen=True)
class SettingChange:
    """Old and new value of a setting that the user changes."""

    before: Any
    """Value in the checkpoint's configuration, as JSON; None if there is none."""

    after: Any
    """Value in the current configuration, as JSON; None if there is none."""


def find_changes(
    saved: str, present: str, chosen: Collection[str] = ()
) -> dict[str, SettingChange]:
    """Return the changed settings by dotted path, such as "env.seed".

    Args:
        saved: Configuration in the checkpoint, as JSON. Empty if it has none.
        present: Current configuration, as JSON.
        chosen: Paths that the user typed. They are included even if the configuration
            has the same value, because training can have changed it.
    """
    if not saved or not present:
        return {}
    old, new = (parse_settings(text, "config.json")[1] for text in (saved, present))
    before, after = dict(_entries(old)), dict(_entries(new))
    found: dict[str, SettingChange] = {}
    for path in dict.fromkeys([*before, *after]):
        one, other = before.get(path), after.get(path)
        owner = path.rpartition(".")[0]
        is_shared = path in before and path in after
        # Skip fields that are newer than the file, or belong to a different class.
        is_field = owner in old.names or owner in new.names
        if not is_shared and is_field:
            continue
        if one != other or path in chosen:
            found[path] = SettingChange(one, other)
    return found


def _entries(settings: Settings) -> Iterator[tuple[str, Any]]:
    """Yield names and values by path, down to the entries of dictionaries."""
    yield from settings.names.items()
    for path, value in settings.values.items():
        yield from _inside(path, value)


def _inside(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    if not isinstance(value, dict) or not value:
        yield path, value
        return
    for key, item in value.items():
        # A tag, such as "$list", is not part of a path.
        yield from _inside(path if key.startswith("$") else f"{path}.{key}", item)


def find_fixed(changes: Mapping[str, SettingChange], env: TrainingEnv) -> str | None:
    """Return the first changed setting that an exact resume cannot apply.

    The worlds are restored as saved, with their seed, scene and start-up randomisation.
    The state of an optimiser cannot be loaded into a different one.

    Args:
        changes: The changed settings.
        env: The worlds.
    """
    fixed = [_SEED, "env.scene", "env.sim.backend", _OPTIMIZER]
    events = terms_of(env).cfg.events.items()
    fixed += [f"env.events.{n}" for n, one in events if one and one.mode == "startup"]
    for path, change in changes.items():
        is_fixed = any(f"{path}.".startswith(f"{part}.") for part in fixed)
        if is_fixed and change.before != change.after:
            return path
    return None


def changes_optimizer(changes: Mapping[str, SettingChange]) -> bool:
    """Return True if the optimiser changed, so that its state cannot be loaded."""
    change = changes.get(_OPTIMIZER)
    return change is not None and change.before != change.after


def describe(path: str, before: Any, after: Any) -> str:
    """Describe a change, as in "agent.algorithm.learning_rate 0.0019 -> 0.0001"."""
    return f"{path} {_shown(before)} -> {_shown(after)}"


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."


# The learner.


def apply_to_learner(
    changes: Mapping[str, SettingChange], learner: Learner, cfg: AgentCfg
) -> dict[str, str]:
    """Apply changed settings to the learner, after its state was restored.

    Returns:
        A description by path of each setting that replaced restored state.
    """
    lines: dict[str, str] = {}
    algorithm: Any = learner.algorithm
    if _LEARNING_RATE in changes:
        rate = float(changes[_LEARNING_RATE].after)
        lines[_LEARNING_RATE] = describe(_LEARNING_RATE, learner.learning_rate, rate)
        learner.set_learning_rate(rate)
    if _CURIOSITY_RATE in changes:
        rate = float(changes[_CURIOSITY_RATE].after)
        for group in algorithm.rnd.optimizer.param_groups:
            lines[_CURIOSITY_RATE] = describe(_CURIOSITY_RATE, group["lr"], rate)
            group["lr"] = rate
    policy = network_names(cfg)[0]
    noise = f"agent.{policy}.distribution_cfg.init_std"
    distribution = getattr(cfg, policy).distribution_cfg
    if noise in changes and isinstance(distribution, GaussianCfg):
        std = float(changes[noise].after)
        lines[noise] = describe(noise, _set_std(learner, distribution, std), std)
    return lines


def _set_std(learner: Learner, cfg: GaussianCfg, std: float) -> float:
    """Set the standard deviation of all actions; return the previous mean."""
    distribution: Any = learner.policy.distribution
    with torch.no_grad():
        if cfg.std_type == "log":
            before = distribution.log_std_param.exp().mean()
            distribution.log_std_param.fill_(std).log_()
        else:
            before = distribution.std_param.mean()
            distribution.std_param.fill_(std)
    return float(before)


# The worlds.

_KINDS = {"rewards": "reward", "terminations": "termination", "events": "event"}


def apply_to_worlds(
    changes: Mapping[str, SettingChange],
    state: dict[str, torch.Tensor],
    env: TrainingEnv,
) -> dict[str, str]:
    """Write the changed settings into a saved state of the worlds, in place.

    Args:
        changes: The changed settings.
        state: The saved state.
        env: The worlds, built from the current configuration.

    Returns:
        A description by path of each setting that replaced saved state.
    """
    places = {path: _find_place(path, env) for path in changes}
    held = {p: place for p, place in places.items() if place and place[0] in state}
    built = env.get_state() if held else {}
    lines: dict[str, str] = {}
    for path, (name, row) in held.items():
        before, after = state[name].clone(), built[name].to(state[name].device)
        lines[path] = describe(path, before[row].tolist(), after[row].tolist())
        before[row] = after[row]
        state[name] = before
    return lines


def _find_place(path: str, env: TrainingEnv) -> tuple[str, Any] | None:
    """Return the key and row of the state tensor that holds a setting."""
    bound, (_, kind, *parts) = terms_of(env), [*path.split("."), "", ""]
    match kind, *(part for part in parts if part):
        case "rewards", name, "weight":
            return "reward.weights", bound.reward_manager.column(name)
        case "commands", name, "ranges", *inside:
            ranges = getattr(bound.command_manager.term(name), "ranges", None)
            if isinstance(ranges, Mapping) and inside:
                return f"command.{name}.ranges", list(ranges).index(inside[0])
            return f"command.{name}.ranges", slice(None)
        case kind, name, "params", parameter, *_ if kind in _KINDS:
            return f"{_KINDS[kind]}.{name}.params.{parameter}", slice(None)
    return None

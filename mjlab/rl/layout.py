"""Layouts of policies and worlds, compared when a checkpoint is loaded.

A policy's layout lists its observations, actions and network shapes. The layout of the
worlds lists their number, engine and terms.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mjlab.rl.algorithms.critics import STYLE
from mjlab.rl.config import AgentCfg, PpoAgentCfg
from mjlab.rl.learners import network_names
from mjlab.rl.vecenv import TrainingEnv, terms_of
from mjlab.runs import CheckpointError


def policy_layout(
    env: TrainingEnv, cfg: AgentCfg, *, parts: tuple[str, ...] | None = None
) -> dict[str, Any]:
    """Return a policy's layout: observations, actions and networks, as plain values.

    Args:
        env: The environment.
        cfg: The learner.
        parts: Networks to include. None includes all; playing needs only the policy.
    """
    names = network_names(cfg) if parts is None else parts
    sets = [*names, STYLE] if _style(cfg, names) else names
    seen = {group for name in sets for group in cfg.obs_groups.get(name, ())}
    bound = terms_of(env)
    observations, actions = bound.observation_manager, bound.action_manager
    shapes = observations.group_obs_term_dim
    return {
        "observation": {
            group: {
                term: list(shape)
                for term, shape in zip(terms, shapes[group], strict=True)
            }
            for group, terms in observations.active_terms.items()
            if group in seen or any(name.startswith(f"{group}/") for name in seen)
        },
        "action": {
            term: [
                f"{target.entity}/{target.name} {target.quantity}"
                for target in actions.term(term).targets
            ]
            or actions.term(term).action_dim
            for term in actions.active_terms
        },
        "agent": {
            name: {
                "sees": list(cfg.obs_groups.get(name, ())),
                "model": _form(getattr(cfg, name)),
                **_critics(cfg, name),
            }
            for name in names
        }
        | _style(cfg, names),
    }


def _critics(cfg: AgentCfg, name: str) -> dict[str, Any]:
    """Return the additional critics as a layout entry, {} without any."""
    if name != "critic" or not isinstance(cfg, PpoAgentCfg) or not cfg.critics:
        return {}
    return {"critics": list(cfg.critics)}


def _style(cfg: AgentCfg, names: Sequence[str]) -> dict[str, Any]:
    """Return the discriminator as a layout entry, {} without one or for playing."""
    if not isinstance(cfg, PpoAgentCfg) or cfg.style is None or "critic" not in names:
        return {}
    form = {"kind": "style", "hidden_dims": list(cfg.style.hidden_dims)}
    return {STYLE: {"sees": list(cfg.obs_groups[STYLE]), "model": form}}


def saved_layout(model: Mapping[str, Any], cfg: AgentCfg) -> dict[str, Any]:
    """Return the layout that a policy was saved with.

    A configuration field that is newer than the file has its default.

    Args:
        model: State shared by all processes, from a checkpoint.
        cfg: The present learner.
    """
    saved = model["layout"]
    networks = {}
    for name, network in saved["agent"].items():
        here, form = getattr(cfg, name, None), network["model"]
        if here is not None and type(here).__name__ == form["kind"]:
            known = _defaults(type(here)) | form
            form = {key: known[key] for key in {**_form(here), **known} if key in known}
        networks[name] = network | {"model": form}
    return saved | {"agent": networks}


_INITIAL = ("init_std",)
"""Fields that only affect a network's initial weights."""


def _form(value: Any) -> Any:
    """Return the shape-relevant configuration of a network, as plain values."""
    if dataclasses.is_dataclass(value):
        names = [f.name for f in dataclasses.fields(value) if f.name not in _INITIAL]
        fields = {name: _form(getattr(value, name)) for name in names}
        return {"kind": type(value).__name__, **fields}
    if isinstance(value, Mapping):
        return {key: _form(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_form(item) for item in value]
    return value.__qualname__ if callable(value) else value


def _defaults(kind: type) -> dict[str, Any]:
    """Return the defaults of a configuration's fields, as plain values."""
    missing, found = dataclasses.MISSING, {}
    for field in dataclasses.fields(kind):
        if field.default_factory is not missing:
            found[field.name] = _form(field.default_factory())
        elif field.default is not missing:
            found[field.name] = _form(field.default)
    return found


def worlds_layout(env: TrainingEnv) -> dict[str, Any]:
    """Return the layout of the worlds as plain values."""
    bound = terms_of(env)
    managers = {
        "command": bound.command_manager,
        "reward": bound.reward_manager,
        "termination": bound.termination_manager,
        "event": bound.event_manager,
        "curriculum": bound.curriculum_manager,
        "metrics": bound.metrics_manager,
    }
    return {
        "num_envs": env.num_envs,
        "engine": bound.sim.backend.engine,
    } | {
        kind: dict.fromkeys(manager.active_terms, "present")
        for kind, manager in managers.items()
    }


def check_layout(saved: Any, present: Any, path: Path) -> None:
    """Raise if the layout of a checkpoint differs, with a list of the differences."""
    differences = list(_differences(saved, present, ""))
    if differences:
        listed = "\n".join(f"  {line}" for line in differences[:10])
        more = len(differences) - 10
        listed += f"\n  and {more} more" if more > 0 else ""
        raise CheckpointError(
            f"{path} does not fit this environment and agent. Differences, with the "
            f"saved value first:\n{listed}"
        )


def _differences(saved: Any, present: Any, where: str) -> Any:
    if isinstance(saved, dict) and isinstance(present, dict):
        for key in [*saved, *(key for key in present if key not in saved)]:
            part = f"{where}/{key}" if where else str(key)
            if key not in present:
                yield f"{part}: {saved[key]}, absent here"
            elif key not in saved:
                yield f"{part}: absent, {present[key]} here"
            else:
                yield from _differences(saved[key], present[key], part)
        if saved.keys() == present.keys() and list(saved) != list(present):
            orders = f"{', '.join(saved)}; {', '.join(present)} here"
            yield f"{where}: the order was {orders}"
    elif saved != present:
        yield f"{where}: {saved}, {present} here"

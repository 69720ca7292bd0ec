"""Initial weights from a run of another task, matched by observation and action names.

For example, a flat-ground policy initialises the training on rough ground. Columns of
common observations and actions are copied. Weights of new observations start at zero,
so that the initial policy acts like the old one.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import torch

from mjlab.rl.checkpoint import load_model, policy_weights
from mjlab.rl.config import AgentCfg
from mjlab.rl.layout import policy_layout, saved_layout
from mjlab.rl.learners import Learner, network_names
from mjlab.rl.vecenv import RslRlVecEnv
from mjlab.runs import CheckpointError
from mjlab.runs.checkpoints import find_checkpoint

_LAYER = re.compile(r"mlp\.(?:mlp\.)?(\d+)\.(weight|bias)")

_FREE = ("distribution_cfg", "output_gain")
"""Configuration fields that affect a network's initial weights, not its shape."""

_SHOWN = 3

Named = dict[str, int]
"""Number of columns by name, in column order."""


@dataclass(frozen=True)
class _Match:
    """Columns that a new network takes from an old one."""

    taken: list[str]
    """Names in both networks, with equal numbers of columns."""

    added: list[str]
    """Names in the new network only."""

    new: torch.Tensor
    """Indices of these columns in the new network."""

    old: torch.Tensor
    """Indices of these columns in the old network."""

    is_whole: bool
    """True if both networks have the same names in the same order."""


def take_weights(
    place: Path, learner: Learner, worlds: RslRlVecEnv, cfg: AgentCfg
) -> list[str]:
    """Initialise a learner's networks from a run, where both tasks agree by name.

    Observations match if a group has a term of the same name and shape, actions if they
    have the same target. Weights of other observations start at zero, and their
    normalisation statistics are initialised from the current observations. The sample
    count of the normalisation is copied. A copied action keeps its noise. Optimiser,
    progress and hooks are not copied.

    Args:
        place: A checkpoint, or a run folder, of which the newest one is used.
        learner: The learner to initialise.
        worlds: The learner's worlds.
        cfg: The learner's configuration.

    Returns:
        Lines that report copied and new columns.

    Raises:
        CheckpointError: If the run has another robot, or a policy of another shape.
    """
    path = find_checkpoint(place)
    model = load_model(path, worlds.env.device)
    before, now = saved_layout(model, cfg), policy_layout(worlds.env, cfg)
    acts = _match(_targets(before["action"]), _targets(now["action"]))
    if not acts.taken:
        there, here = (_few(_targets(side["action"])) for side in (before, now))
        raise CheckpointError(
            f"{path} is from another robot, with actions for {there}; this robot has "
            f"actions for {here}. Name a run with the same action names."
        )
    lines = [f"Initial weights from {path}."]
    names = network_names(cfg)
    acted = next(iter(before["agent"]))
    for name in names:
        # The first network acts. In a run of distillation it is the student, whose
        # weights can become an actor's.
        source = acted if name == names[0] else name
        if name == names[0]:
            state = policy_weights(model, source)
        else:
            state = model["learner"]["algorithm"].get(f"{source}_state_dict")
        fault = _find_fault(name, source, state, before, now)
        if fault is None:
            network = getattr(learner.algorithm, name)
            sees = _match(_columns(before, source), _columns(now, name))
            does = acts if name != "critic" else None
            _take(network, state, sees, does)
            if sees.added:
                _begin_normaliser(network, sees, worlds)
            lines.append(_story(name, sees, does))
        elif name == names[0]:
            remedy = _remedy(before["agent"], now["agent"], names)
            raise CheckpointError(f"{path} does not fit: {fault}.{remedy}")
        else:
            lines.append(f"  {name}: newly initialised, because {fault}")
    hooks = dict.fromkeys([*model["hooks"], *cfg.hooks])
    return [*lines, *(f"  hook {name}: newly initialised" for name in hooks)]


# Names of columns.


def _targets(action: Mapping[str, Any]) -> Named:
    """Return the targets of the actions; a term without names is one entry."""
    found: Named = {}
    for term, targets in action.items():
        if isinstance(targets, int):
            found[term] = targets
        else:
            found |= dict.fromkeys(targets, 1)
    return found


def _columns(layout: Mapping[str, Any], name: str) -> Named:
    """Return the observation columns of a network, by group and term."""
    groups = layout["observation"]
    return {
        f"{group}/{term} {tuple(shape)}": prod(shape)
        for group in layout["agent"][name]["sees"]
        for term, shape in groups.get(group, {}).items()
    }


def _match(old: Named, new: Named) -> _Match:
    """Return the columns that two networks have in common."""
    starts, places = _starts(old), _starts(new)
    taken = [name for name, size in new.items() if old.get(name) == size]
    return _Match(
        taken=taken,
        added=[name for name in new if name not in taken],
        new=_indices(taken, places, new),
        old=_indices(taken, starts, old),
        is_whole=list(old.items()) == list(new.items()),
    )


def _starts(named: Named) -> Named:
    found, start = {}, 0
    for name, size in named.items():
        found[name] = start
        start += size
    return found


def _indices(names: list[str], starts: Named, sizes: Named) -> torch.Tensor:
    ranges = [torch.arange(starts[n], starts[n] + sizes[n]) for n in names]
    return torch.cat([torch.empty(0, dtype=torch.int64), *ranges])


# Networks.


def _find_fault(
    name: str,
    source: str,
    state: Any,
    before: Mapping[str, Any],
    now: Mapping[str, Any],
) -> str | None:
    """Return the reason if a network cannot be copied, else None.

    Args:
        name: Name of the network in the learner.
        source: Name of the network in the run.
        state: Weights of the network in the run, None if missing.
        before: Layout of the run.
        now: Layout of the learner.
    """
    if state is None or source not in before["agent"]:
        return f"the run was saved without its {source}"
    if "critics" in before["agent"][source] or "critics" in now["agent"][name]:
        return "the run or this configuration has several critics"
    there = before["agent"][source]["model"]
    here = now["agent"][name]["model"]
    for field in dict.fromkeys([*here, *there]):
        if field not in _FREE and there.get(field) != here.get(field):
            return (
                f"agent.{name}.{field} is {there.get(field)} in the run and "
                f"{here.get(field)} here"
            )
    kinds = [(side["distribution_cfg"] or {}).get("kind") for side in (there, here)]
    if kinds[0] != kinds[1]:
        return f"its distribution is {kinds[0]} in the run and {kinds[1]} here"
    if _match(_columns(before, source), _columns(now, name)).is_whole:
        return None
    if "rnn_type" in here or "cnn_cfg" in here:
        return "its observations differ, which only an MLP supports"
    return None


def _remedy(
    before: Mapping[str, Any], now: Mapping[str, Any], names: tuple[str, ...]
) -> str:
    """Return the options that give the networks the same shape as in the run."""
    options = []
    for name in names:
        there, here = (side.get(name, {}).get("model", {}) for side in (before, now))
        for field in there.keys() & here.keys() - {*_FREE, "kind"}:
            value = there[field]
            if value != here[field] and not isinstance(value, dict):
                values = value if isinstance(value, list) else [value]
                option = f"--agent.{name}.{field}".replace("_", "-")
                options.append(" ".join([option, *map(str, values)]))
    return f" To match the run, use {' '.join(sorted(options))}" if options else ""


def _take(
    network: torch.nn.Module,
    state: Mapping[str, torch.Tensor],
    sees: _Match,
    does: _Match | None,
) -> None:
    """Copy matching weights and statistics; zero the input weights of new columns."""
    present: dict[str, torch.Tensor] = network.state_dict()
    layers = [int(found[1]) for key in present if (found := _LAYER.fullmatch(key))]
    for key, new in present.items():
        old, layer = state[key], _LAYER.fullmatch(key)
        number = None if layer is None else int(layer[1])
        columns = rows = None
        if new.dim() == 2 and (number == min(layers) or key.startswith("obs_")):
            columns = None if sees.is_whole else sees
        if number == max(layers) or key.startswith("distribution."):
            rows = None if does is None or does.is_whole else does
        if columns is not None and number is not None:
            new.zero_()
        _copy(new, old, rows, columns)


def _copy(
    new: torch.Tensor, old: torch.Tensor, rows: _Match | None, columns: _Match | None
) -> None:
    """Copy matching rows and columns. None selects all of them."""
    if rows is not None:
        part = new[rows.new]
        _copy(part, old[rows.old], None, columns)
        new[rows.new] = part
    elif columns is not None:
        new[..., columns.new] = old[..., columns.old]
    else:
        new.copy_(old)


def _begin_normaliser(network: Any, sees: _Match, worlds: RslRlVecEnv) -> None:
    """Initialise the statistics of new columns from the current observations.

    The other columns keep their statistics and sample count, because the policy depends
    on the normalised observations. With statistics that moved halfway to the new task
    within an iteration, a walking humanoid fell within a second (docs/decisions/0023).
    """
    if not network.obs_normalization:
        return
    normaliser = network.obs_normalizer
    taken = {name: value.clone() for name, value in normaliser.state_dict().items()}
    for value in (normaliser._mean, normaliser._var, normaliser.count):
        value.zero_()
    network.update_normalization(worlds.get_observations())
    # Columns that are constant at first, such as the last action, will vary later.
    normaliser._var[normaliser._var == 0.0] = 1.0
    for name in ("_mean", "_var"):
        getattr(normaliser, name)[:, sees.new] = taken[name][:, sees.new]
    normaliser._std.copy_(normaliser._var.sqrt())
    normaliser.count.copy_(taken["count"])


# Report.


def _story(name: str, sees: _Match, does: _Match | None) -> str:
    taken = f"{len(sees.taken)} observations ({len(sees.new)} columns)"
    line = f"  {name}: copied {taken}"
    if does is not None:
        line += f" and {len(does.taken)} actions"
    added = [*sees.added, *([] if does is None else does.added)]
    return f"{line}; new: {_few(added)}" if added else f"{line}; nothing is new"


def _few(names: Named | list[str]) -> str:
    first = list(names)[:_SHOWN]
    more = len(names) - len(first)
    return ", ".join(first) + (f" and {more} more" if more > 0 else "")

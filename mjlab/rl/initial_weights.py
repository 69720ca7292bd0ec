"""First weights of a training, taken from a run of another task by names.

A policy of flat ground starts the training on rough ground: what both tasks observe and
act on is taken column by column. Weights of what only the new task observes begin at
zero, so that the first policy acts as the old one did.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import torch

from mjlab.rl.checkpoint import load_model
from mjlab.rl.config import AgentCfg
from mjlab.rl.layout import policy_layout, saved_layout
from mjlab.rl.learners import Learner, network_names
from mjlab.rl.vecenv import RslRlVecEnv
from mjlab.runs import CheckpointError
from mjlab.runs.checkpoints import find_checkpoint

_LAYER = re.compile(r"mlp\.(?:mlp\.)?(\d+)\.(weight|bias)")

_FREE = ("distribution_cfg", "output_gain")
"""Fields of a network's model that say how it begins, not which form it has."""

_SHOWN = 3

Named = dict[str, int]
"""Names of neighbouring columns, each with how many it has."""


@dataclass(frozen=True)
class _Match:
    """Columns of a new network that are taken from an old one."""

    taken: list[str]
    """Names that both have, with as many columns."""

    added: list[str]
    """Names that only the new network has."""

    new: torch.Tensor
    """Places in the new network of the columns that are taken."""

    old: torch.Tensor
    """Their places in the old one."""

    is_whole: bool
    """Both networks have the same names in the same order."""


def take_weights(
    place: Path, learner: Learner, worlds: RslRlVecEnv, cfg: AgentCfg
) -> list[str]:
    """Begin with the networks of a run, where both tasks agree by name.

    Observations agree where a group has a term of the same name and shape, actions
    where they have the same target. The weights of other observations begin at zero,
    their normalisation at what the worlds observe now, and what is known of all
    observations counts as one iteration. Noise is taken with its action. Optimiser,
    progress and hooks begin anew.

    Args:
        place: A checkpoint, or a folder of a run, whose newest one is taken.
        learner: The learner that begins.
        worlds: Its worlds.
        cfg: Its configuration.

    Returns:
        Lines that say what was taken, and what is new.

    Raises:
        CheckpointError: If the run is of another robot, or its policy of another form.
    """
    path = find_checkpoint(place)
    model = load_model(path, worlds.env.device)
    before, now = saved_layout(model, cfg), policy_layout(worlds.env, cfg)
    acts = _match(_targets(before["action"]), _targets(now["action"]))
    if not acts.taken:
        there, here = (_few(_targets(side["action"])) for side in (before, now))
        raise CheckpointError(
            f"{path} is of another robot, which moves {there}; the one here moves "
            f"{here}. Name a run of a robot that moves what has these names."
        )
    lines = [f"First weights are those of {path}."]
    names = network_names(cfg)
    acted = next(iter(before["agent"]))
    for name in names:
        # A student that has learned acts as well as an actor.
        source = acted if name == names[0] else name
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
            lines.append(f"  {name}: all new, because {fault}")
    hooks = dict.fromkeys([*model["hooks"], *cfg.hooks])
    return [*lines, *(f"  hook {name}: all new" for name in hooks)]


# Names of columns.


def _targets(action: Mapping[str, Any]) -> Named:
    """Return what actions move; a term without names counts as a whole."""
    found: Named = {}
    for term, targets in action.items():
        if isinstance(targets, int):
            found[term] = targets
        else:
            found |= dict.fromkeys(targets, 1)
    return found


def _columns(layout: Mapping[str, Any], name: str) -> Named:
    """Return what a network observes, by group and term."""
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
    """Return why a network cannot be taken, None if it can.

    Args:
        name: The network here.
        source: The one there.
        state: Its weights, None where there are none.
        before: The layout there.
        now: The layout here.
    """
    if state is None or source not in before["agent"]:
        return f"the run was saved without its {source}"
    there = before["agent"][source]["model"]
    here = now["agent"][name]["model"]
    for field in dict.fromkeys([*here, *there]):
        if field not in _FREE and there.get(field) != here.get(field):
            return (
                f"agent.{name}.{field} is {there.get(field)} there and "
                f"{here.get(field)} here"
            )
    kinds = [(side["distribution_cfg"] or {}).get("kind") for side in (there, here)]
    if kinds[0] != kinds[1]:
        return f"its actions are drawn by {kinds[0]} there and by {kinds[1]} here"
    if _match(_columns(before, source), _columns(now, name)).is_whole:
        return None
    if "rnn_type" in here or "cnn_cfg" in here:
        return "it observes something else, and is no perceptron"
    return None


def _remedy(
    before: Mapping[str, Any], now: Mapping[str, Any], names: tuple[str, ...]
) -> str:
    """Return the options that give networks the form that they have there."""
    options = []
    for name in names:
        there, here = (side.get(name, {}).get("model", {}) for side in (before, now))
        for field in there.keys() & here.keys() - {*_FREE, "kind"}:
            value = there[field]
            if value != here[field] and not isinstance(value, dict):
                values = value if isinstance(value, list) else [value]
                option = f"--agent.{name}.{field}".replace("_", "-")
                options.append(" ".join([option, *map(str, values)]))
    return (
        f" Networks as they are there: {' '.join(sorted(options))}" if options else ""
    )


def _take(
    network: torch.nn.Module,
    state: Mapping[str, torch.Tensor],
    sees: _Match,
    does: _Match | None,
) -> None:
    """Write the weights and statistics that agree, and zero where others come in."""
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
    """Copy the rows and columns that agree. None takes all of them."""
    if rows is not None:
        part = new[rows.new]
        _copy(part, old[rows.old], None, columns)
        new[rows.new] = part
    elif columns is not None:
        new[..., columns.new] = old[..., columns.old]
    else:
        new.copy_(old)


def _begin_normaliser(network: Any, sees: _Match, worlds: RslRlVecEnv) -> None:
    """Give new columns statistics of now.

    The others keep theirs, with their weight: the policy acts by what they make of an
    observation. Statistics that half followed the new task within an iteration had a
    humanoid that walked fall within a second (docs/decisions.md).
    """
    if not network.obs_normalization:
        return
    normaliser = network.obs_normalizer
    taken = {name: value.clone() for name, value in normaliser.state_dict().items()}
    for value in (normaliser._mean, normaliser._var, normaliser.count):
        value.zero_()
    network.update_normalization(worlds.get_observations())
    # What is the same everywhere at first, as the last action is, will not stay so.
    normaliser._var[normaliser._var == 0.0] = 1.0
    for name in ("_mean", "_var"):
        getattr(normaliser, name)[:, sees.new] = taken[name][:, sees.new]
    normaliser._std.copy_(normaliser._var.sqrt())
    normaliser.count.copy_(taken["count"])


# What is said.


def _story(name: str, sees: _Match, does: _Match | None) -> str:
    taken = f"{len(sees.taken)} observations ({len(sees.new)} columns)"
    line = f"  {name}: took {taken}"
    if does is not None:
        line += f" and {len(does.taken)} actions"
    added = [*sees.added, *([] if does is None else does.added)]
    return f"{line}; new: {_few(added)}" if added else f"{line}; nothing is new"


def _few(names: Named | list[str]) -> str:
    first = list(names)[:_SHOWN]
    more = len(names) - len(first)
    return ", ".join(first) + (f" and {more} more" if more > 0 else "")

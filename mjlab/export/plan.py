"""The terms that a network sees, and a group of measurements that they come from.

An input is what a term measures, before clip, scale and history. Terms that give joints
relative to their defaults or limits take the joints as they are: whoever feeds them
need not know the defaults.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from mjlab import mdp
from mjlab.envs import ManagerBasedRlEnvCfg
from mjlab.export import motion as clips
from mjlab.export.forms import TIMED
from mjlab.managers import ObservationGroupCfg, ObservationTermCfg
from mjlab.managers.managed_env import ManagedEnv
from mjlab.managers.observation_config import resolve_delay
from mjlab.mdp.lookup import ROBOT
from mjlab.names import UnknownNameError, suggest
from mjlab.scene import Selection
from mjlab.settings.file import as_data

GROUP = "onnx"
"""Name of the group that gives an environment's measurements, by input."""


def encoder_pos(
    env: ManagedEnv, biased: bool = False, asset_cfg: Selection = ROBOT
) -> torch.Tensor:
    """Positions of the chosen joints, m or rad; `biased` as their encoders are."""
    data = asset_cfg.entity.data
    position = data.joint_pos_biased if biased else data.joint_pos
    return position[:, asset_cfg.joint_ids]


MEASURED: dict[Any, Any] = {
    mdp.joint_pos_rel: encoder_pos,
    mdp.joint_vel_rel: mdp.joint_vel,
    mdp.joint_pos_limit_normalized: mdp.joint_pos,
    **clips.MEASURED,
}
"""By term, what measures the joints, or the anchor, that it makes something of."""


@dataclass(frozen=True)
class OnnxInput:
    """A term that the network sees."""

    input: str
    """Name of the input that it comes from."""

    group: str
    """The group that it is in."""

    term: str
    """Its name there."""

    cfg: ObservationTermCfg
    """Its options there."""

    @property
    def place(self) -> str:
        """Its name in the environment."""
        return f"{self.group}/{self.term}"

    @property
    def label(self) -> str:
        """Its name in messages."""
        return f"Observation term {self.place!r}"

    @property
    def is_measured(self) -> bool:
        """True if it comes from an input, and not from what the file knows itself."""
        return self.cfg.func is not mdp.last_action and self.cfg.func not in TIMED


def plan(cfg: ManagerBasedRlEnvCfg, seen: Sequence[str]) -> list[OnnxInput]:
    """Return the terms that a network sees, with the names of their inputs.

    Two groups that have the same term take it from one input.

    Args:
        cfg: The environment.
        seen: Groups, or "group/term" of one that is not concatenated.
    """
    planned: list[OnnxInput] = []
    for name in seen:
        group, _, only = name.partition("/")
        for term, options in group_cfg(cfg, group).terms.items():
            if options is None or only not in ("", term):
                continue
            same = [p for p in planned if p.term == term]
            shared = [p.input for p in same if _is_same(p.cfg, options)]
            named = clips.INPUTS.get(options.func, term)
            fresh = f"{group}_{named}" if same else named
            chosen = shared[0] if shared else fresh
            planned.append(OnnxInput(chosen, group, term, options))
    return planned


def measured_group(
    cfg: ManagerBasedRlEnvCfg, inputs: Mapping[str, str], *, delayed: bool = True
) -> ObservationGroupCfg:
    """Return a group that measures the inputs of a file, with noise and delay.

    Args:
        cfg: The environment that has the terms.
        inputs: Place of the term of each input, such as "actor/joint_pos".
        delayed: Make values as late as the terms say.
    """
    late = {} if delayed else {"delay": None, "delay_min_lag": 0, "delay_max_lag": 0}
    terms: dict[str, ObservationTermCfg | None] = {}
    corrupted = False
    for name, place in inputs.items():
        group, _, term = place.partition("/")
        holder = group_cfg(cfg, group)
        corrupted |= holder.enable_corruption
        options = holder.terms.get(term)
        if options is None:
            there = [key for key, value in holder.terms.items() if value is not None]
            raise UnknownNameError(
                f"The file's input {name!r} is measured by the observation term "
                f"{place!r}, which the task does not have. {suggest(term, there)}"
            )
        func = MEASURED.get(options.func, options.func)
        # The noise of what is made of an anchor's pose says nothing of the pose.
        silent = {"noise": None} if options.func in clips.MEASURED else {}
        changes = late | silent | {"clip": None, "scale": None, "history_length": 0}
        terms[name] = replace(options, func=func, **changes)
    return ObservationGroupCfg(
        terms=terms, concatenate_terms=False, enable_corruption=corrupted
    )


def group_cfg(cfg: ManagerBasedRlEnvCfg, name: str) -> ObservationGroupCfg:
    """Return a group of observations."""
    found = cfg.observations.get(name)
    if found is None:
        there = [key for key, group in cfg.observations.items() if group is not None]
        raise UnknownNameError(
            f"There is no observation group {name!r}. {suggest(name, there)}"
        )
    return found


def _is_same(one: ObservationTermCfg, other: ObservationTermCfg) -> bool:
    """Return True if two terms measure the same, and equally late."""
    if one.func is not other.func:
        return False
    if one.params is not other.params and as_data(one.params) != as_data(other.params):
        return False
    return resolve_delay(one, "It") == resolve_delay(other, "It")

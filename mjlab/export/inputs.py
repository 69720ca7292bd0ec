"""From what is measured to what the network sees: observation terms as a graph.

An input is what a term measures, before clip, scale and history. Terms that give joints
relative to their defaults or limits take the joints as they are: whoever feeds them
need not know the defaults.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import torch

from mjlab import mdp
from mjlab.envs import ManagerBasedRlEnv, ManagerBasedRlEnvCfg
from mjlab.export import motion as clips
from mjlab.export.graph import Graph
from mjlab.export.quantities import describe, meaning
from mjlab.export.reader import ExportError
from mjlab.managers import ObservationGroupCfg, ObservationTermCfg
from mjlab.managers.managed_env import ManagedEnv
from mjlab.managers.observation_config import resolve_delay
from mjlab.managers.observation_group import ObservationGroup
from mjlab.managers.observation_noise import TermSlot
from mjlab.managers.term import BoundTerm
from mjlab.mdp.lookup import ROBOT
from mjlab.names import UnknownNameError, suggest
from mjlab.scene import Selection
from mjlab.schema import to_data

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
        """True if it comes from an input, and not from the policy's own past."""
        return self.cfg.func is not mdp.last_action


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
        for term, options in _group(cfg, group).terms.items():
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
        holder = _group(cfg, group)
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


class Observer:
    """Adds all that happens between measurements and the network to a graph."""

    def __init__(self, graph: Graph, env: ManagerBasedRlEnv) -> None:
        """Take an environment in its nominal form.

        Args:
            graph: Where to add it.
            env: The environment, with the group of measurements.
        """
        self.inputs: list[dict[str, Any]] = []
        """Descriptions of the inputs, for the contract."""
        self.clips: clips.ClipConstants | None = None
        """The clips that the policy follows, if it does."""
        self.last_action: str | None = None
        """The value of the last action, if a term sees it."""
        self._graph = graph
        self._env = env
        self._begun: str | None = None
        self._added: dict[str, str] = {}

    def add(self, planned: Sequence[OnnxInput], seen: Sequence[str]) -> dict[str, str]:
        """Add all terms; return the value of each group, as one world sees it."""
        self._add_clips(planned)
        terms = {each.place: self._term(each) for each in planned}
        values = {}
        for name in seen:
            if "/" in name:
                values[name] = terms[name]
                continue
            group = self._env.observation_manager.groups[name]
            options = _group(self._env.cfg, name)
            if not options.concatenate_terms:
                raise ExportError(
                    f"The policy sees the observation group {name!r}, whose terms are "
                    f'not concatenated. Name its terms, as "{name}/TERM".'
                )
            parts = [terms[f"{name}/{slot.name}"] for slot in group.slots]
            axis = options.concatenate_dim
            values[name] = self._graph.join(parts, axis)
        if self._begun is not None:
            self._graph.remember("begun", self._graph.constant([1.0]))
        return values

    def _add_clips(self, planned: Sequence[OnnxInput]) -> None:
        """Add the clips, if terms are about one, and the input that says where."""
        about = [each for each in planned if each.cfg.func in clips.MEASURED]
        if not about:
            return
        clocks = [each for each in about if each.input == clips.TIME_STEP]
        if not clocks:
            raise ExportError(
                f"{about[0].label} compares the robot with a clip, but the policy does "
                "not see the clip: give it the term motion_reference."
            )
        group = self._env.observation_manager.groups[clocks[0].group]
        slot = next(s for s in group.slots if s.name == clocks[0].term)
        term = self._env.observation_manager.term(clocks[0].place)
        value = self._input(clocks[0], slot, term)
        names = [each.cfg.params["command_name"] for each in about]
        self.clips = clips.clip_constants(self._graph, self._env, names, value)

    def _term(self, planned: OnnxInput) -> str:
        manager = self._env.observation_manager
        group = manager.groups[planned.group]
        slot = next(s for s in group.slots if s.name == planned.term)
        term = manager.term(planned.place)
        if not planned.is_measured:
            value = self._last_action(planned, term)
        else:
            _check_memory(planned, term)
            value = self._input(planned, slot, term)
            if self.clips is not None and term.cfg.func in clips.MEASURED:
                value = self.clips.add(term.cfg.func, value)
            value = self._made_of(term, value)
        value = self._stages(slot, group, value)
        return self._history(planned, slot, value)

    def _input(self, planned: OnnxInput, slot: TermSlot, term: BoundTerm) -> str:
        """Return the input that a term comes from, which another may have added."""
        if planned.input in self._added:
            return self._added[planned.input]
        if term.cfg.func in clips.MEASURED:
            # The robot is measured, and not what the term makes of it.
            manager = self._env.observation_manager
            slots = manager.groups[GROUP].slots
            slot = next(s for s in slots if s.name == planned.input)
            term = manager.term(f"{GROUP}/{planned.input}")
        quantity = describe(self._env, term, term())
        delay = resolve_delay(planned.cfg, planned.label)
        noise = planned.cfg.noise
        func = MEASURED.get(term.cfg.func)
        dtype = str(slot.dtype).removeprefix("torch.")
        self.inputs.append(
            {
                "name": planned.input,
                "shape": list(slot.shape),
                "dtype": dtype,
                **asdict(quantity),
                "meaning": meaning(func or term.cfg.func),
                "observation": planned.place,
                "sensor": term.params.get("sensor_name"),
                "delay_in_training": None if delay is None else asdict(delay),
                "noise_in_training": None if noise is None else to_data(noise),
            }
        )
        value = self._graph.input(planned.input, slot.shape, dtype)
        self._added[planned.input] = value
        return value

    def _last_action(self, planned: OnnxInput, term: BoundTerm) -> str:
        if resolve_delay(planned.cfg, planned.label) is not None:
            raise ExportError(
                f"{planned.label} is the last action with a delay, which cannot be "
                "written to an ONNX file: nothing outside measures it."
            )
        manager = self._env.action_manager
        if self.last_action is None:
            self.last_action = self._graph.state(
                "last_action",
                (manager.total_action_dim,),
                "The action of the last call, as the network put it out.",
            )
        name = term.params.get("action_name")
        if name is None:
            return self.last_action
        start = 0
        for key, part in manager.terms.items():
            if key == name:
                break
            start += part.action_dim
        stop = start + manager.term(name).action_dim
        return self._graph.part(self.last_action, start, stop)

    def _made_of(self, term: BoundTerm, value: str) -> str:
        """Add what a term makes of its measurement."""
        if term.cfg.func not in _AFFINE:
            return value
        chosen = term.params.get("asset_cfg") or ROBOT.resolve(self._env.scene)
        factor, offset = _AFFINE[term.cfg.func](chosen)
        if factor is not None:
            value = self._graph.add("Mul", value, self._graph.constant(factor.numpy()))
        return self._graph.add("Add", value, self._graph.constant(offset.numpy()))

    def _stages(self, slot: TermSlot, group: ObservationGroup, value: str) -> str:
        """Add clip, scale and the check for NaN, in this order."""
        graph, cfg = self._graph, slot.cfg
        if cfg.clip is not None:
            low, high = (graph.constant(float(bound)) for bound in cfg.clip)
            value = graph.add("Clip", value, low, high)
        if cfg.scale is not None:
            scale = torch.as_tensor(cfg.scale, dtype=torch.float32).cpu()
            factors = scale.expand(slot.shape).contiguous().numpy()
            value = graph.add("Mul", value, graph.constant(factors))
        if group.nan_policy == "sanitize" and slot.dtype == torch.float32:
            zero = graph.constant(0.0)
            # What is finite, and only that, is zero less itself.
            is_good = graph.add("Equal", graph.add("Sub", value, value), zero)
            value = graph.add("Where", is_good, value, zero)
        return value

    def _history(self, planned: OnnxInput, slot: TermSlot, value: str) -> str:
        """Add the latest values, the oldest first; at first all are the present one."""
        if not slot.history:
            return value
        graph, past = self._graph, slot.history - 1
        row = graph.shaped(value, (1, -1))
        if past:
            name = f"history_{planned.group}_{planned.term}"
            shape = (past, slot.width)
            remembered = graph.state(
                name,
                shape,
                f"The values of {planned.place} before the present one, the oldest "
                "first, after clip and scale.",
                dtype=str(slot.dtype).removeprefix("torch."),
            )
            filled = graph.add("Expand", row, graph.constant(shape, "int64"))
            earlier = graph.add("Where", self._has_begun(), remembered, filled)
            row = graph.join([earlier, row])
            graph.remember(name, graph.part(row, 1, slot.history))
        return graph.shaped(row, slot.output_shape)

    def _has_begun(self) -> str:
        """Add the answer to: was there a call before this one?"""
        if self._begun is None:
            state = self._graph.state(
                "begun", (1,), "0 at the first call, whose values fill histories."
            )
            half = self._graph.constant(0.5)
            self._begun = self._graph.add("Greater", state, half)
        return self._begun


def _check_memory(planned: OnnxInput, term: BoundTerm) -> None:
    """Raise for a term whose value depends on more than the present moment."""
    if term.instance is not None and term.instance.state():
        kind = type(term.instance).__name__
        kept = ", ".join(term.instance.state())
        raise ExportError(
            f"{planned.label} is a {kind}, which remembers {kept}. An ONNX file cannot "
            "say how. Have the policy see what it is made of, with a history."
        )


def _default_pos(chosen: Selection) -> tuple[torch.Tensor | None, torch.Tensor]:
    return None, -chosen.entity.data.default_joint_pos[0, chosen.joint_ids].cpu()


def _default_vel(chosen: Selection) -> tuple[torch.Tensor | None, torch.Tensor]:
    return None, -chosen.entity.data.default_joint_vel[0, chosen.joint_ids].cpu()


def _limits(chosen: Selection) -> tuple[torch.Tensor | None, torch.Tensor]:
    """-1 at the lower limit, 1 at the upper one, and always 0 without limits."""
    limits = chosen.entity.data.soft_joint_pos_limits[0, chosen.joint_ids].cpu()
    low, high = limits[:, 0].double(), limits[:, 1].double()
    bounded = low.isfinite() & high.isfinite()
    factor = torch.where(bounded, 2.0 / (high - low), 0.0)
    offset = torch.where(bounded, -(low + high) / (high - low), 0.0)
    return factor.float(), offset.float()


_AFFINE: dict[Any, Callable[[Selection], tuple[torch.Tensor | None, torch.Tensor]]] = {
    mdp.joint_pos_rel: _default_pos,
    mdp.joint_vel_rel: _default_vel,
    mdp.joint_pos_limit_normalized: _limits,
}
"""Factor and offset that make a term of its measurement."""


def _group(cfg: ManagerBasedRlEnvCfg, name: str) -> ObservationGroupCfg:
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
    if one.params is not other.params and to_data(one.params) != to_data(other.params):
        return False
    return resolve_delay(one, "It") == resolve_delay(other, "It")

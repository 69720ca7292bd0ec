"""From what is measured to what the network sees: observation terms as a graph."""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

import torch

from mjlab import mdp
from mjlab.envs import ManagerBasedRlEnv
from mjlab.export import motion as clips
from mjlab.export.forms import TIMED, TimedForm
from mjlab.export.graph import Graph
from mjlab.export.network import add_function
from mjlab.export.plan import GROUP, MEASURED, OnnxInput, group_cfg
from mjlab.export.quantities import describe, meaning
from mjlab.export.reader import ExportError
from mjlab.export.recipes import recipe
from mjlab.managers.observation_config import resolve_delay
from mjlab.managers.observation_group import ObservationGroup
from mjlab.managers.observation_noise import TermSlot
from mjlab.managers.term import BoundTerm
from mjlab.mdp.lookup import ROBOT
from mjlab.scene import Selection
from mjlab.settings.file import as_data


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
        self.affine: dict[str, dict[str, list[float] | None]] = {}
        """Factor and offset, by the places of terms that make some of an input."""
        self._graph = graph
        self.env = env
        """The environment."""
        self._planned: Sequence[OnnxInput] = ()
        self._begun: str | None = None
        self._seconds: str | None = None
        self._added: dict[str, str] = {}

    def add(self, planned: Sequence[OnnxInput], seen: Sequence[str]) -> dict[str, str]:
        """Add all terms; return the value of each group, as one world sees it."""
        self._planned = planned
        self._add_clips(planned)
        terms = {each.place: self._term(each) for each in planned}
        values = {}
        for name in seen:
            if "/" in name:
                values[name] = terms[name]
                continue
            group = self.env.observation_manager.groups[name]
            options = group_cfg(self.env.cfg, name)
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
        group = self.env.observation_manager.groups[clocks[0].group]
        slot = next(s for s in group.slots if s.name == clocks[0].term)
        term = self.env.observation_manager.term(clocks[0].place)
        value = self._input(clocks[0], slot, term)
        names = [each.cfg.params["command_name"] for each in about]
        self.clips = clips.clip_constants(self._graph, self.env, names, value)

    def _term(self, planned: OnnxInput) -> str:
        manager = self.env.observation_manager
        group = manager.groups[planned.group]
        slot = next(s for s in group.slots if s.name == planned.term)
        term = manager.term(planned.place)
        if planned.cfg.func in TIMED:
            form = TIMED[planned.cfg.func](self.env, term.params)
            value = self.timed(form, planned.label)
        elif not planned.is_measured:
            value = self._last_action(planned, term)
        else:
            _check_memory(planned, term)
            value = self._input(planned, slot, term)
            if self.clips is not None and term.cfg.func in clips.MEASURED:
                value = self.clips.add(term.cfg.func, value)
            value = self._made_of(planned, term, value)
        value = self._stages(slot, group, value)
        return self._history(planned, slot, value)

    def _input(self, planned: OnnxInput, slot: TermSlot, term: BoundTerm) -> str:
        """Return the input that a term comes from, which another may have added."""
        if planned.input in self._added:
            return self._added[planned.input]
        if term.cfg.func in clips.MEASURED:
            # The robot is measured, and not what the term makes of it.
            manager = self.env.observation_manager
            slots = manager.groups[GROUP].slots
            slot = next(s for s in slots if s.name == planned.input)
            term = manager.term(f"{GROUP}/{planned.input}")
        quantity = describe(self.env, term, term())
        at_robot = self.env.observation_manager.term(f"{GROUP}/{planned.input}")
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
                "measured": recipe(self.env, at_robot, at_robot()),
                "sensor": term.params.get("sensor_name"),
                "delay_in_training": None if delay is None else asdict(delay),
                "noise_in_training": None if noise is None else as_data(noise),
            }
        )
        value = self._graph.input(planned.input, slot.shape, dtype)
        self._added[planned.input] = value
        return value

    def timed(self, form: TimedForm, label: str) -> str:
        """Add a value that follows from time and command.

        Args:
            form: The value.
            label: The name of the term in messages.
        """
        graph = self._graph
        seen = [
            each
            for each in self._planned
            if each.cfg.func is mdp.generated_commands
            and each.cfg.params["command_name"] == form.command_name
        ]
        if not seen:
            raise ExportError(
                f"{label} follows the command {form.command_name!r}, which the policy "
                "does not see: give it the term generated_commands."
            )
        manager = self.env.observation_manager
        slots = manager.groups[seen[0].group].slots
        slot = next(s for s in slots if s.name == seen[0].term)
        command = self._input(seen[0], slot, manager.term(seen[0].place))
        if self._seconds is None:
            steps = graph.state("steps", (1,), "Calls since the beginning.")
            graph.remember("steps", graph.add("Add", steps, graph.constant([1.0])))
            step = graph.constant(float(self.env.step_dt))
            self._seconds = graph.add("Mul", steps, step)
        arguments = {
            "seconds": (self._seconds, (1,)),
            "command": (command, (1, slot.width)),
        }
        return add_function(graph, form.value, arguments)

    def _last_action(self, planned: OnnxInput, term: BoundTerm) -> str:
        if resolve_delay(planned.cfg, planned.label) is not None:
            raise ExportError(
                f"{planned.label} is the last action with a delay, which cannot be "
                "written to an ONNX file: nothing outside measures it."
            )
        manager = self.env.action_manager
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

    def _made_of(self, planned: OnnxInput, term: BoundTerm, value: str) -> str:
        """Add what a term makes of its measurement."""
        if term.cfg.func not in _AFFINE:
            return value
        chosen = term.params.get("asset_cfg") or ROBOT.resolve(self.env.scene)
        factor, offset = _AFFINE[term.cfg.func](chosen)
        self.affine[planned.place] = {
            "factor": None if factor is None else factor.tolist(),
            "offset": offset.tolist(),
        }
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

"""Trace observation groups and action terms to graphs of tensor operations.

The terms of an environment with one world run once on traced inputs. Their operations
form two graphs: from inputs and state to observations, and from the action to targets.
Histories, filters and the last action are states, so they are both inputs and outputs
of the graphs.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from types import CodeType
from typing import Any

import torch
from torch import Tensor

from mjlab import mdp
from mjlab.envs import ManagerBasedRlEnv
from mjlab.export.clips import PART_SIZES, PARTS, REFERENCE, TIME_STEP
from mjlab.export.graph import Values
from mjlab.export.leaves import ENTITY_KINDS, Leaf, all_leaves, measured_leaf
from mjlab.export.reader import ExportError
from mjlab.export.reads import LiveReads, Untraceable, line_of
from mjlab.export.targets import PHYSICS_RATE, sent
from mjlab.managers import ActionTerm, BoundTerm
from mjlab.motion import MotionCommand
from mjlab.muscle.action import MuscleAction
from mjlab.sim.fields import STAGE_OF
from mjlab.tensors.math import quat_rotate

ACTIONS = ("last_action", "previous_action", "earlier_action")
"""Names of the states with the last three actions, newest first."""

STEPS = "steps"
"""Name of the state that counts calls."""


class Tracer:
    """Traces the terms of an environment with one world."""

    def __init__(self, env: ManagerBasedRlEnv, seen: Sequence[str]) -> None:
        """Find inputs and states.

        Args:
            env: The environment, without noise or randomisation.
            seen: Observed groups, or "group/term" for groups without concatenation.
        """
        assert env.num_envs == 1, "Tracing requires one world."
        self.env, self.seen = env, tuple(seen)
        manager = env.observation_manager
        self.groups = tuple(dict.fromkeys(name.partition("/")[0] for name in seen))
        """Groups that the network observes."""
        self.terms: dict[str, BoundTerm] = {}
        """Observation terms of these groups, by source."""
        self.measured: dict[str, Leaf] = {}
        """Inputs that replace observation terms, by source."""
        self.leaves = all_leaves(env)
        """Inputs by name."""
        for group in self.groups:
            for slot in manager.groups[group].slots:
                self._add(slot.source, manager.terms[slot.source])
        self.bound = {name: leaf.bind(env) for name, leaf in self.leaves.items()}
        commands = env.command_manager.terms.values()
        self.clips = next((c for c in commands if isinstance(c, MotionCommand)), None)
        """Motion command that the policy tracks, None if the task has none."""
        self.memory = self._memory()
        """Live state tensors by name. The first dimension has size 1."""
        self.initial: Values = {}
        """State tensors after a reset, stored by `reset`."""
        # Bind all fields before tracing. A field bound during a trace gets traced
        # memory, so reading an unmeasurable quantity would go undetected.
        self.refused()

    def _add(self, source: str, term: BoundTerm) -> None:
        if source in self.terms:
            return
        self.terms[source] = term
        with self.env.sim.reads.allow_late():
            leaf = measured_leaf(self.env, source, term, term())
        if leaf is None:
            return
        name = leaf.name if leaf.name not in self.leaves else source.replace("/", "_")
        self.leaves[name] = self.measured[source] = replace(leaf, name=name)

    def _memory(self) -> Values:
        env, found = self.env, {STEPS: self.env.episode_length_buf}
        manager = env.action_manager
        actions = (manager.action, manager.prev_action, manager.prev_prev_action)
        found |= dict(zip(ACTIONS, actions, strict=True))
        for source, term in self.terms.items():
            if term.instance is not None and source not in self.measured:
                for key, tensor in term.instance.state().items():
                    found[_plain(f"{source.partition('/')[2]}_{key}")] = tensor
        for group in self.groups:
            for block in env.observation_manager.groups[group].blocks:
                kept = block.state()
                kept = {k: t for k, t in kept.items() if k not in ("out", "nonfinite")}
                found |= {_plain(f"{group}_{key}"): t for key, t in kept.items()}
        for name, term in manager.terms.items():
            if not isinstance(term, MuscleAction):
                found |= {_plain(f"{name}_{k}"): t for k, t in term.state().items()}
        return found

    def reset(self) -> Values:
        """Reset the managers; return copies of the states after the reset."""
        mask = torch.ones(1, dtype=torch.bool, device=self.env.device)
        self.env.observation_manager.reset(mask)
        self.env.action_manager.reset(mask)
        found = {name: tensor.clone() for name, tensor in self.memory.items()}
        found[STEPS] = torch.zeros_like(found[STEPS])
        self.initial = found
        return {name: tensor.clone() for name, tensor in found.items()}

    def read(self) -> Values:
        """Return copies of the current inputs, by name."""
        with self.env.sim.reads.allow_late():
            return {name: term().clone() for name, term in self.bound.items()}

    # Observations.

    def observe(self, values: Values) -> Values:
        """Return observations by group, and the next states as "next NAME"."""
        manager = self.env.observation_manager
        pairs = zip(ACTIONS, self._actions(), strict=True)
        given = [(tensor, values[name]) for name, tensor in pairs]
        with self._world(values, given) as reads:
            found = {s: self._value(reads, s, values) for s in self.terms}
            for group in self.groups:
                for block in manager.groups[group].blocks:
                    block.update(found, None)
            terms = {f"term {source}": value for source, value in found.items()}
            clips = self._reference(reads)
            return self._observed(reads) | terms | clips | self._next(reads, values)

    def _actions(self) -> tuple[Tensor, Tensor, Tensor]:
        manager = self.env.action_manager
        return manager.action, manager.prev_action, manager.prev_prev_action

    def _value(self, reads: LiveReads, source: str, values: Values) -> Tensor:
        if source in self.measured:
            return values[self.measured[source].name]
        term = self.terms[source]
        function = (
            term.function if term.instance is None else type(term.instance).__call__
        )
        with _named(f"Observation term {source!r}", _code(function)):
            return reads.read(term())

    def _observed(self, reads: LiveReads) -> Values:
        found = {}
        for name in self.seen:
            group, _, term = name.partition("/")
            output = self.env.observation_manager.output[group]
            value = output[term] if isinstance(output, dict) and term else output
            if isinstance(value, dict):
                raise ExportError(
                    f"The policy observes the group {name!r}, whose terms are not "
                    f'concatenated. Name its terms, as "{name}/TERM".'
                )
            found[name] = reads.read(value).clone()
        return found

    def _reference(self, reads: LiveReads) -> Values:
        """Return the current clip frame, by output name; empty without clips."""
        if self.clips is None:
            return {}
        bodies = len(self.clips.table.body_names)
        parts = reads.read(self.clips.reference).split(self.clips.table.widths, dim=1)
        shapes = [(1, -1) if size == 0 else (1, bodies, size) for size in PART_SIZES]
        return {
            REFERENCE + name: part.reshape(shape)
            for name, part, shape in zip(PARTS, parts, shapes, strict=True)
        }

    # Targets.

    def act(self, values: Values) -> Values:
        """Return targets by action term, and the next states as "next NAME"."""
        manager = self.env.action_manager
        shifted = (values["action"], *(values[name] for name in ACTIONS[:2]))
        given = list(zip(self._actions(), shifted, strict=True))
        targets = {}
        with self._world(values, given) as reads:
            for name, term in manager.terms.items():
                targets[f"{name}_target"] = self._told(reads, term)
            kept = self._next(reads, values)
        kept |= {f"next {n}": v for n, v in zip(ACTIONS, shifted, strict=True)}
        kept[f"next {STEPS}"] = values[STEPS] + 1
        return targets | kept

    def _told(self, reads: LiveReads, term: ActionTerm) -> Tensor:
        label = f"Action term {term.name!r}"
        kind = type(term)
        if not isinstance(term, mdp.DifferentialIKAction):
            is_muscle = isinstance(term, MuscleAction)
            process = term.aim if is_muscle else term.process_actions
            with _named(label, _code(kind.process_actions)):
                process(self.env.action_manager.part(term.name))
        if not isinstance(term, PHYSICS_RATE):
            if kind.apply_late is not ActionTerm.apply_late:
                raise ExportError(
                    f"{label} cannot be exported: {kind.__name__}.apply_late sets "
                    "targets within each physics step, but an exported policy runs "
                    "once per control step. Set them in process_actions."
                )
            if kind.apply_actions is not ActionTerm.apply_actions:
                with _named(label, _code(kind.apply_actions)), self.unmeasured():
                    term.apply_actions()
        return reads.read(sent(self.env, term)).clone()

    def excite(
        self, term: MuscleAction, given: list[tuple[Tensor, Tensor]], values: Values
    ) -> tuple[Tensor, Tensor]:
        """Return excitations and activations of a physics step, each (1, muscles).

        Args:
            term: The muscle action.
            given: Live tensors that the action reads, with their traced values.
            values: Traced values; only the scalar "zero" is used.
        """
        # Discard the fields that are cached for the first physics step.
        term.fields.move_on()
        env, label = self.env, f"Action term {term.name!r}"
        with env.sim.reads.allow_late(), _named(label, _code(type(term).excite)):
            with LiveReads(given, self.refused(), values["zero"]) as reads:
                excitation = reads.read(term.excite()).clone()
                return excitation, reads.read(term.activation).clone()

    # Environment during tracing.

    @contextmanager
    def _world(
        self, values: Values, given: list[tuple[Tensor, Tensor]]
    ) -> Iterator[LiveReads]:
        """Let terms read traced values within the block, then restore them."""
        env = self.env
        for name, tensor in self.memory.items():
            if name not in ACTIONS:
                # Terms write to their state, so pass a copy.
                given.append((tensor, values[name].clone()))
        for name, leaf in self.leaves.items():
            if leaf.kind == "sensor":
                sensor = env.scene.sensor(leaf.about["name"]).data
                given.append((sensor, values[name]))
            elif leaf.kind == "command":
                given.append((env.command_manager.get_command(name), values[name]))
        with (
            self.unmeasured(),
            env.sim.reads.allow_late(),
            same_attributes(self._objects()),
        ):
            for name, leaf in self.leaves.items():
                if leaf.kind in ENTITY_KINDS:
                    entity = env.scene.entity(leaf.about["entity"])
                    computed = entity.data.computed
                    computed[leaf.kind] = values[name]
                    if leaf.kind == "joint_pos":
                        computed["joint_pos_biased"] = values[name]
                    if leaf.kind == "root_lin_vel_b":
                        quat = computed["root_quat_w"]
                        computed["root_lin_vel_w"] = quat_rotate(quat, values[name])
            with LiveReads(given, self.refused(), values["zero"]) as reads:
                self._derive(values)
                yield reads

    @contextmanager
    def unmeasured(self) -> Iterator[None]:
        """Clear cached entity data within the block, so that terms recompute it."""
        entities = [e.data for e in self.env.scene.entities.values()]
        kept = [dict(data.computed) for data in entities]
        for data in entities:
            data.computed.clear()
        try:
            yield
        finally:
            for data, computed in zip(entities, kept, strict=True):
                data.computed.clear()
                data.computed.update(computed)

    def _derive(self, values: Values) -> None:
        """Recompute the derived tensors of all commands from traced values."""
        for name, command in self.env.command_manager.terms.items():
            if isinstance(command, MotionCommand):
                anchor = (values["anchor_pos_w"], values["anchor_quat_w"])
                command.follow(values[TIME_STEP][:, 0], anchor)
            else:
                with _named(f"Command {name!r}", _code(type(command).derive)):
                    command.derive()

    def _objects(self) -> list[Any]:
        """Return the objects whose attributes terms can replace."""
        found: list[Any] = [t.instance for t in self.terms.values() if t.instance]
        found += self.env.action_manager.terms.values()
        found += self.env.command_manager.terms.values()
        return found

    def refused(self) -> dict[str, Tensor]:
        """Return the live tensors that terms must not read, by name.

        A robot cannot measure them. Inputs and states are excepted by `LiveReads`.
        """
        env = self.env
        live = env.state.live()
        found = {n: t for n, t in live.items() if not _FIXED.search(n)}
        for name in STAGE_OF:
            tensor = env.sim.engine.data(name)
            if isinstance(tensor, Tensor) and tensor.numel():
                found[f"sim.data.{name}"] = tensor
        return found

    def _next(self, reads: LiveReads, values: Values) -> Values:
        """Return the states after the terms have run."""
        now = {n: reads.read(tensor).clone() for n, tensor in self._memory().items()}
        now |= {name: values[name] for name in (*ACTIONS, STEPS)}
        return {f"next {name}": tensor for name, tensor in now.items()}


@contextmanager
def same_attributes(objects: Sequence[Any]) -> Iterator[None]:
    """Restore the attributes of objects after the block, if terms replaced them."""
    kept = [(each, dict(vars(each))) for each in objects]
    try:
        yield
    finally:
        for each, attributes in kept:
            vars(each).clear()
            vars(each).update(attributes)


_FIXED = re.compile(
    r"\.(default|target)\.|^action\.|^observation\.|encoder\.bias|\.params\.|^reward\.weights"
)
"""Names of live tensors that terms can read: constants of an environment without
randomisation, and states of terms."""


def _plain(name: str) -> str:
    """Replace all characters but letters and digits by underscores."""
    return re.sub(r"\W+", "_", name)


def _code(function: Any) -> CodeType | None:
    return getattr(function, "__code__", None)


@contextmanager
def _named(label: str, code: CodeType | None) -> Iterator[None]:
    """Convert errors to `ExportError` with the term's name and the line of code."""
    try:
        yield
    except ExportError:
        raise
    except Exception as error:
        where = line_of(error, code)
        said = str(error) if isinstance(error, Untraceable) else f"raises: {error}"
        raise ExportError(
            f"{label} cannot be exported: {where} {said}. Compute it from joints, "
            "root, sensors, commands and time, or declare it with "
            "@measured(Quantity(...))."
        ) from error

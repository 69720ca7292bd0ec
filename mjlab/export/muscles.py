"""Muscle controllers, which map joint targets to excitations in each physics step.

A controller is the traced torque law and coordinator of a muscle action. Its inputs are
the joint targets and fields of MuJoCo's data. It is a second ONNX model in the file,
because it runs once per physics step instead of once per control step.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from typing import Any

import mujoco
import onnx
import torch
from torch import Tensor

from mjlab.export.control_step import OnnxState
from mjlab.export.graph import Graph, Values, onnx_model, pruned, traced
from mjlab.export.reader import ExportError
from mjlab.export.runner.robot import FIELD, TARGET
from mjlab.export.trace import Tracer
from mjlab.managers.quantity import Units
from mjlab.muscle.action import MuscleAction
from mjlab.tensors.columns import Columns

_STATE, _NEXT = "state_activation", "next_activation"
"""Input and output with the last activations, the initial guess of an optimising
coordinator."""

_FREE = int(mujoco.mjtJoint.mjJNT_FREE)
_SLIDE = int(mujoco.mjtJoint.mjJNT_SLIDE)


class MuscleController:
    """Traced muscle controller of an environment with one world."""

    def __init__(self, tracer: Tracer, term: MuscleAction) -> None:
        """Trace torque law and coordinator.

        Args:
            tracer: Tracer of the environment.
            term: The muscle action.
        """
        if term.cfg.cascade:
            raise ExportError(
                f"Action {term.name!r} has a cascade of muscle networks, which has no "
                "ONNX form. Use the checkpoint, or train with cascade=()."
            )
        self._tracer, self.term = tracer, term
        self.name = f"{term.name} controller"
        """Metadata key of the controller's ONNX model."""
        self.output = f"{term.name}_excitation"
        """Name of the output with the excitations."""
        entries = list(_inputs(tracer, term))
        self._entries = {entry["name"]: entry for entry in entries}
        self._readings = {e["name"]: reading(term, e) for e in entries}
        zero = {"zero": torch.zeros(())}
        rows = self.read() | {_STATE: torch.zeros_like(term.activation)}
        self._traced: Graph = traced(self._excite, rows | zero)

        def whole(given: Values) -> Values:
            known = {name: value.unsqueeze(0) for name, value in given.items()}
            found = self._traced(known | zero)
            return {name: value[0] for name, value in found.items()}

        self._examples = {name: value[0] for name, value in rows.items()}
        self._file = pruned(traced(whole, self._examples), {_STATE: _NEXT})

    def read(self) -> Values:
        """Return the current inputs, by name, each of shape (1, elements)."""
        return {name: read().clone() for name, read in self._readings.items()}

    def excitation(self, activation: Tensor) -> Tensor:
        """Return the traced excitations, shape (1, muscles), for the current inputs.

        Args:
            activation: Activations of the last physics step, shape (1, muscles).
        """
        known = self.read() | {_STATE: activation, "zero": torch.zeros(())}
        with torch.no_grad():
            return self._traced(known)[self.output]

    @property
    def inputs(self) -> list[str]:
        """Names of the inputs that the excitations depend on."""
        return [name for name in self._file.inputs if name != _STATE]

    def described(self) -> dict[str, Any]:
        """Return the contract entry of the controller."""
        muscles = self.term.map.muscle_names
        prefix = self.term.entity.index.prefix
        names = [name.removeprefix(prefix) for name in muscles]
        meaning = "Activations of the last physics step."
        shape = (len(names),)
        state = OnnxState(_STATE, _NEXT, shape, "float32", 0.0, meaning)
        return {
            "model": self.name,
            "inputs": [self._entries[name] for name in self.inputs],
            "states": [asdict(state)] if _STATE in self._file.inputs else [],
            "outputs": [
                {
                    "name": self.output,
                    "shape": list(shape),
                    "unit": "1",
                    "elements": names,
                    "meaning": "Excitation of each muscle, 0 to 1.",
                }
            ],
        }

    def model(self) -> onnx.ModelProto:
        """Return the ONNX model."""
        return onnx_model(self._file, self._examples, {})

    def _excite(self, values: Values) -> Values:
        given = [(self.term.activation, values[_STATE].clone())]
        fields: dict[str, Tensor] = {}
        for name, entry in self._entries.items():
            if entry["measured"]["kind"] == TARGET:
                given.append((self.term.target, values[name]))
                continue
            field, columns = _place(self.term, entry)
            zeros = torch.zeros_like(getattr(self.term.fields, field))
            whole = fields.get(field, zeros)
            fields[field] = whole.index_copy(1, columns.ids, values[name])
        given += [(getattr(self.term.fields, f), value) for f, value in fields.items()]
        excitation, activation = self._tracer.excite(self.term, given, values)
        return {self.output: excitation, _NEXT: activation}


def muscle_controllers(tracer: Tracer) -> list[MuscleController]:
    """Trace the controllers of all muscle actions."""
    terms = tracer.env.action_manager.terms.values()
    return [MuscleController(tracer, t) for t in terms if isinstance(t, MuscleAction)]


def reading(term: MuscleAction, entry: Mapping[str, Any]) -> Callable[[], Tensor]:
    """Return a function that reads an input of a muscle controller in simulation.

    Args:
        term: The muscle action.
        entry: The input's entry in a contract.
    """
    if entry["measured"]["kind"] == TARGET:
        return lambda: term.target
    field, columns = _place(term, entry)
    return lambda: columns.read(getattr(term.fields, field))


def _place(term: MuscleAction, entry: Mapping[str, Any]) -> tuple[str, Columns]:
    """Return the field and the columns of MuJoCo's data that contain an input."""
    how, index = entry["measured"], term.entity.index
    if how["kind"] == "joint_pos":
        return "qpos", index.joint_qpos
    if how["kind"] == "joint_vel":
        return "qvel", index.joint_dofs
    return how["field"], Columns.of(how["columns"], term.device)


# Inputs.


def _inputs(tracer: Tracer, term: MuscleAction) -> Iterator[dict[str, Any]]:
    """Yield the contract entries of all inputs that a torque law can depend on."""
    muscles = [_plain(term, name) for name in term.map.muscle_names]
    joints = list(term.joint_names)
    units = [_dof(term, dof)[1] for dof in term.map.dof_ids]
    text = "Joint targets: an output of the policy, constant during a control step."
    yield _entry(f"{term.name}_target", units, joints, {"kind": TARGET}, text)
    for name, value in tracer.read().items():
        leaf = tracer.leaves[name]
        is_joint = leaf.kind in ("joint_pos", "joint_vel")
        if is_joint and leaf.about["entity"] == term.entity.name:
            yield leaf.described(value[0]) | {"upright": None}
    yield from _forces(term)
    actuators = list(term.map.actuator_ids)
    yield _field(
        "moment_arm",
        ("ten_J", list(term.map.entry_address)),
        ("m", [f"{muscles[m]} {joints[d]}" for m, d in _pairs(term)]),
        "Derivative of a tendon's length by a joint's position.",
    )
    yield _field(
        "muscle_length",
        ("actuator_length", actuators),
        ("m", muscles),
        "Length of each muscle including its tendon.",
    )
    yield _field(
        "muscle_velocity",
        ("actuator_velocity", actuators),
        ("m/s", muscles),
        "Rate of change of each muscle's length, positive while it lengthens.",
    )
    activations = term.sim_model.actuator_actadr[actuators]
    if min(activations) >= 0:
        yield _field(
            "muscle_activation",
            ("act", activations.tolist()),
            ("1", muscles),
            "Activation of each muscle.",
        )


def _forces(term: MuscleAction) -> Iterator[dict[str, Any]]:
    """Yield the entries of the inertia matrix and of the generalised forces.

    They cover all degrees of freedom of the kinematic trees with muscle joints.
    """
    model = term.sim_model
    trees = {int(model.dof_treeid[dof]) for dof in term.map.dof_ids}
    dofs = [dof for dof in range(model.nv) if int(model.dof_treeid[dof]) in trees]
    names = {dof: _dof(term, dof) for dof in dofs}
    pairs = [
        (dof, int(model.M_colind[k]), int(k))
        for dof in dofs
        for k in range(model.M_rowadr[dof], model.M_rowadr[dof] + model.M_rownnz[dof])
    ]
    masses = [_MASSES[names[i][1] + names[j][1]] for i, j, _ in pairs]
    elements = [f"{names[i][0]} {names[j][0]}" for i, j, _ in pairs]
    yield _field(
        "inertia",
        ("M", [k for _, _, k in pairs]),
        (masses, elements),
        "Inertia matrix in the coordinates of the model: its lower triangle, by rows.",
    )
    for name, field, text in (
        ("bias_force", "qfrc_bias", "Coriolis, centrifugal and gravity forces."),
        ("passive_force", "qfrc_passive", "Forces of passive springs and dampers."),
        (
            "constraint_force",
            "qfrc_constraint",
            "Forces of contacts and limits in the last physics step.",
        ),
    ):
        units = [{"m": "N", "rad": "N m"}[unit] for _, unit in names.values()]
        yield _field(name, (field, dofs), (units, [n for n, _ in names.values()]), text)


_MASSES = {"mm": "kg", "mrad": "kg m", "radm": "kg m", "radrad": "kg m^2"}
"""Units of inertia matrix entries, by the units of both coordinates."""


def _dof(term: MuscleAction, dof: int) -> tuple[str, str]:
    """Return the name and the unit of a degree of freedom."""
    model = term.sim_model
    joint = int(model.dof_jntid[dof])
    name, kind = _plain(term, model.joint(joint).name), int(model.jnt_type[joint])
    place = dof - int(model.jnt_dofadr[joint])
    if kind == _FREE:
        turns = place >= 3
        axis = "xyz"[place % 3]
        return f"{name} {'rotation' if turns else 'position'} {axis}", (
            "rad" if turns else "m"
        )
    return name, "m" if kind == _SLIDE else "rad"


def _pairs(term: MuscleAction) -> list[tuple[int, int]]:
    return list(zip(term.map.entry_muscle, term.map.entry_dof, strict=True))


def _plain(term: MuscleAction, name: str) -> str:
    return name.removeprefix(term.entity.index.prefix)


def _field(
    name: str,
    place: tuple[str, list[int]],
    quantity: tuple[Units, list[str]],
    text: str,
) -> dict[str, Any]:
    """Return the contract entry of an input that MuJoCo's data contains."""
    how = {"kind": FIELD, "field": place[0], "columns": place[1]}
    return _entry(name, *quantity, how, text)


def _entry(
    name: str, unit: Units, elements: list[str], how: dict[str, Any], text: str
) -> dict[str, Any]:
    if isinstance(unit, list) and len(set(unit)) == 1:
        unit = unit[0]
    return {
        "name": name,
        "shape": [len(elements)],
        "dtype": "float32",
        "unit": unit,
        "frame": None,
        "elements": elements,
        "meaning": text,
        "measured": how,
        "observation": None,
        "upright": None,
    }

"""From the network's action to the targets of the robot, in physical units."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from mjlab import mdp
from mjlab.envs import ManagerBasedRlEnv
from mjlab.export.forms import TIMED
from mjlab.export.graph import Graph
from mjlab.export.inputs import Observer
from mjlab.export.motion import REFERENCE, ClipConstants
from mjlab.export.quantities import Units, joint_units
from mjlab.export.reader import ExportError
from mjlab.managers import ActionTerm
from mjlab.mdp.driven import DrivenAction
from mjlab.motion import MotionAction
from mjlab.muscle.action import MuscleAction

ACTION = "action"
"""Name of the output that is the network's own action."""

Described = dict[str, Any]


def add_targets(
    graph: Graph,
    env: ManagerBasedRlEnv,
    action: str,
    *,
    clip: float | None,
    observer: Observer,
) -> tuple[str, list[Described]]:
    """Add outputs for all action terms, then the action itself.

    Args:
        graph: The graph to add them to.
        env: The environment in its nominal form.
        action: The output of the network, shape (total_action_dim,).
        clip: Largest size of an action, None for any.
        observer: What the network sees, and has added to the graph.

    Returns:
        The action after that clip, and a description of the terms, for the contract.
    """
    if clip is not None:
        bounds = (graph.constant(-float(clip)), graph.constant(float(clip)))
        action = graph.add("Clip", action, *bounds)
    terms, start = [], 0
    for term in env.action_manager.terms.values():
        stop = start + term.action_dim
        add = _TIMED if type(term) in TIMED else _TERMS.get(type(term))
        if add is None or not isinstance(term, DrivenAction):
            raise _refusal(term)
        value, described = add(graph, term, graph.part(action, start, stop), observer)
        output = f"{term.name}_target"
        graph.output(output, value, (len(term.target_names),))
        terms.append(_described(env, term, output, (start, stop)) | described)
        start = stop
    graph.output(ACTION, action, (start,))
    return action, terms


def _refusal(term: ActionTerm) -> ExportError:
    """Return the reason why a term cannot be written."""
    kind = type(term).__name__
    if isinstance(term, _EACH_PHYSICS_STEP):
        why = (
            "which decides anew in every physics step, by what the model says then, "
            "and a file answers once a control step"
        )
    else:
        known = ", ".join(kind.__name__ for kind in _TERMS)
        why = f"which cannot be written to an ONNX file. What can: {known}"
    return ExportError(f"Action term {term.name!r} is a {kind}, {why}.")


def _add_affine(
    graph: Graph, term: mdp.AffineAction, value: str, observer: Observer
) -> tuple[str, Described]:
    scale, offset, relative_to = term.scale.cpu(), term.offset.cpu(), None
    about, summand = {}, None
    if type(term) in TIMED:
        form = TIMED[type(term)](observer.env, term)
        about = {"about": f"time and the command {form.command_name!r}"}
        summand = observer.timed(form, f"Action term {term.name!r}")
    elif isinstance(term, mdp.JointPositionAction):
        offset = offset + _default_pos(term)
    elif isinstance(term, mdp.RelativeJointPositionAction):
        assert isinstance(term.cfg, mdp.RelativeJointPositionActionCfg)
        when = "control step" if term.cfg.hold else "physics step"
        relative_to = f"position at each {when}"
    value = graph.add("Mul", value, graph.constant(scale.numpy()))
    value = graph.add("Add", value, summand or graph.constant(offset.numpy()))
    if isinstance(term, MotionAction):
        value = graph.add("Add", value, _reference(term, observer.clips))
        about = {"about": REFERENCE + "joint_pos"}
    clip = None
    if term.clip is not None:
        low, high = (bound.cpu() for bound in term.clip)
        value = graph.add("Max", value, graph.constant(low.numpy()))
        value = graph.add("Min", value, graph.constant(high.numpy()))
        clip = [[*pair] for pair in zip(low.tolist(), high.tolist(), strict=True)]
    return value, {
        "scale": scale.tolist(),
        "offset": offset.tolist(),
        "clip": clip,
        "relative_to": relative_to,
        **about,
    }


def _reference(term: MotionAction, clips: ClipConstants | None) -> str:
    """Return where the clip has the joints by the end of the step."""
    if clips is None or clips.command is not term.motion:
        raise ExportError(
            f"Action term {term.name!r} is about the clips of "
            f"{term.motion.name!r}, which the policy does not see."
        )
    return clips.joint_pos(term.target_names)


def _default_pos(term: mdp.JointPositionAction) -> torch.Tensor | float:
    """Return the positions that are added to an action, if the term adds them."""
    assert isinstance(term.cfg, mdp.JointPositionActionCfg)
    if not term.cfg.use_default_offset:
        return 0.0
    columns = [term.entity.joint_names.index(name) for name in term.target_names]
    return term.entity.data.default_joint_pos[0].cpu()[columns]


def _add_binary(
    graph: Graph, term: mdp.BinaryAction, value: str, observer: Observer
) -> tuple[str, Described]:
    ends: dict[str, np.ndarray] = {}
    for name, sign in (("open", 1.0), ("closed", -1.0)):
        term.process_actions(torch.full((term.num_envs, 1), sign, device=term.device))
        ends[name] = term.processed_action[0].cpu().numpy().copy()
    is_closed = graph.add("Less", value, graph.constant(0.0))
    closed, opened = graph.constant(ends["closed"]), graph.constant(ends["open"])
    value = graph.add("Where", is_closed, closed, opened)
    lists = {name: numbers.tolist() for name, numbers in ends.items()}
    return value, lists | {"relative_to": None}


_TIMED: Callable[..., tuple[str, Described]] = _add_affine

_EACH_PHYSICS_STEP = (mdp.DifferentialIKAction, MuscleAction)

_TERMS: dict[type[ActionTerm], Callable[..., tuple[str, Described]]] = {
    mdp.JointPositionAction: _add_affine,
    MotionAction: _add_affine,
    mdp.RelativeJointPositionAction: _add_affine,
    mdp.AffineAction: _add_affine,
    mdp.BinaryAction: _add_binary,
}


def _described(
    env: ManagerBasedRlEnv, term: DrivenAction, output: str, place: tuple[int, int]
) -> Described:
    target = term.targets[0]
    return {
        "name": term.name,
        "kind": type(term.cfg).__name__,
        "output": output,
        "action": list(place),
        "entity": target.entity,
        "quantity": target.quantity,
        "unit": _unit(env, term, target.quantity),
        "targets": list(term.target_names),
    }


def _unit(env: ManagerBasedRlEnv, term: DrivenAction, quantity: str) -> Units:
    if quantity == "joint_pos":
        return joint_units(env, term.entity, term.target_names, "rad", "m")
    if quantity == "joint_vel":
        return joint_units(env, term.entity, term.target_names, "rad/s", "m/s")
    units = {"tendon_len": "m", "tendon_vel": "m/s"}
    # A force or a torque before the gear, or what else the actuator is controlled by.
    return units.get(quantity, "control")

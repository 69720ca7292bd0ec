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
from mjlab.export.quantities import Units, joint_units, root_frame
from mjlab.export.reader import ExportError
from mjlab.managers import ActionTerm
from mjlab.mdp.driven import DrivenAction
from mjlab.motion import MotionAction
from mjlab.muscle.action import MuscleAction
from mjlab.names import resolve_values

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
        elements = described.get("elements", term.target_names)
        graph.output(output, value, (len(elements),))
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
    return term.entity.data.default_joint_pos[0].cpu()[_columns(term)]


def _columns(term: DrivenAction) -> list[int]:
    """Return the places of a term's joints among those of its entity."""
    return [term.entity.joint_names.index(name) for name in term.target_names]


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


def reach_command(
    cfg: mdp.DifferentialIKActionCfg, size: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return scale, smallest and largest value of each number of a command."""
    scale, ends = np.ones(size, np.float32), np.full((2, size), np.inf, np.float32)
    scale[:3] = cfg.position_scale
    ends[0] = -np.inf
    bounded = size if cfg.use_relative_mode else 3
    if cfg.use_relative_mode:
        scale[3:] = cfg.rotation_scale
    if cfg.clip is not None:
        ends[:, :bounded] = np.array(cfg.clip)[:, None]
    return scale, ends[0], ends[1]


def _add_reach(
    graph: Graph, term: mdp.DifferentialIKAction, value: str, observer: Observer
) -> tuple[str, Described]:
    cfg, size = term.cfg, term.action_dim
    scale, low, high = reach_command(cfg, size)
    value = graph.add("Mul", value, graph.constant(scale))
    value = graph.add("Max", value, graph.constant(low))
    value = graph.add("Min", value, graph.constant(high))
    if size == 7:
        quat = graph.part(value, 3, 7)
        length = graph.add("ReduceL2", quat, axes=[0], keepdims=1)
        unit = graph.add("Div", quat, length)
        value = graph.join([graph.part(value, 0, 3), unit])
    turns = [f"turn_{axis}" for axis in "xyz"]
    rest = turns if size == 6 else [f"quat_{axis}" for axis in "wxyz"]
    units = ["m"] * 3 + (["rad"] if size == 6 else ["1"]) * (size - 3)
    data, columns = term.entity.data, _columns(term)
    limits = (
        data.soft_joint_pos_limits if cfg.use_soft_limits else data.joint_pos_limits
    )
    given = resolve_values(cfg.posture or {}, term.target_names, what="joint")
    default = data.default_joint_pos[0].cpu()[columns].tolist()
    posture = [d if v is None else v for v, d in zip(given, default, strict=True)]
    prefix = term.entity.index.prefix
    return value, {
        "quantity": "frame_pose",
        "unit": units,
        "elements": ["x", "y", "z", *rest][:size],
        "scale": scale.tolist(),
        "clip": None
        if cfg.clip is None
        else np.stack((low, high), axis=1).astype(float).tolist(),
        "relative_to": None,
        "reach": {
            "frame": {cfg.frame_type: prefix + cfg.frame_name},
            "base": root_frame(observer.env, term.entity),
            "command_frame": cfg.command_frame,
            "is_relative": cfg.use_relative_mode,
            "position_only": cfg.command_type == "position",
            "weights": [cfg.position_weight, cfg.orientation_weight],
            "damping": cfg.damping,
            "max_joint_step": cfg.max_joint_step,
            "limits": limits[0].cpu()[columns].tolist(),
            "limit_rounds": cfg.limit_rounds,
            "posture": posture,
            "posture_weight": cfg.posture_weight,
        },
    }


_TIMED: Callable[..., tuple[str, Described]] = _add_affine

_EACH_PHYSICS_STEP = (MuscleAction,)

_TERMS: dict[type[ActionTerm], Callable[..., tuple[str, Described]]] = {
    mdp.JointPositionAction: _add_affine,
    MotionAction: _add_affine,
    mdp.RelativeJointPositionAction: _add_affine,
    mdp.AffineAction: _add_affine,
    mdp.BinaryAction: _add_binary,
    mdp.DifferentialIKAction: _add_reach,
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

"""Targets that action terms set, and their contract entries."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor

from mjlab import mdp
from mjlab.entity import Entity
from mjlab.envs import ManagerBasedRlEnv
from mjlab.export.quantities import joint_units, root_frame
from mjlab.export.reader import ExportError
from mjlab.managers import ActionTerm
from mjlab.managers.quantity import Units
from mjlab.muscle.action import MuscleAction
from mjlab.names import resolve_values
from mjlab.tensors.math import quat_normalize

ACTION = "action"
"""Name of the output with the network's raw action."""

PHYSICS_RATE = (
    mdp.RelativeJointPositionAction,
    mdp.DifferentialIKAction,
    MuscleAction,
)
"""Action terms that update targets in each physics step, as a runner must do."""

Described = dict[str, Any]


def sent(env: ManagerBasedRlEnv, term: ActionTerm) -> Tensor:
    """Return the targets of a term's last action, shape (num_envs, n).

    For most terms, these are the actuator targets that the term has set. Terms that act
    in each physics step return their command instead: a frame pose for inverse
    kinematics, joint positions for muscles, and offsets from the current positions for
    relative joint targets.
    """
    if isinstance(term, mdp.DifferentialIKAction):
        scale, low, high = map(
            torch.from_numpy, reach_command(term.cfg, term.action_dim)
        )
        pose = torch.clamp(term.raw_action * scale, low, high)
        if term.action_dim < 7:
            return pose
        return torch.cat((pose[:, :3], quat_normalize(pose[:, 3:])), dim=1)
    if isinstance(term, MuscleAction):
        return term.target
    if isinstance(term, mdp.RelativeJointPositionAction):
        return term.processed_action
    columns = []
    for target in term.targets:
        entity = env.scene.entity(target.entity)
        names = getattr(entity.index, f"{target.kind}s").names
        field: Tensor = getattr(entity.data.targets, target.quantity)
        columns.append(field[:, names.index(target.name)])
    return torch.stack(columns, dim=1)


def reach_command(
    cfg: mdp.DifferentialIKActionCfg, size: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return scale, lower and upper bounds of a frame command, each (size,)."""
    scale, ends = np.ones(size, np.float32), np.full((2, size), np.inf, np.float32)
    scale[:3] = cfg.position_scale
    ends[0] = -np.inf
    bounded = size if cfg.use_relative_mode else 3
    if cfg.use_relative_mode:
        scale[3:] = cfg.rotation_scale
    if cfg.clip is not None:
        ends[:, :bounded] = np.array(cfg.clip)[:, None]
    return scale, ends[0], ends[1]


def described_actions(
    env: ManagerBasedRlEnv, controllers: Mapping[str, Described]
) -> list[Described]:
    """Return the contract entries of all action terms.

    Args:
        env: The environment.
        controllers: Entries of the muscle controllers, by action term.
    """
    found, start = [], 0
    for term in env.action_manager.terms.values():
        stop = start + term.action_dim
        described = _described(env, term, (start, stop))
        if term.name in controllers:
            described["tracked_by"] = controllers[term.name]
        found.append(described)
        start = stop
    return found


def _described(
    env: ManagerBasedRlEnv, term: ActionTerm, place: tuple[int, int]
) -> Described:
    targets = term.targets
    if isinstance(term, MuscleAction):
        targets = tuple(t for t in targets if t.kind == "joint")
    owners = {(target.entity, target.quantity) for target in targets}
    if len(owners) != 1:
        raise ExportError(
            f"Action term {term.name!r} sets {len(owners)} quantities. An exported "
            "policy supports one quantity of one entity per term: split the term."
        )
    ((owner, quantity),) = owners
    entity, names = env.scene.entity(owner), [target.name for target in targets]
    relative_to = None
    if isinstance(term, mdp.RelativeJointPositionAction):
        assert isinstance(term.cfg, mdp.RelativeJointPositionActionCfg)
        when = "control step" if term.cfg.hold else "physics step"
        relative_to = f"position at each {when}"
    reach = isinstance(term, mdp.DifferentialIKAction)
    return {
        "name": term.name,
        "kind": type(term.cfg).__name__,
        "output": f"{term.name}_target",
        "action": list(place),
        "entity": owner,
        "quantity": quantity,
        "unit": _unit(env, entity, quantity, names),
        "targets": names,
        "relative_to": relative_to,
        **(_reach(env, term, entity, names) if reach else {}),
    }


def _reach(
    env: ManagerBasedRlEnv,
    term: mdp.DifferentialIKAction,
    entity: Entity,
    names: list[str],
) -> Described:
    """Return the contract entry of the inverse kinematics for a frame target."""
    cfg, size, data = term.cfg, term.action_dim, entity.data
    turns = [f"turn_{axis}" for axis in "xyz"]
    rest = turns if size == 6 else [f"quat_{axis}" for axis in "wxyz"]
    units = ["m"] * 3 + (["rad"] if size == 6 else ["1"]) * (size - 3)
    limits = (
        data.soft_joint_pos_limits if cfg.use_soft_limits else data.joint_pos_limits
    )
    columns = [entity.joint_names.index(name) for name in names]
    given = resolve_values(cfg.posture or {}, names, what="joint")
    default = data.default_joint_pos[0].cpu()[columns].tolist()
    posture = [d if v is None else v for v, d in zip(given, default, strict=True)]
    return {
        "quantity": "frame_pose",
        "unit": units,
        "elements": ["x", "y", "z", *rest][:size],
        "reach": {
            "frame": {cfg.frame_type: entity.index.prefix + cfg.frame_name},
            "base": root_frame(env, entity),
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


def _unit(
    env: ManagerBasedRlEnv, entity: Entity, quantity: str, names: list[str]
) -> Units:
    if quantity == "joint_pos":
        return joint_units(env, entity, names, "rad", "m")
    if quantity == "joint_vel":
        return joint_units(env, entity, names, "rad/s", "m/s")
    units = {"tendon_len": "m", "tendon_vel": "m/s"}
    # "control": a force or torque before the gear, or another actuator input.
    return units.get(quantity, "control")

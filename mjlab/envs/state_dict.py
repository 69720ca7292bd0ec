"""The physical state by entity, as plain numbers: what ManiSkill calls a state dict.

A row of an entity is, side by side, in float32:

- 3: position of the root link in the world;
- 4: its orientation, a unit quaternion wxyz;
- 3: velocity of the root link's origin, world axes;
- 3: angular velocity of the root link, world axes;
- one for each hinge and slide joint: position; then one for each: velocity;
- four for each ball joint: its quaternion wxyz; then three for each: angular velocity
  in the axes of the joint's own body.

It is what people, files and other programs understand. It leaves out what a future also
depends on (warm starts, controls, timers, random numbers, the digits that float32 has
no room for): `get_state` has all of that, and goes on bit for bit.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from mjlab.entity import Entity
from mjlab.envs.state import StateError
from mjlab.names import suggest
from mjlab.scene import Scene

StateDict = dict[str, torch.Tensor]
"""A tensor of shape (num_envs, width) for each entity."""

Layout = dict[str, slice]
"""Which columns of a row are which part."""

_ROOT = {"pos": 3, "quat": 4, "lin_vel": 3, "ang_vel": 3}


def state_layout(scene: Scene) -> dict[str, Layout]:
    """Return the columns of the parts of each entity's row.

    The parts are "pos", "quat", "lin_vel", "ang_vel" of the root, "joint_pos" and
    "joint_vel", and "ball_quat" and "ball_vel" where there are ball joints.
    """
    return {name: layout_of(each) for name, each in scene.entities.items()}


def layout_of(entity: Entity) -> Layout:
    """Return the columns of the parts of an entity's row."""
    balls = len(entity.index.balls)
    widths = _ROOT | {"joint_pos": entity.num_joints, "joint_vel": entity.num_joints}
    if balls:
        widths |= {"ball_quat": 4 * balls, "ball_vel": 3 * balls}
    layout: Layout = {}
    end = 0
    for part, width in widths.items():
        layout[part] = slice(end, end + width)
        end += width
    return layout


def state_dict_tensors(scene: Scene) -> StateDict:
    """The state of every entity, shape (num_envs, 13 + 2 * num_joints) without balls.

    The tensors are the caller's own. Nothing is read back to the host, so that this may
    stand in a captured step.
    """
    return {name: _row(entity) for name, entity in scene.entities.items()}


def write_state_dict(
    scene: Scene, state: Mapping[str, Any], mask: torch.Tensor
) -> None:
    """Write the entities' states in the worlds of `mask`, without `forward()`.

    What a root does not have is not written: the velocity of a fixed base, and the pose
    of an entity that is a part of the world. Entities that are not named stay as they
    are, and so do controls, activations and warm starts.

    Args:
        scene: The entities.
        state: A tensor for each entity, or {"entities": these}; a tensor of one row is
            for all worlds.
        mask: The worlds, shape (num_envs,), bool.
    """
    for name, value in checked(scene, state, mask).items():
        _write(scene.entity(name), value, mask)


def checked(scene: Scene, state: Mapping[str, Any], worlds: torch.Tensor) -> StateDict:
    """The tensors of a state by entity, or an error that says what does not fit."""
    flat = state["entities"] if set(state) == {"entities"} else state
    if not isinstance(flat, Mapping) or not flat:
        raise StateError(
            "A state is a tensor for each entity, by name, and this one has none. "
            + suggest("", list(scene.entities))
        )
    return {name: _fitting(scene, name, value, worlds) for name, value in flat.items()}


def _fitting(scene: Scene, name: str, value: Any, worlds: torch.Tensor) -> torch.Tensor:
    entities, num_envs = scene.entities, len(worlds)
    if name not in entities:
        raise StateError(
            f"The state has an entity {name!r}, and the scene has not. "
            + suggest(name, list(entities))
        )
    layout = layout_of(entities[name])
    width = next(reversed(layout.values())).stop
    tensor = torch.as_tensor(value, device=worlds.device)
    if not tensor.is_floating_point():
        raise StateError(
            f"The state of {name!r} is of type {tensor.dtype}; it has to be float32."
        )
    tensor = tensor.to(torch.float32)
    rows = (num_envs, width), (1, width), (width,)
    if tuple(tensor.shape) not in rows:
        parts = ", ".join(f"{p} {s.stop - s.start}" for p, s in layout.items())
        raise StateError(
            f"The state of {name!r} has shape {tuple(tensor.shape)}; it has to be "
            f"({num_envs}, {width}): {parts}."
        )
    return tensor.expand(num_envs, width)


def _row(entity: Entity) -> torch.Tensor:
    data = entity.data
    parts: Sequence[torch.Tensor] = (
        data.root_pos_w,
        data.root_quat_w,
        data.root_lin_vel_w,
        data.root_ang_vel_w,
        data.joint_pos,
        data.joint_vel,
    )
    if len(entity.index.balls):
        parts = (*parts, data.ball_quat.flatten(1), data.ball_vel.flatten(1))
    return torch.cat(parts, dim=1)


def _write(entity: Entity, value: torch.Tensor, mask: torch.Tensor) -> None:
    layout = layout_of(entity)
    can_move = not entity.is_fixed_base
    if can_move or entity.index.mocap_body_id is not None:
        entity.write_root_pose_w(mask, value[:, :7])
    if can_move:
        entity.write_root_velocity_w(mask, value[:, 7:13])
    entity.write_joint_state(
        mask, value[:, layout["joint_pos"]], value[:, layout["joint_vel"]]
    )
    if "ball_quat" in layout:
        quat, vel = value[:, layout["ball_quat"]], value[:, layout["ball_vel"]]
        entity.write_ball_quat(mask, quat.unflatten(1, (-1, 4)))
        entity.write_ball_vel(mask, vel.unflatten(1, (-1, 3)))

"""Complete state of an environment, and root and joint states for other programs.

A row of a state is the state of one world: per-world tensors without the leading
dimension, and shared tensors in full (the step counter, sums of the log, curricula). On
the native engine, an episode can continue from a row in another world of the same task,
bit for bit: the row includes the random number state, and worlds do not depend on each
other's random numbers.
"""

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, Protocol

import torch

from mjlab.entity import Entity
from mjlab.names import suggest
from mjlab.scene import Scene
from mjlab.sim import Simulation
from mjlab.tensors.masks import ids_to_mask, write_where

Row = Mapping[str, torch.Tensor]
"""State of one world: tensors by name. Per-world tensors have no world dimension."""

SHARED = (
    "step_counter",
    "log.*",
    "quarantine.*",
    "curriculum.*",
    "reward.weights",
    "metrics.*.nonfinite_counts",
    "event.global_*",
    "command.*.ranges",
    "command.*.bins.*",
    "*.params.*",
    "action.*.shared.*",
)
"""Name patterns of tensors that all worlds share, regardless of their shape. Any other
tensor has a row for each world if its first dimension is the number of worlds."""


class StateError(ValueError):
    """Raised for a state that does not match the environment."""


class HasState(Protocol):
    """Interface of an object whose state is a set of named tensors."""

    def state(self) -> dict[str, torch.Tensor]:
        """Return the live state tensors; copy into them to restore a snapshot."""
        ...


class EnvState:
    """The complete state of the worlds."""

    def __init__(
        self,
        sim: Simulation,
        scene: Scene,
        counters: Mapping[str, torch.Tensor],
        owners: Mapping[str, HasState],
    ) -> None:
        """Store the parts.

        Args:
            sim: Physics, whose tensors are named "sim.<name>".
            scene: The scene, whose caches of derived quantities `restore` invalidates.
            counters: Live tensors by name.
            owners: Objects with state tensors, which are named "<key>.<name>".
        """
        self._sim, self._scene = sim, scene
        self._counters, self._owners = dict(counters), dict(owners)

    def live(self) -> dict[str, torch.Tensor]:
        """Return the live state tensors outside the engine."""
        return self._counters | {
            f"{part}.{name}": tensor
            for part, owner in self._owners.items()
            for name, tensor in owner.state().items()
        }

    def take(self) -> dict[str, torch.Tensor]:
        """Return a copy of the state, physics first."""
        physics = {f"sim.{k}": v for k, v in self._sim.snapshot().items()}
        return physics | {k: v.clone() for k, v in self.live().items()}

    def take_rows(self) -> dict[str, torch.Tensor]:
        """Return a copy with a row for each world; each row contains shared tensors."""
        n = self._sim.num_envs
        return {
            name: value
            if is_per_world(name, value, n)
            else value.expand(n, *value.shape).clone()
            for name, value in self.take().items()
        }

    def restore(
        self, state: Mapping[str, torch.Tensor], mask: torch.Tensor | None = None
    ) -> None:
        """Copy a state into the live tensors and the engine.

        Args:
            state: State returned by `take`.
            mask: Worlds, shape (num_envs,), bool; other worlds and shared tensors are
                unchanged. None means all, including shared tensors.
        """
        live = self.live()
        check_state(live, state)
        self._check_engine(state)
        physics = {k[4:]: v for k, v in state.items() if k.startswith("sim.")}
        self._sim.restore(physics, mask)
        for name, tensor in live.items():
            if mask is None:
                tensor.copy_(state[name])
            elif is_per_world(name, tensor, self._sim.num_envs):
                write_where(tensor, mask, state[name])
        self._scene.invalidate()

    def put_rows(self, rows: Mapping[int, Row], *, shared: bool = False) -> None:
        """Restore worlds from rows of a state; the other worlds are unchanged.

        Args:
            rows: Rows by world index. They can come from different worlds, and from
                environments with other numbers of worlds.
            shared: Whether shared tensors are also restored, from the first row.
        """
        if not rows:
            return
        first = next(iter(rows.values()))
        live = self.live()
        _check_names(first, rows)
        state = {
            name: self._spread(name, {world: row[name] for world, row in rows.items()})
            for name in first
            if name.startswith("sim.") or self._has_rows(name, live.get(name))
        }
        # Shared tensors are unchanged by default.
        whole = {k: t for k, t in live.items() if k not in state and k in first}
        mask = ids_to_mask(list(rows), self._sim.num_envs, self._sim.device)
        self.restore(state | whole, mask)
        if shared:
            for name, tensor in whole.items():
                _check_shape(name, first[name], tuple(tensor.shape))
                tensor.copy_(first[name])

    def _check_engine(self, state: Mapping[str, torch.Tensor]) -> None:
        """Raise for a state of the other engine, which has different tensors."""
        engine = self._sim.backend.engine
        given = "native" if "sim.state" in state else "warp"
        if given != engine:
            raise StateError(
                f"The state was saved on the {given} engine, but this environment uses "
                f"the {engine} engine. Use get_state_dict(), which works on both."
            )

    def _has_rows(self, name: str, live: torch.Tensor | None) -> bool:
        # `check_state` reports names that the environment does not have.
        return live is None or is_per_world(name, live, self._sim.num_envs)

    def _spread(self, name: str, rows: Mapping[int, torch.Tensor]) -> torch.Tensor:
        """Return a tensor for all worlds with the given rows, and zeros elsewhere."""
        first = next(iter(rows.values()))
        size = (self._sim.num_envs, *first.shape)
        spread = torch.zeros(size, dtype=first.dtype, device=self._sim.device)
        for world, row in rows.items():
            _check_shape(name, row, tuple(first.shape))
            spread[world].copy_(row)
        return spread


def is_per_world(name: str, tensor: torch.Tensor, num_envs: int) -> bool:
    """Return True for a state tensor with a row for each world.

    Args:
        name: Name of the tensor in the state.
        tensor: The tensor.
        num_envs: Number of worlds of the environment that the state comes from.
    """
    is_shared = any(fnmatchcase(name, pattern) for pattern in SHARED)
    return not is_shared and tensor.shape[:1] == (num_envs,)


def world_row(state: Mapping[str, torch.Tensor], world: int) -> dict[str, torch.Tensor]:
    """Return one world's row of a state from `env.get_state()`, as views."""
    num_envs = state["episode_length"].shape[0]
    if not 0 <= world < num_envs:
        raise IndexError(f"World {world} is out of range 0..{num_envs - 1}.")
    return {
        name: tensor[world] if is_per_world(name, tensor, num_envs) else tensor
        for name, tensor in state.items()
    }


def check_state(
    live: Mapping[str, torch.Tensor], state: Mapping[str, torch.Tensor]
) -> None:
    """Raise unless a state has the tensors of an environment, with the same shapes."""
    given = {name for name in state if not name.startswith("sim.")}
    if given != set(live):
        odd = sorted(given ^ set(live))
        raise StateError(
            "The state was saved with other terms. Present only in the state or "
            "only in the environment: "
            + ", ".join(odd[:5])
            + (f" and {len(odd) - 5} more." if len(odd) > 5 else ".")
        )
    for name, tensor in live.items():
        if tensor.shape != state[name].shape:
            raise StateError(
                f"{name!r} has shape {tuple(state[name].shape)} in the state, and "
                f"{tuple(tensor.shape)} in this environment. Use the same num_envs."
            )


def _check_shape(name: str, value: torch.Tensor, expected: tuple[int, ...]) -> None:
    if tuple(value.shape) != expected:
        raise StateError(
            f"{name!r} has shape {tuple(value.shape)} in the row; it has to be "
            f"{expected}."
        )


def _check_names(first: Row, rows: Mapping[int, Row]) -> None:
    for world, row in rows.items():
        if row.keys() != first.keys():
            odd = sorted(row.keys() ^ first.keys())
            raise StateError(
                f"The row for world {world} has other names than the first row. "
                f"Present in only one of them: {', '.join(odd[:5])}."
            )


StateDict = dict[str, torch.Tensor]
"""Physical state by entity: a tensor of shape (num_envs, width) for each.

A row of an entity is the concatenation, in float32, of:

- 3: position of the root link in the world;
- 4: its orientation, a unit quaternion wxyz;
- 3: velocity of the root link's origin, world axes;
- 3: angular velocity of the root link, world axes;
- 1 for each hinge and slide joint: position;
- 1 for each hinge and slide joint: velocity;
- 4 for each ball joint: quaternion wxyz;
- 3 for each ball joint: angular velocity in the axes of the joint's own body.

The format is intended for users, files and other programs. It omits warm starts,
controls, timers, random number states and double-precision digits: `get_state` includes
all of them, and continues bit for bit.
"""

Layout = dict[str, slice]
"""Columns of an entity's row by part, such as "pos" or "joint_vel"."""

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
    """Return the state of every entity.

    Shape (num_envs, 13 + 2 * num_joints) without ball joints. The tensors are copies.
    Does not synchronise with the device, so this can be called in a captured step.
    """
    return {name: _row(entity) for name, entity in scene.entities.items()}


def write_state_dict(
    scene: Scene, state: Mapping[str, Any], mask: torch.Tensor
) -> None:
    """Write the entities' states in the worlds of `mask`, without `forward()`.

    The root velocity of a fixed base is ignored, and also the root pose of an entity
    that is fixed to the world. Omitted entities, controls, activations and warm starts
    are unchanged.

    Args:
        scene: The scene with the entities.
        state: A tensor for each entity, with or without the "entities" level. A tensor
            with one row applies to all worlds.
        mask: Worlds, shape (num_envs,), bool.
    """
    for name, value in checked(scene, state, mask).items():
        _write(scene.entity(name), value, mask)


def checked(scene: Scene, state: Mapping[str, Any], worlds: torch.Tensor) -> StateDict:
    """Return the state tensors by entity; raise an error that names any mismatch."""
    flat = state["entities"] if set(state) == {"entities"} else state
    if not isinstance(flat, Mapping) or not flat:
        raise StateError(
            "The state is empty; it has to map entity names to tensors. "
            + suggest("", list(scene.entities))
        )
    return {name: _fitting(scene, name, value, worlds) for name, value in flat.items()}


def _fitting(scene: Scene, name: str, value: Any, worlds: torch.Tensor) -> torch.Tensor:
    entities, num_envs = scene.entities, len(worlds)
    if name not in entities:
        raise StateError(
            f"The state has an entity {name!r}, which is not in the scene. "
            + suggest(name, list(entities))
        )
    layout = layout_of(entities[name])
    width = next(reversed(layout.values())).stop
    tensor = torch.as_tensor(value, device=worlds.device)
    if not tensor.is_floating_point():
        raise StateError(
            f"The state of {name!r} is {tensor.dtype}; it has to be float32."
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

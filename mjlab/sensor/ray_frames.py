"""Poses of the scene frames (bodies, sites, geoms, cameras) that rays are fixed to."""

from collections.abc import Sequence
from itertools import groupby
from typing import Any

import mujoco
import torch

from mjlab.names import suggest
from mjlab.sensor.objects import ObjRef, SensorError, object_id, require_object
from mjlab.sim import Simulation

# MuJoCo's fields for each type of frame: position, rotation matrix and body id.
_FIELDS: dict[str, tuple[str, str, str | None]] = {
    "body": ("xpos", "xmat", None),
    "xbody": ("xpos", "xmat", None),
    "site": ("site_xpos", "site_xmat", "site_bodyid"),
    "geom": ("geom_xpos", "geom_xmat", "geom_bodyid"),
    "camera": ("cam_xpos", "cam_xmat", "cam_bodyid"),
}
_POSITION, _MATRIX, _OWNER = range(3)

# Entries of a matrix [[0, 1, 2], [3, 4, 5], [6, 7, 8]] with columns x, y, z that give
# the horizontal forward and left axes: first derived from x, then from y.
_HORIZONTAL = ((0, 3, 3, 0), (4, 1, 1, 4))
_SIGNS = ((1.0, 1.0, -1.0, 1.0), (1.0, -1.0, 1.0, 1.0))
_VERTICAL = 1e-3
"""The x axis defines the heading if its horizontal part is at least this long."""


def check_frames(sensor: str, frames: tuple[ObjRef, ...], spec: mujoco.MjSpec) -> None:
    """Raise if there are no frames, or if rays cannot be fixed to one of them."""
    if not frames:
        raise SensorError(f"Sensor {sensor!r}: frame is empty; name at least one.")
    for frame in frames:
        if frame.type not in _FIELDS:
            raise SensorError(
                f"Sensor {sensor!r}: rays cannot start at {frame.full_name!r}, a "
                f"{frame.type}. {suggest(frame.type, _FIELDS)}"
            )
        require_object(spec, frame, sensor)


def bodies_of(frames: Sequence[ObjRef], model: mujoco.MjModel) -> list[int]:
    """Return the body of each frame; -1 for the world, which rays never ignore."""
    bodies = []
    for frame in frames:
        index, owner = object_id(model, frame), _FIELDS[frame.type][_OWNER]
        body = index if owner is None else int(getattr(model, owner)[index])
        bodies.append(body if body > 0 else -1)
    return bodies


class _Gather:
    """Copies one field of several frames, one copy per group of equal types."""

    def __init__(
        self,
        frames: Sequence[ObjRef],
        which: int,
        out: torch.Tensor,
        sim: Simulation,
        entries: Sequence[int] | None = None,
    ) -> None:
        """Prepare the copies.

        Args:
            frames: The frames.
            which: `_POSITION` or `_MATRIX`.
            out: Destination, shape (num_envs, frames, ...).
            sim: The simulation.
            entries: Entries of each frame's matrix to copy. None copies all.
        """
        self._copies: list[tuple[torch.Tensor, torch.Tensor, torch.Tensor]] = []
        start = 0
        for name, run in groupby(frames, lambda frame: _FIELDS[frame.type][which]):
            assert name is not None
            ids = [object_id(sim.mj_model, frame) for frame in run]
            field, target = getattr(sim.data, name), out[:, start : start + len(ids)]
            start += len(ids)
            if entries is not None:
                field, target = field.flatten(1), target.flatten(1)
                ids = [9 * index + entry for index in ids for entry in entries]
            self._copies.append((field, torch.tensor(ids, device=sim.device), target))

    def __call__(self) -> None:
        for field, ids, target in self._copies:
            torch.index_select(field, 1, ids, out=target)


class Positions:
    """World positions of frames of several types, updated by `follow`."""

    def __init__(self, frames: Sequence[ObjRef], sim: Simulation) -> None:
        self.values = torch.zeros(sim.num_envs, len(frames), 3, device=sim.device)
        """Positions in the world frame, m, shape (num_envs, frames, 3), live."""
        self._gather = _Gather(frames, _POSITION, self.values, sim)

    def follow(self) -> None:
        """Copy the current positions from the simulation."""
        self._gather()


class Orientations:
    """World axes x, y and z of frames, updated by `follow`."""

    def __init__(self, frames: Sequence[ObjRef], sim: Simulation) -> None:
        matrices = torch.zeros(sim.num_envs, len(frames), 3, 3, device=sim.device)
        self.axes = matrices.unbind(-1)
        """Axes x, y and z in the world, each (num_envs, frames, 3), live."""
        self._gather = _Gather(frames, _MATRIX, matrices, sim)

    def follow(self) -> None:
        """Copy the current axes from the simulation."""
        self._gather()


class Headings:
    """Horizontal forward and left axes of frames, which follow only the yaw.

    The heading is the horizontal direction of a frame's x axis. If the x axis is
    vertical, the y axis, which is then horizontal, gives the heading.
    """

    def __init__(self, frames: Sequence[ObjRef], sim: Simulation) -> None:
        shape = (sim.num_envs, len(frames))
        self._entries = torch.zeros(*shape, 8, device=sim.device)
        entries: Any = [entry for way in _HORIZONTAL for entry in way]
        self._gather = _Gather(frames, _MATRIX, self._entries, sim, entries)
        self._signs = torch.tensor(_SIGNS, device=sim.device).flatten()
        # The vertical components stay 0.
        axes = torch.zeros(*shape, 2, 3, device=sim.device)
        self._horizontal = axes[..., :2]
        self.axes = axes.unbind(2)
        """Forward and left axes in the world, each (num_envs, frames, 3), live."""

    def follow(self) -> None:
        """Compute the headings from the current orientations."""
        self._gather()
        ways = self._entries.mul_(self._signs).unflatten(-1, (2, 2, 2))
        by_x, by_y = ways.unbind(2)
        length = torch.linalg.vector_norm(by_x, dim=-1, keepdim=True)
        ahead = torch.where(length < _VERTICAL, by_y, by_x)
        length = torch.linalg.vector_norm(ahead, dim=-1, keepdim=True)
        torch.div(ahead, length, out=self._horizontal)

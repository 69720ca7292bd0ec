"""Poses: positions with orientations, with composition and inverse."""

from __future__ import annotations

from collections.abc import Sequence
from types import EllipsisType

import torch

from mjlab.tensors.math import (
    combine_frames,
    quat_conjugate,
    quat_from_matrix,
    quat_rotate,
    quat_rotate_inverse,
    quat_to_matrix,
)

Numbers = Sequence[float] | Sequence[Sequence[float]]
Index = int | slice | torch.Tensor | EllipsisType | None


class PoseError(ValueError):
    """Raised when data cannot be interpreted as a pose."""


class Pose:
    """Poses of frames, shape (..., 7).

    A pose maps coordinates in its own frame to coordinates in its parent frame. `A * B`
    is pose B, given in frame A, expressed in the parent frame of A. Two poses broadcast
    as tensors do: one row combines with any number of rows.
    """

    def __init__(self, raw: torch.Tensor) -> None:
        """Wrap a tensor without a copy.

        Args:
            raw: Position in metres and unit quaternion wxyz, shape (..., 7).
        """
        if raw.ndim < 1 or raw.shape[-1] != 7:
            raise PoseError(
                "A pose has 7 numbers in its last dimension, position and quaternion "
                f"wxyz; this tensor has shape {tuple(raw.shape)}."
            )
        self.raw = raw
        """Position and quaternion wxyz, shape (..., 7)."""

    @classmethod
    def create(
        cls,
        pose: Pose | torch.Tensor | Numbers | Sequence[Pose],
        device: torch.device | str | None = None,
    ) -> Pose:
        """Create a pose from a pose, a tensor, a nested list, or a list of poses.

        Args:
            pose: A pose, which is returned unchanged; a tensor or nested list of shape
                (..., 7); or a list of poses of equal shape, which become rows.
            device: Target device. None keeps a tensor's device, and uses the CPU for a
                list.
        """
        if isinstance(pose, Pose):
            return pose if device is None else pose.to(device)
        if not isinstance(pose, torch.Tensor):
            rows = [p.raw for p in pose if isinstance(p, Pose)]
            if rows and len(rows) == len(pose):
                pose = torch.stack(rows)
            else:
                pose = torch.as_tensor(pose, dtype=torch.float32)
        return cls(pose if device is None else pose.to(device))

    @classmethod
    def create_from_pq(
        cls,
        p: torch.Tensor | Numbers | None = None,
        q: torch.Tensor | Numbers | None = None,
        device: torch.device | str | None = None,
    ) -> Pose:
        """Create a pose from positions and orientations that broadcast with each other.

        Args:
            p: Positions, shape (..., 3). None means the origin.
            q: Unit quaternions wxyz, shape (..., 4). None means no rotation.
            device: Target device. None uses the device of the tensors.
        """
        place = next((v.device for v in (p, q) if isinstance(v, torch.Tensor)), None)
        pos, quat = _part(p, 3, "p", place), _part(q, 4, "q", place)
        if q is None:
            quat[0].fill_(1.0)
        shape = torch.broadcast_shapes(pos.shape[:-1], quat.shape[:-1])
        parts = (pos.expand(*shape, 3), quat.expand(*shape, 4))
        raw = torch.cat(parts, dim=-1)
        return cls(raw if device is None else raw.to(device))

    @classmethod
    def from_transformation_matrix(cls, matrix: torch.Tensor) -> Pose:
        """Create a pose from homogeneous matrices, shape (..., 4, 4)."""
        if matrix.shape[-2:] != (4, 4):
            raise PoseError(
                "A transformation matrix has shape (..., 4, 4), not "
                f"{tuple(matrix.shape)}."
            )
        quat = quat_from_matrix(matrix[..., :3, :3])
        return cls(torch.cat((matrix[..., :3, 3], quat), dim=-1))

    @property
    def p(self) -> torch.Tensor:
        """Positions, shape (..., 3), metres; a view of `raw`."""
        return self.raw[..., :3]

    @p.setter
    def p(self, value: torch.Tensor) -> None:
        self.raw[..., :3].copy_(value)

    @property
    def q(self) -> torch.Tensor:
        """Unit quaternions wxyz, shape (..., 4); a view of `raw`."""
        return self.raw[..., 3:]

    @q.setter
    def q(self, value: torch.Tensor) -> None:
        self.raw[..., 3:].copy_(value)

    @property
    def shape(self) -> torch.Size:
        """Shape of the poses, without the last dimension of 7."""
        return self.raw.shape[:-1]

    @property
    def device(self) -> torch.device:
        """Device of the poses."""
        return self.raw.device

    def to(self, device: torch.device | str) -> Pose:
        """Return the same poses on another device."""
        return Pose(self.raw.to(device))

    def clone(self) -> Pose:
        """Return a copy that shares no memory."""
        return Pose(self.raw.clone())

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, index: Index | tuple[Index, ...]) -> Pose:
        """Index as a tensor of shape `pose.shape`."""
        listed = index if isinstance(index, tuple) else (index,)
        return Pose(self.raw[(*listed, slice(None))])

    def __mul__(self, other: Pose) -> Pose:
        left, right = torch.broadcast_tensors(self.raw, other.raw)
        pos, quat = combine_frames(
            left[..., :3], left[..., 3:], right[..., :3], right[..., 3:]
        )
        return Pose(torch.cat((pos, quat), dim=-1))

    def inv(self) -> Pose:
        """Return the inverse: `A.inv() * A` is the identity."""
        pos = -quat_rotate_inverse(self.q, self.p)
        return Pose(torch.cat((pos, quat_conjugate(self.q)), dim=-1))

    def to_transformation_matrix(self) -> torch.Tensor:
        """Homogeneous matrices, shape (..., 4, 4)."""
        top = torch.cat((quat_to_matrix(self.q), self.p.unsqueeze(-1)), dim=-1)
        bottom = torch.zeros_like(top[..., :1, :])
        bottom[..., 3].fill_(1.0)
        return torch.cat((top, bottom), dim=-2)

    def transform_point(self, point: torch.Tensor) -> torch.Tensor:
        """Transform one point per frame, (..., 3), to the parent frame."""
        shape = torch.broadcast_shapes(self.shape, point.shape[:-1])
        quat, point = self.q.expand(*shape, 4), point.expand(*shape, 3)
        return self.p + quat_rotate(quat, point)

    def transform_points(self, points: torch.Tensor) -> torch.Tensor:
        """Transform the points of each frame, (..., P, 3), to the parent frame."""
        return Pose(self.raw.unsqueeze(-2)).transform_point(points)

    def __repr__(self) -> str:
        return f"Pose(p={self.p.tolist()}, q={self.q.tolist()})"


def _part(
    value: torch.Tensor | Numbers | None,
    size: int,
    name: str,
    device: torch.device | None,
) -> torch.Tensor:
    if value is None:
        return torch.zeros(size, device=device)
    if not isinstance(value, torch.Tensor):
        value = torch.tensor(value, dtype=torch.float32, device=device)
    if value.ndim < 1 or value.shape[-1] != size:
        raise PoseError(
            f"{name} has shape {tuple(value.shape)}; its last dimension has to be "
            f"{size}."
        )
    return value

"""Pose and Jacobian of a frame, joint inertia, and solvers of small linear systems."""

from itertools import product
from typing import Literal

import mujoco
import torch

from mjlab.entity import Entity
from mjlab.managers.env import Env
from mjlab.names import find_name, suggest
from mjlab.sim import Simulation
from mjlab.tensors.columns import Columns
from mjlab.tensors.math import quat_mul

FrameType = Literal["body", "site", "geom"]
_KINDS: tuple[FrameType, ...] = ("body", "site", "geom")


def find_frame(
    model: mujoco.MjModel, entity: Entity, kind: FrameType, name: str
) -> tuple[int, int]:
    """Return the id of a body, site or geom, and the id of its body.

    Args:
        model: The compiled model.
        entity: The entity with the frame.
        kind: Kind of the frame: "body", "site" or "geom".
        name: Name of the body, site or geom within the entity.
    """
    if kind not in _KINDS:
        raise ValueError(f"frame_type={kind!r} is unknown. {suggest(kind, _KINDS)}")
    index = entity.index
    elements = {"body": index.bodies, "site": index.sites, "geom": index.geoms}[kind]
    local = find_name(name, elements.names, what=kind, owner=entity.name)
    found = int(elements.ids[local])
    if kind == "body":
        return found, found
    return found, int(getattr(model, f"{kind}_bodyid")[found])


class Frame:
    """Pose of a frame in every world.

    The pose comes from MuJoCo's kinematics, so it is current as of the last `forward()`
    or the beginning of the last `step()`.
    """

    def __init__(
        self, sim: Simulation, entity: Entity, kind: FrameType, name: str
    ) -> None:
        """Find the frame.

        Args:
            sim: The simulation.
            entity: The entity with the frame.
            kind: Kind of the frame: "body", "site" or "geom".
            name: Name of the body, site or geom within the entity.
        """
        self._sim = sim
        self._kind = kind
        self._id, self._body = find_frame(sim.mj_model, entity, kind, name)

    @property
    def pos_w(self) -> torch.Tensor:
        """Position of the origin in the world, shape (num_envs, 3), metres."""
        field = "xpos" if self._kind == "body" else f"{self._kind}_xpos"
        return getattr(self._sim.data, field)[:, self._id]

    @property
    def quat_w(self) -> torch.Tensor:
        """Orientation in the world, wxyz, shape (num_envs, 4)."""
        body = self._sim.data.xquat[:, self._body]
        if self._kind == "body":
            return body
        on_body = getattr(self._sim.model, f"{self._kind}_quat")[:, self._id]
        return quat_mul(body, on_body)


class Jacobian:
    """Geometric Jacobian of a point, from the joint axes in the world frame.

    It is consistent with the pose of a `Frame`: both come from MuJoCo's kinematics.
    `mujoco.batch` also computes Jacobians, but from the current state, which differs
    from the state of these kinematics after a physics step.
    """

    def __init__(self, env: Env, joint_ids: list[int]) -> None:
        """Store the joints.

        Args:
            env: The environment.
            joint_ids: Hinge and slide joints of the compiled model. All of them must
                move the points that are passed to `at`.
        """
        self._sim = env.sim
        self._joints = Columns.of(joint_ids, env.device)
        slide = int(mujoco.mjtJoint.mjJNT_SLIDE)
        slides = [int(env.sim.mj_model.jnt_type[j]) == slide for j in joint_ids]
        self._has_slides = any(slides)
        self._slides = torch.tensor(slides, device=env.device).unsqueeze(-1)

    def at(self, point_w: torch.Tensor, *, with_rotation: bool = True) -> torch.Tensor:
        """Return the Jacobian: velocities of a point for unit joint velocities.

        Args:
            point_w: The point in the world, shape (num_envs, 3).
            with_rotation: Whether to append angular velocities to the linear ones.

        Returns:
            World axes, shape (num_envs, 6 or 3, joints).
        """
        axes = self._joints.read(self._sim.data.xaxis)
        lever = point_w.unsqueeze(1) - self._joints.read(self._sim.data.xanchor)
        linear = torch.linalg.cross(axes, lever)
        if self._has_slides:
            linear = torch.where(self._slides, axes, linear)
        if not with_rotation:
            return linear.transpose(1, 2).contiguous()
        if self._has_slides:
            axes = axes.masked_fill(self._slides, 0.0)
        return torch.cat((linear, axes), dim=-1).transpose(1, 2).contiguous()


class DampedInverse:
    """Damped least-squares solver for small systems, with elementwise operations."""

    def __init__(self, size: int, damping: float, device: torch.device) -> None:
        """Store the damping.

        Args:
            size: Dimension of the error, and so of the matrices to invert.
            damping: Damping factor; its square is added to the diagonal.
            device: Device of Jacobians and errors.
        """
        self._identity = torch.eye(size, device=device)
        self._damping = damping * damping * self._identity

    def __call__(
        self,
        jacobian: torch.Tensor,
        error: torch.Tensor,
        pull: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Return the step of the joints, shape (num_envs, joints).

        Args:
            jacobian: Shape (num_envs, size, joints).
            error: Error that the step should correct, shape (num_envs, size).
            pull: Preferred joint step, followed in the null space of the task, shape
                (num_envs, joints). None means zero.
        """
        if pull is not None:
            error = error - (jacobian * pull.unsqueeze(1)).sum(dim=-1)
        products = jacobian.unsqueeze(2) * jacobian.unsqueeze(1)
        normal = products.sum(dim=-1).add_(self._damping)
        solution = solve_positive(normal, error.unsqueeze(-1), self._identity)[..., 0]
        across = jacobian.transpose(1, 2).contiguous()
        step = (across * solution.unsqueeze(1)).sum(dim=-1)
        return step if pull is None else step + pull

    def with_held(
        self,
        jacobian: torch.Tensor,
        error: torch.Tensor,
        pull: torch.Tensor | None,
        held: torch.Tensor,
        values: torch.Tensor,
    ) -> torch.Tensor:
        """Return the step of the joints, where some joints have a prescribed step.

        Args:
            jacobian: Shape (num_envs, size, joints).
            error: Error that the step should correct, shape (num_envs, size).
            pull: See `__call__`.
            held: Joints with a prescribed step, shape (num_envs, joints), bool.
            values: Prescribed steps, shape (num_envs, joints). Values outside `held`
                are ignored.
        """
        values = values.masked_fill(~held, 0.0)
        left = error - (jacobian * values.unsqueeze(1)).sum(dim=-1)
        free = jacobian.masked_fill(held.unsqueeze(1), 0.0)
        free_pull = None if pull is None else pull.masked_fill(held, 0.0)
        return self(free, left, free_pull) + values


class JointInertia:
    """Inertia matrix of the given joints, read from MuJoCo's sparse inertia matrix."""

    def __init__(self, env: Env, joint_ids: list[int]) -> None:
        """Locate the entries of these joints in the sparse matrix.

        Args:
            env: The environment.
            joint_ids: Hinge and slide joints of the compiled model.
        """
        model = env.sim.mj_model
        self._sim = env.sim
        self.dofs = Columns.of(model.jnt_dofadr[joint_ids].tolist(), env.device)
        """Degrees of freedom of the joints."""
        entries, present = [], []
        for row, column in product(self.dofs.ids.tolist(), repeat=2):
            start = int(model.M_rowadr[max(row, column)])
            stop = start + int(model.M_rownnz[max(row, column)])
            columns = model.M_colind[start:stop].tolist()
            has_entry = min(row, column) in columns
            place = columns.index(min(row, column)) if has_entry else 0
            entries.append(start + place)
            present.append(float(has_entry))
        shape = (len(joint_ids), len(joint_ids))
        self._entries = torch.tensor(entries, device=env.device)
        self._present = torch.tensor(present, device=env.device).view(shape)

    def read(self) -> torch.Tensor:
        """Return the inertia, shape (num_envs, joints, joints), kg m² or kg."""
        found = self._sim.data.M.index_select(1, self._entries)
        return found.unflatten(1, tuple(self._present.shape)) * self._present


def solve_positive(
    matrix: torch.Tensor, right: torch.Tensor, identity: torch.Tensor
) -> torch.Tensor:
    """Solve small systems by Gauss-Jordan elimination, with elementwise operations.

    Elimination without pivoting is stable here, because the matrices are symmetric and
    positive definite.

    Args:
        matrix: Shape (num_envs, size, size).
        right: Right-hand sides, shape (num_envs, size, n).
        identity: Identity matrix, shape (size, size).

    Returns:
        Solutions, shape (num_envs, size, n).
    """
    size = identity.shape[0]
    system = torch.cat((matrix, right), dim=-1)
    for k in range(size):
        pivot_row = system[:, k] / system[:, k, k : k + 1]
        # The pivot row itself is replaced by the normalised row.
        factors = system[:, :, k] - identity[k]
        system.addcmul_(factors.unsqueeze(-1), pivot_row.unsqueeze(1), value=-1.0)
    return system[:, :, size:]

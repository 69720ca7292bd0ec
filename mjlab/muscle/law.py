"""Torque laws: convert joint targets to target torques of the muscles."""

from __future__ import annotations

from typing import Protocol, get_args

import mujoco
import torch

from mjlab.muscle.config import LawKind, TorqueLawCfg
from mjlab.muscle.map import MuscleMap
from mjlab.muscle.operators import one_launch
from mjlab.names import suggest


class JointFields(Protocol):
    """Fields of MjData that torque laws read."""

    qpos: torch.Tensor
    """Shape (num_envs, nq)."""
    qvel: torch.Tensor
    """Shape (num_envs, nv)."""
    M: torch.Tensor
    """Lower triangle of the inertia matrix by rows, shape (num_envs, nC)."""
    qfrc_bias: torch.Tensor
    """Coriolis and gravity forces, shape (num_envs, nv)."""
    qfrc_passive: torch.Tensor
    """Passive spring and damper forces, shape (num_envs, nv)."""
    qfrc_constraint: torch.Tensor
    """Constraint forces of the previous substep, shape (num_envs, nv)."""


class TorqueLaw(Protocol):
    """Interface of torque laws, which convert the policy's targets to torques.

    Called in every physics step.
    """

    def compute(self, fields: JointFields, target: torch.Tensor) -> torch.Tensor:
        """Return torques in N m, shape (num_envs, num_dofs).

        Args:
            fields: Current state.
            target: Targets of the policy, shape (num_envs, num_dofs): positions in rad
                or m, or scaled torques for `DirectLaw`.
        """
        ...


class DirectLaw:
    """Torque control: the torque, in N m, is the target times `scale`."""

    def __init__(self, scale: float = 1.0) -> None:
        self._scale = scale

    def compute(self, fields: JointFields, target: torch.Tensor) -> torch.Tensor:
        """Return the torques, shape (num_envs, num_dofs)."""
        return target * self._scale


class PlainPdLaw:
    """PD control of the joint position, with a target velocity of 0."""

    def __init__(
        self,
        model: mujoco.MjModel,
        muscle_map: MuscleMap,
        stiffness: float = 300.0,
        damping: float | None = None,
        *,
        device: torch.device | str = "cpu",
        dtype: torch.dtype = torch.float32,
    ) -> None:
        """Store the gains.

        Args:
            model: The compiled model. Torques are held for one of its timesteps.
            muscle_map: The controlled dofs.
            stiffness: Stiffness in N m/rad.
            damping: Damping in N m s/rad. None uses √(2 · stiffness).
            device: Device of the worlds.
            dtype: Precision of the state.
        """
        self.stiffness = stiffness
        self.damping = (2.0 * stiffness) ** 0.5 if damping is None else damping
        self._interval = float(model.opt.timestep)
        self._qpos = torch.tensor(muscle_map.qpos_ids, device=device)
        self._dofs = torch.tensor(muscle_map.dof_ids, device=device)
        like = torch.zeros((), device=device, dtype=dtype)
        self._read(model, list(muscle_map.dof_ids), like)

    def compute(self, fields: JointFields, target: torch.Tensor) -> torch.Tensor:
        """Return the torques, shape (num_envs, num_dofs)."""
        velocity = fields.qvel.index_select(1, self._dofs)
        return self._spring(fields, target) - self.damping * velocity

    def _read(self, model: mujoco.MjModel, dofs: list[int], like: torch.Tensor) -> None:
        """Find the entries of the inertia matrix that the law reads.

        Args:
            model: The compiled model.
            dofs: The controlled dofs.
            like: Tensor with the dtype and device of the worlds.
        """

    def _spring(self, fields: JointFields, target: torch.Tensor) -> torch.Tensor:
        return self.stiffness * (target - fields.qpos.index_select(1, self._qpos))


class DiagonalStablePdLaw(PlainPdLaw):
    """Stable PD law with the diagonal of the inertia matrix.

    It reduces the gains of joints with small inertia. Each joint is treated separately,
    so the law is stable at large gains without solving a linear system.
    """

    max_speed = 30.0
    """Bound for clipping joint speeds, in rad/s."""

    def _read(self, model: mujoco.MjModel, dofs: list[int], like: torch.Tensor) -> None:
        ends = model.M_rowadr + model.M_rownnz - 1
        diagonal = [int(ends[dof]) for dof in dofs]
        self._diagonal = torch.tensor(diagonal, device=like.device)

    def compute(self, fields: JointFields, target: torch.Tensor) -> torch.Tensor:
        """Return the torques, shape (num_envs, num_dofs)."""
        h = self._interval
        inertia = fields.M.index_select(1, self._diagonal)
        velocity = fields.qvel.index_select(1, self._dofs)
        velocity = velocity.clamp(-self.max_speed, self.max_speed)
        torque = self._spring(fields, target) - self.damping * velocity
        return torque * inertia / (inertia + h * self.damping + h * h * self.stiffness)


class StablePdLaw(PlainPdLaw):
    """Stable PD law (Tan, Liu and Turk 2011).

    It uses the position and velocity at the end of the physics step, predicted from the
    inertia matrix and all other forces. It is stable with gains for which PD control at
    the same rate is unstable.
    """

    def _read(self, model: mujoco.MjModel, dofs: list[int], like: torch.Tensor) -> None:
        trees = {int(model.dof_treeid[dof]) for dof in dofs}
        tree_dofs = [d for d in range(model.nv) if int(model.dof_treeid[d]) in trees]
        self._size = len(tree_dofs)
        self._tree = torch.tensor(tree_dofs, device=like.device)
        address, present = _dense_addresses(model, tree_dofs)
        self._address = torch.tensor(address, device=like.device)
        self._present = like.new_tensor(present).view(self._size, self._size, 1)
        places = [tree_dofs.index(dof) for dof in dofs]
        self._places = torch.tensor(places, device=like.device)
        damped = [self.damping if d in dofs else 0.0 for d in tree_dofs]
        extra = like.new_tensor(damped) * self._interval
        self._extra = torch.diag(extra).unsqueeze(-1)

    def compute(self, fields: JointFields, target: torch.Tensor) -> torch.Tensor:
        """Return the torques, shape (num_envs, num_dofs)."""
        h = self._interval
        velocity = fields.qvel.index_select(1, self._dofs)
        torque = self._spring(fields, target) - self.damping * velocity
        torque = torque - h * self.stiffness * velocity
        others = fields.qfrc_passive + fields.qfrc_constraint - fields.qfrc_bias
        force = others.index_select(1, self._tree)
        # torch.onnx (torch 2.13) exports index_add over all columns without its input.
        force = force + torch.zeros_like(force).index_copy(1, self._places, torque)
        # Elementwise operations are fast with worlds as the last dimension.
        inertia = fields.M.t().index_select(0, self._address)
        inertia = inertia.view(self._size, self._size, -1)
        inertia = torch.addcmul(self._extra, inertia, self._present)
        solution = solve_positive(inertia, force.t())
        acceleration = solution.index_select(0, self._places).t()
        return torque - h * self.damping * acceleration


_LAWS: dict[LawKind, type[PlainPdLaw]] = {
    "stable_pd": StablePdLaw,
    "diagonal_stable_pd": DiagonalStablePdLaw,
    "pd": PlainPdLaw,
}


def make_law(
    cfg: TorqueLawCfg,
    model: mujoco.MjModel,
    muscle_map: MuscleMap,
    device: torch.device | str = "cpu",
) -> TorqueLaw:
    """Create the torque law that a configuration selects."""
    if cfg.kind == "direct":
        return DirectLaw(cfg.stiffness)
    if cfg.kind not in _LAWS:
        raise ValueError(
            f"law.kind is {cfg.kind!r}. {suggest(cfg.kind, get_args(LawKind))}"
        )
    law = _LAWS[cfg.kind]
    return law(model, muscle_map, cfg.stiffness, cfg.damping, device=device)


def solve_positive(matrix: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """Solve `matrix @ x = right` for symmetric positive definite matrices.

    Gaussian elimination in elementwise operations: a CUDA graph can capture them, and
    the bits of a world's result do not depend on the number of worlds.

    Args:
        matrix: Shape (n, n, worlds).
        right: Shape (n, worlds).
    """
    rest = torch.cat((matrix, right.unsqueeze(1)), dim=1)
    if torch._is_functional_tensor(rest):
        return _traced_solution(rest)
    eliminate_(rest)
    return rest[:, -1]


def _traced_solution(rest: torch.Tensor) -> torch.Tensor:
    """Solve for the last column of `rest` without in-place writes, for export traces.

    Each step divides the first row by its pivot, eliminates the first column from the
    others, and moves the row to the end.
    """
    for _ in range(rest.shape[0]):
        first, others = rest[:1], rest[1:]
        row = first[:, 1:] / first[:, :1]
        rest = torch.cat((others[:, 1:] - others[:, :1] * row, row))
    return rest[:, 0]


@one_launch("Tensor(a!) rest", threads=lambda rest: rest.shape[2:])
def eliminate_(rest: torch.Tensor) -> None:
    """Solve for the last column of `rest`, shape (n, n + 1, worlds), in place."""
    # NumPy gives the same bits as torch, with less than half of the call overhead.
    n, cells = rest.shape[0], rest.numpy()
    for k in range(n):
        row = cells[k, k + 1 :]
        row /= cells[k, k]
        cells[k + 1 :, k + 1 :] -= cells[k + 1 :, k : k + 1] * row
    solution = cells[:, n]
    # Column by column: the bits of a sum would depend on the number of worlds.
    for k in range(n - 1, 0, -1):
        solution[:k] -= cells[:k, k] * solution[k]


def clip_to_capacity(
    torque: torch.Tensor, capacity: tuple[torch.Tensor, torch.Tensor]
) -> torch.Tensor:
    """Clip torques to the capacity of each dof's muscles."""
    return torch.minimum(torch.maximum(torque, capacity[0]), capacity[1])


def _dense_addresses(
    model: mujoco.MjModel, dofs: list[int]
) -> tuple[list[int], list[float]]:
    """Return the index in `M` of each dense matrix entry, and 1 if stored, else 0."""
    places: dict[tuple[int, int], int] = {}
    for dof in dofs:
        start = int(model.M_rowadr[dof])
        for k in range(start, start + int(model.M_rownnz[dof])):
            other = int(model.M_colind[k])
            places[dof, other] = places[other, dof] = k
    cells = [(i, j) for i in dofs for j in dofs]
    address = [places.get(cell, 0) for cell in cells]
    return address, [float(cell in places) for cell in cells]

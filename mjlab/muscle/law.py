"""From joint targets to the torques that the muscles are asked for."""

from __future__ import annotations

from typing import Protocol, get_args

import mujoco
import torch

from mjlab.muscle.config import LawKind, TorqueLawCfg
from mjlab.muscle.map import MuscleMap
from mjlab.names import suggest


class JointFields(Protocol):
    """The fields of MjData that are read."""

    @property
    def qpos(self) -> torch.Tensor:
        """Shape (num_envs, nq)."""
        ...

    @property
    def qvel(self) -> torch.Tensor:
        """Shape (num_envs, nv)."""
        ...

    @property
    def M(self) -> torch.Tensor:
        """Lower triangle of the inertia matrix by rows, shape (num_envs, nC)."""
        ...

    @property
    def qfrc_bias(self) -> torch.Tensor:
        """Coriolis force and gravity, shape (num_envs, nv)."""
        ...

    @property
    def qfrc_passive(self) -> torch.Tensor:
        """Springs and dampers, shape (num_envs, nv)."""
        ...

    @property
    def qfrc_constraint(self) -> torch.Tensor:
        """Contacts and limits, of the substep before, shape (num_envs, nv)."""
        ...


class TorqueLaw(Protocol):
    """What turns the targets of a policy into torques, at the muscles' rate."""

    def compute(self, fields: JointFields, target: torch.Tensor) -> torch.Tensor:
        """Return torques in N m, shape (num_envs, num_dofs).

        Args:
            fields: The present state.
            target: What the policy wants, shape (num_envs, num_dofs): positions in rad
                or m, or what `DirectLaw` says.
        """
        ...


class DirectLaw:
    """The policy names torques: its target times `scale` in N m."""

    def __init__(self, scale: float = 1.0) -> None:
        """Remember the scale."""
        self._scale = scale

    def compute(self, fields: JointFields, target: torch.Tensor) -> torch.Tensor:
        """Return the torques, shape (num_envs, num_dofs)."""
        return target * self._scale


class PdLaw:
    """A spring to the target and a damper."""

    def __init__(
        self,
        muscle_map: MuscleMap,
        stiffness: float = 300.0,
        damping: float | None = None,
        device: torch.device | str = "cpu",
    ) -> None:
        """Remember the gains.

        Args:
            muscle_map: Which dofs are controlled.
            stiffness: In N m/rad.
            damping: In N m s/rad. None takes √(2 · stiffness).
            device: Where the worlds are.
        """
        self.stiffness = stiffness
        self.damping = (2.0 * stiffness) ** 0.5 if damping is None else damping
        self._qpos = torch.tensor(muscle_map.qpos_ids, device=device)
        self._dofs = torch.tensor(muscle_map.dof_ids, device=device)

    def compute(self, fields: JointFields, target: torch.Tensor) -> torch.Tensor:
        """Return the torques, shape (num_envs, num_dofs)."""
        velocity = fields.qvel.index_select(1, self._dofs)
        return self._spring(fields, target) - self.damping * velocity

    def _spring(self, fields: JointFields, target: torch.Tensor) -> torch.Tensor:
        return self.stiffness * (target - fields.qpos.index_select(1, self._qpos))


class DiagonalStablePdLaw(PdLaw):
    """A spring and damper, softened where the inertia of a joint is small.

    Each joint is taken alone, with the diagonal of the inertia matrix: stable at large
    gains without a system to solve.
    """

    def __init__(
        self,
        model: mujoco.MjModel,
        muscle_map: MuscleMap,
        stiffness: float = 300.0,
        damping: float | None = None,
        *,
        interval: float | None = None,
        max_speed: float = 30.0,
        device: torch.device | str = "cpu",
    ) -> None:
        """Remember the gains.

        Args:
            model: The compiled model.
            muscle_map: Which dofs are controlled.
            stiffness: In N m/rad.
            damping: In N m s/rad. None takes √(2 · stiffness).
            interval: Time for which a torque is held, in s. None is the timestep.
            max_speed: Joint speeds beyond it count as it, in rad/s.
            device: Where the worlds are.
        """
        super().__init__(muscle_map, stiffness, damping, device)
        self._interval = float(model.opt.timestep) if interval is None else interval
        self._max_speed = max_speed
        diagonal = [
            int(model.M_rowadr[dof] + model.M_rownnz[dof] - 1)
            for dof in muscle_map.dof_ids
        ]
        self._diagonal = torch.tensor(diagonal, device=device)

    def compute(self, fields: JointFields, target: torch.Tensor) -> torch.Tensor:
        """Return the torques, shape (num_envs, num_dofs)."""
        h = self._interval
        inertia = fields.M.index_select(1, self._diagonal)
        velocity = fields.qvel.index_select(1, self._dofs)
        velocity = velocity.clamp(-self._max_speed, self._max_speed)
        torque = self._spring(fields, target) - self.damping * velocity
        return torque * inertia / (inertia + h * self.damping + h * h * self.stiffness)


class StablePdLaw(PdLaw):
    """A spring and damper of the next moment (Tan, Liu and Turk 2011).

    Position and velocity are those at the end of the interval, as the inertia matrix
    and all other forces predict them. It stays stable with gains for which the plain
    law at the same rate would not.
    """

    def __init__(
        self,
        model: mujoco.MjModel,
        muscle_map: MuscleMap,
        stiffness: float = 300.0,
        damping: float | None = None,
        *,
        interval: float | None = None,
        device: torch.device | str = "cpu",
        dtype: torch.dtype = torch.float32,
    ) -> None:
        """Remember the gains and the shape of the inertia matrix.

        Args:
            model: The compiled model.
            muscle_map: Which dofs are controlled.
            stiffness: In N m/rad.
            damping: In N m s/rad. None takes √(2 · stiffness).
            interval: Time for which a torque is held, in s. None is the timestep.
            device: Where the worlds are.
            dtype: Precision of the state.
        """
        super().__init__(muscle_map, stiffness, damping, device)
        self._interval = float(model.opt.timestep) if interval is None else interval
        trees = {int(model.dof_treeid[dof]) for dof in muscle_map.dof_ids}
        tree_dofs = [d for d in range(model.nv) if int(model.dof_treeid[d]) in trees]
        self._size = len(tree_dofs)
        self._tree = torch.tensor(tree_dofs, device=device)
        address, present = _dense_addresses(model, tree_dofs)
        self._address = torch.tensor(address, device=device)
        self._present = torch.tensor(present, device=device, dtype=dtype)[:, None]
        places = [tree_dofs.index(dof) for dof in muscle_map.dof_ids]
        self._places = torch.tensor(places, device=device)
        damped = [self.damping if d in muscle_map.dof_ids else 0.0 for d in tree_dofs]
        extra = torch.tensor(damped, device=device, dtype=dtype) * self._interval
        self._extra = torch.diag(extra).unsqueeze(-1)

    def compute(self, fields: JointFields, target: torch.Tensor) -> torch.Tensor:
        """Return the torques, shape (num_envs, num_dofs)."""
        h = self._interval
        velocity = fields.qvel.index_select(1, self._dofs)
        torque = self._spring(fields, target) - self.damping * velocity
        torque = torque - h * self.stiffness * velocity
        others = fields.qfrc_passive + fields.qfrc_constraint - fields.qfrc_bias
        force = others.index_select(1, self._tree)
        force = force.index_add(1, self._places, torque)
        # Worlds last, where elementwise operations are quick.
        inertia = fields.M.t().index_select(0, self._address) * self._present
        inertia = inertia.view(self._size, self._size, -1) + self._extra
        solution = solve_positive(inertia, force.t())
        acceleration = solution.index_select(0, self._places).t()
        return torque - h * self.damping * acceleration


def make_law(
    cfg: TorqueLawCfg,
    model: mujoco.MjModel,
    muscle_map: MuscleMap,
    device: torch.device | str = "cpu",
) -> TorqueLaw:
    """Return the law that a configuration describes.

    Args:
        cfg: The configuration.
        model: The compiled model.
        muscle_map: Which dofs are controlled.
        device: Where the worlds are.
    """
    stiffness, damping = cfg.stiffness, cfg.damping
    if cfg.kind == "direct":
        return DirectLaw(stiffness)
    if cfg.kind == "pd":
        return PdLaw(muscle_map, stiffness, damping, device)
    if cfg.kind == "diagonal_stable_pd":
        return DiagonalStablePdLaw(model, muscle_map, stiffness, damping, device=device)
    if cfg.kind == "stable_pd":
        return StablePdLaw(model, muscle_map, stiffness, damping, device=device)
    raise ValueError(
        f"law.kind is {cfg.kind!r}. {suggest(cfg.kind, get_args(LawKind))}"
    )


def solve_positive(matrix: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """Return x with `matrix @ x = right`, for symmetric positive definite matrices.

    Elimination in plain elementwise operations: a CUDA graph can record them, and a
    world's bits do not depend on how many there are.

    Args:
        matrix: Shape (n, n, worlds).
        right: Shape (n, worlds).
    """
    n = matrix.shape[0]
    rest = torch.cat((matrix, right.unsqueeze(1)), dim=1)
    for k in range(n):
        row = rest[k, k + 1 :]
        row /= rest[k, k]
        rest[k + 1 :, k + 1 :] -= rest[k + 1 :, k : k + 1] * row
    solution = rest[:, n]
    # Column by column: a sum would have other bits for other numbers of worlds.
    for k in range(n - 1, 0, -1):
        solution[:k] -= rest[:k, k] * solution[k]
    return solution


def clip_to_capacity(
    torque: torch.Tensor, capacity: tuple[torch.Tensor, torch.Tensor]
) -> torch.Tensor:
    """Return torques within what the muscles of each dof can do by themselves."""
    return torch.minimum(torch.maximum(torque, capacity[0]), capacity[1])


def _dense_addresses(
    model: mujoco.MjModel, dofs: list[int]
) -> tuple[list[int], list[float]]:
    """For each cell of the dense matrix its place in `M`, and whether it has one."""
    places: dict[tuple[int, int], int] = {}
    for dof in dofs:
        start = int(model.M_rowadr[dof])
        for k in range(start, start + int(model.M_rownnz[dof])):
            other = int(model.M_colind[k])
            places[dof, other] = places[other, dof] = k
    cells = [(i, j) for i in dofs for j in dofs]
    address = [places.get(cell, 0) for cell in cells]
    return address, [float(cell in places) for cell in cells]

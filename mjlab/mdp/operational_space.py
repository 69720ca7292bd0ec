"""Operational-space control: joint efforts that pull a frame to its target.

With the frame Jacobian J, the joint inertia M, the pose error e, the frame velocity v
and gains Kp and Kd, the efforts are `J^T L (Kp e - Kd v)` with the inertia of the frame
`L = (J M^-1 J^T)^-1`, so that the frame accelerates by `Kp e - Kd v` in any posture. An
optional pull towards a reference posture acts in the null space of the frame task.

As in `differential_ik`, all operations are elementwise.
"""

import math

import torch

from mjlab.managers.action import ActionTerm
from mjlab.managers.env import Env
from mjlab.mdp.differential_ik import FrameAction, FrameActionCfg
from mjlab.mdp.kinematics import JointInertia, solve_positive

Gains = float | tuple[float, ...]


class OperationalSpaceActionCfg(FrameActionCfg):
    """Operational-space action: pulls a frame to a target by joint efforts.

    The joints must be driven by effort, and there must be at least as many joints as
    task dimensions (3 or 6). The base must be fixed. The frame moves as if a damped
    spring connected it to the target.
    """

    motion_stiffness_task: Gains = 100.0
    """Stiffness Kp in world axes, in 1/s²: one number, or one for each of the 3 or 6
    dimensions. Without decoupling, the units are N/m and N m/rad."""

    motion_damping_ratio_task: Gains = 1.0
    """Damping ratio: one number, or one for each dimension. The damping Kd is
    `2 ratio sqrt(Kp)`. A ratio of 1 is critical damping."""

    inertial_dynamics_decoupling: bool = True
    """Multiply by the inertia L of the frame. False computes the efforts as
    `J^T (Kp e - Kd v)`."""

    gravity_compensation: bool = True
    """Add the efforts that balance gravity, Coriolis and centrifugal forces."""

    nullspace_stiffness: float = 0.0
    """Stiffness of the pull towards `posture`, 1/s². 0 disables the pull. It needs
    `inertial_dynamics_decoupling`, and more joints than task dimensions."""

    nullspace_damping_ratio: float = 1.0
    """Damping ratio of the pull towards `posture`."""

    singularity_damping: float = 1e-3
    """Damping of the matrix inverse near singular poses, in kg^-1/2. Larger values
    reduce the efforts near these poses."""

    command = "effort"

    def bind(self, name: str, env: Env) -> ActionTerm:
        return OperationalSpaceAction(name, self, env)


class OperationalSpaceAction(FrameAction):
    """Action term that sets joint efforts which pull a frame to its goal."""

    cfg: OperationalSpaceActionCfg

    def __init__(self, name: str, cfg: OperationalSpaceActionCfg, env: Env) -> None:
        super().__init__(name, cfg, env)
        self.cfg = cfg
        size, count = (6 if self._has_rotation else 3), len(self.target_names)
        self._check(size, count)
        kp, ratio = (
            self._gains(field, size)
            for field in ("motion_stiffness_task", "motion_damping_ratio_task")
        )
        self._kp, self._kd = kp, 2.0 * ratio * kp.sqrt()
        self._joint_kd = (
            2.0 * cfg.nullspace_damping_ratio * math.sqrt(cfg.nullspace_stiffness)
        )
        self._inertia = JointInertia(env, self._joint_ids)
        self._joint_identity = torch.eye(count, device=env.device)
        self._identity = torch.eye(size, device=env.device)
        self._damping = cfg.singularity_damping**2 * self._identity

    def apply_actions(self) -> None:
        """Update the efforts before a physics step."""
        jacobian = self._jacobian.at(self.frame.pos_w, with_rotation=self._has_rotation)
        joint_vel = self._columns.read(self.entity.data.joint_vel)
        velocity = (jacobian * joint_vel.unsqueeze(1)).sum(dim=-1)
        pull = self._kp * self._error() - self._kd * velocity
        if self.cfg.inertial_dynamics_decoupling:
            effort = self._decoupled(jacobian, pull, joint_vel)
        else:
            effort = _transposed_product(jacobian, pull)
        if self.cfg.gravity_compensation:
            effort = effort + self._inertia.dofs.read(self._env.sim.data.qfrc_bias)
        self.processed_action.copy_(effort)
        self._columns.write_all(self._field, self.processed_action)

    def _decoupled(
        self, jacobian: torch.Tensor, pull: torch.Tensor, joint_vel: torch.Tensor
    ) -> torch.Tensor:
        """Return efforts that accelerate the frame by `pull`, (num_envs, joints)."""
        inertia = self._inertia.read()
        across = jacobian.transpose(1, 2)
        moved = solve_positive(inertia, across, self._joint_identity)
        moved = moved.transpose(1, 2).contiguous()
        mobility = (jacobian.unsqueeze(2) * moved.unsqueeze(1)).sum(dim=-1)
        if self.cfg.nullspace_stiffness == 0.0:
            force = self._force(mobility, pull)
            return _transposed_product(jacobian, force)
        away = self._posture_pos() - self._joint_pos()
        joint_acc = self.cfg.nullspace_stiffness * away - self._joint_kd * joint_vel
        pull = pull - (jacobian * joint_acc.unsqueeze(1)).sum(dim=-1)
        force = self._force(mobility, pull)
        own = (inertia * joint_acc.unsqueeze(1)).sum(dim=-1)
        return own + _transposed_product(jacobian, force)

    def _force(self, mobility: torch.Tensor, pull: torch.Tensor) -> torch.Tensor:
        """Return the force on the frame that accelerates it by `pull`."""
        mobility = mobility + self._damping
        return solve_positive(mobility, pull.unsqueeze(-1), self._identity)[..., 0]

    # Construction.

    def _gains(self, field: str, size: int) -> torch.Tensor:
        given = getattr(self.cfg, field)
        values = given if isinstance(given, tuple) else (given,) * size
        if len(values) != size or not all(value >= 0.0 for value in values):
            raise ValueError(
                f"{field} is {given}; it has to be one number >= 0, or {size} numbers "
                ">= 0."
            )
        return torch.tensor(values, dtype=torch.float32, device=self.device)

    def _check(self, size: int, count: int) -> None:
        cfg = self.cfg
        if not self.entity.is_fixed_base:
            raise ValueError(
                f"{self.entity.name!r} has a free base; operational-space control "
                "needs a fixed one."
            )
        if count < size:
            raise ValueError(
                f"{count} joints cannot move the {cfg.frame_type} {cfg.frame_name!r} "
                f"in {size} dimensions. Name more joints, or set "
                "command_type='position'."
            )
        needs_more = cfg.nullspace_stiffness != 0.0
        if needs_more and not (cfg.inertial_dynamics_decoupling and count > size):
            raise ValueError(
                f"nullspace_stiffness is {cfg.nullspace_stiffness}; it needs "
                f"inertial_dynamics_decoupling and more than {size} joints."
            )
        for field in ("nullspace_stiffness", "nullspace_damping_ratio"):
            if not getattr(cfg, field) >= 0.0:
                raise ValueError(f"{field}={getattr(cfg, field)} has to be 0 or more.")
        if not cfg.singularity_damping > 0.0:
            raise ValueError(
                f"singularity_damping is {cfg.singularity_damping}; it has to be "
                "positive."
            )


def _transposed_product(matrix: torch.Tensor, vector: torch.Tensor) -> torch.Tensor:
    """Return the product of each world's transposed matrix with its vector."""
    across = matrix.transpose(1, 2).contiguous()
    return (across * vector.unsqueeze(1)).sum(dim=-1)

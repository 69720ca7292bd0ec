"""What an entity remembers of its model: the state a reset returns to, and limits."""

import mujoco
import numpy as np
import torch

from mjlab.entity.index import EntityIndex
from mjlab.masks import write_where
from mjlab.sim import Simulation


class Defaults:
    """Per-world copies of default state and joint limits.

    They are tensors of their own, so a term may change them. `refresh` derives them
    anew from the model, once its fields were randomised.
    """

    def __init__(
        self, sim: Simulation, index: EntityIndex, soft_limit_factor: float
    ) -> None:
        self._sim = sim
        self._index = index
        self._soft_factor = soft_limit_factor
        model = sim.mj_model
        state = _initial_state(model)
        limited = index.joints.columns.read(_rows(model.jnt_limited, sim))
        self._unlimited = (limited == 0.0).unsqueeze(-1)
        self._key_joint_pos = index.joint_qpos.read(_rows(state.qpos, sim))
        self._reference = index.joint_qpos.read(_rows(model.qpos0, sim))
        self._infinite = torch.tensor([-torch.inf, torch.inf], device=sim.device)

        self.root_state_w = _each_world(_root_state(model, state, index, sim), sim)
        """Pose, and velocity in world axes, of the root, shape (num_envs, 13)."""
        self.joint_pos = _each_world(self._key_joint_pos, sim)
        """Shape (num_envs, num_joints), metres or radians."""
        self.joint_vel = _each_world(index.joint_dofs.read(_rows(state.qvel, sim)), sim)
        """Shape (num_envs, num_joints), m/s or rad/s."""
        balls = len(index.balls)
        quats = index.ball_qpos.read(_rows(state.qpos, sim)).unflatten(1, (balls, 4))
        self.ball_quat = _each_world(quats, sim)
        """Orientations of the ball joints, wxyz, shape (num_envs, num_balls, 4)."""
        spins = index.ball_dofs.read(_rows(state.qvel, sim)).unflatten(1, (balls, 3))
        self.ball_vel = _each_world(spins, sim)
        """Angular velocities of the ball joints, shape (num_envs, num_balls, 3)."""
        self.ctrl = _each_world(index.controls.read(_rows(state.ctrl, sim)), sim)
        """Controls of the entity's actuators, shape (num_envs, num_controls)."""
        self.act = _each_world(index.activations.read(_rows(state.act, sim)), sim)
        """Activations of the entity's actuators, shape (num_envs, num_activations)."""
        count = len(index.joints)
        self.joint_pos_limits = torch.zeros(sim.num_envs, count, 2, device=sim.device)
        """Lower and upper limits, ±inf where there is none, (num_envs, num_joints, 2),
        metres or radians."""
        self.soft_joint_pos_limits = torch.zeros_like(self.joint_pos_limits)
        """The same, drawn together about their centre by the soft limit factor."""
        self.refresh(torch.ones(sim.num_envs, dtype=torch.bool, device=sim.device))

    def refresh(self, mask: torch.Tensor) -> None:
        """Derive joint limits and default joint positions from the model, in place.

        A default position moves with the joint's reference position `qpos0`.
        """
        limits = self._index.joints.columns.read(self._sim.model.jnt_range)
        limits = torch.where(self._unlimited, self._infinite, limits)
        lower, upper = limits[..., 0], limits[..., 1]
        center, half = 0.5 * (lower + upper), 0.5 * (upper - lower)
        reach = self._soft_factor * half
        soft = torch.stack((center - reach, center + reach), dim=-1)
        soft = torch.where(self._unlimited, self._infinite, soft)
        moved = self._index.joint_qpos.read(self._sim.model.qpos0) - self._reference
        write_where(self.joint_pos_limits, mask, limits)
        write_where(self.soft_joint_pos_limits, mask, soft)
        write_where(self.joint_pos, mask, self._key_joint_pos + moved)

    def tensors(self) -> dict[str, torch.Tensor]:
        """Return everything that can differ between worlds, by name."""
        return {
            name: value
            for name, value in vars(self).items()
            if isinstance(value, torch.Tensor) and not name.startswith("_")
        }


def _initial_state(model: mujoco.MjModel) -> mujoco.MjData:
    """Return the state of the scene's keyframe, or that after a reset."""
    data = mujoco.MjData(model)
    if model.nkey:
        mujoco.mj_resetDataKeyframe(model, data, 0)
    return data


def _root_state(
    model: mujoco.MjModel, state: mujoco.MjData, index: EntityIndex, sim: Simulation
) -> torch.Tensor:
    root = np.zeros(13)
    root[3] = 1.0
    if index.free_joint_id is not None:
        qpos = int(model.jnt_qposadr[index.free_joint_id])
        dof = int(model.jnt_dofadr[index.free_joint_id])
        root[:7] = state.qpos[qpos : qpos + 7]
        root[7:] = state.qvel[dof : dof + 6]
        # MuJoCo keeps the angular velocity of a free joint in the body's axes.
        mujoco.mju_rotVecQuat(root[10:], state.qvel[dof + 3 : dof + 6], root[3:7])
    elif index.mocap_body_id is not None:
        mocap = int(model.body_mocapid[index.mocap_body_id])
        root[:3], root[3:7] = state.mocap_pos[mocap], state.mocap_quat[mocap]
    return _rows(root, sim)


def _rows(values: np.ndarray, sim: Simulation) -> torch.Tensor:
    """Return values as one row, float32, on the device."""
    return torch.from_numpy(np.array(values, np.float32))[None].to(sim.device)


def _each_world(row: torch.Tensor, sim: Simulation) -> torch.Tensor:
    return row.expand(sim.num_envs, *row.shape[1:]).clone()

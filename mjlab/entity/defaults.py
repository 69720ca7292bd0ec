"""Defaults of an entity: the default state of a reset, and joint limits."""

from collections.abc import Mapping

import mujoco
import numpy as np
import torch

from mjlab.entity.index import EntityIndex
from mjlab.sim import Simulation
from mjlab.tensors.masks import write_where


class Defaults:
    """Default state and joint limits of an entity, for each world.

    The tensors are copies, so a term can change them. `refresh` recomputes them from
    the model after its fields were randomised.
    """

    def __init__(
        self, sim: Simulation, index: EntityIndex, soft_limit_factor: float
    ) -> None:
        self._sim = sim
        self._index = index
        self._soft_factor = soft_limit_factor
        model = sim.mj_model
        limited = index.joints.columns.read(_rows(model.jnt_limited, sim.device))
        self._unlimited = (limited == 0.0).unsqueeze(-1)
        self._infinite = torch.tensor([-torch.inf, torch.inf], device=sim.device)
        own = default_rows(model, index, sim.device)
        rows = {name: _each_world(row, sim) for name, row in own.items()}
        self.key_joint_pos = rows["joint_pos"].clone()
        """Default joint positions without randomisation, shape as `joint_pos`."""
        self.reference = rows["reference"]
        """Compiled reference positions (`qpos0`) of joints, shape as `joint_pos`."""

        self.root_state_w = rows["root_state_w"]
        """Pose and world-frame velocity of the root, shape (num_envs, 13)."""
        self._joints = torch.stack((rows["joint_pos"], rows["joint_vel"]), dim=1)
        self.joint_pos, self.joint_vel = self._joints.unbind(dim=1)
        """Positions (m or rad) and velocities (m/s or rad/s) of the joints, each of
        shape (num_envs, num_joints)."""
        self.ball_quat = rows["ball_quat"]
        """Orientations of the ball joints, wxyz, shape (num_envs, num_balls, 4)."""
        self.ball_vel = rows["ball_vel"]
        """Angular velocities of the ball joints, shape (num_envs, num_balls, 3)."""
        self.ctrl = rows["ctrl"]
        """Controls of the entity's actuators, shape (num_envs, num_controls)."""
        self.act = rows["act"]
        """Activations of the entity's actuators, shape (num_envs, num_activations)."""
        count = len(index.joints)
        self.joint_pos_limits = torch.zeros(sim.num_envs, count, 2, device=sim.device)
        """Lower and upper joint limits, ±inf if unlimited, shape (num_envs, num_joints,
        2), metres or radians."""
        self.soft_joint_pos_limits = torch.zeros_like(self.joint_pos_limits)
        """Joint limits scaled about their centre by the soft limit factor."""
        self.refresh(torch.ones(sim.num_envs, dtype=torch.bool, device=sim.device))

    def refresh(self, mask: torch.Tensor) -> None:
        """Recompute joint limits and default joint positions from the model, in place.

        Only the worlds in `mask` change. If a joint's `qpos0` was randomised, its
        default position shifts equally.
        """
        limits = self._index.joints.columns.read(self._sim.model.jnt_range)
        limits = torch.where(self._unlimited, self._infinite, limits)
        lower, upper = limits[..., 0], limits[..., 1]
        center, half = 0.5 * (lower + upper), 0.5 * (upper - lower)
        reach = self._soft_factor * half
        soft = torch.stack((center - reach, center + reach), dim=-1)
        soft = torch.where(self._unlimited, self._infinite, soft)
        moved = self._index.joint_qpos.read(self._sim.model.qpos0) - self.reference
        write_where(self.joint_pos_limits, mask, limits)
        write_where(self.soft_joint_pos_limits, mask, soft)
        write_where(self.joint_pos, mask, self.key_joint_pos + moved)

    def assign(self, mask: torch.Tensor, rows: Mapping[str, torch.Tensor]) -> None:
        """Copy another model's defaults, in the worlds of `mask`.

        Args:
            mask: Worlds, shape (num_envs,), bool.
            rows: Tensors named as in `default_rows`, with one row per world.
        """
        for name, value in rows.items():
            write_where(getattr(self, name), mask, value)
        write_where(self.key_joint_pos, mask, rows["joint_pos"])
        self.refresh(mask)

    @property
    def joint_state(self) -> torch.Tensor:
        """`joint_pos` and `joint_vel`, shape (num_envs, 2, num_joints)."""
        return self._joints

    def tensors(self) -> dict[str, torch.Tensor]:
        """Return all tensors that can differ between worlds, by name."""
        return {
            name: value
            for name, value in vars(self).items()
            if isinstance(value, torch.Tensor) and not name.startswith("_")
        }


def _initial_state(model: mujoco.MjModel) -> mujoco.MjData:
    """Return the scene's keyframe state, or MuJoCo's reset state without a keyframe."""
    data = mujoco.MjData(model)
    if model.nkey:
        mujoco.mj_resetDataKeyframe(model, data, 0)
    return data


def default_rows(
    model: mujoco.MjModel, index: EntityIndex, device: torch.device
) -> dict[str, torch.Tensor]:
    """Return an entity's initial state in a model, each tensor with one row.

    "reference" holds the reference positions (`qpos0`) of its hinge and slide joints.
    """
    state = _initial_state(model)
    qpos, qvel = _rows(state.qpos, device), _rows(state.qvel, device)
    balls = len(index.balls)
    return {
        "root_state_w": _rows(_root_state(model, state, index), device),
        "joint_pos": index.joint_qpos.read(qpos),
        "joint_vel": index.joint_dofs.read(qvel),
        "ball_quat": index.ball_qpos.read(qpos).unflatten(1, (balls, 4)),
        "ball_vel": index.ball_dofs.read(qvel).unflatten(1, (balls, 3)),
        "ctrl": index.controls.read(_rows(state.ctrl, device)),
        "act": index.activations.read(_rows(state.act, device)),
        "reference": index.joint_qpos.read(_rows(model.qpos0, device)),
    }


def _root_state(
    model: mujoco.MjModel, state: mujoco.MjData, index: EntityIndex
) -> np.ndarray:
    root = np.zeros(13)
    root[3] = 1.0
    if index.free_joint_id is not None:
        qpos = int(model.jnt_qposadr[index.free_joint_id])
        dof = int(model.jnt_dofadr[index.free_joint_id])
        root[:7] = state.qpos[qpos : qpos + 7]
        root[7:] = state.qvel[dof : dof + 6]
        # MuJoCo stores the angular velocity of a free joint in the body's axes.
        mujoco.mju_rotVecQuat(root[10:], state.qvel[dof + 3 : dof + 6], root[3:7])
    elif index.mocap_body_id is not None:
        mocap = int(model.body_mocapid[index.mocap_body_id])
        root[:3], root[3:7] = state.mocap_pos[mocap], state.mocap_quat[mocap]
    return root


def _rows(values: np.ndarray, device: torch.device) -> torch.Tensor:
    """Convert values to a float32 tensor of one row, on the device."""
    return torch.from_numpy(np.array(values, np.float32))[None].to(device)


def _each_world(row: torch.Tensor, sim: Simulation) -> torch.Tensor:
    return row.expand(sim.num_envs, *row.shape[1:]).clone()

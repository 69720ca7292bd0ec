"""An entity at run time: its elements, its data, and methods that write its state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import mujoco
import torch

from mjlab.actuator import ActuatorBinding, ActuatorSet
from mjlab.entity.build import read_actuators
from mjlab.entity.by_ids import WritersByIds
from mjlab.entity.config import EntityCfg
from mjlab.entity.data import EntityData
from mjlab.entity.defaults import Defaults
from mjlab.entity.index import EntityIndex
from mjlab.entity.root import Root
from mjlab.names import find_name
from mjlab.random import WorldRng
from mjlab.sim import Simulation
from mjlab.tensors.columns import LocalIds
from mjlab.tensors.masks import fill_where, write_where
from mjlab.tensors.math import quat_rotate

Value = torch.Tensor | float


class Entity(WritersByIds):
    """A robot or an object in every world of a simulation.

    Methods can run inside a captured graph, except those that look up names.

    Writes are in place. `mask` is a bool tensor of shape (num_envs,): rows outside it
    do not change. Values have one row per world; a single row or a scalar is broadcast
    to all worlds. Methods that take `env_ids` instead of a mask have the names and
    arguments of mjlab.
    Quantities from MuJoCo's kinematics (bodies, geoms, sites, tendons) reflect
    a write after `sim.forward()`; root and joint quantities reflect it immediately.
    """

    mirrored_fields = frozenset({"jnt_range", "qpos0"})
    """Model fields that need `refresh_defaults` after they are randomised."""

    def __init__(
        self, name: str, cfg: EntityCfg, sim: Simulation, rng: WorldRng
    ) -> None:
        """Bind an entity to the simulation of its scene.

        Args:
            name: Name of the entity, prefix of its elements: "<name>/<element>".
            cfg: Configuration from which the entity's spec was built.
            sim: The simulation.
            rng: Random number generator for actuator delays.
        """
        if cfg.root is None:
            _check_built(name, sim.mj_model)
        index = EntityIndex(name, sim.mj_model, sim.device, cfg.root)
        factor = cfg.articulation.soft_joint_pos_limit_factor
        if not 0.0 < factor <= 1.0:
            raise ValueError(
                f"soft_joint_pos_limit_factor={factor} of the entity {name!r} has to "
                "be above 0 and at most 1."
            )
        self._sim = sim
        self._root = Root(sim, index)
        self._defaults = Defaults(sim, index, factor)
        self.name = name
        self.cfg = cfg
        self.index = index
        """Names, ids and addresses in the model."""
        self.data = EntityData(sim, index, self._root, self._defaults)
        """State and derived quantities."""
        self.actuators = ActuatorSet(_bindings(cfg, sim, index), sim, rng)
        """The actuators of `cfg.articulation`."""
        self.is_fixed_base = index.free_joint_id is None
        """True if the base is fixed, so that root velocities cannot be written."""
        self.joint_names = index.joints.names
        """Names of the hinge and slide joints, in the order of the model."""
        self.num_joints = len(index.joints)
        """Number of hinge and slide joints."""
        self.body_names = index.bodies.names
        """Names of the bodies, in the order of the model."""
        self.num_bodies = len(index.bodies)
        """Number of bodies."""
        # These methods return local indices and names of the elements that match
        # patterns. They raise an error that lists similar names if a pattern matches
        # nothing. For other kinds, use the index: `entity.index.cameras.find(...)`.
        self.find_bodies = index.bodies.find
        self.find_joints = index.joints.find
        """Find hinge and slide joints."""
        self.find_balls = index.balls.find
        self.find_geoms = index.geoms.find
        self.find_sites = index.sites.find
        self.find_tendons = index.tendons.find
        self.find_actuators = index.actuators.find
        """Find actuators of the compiled model. `actuators.find` searches by target."""
        self.find_sensors = index.sensors.find
        """Find sensors of the entity's model file."""
        self.reset(torch.ones(sim.num_envs, dtype=torch.bool, device=sim.device))

    # The step.

    def apply(self) -> None:
        """Compute the actuators' controls from their targets, and write them."""
        self.actuators.apply(self.data.targets)
        self.data.invalidate()

    def update(self, dt: float) -> None:
        """Clear cached quantities after a physics step of `dt` seconds."""
        self.data.invalidate()

    def refresh(self) -> None:
        """Clear cached quantities after `sim.forward()` or another change."""
        self.data.invalidate()

    def reset(self, mask: torch.Tensor) -> None:
        """Set the targets to the default pose, and reset the actuators' internal state.

        It does not change the physics state; `reset_to_default` does.
        """
        if self.data.all_targets.shape[1]:
            fill_where(self.data.all_targets, mask, 0.0)
        if self.num_joints:
            write_where(self.data.targets.joint_pos, mask, self.data.default_joint_pos)
        self.actuators.reset(mask)
        self.data.invalidate()

    def refresh_defaults(self, mask: torch.Tensor) -> None:
        """Recompute joint limits and default positions of the worlds in `mask`.

        Call this after randomising `jnt_range` or `qpos0`. The event manager calls it
        for events that declare one of these fields.
        """
        self._defaults.refresh(mask)
        # A reset has set the targets to the previous default pose, so update them.
        target = self.data.targets.joint_pos[:, : self.num_joints]
        write_where(target, mask, self.data.default_joint_pos)
        self.data.invalidate()

    def assign_defaults(
        self, mask: torch.Tensor, rows: Mapping[str, torch.Tensor]
    ) -> None:
        """Replace the default state, joint limits and targets by another model's.

        Args:
            mask: The worlds, shape (num_envs,), bool.
            rows: Tensors named as in `default_rows`, with one row per world.
        """
        self._defaults.assign(mask, rows)
        self.reset(mask)

    def state(self) -> dict[str, torch.Tensor]:
        """Return the live state tensors; copy into them to restore a snapshot.

        After restoring, call `refresh()`.
        """
        parts = {
            "default": self._defaults.tensors(),
            "target": vars(self.data.targets),
            "actuator": self.actuators.state(),
            "encoder": {"bias": self.data.encoder_bias},
        }
        return {
            f"{part}.{name}": value
            for part, tensors in parts.items()
            for name, value in tensors.items()
        }

    # The root.

    def write_root_pose_w(self, mask: torch.Tensor, pose: torch.Tensor) -> None:
        """Write the pose of the root link, or of the base of a fixed entity.

        `pose` is position and unit quaternion wxyz in the world, (num_envs, 7).
        """
        self._root.write_pose_w(mask, pose)
        self.data.invalidate()

    def write_root_velocity_w(self, mask: torch.Tensor, velocity: torch.Tensor) -> None:
        """Write the velocity of the root link; raise for a fixed base.

        `velocity` is the linear velocity of the link's origin and the angular velocity,
        both in world axes, (num_envs, 6). It is converted with the current orientation
        of the root, so write the pose first.
        """
        self._root.write_velocity_w(mask, velocity)
        self.data.invalidate()

    def add_root_velocity_w(self, mask: torch.Tensor, change: torch.Tensor) -> None:
        """Add to the velocity of the root link; raise for a fixed base.

        `change` is added to linear and angular velocity, in world axes, (num_envs, 6).
        """
        self._root.add_velocity_w(mask, change)
        self.data.invalidate()

    def write_root_velocity_b(self, mask: torch.Tensor, velocity: torch.Tensor) -> None:
        """Write the velocity of the root link; raise for a fixed base.

        `velocity` is the linear velocity of the link's origin and the angular velocity,
        both in the axes of the link, (num_envs, 6).
        """
        quat = self._root.quat_w
        linear = velocity[..., :3].expand(quat.shape[0], 3)
        angular = velocity[..., 3:6].expand(quat.shape[0], 3)
        in_world = (quat_rotate(quat, linear), quat_rotate(quat, angular))
        self.write_root_velocity_w(mask, torch.cat(in_world, dim=-1))

    def write_root_state(self, mask: torch.Tensor, state: torch.Tensor) -> None:
        """Write pose and velocity, both in the world, (num_envs, 13)."""
        self.write_root_pose_w(mask, state[..., :7])
        self.write_root_velocity_w(mask, state[..., 7:13])

    def write_mocap_pose(self, mask: torch.Tensor, pose: torch.Tensor) -> None:
        """Write the mocap pose of an entity with a fixed base, (num_envs, 7)."""
        if self.index.mocap_body_id is None:
            raise ValueError(
                f"The entity {self.index.name!r} has no mocap body. Use "
                "write_root_pose_w for a floating base."
            )
        self.write_root_pose_w(mask, pose)

    # Joints.

    def write_joint_state(
        self,
        mask: torch.Tensor,
        pos: Value,
        vel: Value,
        joint_ids: LocalIds | None = None,
    ) -> None:
        """Write positions and velocities of joints."""
        self.write_joint_pos(mask, pos, joint_ids)
        self.write_joint_vel(mask, vel, joint_ids)

    def write_joint_pos(
        self, mask: torch.Tensor, pos: Value, joint_ids: LocalIds | None = None
    ) -> None:
        """Write positions of joints, shape (num_envs, n), metres or radians.

        The ids are local to the entity, without duplicates. None means all.
        """
        columns = self.index.joint_qpos.take(joint_ids)
        columns.write(self._sim.data.qpos, mask, pos)
        self.data.invalidate()

    def write_joint_vel(
        self, mask: torch.Tensor, vel: Value, joint_ids: LocalIds | None = None
    ) -> None:
        """Write velocities of joints, shape (num_envs, n), m/s or rad/s."""
        columns = self.index.joint_dofs.take(joint_ids)
        columns.write(self._sim.data.qvel, mask, vel)
        self.data.invalidate()

    def write_ball_quat(self, mask: torch.Tensor, quat: torch.Tensor) -> None:
        """Write orientations of all ball joints, wxyz, (num_envs, num_balls, 4)."""
        self.index.ball_qpos.write(self._sim.data.qpos, mask, quat.flatten(-2))
        self.data.invalidate()

    def write_ball_vel(self, mask: torch.Tensor, vel: torch.Tensor) -> None:
        """Write angular velocities of all ball joints, (num_envs, num_balls, 3)."""
        self.index.ball_dofs.write(self._sim.data.qvel, mask, vel.flatten(-2))
        self.data.invalidate()

    # Controls and forces.

    def write_ctrl(self, mask: torch.Tensor, ctrl: Value) -> None:
        """Write the controls of the entity's actuators, (num_envs, num_controls).

        `apply()` overwrites the controls of actuators in `cfg.articulation`.
        """
        self.index.controls.write(self._sim.data.ctrl, mask, ctrl)
        self.data.invalidate()

    def write_external_wrench(
        self,
        mask: torch.Tensor,
        force: torch.Tensor,
        torque: torch.Tensor,
        body_ids: LocalIds | None = None,
    ) -> None:
        """Apply forces and torques to bodies until the next write or reset.

        Args:
            mask: The worlds.
            force: Forces at the centres of mass in world axes, (num_envs, n, 3), N.
            torque: Torques in world axes, (num_envs, n, 3), N m.
            body_ids: Ids local to the entity, without duplicates. None means all.
        """
        columns = self.index.bodies.columns.take(body_ids)
        wrench = torch.cat(torch.broadcast_tensors(force, torque), dim=-1)
        columns.write(self._sim.data.xfrc_applied, mask, wrench)
        self.data.invalidate()

    def add_external_wrench(
        self,
        mask: torch.Tensor,
        force: torch.Tensor,
        torque: torch.Tensor,
        body_ids: LocalIds | None = None,
    ) -> None:
        """Add to the forces and torques on bodies, until the next write or reset.

        See `write_external_wrench` for the parameters.
        """
        columns = self.index.bodies.columns.take(body_ids)
        field = self._sim.data.xfrc_applied
        wrench = torch.cat(torch.broadcast_tensors(force, torque), dim=-1)
        columns.write(field, mask, columns.read(field) + wrench)
        self.data.invalidate()

    def write_encoder_bias(self, mask: torch.Tensor, bias: Value) -> None:
        """Set the offsets of the joint encoders, (num_envs, num_joints)."""
        write_where(self.data.encoder_bias, mask, bias)
        self.data.invalidate()

    # The default state.

    def reset_to_default(self, mask: torch.Tensor) -> None:
        """Write the default state: root, joints, controls and activations."""
        default = self._defaults
        if self._root.pose:
            self.write_root_pose_w(mask, default.root_state_w[:, :7])
        if self._root.velocity is not None:
            self.write_root_velocity_w(mask, default.root_state_w[:, 7:])
        self.write_joint_state(mask, default.joint_pos, default.joint_vel)
        self.write_ball_quat(mask, default.ball_quat)
        self.write_ball_vel(mask, default.ball_vel)
        self.write_ctrl(mask, default.ctrl)
        self.index.activations.write(self._sim.data.act, mask, default.act)
        self.data.invalidate()


def _check_built(name: str, model: mujoco.MjModel) -> None:
    """Raise unless the model has an entity of this name."""
    bodies = [model.body(i).name for i in range(model.nbody)]
    geoms = [model.geom(i).name for i in range(model.ngeom)]
    owners = dict.fromkeys(n.split("/")[0] for n in bodies + geoms if "/" in n)
    find_name(name, list(owners), what="entity")


def _bindings(
    cfg: EntityCfg, sim: Simulation, index: EntityIndex
) -> list[ActuatorBinding]:
    made = read_actuators(sim.mj_model, index.name)
    cfgs = cfg.articulation.actuators
    if len(made) != len(cfgs):
        raise ValueError(
            f"The model was built with {len(made)} actuator configurations for the "
            f"entity {index.name!r}, but bound with {len(cfgs)}. Use the same "
            "configurations for both."
        )
    model, prefix = sim.mj_model, index.prefix
    kinds = {"joint": index.joints, "tendon": index.tendons, "site": index.sites}

    def on_device(values: Sequence[int]) -> torch.Tensor:
        return torch.tensor(list(values), dtype=torch.int64, device=sim.device)

    bindings = []
    for each, (targets, actuators) in zip(cfgs, made, strict=True):
        candidates = kinds[each.transmission].names
        joints = targets if each.transmission == "joint" else []
        joint_ids = [model.joint(prefix + joint).id for joint in joints]
        ids = [model.actuator(prefix + actuator).id for actuator in actuators]
        binding = ActuatorBinding(
            cfg=each,
            target_names=tuple(targets),
            target_ids=on_device([candidates.index(target) for target in targets]),
            actuator_ids=on_device(ids),
            ctrl_adr=on_device(model.actuator_ctrladr[ids].tolist()),
            qpos_adr=on_device(model.jnt_qposadr[joint_ids].tolist()),
            qvel_adr=on_device(model.jnt_dofadr[joint_ids].tolist()),
        )
        bindings.append(binding)
    return bindings

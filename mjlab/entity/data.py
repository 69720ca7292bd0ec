"""State of an entity and quantities derived from it."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import overload

import torch

from mjlab.actuator import ActuatorTargets
from mjlab.entity.defaults import Defaults
from mjlab.entity.index import EntityIndex
from mjlab.entity.root import Root, down
from mjlab.sim import Simulation
from mjlab.tensors.math import (
    normalize,
    quat_heading,
    quat_mul,
    quat_rotate,
    quat_rotate_inverse,
)


class quantity:
    """A read-only property of `EntityData`, cached until the simulation changes.

    The name is lower case like `property`, which it replaces.
    """

    def __init__(self, compute: Callable[[EntityData], torch.Tensor]) -> None:
        self._compute = compute
        self._name = ""
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        # An alias shares the cached value of the first name.
        self._name = self._name or name

    @overload
    def __get__(self, data: None, owner: type) -> quantity: ...
    @overload
    def __get__(self, data: EntityData, owner: type) -> torch.Tensor: ...
    def __get__(self, data: EntityData | None, owner: type) -> torch.Tensor | quantity:
        """Return the quantity, computed at the first read."""
        if data is None:
            return self
        if self._name not in data.computed:
            data.computed[self._name] = self._compute(data)
        return data.computed[self._name]


def read(columns: str, field: str, balls: int | None = None) -> quantity:
    """Create a quantity that reads the entity's columns of a field of `sim.data`.

    Args:
        columns: Attribute of `EntityIndex` with the columns.
        field: Field of `sim.data`.
        balls: Number of values per ball joint, for quantities of ball joints.
    """
    places, values = attrgetter(columns), attrgetter(field)

    def compute(d: EntityData) -> torch.Tensor:
        flat = places(d.index).read(values(d.sim.data))
        return flat if balls is None else flat.unflatten(1, (len(d.index.balls), balls))

    return quantity(compute)


def joined(*parts: quantity) -> quantity:
    """Create a quantity that concatenates other quantities along the last dimension."""
    return quantity(
        lambda d: torch.cat([part.__get__(d, EntityData) for part in parts], dim=-1)
    )


def velocities(points: quantity, twists: quantity) -> quantity:
    """Create a quantity with the linear velocities of points on moving bodies.

    A twist is MuJoCo's `cvel`: the angular velocity, and the linear velocity of the
    body at the centre of mass of the whole tree.
    """

    def compute(d: EntityData) -> torch.Tensor:
        point = points.__get__(d, EntityData)
        twist = twists.__get__(d, EntityData)
        tree = d.index.tree_id
        center = d.sim.data.subtree_com[:, tree : tree + 1]
        return twist[..., 3:] + torch.linalg.cross(twist[..., :3], point - center)

    return quantity(compute)


def angular(twists: quantity) -> quantity:
    """Create a quantity with the angular velocities of twists."""
    return quantity(lambda d: twists.__get__(d, EntityData)[..., :3])


class EntityData:
    """State of an entity and quantities derived from it, one row per world.

    Each quantity is computed at most once between changes of the simulation, regardless
    of the number of terms that read it. Positions are in the physics world frame,
    without the origins that separate the worlds for viewing.

    Suffixes: `_w` in the world, `_b` in the axes of the root link. Root and joint
    quantities come from qpos, qvel and the mocap poses, so they reflect the last step
    or write. Quantities that MuJoCo derives (bodies, geoms, sites, tendons,
    accelerations, forces) are from the last `forward()`, or from the beginning of the
    last `step()`.

    Aliases with the names of other frameworks are at the end of the class.
    """

    def __init__(
        self, sim: Simulation, index: EntityIndex, root: Root, defaults: Defaults
    ) -> None:
        self.sim = sim
        self.index = index
        self._root = root
        self.computed: dict[str, torch.Tensor] = {}
        """Cached quantities, by name."""
        self._down = down(sim.mj_model, sim.device).expand(sim.num_envs, 3)
        self._minus_z = torch.tensor([0.0, 0.0, -1.0], device=sim.device)
        self.default_root_state = defaults.root_state_w
        """Default pose, and velocity in world axes, of the root, (num_envs, 13)."""
        self.default_joint_state = defaults.joint_state
        """Default joint positions and velocities, shape (num_envs, 2, num_joints)."""
        self.default_joint_pos = defaults.joint_pos
        """Default joint positions, shape (num_envs, num_joints), metres or radians."""
        self.default_joint_vel = defaults.joint_vel
        """Default joint velocities, shape (num_envs, num_joints), m/s or rad/s."""
        self.default_ball_quat = defaults.ball_quat
        """Default ball joint orientations, wxyz, shape (num_envs, num_balls, 4)."""
        self.default_ball_vel = defaults.ball_vel
        """Default ball joint angular velocities, shape (num_envs, num_balls, 3)."""
        self.joint_pos_limits = defaults.joint_pos_limits
        """Lower and upper joint limits, ±inf if unlimited, shape (num_envs, num_joints,
        2), metres or radians."""
        self.soft_joint_pos_limits = defaults.soft_joint_pos_limits
        """Joint limits scaled about their centre by the soft limit factor."""
        self.encoder_bias = torch.zeros_like(defaults.joint_pos)
        """Offsets that the joint encoders add, shape (num_envs, num_joints)."""
        sizes = len(index.joints), len(index.tendons), len(index.sites)
        self.targets, self.all_targets = ActuatorTargets.zeros(
            sim.num_envs, *sizes, sim.device
        )
        """Actuator targets: views for each kind, and the tensor that stores all."""

    def invalidate(self) -> None:
        """Clear the cached quantities after a change of the simulation.

        The framework calls this after each simulation call and each write. Also call it
        at the start of a captured graph, so that the graph computes every quantity that
        it reads, and after each replay, because a replay runs no Python code.
        """
        self.computed.clear()

    # The root link: the floating body, or the base that places a fixed entity.

    root_pos_w = quantity(lambda d: d._root.pos_w)
    """Position of the link's origin, shape (num_envs, 3), metres."""
    root_quat_w = quantity(lambda d: d._root.quat_w)
    """Orientation of the link, wxyz, shape (num_envs, 4)."""
    root_pose_w = joined(root_pos_w, root_quat_w)
    """Position and orientation of the link, shape (num_envs, 7)."""
    root_lin_vel_w = quantity(lambda d: d._root.lin_vel_w)
    """Velocity of the link's origin, shape (num_envs, 3), m/s."""
    root_ang_vel_b = quantity(lambda d: d._root.ang_vel_b)
    """Angular velocity of the link in its axes, shape (num_envs, 3), rad/s."""

    @quantity
    def root_ang_vel_w(self) -> torch.Tensor:
        """Angular velocity of the link, shape (num_envs, 3), rad/s."""
        if self._root.velocity is None:
            return self.root_ang_vel_b  # Zero is the same in every frame.
        return quat_rotate(self.root_quat_w, self.root_ang_vel_b)

    root_vel_w = joined(root_lin_vel_w, root_ang_vel_w)
    """Linear and angular velocity of the link, shape (num_envs, 6)."""
    root_state_w = joined(root_pose_w, root_vel_w)
    """Pose and velocity of the link, shape (num_envs, 13)."""

    @quantity
    def root_lin_vel_b(self) -> torch.Tensor:
        """Velocity of the link's origin in the link's axes, (num_envs, 3), m/s."""
        return quat_rotate_inverse(self.root_quat_w, self.root_lin_vel_w)

    # The root link's centre of mass.

    @quantity
    def root_com_pos_w(self) -> torch.Tensor:
        """Position of the link's centre of mass, shape (num_envs, 3), metres."""
        return self.root_pos_w + quat_rotate(self.root_quat_w, self._com_pos_b())

    @quantity
    def root_com_quat_w(self) -> torch.Tensor:
        """Orientation of the link's inertial frame, wxyz, shape (num_envs, 4)."""
        iquat = self.sim.model.body_iquat[:, self.index.root_body_id]
        return quat_mul(self.root_quat_w, iquat)

    root_com_pose_w = joined(root_com_pos_w, root_com_quat_w)
    """Pose of the link's inertial frame, shape (num_envs, 7)."""

    @quantity
    def root_com_lin_vel_b(self) -> torch.Tensor:
        """Velocity of the link's centre of mass in the link's axes, (num_envs, 3)."""
        turning = torch.linalg.cross(self.root_ang_vel_b, self._com_pos_b())
        return self.root_lin_vel_b + turning

    @quantity
    def root_com_lin_vel_w(self) -> torch.Tensor:
        """Velocity of the link's centre of mass, shape (num_envs, 3), m/s."""
        return quat_rotate(self.root_quat_w, self.root_com_lin_vel_b)

    root_com_vel_w = joined(root_com_lin_vel_w, root_ang_vel_w)
    """Velocity of the centre of mass, and angular velocity, (num_envs, 6)."""

    def _com_pos_b(self) -> torch.Tensor:
        return self.sim.model.body_ipos[:, self.index.root_body_id]

    # Directions of gravity and heading.

    @quantity
    def down_w(self) -> torch.Tensor:
        """Direction of gravity in the world, unit, shape (num_envs, 3).

        It is -z in a world without gravity.
        """
        gravity = self.sim.engine.model("opt.gravity")
        if gravity is None:  # All worlds share one direction.
            return self._down
        has_any = (gravity != 0.0).any(dim=-1, keepdim=True)
        return torch.where(has_any, normalize(gravity), self._minus_z)

    gravity_b = quantity(lambda d: quat_rotate_inverse(d.root_quat_w, d.down_w))
    """Direction of gravity in the link's axes, unit, shape (num_envs, 3)."""
    heading_w = quantity(lambda d: quat_heading(d.root_quat_w))
    """Yaw of the link's x axis, in [-pi, pi], shape (num_envs,), radians."""

    # Spatial velocities of MuJoCo (`cvel`).

    _body_twists = read("bodies.columns", "cvel")
    _geom_twists = quantity(
        lambda d: d.sim.data.cvel.index_select(1, d.index.geom_bodies)
    )
    _site_twists = quantity(
        lambda d: d.sim.data.cvel.index_select(1, d.index.site_bodies)
    )

    # Link frames of all bodies, in the order of `body_names`.

    body_pos_w = read("bodies.columns", "xpos")
    """Positions of the links, shape (num_envs, num_bodies, 3), metres."""
    body_quat_w = read("bodies.columns", "xquat")
    """Orientations of the links, wxyz, shape (num_envs, num_bodies, 4)."""
    body_pose_w = joined(body_pos_w, body_quat_w)
    """Poses of the links, shape (num_envs, num_bodies, 7)."""
    body_lin_vel_w = velocities(body_pos_w, _body_twists)
    """Velocities of the links' origins, shape (num_envs, num_bodies, 3), m/s."""
    body_ang_vel_w = angular(_body_twists)
    """Angular velocities of the links, shape (num_envs, num_bodies, 3), rad/s."""
    body_vel_w = joined(body_lin_vel_w, body_ang_vel_w)
    """Linear and angular velocities of the links, (num_envs, num_bodies, 6)."""

    # Bodies: the centre of mass.

    body_com_pos_w = read("bodies.columns", "xipos")
    """Centres of mass, shape (num_envs, num_bodies, 3), metres."""

    @quantity
    def body_com_quat_w(self) -> torch.Tensor:
        """Orientations of the inertial frames, wxyz, (num_envs, num_bodies, 4)."""
        iquat = self.index.bodies.columns.read(self.sim.model.body_iquat)
        return quat_mul(self.body_quat_w, iquat)

    body_com_pose_w = joined(body_com_pos_w, body_com_quat_w)
    """Poses of the inertial frames, shape (num_envs, num_bodies, 7)."""
    body_com_lin_vel_w = velocities(body_com_pos_w, _body_twists)
    """Velocities of the centres of mass, (num_envs, num_bodies, 3), m/s."""
    body_com_vel_w = joined(body_com_lin_vel_w, body_ang_vel_w)
    """Velocities of the centres of mass, and angular velocities, shape
    (num_envs, num_bodies, 6)."""

    # Geoms and sites, which are fixed to bodies.

    geom_pos_w = read("geoms.columns", "geom_xpos")
    """Positions of the geoms, shape (num_envs, num_geoms, 3), metres."""

    @quantity
    def geom_quat_w(self) -> torch.Tensor:
        """Orientations of the geoms, wxyz, shape (num_envs, num_geoms, 4)."""
        on_body = self.index.geoms.columns.read(self.sim.model.geom_quat)
        return self._turned(self.index.geom_bodies, on_body)

    geom_pose_w = joined(geom_pos_w, geom_quat_w)
    """Poses of the geoms, shape (num_envs, num_geoms, 7)."""
    geom_lin_vel_w = velocities(geom_pos_w, _geom_twists)
    """Velocities of the geoms' centres, shape (num_envs, num_geoms, 3), m/s."""
    geom_ang_vel_w = angular(_geom_twists)
    """Angular velocities of the geoms, shape (num_envs, num_geoms, 3), rad/s."""
    geom_vel_w = joined(geom_lin_vel_w, geom_ang_vel_w)
    """Linear and angular velocities of the geoms, (num_envs, num_geoms, 6)."""

    site_pos_w = read("sites.columns", "site_xpos")
    """Positions of the sites, shape (num_envs, num_sites, 3), metres."""

    @quantity
    def site_quat_w(self) -> torch.Tensor:
        """Orientations of the sites, wxyz, shape (num_envs, num_sites, 4)."""
        on_body = self.index.sites.columns.read(self.sim.model.site_quat)
        return self._turned(self.index.site_bodies, on_body)

    site_pose_w = joined(site_pos_w, site_quat_w)
    """Poses of the sites, shape (num_envs, num_sites, 7)."""
    site_lin_vel_w = velocities(site_pos_w, _site_twists)
    """Velocities of the sites, shape (num_envs, num_sites, 3), m/s."""
    site_ang_vel_w = angular(_site_twists)
    """Angular velocities of the sites, shape (num_envs, num_sites, 3), rad/s."""
    site_vel_w = joined(site_lin_vel_w, site_ang_vel_w)
    """Linear and angular velocities of the sites, (num_envs, num_sites, 6)."""

    def _turned(self, bodies: torch.Tensor, on_body: torch.Tensor) -> torch.Tensor:
        # A quaternion product is much cheaper than converting the rotation matrix.
        return quat_mul(self.sim.data.xquat.index_select(1, bodies), on_body)

    # Joints.

    joint_pos = read("joint_qpos", "qpos")
    """Positions, shape (num_envs, num_joints), metres or radians."""
    joint_pos_biased = quantity(lambda d: d.joint_pos + d.encoder_bias)
    """Positions as measured by the encoders, shape (num_envs, num_joints)."""
    joint_vel = read("joint_dofs", "qvel")
    """Velocities, shape (num_envs, num_joints), m/s or rad/s."""
    joint_acc = read("joint_dofs", "qacc")
    """Accelerations, shape (num_envs, num_joints), m/s² or rad/s²."""
    qfrc_actuator = read("joint_dofs", "qfrc_actuator")
    """Forces of all actuators on the joints, (num_envs, num_joints), N or N m."""
    qfrc_applied = read("joint_dofs", "qfrc_applied")
    """Forces written to the joints by users, (num_envs, num_joints), N or N m."""

    # Ball joints, in the axes of their bodies.

    ball_quat = read("ball_qpos", "qpos", balls=4)
    """Orientations relative to the reference pose, wxyz, (num_envs, num_balls, 4)."""
    ball_vel = read("ball_dofs", "qvel", balls=3)
    """Angular velocities, shape (num_envs, num_balls, 3), rad/s."""
    ball_acc = read("ball_dofs", "qacc", balls=3)
    """Angular accelerations, shape (num_envs, num_balls, 3), rad/s²."""

    # Tendons and actuators. Nearly every actuator has one force output, so num_forces
    # is usually the number of actuators.

    tendon_len = read("tendons.columns", "ten_length")
    """Lengths of the tendons, shape (num_envs, num_tendons), metres."""
    tendon_vel = read("tendons.columns", "ten_velocity")
    """Velocities of the tendons, shape (num_envs, num_tendons), m/s."""
    ctrl = read("controls", "ctrl")
    """Controls of the actuators, shape (num_envs, num_controls)."""
    act = read("activations", "act")
    """Activations of the actuators that have one, (num_envs, num_activations)."""
    actuator_length = read("forces", "actuator_length")
    """Lengths of the actuators' transmissions, shape (num_envs, num_forces)."""
    actuator_velocity = read("forces", "actuator_velocity")
    """Velocities of the actuators' transmissions, shape (num_envs, num_forces)."""
    actuator_force = read("forces", "actuator_force")
    """Forces of the actuators before their gear, shape (num_envs, num_forces)."""

    # Aliases with the names of other frameworks.

    root_link_pos_w = root_pos_w
    root_link_quat_w = root_quat_w
    root_link_pose_w = root_pose_w
    root_link_lin_vel_w = root_lin_vel_w
    root_link_ang_vel_w = root_ang_vel_w
    root_link_vel_w = root_vel_w
    root_link_state_w = root_state_w
    root_link_lin_vel_b = root_lin_vel_b
    root_link_ang_vel_b = root_ang_vel_b
    root_com_ang_vel_w = root_ang_vel_w
    root_com_ang_vel_b = root_ang_vel_b
    projected_gravity_b = gravity_b
    body_link_pos_w = body_pos_w
    body_link_quat_w = body_quat_w
    body_link_pose_w = body_pose_w
    body_link_lin_vel_w = body_lin_vel_w
    body_link_ang_vel_w = body_ang_vel_w
    body_link_vel_w = body_vel_w
    body_com_ang_vel_w = body_ang_vel_w

"""Quantities of an entity's bodies, geoms and sites."""

import torch

from mjlab.entity.index import Elements, EntityIndex
from mjlab.entity.quantity import State, quantity
from mjlab.entity.root import Root
from mjlab.sim import Simulation
from mjlab.tensors.math import quat_mul


class _Attached:
    """Elements that ride on bodies: geoms or sites."""

    def __init__(self, sim: Simulation, elements: Elements, prefix: str) -> None:
        self._sim = sim
        self._columns = elements.columns
        self._pos = f"{prefix}_xpos"
        self._quat = f"{prefix}_quat"
        bodies = torch.from_numpy(getattr(sim.mj_model, f"{prefix}_bodyid").copy())
        self.bodies = bodies.to(sim.device, torch.int64)[elements.ids]
        """The body of each, shape (len,), int64."""

    def pos_w(self) -> torch.Tensor:
        return self._columns.read(getattr(self._sim.data, self._pos))

    def quat_w(self) -> torch.Tensor:
        # A product of quaternions costs a fraction of a conversion from the matrix.
        on_body = self._columns.read(getattr(self._sim.model, self._quat))
        return quat_mul(self._sim.data.xquat.index_select(1, self.bodies), on_body)


class BodyState(State):
    """Bodies, geoms and sites, in the order of `entity.index`.

    They follow from MuJoCo's kinematics, so they are those of the last `forward()`, or
    of the beginning of the last `step()`: a write shows in them after `forward()`.
    Everything is in the world's axes. "link" is the frame of the body itself.
    """

    def __init__(self, sim: Simulation, index: EntityIndex, root: Root) -> None:
        super().__init__(sim, index, root)
        self._geoms = _Attached(sim, index.geoms, "geom")
        self._sites = _Attached(sim, index.sites, "site")
        # MuJoCo gives the velocities of a tree about the tree's centre of mass.
        first = int(index.bodies.ids[0]) if len(index.bodies) else 0
        self._tree = int(sim.mj_model.body_rootid[first])

    # Bodies: the link.

    @quantity
    def body_pos_w(self) -> torch.Tensor:
        """Positions of the links, shape (num_envs, num_bodies, 3), metres."""
        return self._index.bodies.columns.read(self._sim.data.xpos)

    @quantity
    def body_quat_w(self) -> torch.Tensor:
        """Orientations of the links, wxyz, shape (num_envs, num_bodies, 4)."""
        return self._index.bodies.columns.read(self._sim.data.xquat)

    @quantity
    def body_pose_w(self) -> torch.Tensor:
        """Poses of the links, shape (num_envs, num_bodies, 7)."""
        return torch.cat((self.body_pos_w, self.body_quat_w), dim=-1)

    @quantity
    def body_lin_vel_w(self) -> torch.Tensor:
        """Velocities of the links' origins, shape (num_envs, num_bodies, 3), m/s."""
        return self._velocity_at(self.body_pos_w, self._body_twists)

    @quantity
    def body_ang_vel_w(self) -> torch.Tensor:
        """Angular velocities, shape (num_envs, num_bodies, 3), rad/s."""
        return self._body_twists[..., :3]

    @quantity
    def body_vel_w(self) -> torch.Tensor:
        """Linear and angular velocities of the links, (num_envs, num_bodies, 6)."""
        return torch.cat((self.body_lin_vel_w, self.body_ang_vel_w), dim=-1)

    # Bodies: the centre of mass.

    @quantity
    def body_com_pos_w(self) -> torch.Tensor:
        """Centres of mass, shape (num_envs, num_bodies, 3), metres."""
        return self._index.bodies.columns.read(self._sim.data.xipos)

    @quantity
    def body_com_quat_w(self) -> torch.Tensor:
        """Orientations of the inertial frames, wxyz, (num_envs, num_bodies, 4)."""
        iquat = self._index.bodies.columns.read(self._sim.model.body_iquat)
        return quat_mul(self.body_quat_w, iquat)

    @quantity
    def body_com_pose_w(self) -> torch.Tensor:
        """Poses of the inertial frames, shape (num_envs, num_bodies, 7)."""
        return torch.cat((self.body_com_pos_w, self.body_com_quat_w), dim=-1)

    @quantity
    def body_com_lin_vel_w(self) -> torch.Tensor:
        """Velocities of the centres of mass, (num_envs, num_bodies, 3), m/s."""
        return self._velocity_at(self.body_com_pos_w, self._body_twists)

    @quantity
    def body_com_vel_w(self) -> torch.Tensor:
        """Velocities of the centres of mass, and angular, (num_envs, num_bodies, 6)."""
        return torch.cat((self.body_com_lin_vel_w, self.body_ang_vel_w), dim=-1)

    # Geoms.

    @quantity
    def geom_pos_w(self) -> torch.Tensor:
        """Positions of the geoms, shape (num_envs, num_geoms, 3), metres."""
        return self._geoms.pos_w()

    @quantity
    def geom_quat_w(self) -> torch.Tensor:
        """Orientations of the geoms, wxyz, shape (num_envs, num_geoms, 4)."""
        return self._geoms.quat_w()

    @quantity
    def geom_pose_w(self) -> torch.Tensor:
        """Poses of the geoms, shape (num_envs, num_geoms, 7)."""
        return torch.cat((self.geom_pos_w, self.geom_quat_w), dim=-1)

    @quantity
    def geom_lin_vel_w(self) -> torch.Tensor:
        """Velocities of the geoms' centres, shape (num_envs, num_geoms, 3), m/s."""
        return self._velocity_at(self.geom_pos_w, self._geom_twists)

    @quantity
    def geom_ang_vel_w(self) -> torch.Tensor:
        """Angular velocities of the geoms, shape (num_envs, num_geoms, 3), rad/s."""
        return self._geom_twists[..., :3]

    @quantity
    def geom_vel_w(self) -> torch.Tensor:
        """Linear and angular velocities of the geoms, (num_envs, num_geoms, 6)."""
        return torch.cat((self.geom_lin_vel_w, self.geom_ang_vel_w), dim=-1)

    # Sites.

    @quantity
    def site_pos_w(self) -> torch.Tensor:
        """Positions of the sites, shape (num_envs, num_sites, 3), metres."""
        return self._sites.pos_w()

    @quantity
    def site_quat_w(self) -> torch.Tensor:
        """Orientations of the sites, wxyz, shape (num_envs, num_sites, 4)."""
        return self._sites.quat_w()

    @quantity
    def site_pose_w(self) -> torch.Tensor:
        """Poses of the sites, shape (num_envs, num_sites, 7)."""
        return torch.cat((self.site_pos_w, self.site_quat_w), dim=-1)

    @quantity
    def site_lin_vel_w(self) -> torch.Tensor:
        """Velocities of the sites, shape (num_envs, num_sites, 3), m/s."""
        return self._velocity_at(self.site_pos_w, self._site_twists)

    @quantity
    def site_ang_vel_w(self) -> torch.Tensor:
        """Angular velocities of the sites, shape (num_envs, num_sites, 3), rad/s."""
        return self._site_twists[..., :3]

    @quantity
    def site_vel_w(self) -> torch.Tensor:
        """Linear and angular velocities of the sites, (num_envs, num_sites, 6)."""
        return torch.cat((self.site_lin_vel_w, self.site_ang_vel_w), dim=-1)

    # MuJoCo's velocities: angular, then that of the point at the tree's centre of mass.

    @quantity
    def _body_twists(self) -> torch.Tensor:
        return self._index.bodies.columns.read(self._sim.data.cvel)

    @quantity
    def _geom_twists(self) -> torch.Tensor:
        return self._sim.data.cvel.index_select(1, self._geoms.bodies)

    @quantity
    def _site_twists(self) -> torch.Tensor:
        return self._sim.data.cvel.index_select(1, self._sites.bodies)

    def _velocity_at(self, point: torch.Tensor, twist: torch.Tensor) -> torch.Tensor:
        center = self._sim.data.subtree_com[:, self._tree : self._tree + 1]
        return twist[..., 3:] + torch.linalg.cross(twist[..., :3], point - center)

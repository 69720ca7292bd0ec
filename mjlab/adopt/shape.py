"""Pose of a robot model, and points of its geoms."""

from collections.abc import Iterable, Mapping

import mujoco
import numpy as np

_GEOM = mujoco.mjtGeom
_ONE_NUMBER = {int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE)}
_ROUND = np.linspace(0.0, 2.0 * np.pi, 16, endpoint=False)


class Posed:
    """Robot model in a pose, with the base upright at the origin."""

    def __init__(self, model: mujoco.MjModel) -> None:
        """Start in the reference pose of the model."""
        self.model = model
        """Compiled model, whose first joint is the free joint of the base."""
        self.data = mujoco.MjData(model)
        """State with the kinematics of the pose."""
        self.joints = {
            model.joint(i).name: i
            for i in range(model.njnt)
            if int(model.jnt_type[i]) in _ONE_NUMBER
        }
        """Ids of hinge and slide joints, by name."""
        self.place({})

    def place(self, positions: Mapping[str, float]) -> None:
        """Set joint positions, rad or m, with the base upright at the origin."""
        self.data.qpos[:3], self.data.qpos[3:7] = 0.0, (1.0, 0.0, 0.0, 0.0)
        for name, value in positions.items():
            self.data.qpos[self.model.jnt_qposadr[self.joints[name]]] = value
        mujoco.mj_kinematics(self.model, self.data)

    def centre_of_mass(self) -> np.ndarray:
        """Return the robot's centre of mass in the world, m, shape (3,)."""
        mujoco.mj_comPos(self.model, self.data)
        return self.data.subtree_com[1].copy()

    def position(self, joint: str) -> float:
        """Return the position of a joint, rad or m."""
        return float(self.data.qpos[self.model.jnt_qposadr[self.joints[joint]]])

    def limits(self, joint: str) -> tuple[float, float]:
        """Return a joint's limits, rad or m; (-pi, pi) if it is unlimited."""
        index = self.joints[joint]
        if not self.model.jnt_limited[index]:
            return -np.pi, np.pi
        low, high = self.model.jnt_range[index]
        return float(low), float(high)

    def axis(self, joint: str) -> np.ndarray:
        """Return the unit axis of a joint in the world, shape (3,)."""
        return self.data.xaxis[self.joints[joint]].copy()

    def anchor(self, joint: str) -> np.ndarray:
        """Return the anchor of a joint in the world, m, shape (3,)."""
        return self.data.xanchor[self.joints[joint]].copy()

    def points(self, geoms: Iterable[int]) -> np.ndarray:
        """Return points on the geoms in the world, m, shape (n, 3).

        The lowest point of each geom is included, for cylinders approximately.
        """
        found = [self._points(geom) for geom in geoms]
        return np.concatenate(found) if found else np.empty((0, 3))

    def _points(self, geom: int) -> np.ndarray:
        model, size = self.model, self.model.geom_size[geom]
        kind = model.geom_type[geom]
        rotation = self.data.geom_xmat[geom].reshape(3, 3)
        centre = self.data.geom_xpos[geom]
        down = rotation.T @ (0.0, 0.0, -1.0)
        if kind == _GEOM.mjGEOM_SPHERE:
            local = down[None] * size[0]
        elif kind == _GEOM.mjGEOM_CAPSULE:
            ends = np.array([[0, 0, -size[1]], [0, 0, size[1]]])
            local = ends + down * size[0]
        elif kind == _GEOM.mjGEOM_ELLIPSOID:
            local = (size**2 * down / np.linalg.norm(size * down))[None]
        elif kind == _GEOM.mjGEOM_CYLINDER:
            ring = size[0] * np.stack((np.cos(_ROUND), np.sin(_ROUND)), axis=1)
            local = np.array([[*xy, z] for xy in ring for z in (-size[1], size[1])])
        elif kind == _GEOM.mjGEOM_MESH:
            mesh = model.geom_dataid[geom]
            start, number = model.mesh_vertadr[mesh], model.mesh_vertnum[mesh]
            local = model.mesh_vert[start : start + number].astype(float)
        else:
            signs = np.array(np.meshgrid(*[(-1, 1)] * 3)).reshape(3, -1).T
            local = signs * size
        return centre + local @ rotation.T

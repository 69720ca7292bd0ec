"""All bodies of a scene in one tensor, and where to find each."""

from collections.abc import Sequence

import mujoco
import torch

from mjlab.names import find_name
from mjlab.sim import Simulation


class RigidBodies:
    """Poses and velocities of all bodies of all worlds.

    They follow from MuJoCo's kinematics, so they are those of the last `forward()`, or
    of the beginning of the last `step()`: a write shows in them after `forward()`.
    """

    def __init__(self, sim: Simulation) -> None:
        self.sim = sim
        """Physics of the scene."""
        model = sim.mj_model
        names = [model.body(i).name for i in range(model.nbody)]
        self.index = {name: i for i, name in enumerate(names) if name}
        """Column of each body by its full name, `<entity>/<body>`; 0 is `world`."""
        self.roots = torch.tensor(model.body_rootid.tolist(), device=sim.device)
        """First body of the tree that each body is in, int64, shape (nbody,)."""
        self._packed: torch.Tensor | None = None

    def invalidate(self) -> None:
        """Forget what was computed: the simulation has changed."""
        self._packed = None

    @property
    def packed(self) -> torch.Tensor:
        """Positions, quaternions wxyz and velocities, shape (num_envs, nbody, 13).

        In the world frame, of the origins of the bodies' own frames. The rows are
        [world, body], the body as in MuJoCo's model. It is computed when first read
        after something changed.
        """
        if self._packed is None:
            data = self.sim.data
            centers = data.subtree_com.index_select(1, self.roots)
            velocity = point_velocity(data.cvel, data.xpos, centers)
            self._packed = torch.cat((data.xpos, data.xquat, velocity), dim=-1)
        return self._packed

    def ids(self, names: Sequence[str]) -> torch.Tensor:
        """Columns of bodies by full name, int64, shape (len(names),)."""
        known = list(self.index)
        for name in names:
            find_name(name, known, what="body", owner="scene")
        columns = [self.index[name] for name in names]
        return torch.tensor(columns, dtype=torch.int64, device=self.sim.device)


def point_velocity(
    twist: torch.Tensor, point: torch.Tensor, center: torch.Tensor
) -> torch.Tensor:
    """Velocity of a point, linear before angular, shape (..., 6).

    Args:
        twist: MuJoCo's: angular velocity before the linear one at `center`, (..., 6).
        point: The point that moves with the body, world frame, m, (..., 3).
        center: Centre of mass of the body's tree, world frame, m, (..., 3).
    """
    angular = twist[..., :3]
    linear = twist[..., 3:] + torch.linalg.cross(angular, point - center)
    return torch.cat((linear, angular), dim=-1)


def body_joint_ids(model: mujoco.MjModel, body: int) -> list[int]:
    """Ids of the hinge and slide joints of a body."""
    start = int(model.body_jntadr[body])
    ids = range(start, start + int(model.body_jntnum[body])) if start >= 0 else []
    scalar = (int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE))
    return [i for i in ids if int(model.jnt_type[i]) in scalar]

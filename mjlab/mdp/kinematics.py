"""The frame of a body, site or geom, how it moves when joints do, and the way back."""

from typing import Literal

import mujoco
import torch

from mjlab.entity import Entity
from mjlab.managers.env import Env
from mjlab.names import find_name, suggest
from mjlab.sim import Simulation
from mjlab.tensors.columns import Columns
from mjlab.tensors.math import quat_mul

FrameType = Literal["body", "site", "geom"]
_KINDS: tuple[FrameType, ...] = ("body", "site", "geom")


def find_frame(
    model: mujoco.MjModel, entity: Entity, kind: FrameType, name: str
) -> tuple[int, int]:
    """Return the ids of what has a frame and of the body that carries it.

    Args:
        model: The compiled model.
        entity: Whose frame it is.
        kind: What has the frame: "body", "site" or "geom".
        name: Its name within the entity.
    """
    if kind not in _KINDS:
        raise ValueError(f"frame_type is {kind!r}. {suggest(kind, _KINDS)}")
    index = entity.index
    elements = {"body": index.bodies, "site": index.sites, "geom": index.geoms}[kind]
    local = find_name(name, elements.names, what=kind, owner=entity.name)
    found = int(elements.ids[local])
    if kind == "body":
        return found, found
    return found, int(getattr(model, f"{kind}_bodyid")[found])


class Frame:
    """Reads where a frame is, in every world.

    It follows from MuJoCo's kinematics, so it is that of the last `forward()`, or of
    the beginning of the last `step()`.
    """

    def __init__(
        self, sim: Simulation, entity: Entity, kind: FrameType, name: str
    ) -> None:
        """Find the frame.

        Args:
            sim: The simulation.
            entity: Whose frame it is.
            kind: What has the frame: "body", "site" or "geom".
            name: Its name within the entity.
        """
        self._sim = sim
        self._kind = kind
        self._id, self._body = find_frame(sim.mj_model, entity, kind, name)

    @property
    def pos_w(self) -> torch.Tensor:
        """Position of the origin in the world, shape (num_envs, 3), metres."""
        field = "xpos" if self._kind == "body" else f"{self._kind}_xpos"
        return getattr(self._sim.data, field)[:, self._id]

    @property
    def quat_w(self) -> torch.Tensor:
        """Orientation in the world, wxyz, shape (num_envs, 4)."""
        body = self._sim.data.xquat[:, self._body]
        if self._kind == "body":
            return body
        on_body = getattr(self._sim.model, f"{self._kind}_quat")[:, self._id]
        return quat_mul(body, on_body)


class Jacobian:
    """Derivatives of a point's pose by joints, from the joints' axes in the world."""

    def __init__(self, env: Env, joint_ids: list[int]) -> None:
        """Remember the joints.

        Args:
            env: The environment.
            joint_ids: Hinge and slide joints of the compiled model, all of which carry
                the points that `at` is asked about.
        """
        self._sim = env.sim
        self._joints = Columns.of(joint_ids, env.device)
        slide = int(mujoco.mjtJoint.mjJNT_SLIDE)
        slides = [int(env.sim.mj_model.jnt_type[j]) == slide for j in joint_ids]
        self._has_slides = any(slides)
        self._slides = torch.tensor(slides, device=env.device).unsqueeze(-1)

    def at(self, point_w: torch.Tensor, *, with_rotation: bool = True) -> torch.Tensor:
        """Return the velocities of a point for unit velocities of the joints.

        Args:
            point_w: The point in the world, shape (num_envs, 3).
            with_rotation: Whether angular velocities follow the linear ones.

        Returns:
            World axes, shape (num_envs, 6 or 3, joints).
        """
        axes = self._joints.read(self._sim.data.xaxis)
        lever = point_w.unsqueeze(1) - self._joints.read(self._sim.data.xanchor)
        linear = torch.linalg.cross(axes, lever)
        if self._has_slides:
            linear = torch.where(self._slides, axes, linear)
        if not with_rotation:
            return linear.transpose(1, 2).contiguous()
        if self._has_slides:
            axes = axes.masked_fill(self._slides, 0.0)
        return torch.cat((linear, axes), dim=-1).transpose(1, 2).contiguous()


class DampedInverse:
    """Damped least squares of small systems, without a solver library."""

    def __init__(self, size: int, damping: float, device: torch.device) -> None:
        """Remember the damping.

        Args:
            size: Numbers of an error.
            damping: Its square is added to the diagonal.
            device: Where the systems lie.
        """
        self._identity = torch.eye(size, device=device)
        self._damping = damping * damping * self._identity

    def __call__(
        self,
        jacobian: torch.Tensor,
        error: torch.Tensor,
        pull: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Return the step of the joints, shape (num_envs, joints).

        Args:
            jacobian: Shape (num_envs, size, joints).
            error: What the step should make good, shape (num_envs, size).
            pull: The step that is taken where the error leaves a choice, shape
                (num_envs, joints). None is no step.
        """
        if pull is not None:
            error = error - (jacobian * pull.unsqueeze(1)).sum(dim=-1)
        products = jacobian.unsqueeze(2) * jacobian.unsqueeze(1)
        normal = products.sum(dim=-1).add_(self._damping)
        solution = self._eliminate(torch.cat((normal, error.unsqueeze(-1)), dim=-1))
        across = jacobian.transpose(1, 2).contiguous()
        step = (across * solution.unsqueeze(1)).sum(dim=-1)
        return step if pull is None else step + pull

    def with_held(
        self,
        jacobian: torch.Tensor,
        error: torch.Tensor,
        pull: torch.Tensor | None,
        held: torch.Tensor,
        values: torch.Tensor,
    ) -> torch.Tensor:
        """Return the step when the steps of some joints are given.

        Args:
            jacobian: Shape (num_envs, size, joints).
            error: What the step should make good, shape (num_envs, size).
            pull: As in a call.
            held: Which joints have a given step, shape (num_envs, joints), bool.
            values: The given steps, shape (num_envs, joints); only those of `held`
                count.
        """
        values = values.masked_fill(~held, 0.0)
        left = error - (jacobian * values.unsqueeze(1)).sum(dim=-1)
        free = jacobian.masked_fill(held.unsqueeze(1), 0.0)
        free_pull = None if pull is None else pull.masked_fill(held, 0.0)
        return self(free, left, free_pull) + values

    def _eliminate(self, system: torch.Tensor) -> torch.Tensor:
        """Solve systems by Gauss and Jordan's elimination, in place.

        Without an exchange of rows that is stable, because the matrices are symmetric
        and positive definite.

        Args:
            system: Matrix and right-hand side, shape (num_envs, size, size + 1).

        Returns:
            Solutions, shape (num_envs, size).
        """
        for k in range(self._identity.shape[0]):
            pivot_row = system[:, k] / system[:, k, k : k + 1]
            # The pivot's own row becomes the divided one.
            factors = system[:, :, k] - self._identity[k]
            system.addcmul_(factors.unsqueeze(-1), pivot_row.unsqueeze(1), value=-1.0)
        return system[:, :, -1]

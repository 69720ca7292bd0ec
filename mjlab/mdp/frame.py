"""The frame of one body, site or geom of an entity."""

from typing import Literal

import mujoco
import torch

from mjlab.entity import Entity
from mjlab.names import find_name, suggest
from mjlab.sim import Simulation
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

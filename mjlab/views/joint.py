"""One joint of each world, whichever it is."""

from collections.abc import Sequence

import torch

from mjlab.entity import Entity
from mjlab.names import find_name
from mjlab.views.choice import ViewError
from mjlab.views.source import ViewSource
from mjlab.views.view import View


class JointView(View):
    """A hinge or slide joint in each world."""

    kind = "joint"

    def __init__(
        self,
        source: ViewSource,
        names: Sequence[str],
        which: torch.Tensor | None = None,
        present: torch.Tensor | None = None,
    ) -> None:
        """Find joints by their full names, `<entity>/<joint>`."""
        super().__init__(source, names, which, present)
        found = [_find(source, name) for name in self.names]
        self._owners = [owner for owner, _ in found]
        self._columns = [column for _, column in found]

    @property
    def pos(self) -> torch.Tensor:
        """Positions, shape (...), metres or radians."""
        return self._select([e.data.joint_pos for e in self._owners])

    @property
    def vel(self) -> torch.Tensor:
        """Velocities, shape (...), m/s or rad/s."""
        return self._select([e.data.joint_vel for e in self._owners])

    @property
    def pos_limits(self) -> torch.Tensor:
        """Lower and upper limits, ±inf where there is none, shape (..., 2)."""
        return self._select([e.data.joint_pos_limits for e in self._owners])

    def write_pos(self, mask: torch.Tensor, pos: torch.Tensor | float) -> None:
        """Write the positions in the worlds of `mask`, shape (...)."""
        for member, (owner, column) in enumerate(self._places()):
            where, value = self.choice.part(member, mask, pos, ())
            owner.write_joint_pos(where, _column(value), slice(column, column + 1))

    def write_vel(self, mask: torch.Tensor, vel: torch.Tensor | float) -> None:
        """Write the velocities in the worlds of `mask`, shape (...)."""
        for member, (owner, column) in enumerate(self._places()):
            where, value = self.choice.part(member, mask, vel, ())
            owner.write_joint_vel(where, _column(value), slice(column, column + 1))

    # Names that other frameworks have for these.

    qpos = pos
    qvel = vel
    limits = pos_limits

    def _places(self) -> list[tuple[Entity, int]]:
        return list(zip(self._owners, self._columns, strict=True))

    def _select(self, values: Sequence[torch.Tensor]) -> torch.Tensor:
        columns = zip(values, self._columns, strict=True)
        return self.choice.select([value[:, column] for value, column in columns])


def _find(source: ViewSource, name: str) -> tuple[Entity, int]:
    """Return the entity of a joint and the joint's local index."""
    owner = source.owner(name)
    if owner is None:
        known = [
            f"{entity.name}/{joint}"
            for entity in source.entities.values()
            for joint in entity.joint_names
        ]
        find_name(name, known, what="joint", owner="scene")
        raise ViewError(f"The joint {name!r} belongs to no entity.")
    local = name.removeprefix(f"{owner.name}/")
    if local in owner.index.balls.names:
        raise ViewError(
            f"{name!r} is a ball joint, which has a quaternion and not one position; "
            "read entity.data.ball_quat."
        )
    return owner, find_name(local, owner.joint_names, what="joint", owner=owner.name)


def _column(value: torch.Tensor | float) -> torch.Tensor | float:
    return value.unsqueeze(-1) if isinstance(value, torch.Tensor) else value

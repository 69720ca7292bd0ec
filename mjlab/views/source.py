"""Data of a scene that views read: simulation, body states, and contact forces."""

import re
from collections.abc import Mapping, Sequence
from typing import Protocol

import torch

from mjlab.entity import Entity
from mjlab.names import find_name
from mjlab.scene import PairKey, Scene
from mjlab.sensor import ContactSensor
from mjlab.views.choice import MemberChoice, ViewError, take_columns


class ViewSource:
    """Data of a scene that views read.

    Body poses and velocities come from MuJoCo's kinematics, computed by the last
    `forward()`, or at the beginning of the last `step()`. A write is visible after the
    next `forward()`.
    """

    def __init__(self, scene: Scene) -> None:
        self.sim = scene.sim
        """Simulation of the scene."""
        self.entities: Mapping[str, Entity] = scene.entities
        """Entities by name."""
        groups = {name: list(its.members) for name, its in scene.variants.items()}
        self.forces = ContactForces(scene.pair_sensors, groups)
        """Contact forces between the pairs that the scene declares."""
        model = scene.sim.mj_model
        names = [model.body(i).name for i in range(model.nbody)]
        self.body_index = {name: i for i, name in enumerate(names) if name}
        """Column of each body by full name, `<entity>/<body>`; 0 is `world`."""
        self.body_roots = torch.tensor(
            model.body_rootid.tolist(), device=scene.sim.device
        )
        """Root body of each body's kinematic tree, int64, shape (nbody,)."""
        self._packed: torch.Tensor | None = None
        scene.on_change.append(self._forget)

    @property
    def packed(self) -> torch.Tensor:
        """Positions, quaternions wxyz and velocities, shape (num_envs, nbody, 13).

        Values are of the origins of the body frames, in the world frame. Columns are
        body ids of MuJoCo's model. Computed at the first read after a change.
        """
        if self._packed is None:
            data = self.sim.data
            centers = data.subtree_com.index_select(1, self.body_roots)
            velocity = point_velocity(data.cvel, data.xpos, centers)
            self._packed = torch.cat((data.xpos, data.xquat, velocity), dim=-1)
        return self._packed

    def body_ids(self, names: Sequence[str]) -> torch.Tensor:
        """Return columns of bodies by full name, int64, shape (len(names),)."""
        for name in names:
            find_name(name, list(self.body_index), what="body", owner="scene")
        columns = [self.body_index[name] for name in names]
        return torch.tensor(columns, dtype=torch.int64, device=self.sim.device)

    def owner(self, element: str) -> Entity | None:
        """Return the entity of an element by full name; None for scene elements."""
        return self.entities.get(element.split("/")[0]) if "/" in element else None

    def _forget(self) -> None:
        self._packed = None


def point_velocity(
    twist: torch.Tensor, point: torch.Tensor, center: torch.Tensor
) -> torch.Tensor:
    """Return the velocity of a point, linear then angular, shape (..., 6).

    Args:
        twist: MuJoCo's cvel: angular velocity, then linear velocity at `center`, (...,
            6).
        point: Point fixed to the body, world frame, m, (..., 3).
        center: Centre of mass of the body's tree, world frame, m, (..., 3).
    """
    angular = twist[..., :3]
    linear = twist[..., 3:] + torch.linalg.cross(angular, point - center)
    return torch.cat((linear, angular), dim=-1)


class Touching(Protocol):
    """View of bodies or entities that can be in contact."""

    names: tuple[str, ...]
    choice: MemberChoice


class ContactForces:
    """Reader of the sensors compiled from `SceneCfg.contact_pairs`.

    As for every sensor, rewards and terminations read the forces of the last physics
    step, and observations read the forces of the current state.
    """

    def __init__(
        self,
        sensors: Mapping[PairKey, ContactSensor],
        groups: Mapping[str, Sequence[str]],
    ) -> None:
        """Create the forces from the contact sensors of the declared pairs.

        Args:
            sensors: Sensors by the names of the two sides.
            groups: Names of the member entities of each entity that differs between
                worlds, by the name of that entity.
        """
        self._sensors = dict(sensors)
        self._group_of = {name: group for group in groups for name in groups[group]}

    def between(self, first: Touching, second: Touching) -> torch.Tensor:
        """Return the force that `second` exerts on `first`, N, shape (..., 3).

        Rows are paired; a view with one member per world is paired with each of k rows.
        """
        one, two = first.choice, second.choice
        if _wide(one)[1] != _wide(two)[1] and 1 not in (_wide(one)[1], _wide(two)[1]):
            raise ViewError(
                f"{first!r} has rows of shape {tuple(one.shape)} and {second!r} of "
                f"shape {tuple(two.shape)}; rows are paired, so the shapes have to "
                "match."
            )
        forces = self._all_pairs(first.names, second.names)
        pairs = one.picks * len(second.names) + two.picks
        wide = torch.broadcast_shapes(_wide(one), _wide(two))
        chosen = take_columns(forces, pairs.expand(wide))
        for choice in (one, two):
            if choice.present is not None:
                here = choice.present.view(_wide(choice))
                chosen = chosen.masked_fill(~here.unsqueeze(-1), 0.0)
        both_narrow = len(one.shape) == len(two.shape) == 1
        return chosen.squeeze(1) if both_narrow else chosen

    def net(self, view: Touching) -> torch.Tensor:
        """Return the total contact force on each row of a view, N, shape (..., 3)."""
        self._check([(name, None) for name in view.names])
        return view.choice.select([self._on(name, None) for name in view.names])

    def _all_pairs(self, firsts: Sequence[str], seconds: Sequence[str]) -> torch.Tensor:
        """Return the force of each pair on its first member, (num_envs, pairs, 3)."""
        keys = [(a, b) for a in firsts for b in seconds]
        apart = [(a, b) for a, b in keys if a != b]
        if not apart:
            raise ViewError(f"{firsts[0]!r} has no contact with itself.")
        self._check(apart)
        found = {key: self._on(*key) for key in apart}
        # If both views have the same members, the pairs of a member with itself have no
        # sensor and stay zero.
        none = torch.zeros_like(found[apart[0]])
        return torch.stack([found.get(key, none) for key in keys], dim=1)

    def _on(self, first: str, second: str | None) -> torch.Tensor:
        """Return the force that the second side exerts on the first, (num_envs, 3)."""
        if (first, second) in self._sensors:
            # MuJoCo reports the force with the opposite sign.
            return -_total(self._sensors[first, second].data.force)
        assert second is not None
        return _total(self._sensors[second, first].data.force)

    def _check(self, keys: Sequence[PairKey]) -> None:
        known = self._sensors
        missing = [
            (a, b)
            for a, b in keys
            if (a, b) not in known and (b is None or (b, a) not in known)
        ]
        if missing:
            named = dict.fromkeys((self._named(a), self._named(b)) for a, b in missing)
            lines = "".join(f"    {_line(a or '', b)},\n" for a, b in named)
            raise ViewError(
                f"The contact force {_words(*missing[0])} is not measured, because "
                "the scene does not declare this pair. Between steps, use "
                "contact_force_now, which needs no declaration. For terms, add to "
                "SceneCfg:\n"
                f"contact_pairs=(\n{lines})"
            )

    def _named(self, name: str | None) -> str | None:
        """Return the configured name of an entity or body."""
        return None if name is None else self._group_of.get(name, name)


def _wide(choice: MemberChoice) -> tuple[int, int]:
    return choice.shape[0], choice.shape[1] if len(choice.shape) == 2 else 1


def _total(force: torch.Tensor) -> torch.Tensor:
    """Sum over the bodies of an entity, (num_envs, bodies, 3) to (num_envs, 3)."""
    # In a fixed order, so that the result does not depend on the number of worlds.
    total = force[:, 0]
    for body in range(1, force.shape[1]):
        total = total + force[:, body]
    return total


def _line(first: str, second: str | None) -> str:
    partner = "" if second is None else f", second={_pattern(second)!r}"
    return f"ContactPairCfg(first={_pattern(first)!r}{partner})"


def _pattern(name: str) -> str:
    return name if re.fullmatch(name, name) else re.escape(name)


def _words(first: str, second: str | None) -> str:
    return f"on {first!r}" + ("" if second is None else f" from {second!r}")

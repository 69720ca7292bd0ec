"""The doors through which a scene hands out its views."""

from collections.abc import Mapping, Sequence

import torch

from mjlab.entity import Entity
from mjlab.names import find_name
from mjlab.sim import Simulation
from mjlab.views.bodies import RigidBodies
from mjlab.views.body import BodyView
from mjlab.views.entity import EntityView
from mjlab.views.forces import ContactForces, Touching
from mjlab.views.joint import JointView
from mjlab.views.merge import (
    merge_bodies,
    merge_entities,
    merge_joints,
    merge_links,
)
from mjlab.views.source import ViewSource


class SceneViews:
    """Bodies, joints and entities of a scene as views, merged or not.

    Views are made once, where a term is bound, and read in every step. In what follows
    `which` chooses a member of each world, int64 of shape (num_envs,), or k distinct
    ones, (num_envs, k); `present` says where it is there at all. Both are kept, not
    copied.
    """

    def __init__(
        self, sim: Simulation, entities: Mapping[str, Entity], forces: ContactForces
    ) -> None:
        self._bodies = RigidBodies(sim)
        self._source = ViewSource(sim, entities, self._bodies, forces)
        self.views: dict[str, EntityView] = {}
        """Entity views by name; what is put here is what `view` returns."""

    @property
    def rigid_body_data(self) -> torch.Tensor:
        """Pose and velocity of every body, shape (num_envs, nbody, 13).

        Position, quaternion wxyz, linear and angular velocity of the body's own frame
        in the world. Its rows are [world, body]; `body_index` says which body is which.
        """
        return self._bodies.packed

    @property
    def body_index(self) -> dict[str, int]:
        """Column of each body in `rigid_body_data`, by its full name."""
        return self._bodies.index

    def view(self, name: str) -> EntityView:
        """The entity called `name` in each world."""
        if name not in self.views:
            known = [*self._source.entities, *self.views]
            find_name(name, known, what="entity", owner="scene")
            self.views[name] = self.merge_entities([name])
        return self.views[name]

    def body(self, name: str) -> BodyView:
        """The body of this full name, as `robot/hand`."""
        return self.merge_bodies([name])

    def joint(self, name: str) -> JointView:
        """The hinge or slide joint of this full name, as `robot/elbow`."""
        return self.merge_joints([name])

    def merge_bodies(
        self,
        members: Sequence[BodyView | str],
        which: torch.Tensor | None = None,
        present: torch.Tensor | None = None,
    ) -> BodyView:
        """One view of bodies, given as views or by full name."""
        return merge_bodies(self._source, members, which, present)

    def merge_links(
        self,
        members: Sequence[BodyView | str],
        which: torch.Tensor | None = None,
        present: torch.Tensor | None = None,
    ) -> BodyView:
        """One view of bodies that have a joint each, so that `joint` can be used."""
        return merge_links(self._source, members, which, present)

    def merge_joints(
        self,
        members: Sequence[JointView | str],
        which: torch.Tensor | None = None,
        present: torch.Tensor | None = None,
    ) -> JointView:
        """One view of joints, given as views or by full name."""
        return merge_joints(self._source, members, which, present)

    def merge_entities(
        self,
        members: Sequence[Entity | EntityView | str],
        which: torch.Tensor | None = None,
        present: torch.Tensor | None = None,
    ) -> EntityView:
        """One view of entities, given as such, as views or by name."""
        return merge_entities(self._source, members, which, present)

    def pairwise_contact_force(
        self, first: Touching | str, second: Touching | str
    ) -> torch.Tensor:
        """Force on the first from the second, world frame, N, shape (..., 3).

        It is the sum of their contacts in the last physics step, or in an observation
        in the present state. The scene has to declare the pair in `contact_pairs`.

        Args:
            first: A view of bodies or entities, or the name of one.
            second: The same.
        """
        forces = self._source.forces
        return forces.between(self._touching(first), self._touching(second))

    def net_contact_force(self, thing: Touching | str) -> torch.Tensor:
        """Force on a thing from all that touches it, world frame, N, (..., 3)."""
        return self._source.forces.net(self._touching(thing))

    def _touching(self, thing: Touching | str) -> Touching:
        if not isinstance(thing, str):
            return thing
        if thing in self._source.entities or thing in self.views:
            return self.view(thing)
        known = [*self._source.entities, *self.views, *self.body_index]
        find_name(thing, known, what="body or entity", owner="scene")
        return self.body(thing)

"""Access to the views of a scene."""

from collections.abc import Sequence
from typing import TypeVar
from weakref import WeakKeyDictionary

import torch

from mjlab.entity import Entity
from mjlab.names import find_name
from mjlab.scene import Scene
from mjlab.views.body import BodyView, JointView, joint_of
from mjlab.views.choice import MergeError
from mjlab.views.entity import EntityView
from mjlab.views.present import PresentForces
from mjlab.views.source import Touching, ViewSource
from mjlab.views.view import View

V = TypeVar("V", bound=View)


class SceneViews:
    """Views of bodies, joints and entities of a scene, merged or single.

    Views are created once, where a term is bound, and read in every step. In all
    methods, `which` selects a member of each world, int64 of shape (num_envs,), or k
    distinct members, (num_envs, k); `present` is false in worlds without the member.
    Both are stored without a copy.
    """

    def __init__(self, scene: Scene) -> None:
        """Create the views of a scene; use `of`, which does so once per scene."""
        self._source = ViewSource(scene)
        self._present: PresentForces | None = None
        scene.on_change.append(self._forget)
        self.views: dict[str, EntityView] = {}
        """Entity views by name; `view` returns the entries of this dictionary."""
        for name, its in scene.variants.items():
            members = list(its.members)
            self.views[name] = self.merge_entities(members, its.which, its.present)

    @property
    def rigid_body_data(self) -> torch.Tensor:
        """Pose and velocity of every body, shape (num_envs, nbody, 13).

        The last dimension holds position, quaternion wxyz, linear and angular velocity
        of the body frame in the world frame. `body_index` maps names to columns.
        """
        return self._source.packed

    @property
    def body_index(self) -> dict[str, int]:
        """Column of each body in `rigid_body_data`, by its full name."""
        return self._source.body_index

    def view(self, name: str) -> EntityView:
        """Return the view of an entity by name."""
        if name not in self.views:
            known = [*self._source.entities, *self.views]
            find_name(name, known, what="entity", owner="scene")
            self.views[name] = self.merge_entities([name])
        return self.views[name]

    def body(self, name: str) -> BodyView:
        """Return the view of a body by full name, such as `robot/hand`."""
        return self.merge_bodies([name])

    def joint(self, name: str) -> JointView:
        """Return the view of a hinge or slide joint by full name."""
        return self.merge_joints([name])

    def merge_bodies(
        self,
        members: Sequence[BodyView | str],
        which: torch.Tensor | None = None,
        present: torch.Tensor | None = None,
    ) -> BodyView:
        """Return one view of several bodies, given as views or by full name."""
        return BodyView(self._source, _names(members, BodyView), which, present)

    def merge_links(
        self,
        members: Sequence[BodyView | str],
        which: torch.Tensor | None = None,
        present: torch.Tensor | None = None,
    ) -> BodyView:
        """Return one view of bodies with a single hinge or slide joint each.

        The `joint` of the view can be read and written as well.
        """
        view = self.merge_bodies(members, which, present)
        for name in view.names:
            joint_of(self._source, name)
        return view

    def merge_joints(
        self,
        members: Sequence[JointView | str],
        which: torch.Tensor | None = None,
        present: torch.Tensor | None = None,
    ) -> JointView:
        """Return one view of several joints, given as views or by full name."""
        return JointView(self._source, _names(members, JointView), which, present)

    def merge_entities(
        self,
        members: Sequence[Entity | EntityView | str],
        which: torch.Tensor | None = None,
        present: torch.Tensor | None = None,
    ) -> EntityView:
        """Return one view of several entities, given as objects, views or names."""
        known = self._source.entities
        names = _names(
            [m.name if isinstance(m, Entity) else m for m in members], EntityView
        )
        for name in names:
            find_name(name, list(known), what="entity", owner="scene")
        if not names:
            raise MergeError(
                "The list of members is empty, so there is nothing to merge."
            )
        return EntityView(self._source, [known[n] for n in names], which, present)

    def pairwise_contact_force(
        self, first: Touching | str, second: Touching | str
    ) -> torch.Tensor:
        """Return the force of `second` on `first`, world frame, N, shape (..., 3).

        This is the sum over their contacts in the last physics step or, if an
        observation reads it, in the current state. The scene has to declare the pair in
        `contact_pairs`.

        Args:
            first: A view of bodies or entities, or the name of one.
            second: A view of bodies or entities, or the name of one.
        """
        forces = self._source.forces
        return forces.between(self._touching(first), self._touching(second))

    def net_contact_force(self, thing: Touching | str) -> torch.Tensor:
        """Return the total contact force on `thing`, world frame, N, (..., 3).

        Args:
            thing: A view of bodies or entities, or the name of one.
        """
        return self._source.forces.net(self._touching(thing))

    def contact_force_now(
        self, first: Touching | str, second: Touching | str | None = None
    ) -> torch.Tensor:
        """Return the current force of `second` on `first`, world frame, N, (..., 3).

        The pair needs no entry in `contact_pairs`. Computing the force is slow: use it
        for inspection between steps; see `PresentForces`.

        Args:
            first: A view of bodies or entities, or the name of one.
            second: The source of the force: a view, or a name. None sums over all
                contacts.
        """
        if self._present is None:
            self._present = PresentForces(self._source)
        if second is None:
            return self._present.net(self._touching(first))
        return self._present.between(self._touching(first), self._touching(second))

    def _forget(self) -> None:
        """Discard the contacts of an earlier state."""
        self._present = None

    def _touching(self, thing: Touching | str) -> Touching:
        if not isinstance(thing, str):
            return thing
        if thing in self._source.entities or thing in self.views:
            return self.view(thing)
        known = [*self._source.entities, *self.views, *self.body_index]
        find_name(thing, known, what="body or entity", owner="scene")
        return self.body(thing)


_VIEWS: WeakKeyDictionary[Scene, SceneViews] = WeakKeyDictionary()


def of(scene: Scene) -> SceneViews:
    """Return the views of a scene, the same object at every call."""
    if scene not in _VIEWS:
        _VIEWS[scene] = SceneViews(scene)
    return _VIEWS[scene]


def _names(members: Sequence[View | str], kind: type[V]) -> list[str]:
    """Return the names of members, which must be unmerged views of one kind."""
    return [m if isinstance(m, str) else _name(m, kind) for m in members]


def _name(member: View, kind: type[V]) -> str:
    if not isinstance(member, kind):
        raise MergeError(
            f"{member!r} cannot be merged with {kind.__name__}s: all members of a "
            "view must be of one kind."
        )
    if member.choice.which is not None or member.choice.present is not None:
        raise MergeError(
            f"{member!r} is already merged. Merge its members, "
            f"{', '.join(map(repr, member.names))}, with the others."
        )
    (name,) = member.names
    return name

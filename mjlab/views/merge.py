"""One view of different things in different worlds."""

from collections.abc import Sequence
from typing import TypeVar

import torch

from mjlab.entity import Entity
from mjlab.names import find_name
from mjlab.views.body import BodyView, joint_of
from mjlab.views.choice import MergeError
from mjlab.views.entity import EntityView
from mjlab.views.joint import JointView
from mjlab.views.source import ViewSource
from mjlab.views.view import View

V = TypeVar("V", bound=View)


def merge_bodies(
    source: ViewSource,
    members: Sequence[BodyView | str],
    which: torch.Tensor | None = None,
    present: torch.Tensor | None = None,
) -> BodyView:
    """Return one view of bodies, given as views or by full name."""
    return BodyView(source, _names(members, BodyView), which, present)


def merge_links(
    source: ViewSource,
    members: Sequence[BodyView | str],
    which: torch.Tensor | None = None,
    present: torch.Tensor | None = None,
) -> BodyView:
    """Return one view of bodies that hang in one hinge or slide joint each.

    So its `joint` can be read and written as well.
    """
    view = merge_bodies(source, members, which, present)
    for name in view.names:
        joint_of(source, name)
    return view


def merge_joints(
    source: ViewSource,
    members: Sequence[JointView | str],
    which: torch.Tensor | None = None,
    present: torch.Tensor | None = None,
) -> JointView:
    """Return one view of joints, given as views or by full name."""
    return JointView(source, _names(members, JointView), which, present)


def merge_entities(
    source: ViewSource,
    members: Sequence[Entity | EntityView | str],
    which: torch.Tensor | None = None,
    present: torch.Tensor | None = None,
) -> EntityView:
    """Return one view of entities, given as such, as views or by name."""
    plain = [m.name if isinstance(m, Entity) else m for m in members]
    entities = []
    for name in _names(plain, EntityView):
        find_name(name, list(source.entities), what="entity", owner="scene")
        entities.append(source.entities[name])
    if not entities:
        raise MergeError("There is nothing to merge: the list of members is empty.")
    return EntityView(source, entities, which, present)


def _names(members: Sequence[View | str], kind: type[V]) -> list[str]:
    """Names of members that are all of one kind, each of one thing."""
    return [m if isinstance(m, str) else _name(m, kind) for m in members]


def _name(member: View, kind: type[V]) -> str:
    if not isinstance(member, kind):
        raise MergeError(
            f"{member!r} cannot be merged with {kind.__name__}s: the members of a view "
            "are of one kind."
        )
    if member.choice.which is not None or member.choice.present is not None:
        raise MergeError(
            f"{member!r} is merged already. Merge its members, "
            f"{', '.join(map(repr, member.names))}, with the others."
        )
    (name,) = member.names
    return name

"""Values of model fields for each option of an entity, copied from compiled models.

Each option is compiled in a scene in which it is the entity, and its rows are copied
from there, including derived constants. A world has exactly the values that the
compiler would have computed for it.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import mujoco
import numpy as np
from numpy.typing import ArrayLike

from mjlab.sim import ModelTable
from mjlab.spec.elements import places_of
from mjlab.views.variant_slots import VariantSlot

FARTHEST = 1e6
"""Minimum distance of inactive entities to anything else, in metres."""

_MASSLESS = 1e-13
"""MuJoCo computes no constants for a moving body with zero mass."""

# Fields whose rows are copied, by kind of element.
_COPIED = {
    "body": "pos quat ipos iquat mass subtreemass inertia invweight0 gravcomp".split()
    + "sameframe contype conaffinity margin".split(),
    "jnt": "pos axis range stiffness stiffnesspoly springyield margin".split()
    + "solref solimp actfrcrange".split(),
    "dof": "solref solimp frictionloss armature damping dampingpoly".split()
    + "invweight0 M0 length".split(),
    "geom": "contype conaffinity dataid matid size aabb rbound pos quat".split()
    + "friction margin gap solmix solref solimp rgba sameframe surfacevel".split()
    + ["adhesion"],
    "site": "pos quat rgba sameframe".split(),
}
# Fields of inactive slots, with their values.
_IDLE: dict[str, ArrayLike] = {
    "body_mass": _MASSLESS,
    "body_inertia": _MASSLESS,
    "body_subtreemass": _MASSLESS,
    "body_gravcomp": 0.0,
    "body_contype": 0,
    "body_conaffinity": 0,
    "jnt_stiffness": 0.0,
    "jnt_stiffnesspoly": 0.0,
    "dof_damping": 0.0,
    "dof_dampingpoly": 0.0,
    "dof_frictionloss": 0.0,
    "tendon_stiffness": 0.0,
    "tendon_stiffnesspoly": 0.0,
    "tendon_damping": 0.0,
    "tendon_dampingpoly": 0.0,
    "tendon_frictionloss": 0.0,
    "actuator_gear": 0.0,
    "jnt_range": (-FARTHEST, FARTHEST),
    "tendon_range": (-FARTHEST, FARTHEST),
    "pair_margin": -FARTHEST,
}
# MuJoCo Warp has no counterpart of these fields, and computes their effect differently.
_NATIVE_ONLY = frozenset(
    "body_sameframe body_contype body_conaffinity body_margin dof_M0 dof_length "
    "body_geomadr body_geomnum geom_sameframe geom_contype geom_conaffinity "
    "site_sameframe site_rgba".split()
)
POSITION_WIDTH = {0: 7, 1: 4, 2: 1, 3: 1}
"""Number of qpos entries of a joint, by type: free, ball, slide, hinge."""


def owned(model: mujoco.MjModel, kind: str, name: str) -> list[int]:
    """Return the ids of an entity's elements of a kind, such as "geom" or "dof"."""
    if kind == "dof":
        joints = set(owned(model, "jnt", name))
        return [d for d in range(model.nv) if int(model.dof_jntid[d]) in joints]
    return list(places_of(model, kind, f"{name}/").values())


@dataclass(frozen=True, eq=False)
class Places:
    """Ids of one option's elements, in the scene and in its single model."""

    entity: str
    """Name of the entity in the single model."""

    slot: VariantSlot
    """Its slot in the scene."""

    option: str
    """The option."""

    scene: mujoco.MjModel
    """The whole scene."""

    single: mujoco.MjModel
    """The model in which the option is the entity."""

    def pairs(self, kind: str) -> Iterator[tuple[int, int]]:
        """Yield the ids of each element in the scene and in the single model."""
        if kind == "geom":
            for slot_geom, own in self.slot.geoms[self.option].items():
                yield (
                    self.scene.geom(f"{self.slot.name}/{slot_geom}").id,
                    self.single.geom(f"{self.entity}/{own}").id,
                )
            return
        ours = owned(self.scene, kind, self.slot.name)
        theirs = owned(self.single, kind, self.entity)
        yield from zip(ours, theirs, strict=True)

    def value(self, field: str, row: int) -> np.ndarray:
        """Return the row of a field in the single model, converted to the scene.

        Ids of meshes and materials differ between the two models.
        """
        own = getattr(self.single, field)[row]
        if field == "geom_dataid" and own >= 0:
            return self._asset(self.single.mesh(own).name, self.scene.mesh)
        if field == "geom_matid" and own >= 0:
            return self._asset(self.single.mat(own).name, self.scene.mat)
        return own

    def _asset(self, name: str, find: Callable[[str], Any]) -> np.ndarray:
        local = name.removeprefix(f"{self.entity}/")
        prefix = self.slot.assets[self.option]
        return np.array(find(f"{self.slot.name}/{prefix}{local}").id)


class Tables:
    """Tables of all fields that differ between the options of an entity."""

    def __init__(
        self,
        entity: str,
        slots: Sequence[VariantSlot],
        options: Sequence[str],
        scene: mujoco.MjModel,
        singles: Mapping[str, mujoco.MjModel],
        variable: Collection[str],
        *,
        can_be_absent: bool,
    ) -> None:
        """Fill the tables.

        Args:
            entity: Name of the entity.
            slots: Slots of its options in the scene.
            options: The options, in the order of the tables' choices; the last,
                additional choice leaves the entity out.
            scene: The compiled scene.
            singles: For each option the model in which it is the entity.
            variable: Model fields that can vary per world on the engine.
            can_be_absent: Whether the last choice can occur.
        """
        self._entity = entity
        self._scene = scene
        self._options = list(options)
        # The choice without the entity has no name.
        self._choices = [*options, ""] if can_be_absent else list(options)
        self._variable = variable
        self._values: dict[str, np.ndarray] = {}
        self._rows: dict[str, set[int]] = {}
        for slot in slots:
            for option in slot.options:
                places = Places(entity, slot, option, scene, singles[option])
                self._copy(places)
            self._hide_geoms(slot)
            self._skip_geoms(slot)
            self._let_idle(slot)

    def tables(self) -> list[ModelTable]:
        """Return the tables, without rows that are equal for all choices."""
        made = []
        for field, values in self._values.items():
            base = getattr(self._scene, field)
            rows = [
                r for r in sorted(self._rows[field]) if _varies(values[:, r], base[r])
            ]
            if rows:
                own = values[:, rows].copy()
                made.append(ModelTable(self._entity, field, rows, own))
        return made

    def _copy(self, places: Places) -> None:
        choice = self._options.index(places.option)
        for kind, names in _COPIED.items():
            for field in [f"{kind}_{name}" for name in names]:
                for row, own in places.pairs(kind):
                    self._set(field, choice, row, places.value(field, own))
        self._copy_positions(places, choice)

    def _copy_positions(self, places: Places, choice: int) -> None:
        """Copy fields with one entry per position coordinate of a joint."""
        for joint, own in places.pairs("jnt"):
            start, source = (
                int(model.jnt_qposadr[j])
                for model, j in ((places.scene, joint), (places.single, own))
            )
            width = POSITION_WIDTH[int(places.scene.jnt_type[joint])]
            for field, offset in product(("qpos0", "qpos_spring"), range(width)):
                value = getattr(places.single, field)[source + offset]
                self._set(field, choice, start + offset, value)

    def _hide_geoms(self, slot: VariantSlot) -> None:
        """Disable contacts, rays and rendering of unused geoms."""
        for choice, option in enumerate(self._choices):
            used = slot.geoms.get(option, {})
            for row in owned(self._scene, "geom", slot.name):
                local = self._scene.geom(row).name.removeprefix(f"{slot.name}/")
                if local not in used:
                    self._hide(row, choice)

    def _hide(self, geom: int, choice: int) -> None:
        color = self._scene.geom_rgba[geom].copy()
        color[3] = 0.0
        hidden: dict[str, ArrayLike] = {"geom_rgba": color, "geom_matid": -1}
        if "geom_contype" in self._variable:
            hidden |= {"geom_contype": 0, "geom_conaffinity": 0}
        else:
            hidden |= {"geom_margin": -FARTHEST}
        for field, value in hidden.items():
            self._set(field, choice, geom, value)

    def _skip_geoms(self, slot: VariantSlot) -> None:
        """Restrict bodies to the geoms in use, where these are contiguous."""
        of_body = self._scene.geom_bodyid
        bodies = owned(self._scene, "body", slot.name)
        for (choice, option), body in product(enumerate(self._choices), bodies):
            used = slot.geoms.get(option, {})
            names = [f"{slot.name}/{geom}" for geom in used]
            geoms = [self._scene.geom(name).id for name in names]
            geoms = sorted(geom for geom in geoms if of_body[geom] == body)
            first = geoms[0] if geoms else int(self._scene.body_geomadr[body])
            if geoms == list(range(first, first + len(geoms))):
                self._set("body_geomadr", choice, body, first)
                self._set("body_geomnum", choice, body, len(geoms))

    def _let_idle(self, slot: VariantSlot) -> None:
        """Keep a slot at rest without forces in the worlds that do not use it."""
        idle = [
            choice
            for choice, option in enumerate(self._choices)
            if option not in slot.geoms
        ]
        for field, value in _IDLE.items():
            rows = owned(self._scene, field.split("_")[0], slot.name)
            for row, choice in product(rows, idle):
                self._set(field, choice, row, value)
        # With nearly zero mass no force moves it. Its joints get the inertia of the
        # original mass as armature, so that the solver's conditioning does not change.
        for dof, choice in product(owned(self._scene, "dof", slot.name), idle):
            self._set("dof_armature", choice, dof, self._scene.dof_M0[dof])

    def _set(self, field: str, choice: int, row: int, value: ArrayLike) -> None:
        if field not in self._variable and field in _NATIVE_ONLY:
            return
        if field not in self._values:
            base = getattr(self._scene, field)
            count = len(self._options) + 1
            self._values[field] = np.repeat(base[None], count, axis=0)
            self._rows[field] = set()
        self._values[field][choice, row] = value
        self._rows[field].add(row)


def _varies(values: np.ndarray, base: np.ndarray) -> bool:
    return not bool((values == base).all())

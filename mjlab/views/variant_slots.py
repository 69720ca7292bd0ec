"""Slots: scene entities for the options of an entity that differs between worlds.

Engines support different geom sizes, poses and meshes per world, but bodies, joints and
geom types are common to all worlds. Options with the same bodies and joints share a
slot: one entity with a geom for each shape that an option needs. An option with another
kinematic tree has a separate slot, which is inactive in the other worlds.

Each option is also compiled in a scene in which it is the entity in every world. Its
values in the model fields are copied from there, including derived constants, so a
world has exactly the values that MuJoCo's compiler computes for its option.
"""

from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import mujoco
import numpy as np
from numpy.typing import ArrayLike

from mjlab.entity import EntityCfg, build_entity
from mjlab.sim import ModelTable
from mjlab.spec.elements import places_of

_FREE = int(mujoco.mjtJoint.mjJNT_FREE)
_GEOM = mujoco.mjtGeom
_MERGEABLE = {
    *(_GEOM.mjGEOM_SPHERE, _GEOM.mjGEOM_CAPSULE, _GEOM.mjGEOM_ELLIPSOID),
    *(_GEOM.mjGEOM_CYLINDER, _GEOM.mjGEOM_BOX, _GEOM.mjGEOM_MESH),
}
# Fields that must be equal for two options to share a geom.
_GEOM_KEY = "type contype conaffinity condim priority group".split()
# Element types that an option must not have if it shares a slot.
_APART = {
    "ntendon": "tendons",
    "nactuator": "actuators",
    "nsensor": "sensors",
    "neq": "equality constraints",
    "ncam": "cameras",
    "nlight": "lights",
    "npair": "contact pairs",
    "nexclude": "contact exclusions",
    "nflex": "flexible parts",
    "nskin": "skins",
    "nplugin": "plugins",
    "nhfield": "height fields",
    "ntuple": "tuples",
}

FARTHEST = 1e6
"""Minimum distance of inactive entities to anything else, in metres."""

_MASSLESS = 1e-13
"""Mass of inactive bodies, above zero because MuJoCo computes no constants for a moving
body without mass."""

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


class VariantsError(ValueError):
    """Raised for invalid variants of an entity."""


GeomMap = dict[str, str]
"""Map from geom names of a slot to geom names of an option."""


@dataclass(frozen=True, eq=False)
class VariantSlot:
    """Entity of the scene that represents one or several options."""

    name: str
    """Name of the entity in the scene."""

    cfg: EntityCfg
    """Configuration of the first option."""

    spec: mujoco.MjSpec
    """Spec that is attached to the scene."""

    geoms: dict[str, GeomMap]
    """Geom map of each option."""

    assets: dict[str, str]
    """Name prefixes of each option's meshes and materials."""

    difference: str
    """Reason for a separate slot; empty for the first slot."""

    @property
    def options(self) -> tuple[str, ...]:
        """Names of the options that the slot represents."""
        return tuple(self.geoms)


@dataclass(frozen=True, eq=False)
class _Option:
    """Option, built and compiled separately."""

    name: str
    cfg: EntityCfg
    spec: mujoco.MjSpec
    model: mujoco.MjModel
    traits: dict[str, Hashable]


def build_slots(options: Mapping[str, EntityCfg], name: str) -> list[VariantSlot]:
    """Build the options and group those with the same kinematic tree."""
    groups: list[list[_Option]] = []
    for option, entity_cfg in options.items():
        built = _build_option(option, entity_cfg, name)
        alike = [group for group in groups if group[0].traits == built.traits]
        if alike:
            alike[0].append(built)
        else:
            groups.append([built])
    if len(groups) == 1:
        return [_slot(groups[0], name, groups[0][0])]
    names = [f"{name}.{'+'.join(each.name for each in group)}" for group in groups]
    return [
        _slot(group, slot_name, groups[0][0])
        for group, slot_name in zip(groups, names, strict=True)
    ]


def _build_option(option: str, cfg: EntityCfg, name: str) -> _Option:
    try:
        spec = build_entity(cfg, name)
    except (ValueError, OSError, TypeError) as error:
        error.add_note(f"This error occurred in the option {option!r}.")
        raise
    model = spec.compile()
    return _Option(option, cfg, spec, model, _traits(option, cfg, model))


def _traits(option: str, cfg: EntityCfg, model: mujoco.MjModel) -> dict[str, Hashable]:
    """Return the traits that options in one slot must share, by description."""
    root_is_free = model.njnt > 0 and int(model.jnt_type[0]) == _FREE
    joint = ("type", "bodyid", "limited", "actfrclimited")
    site = ("bodyid", "type", "group")
    traits: dict[str, Hashable] = {
        # Terms look up bodies by name, so the names must match.
        "another kinematic tree": tuple(
            (
                _numbers(model, "body", b, ("parentid", "mocapid")),
                "" if model.body_parentid[b] == 0 else model.body(b).name,
            )
            for b in range(1, model.nbody)
        ),
        "other joints": tuple(
            (
                _numbers(model, "jnt", j, joint),
                "" if root_is_free and j == 0 else model.joint(j).name,
            )
            for j in range(model.njnt)
        ),
        "other sites": tuple(
            (
                model.site(s).name,
                _numbers(model, "site", s, site),
                tuple(model.site_size[s].tolist()),
            )
            for s in range(model.nsite)
        ),
    }
    for count, what in _APART.items():
        traits[what] = option if getattr(model, count) else None
    traits["geoms that cannot change"] = None if _can_merge(model) else option
    factor = cfg.articulation.soft_joint_pos_limit_factor
    traits["another soft_joint_pos_limit_factor"] = factor
    return traits


def _numbers(
    model: mujoco.MjModel, kind: str, element: int, fields: Sequence[str]
) -> tuple[int, ...]:
    """Return the values of an element in the model fields `<kind>_<field>`."""
    return tuple(int(getattr(model, f"{kind}_{field}")[element]) for field in fields)


def _can_merge(model: mujoco.MjModel) -> bool:
    in_world = bool((model.geom_bodyid == 0).any())
    types = {_GEOM(int(kind)) for kind in model.geom_type}
    has_fluid = bool((model.geom_fluid[:, 0] != 0.0).any())
    return not in_world and types <= _MERGEABLE and not has_fluid


def _slot(group: Sequence[_Option], name: str, first: _Option) -> VariantSlot:
    base = group[0]
    spec = base.spec
    spec.modelname = name
    keys = {
        base.model.geom(g).name: _key(base.model, g) for g in range(base.model.ngeom)
    }
    geoms = {base.name: {geom: geom for geom in keys}}
    assets = {base.name: ""}
    for option in group[1:]:
        assets[option.name] = f"{option.name}:"
        _attach_assets(spec, option.spec, assets[option.name])
        geoms[option.name] = _place_geoms(base, option, keys, assets[option.name])
    for body in _differing_simple(group):
        spec.body(base.model.body(body).name).simple = False
    return VariantSlot(
        name=name,
        cfg=base.cfg,
        spec=spec,
        geoms=geoms,
        assets=assets,
        difference=_difference(base, first),
    )


def _place_geoms(
    base: _Option, option: _Option, keys: dict[str, tuple[int, ...]], prefix: str
) -> GeomMap:
    """Find or add a geom of the slot for each geom of an option.

    Args:
        base: The option that the slot is made from; its spec is edited in place.
        option: The option.
        keys: Traits of the slot's geoms by name; extended by the added geoms.
        prefix: Prefix of the names of the option's meshes.
    """
    placed: GeomMap = {}
    last: dict[int, int] = {}
    for geom in range(option.model.ngeom):
        own, key = option.model.geom(geom).name, _key(option.model, geom)
        body = int(option.model.geom_bodyid[geom])
        # In the option's own order: contacts follow the order of geoms, and forces are
        # summed in the order of contacts.
        names = list(keys)[last.get(body, 0) :]
        free = [name for name in names if keys[name] == key]
        name = free[0] if free else _new_name(own, option.name, keys)
        if not free:
            keys[name] = key
            _add_geom(base, name, option, geom, prefix)
        placed[name] = own
        last[body] = list(keys).index(name) + 1
    return placed


def _key(model: mujoco.MjModel, geom: int) -> tuple[int, ...]:
    return _numbers(model, "geom", geom, ("bodyid", *_GEOM_KEY))


def _new_name(own: str, option: str, taken: dict[str, tuple[int, ...]]) -> str:
    name = own if own not in taken else f"{option}_{own}"
    while name in taken:
        name += "_"
    return name


def _add_geom(
    base: _Option, name: str, option: _Option, geom: int, prefix: str
) -> None:
    """Add a geom with the traits that the engine needs; values are set per world."""
    model = option.model
    body = base.model.body(int(model.geom_bodyid[geom])).name
    shared = dict(zip(_GEOM_KEY, _numbers(model, "geom", geom, _GEOM_KEY), strict=True))
    size = model.geom_size[geom].tolist()
    added = base.spec.body(body).add_geom(name=name, size=size, density=0.0, **shared)
    mesh = int(model.geom_dataid[geom])
    if mesh >= 0 and added.type == _GEOM.mjGEOM_MESH:
        added.meshname = prefix + model.mesh(mesh).name


def _attach_assets(spec: mujoco.MjSpec, source: mujoco.MjSpec, prefix: str) -> None:
    """Copy all meshes, materials and textures of a spec."""
    carrier = source.copy()
    for body in list(carrier.worldbody.bodies):
        carrier.delete(body)
    for key in list(carrier.keys):
        carrier.delete(key)
    spec.attach(carrier, prefix=prefix, frame=spec.worldbody.add_frame())


def _differing_simple(group: Sequence[_Option]) -> list[int]:
    """Return bodies whose inertia is simple in some options only.

    MuJoCo's optimisation for simple inertia must be on or off in all worlds.
    """
    flags = zip(*(option.model.body_simple.tolist() for option in group), strict=True)
    return [body for body, simple in enumerate(flags) if body and len(set(simple)) > 1]


def _difference(option: _Option, first: _Option) -> str:
    if option is first:
        return ""
    differing = (w for w, trait in option.traits.items() if trait != first.traits[w])
    words = next(differing, None)
    if words is None:
        return ""
    if option.traits[words] is None:
        words = f"no {words}"
    return f"{option.name!r} has {words}"


# --- Values of model fields ----------------------------------------------------------


def owned(model: mujoco.MjModel, kind: str, name: str) -> list[int]:
    """Return the ids of an entity's elements of a kind, such as "geom" or "dof"."""
    if kind == "dof":
        joints = set(owned(model, "jnt", name))
        return [d for d in range(model.nv) if int(model.dof_jntid[d]) in joints]
    return list(places_of(model, kind, f"{name}/").values())


@dataclass(frozen=True, eq=False)
class Places:
    """Ids of one option's elements in the scene, and in the option's own model."""

    entity: str
    """Name of the entity in `single`."""

    slot: VariantSlot
    """Slot of the option in the scene."""

    option: str
    """Name of the option."""

    scene: mujoco.MjModel
    """Compiled scene with all options."""

    single: mujoco.MjModel
    """Compiled scene in which the entity is this option in every world."""

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
        """Return a row of a field of `single`, with values that are valid in the scene.

        Ids of meshes and materials are converted, because they differ between the two
        models.
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
        """Copy the values of all options from their own compiled scenes.

        Args:
            entity: Name of the entity.
            slots: Slots of its options in the scene.
            options: The options, in the order of the tables' choices; the last,
                additional choice leaves the entity out.
            scene: The compiled scene.
            singles: By option, the compiled scene in which the entity is this option.
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
        """Restrict each body's geom range to the geoms in use, if contiguous."""
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
        # Joints of the nearly massless slot get the inertia of the original mass as
        # armature, so that the solver's conditioning does not change.
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

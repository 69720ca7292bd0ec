"""Slots for the options of an entity that differs between worlds.

Engines support different geom sizes, poses and meshes per world, but bodies, joints and
geom types are common to all worlds. Options with the same bodies and joints share a
slot: one entity with a geom for each shape that an option needs. An option with another
kinematic tree has a separate slot, which is inactive in the other worlds.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import mujoco

from mjlab.entity import EntityCfg, build_entity

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


class VariantsError(ValueError):
    """Invalid variants of an entity."""


GeomMap = dict[str, str]
"""Map from the geom names of a slot to those of an option."""


@dataclass(frozen=True, eq=False)
class VariantSlot:
    """Entity of the scene that represents one or several options."""

    name: str
    """Name of the entity in the scene."""

    cfg: EntityCfg
    """The entity: that of the first option."""

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
        # Terms look up a body within the root body by name.
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

    MuJoCo uses an optimisation for bodies with simple inertia, in all worlds or none.
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

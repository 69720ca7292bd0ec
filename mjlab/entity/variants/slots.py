"""From objects to the entities that stand for them: a slot for each kind of tree.

Engines let a world's geoms have another size, pose and mesh, but every world has the
same bodies, joints and geom types. Options with the same bodies and joints share a
slot: one entity with a geom for each shape that one of them has. An option whose tree
is another gets a slot of its own, which lies idle in the worlds of the others.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import mujoco

from mjlab.entity.build import build_entity
from mjlab.entity.config import EntityCfg
from mjlab.entity.variants.config import VariantsCfg

_FREE = int(mujoco.mjtJoint.mjJNT_FREE)
_GEOM = mujoco.mjtGeom
_MERGEABLE = {
    _GEOM.mjGEOM_SPHERE,
    _GEOM.mjGEOM_CAPSULE,
    _GEOM.mjGEOM_ELLIPSOID,
    _GEOM.mjGEOM_CYLINDER,
    _GEOM.mjGEOM_BOX,
    _GEOM.mjGEOM_MESH,
}
_GEOM_KEY = "bodyid type contype conaffinity condim priority group".split()
# Kinds of which an option has none, if it shares a slot.
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

GeomMap = dict[str, str]
"""From the names of a slot's geoms to those of an option's own."""


@dataclass(frozen=True, eq=False)
class Slot:
    """One entity of the scene that stands for one option, or for several."""

    name: str
    """Name of the entity in the scene."""

    cfg: EntityCfg
    """The entity: that of the first option."""

    spec: mujoco.MjSpec
    """What is attached to the scene."""

    geoms: dict[str, GeomMap]
    """Which geoms each option has, by option."""

    assets: dict[str, str]
    """What is put before the names of each option's meshes and materials."""

    difference: str
    """Why the options are not in the first slot; empty for the first slot itself."""

    @property
    def options(self) -> tuple[str, ...]:
        """Names of the options that the slot stands for."""
        return tuple(self.geoms)


@dataclass(frozen=True, eq=False)
class _Option:
    """An option, built and compiled alone."""

    name: str
    cfg: EntityCfg
    spec: mujoco.MjSpec
    model: mujoco.MjModel
    traits: dict[str, Hashable]


def build_slots(cfg: VariantsCfg, name: str) -> list[Slot]:
    """Build the options and put those with the same tree together.

    Args:
        cfg: The variants, checked.
        name: Name of the entity.
    """
    groups: list[list[_Option]] = []
    for option, entity_cfg in cfg.options.items():
        built = _build_option(option, entity_cfg, name)
        for group in groups:
            if group[0].traits == built.traits:
                group.append(built)
                break
        else:
            groups.append([built])
    alone = len(groups) == 1
    return [
        _slot(group, name if alone else _slot_name(name, group), groups[0])
        for group in groups
    ]


def _build_option(option: str, cfg: EntityCfg, name: str) -> _Option:
    try:
        spec = build_entity(cfg, name)
    except (ValueError, OSError, TypeError) as error:
        error.add_note(f"It was being built as the option {option!r}.")
        raise
    model = spec.compile()
    return _Option(option, cfg, spec, model, _traits(option, cfg, model))


def _slot_name(name: str, group: Sequence[_Option]) -> str:
    return f"{name}.{'+'.join(option.name for option in group)}"


def _traits(option: str, cfg: EntityCfg, model: mujoco.MjModel) -> dict[str, Hashable]:
    """What options have to agree on to share a slot, under the words for it."""
    bodies, joints = range(1, model.nbody), range(model.njnt)
    sites = range(model.nsite)
    root_is_free = model.njnt > 0 and int(model.jnt_type[0]) == _FREE
    traits: dict[str, Hashable] = {}
    traits["another tree of bodies"] = tuple(
        (int(model.body_parentid[b]), int(model.body_mocapid[b]), _inner(model, b))
        for b in bodies
    )
    traits["other joints"] = tuple(
        (
            int(model.jnt_type[j]),
            int(model.jnt_bodyid[j]),
            int(model.jnt_limited[j]),
            int(model.jnt_actfrclimited[j]),
            "" if root_is_free and j == 0 else model.joint(j).name,
        )
        for j in joints
    )
    traits["other sites"] = tuple(
        (
            model.site(s).name,
            int(model.site_bodyid[s]),
            int(model.site_type[s]),
            int(model.site_group[s]),
            tuple(model.site_size[s].tolist()),
        )
        for s in sites
    )
    for count, what in _APART.items():
        traits[f"{what} of its own"] = option if getattr(model, count) else None
    traits["geoms that cannot change"] = None if _can_merge(model) else option
    factor = cfg.articulation.soft_joint_pos_limit_factor
    traits["another soft_joint_pos_limit_factor"] = factor
    return traits


def _inner(model: mujoco.MjModel, body: int) -> str:
    """The name of a body inside the root body, by which terms find it."""
    return "" if model.body_parentid[body] == 0 else model.body(body).name


def _can_merge(model: mujoco.MjModel) -> bool:
    in_world = bool((model.geom_bodyid == 0).any())
    types = {_GEOM(int(kind)) for kind in model.geom_type}
    has_fluid = bool((model.geom_fluid[:, 0] != 0.0).any())
    return not in_world and types <= _MERGEABLE and not has_fluid


def _slot(group: Sequence[_Option], name: str, first: Sequence[_Option]) -> Slot:
    base = group[0]
    spec = base.spec
    spec.modelname = name
    keys = {base.model.geom(g).name: _key(base.model, g) for g in _geoms(base.model)}
    geoms = {base.name: {geom: geom for geom in keys}}
    assets = {base.name: ""}
    for option in group[1:]:
        assets[option.name] = f"{option.name}:"
        _attach_assets(spec, option.spec, assets[option.name])
        geoms[option.name] = _place_geoms(base, option, keys, assets[option.name])
    for body in _differing_simple(group):
        spec.body(base.model.body(body).name).simple = False
    return Slot(
        name=name,
        cfg=base.cfg,
        spec=spec,
        geoms=geoms,
        assets=assets,
        difference=_difference(base, first[0]),
    )


def _geoms(model: mujoco.MjModel) -> range:
    return range(model.ngeom)


def _key(model: mujoco.MjModel, geom: int) -> tuple[int, ...]:
    """What geoms have to agree on for one of them to stand for the other."""
    return tuple(int(getattr(model, f"geom_{part}")[geom]) for part in _GEOM_KEY)


def _place_geoms(
    base: _Option,
    option: _Option,
    keys: dict[str, tuple[int, ...]],
    prefix: str,
) -> GeomMap:
    """Find a geom of the slot for each of an option's, or add one.

    Args:
        base: The option that the slot is made from; its spec is edited in place.
        option: The option.
        keys: What the slot's geoms are, by name; extended by those that are added.
        prefix: What is put before the names of the option's meshes.
    """
    placed: GeomMap = {}
    last: dict[int, int] = {}
    for geom in _geoms(option.model):
        own, key = option.model.geom(geom).name, _key(option.model, geom)
        body = int(option.model.geom_bodyid[geom])
        # In the option's own order: contacts come in the order of geoms, and their
        # forces are added up in that of contacts.
        names = list(keys)[last.get(body, 0) :]
        free = [name for name in names if keys[name] == key]
        name = free[0] if free else _new_name(own, option.name, keys)
        if not free:
            keys[name] = key
            _add_geom(base, name, option, geom, prefix)
        placed[name] = own
        last[body] = list(keys).index(name) + 1
    return placed


def _new_name(own: str, option: str, taken: dict[str, tuple[int, ...]]) -> str:
    name = own if own not in taken else f"{option}_{own}"
    while name in taken:
        name += "_"
    return name


def _add_geom(
    base: _Option, name: str, option: _Option, geom: int, prefix: str
) -> None:
    """Add what the engine has to know of a geom; its numbers come world by world."""
    model = option.model
    body = base.model.body(int(model.geom_bodyid[geom])).name
    added = base.spec.body(body).add_geom(
        name=name,
        type=_GEOM(int(model.geom_type[geom])),
        size=model.geom_size[geom].tolist(),
        contype=int(model.geom_contype[geom]),
        conaffinity=int(model.geom_conaffinity[geom]),
        condim=int(model.geom_condim[geom]),
        priority=int(model.geom_priority[geom]),
        group=int(model.geom_group[geom]),
        density=0.0,
    )
    if int(model.geom_dataid[geom]) >= 0 and added.type == _GEOM.mjGEOM_MESH:
        added.meshname = prefix + model.mesh(int(model.geom_dataid[geom])).name


def _attach_assets(spec: mujoco.MjSpec, source: mujoco.MjSpec, prefix: str) -> None:
    """Take over all meshes, materials and textures of a spec, and nothing else."""
    carrier = source.copy()
    for body in list(carrier.worldbody.bodies):
        carrier.delete(body)
    for key in list(carrier.keys):
        carrier.delete(key)
    spec.attach(carrier, prefix=prefix, frame=spec.worldbody.add_frame())


def _differing_simple(group: Sequence[_Option]) -> list[int]:
    """Bodies whose inertia has a simple form in some options and not in others.

    MuJoCo takes short cuts for a body of simple inertia, in all worlds or in none.
    """
    flags = [option.model.body_simple.tolist() for option in group]
    bodies = range(1, group[0].model.nbody)
    return [b for b in bodies if len({simple[b] for simple in flags}) > 1]


def _difference(option: _Option, first: _Option) -> str:
    if option is first:
        return ""
    for words, trait in option.traits.items():
        if trait != first.traits[words]:
            has = (
                words
                if trait is not None
                else f"no {words.removesuffix(' of its own')}"
            )
            return f"{option.name!r} has {has}"
    return ""

"""Build one MjSpec from a scene's configuration, on the CPU."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import mujoco

from mjlab.entity import (
    BuiltModel,
    EntityCfg,
    build_model,
    build_roots,
    entities_from,
)
from mjlab.names import match_names
from mjlab.scene.config import ContactPairCfg, PerWorldEntityCfg, SceneCfg
from mjlab.scene.per_world import PerWorldSpec
from mjlab.sensor import ContactMatch, ContactSensorCfg
from mjlab.settings.bounds import check_numbers
from mjlab.spec import (
    add_keyframe,
    attach_spec,
    merge_keyframes,
    take_keyframes,
    write_spec,
)
from mjlab.terrain import Terrain, build_terrain

KEYFRAME = "init_state"
"""Name of the keyframe that holds the initial state of all entities."""


class SceneError(ValueError):
    """Raised for a scene that cannot be composed."""


PairKey = tuple[str, str | None]
"""Names of two bodies or entities. The second is None for contacts with anything."""


class ContactPairError(ValueError):
    """Raised for a contact pair whose force cannot be measured."""


@dataclass(frozen=True)
class SceneSpec:
    """A composed scene, ready to be compiled."""

    spec: mujoco.MjSpec
    """The whole scene."""

    terrain: Terrain | None
    """The ground, with its spawn origins, flat patches and bounds."""

    pairs: dict[PairKey, ContactSensorCfg] = field(default_factory=dict)
    """Contact sensor of each pair. It measures the net contact force on the second side
    of the pair, in world axes."""

    variants: dict[str, PerWorldSpec] = field(default_factory=dict)
    """Attached specs of the entities that differ between worlds, by entity name."""

    models: dict[str, BuiltModel] = field(default_factory=dict)
    """Attached models of the other entities, by name prefix, such as "robot/"."""

    entities: dict[str, EntityCfg | PerWorldEntityCfg] = field(default_factory=dict)
    """All entities, including the entities of the scene's own file."""

    def write(self, path: str | Path, *, zip: bool = False) -> Path:
        """Export the scene as MJCF with the files it refers to."""
        return write_spec(self.spec, path, zip=zip)


def build_scene(cfg: SceneCfg, *, seed: int = 0) -> SceneSpec:
    """Compose the ground, the entities and the sensors into one spec.

    Args:
        cfg: The scene.
        seed: Seed of the terrain, unless the terrain generator sets a seed.
    """
    check_scene(cfg)
    entities = entities_of(cfg)
    models: dict[str, BuiltModel] = {}
    rooted = {n: e for n, e in entities.items() if isinstance(e, EntityCfg) and e.root}
    keyframes = []
    source = next((entity.source for entity in rooted.values()), cfg.source)
    if source is not None:
        models[""] = build_roots(source, rooted, whole=cfg.source is not None)
        keyframes.append(models[""].state)
    spec = models[""].spec if models else mujoco.MjSpec()
    spec.modelname = "scene"
    terrain = None
    if cfg.terrain is not None:
        terrain = build_terrain(cfg.terrain, seed=seed, spec=spec)
    variants: dict[str, PerWorldSpec] = {}
    for name, entity_cfg in entities.items():
        if isinstance(entity_cfg, PerWorldEntityCfg):
            variants[name] = entity_cfg.build(name, cfg)
            for member, its_spec in variants[name].specs.items():
                keyframes += take_keyframes(its_spec)
                attach_spec(spec, its_spec, prefix=f"{member}/")
        elif name not in rooted:
            built = models[f"{name}/"] = build_model(entity_cfg, name)
            keyframes.append(built.state)
            attach_spec(spec, built.spec, prefix=f"{name}/")
    for sensor in cfg.sensors:
        sensor.edit_spec(spec)
    groups = {name: list(built.specs) for name, built in variants.items()}
    pairs = build_pairs(cfg.contact_pairs, spec, groups)
    _set_extent(spec, cfg, terrain)
    if cfg.spec_fn is not None:
        cfg.spec_fn(spec)
    if keyframes:
        add_keyframe(spec, merge_keyframes(KEYFRAME, keyframes))
    return SceneSpec(spec, terrain, pairs, variants, models, entities)


def entities_of(cfg: SceneCfg) -> dict[str, EntityCfg | PerWorldEntityCfg]:
    """Return all entities of a scene, from its file and from its configuration."""
    found = dict(cfg.entities)
    rooted = [e for e in found.values() if isinstance(e, EntityCfg) and e.root]
    taken = {entity.root for entity in rooted}
    if cfg.source is not None:
        whole = entities_from(cfg.source)
        found = {n: e for n, e in whole.items() if e.root not in taken} | found
    files = [cfg.source, *(e.source for e in rooted)][cfg.source is None :]
    if any(file != files[0] for file in files):
        raise SceneError(
            "Entities with `root` set, and SceneCfg.source, have to name one file, not "
            f"{' and '.join(dict.fromkeys(map(repr, files)))}."
        )
    return found


def check_scene(cfg: SceneCfg) -> None:
    """Raise if the configuration is invalid, before anything is built."""
    check_numbers(cfg, "scene")
    seen: set[str] = set()
    for name in [*cfg.entities, *(sensor.name for sensor in cfg.sensors)]:
        if not name or "/" in name:
            raise SceneError(
                f"{name!r} is not a valid name of an entity or sensor: use a non-empty "
                "one without '/', the separator in names such as 'robot/foot'."
            )
        if name in seen:
            raise SceneError(
                f"Two entities or sensors of the scene are called {name!r}. Names have "
                "to be unique across entities and sensors: rename one of them."
            )
        seen.add(name)
    for name, entity_cfg in cfg.entities.items():
        if isinstance(entity_cfg, PerWorldEntityCfg):
            entity_cfg.check(name, cfg.num_envs)


def _set_extent(spec: mujoco.MjSpec, cfg: SceneCfg, terrain: Terrain | None) -> None:
    """Set the extent for viewers' cameras.

    With the extent of a whole terrain, near objects would be clipped.
    """
    if cfg.extent is not None:
        spec.stat.extent = cfg.extent
    elif terrain is not None and terrain.num_rows * terrain.num_cols > 1:
        spec.stat.extent = max(terrain.size)


def build_pairs(
    cfgs: Sequence[ContactPairCfg],
    spec: mujoco.MjSpec,
    groups: Mapping[str, Sequence[str]],
) -> dict[PairKey, ContactSensorCfg]:
    """Add a sensor to the spec for each pair of names that the patterns match.

    Args:
        cfgs: The pairs.
        spec: The scene with its entities, edited in place.
        groups: Members of each entity that differs between worlds, by entity name.
    """
    found: dict[PairKey, ContactSensorCfg] = {}
    for cfg in cfgs:
        for first, second in _pairs_of(cfg, spec, groups):
            if (first, second) not in found and (second, first) not in found:
                found[first, second] = _pair_sensor(first, second, spec)
    for sensor in found.values():
        sensor.edit_spec(spec)
    return found


def _pairs_of(
    cfg: ContactPairCfg, spec: mujoco.MjSpec, groups: Mapping[str, Sequence[str]]
) -> Sequence[PairKey]:
    firsts = _matched(cfg.first, spec, groups)
    if cfg.second is None:
        return [(first, None) for first in firsts]
    seconds = _matched(cfg.second, spec, groups)
    pairs = [(a, b) for a in firsts for b in seconds if a != b]
    if not pairs:
        raise ContactPairError(
            f"ContactPairCfg(first={cfg.first!r}, second={cfg.second!r}) matches "
            f"only {firsts[0]!r} on both sides; first and second have to differ."
        )
    for first, second in pairs:
        if second.split("/")[0] == first or first.split("/")[0] == second:
            raise ContactPairError(
                f"In the pair {first!r} and {second!r}, one contains the other; name "
                "two bodies."
            )
    return pairs


def _matched(
    patterns: str | tuple[str, ...],
    spec: mujoco.MjSpec,
    groups: Mapping[str, Sequence[str]],
) -> list[str]:
    """Return matching names. Only patterns with a slash match bodies of entities.

    So `cube.*` matches the entities cube_1 and cube_2, but not their bodies.
    """
    bodies = [body.name for body in spec.bodies if body.name]
    entities = dict.fromkeys(n.split("/")[0] for n in bodies if "/" in n)
    whole = [*groups, *entities, *(name for name in bodies if "/" not in name)]
    parts = [name for name in bodies if "/" in name]
    listed = [patterns] if isinstance(patterns, str) else list(patterns)
    what = "body or entity"
    names: dict[str, None] = {}
    for pattern in listed:
        pool = parts if "/" in pattern else whole
        for index in match_names(pattern, pool, what=what, owner="scene"):
            names |= dict.fromkeys(groups.get(pool[index], [pool[index]]))
    return list(names)


def _pair_sensor(
    first: str, second: str | None, spec: mujoco.MjSpec
) -> ContactSensorCfg:
    # Without a second side, contacts between two links of one entity would count for
    # only one of them. So each link is measured, and the forces are summed.
    primary = _links(first, spec) if second is None else _match(first, spec)
    return ContactSensorCfg(
        name=f"contact_force({first}, {second or 'anything'})",
        primary=primary,
        secondary=None if second is None else _match(second, spec),
        fields=("force",),
        reduce="netforce",
    )


def _match(name: str, spec: mujoco.MjSpec) -> ContactMatch:
    """Match a single body, or the subtree of an entity's root body."""
    if any(body.name == name for body in spec.bodies):
        return ContactMatch(mode="body", pattern=re.escape(name))
    roots = [b.name for b in spec.worldbody.bodies if b.name.startswith(f"{name}/")]
    return ContactMatch(mode="subtree", pattern=re.escape(roots[0]))


def _links(name: str, spec: mujoco.MjSpec) -> ContactMatch:
    """Match a body, or all bodies of an entity that have geoms."""
    if any(body.name == name for body in spec.bodies):
        return ContactMatch(mode="body", pattern=re.escape(name))
    links = [b.name for b in spec.bodies if b.name.startswith(f"{name}/") and b.geoms]
    if not links:
        raise ContactPairError(
            f"The entity {name!r} has no body with a geom, so it has no contacts."
        )
    return ContactMatch(mode="body", pattern=tuple(map(re.escape, links)))

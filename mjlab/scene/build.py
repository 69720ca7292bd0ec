"""From a scene's configuration to one MjSpec, on the CPU."""

from dataclasses import dataclass, field
from pathlib import Path

import mujoco

from mjlab.entity import (
    VariantsCfg,
    VariantSlot,
    build_entity,
    build_slots,
    check_variants,
)
from mjlab.names import suggest
from mjlab.scene.config import SceneCfg
from mjlab.scene.pairs import ContactPair, build_pairs
from mjlab.spec import (
    add_keyframe,
    attach_spec,
    default_keyframe,
    merge_keyframes,
    take_keyframes,
    write_spec,
)
from mjlab.terrain import Terrain, build_terrain

KEYFRAME = "init_state"
"""Name of the keyframe that holds the initial state of all entities."""


class SceneError(ValueError):
    """A scene that cannot be composed."""


@dataclass(frozen=True)
class SceneSpec:
    """A composed scene, ready to be compiled."""

    spec: mujoco.MjSpec
    """The whole scene."""

    terrain: Terrain | None
    """The ground, with what is known of it."""

    pairs: tuple[ContactPair, ...] = ()
    """Pairs whose contact force is measured."""

    variants: dict[str, tuple[VariantSlot, ...]] = field(default_factory=dict)
    """What stands for the options of entities that are another object in each world."""

    def write(self, path: str | Path, *, zip: bool = False) -> Path:
        """Export the scene as MJCF with the files it refers to."""
        return write_spec(self.spec, path, zip=zip)


def build_scene(cfg: SceneCfg, *, seed: int = 0) -> SceneSpec:
    """Compose the ground, the entities and the sensors into one spec.

    Args:
        cfg: The scene.
        seed: Seed of the terrain, unless its generator has its own.
    """
    check_scene(cfg)
    spec = mujoco.MjSpec()
    spec.modelname = "scene"
    terrain = None
    if cfg.terrain is not None:
        terrain = build_terrain(cfg.terrain, seed=seed, spec=spec)
    keyframes = []
    variants: dict[str, tuple[VariantSlot, ...]] = {}
    for name, entity_cfg in cfg.entities.items():
        if isinstance(entity_cfg, VariantsCfg):
            variants[name] = tuple(build_slots(entity_cfg, name))
            parts = {slot.name: slot.spec for slot in variants[name]}
        else:
            parts = {name: build_entity(entity_cfg, name)}
        for part, entity in parts.items():
            found = take_keyframes(entity)
            keyframes.append(found[0] if found else default_keyframe(entity.compile()))
            attach_spec(spec, entity, prefix=f"{part}/")
    for sensor in cfg.sensors:
        sensor.edit_spec(spec)
    groups = {name: [s.name for s in slots] for name, slots in variants.items()}
    pairs = build_pairs(cfg.contact_pairs, spec, groups)
    _set_extent(spec, cfg, terrain)
    if cfg.edit_spec is not None:
        cfg.edit_spec(spec)
    if keyframes:
        add_keyframe(spec, merge_keyframes(KEYFRAME, keyframes))
    return SceneSpec(spec, terrain, pairs, variants)


def check_scene(cfg: SceneCfg) -> None:
    """Raise for what has no meaning, before anything is built."""
    if cfg.num_envs < 1:
        raise SceneError(f"scene.num_envs={cfg.num_envs} has to be 1 or more.")
    if cfg.env_spacing < 0.0:
        raise SceneError(f"scene.env_spacing={cfg.env_spacing} has to be 0 or more.")
    if cfg.extent is not None and cfg.extent <= 0.0:
        raise SceneError(f"scene.extent={cfg.extent} has to be positive.")
    seen: set[str] = set()
    for name in [*cfg.entities, *(sensor.name for sensor in cfg.sensors)]:
        if not name or "/" in name:
            raise SceneError(
                f"{name!r} is no name for an entity or sensor: it has to be non-empty "
                "and without '/', which parts an entity from its elements."
            )
        if name in seen:
            raise SceneError(
                f"The scene has two things called {name!r}. Entities and sensors share "
                "one set of names, so that scene[name] is one thing. "
                + suggest(name, [*cfg.entities, *(s.name for s in cfg.sensors)])
            )
        seen.add(name)
    for name, entity_cfg in cfg.entities.items():
        if isinstance(entity_cfg, VariantsCfg):
            check_variants(entity_cfg, name, cfg.num_envs)


def _set_extent(spec: mujoco.MjSpec, cfg: SceneCfg, terrain: Terrain | None) -> None:
    """Choose what viewers' cameras see; a whole terrain would clip what is near."""
    if cfg.extent is not None:
        spec.stat.extent = cfg.extent
    elif terrain is not None and terrain.num_rows * terrain.num_cols > 1:
        spec.stat.extent = max(terrain.size)

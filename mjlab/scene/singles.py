"""Compiling each option of an entity alone: what its worlds are to be like."""

import dataclasses

import mujoco

from mjlab.entity import EntityCfg, VariantsCfg, VariantSlot
from mjlab.scene.build import SceneError, build_scene
from mjlab.scene.config import SceneCfg
from mjlab.scene.variant_tables import owned
from mjlab.sim import Simulation, compile_model


def compile_singles(
    cfg: SceneCfg, name: str, slots: tuple[VariantSlot, ...], sim: Simulation
) -> dict[str, mujoco.MjModel]:
    """Compile, for each option, a scene in which it is the entity in every world.

    Args:
        cfg: The scene with all options.
        name: Name of the entity.
        slots: What stands for the options.
        sim: The simulation of the scene with all options.
    """
    variants = cfg.entities[name]
    assert isinstance(variants, VariantsCfg), name
    return {
        option: _compile(cfg, name, option, variants.options[option], slot, sim)
        for slot in slots
        for option in slot.options
    }


def _compile(
    cfg: SceneCfg,
    name: str,
    option: str,
    entity: EntityCfg,
    slot: VariantSlot,
    sim: Simulation,
) -> mujoco.MjModel:
    try:
        spec = build_scene(_single(cfg, name, entity)).spec
    except Exception as error:
        if cfg.edit_spec is None:
            raise
        raise SceneError(
            f"scene.edit_spec has to work for each option of the entity {name!r} "
            f"alone, since that is where its numbers come from; with {option!r} it "
            f"raised {type(error).__name__}: {error}"
        ) from error
    bodies = owned(sim.mj_model, "body", slot.name)
    own = [body for body in spec.bodies if body.name.startswith(f"{name}/")]
    for body, its in zip(own, bodies, strict=True):
        # MuJoCo's short cut holds for all options of a slot, or for none.
        if not sim.mj_model.body_simple[its]:
            body.simple = False
    return compile_model(spec, sim.cfg)


def _single(cfg: SceneCfg, name: str, entity: EntityCfg) -> SceneCfg:
    """The scene with one option as the entity, and with as little else as will do."""
    if cfg.edit_spec is None:
        return SceneCfg(entities={name: entity})
    others = {
        other: next(iter(its.options.values())) if isinstance(its, VariantsCfg) else its
        for other, its in cfg.entities.items()
    }
    return dataclasses.replace(
        cfg, entities={**others, name: entity}, sensors=(), contact_pairs=()
    )

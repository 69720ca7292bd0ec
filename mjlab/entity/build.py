"""Functions that build the spec of an entity from its configuration."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from mjlab.actuator import ActuatorCfg, resolve_targets
from mjlab.entity.base import (
    base_pose,
    check_root,
    is_floating,
    make_floating,
    make_placeable,
)
from mjlab.entity.config import EntityCfg
from mjlab.entity.initial import Member, initial_state, part_of, take_keys
from mjlab.mujoco_log import ModelFileError, compile_spec
from mjlab.names import find_name
from mjlab.sim import authored_options
from mjlab.spec import (
    AttachedModel,
    Keyframe,
    SpecPart,
    SpecSource,
    add_keyframe,
    apply_edits,
    keep_compiled,
    load_spec,
)

ACTUATORS_TEXT = "mjlab_actuators"
"""Name of the text element that lists the actuators of each actuator configuration."""

_KINDS = "body joint geom site camera light tendon actuator sensor pair exclude".split()
_PLURALS = {"body": "bodies"} | {kind: f"{kind}s" for kind in _KINDS[1:]}
_PLURALS["equality"] = "equalities"
"""MjSpec attribute that lists the elements of each kind, for kinds with names."""


@dataclass(frozen=True, kw_only=True)
class BuiltModel:
    """A model with its configuration applied, ready to be attached to a scene."""

    spec: mujoco.MjSpec
    """The model, without keyframes."""

    state: Keyframe
    """Initial state, as a complete keyframe."""

    file: mujoco.MjModel
    """The model compiled alone, before it is changed for attachment to a scene."""

    authored: dict[str, Any]
    """MuJoCo options that the file sets, with the names of `MujocoCfg`."""


def build_entity(cfg: EntityCfg, name: str) -> mujoco.MjSpec:
    """Build the spec of an entity: its model with all edits, actuators and a keyframe.

    Every element has a name. The keyframe is the initial state. A scene removes it with
    `take_keyframes` and merges it with the keyframes of other entities.

    Args:
        cfg: The entity. Neither it nor its source is changed.
        name: Name of the entity. In a scene, its elements are named "<name>/<element>".
    """
    built = build_model(cfg, name)
    built.spec.compile()  # Needed for the sizes of the keyframe.
    add_keyframe(built.spec, built.state)
    return built.spec


def build_model(cfg: EntityCfg, name: str) -> BuiltModel:
    """Build the model of an entity, ready to be attached to a scene."""
    if not name or "/" in name:
        raise ValueError(
            f"{name!r} is not a valid entity name: use a non-empty name without '/'."
        )
    try:
        return _build(cfg, name)
    except (ValueError, OSError, TypeError) as error:
        source = cfg.source
        is_named = not isinstance(source, str | Path) or str(source) in str(error)
        file = "" if is_named else f" from {str(source)!r}"
        error.add_note(f"This error occurred while building the entity {name!r}{file}.")
        raise


def _build(cfg: EntityCfg, name: str) -> BuiltModel:
    spec = _load(cfg.source)
    spec.modelname = name
    check_root(spec, name)
    keys, num_own_actuators = take_keys(spec), len(spec.actuators)
    _edit(cfg, name, spec, spec.worldbody.bodies)
    _add_actuators(spec, cfg.articulation.actuators, name, ACTUATORS_TEXT)
    name_elements(spec)
    file = compile_spec(spec)
    authored = authored_options(spec)
    keep_compiled(spec, file)
    if not is_floating(spec):
        spec = make_placeable(spec)
    state = initial_state(
        {name: Member(cfg=cfg.init_state, joints=list(range(file.njnt)))},
        file,
        keys,
        num_own_actuators=num_own_actuators,
        base=base_pose(spec, file),
    )
    return BuiltModel(spec=spec, state=state, file=file, authored=authored)


def build_roots(
    source: SpecSource, cfgs: Mapping[str, EntityCfg], *, whole: bool
) -> BuiltModel:
    """Build a model of several entities, each of which is the subtree of a root body.

    Elements keep their names, because MjSpec does not update the references of tendons,
    pairs and actuators when an element is renamed (mujoco 4.0.0).

    Args:
        source: The model.
        cfgs: The entities, by name.
        whole: Keep root bodies that belong to no entity.
    """
    spec = _load(source)
    roots = {body.name: body for body in spec.worldbody.bodies}
    for name, cfg in cfgs.items():
        find_name(cfg.root or "", list(roots), what="root body", owner=name)
    keys = take_keys(spec)
    left_out = roots.keys() - {cfg.root for cfg in cfgs.values()}
    before = compile_spec(spec) if keys and left_out and not whole else None
    for body in () if whole else [roots[name] for name in left_out]:
        spec.delete(body)
    num_own_actuators = len(spec.actuators)
    for name, cfg in cfgs.items():
        part: Any = SpecPart(spec, roots[cfg.root or ""])
        _edit(cfg, name, part, [part.root])
        actuators = cfg.articulation.actuators
        _add_actuators(part, actuators, name, f"{name}/{ACTUATORS_TEXT}")
    name_elements(spec)
    file = compile_spec(spec)
    if before is not None:
        places = AttachedModel(file, before, "", "").state()
        there = {vector: rows for vector, (_, rows) in places.items()}
        keys = [part_of(key, there) for key in keys]
    authored = authored_options(spec)
    keep_compiled(spec, file)
    trees = file.body_rootid[file.jnt_bodyid]
    members = {
        name: Member(
            cfg=cfg.init_state,
            joints=np.flatnonzero(trees == file.body(cfg.root).id).tolist(),
        )
        for name, cfg in cfgs.items()
    }
    state = initial_state(
        members, file, keys, num_own_actuators=num_own_actuators, base=None
    )
    return BuiltModel(spec=spec, state=state, file=file, authored=authored)


def entities_from(source: SpecSource) -> dict[str, EntityCfg]:
    """Return one entity for each root body of a model, by the name of the body.

    In a scene with all of these entities, elements that connect them are kept (tendons,
    constraints, exclusions, actuators, sensors, keyframes). If the scene omits an
    entity, its bodies and the elements connected to them are removed from the model.
    """
    bodies = _load(source).worldbody.bodies
    return {
        body.name.replace("/", "_"): EntityCfg(source=source, root=body.name)
        for body in bodies
    }


def _load(source: SpecSource) -> mujoco.MjSpec:
    """Load a model, and name all unnamed elements except actuators."""
    spec = load_spec(source)
    # URDF models fuse links without joints by default, which would drop their names.
    spec.compiler.fusestatic = False
    try:
        # Actuator configurations name unnamed actuators of the file.
        name_elements(spec, leave=("actuator",))
    except UnicodeDecodeError as error:
        raise ModelFileError(
            f"{source} has a name that is not valid UTF-8: {error}."
        ) from error
    return spec


def _edit(cfg: EntityCfg, name: str, spec: mujoco.MjSpec, roots: Sequence[Any]) -> None:
    if cfg.floating_base:
        make_floating(roots, name)
    edits = (cfg.textures, cfg.materials, cfg.meshes, cfg.collisions, cfg.geoms)
    for group in (*edits, cfg.lights, cfg.cameras):
        apply_edits(spec, group)


def name_elements(spec: mujoco.MjSpec, *, leave: tuple[str, ...] = ()) -> None:
    """Give unnamed elements the name "<kind>_<number>", in place.

    Args:
        spec: The entity.
        leave: Kinds to skip.
    """
    for kind, plural in _PLURALS.items():
        elements = getattr(spec, plural)
        taken = {element.name for element in elements}
        for number, element in enumerate(elements):
            if element.name or kind in leave:
                continue
            name = f"{kind}_{number}"
            while name in taken:
                name += "_"
            element.name = name
            taken.add(name)


def _add_actuators(
    spec: mujoco.MjSpec, cfgs: Sequence[ActuatorCfg], name: str, note: str
) -> None:
    """Add the actuators of the configurations, and record their names.

    The record lists the actuators of each configuration. It is stored as a text element
    of the spec, so that it is also in the compiled scene.
    """
    if not cfgs:
        return
    targets = resolve_targets(cfgs, spec, name)
    made = [
        {"targets": names, "actuators": cfg.add_to_spec(spec, names)}
        for cfg, names in zip(cfgs, targets, strict=True)
    ]
    spec.add_text(name=note, data=json.dumps(made))


def read_actuators(
    model: mujoco.MjModel, name: str
) -> list[tuple[list[str], list[str]]]:
    """Return the targets and the actuators of each configuration of an entity.

    Args:
        model: The compiled scene.
        name: Name of the entity. The returned names do not have its prefix.
    """
    text = mujoco.mj_name2id(
        model, mujoco.mjtObj.mjOBJ_TEXT, f"{name}/{ACTUATORS_TEXT}"
    )
    if text < 0:
        return []
    start, size = int(model.text_adr[text]), int(model.text_size[text])
    data = bytes(model.text_data[start : start + size]).rstrip(b"\0")
    return [(made["targets"], made["actuators"]) for made in json.loads(data)]

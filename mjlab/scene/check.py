"""Compare a compiled scene with the files from which it was built."""

import logging
from collections.abc import Iterator, Sequence

import mujoco
import numpy as np

from mjlab.entity import MOCAP_BASE, BuiltModel
from mjlab.scene.build import KEYFRAME, SceneError, SceneSpec
from mjlab.scene.config import SceneCfg
from mjlab.sim import read_options
from mjlab.spec import AttachedModel

_log = logging.getLogger(__name__)


class ChangedModelError(SceneError):
    """Raised if a model in the scene differs from its file and configuration."""


def check_models(cfg: SceneCfg, built: SceneSpec, scene: mujoco.MjModel) -> None:
    """Raise if a model in the scene differs from its file.

    Changes that the entity's configuration requests are expected. With a
    `SceneCfg.spec_fn`, which can change anything, differences are logged instead. The
    log also lists options of the file that the scene does not use, and changes that
    were necessary to attach the model.

    Args:
        cfg: The scene.
        built: Result of `build_scene` for it.
        scene: The compiled scene.
    """
    for prefix, model in built.models.items():
        name = prefix.removesuffix("/") or "scene"
        attached = AttachedModel(model.file, scene, prefix, MOCAP_BASE)
        found = [*attached.differences(), *_differing_state(model, attached)]
        if found:
            _refuse(name, found, may_be_asked=cfg.spec_fn is not None)
        changes = _changes(model, attached)
        if changes:
            _log.info("%r %s.", name, changes)
        if model.authored:
            _tell_options(name, model, scene)


def _refuse(name: str, found: Sequence[str], *, may_be_asked: bool) -> None:
    more = f"; and {len(found) - 3} more" if len(found) > 3 else ""
    message = f"{name!r} differs from its file: {'; '.join(found[:3])}{more}."
    if may_be_asked:
        _log.info("%s The scene's spec_fn may have changed it.", message)
        return
    raise ChangedModelError(
        f"{message} The entity's configuration does not request this change, so it is "
        "a bug in how mjlab or MuJoCo attaches a model to a scene."
    )


def _tell_options(name: str, model: BuiltModel, scene: mujoco.MjModel) -> None:
    decided = read_options(scene.opt)
    asked = {k: v for k, v in model.authored.items() if decided[k] != v}
    if asked:
        _log.warning(
            "The file of %r sets %s; SimulationCfg overrides that: %s. "
            "Use MujocoCfg.from_file(...) to adopt the options of a file.",
            name,
            ", ".join(f"{key} {_text(value)}" for key, value in asked.items()),
            ", ".join(f"{key} {_text(decided[key])}" for key in asked),
        )


def _text(value: object) -> str:
    if isinstance(value, tuple):
        return " ".join(map(_text, value)) or "none"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _changes(model: BuiltModel, attached: AttachedModel) -> str:
    """Return a description of the changes made by attaching, empty if none."""
    mocap = attached.scene.body_mocapid[attached.rows["body"]] >= 0
    if mocap.sum() == model.file.nmocap:
        return ""
    base = "has a new mocap body as parent" if mocap[0] else "has a mocap root body"
    pairs = len(attached.places["pair"]) - model.file.npair
    return (
        f"{base}, so that its pose can be set; {pairs} explicit contact pairs replace "
        "contacts that the mocap body disables"
    )


def _differing_state(model: BuiltModel, attached: AttachedModel) -> Iterator[str]:
    """Yield a message for each state vector with a different initial value."""
    start = attached.scene.key(KEYFRAME)
    for vector, (here, there) in attached.state().items():
        a, b = getattr(model.state, vector)[here], getattr(start, vector)[there]
        if not np.allclose(a, b, rtol=1e-9, atol=1e-12):
            yield f"its initial {vector} is {b} instead of {a}"

"""Attach specs, and merge their keyframes."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from mjlab.spec.edit import find_body

_log = logging.getLogger(__name__)

VECTORS = ("qpos", "qvel", "act", "ctrl", "mpos", "mquat")
"""Names of the state vectors of a keyframe."""

_VISUAL = [name for name in dir(mujoco.MjSpec().authored) if name.startswith("visual_")]
_SIZES = (
    "memory njmax nconmax nstack nuser_actuator nuser_body nuser_cam nuser_geom "
    "nuser_jnt nuser_sensor nuser_site nuser_tendon"
).split()


@dataclass(frozen=True, kw_only=True)
class Keyframe:
    """Complete state of one model: every vector has its full length."""

    name: str
    """Name of the keyframe."""

    time: float
    """Time, in seconds."""

    qpos: np.ndarray
    """Positions, shape (nq,)."""

    qvel: np.ndarray
    """Velocities, shape (nv,)."""

    act: np.ndarray
    """Activations of the actuators, shape (na,)."""

    ctrl: np.ndarray
    """Controls, shape (nu,)."""

    mpos: np.ndarray
    """Positions of the mocap bodies, shape (nmocap * 3,)."""

    mquat: np.ndarray
    """Orientations of the mocap bodies, wxyz, shape (nmocap * 4,)."""


def attach_spec(
    parent: mujoco.MjSpec,
    child: mujoco.MjSpec,
    *,
    prefix: str,
    pos: Sequence[float] = (0.0, 0.0, 0.0),
    quat: Sequence[float] = (1.0, 0.0, 0.0, 0.0),
    body: str | None = None,
) -> mujoco.MjsFrame:
    """Attach `child` to a body of `parent`, and return the attachment frame.

    Remove the child's keyframes first: MuJoCo would complete them with default
    positions of all other elements.

    Args:
        parent: Spec that receives the child, edited in place.
        child: Spec to attach. It is unusable afterwards, because MuJoCo can move its
            elements to the parent.
        prefix: Prefix of every name of the child, such as "robot/".
        pos: Position of the child in the body's frame, in metres.
        quat: Orientation of the child in the body's frame, wxyz.
        body: Name of the parent's body; None for the world.
    """
    _take_options(child, parent)
    frame = find_body(parent, body).add_frame(pos=list(pos), quat=list(quat))
    try:
        return parent.attach(child, prefix=prefix, frame=frame)
    except ValueError as error:
        raise ValueError(
            f"MuJoCo cannot attach {child.modelname!r} as {prefix!r}: {error}"
        ) from error


def _take_options(child: mujoco.MjSpec, parent: mujoco.MjSpec) -> None:
    """Give `child` the options, sizes and visual settings of `parent`.

    The parent's values apply in any case, but MuJoCo would print a warning about the
    difference. `SimulationCfg` sets the options later. The sizes of user data
    (`nuser_*`) become the larger of the two values.
    """
    authored = child.authored
    if any(getattr(authored, name) for name in _VISUAL):
        _log.info(
            "%r: <visual> is ignored; the settings of the scene apply.", child.modelname
        )
        child.visual = parent.visual
    for name in dir(parent.option):
        value = getattr(parent.option, name)
        if isinstance(value, np.ndarray):
            getattr(child.option, name)[:] = value
        elif isinstance(value, (int, float)):
            setattr(child.option, name, value)
    for name in _SIZES:
        if name.startswith("nuser_"):
            setattr(parent, name, max(getattr(parent, name), getattr(child, name)))
        setattr(child, name, getattr(parent, name))


def keep_compiled(spec: mujoco.MjSpec, model: mujoco.MjModel) -> None:
    """Write the effects of compiler settings explicitly into `spec`, in place.

    An attached spec loses settings that concern a complete model.

    Args:
        spec: Spec whose bodies and actuators all have names.
        model: The compiled spec.
    """
    if spec.compiler.settotalmass > 0.0:
        # Otherwise the file's inertiafromgeom setting would compute inertia from geoms
        # again.
        spec.compiler.inertiafromgeom = mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_AUTO
        for body in spec.bodies[1:]:
            found = model.body(body.name)
            body.explicitinertial = bool(found.mass[0] > 0.0)
            body.mass, body.inertia = found.mass[0], found.inertia
            body.ipos, body.iquat = found.ipos, found.iquat
            body.fullinertia = np.full(6, np.nan)
        spec.compiler.settotalmass = -1.0
    if spec.compiler.LRopt.mode != mujoco.MjSpec().compiler.LRopt.mode:
        for actuator in spec.actuators:
            adr = model.actuator_outadr[model.actuator(actuator.name).id]
            actuator.lengthrange = model.actuator_lengthrange[adr]


def take_keyframes(spec: mujoco.MjSpec) -> list[Keyframe]:
    """Remove all keyframes from `spec` and return them, completed by the compiler."""
    if not (spec.keys or spec.nkey):
        return []
    model = spec.compile()
    keyframes = [_keyframe_of(model, index) for index in range(model.nkey)]
    delete_keys(spec)
    return keyframes


def delete_keys(spec: mujoco.MjSpec) -> None:
    """Remove all keyframes in place, including those reserved by `<size nkey>`."""
    for key in list(spec.keys):
        spec.delete(key)
    spec.nkey = 0


def default_keyframe(model: mujoco.MjModel, name: str = "default") -> Keyframe:
    """Return the state of `model` after `mj_resetData`, as a keyframe."""
    data = mujoco.MjData(model)
    state = (data.qpos, data.qvel, data.act, data.ctrl, data.mocap_pos, data.mocap_quat)
    vectors = dict(zip(VECTORS, [each.flatten() for each in state], strict=True))
    return Keyframe(name=name, time=float(data.time), **vectors)


def merge_keyframes(name: str, parts: Sequence[Keyframe]) -> Keyframe:
    """Join the keyframes of attached models into one keyframe of the whole model.

    Args:
        name: Name of the new keyframe.
        parts: One keyframe per attached model, in the order of attachment to the world,
            without omissions.
    """
    vectors = {
        vector: np.concatenate([np.zeros(0), *(getattr(p, vector) for p in parts)])
        for vector in VECTORS
    }
    return Keyframe(name=name, time=0.0, **vectors)


def add_keyframe(spec: mujoco.MjSpec, keyframe: Keyframe) -> None:
    """Add a keyframe to `spec`. Its vectors must fit the complete model."""
    vectors = {vector: getattr(keyframe, vector).tolist() for vector in VECTORS}
    spec.add_key(name=keyframe.name, time=keyframe.time, **vectors)


def _keyframe_of(model: mujoco.MjModel, index: int) -> Keyframe:
    name = model.key(index).name or f"key{index}"
    vectors = {v: getattr(model, f"key_{v}")[index].copy() for v in VECTORS}
    return Keyframe(name=name, time=float(model.key_time[index]), **vectors)

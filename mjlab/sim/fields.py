"""Which fields a simulation has, and how they look as tensors.

Model fields are not listed: each engine says at run time which of them can differ
between worlds. Data fields are listed, because no engine says which stage of the
forward dynamics computes them.
"""

from enum import IntEnum

import mujoco
import numpy as np

from mjlab.names import suggest


class Stage(IntEnum):
    """Stages of the forward dynamics, numbered as MuJoCo's mjtStage."""

    NONE = 0
    POSITION = 1
    VELOCITY = 2
    ACCELERATION = 3


STATE_FIELDS = (
    "time",
    "qpos",
    "qvel",
    "act",
    "history",
    "plastic",
    "qacc_warmstart",
    "ctrl",
    "qfrc_applied",
    "xfrc_applied",
    "eq_active",
    "mocap_pos",
    "mocap_quat",
    "userdata",
)
"""What a world's future follows from: read and written by the framework."""

INPUT_FIELDS = frozenset(
    "ctrl qfrc_applied xfrc_applied eq_active mocap_pos mocap_quat userdata".split()
)
"""Those of them that a physics step leaves alone."""

FORWARD_FIELDS = tuple("qpos qvel act plastic eq_active mocap_pos mocap_quat".split())
"""Those of them whose write leaves stale what `forward()` has computed."""

_POSITION = """
    xpos xquat xmat xipos ximat xanchor xaxis geom_xpos geom_xmat site_xpos site_xmat
    cam_xpos cam_xmat light_xpos light_xdir subtree_com cdof cinert crb
    ten_length ten_J actuator_length wrap_xpos flexvert_xpos flexedge_length M
    nefc ne nf nl
"""
_VELOCITY = """
    cvel cdof_dot ten_velocity actuator_velocity qfrc_bias qfrc_spring qfrc_damper
    qfrc_gravcomp qfrc_fluid qfrc_passive subtree_linvel subtree_angmom
    flexedge_velocity energy
"""
_ACCELERATION = """
    act_dot actuator_force qfrc_actuator qfrc_smooth qacc_smooth qacc qfrc_constraint
    cacc cfrc_int cfrc_ext sensordata
"""

STAGE_OF: dict[str, Stage] = {
    **dict.fromkeys(STATE_FIELDS, Stage.NONE),
    **dict.fromkeys(_POSITION.split(), Stage.POSITION),
    **dict.fromkeys(_VELOCITY.split(), Stage.VELOCITY),
    **dict.fromkeys(_ACCELERATION.split(), Stage.ACCELERATION),
}
"""The stage of the forward dynamics that computes each data field."""


class UnknownFieldError(AttributeError):
    """A field that the simulation does not have."""


def unknown_field(kind: str, name: str, valid: list[str]) -> UnknownFieldError:
    """The error for a field name that means nothing, with the nearest names."""
    return UnknownFieldError(f"{kind} has no field {name!r}. {suggest(name, valid)}")


def surface_shape(name: str, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of one world's tensor: MuJoCo's, with matrices as 3x3."""
    is_matrix = name.endswith("mat") or name.endswith("mat0")
    if is_matrix and shape[-1:] == (9,):
        return (*shape[:-1], 3, 3)
    return shape


def model_value(model: mujoco.MjModel, name: str) -> np.ndarray:
    """The compiled value of a model field, options as `opt.<name>`."""
    holder, attribute = (
        (model.opt, name[4:]) if name.startswith("opt.") else (model, name)
    )
    try:
        value = np.asarray(getattr(holder, attribute))
    except AttributeError:
        raise unknown_field("sim.model", name, model_field_names(model)) from None
    return value.reshape(surface_shape(name, value.shape))


def model_field_names(model: mujoco.MjModel) -> list[str]:
    """Names of the array fields of a model and of all its options."""
    fields = [
        name
        for name in dir(model)
        if not name.startswith("_")
        and isinstance(getattr(model, name, None), np.ndarray)
    ]
    options = [f"opt.{name}" for name in dir(model.opt) if not name.startswith("_")]
    return fields + options


def surface_dtype(name: str, dtype: np.dtype) -> np.dtype:
    """The tensor type of a field: float32, int32 or bool.

    MuJoCo's batch keeps `eq_active` among its float64 state.
    """
    if name == "eq_active" or dtype in (np.dtype(np.uint8), np.dtype(bool)):
        return np.dtype(bool)
    if dtype.kind == "f":
        return np.dtype(np.float32)
    return np.dtype(np.int32)

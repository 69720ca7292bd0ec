"""Relay MuJoCo's warnings to this project's log."""

import logging
import warnings

import mujoco
import numpy as np

_log = logging.getLogger("mjlab.mujoco")

# Warnings of a step (`mj_warning`) contain this text. They are logged at level DEBUG
# only, because the health counters count them.
_OF_A_STEP = "Time = "


_CONSTANTS = frozenset(mujoco.MjModel._setconst_outputs)
_ELEMENTS = {
    "body": mujoco.mjtObj.mjOBJ_BODY,
    "jnt": mujoco.mjtObj.mjOBJ_JOINT,
    "geom": mujoco.mjtObj.mjOBJ_GEOM,
    "site": mujoco.mjtObj.mjOBJ_SITE,
    "cam": mujoco.mjtObj.mjOBJ_CAMERA,
    "light": mujoco.mjtObj.mjOBJ_LIGHT,
    "mat": mujoco.mjtObj.mjOBJ_MATERIAL,
    "pair": mujoco.mjtObj.mjOBJ_PAIR,
    "eq": mujoco.mjtObj.mjOBJ_EQUALITY,
    "tendon": mujoco.mjtObj.mjOBJ_TENDON,
    "actuator": mujoco.mjtObj.mjOBJ_ACTUATOR,
    "sensor": mujoco.mjtObj.mjOBJ_SENSOR,
    "key": mujoco.mjtObj.mjOBJ_KEY,
}


class ModelFileError(ValueError):
    """Raised for a file or spec that MuJoCo cannot read or compile."""


def relay_warnings() -> None:
    """Send MuJoCo's warnings to the log `mjlab.mujoco`, each as one line.

    By default they go to stderr and to a file MUJOCO_LOG.TXT in the working directory.
    A handler installed by the user is kept.
    """
    if mujoco.get_mju_user_warning() is None:
        mujoco.set_mju_user_warning(_relay)


def compile_spec(spec: mujoco.MjSpec) -> mujoco.MjModel:
    """Compile `spec`, and send MuJoCo's warnings to the log."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        try:
            model = spec.compile()
        except ValueError as error:
            said = " ".join(str(error).split())
            raise ModelFileError(
                f"MuJoCo cannot compile {spec.modelname!r}: {said}."
            ) from error
    for warning in found:
        _relay(str(warning.message))
    _refuse_nan(model, spec.modelname)
    return model


def _refuse_nan(model: mujoco.MjModel, name: str) -> None:
    """Raise for NaN in a model, which MuJoCo accepts with at most a warning."""
    for field in dir(model):
        values = getattr(model, field)
        if not isinstance(values, np.ndarray) or values.dtype.kind != "f":
            continue
        # Skip derived constants: report the NaN in the field from which they are
        # derived.
        if field not in _CONSTANTS and np.isnan(values).any():
            row = int(np.argwhere(np.isnan(values))[0][0])
            raise ModelFileError(
                f"The model {name!r} has NaN in {_place(model, field, row)}. Set a "
                "number, or remove the attribute."
            )


def _place(model: mujoco.MjModel, field: str, row: int) -> str:
    """Return a description of the element and attribute at `row` of a model field."""
    prefix, _, attribute = field.partition("_")
    if prefix == "dof":
        prefix, row = "jnt", int(model.dof_jntid[row])
    kind = _ELEMENTS.get(prefix)
    if kind is None or row >= getattr(model, f"n{prefix}"):
        return field
    words = kind.name.removeprefix("mjOBJ_").lower()
    called = mujoco.mj_id2name(model, kind, row)
    return f"{attribute!r} of the {words} {called or row!r} ({field})"


def _relay(message: str) -> None:
    level = logging.DEBUG if _OF_A_STEP in message else logging.WARNING
    _log.log(level, "MuJoCo: %s", "; ".join(message.split("\n")).strip("; "))

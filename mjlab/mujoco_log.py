"""MuJoCo's warnings, through the log of this project."""

import logging
import warnings

import mujoco

_log = logging.getLogger("mjlab.mujoco")

# What `mj_warning` ends with: a warning of a step, of which health keeps count.
_OF_A_STEP = "Time = "


class ModelFileError(ValueError):
    """A file or a spec that MuJoCo cannot read, or cannot compile, as a model."""


def relay_warnings() -> None:
    """Send MuJoCo's warnings to the log `mjlab.mujoco`, each as one line.

    By default they go to stderr and to a file MUJOCO_LOG.TXT in the working directory.
    A handler that the user installed is left alone.
    """
    if mujoco.get_mju_user_warning() is None:
        mujoco.set_mju_user_warning(_relay)


def compile_spec(spec: mujoco.MjSpec) -> mujoco.MjModel:
    """Compile `spec`, and send what MuJoCo warns of to the log."""
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
    return model


def _relay(message: str) -> None:
    level = logging.DEBUG if _OF_A_STEP in message else logging.WARNING
    _log.log(level, "MuJoCo: %s", "; ".join(message.split("\n")).strip("; "))

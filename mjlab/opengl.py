"""Import order and error messages of OpenGL libraries."""

import ctypes
import importlib
import importlib.util
import os
import sys

VARIABLE = "MUJOCO_GL"
"""Environment variable that selects MuJoCo's backend."""

HEADLESS = {"egl": "libEGL.so.1", "osmesa": "libOSMesa.so.8"}
"""Offscreen backends, with their libraries."""

DEBIAN_PACKAGES = "apt-get install libegl1 libgl1-mesa-dri, or libosmesa6"
"""How to install a backend on Debian and Ubuntu."""


class GlError(RuntimeError):
    """Raised when OpenGL rendering is impossible on this machine."""


def import_mujoco() -> None:
    """Import MuJoCo, which fails if the library that MUJOCO_GL selects is missing."""
    try:
        importlib.import_module("mujoco")
    except Exception as error:  # Each OpenGL binding has its own exception types.
        raise GlError(explain(os.environ.get(VARIABLE), error, "start")) from error


def load_triton() -> None:
    """Import Triton, if installed, before Mesa.

    PyOpenGL makes the symbols of Mesa's LLVM global. Triton, a part of PyTorch's CUDA
    builds that tensordict and `torch.compile` import, binds to them if it is loaded
    later, and crashes the process.
    """
    if importlib.util.find_spec("triton") is not None:
        importlib.import_module("triton")


def explain(chosen: str | None, error: Exception, action: str) -> str:
    """Return the message for a failed OpenGL import or context.

    Args:
        chosen: The backend, None for MuJoCo's default.
        error: The error.
        action: The action that failed, such as "render".
    """
    how = f"{VARIABLE}={chosen}" if chosen else f"{VARIABLE} is not set"
    missing = [name for name, library in HEADLESS.items() if not loads(library)]
    advice = f"Set {VARIABLE} to egl or osmesa before Python starts."
    if sys.platform.startswith("linux") and missing:
        advice += f" Not installed: {' and '.join(missing)} ({DEBIAN_PACKAGES})."
    return (
        f"MuJoCo cannot {action} here ({how}): {type(error).__name__}: {error}. "
        + advice
    )


def loads(library: str) -> bool:
    """Return whether a shared library is installed."""
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True

"""The way to OpenGL: a window system where there is one, else EGL or OSMesa."""

import ctypes
import importlib
import os
import sys
from collections.abc import Callable
from typing import Any, TypeVar

from mjlab.opengl import load_triton

VARIABLE = "MUJOCO_GL"
"""The environment variable by which MuJoCo is told."""

# What draws without a display, and the library that it needs.
_HEADLESS = {"egl": "libEGL.so.1", "osmesa": "libOSMesa.so.8"}
_DEBIAN = "apt-get install libegl1 libgl1-mesa-dri, or libosmesa6"

_CONTEXTS = "mujoco.rendering.classic.gl_context"
"""The module in which MuJoCo's renderer looks for a way to OpenGL."""

Filled = TypeVar("Filled")


class GlError(RuntimeError):
    """Pictures cannot be drawn here."""


def prepare_gl() -> str | None:
    """Choose how MuJoCo draws without a window; return the choice, None for its own.

    MuJoCo's own renderer follows it too, also where MuJoCo has read the variable, which
    it does once, when it is imported. What the user set is kept.
    """
    if VARIABLE not in os.environ and sys.platform.startswith("linux"):
        found = (name for name, library in _HEADLESS.items() if _loads(library))
        name = next(found, None)
        if name is not None:
            os.environ[VARIABLE] = name
        if name is not None and _CONTEXTS in sys.modules:
            sys.modules[_CONTEXTS].GLContext = _context_class(name)
    return os.environ.get(VARIABLE)


def open_context(
    width: int, height: int, fill: Callable[[], Filled]
) -> tuple[Any, Filled]:
    """Return a context to draw in, made current, and what was made in it.

    Args:
        width: Width of what is drawn, in pixels.
        height: Height of what is drawn, in pixels.
        fill: Makes MuJoCo's part.

    Raises:
        GlError: Where nothing can be drawn, with the reason.
    """
    chosen = prepare_gl()
    load_triton()
    try:
        context = _context_class(chosen)(width, height)
        context.make_current()
        # GLFW only warns when there is no display; MuJoCo's part then fails.
        return context, fill()
    except Exception as error:  # Each binding of OpenGL raises errors of its own.
        raise GlError(_explain(chosen, error)) from error


def _context_class(chosen: str | None) -> Any:
    if chosen in _HEADLESS:
        return importlib.import_module(f"mujoco.{chosen}").GLContext
    return importlib.import_module(_CONTEXTS).GLContext


def _explain(chosen: str | None, error: Exception) -> str:
    how = f"{VARIABLE}={chosen}" if chosen else f"{VARIABLE} is not set"
    missing = [name for name, library in _HEADLESS.items() if not _loads(library)]
    advice = f"Set {VARIABLE} to egl or osmesa before Python starts."
    if sys.platform.startswith("linux") and missing:
        advice += f" {' and '.join(missing)} is not installed: {_DEBIAN}."
    return (
        f"MuJoCo cannot draw pictures here ({how}): {type(error).__name__}: {error}. "
        + advice
    )


def _loads(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True

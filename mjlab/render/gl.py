"""OpenGL backend: a window system if available, otherwise EGL or OSMesa."""

import importlib
import os
import sys
from collections.abc import Callable
from typing import Any, TypeVar

from mjlab.opengl import HEADLESS, VARIABLE, explain, load_triton, loads
from mjlab.opengl import GlError as GlError

_CONTEXTS = "mujoco.rendering.classic.gl_context"
"""Module in which MuJoCo's renderer looks up the backend."""

Filled = TypeVar("Filled")

_first: list[int] = []
"""Id of the process that opened the first context, copied to its forks."""


def prepare_gl() -> str | None:
    """Select the backend for offscreen rendering; return it, None for MuJoCo's default.

    MuJoCo's own renderer reads MUJOCO_GL once, at import. If MuJoCo is already
    imported, its renderer is changed too. A value set by the user is kept.
    """
    if VARIABLE not in os.environ and sys.platform.startswith("linux"):
        found = (name for name, library in HEADLESS.items() if loads(library))
        name = next(found, None)
        if name is not None:
            os.environ[VARIABLE] = name
        if name is not None and _CONTEXTS in sys.modules:
            sys.modules[_CONTEXTS].GLContext = _context_class(name)
    return os.environ.get(VARIABLE)


def check_process() -> None:
    """Raise `GlError` in a fork of a process that has used OpenGL.

    The threads of the OpenGL library do not exist in a fork, so rendering would hang.
    """
    if _first and _first[0] != os.getpid():
        raise GlError(
            f"Process {os.getpid()} was forked from process {_first[0]}, which had "
            "already used OpenGL, so it cannot render. Start it by "
            "multiprocessing.get_context('spawn'), with context='spawn' in "
            "AsyncVectorEnv, or before the first rendering."
        )


def open_context(
    width: int, height: int, fill: Callable[[], Filled]
) -> tuple[Any, Filled]:
    """Return a current OpenGL context, and the objects that `fill` created in it.

    Args:
        width: Width of the framebuffer, in pixels.
        height: Height of the framebuffer, in pixels.
        fill: Function that creates MuJoCo's objects.

    Raises:
        GlError: If rendering is impossible, with the reason.
    """
    check_process()
    _first[:] = [os.getpid()]
    chosen = prepare_gl()
    load_triton()
    try:
        context = _context_class(chosen)(width, height)
        context.make_current()
        # Without a display GLFW only warns, and MuJoCo's own context fails in `fill`.
        return context, fill()
    except Exception as error:  # Each OpenGL binding has its own exception types.
        raise GlError(explain(chosen, error, "render")) from error


def _context_class(chosen: str | None) -> Any:
    if chosen in HEADLESS:
        return importlib.import_module(f"mujoco.{chosen}").GLContext
    return importlib.import_module(_CONTEXTS).GLContext

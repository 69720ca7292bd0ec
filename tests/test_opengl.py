"""Imports before a process opens OpenGL."""

import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import mujoco
import pytest

from mjlab.render import gl
from mjlab.sensor import native_renderer
from mjlab.sensor.vision import VisionError


class OpenedError(Exception):
    """Raised where OpenGL would be opened."""


@pytest.fixture
def triton(tmp_path, monkeypatch) -> None:
    """An installed package `triton` that is not imported yet."""
    (tmp_path / "triton.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(sys.modules, "triton", SimpleNamespace(__spec__="a spec"))
    del sys.modules["triton"]


def refuse(*arguments: Any, **options: Any) -> None:
    """Replace OpenGL. After Mesa's LLVM is loaded, an import of Triton would crash."""
    raise OpenedError("with Triton" if "triton" in sys.modules else "without Triton")


def open_sensor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mujoco, "Renderer", refuse)
    view: Any = SimpleNamespace(name="eye", height=8, width=8)
    native_renderer._open_renderer(mujoco.MjModel.from_xml_string("<mujoco/>"), view)


def open_canvas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gl, "_context_class", refuse)
    gl.open_context(8, 8, lambda: None)


@pytest.mark.usefixtures("triton")
@pytest.mark.parametrize("opened", [open_sensor, open_canvas])
def test_triton_is_imported_before_opengl_is_opened(
    opened: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises((gl.GlError, VisionError), match="with Triton"):
        opened(monkeypatch)

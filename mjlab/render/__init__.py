"""Pictures of worlds: frames, grids of worlds, what is drawn into them, and videos.

What needs MuJoCo is imported when it is first used, so that `prepare_gl` can choose the
way to OpenGL before.
"""

import importlib
from typing import TYPE_CHECKING, Any

from mjlab.render.gl import GlError as GlError
from mjlab.render.gl import prepare_gl as prepare_gl

if TYPE_CHECKING:
    from mjlab.render.canvas import Canvas as Canvas
    from mjlab.render.contacts import add_contacts as add_contacts
    from mjlab.render.grid import tile as tile
    from mjlab.render.muscles import color_muscles as color_muscles
    from mjlab.render.muscles import has_muscles as has_muscles
    from mjlab.render.offscreen import Offscreen as Offscreen
    from mjlab.render.offscreen import View as View
    from mjlab.render.overlays import Arrow as Arrow
    from mjlab.render.overlays import Marks as Marks
    from mjlab.render.overlays import Sphere as Sphere
    from mjlab.render.video import Video as Video
    from mjlab.render.video import VideoError as VideoError

_LAZY = {
    "Canvas": "canvas",
    "add_contacts": "contacts",
    "tile": "grid",
    "color_muscles": "muscles",
    "has_muscles": "muscles",
    "Offscreen": "offscreen",
    "View": "offscreen",
    "Arrow": "overlays",
    "Marks": "overlays",
    "Sphere": "overlays",
    "Video": "video",
    "VideoError": "video",
}


def __getattr__(name: str) -> Any:
    """Import a part that needs MuJoCo, now that somebody asks for it."""
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_LAZY[name]}"), name)

"""Rendering of worlds: frames, grids of worlds, overlays, and videos.

Parts that need MuJoCo are imported at first use, so that `prepare_gl` can select the
OpenGL backend before.
"""

from typing import TYPE_CHECKING

from mjlab.lazy import imported_on_use
from mjlab.render.gl import GlError as GlError
from mjlab.render.gl import prepare_gl as prepare_gl

if TYPE_CHECKING:
    from mjlab.render.canvas import Canvas as Canvas
    from mjlab.render.muscles import color_muscles as color_muscles
    from mjlab.render.muscles import has_muscles as has_muscles
    from mjlab.render.observations import camera_bytes as camera_bytes
    from mjlab.render.observations import camera_depth as camera_depth
    from mjlab.render.observations import camera_mask as camera_mask
    from mjlab.render.observations import depth_frame as depth_frame
    from mjlab.render.offscreen import Offscreen as Offscreen
    from mjlab.render.offscreen import OrbitView as OrbitView
    from mjlab.render.offscreen import tile as tile
    from mjlab.render.overlays import Arrow as Arrow
    from mjlab.render.overlays import Marks as Marks
    from mjlab.render.overlays import Shape as Shape
    from mjlab.render.overlays import add_contacts as add_contacts
    from mjlab.render.rays import RayRendererCfg as RayRendererCfg
    from mjlab.render.sky import sky_gradient as sky_gradient
    from mjlab.render.video import Video as Video
    from mjlab.render.video import VideoError as VideoError
    from mjlab.render.video import WorldVideo as WorldVideo


__getattr__ = imported_on_use(__name__, __file__)

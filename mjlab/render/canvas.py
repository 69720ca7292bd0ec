"""Canvas for MuJoCo's renderer."""

import atexit
import copy
import os
import weakref
from collections.abc import Sequence

import mujoco
import numpy as np

from mjlab.render.edges import smooth_edges
from mjlab.render.gl import check_process, open_context
from mjlab.render.ground import EndingPlanes
from mjlab.render.neighbours import Neighbour
from mjlab.render.overlays import Marks
from mjlab.render.sky import HORIZON, Sky, has_sky

_MAX_GEOMS = 5_000
_SMALL, _LARGE = (
    mujoco.mjtFontScale.mjFONTSCALE_100,
    mujoco.mjtFontScale.mjFONTSCALE_150,
)
_LARGE_FROM = 600  # Height of a picture, in pixels.
_LINE = 24  # Height of a line of small text, in pixels.
_HAZE = (4.0, 16.0)
"""Distances at which haze starts and is opaque, as multiples of the extent."""

_SHADOWS, _SLICES, _STACKS = 2048, 16, 8
"""Maximum width of the shadow map, in pixels, and maximum numbers of slices and stacks
of round geoms. MuJoCo's 4096, 28 and 16 take 1.5 times as long on a CPU."""


class Canvas:
    """Renderer of worlds whose models derive from one compiled model.

    Meshes, textures and height fields are uploaded to OpenGL once; all other fields can
    differ between worlds. A canvas can be used only in the thread that created it.
    """

    def __init__(
        self,
        model: mujoco.MjModel,
        width: int,
        height: int,
        *,
        haze: bool = False,
        option: mujoco.MjvOption | None = None,
        shadows: bool = True,
        reflections: bool = True,
    ) -> None:
        """Open an OpenGL context.

        Args:
            model: The compiled model, which is not modified.
            width: Width of the image, in pixels.
            height: Height of the image, in pixels.
            haze: Fade the ground into a sky gradient. Ignored if the model has a
                skybox.
            option: Visible elements. None uses MuJoCo's defaults.
            shadows: Draw shadows.
            reflections: Draw reflections.

        Raises:
            GlError: If rendering is impossible.
        """
        if width < 1 or height < 1:
            raise ValueError(
                f"The image size is {width} by {height} pixels; both have to be 1 or "
                "more."
            )
        sized = copy.copy(model)
        sized.vis.global_.offwidth = width
        sized.vis.global_.offheight = height
        self._ground = EndingPlanes(sized)
        widen_shadows(sized)
        quality = sized.vis.quality
        quality.shadowsize = min(quality.shadowsize, _SHADOWS)
        quality.numslices = min(quality.numslices, _SLICES)
        quality.numstacks = min(quality.numstacks, _STACKS)
        # `smooth_edges` has better quality than multisampling, and is faster.
        quality.offsamples = 0
        is_large = height >= _LARGE_FROM
        font = _LARGE if is_large else _SMALL
        self._line = _LINE * font.value // _SMALL.value
        if haze:
            sized.vis.map.fogstart, sized.vis.map.fogend = _HAZE
            sized.vis.rgba.fog[:3] = np.array(HORIZON) / 255.0
        self._gl, self._context = open_context(
            width, height, lambda: mujoco.MjrContext(sized, font.value)
        )
        offscreen = mujoco.mjtFramebuffer.mjFB_OFFSCREEN.value
        mujoco.mjr_setBuffer(offscreen, self._context)
        self._context.readDepthMap = mujoco.mjtDepthMap.mjDEPTH_ZEROFAR
        self._rect = mujoco.MjrRect(0, 0, width, height)
        self._scene = mujoco.MjvScene(sized, maxgeom=_MAX_GEOMS + 2 * sized.ngeom)
        self._pixels = np.empty((height, width, 3), np.uint8)
        self._depth = np.empty((height, width), np.float32)
        self._sky = None if has_sky(model) else Sky(height, width)
        is_hazy = haze and self._sky is not None
        self._scene.flags[mujoco.mjtRndFlag.mjRND_FOG.value] = is_hazy
        self._scene.flags[mujoco.mjtRndFlag.mjRND_SHADOW.value] = shadows
        self._scene.flags[mujoco.mjtRndFlag.mjRND_REFLECTION.value] = reflections
        self._option = mujoco.MjvOption() if option is None else option
        self._finalizer = weakref.finalize(
            self, _free, self._gl, self._context, os.getpid()
        )
        # OpenGL must be released while its binding still works. Exit handlers run in
        # reverse order, so this one runs before the binding's handler.
        atexit.register(self._finalizer)

    def draw(
        self,
        model: mujoco.MjModel,
        data: mujoco.MjData,
        camera: mujoco.MjvCamera,
        *,
        marks: Marks | None = None,
        world: int = 0,
        lines: Sequence[str] = (),
        neighbours: Sequence[Neighbour] = (),
    ) -> np.ndarray:
        """Render one world, and return a new image, shape (height, width, 3), uint8.

        Args:
            model: A copy of the world's model. Lights and planes are modified.
            data: A copy of its state, with kinematics. Lights and planes are modified.
            camera: The camera.
            marks: Overlays.
            world: The world to which the overlays belong.
            lines: Text in the upper left corner.
            neighbours: Other worlds to draw beside this one.
        """
        if not self._finalizer.alive:
            raise RuntimeError("The canvas is closed.")
        check_process()
        self._gl.make_current()
        place_lights(model, data, camera.lookat)
        self._ground.put_under(model, data, camera.lookat)
        everything = mujoco.mjtCatBit.mjCAT_ALL.value
        mujoco.mjv_updateScene(
            model, data, self._option, None, camera, everything, self._scene
        )
        for neighbour in neighbours:
            neighbour.put_into(self._scene, self._option)
        if marks is not None:
            marks.put_into(self._scene, world)
        if self._sky is not None:
            self._sky.put_behind(self._scene, model)
        mujoco.mjr_render(self._rect, self._scene, self._context)
        self._finish(lines)
        return np.flipud(self._pixels).copy()

    def close(self) -> None:
        """Release the context. Can be called twice."""
        self._finalizer()
        atexit.unregister(self._finalizer)

    def _finish(self, lines: Sequence[str]) -> None:
        """Read the image, fill empty pixels with a sky, and add text."""
        depth = None if self._sky is None else self._depth
        mujoco.mjr_readPixels(self._pixels, depth, self._rect, self._context)
        if self._sky is not None:
            self._sky.fill(self._pixels, self._depth)
        self._pixels = smooth_edges(self._pixels)
        if lines:
            self._write(lines)

    def _write(self, lines: Sequence[str]) -> None:
        """Write text into the upper rows; only these are uploaded to OpenGL again."""
        height, width = self._pixels.shape[:2]
        start = max(0, height - self._line * (len(lines) + 1))
        upper, rect = (
            self._pixels[start:],
            mujoco.MjrRect(0, start, width, height - start),
        )
        # MuJoCo's font has only Latin-1 characters.
        text = "\n".join(lines).encode("ascii", "replace").decode()
        font = mujoco.mjtFont.mjFONT_NORMAL
        corner = mujoco.mjtGridPos.mjGRID_TOPLEFT
        # MuJoCo does not draw pixels over geoms.
        self._scene.ngeom = 0
        mujoco.mjr_render(rect, self._scene, self._context)
        mujoco.mjr_drawPixels(upper.reshape(-1), None, rect, self._context)
        mujoco.mjr_overlay(font, corner, rect, text, "", self._context)
        mujoco.mjr_readPixels(upper, None, rect, self._context)


def widen_shadows(model: mujoco.MjModel) -> None:
    """Prevent speckled shadows at the edge of a light's cone.

    Args:
        model: A copy from which an OpenGL context is created.
    """
    model.vis.map.shadowclip *= 3.5


def place_lights(
    model: mujoco.MjModel, data: mujoco.MjData, lookat: np.ndarray
) -> None:
    """Move lights and their shadow maps to the point the camera looks at."""
    if model.nlight == 0:
        model.vis.headlight.ambient[:] = 0.35
        model.vis.headlight.diffuse[:] = 0.6
    # A directional light has the same direction everywhere, but MuJoCo renders shadows
    # only in front of its position, with a resolution that decreases with distance.
    afar = model.light_type == mujoco.mjtLightType.mjLIGHT_DIRECTIONAL.value
    away = 0.4 * model.stat.extent
    data.light_xpos[afar] = lookat - away * data.light_xdir[afar]


def _free(gl: object, context: mujoco.MjrContext, process: int) -> None:
    if os.getpid() != process:  # A fork has no context of its own.
        return
    gl.make_current()  # pyright: ignore[reportAttributeAccessIssue]
    context.free()
    gl.free()  # pyright: ignore[reportAttributeAccessIssue]

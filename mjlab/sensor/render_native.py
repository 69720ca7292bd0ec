"""Pictures of the native engine: one MuJoCo renderer per picture size."""

import logging
import weakref
from collections.abc import Callable, Sequence

import mujoco
import numpy as np
import torch
from mujoco import batch as mj_batch

from mjlab.sensor.native_rays import NativeRays, group_flags
from mjlab.sensor.vision import (
    CameraView,
    Eye,
    Images,
    Rays,
    SightError,
    model_for_drawing,
)
from mjlab.sim.native_engine import NativeEngine

_log = logging.getLogger(__name__)

SLOW_RENDERING = (
    "drawn by MuJoCo's renderer, one world after another: the native engine has no "
    "batched renderer. Training from pixels wants backend='warp' on a CUDA device."
)


class NativeSight:
    """Rays and pictures of the native engine: pictures by `mujoco.Renderer`."""

    notes: tuple[str, ...] = (SLOW_RENDERING,)

    def __init__(self, engine: NativeEngine, cameras: Sequence[CameraView]) -> None:
        """Open a renderer for each picture size."""
        self._engine = engine
        self._cameras = _NativeCameras(engine, cameras) if cameras else None
        if cameras:
            names = ", ".join(repr(view.sensor) for view in cameras)
            _log.warning("Camera sensors %s are %s", names, SLOW_RENDERING)

    def add_rays(self, rays: Rays) -> Callable[[], None]:
        """Return what casts the rays."""
        return NativeRays(self._engine.batch, self._engine.mj_model, rays).cast

    def add_camera(self, view: CameraView, images: Images) -> Eye:
        """Return what draws a camera into `images`."""
        if self._cameras is None:
            raise SightError(f"Camera sensor {view.sensor!r} was not announced.")
        return _NativeEye(self._cameras, view, images)


class _NativeCameras:
    """Renderers by picture size, and a place to put one world at a time."""

    def __init__(self, engine: NativeEngine, cameras: Sequence[CameraView]) -> None:
        self._batch = engine.batch
        self._model = model_for_drawing(engine.mj_model, cameras)
        self._world = mujoco.MjData(self._model)
        self._renderers: dict[tuple[int, int], mujoco.Renderer] = {}
        for view in cameras:
            size = (view.width, view.height)
            if size not in self._renderers:
                self._renderers[size] = _open_renderer(self._model, view)

    def show(self, world: int) -> None:
        """Take the state and the model fields of one world."""
        for name in mj_batch.MODEL_FIELDS:
            values = self._batch.expanded(name)
            if values is not None and "." not in name:
                getattr(self._model, name)[...] = values[world]
        mujoco.mj_setState(
            self._model,
            self._world,
            self._batch.state[world],
            mujoco.mjtState.mjSTATE_INTEGRATION,
        )
        mujoco.mj_kinematics(self._model, self._world)
        mujoco.mj_comPos(self._model, self._world)
        mujoco.mj_camlight(self._model, self._world)
        mujoco.mj_flex(self._model, self._world)

    def aim(self, view: CameraView, option: mujoco.MjvOption) -> mujoco.Renderer:
        """Return a renderer that sees the present world through a camera."""
        renderer = self._renderers[view.width, view.height]
        renderer.update_scene(self._world, view.camera_id, option)
        renderer.scene.flags[mujoco.mjtRndFlag.mjRND_SHADOW] = view.use_shadows
        return renderer


class _NativeEye:
    """Draws one camera of the worlds that are due, one after another."""

    def __init__(
        self, cameras: _NativeCameras, view: CameraView, images: Images
    ) -> None:
        self._cameras = cameras
        self._view = view
        self._option = _scene_option(view)
        self._rgb, self._depth, self._segmentation = (
            None if image is None else image.numpy()
            for image in (images.rgb, images.depth, images.segmentation)
        )

    def launch(self, due: torch.Tensor) -> None:
        """Draw the worlds that are due; the others cost nothing."""
        for world in np.flatnonzero(due.numpy()):
            self._cameras.show(int(world))
            self._draw(self._cameras.aim(self._view, self._option), int(world))

    def finish(self, due: torch.Tensor) -> None:
        """Do nothing: `launch` wrote the pictures."""

    def _draw(self, renderer: mujoco.Renderer, world: int) -> None:
        renderer.disable_depth_rendering()
        renderer.disable_segmentation_rendering()
        if self._rgb is not None:
            renderer.render(out=self._rgb[world])
        if self._depth is not None:
            renderer.enable_depth_rendering()
            # What is missed lies on the far plane, which is beyond the limit.
            depth = renderer.render()
            limit = np.float32(self._view.max_distance)
            np.minimum(depth, limit, out=self._depth[world, :, :, 0])
        if self._segmentation is not None:
            renderer.enable_segmentation_rendering()
            renderer.render(out=self._segmentation[world])


def _open_renderer(model: mujoco.MjModel, view: CameraView) -> mujoco.Renderer:
    try:
        renderer = mujoco.Renderer(model, height=view.height, width=view.width)
    except Exception as error:  # Each OpenGL binding raises errors of its own.
        raise SightError(
            f"Camera sensor {view.sensor!r}: MuJoCo's renderer found no OpenGL. On a "
            "machine without a display set MUJOCO_GL=egl or MUJOCO_GL=osmesa before "
            f"Python starts. The renderer said: {error}"
        ) from error
    # OpenGL has to be let go while its binding still works, which at the end of the
    # interpreter is before modules are torn down.
    weakref.finalize(renderer, _close, weakref.ref(renderer))
    return renderer


def _close(reference: "weakref.ref[mujoco.Renderer]") -> None:
    renderer = reference()
    if renderer is not None:
        renderer.close()


def _scene_option(view: CameraView) -> mujoco.MjvOption:
    """Show geoms and nothing that decorates them, as Warp's renderer does."""
    option = mujoco.MjvOption()
    option.geomgroup[:] = group_flags(view.geom_groups)
    for groups in (option.sitegroup, option.tendongroup, option.skingroup):
        groups[:] = 0
    for flag in ("RANGEFINDER", "CONSTRAINT", "ACTUATOR"):
        option.flags[getattr(mujoco.mjtVisFlag, f"mjVIS_{flag}")] = 0
    option.flags[mujoco.mjtVisFlag.mjVIS_TEXTURE] = view.use_textures
    return option

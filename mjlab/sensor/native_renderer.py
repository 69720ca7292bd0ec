"""Rays and pictures where MuJoCo C runs.

Rays go through a map of the ground or through MuJoCo; pictures are drawn by one MuJoCo
renderer per picture size.
"""

import logging
import weakref
from collections.abc import Callable, Collection, Sequence

import mujoco
import numpy as np
import torch
from mujoco import batch as mj_batch

from mjlab.opengl import load_triton
from mjlab.sensor.ground_map import GroundMap
from mjlab.sensor.vision import (
    CameraView,
    DrawCamera,
    Images,
    Rays,
    VisionError,
    model_for_drawing,
)

_log = logging.getLogger(__name__)

SLOW_RENDERING = (
    "drawn by MuJoCo's renderer, one world after another: the native engine has no "
    "batched renderer. Training from pixels wants backend='warp' on a CUDA device."
)


class NativeRenderer:
    """Rays and pictures of a batch of worlds: pictures by `mujoco.Renderer`."""

    notes: tuple[str, ...] = (SLOW_RENDERING,)

    def __init__(
        self,
        batch: mj_batch.Batch,
        model: mujoco.MjModel,
        cameras: Sequence[CameraView],
    ) -> None:
        """Open a renderer for each picture size."""
        self._batch = batch
        self._compiled = model
        self._model = model_for_drawing(model, cameras)
        # A place to put one world at a time.
        self._world = mujoco.MjData(self._model)
        self._renderers: dict[tuple[int, int], mujoco.Renderer] = {}
        for view in cameras:
            size = (view.width, view.height)
            if size not in self._renderers:
                self._renderers[size] = _open_renderer(self._model, view)
        if cameras:
            names = ", ".join(repr(view.name) for view in cameras)
            _log.warning("Camera sensors %s are %s", names, SLOW_RENDERING)

    def add_rays(self, rays: Rays) -> Callable[[], None]:
        """Return what casts the rays."""
        return NativeRays(self._batch, self._compiled, rays).cast

    def add_camera(self, view: CameraView, images: Images) -> DrawCamera:
        """Return what draws a camera of the worlds that are due, one after another."""
        arrays = {kind: image.numpy() for kind, image in images.items()}
        option, limit = _scene_option(view), np.float32(view.max_distance)

        def draw(world: int) -> None:
            self._show(world)
            renderer = self._aim(view, option)
            if "rgb" in arrays:
                renderer.render(out=arrays["rgb"][world])
            if "depth" in arrays:
                renderer.enable_depth_rendering()
                # What is missed lies on the far plane, which is beyond the limit.
                depth = arrays["depth"][world, :, :, 0]
                np.minimum(renderer.render(), limit, out=depth)
            if "segmentation" in arrays:
                renderer.enable_segmentation_rendering()
                renderer.render(out=arrays["segmentation"][world])

        def draw_due(due: torch.Tensor) -> None:
            for world in np.flatnonzero(due.numpy()):
                draw(int(world))

        return draw_due

    def _show(self, world: int) -> None:
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

    def _aim(self, view: CameraView, option: mujoco.MjvOption) -> mujoco.Renderer:
        """Return a renderer that sees the present world through a camera."""
        renderer = self._renderers[view.width, view.height]
        renderer.update_scene(self._world, view.camera_id, option)
        renderer.scene.flags[mujoco.mjtRndFlag.mjRND_SHADOW] = view.use_shadows
        renderer.disable_depth_rendering()
        renderer.disable_segmentation_rendering()
        return renderer


class NativeRays:
    """Casts one set of rays in all worlds."""

    def __init__(
        self, batch: mj_batch.Batch, model: mujoco.MjModel, rays: Rays
    ) -> None:
        """Draw a map of the ground, if the rays can do with one."""
        self._batch = batch
        self._groups = _group_flags(rays.geom_groups)
        self._excluded = np.asarray(rays.excluded_bodies, np.int32)
        self._starts = rays.starts.numpy()
        self._directions = rays.directions.numpy()
        outputs = (rays.distance, rays.geom, rays.normal)
        self._outputs = [output.numpy() for output in outputs]
        self._map = _map_for(model, rays)

    def cast(self) -> None:
        """Write the ends of the rays."""
        if self._map is None:
            self._ask_mujoco(slice(None))
            return
        x, y, z = (self._starts[..., i].astype(np.float64) for i in range(3))
        below = self._map.below(x.ravel(), y.ravel())
        height = below.height.reshape(z.shape)
        distance, geom, normal = self._outputs
        with np.errstate(invalid="ignore"):  # A world may be at NaN.
            np.copyto(distance, z - height, casting="same_kind")
        distance[~np.isfinite(distance)] = -1.0
        np.copyto(geom, below.geom.reshape(z.shape))
        np.copyto(normal, below.normal.reshape(normal.shape), casting="same_kind")
        # The map knows upper surfaces only, and those of the model.
        others = (z < height).any(axis=1) | self._map.differs(self._batch)
        if others.any():
            self._ask_mujoco(np.flatnonzero(others))

    def _ask_mujoco(self, worlds: np.ndarray | slice) -> None:
        """Have MuJoCo cast the rays of some worlds against every geom.

        It computes the kinematics of these worlds anew, and their next step starts
        afresh instead of continuing from `forward()`. State and derived fields are
        untouched.
        """
        results = self._batch.ray(
            self._starts[worlds],
            self._directions[worlds],
            self._groups,
            bodyexclude=self._excluded,
            ids=None if isinstance(worlds, slice) else worlds,
            normal=True,
        )
        for output, result in zip(self._outputs, results, strict=True):
            output[worlds] = result


def _open_renderer(model: mujoco.MjModel, view: CameraView) -> mujoco.Renderer:
    load_triton()
    try:
        renderer = mujoco.Renderer(model, height=view.height, width=view.width)
    except Exception as error:  # Each OpenGL binding raises errors of its own.
        raise VisionError(
            f"Camera sensor {view.name!r}: MuJoCo's renderer found no OpenGL. On a "
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
    option.geomgroup[:] = _group_flags(view.geom_groups)
    for groups in (option.sitegroup, option.tendongroup, option.skingroup):
        groups[:] = 0
    for flag in ("RANGEFINDER", "CONSTRAINT", "ACTUATOR"):
        option.flags[getattr(mujoco.mjtVisFlag, f"mjVIS_{flag}")] = 0
    option.flags[mujoco.mjtVisFlag.mjVIS_TEXTURE] = view.use_textures
    return option


def _group_flags(groups: Collection[int]) -> np.ndarray:
    """Return geom groups as MuJoCo takes them."""
    flags = np.zeros(mujoco.mjNGROUP, np.uint8)
    flags[list(groups)] = 1
    return flags


def _map_for(model: mujoco.MjModel, rays: Rays) -> GroundMap | None:
    """Return a map of what the rays meet, where they point down on still ground."""
    ground = GroundMap.of(model, rays.geom_groups) if rays.points_down else None
    if ground is None or ground.bodies & set(rays.excluded_bodies):
        return None
    return ground

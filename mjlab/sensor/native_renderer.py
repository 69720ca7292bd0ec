"""Ray casting and camera images on the native engine (MuJoCo C).

Rays use a ground map or MuJoCo's ray casting; camera images use one MuJoCo renderer per
image size.
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
    "rendered by MuJoCo's renderer, one world at a time: the native engine has no "
    "batched renderer. To train from pixels, use backend='warp' on a CUDA device."
)


class NativeRenderer:
    """Casts rays and renders camera images of all worlds with MuJoCo C."""

    notes: tuple[str, ...] = (SLOW_RENDERING,)

    def __init__(
        self,
        batch: mj_batch.Batch,
        model: mujoco.MjModel,
        cameras: Sequence[CameraView],
    ) -> None:
        """Open a renderer for each image size."""
        self._batch = batch
        self._compiled = model
        self._model = model_for_drawing(model, cameras)
        # State of the world that is being rendered.
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
        """Return a function that casts the rays."""
        return NativeRays(self._batch, self._compiled, rays).cast

    def add_camera(self, view: CameraView, images: Images) -> DrawCamera:
        """Return a function that renders a camera in each world that is due."""
        arrays = {kind: image.numpy() for kind, image in images.items()}
        option, limit = _scene_option(view), np.float32(view.max_distance)

        def draw(world: int) -> None:
            self._show(world)
            renderer = self._aim(view, option)
            if "rgb" in arrays:
                renderer.render(out=arrays["rgb"][world])
            if "depth" in arrays:
                renderer.enable_depth_rendering()
                # Pixels without a hit lie on the far plane, beyond the limit.
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
        """Copy the state and the model fields of one world for rendering."""
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
        """Set up and return the renderer for a camera of the loaded world."""
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
        """Build a ground map, if all rays point down on static ground."""
        self._batch = batch
        self._groups = _group_flags(rays.geom_groups)
        self._excluded = np.asarray(rays.excluded_bodies, np.int32)
        self._starts = rays.starts.numpy()
        self._directions = rays.directions.numpy()
        outputs = (rays.distance, rays.geom, rays.normal)
        self._outputs = [output.numpy() for output in outputs]
        self._map = _map_for(model, rays)

    def cast(self) -> None:
        """Write distance, geom and normal of each ray."""
        if self._map is None:
            self._ask_mujoco(slice(None))
            return
        x, y, z = (self._starts[..., i].astype(np.float64) for i in range(3))
        below = self._map.below(x.ravel(), y.ravel())
        height = below.height.reshape(z.shape)
        distance, geom, normal = self._outputs
        with np.errstate(invalid="ignore"):  # The state of a world can be NaN.
            np.copyto(distance, z - height, casting="same_kind")
        distance[~np.isfinite(distance)] = -1.0
        np.copyto(geom, below.geom.reshape(z.shape))
        np.copyto(normal, below.normal.reshape(normal.shape), casting="same_kind")
        # The map holds only the upper surfaces of the compiled model. MuJoCo casts all
        # rays of a world if a ray starts below a surface, or if its ground differs.
        others = (z < height).any(axis=1) | self._map.differs(self._batch)
        if others.any():
            self._ask_mujoco(np.flatnonzero(others))

    def _ask_mujoco(self, worlds: np.ndarray | slice) -> None:
        """Cast the rays of some worlds with MuJoCo, against every geom.

        This recomputes the kinematics of these worlds, and their next step starts from
        scratch instead of continuing from `forward()`. State and derived fields do not
        change.
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
    except Exception as error:  # Each OpenGL binding has its own exceptions.
        raise VisionError(
            f"Camera sensor {view.name!r}: MuJoCo's renderer found no OpenGL. On a "
            "machine without a display, set MUJOCO_GL=egl or MUJOCO_GL=osmesa before "
            f"Python starts. Renderer error: {error}"
        ) from error
    # OpenGL must be closed while its binding still works: at interpreter exit, before
    # modules are torn down.
    weakref.finalize(renderer, _close, weakref.ref(renderer))
    return renderer


def _close(reference: "weakref.ref[mujoco.Renderer]") -> None:
    renderer = reference()
    if renderer is not None:
        renderer.close()


def _scene_option(view: CameraView) -> mujoco.MjvOption:
    """Return options that show only geoms, as Warp's renderer does."""
    option = mujoco.MjvOption()
    option.geomgroup[:] = _group_flags(view.geom_groups)
    for groups in (option.sitegroup, option.tendongroup, option.skingroup):
        groups[:] = 0
    for flag in ("RANGEFINDER", "CONSTRAINT", "ACTUATOR"):
        option.flags[getattr(mujoco.mjtVisFlag, f"mjVIS_{flag}")] = 0
    option.flags[mujoco.mjtVisFlag.mjVIS_TEXTURE] = view.use_textures
    return option


def _group_flags(groups: Collection[int]) -> np.ndarray:
    """Convert geom groups to MuJoCo's array of group flags."""
    flags = np.zeros(mujoco.mjNGROUP, np.uint8)
    flags[list(groups)] = 1
    return flags


def _map_for(model: mujoco.MjModel, rays: Rays) -> GroundMap | None:
    """Return a ground map if all rays point down on static ground, else None."""
    ground = GroundMap.of(model, rays.geom_groups) if rays.points_down else None
    if ground is None or ground.bodies & set(rays.excluded_bodies):
        return None
    return ground

"""Rays and cameras on the Warp engine, with bounding volume hierarchies (BVH)."""

from collections.abc import Callable, Collection, Sequence
from typing import Any, Protocol, cast

import mujoco_warp as mjw
import torch
import warp as wp
from mujoco_warp._src.types import vec6

from mjlab.sensor.vision import (
    PIXELS,
    CameraView,
    DrawCamera,
    Images,
    Rays,
    model_for_drawing,
)
from mjlab.sim import SensePass, Simulation


class _Arrays(Protocol):
    """Model and data arrays of the Warp engine. `expand` replaces model arrays."""

    @property
    def wp_model(self) -> mjw.Model: ...

    @property
    def wp_data(self) -> mjw.Data: ...


class WarpRenderer:
    """Renderer with one BVH per set of geoms; cameras that share a BVH render together.

    A BVH holds the geoms of all worlds. Each `sense()` first refits it to the current
    poses and sizes of the geoms. On height fields, rays miss about 4 % of the hits that
    MuJoCo C 4.0.0 finds.
    """

    notes: tuple[str, ...] = ()

    def __init__(
        self,
        sim: Simulation,
        cameras: Sequence[CameraView],
        ray_groups: Collection[tuple[int, ...]],
    ) -> None:
        """Build the BVHs of all cameras and rays."""
        self._arrays = cast(_Arrays, sim.engine)
        self._device = str(sim.device)
        self._trees: list[_Tree] = []
        looks = {_look(view): None for view in cameras}
        for look in looks:
            views = [view for view in cameras if _look(view) == look]
            self._trees.append(_Tree(sim, look[0], views))
        hit = {group for groups in ray_groups for group in groups}
        if hit and not any(hit <= set(tree.geom_groups) for tree in self._trees):
            self._trees.append(_Tree(sim, tuple(sorted(hit)), []))
        for tree in self._trees:
            sim.add_sense_pass(tree)

    def add_rays(self, rays: Rays) -> Callable[[], None]:
        """Return a function that casts the rays."""
        # Typed as Any: type checkers do not understand Warp's array annotations.
        starts: Any
        directions: Any
        distance: Any
        geom: Any
        normal: Any
        arrays, context = self._arrays, self._tree_for(rays.geom_groups).context
        groups = vec6(*(int(group in rays.geom_groups) for group in range(6)))
        with wp.ScopedDevice(self._device):
            excluded = wp.array(rays.excluded_bodies, dtype=wp.int32)
        starts = wp.from_torch(rays.starts, dtype=wp.vec3)
        directions = wp.from_torch(rays.directions, dtype=wp.vec3)
        distance, geom = wp.from_torch(rays.distance), wp.from_torch(rays.geom)
        normal = wp.from_torch(rays.normal, dtype=wp.vec3)

        def cast() -> None:
            mjw.rays(
                arrays.wp_model,
                arrays.wp_data,
                starts,
                directions,
                groups,
                True,
                excluded,
                distance,
                geom,
                normal,
                context,
            )

        return cast

    def add_camera(self, view: CameraView, images: Images) -> DrawCamera:
        """Return a function that copies a camera's images into `images`."""
        tree = next(tree for tree in self._trees if view in tree.views)
        return _Pictures(tree, view, images).copy

    def _tree_for(self, groups: tuple[int, ...]) -> "_Tree":
        return next(t for t in self._trees if set(groups) <= set(t.geom_groups))


class _Tree(SensePass):
    """BVH of the geoms in some groups, with the cameras that render these groups."""

    def __init__(
        self, sim: Simulation, geom_groups: tuple[int, ...], views: list[CameraView]
    ) -> None:
        self.geom_groups = geom_groups
        self.views = views
        self._arrays = cast(_Arrays, sim.engine)
        model = model_for_drawing(sim.mj_model, views)
        with wp.ScopedDevice(str(sim.device)):
            self.context = mjw.create_render_context(
                model,
                nworld=sim.num_envs,
                cam_res=[(view.width, view.height) for view in views],
                render_rgb=["rgb" in view.data_types for view in views],
                render_depth=["depth" in view.data_types for view in views],
                render_seg=["segmentation" in view.data_types for view in views],
                use_textures=any(view.use_textures for view in views),
                use_shadows=any(view.use_shadows for view in views),
                enabled_geom_groups=list(geom_groups),
                cam_active=[view.camera_id for view in views],
                # Rays computed beforehand would ignore a field of view that differs
                # between worlds.
                use_precomputed_rays=False,
                render_skybox=any(view.use_textures for view in views),
            )
            # The BVH was built on Warp's own stream, and is used on torch's.
            wp.synchronize_device()

    def launch(self) -> None:
        """Refit the BVH to the current poses, and render all cameras."""
        m, d = self._arrays.wp_model, self._arrays.wp_data
        mjw.refit_bvh(m, d, self.context)
        if self.views:
            mjw.render(m, d, self.context)


class _Pictures:
    """Copies the images of one camera from the arrays of all cameras to its tensors."""

    def __init__(self, tree: _Tree, view: CameraView, images: Images) -> None:
        context, index = tree.context, tree.views.index(view)
        self._rgb, self._depth, self._segmentation = map(images.get, PIXELS)
        self._limit = view.max_distance

        def part(values: wp.array, addresses: wp.array) -> torch.Tensor:
            start = int(addresses.numpy()[index])
            pixels = wp.to_torch(values)[:, start : start + view.width * view.height]
            return pixels.unflatten(1, (view.height, view.width))

        if self._rgb is not None:
            # Packed as 0xAARRGGBB, which lies in memory as blue, green, red, alpha.
            packed = part(context.rgb_data.view(wp.int32), context.rgb_adr)
            self._bytes = packed.unsqueeze(-1).view(torch.uint8)
            self._order = torch.tensor((2, 1, 0), device=packed.device)
        if self._depth is not None:
            depth = part(context.depth_data, context.depth_adr)
            self._raw_depth = depth.unsqueeze(-1)
        if self._segmentation is not None:
            self._labels = part(context.seg_data, context.seg_adr)

    def copy(self, due: torch.Tensor) -> None:
        """Copy the images of the worlds that are due."""
        rows = due.view(-1, 1, 1, 1)
        if self._rgb is not None:
            colors = self._bytes.index_select(-1, self._order)
            torch.where(rows, colors, self._rgb, out=self._rgb)
        if self._depth is not None:
            raw = self._raw_depth
            # Warp writes 0 for pixels without a hit.
            depth = raw.masked_fill(raw <= 0.0, self._limit).clamp(max=self._limit)
            torch.where(rows, depth, self._depth, out=self._depth)
        if self._segmentation is not None:
            torch.where(rows, self._labels, self._segmentation, out=self._segmentation)


def _look(view: CameraView) -> tuple[tuple[int, ...], bool, bool]:
    """Return the settings that must be equal for cameras rendered together."""
    return tuple(sorted(view.geom_groups)), view.use_textures, view.use_shadows

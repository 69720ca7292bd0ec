"""Ray casting of the native engine's worlds, with Warp kernels on CPU threads."""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import mujoco
import numpy as np
import torch
import warp as wp

from mjlab.render import ray_kernels as kernels
from mjlab.render.ray_meshes import Surfaces
from mjlab.sensor.vision import NEAR, CameraView, DrawCamera, Images, VisionError
from mjlab.sim import Simulation

_DRAWN = (
    "rendered by ray casting: flat colours without textures, gloss, shadows, haze or "
    "sky. Videos use MuJoCo's renderer."
)
_TYPES: dict[Any, torch.dtype] = {wp.int32: torch.int32}

_SHAPES = {
    "kind": ("geom_type", wp.int32),
    "pos": ("geom_pos", wp.vec3),
    "quat": ("geom_quat", wp.vec4),
    "size": ("geom_size", wp.vec3),
    "asset": ("geom_dataid", wp.int32),
    "material": ("geom_matid", wp.int32),
    "rgba": ("geom_rgba", wp.vec4),
    "material_rgba": ("mat_rgba", wp.vec4),
    "emission": ("mat_emission", wp.float32),
}
_LIGHTS = {
    "kind": ("light_type", wp.int32),
    "active": ("light_active", wp.int32),
    "ambient": ("light_ambient", wp.vec3),
    "diffuse": ("light_diffuse", wp.vec3),
    "attenuation": ("light_attenuation", wp.vec3),
    "cutoff": ("light_cutoff", wp.float32),
    "exponent": ("light_exponent", wp.float32),
}

_EYE = {
    "fovy": ("cam_fovy", wp.float32),
    "sensor": ("cam_sensorsize", wp.vec2),
    "intrinsic": ("cam_intrinsic", wp.vec4),
}


class RayRenderer:
    """Renders cameras of all worlds; each thread renders its own worlds.

    The images of a world depend on its own fields only, so they are bit-identical for
    any number of threads.
    """

    notes: tuple[str, ...] = (_DRAWN,)

    def __init__(self, sim: Simulation) -> None:
        self._sim = sim
        batch = sim.engine.batch
        assert batch is not None, "Warp has its own renderer."
        self._num_threads = max(1, min(batch.nthread, sim.num_envs))
        self._pool = ThreadPoolExecutor(self._num_threads)

    def add_camera(self, view: CameraView, images: Images) -> DrawCamera:
        """Return a function that renders a camera into `images`."""
        _refuse_view(self._sim.mj_model, view)
        wp.load_module(kernels, device="cpu")  # Loaded here once, not in each thread.
        surfaces = Surfaces(self._sim.mj_model)
        return _Camera(self._sim, view, images, surfaces, self._run).draw

    def _run(self, launch: Callable[[int, int], None]) -> None:
        """Launch for every thread's worlds; the calling thread runs the first part."""
        num_envs = self._sim.num_envs
        ends = [num_envs * i // self._num_threads for i in range(self._num_threads + 1)]
        parts = list(pairwise(ends))
        waiting = [self._pool.submit(launch, *part) for part in parts[1:]]
        launch(*parts[0])
        for part in waiting:
            part.result()


class _Camera:
    """One camera of all worlds, with the arrays that its kernel reads and writes."""

    def __init__(
        self,
        sim: Simulation,
        view: CameraView,
        images: Images,
        surfaces: Surfaces,
        run: Callable[[Callable[[int, int], None]], None],
    ) -> None:
        self._run, self._view = run, view
        self._kept = surfaces  # Kernels store only the addresses of these tensors.
        self._fields = _Fields(sim)
        self._due = torch.ones(sim.num_envs, dtype=torch.bool)
        self._due_worlds = wp.from_torch(self._due)
        self._shapes = self._make_shapes(sim, view, surfaces)
        self._lights = self._make_lights(sim)
        self._eye = self._make_eye(sim, view)
        self._out = _outputs(sim.num_envs, view, images)
        self._images = images

    def draw(self, due: torch.Tensor) -> None:
        """Render the worlds whose image is due."""
        self._fields.bring(self._shapes, _SHAPES)
        self._fields.bring(self._lights, _LIGHTS)
        self._fields.bring(self._eye, _EYE)
        self._due.copy_(due)
        inputs = [
            self._due_worlds,
            self._shapes,
            self._lights,
            self._eye,
            self._out,
        ]

        def launch(first: int, end: int) -> None:
            wp.launch(kernels.draw, end - first, [first, *inputs], device="cpu")

        self._run(launch)

    def _make_shapes(
        self, sim: Simulation, view: CameraView, surfaces: Surfaces
    ) -> Any:
        model, shapes = sim.mj_model, kernels.Shapes()
        shown = np.flatnonzero(np.isin(model.geom_group, view.geom_groups))
        shapes.shown = wp.array(shown.astype(np.int32), device="cpu")
        shapes.body = wp.array(model.geom_bodyid, dtype=wp.int32, device="cpu")
        shapes.body_pos = _live(sim.data.xpos, wp.vec3)
        shapes.body_mat = _live(sim.data.xmat, wp.mat33)
        shapes.surfaces = surfaces.handles
        shapes.center, shapes.half = surfaces.centers, surfaces.halves
        shapes.num_meshes = model.nmesh
        return shapes

    def _make_lights(self, sim: Simulation) -> Any:
        lights, head = kernels.Lights(), sim.mj_model.vis.headlight
        lights.pos = _live(sim.data.light_xpos, wp.vec3)
        lights.dir = _live(sim.data.light_xdir, wp.vec3)
        active = 1.0 if head.active else 0.0
        lights.head_ambient = wp.vec3(*(active * head.ambient))
        lights.head_diffuse = wp.vec3(*(active * head.diffuse))
        return lights

    def _make_eye(self, sim: Simulation, view: CameraView) -> Any:
        eye, model = kernels.Eye(), sim.mj_model
        eye.index = view.camera_id
        eye.pos = _live(sim.data.cam_xpos, wp.vec3)
        eye.mat = _live(sim.data.cam_xmat, wp.mat33)
        eye.width, eye.height = view.width, view.height
        eye.near, eye.limit = NEAR, view.max_distance
        # The far plane that `model_for_drawing` sets for MuJoCo's renderer.
        farthest = model.vis.map.zfar * model.stat.extent
        eye.far = max(farthest, 1.1 * view.max_distance)
        if view.data_types == ("depth",):
            eye.far = view.max_distance  # The depth buffer is the image.
        return eye


class _Fields:
    """Model fields as kernel arrays: one row per world, or a single row."""

    def __init__(self, sim: Simulation) -> None:
        self.model = sim.mj_model
        self._engine = sim.engine
        self._shared: dict[str, torch.Tensor] = {}
        self._held: dict[str, tuple[torch.Tensor, torch.Tensor]] = {}

    def tensor(self, name: str) -> torch.Tensor:
        """Return a field, shape (num_envs or 1, ...)."""
        live = self._engine.model(name)
        if live is not None:
            return live
        if name not in self._shared:
            value = np.asarray(getattr(self.model, name))
            typed = value.astype(np.float32 if value.dtype.kind == "f" else np.int32)
            self._shared[name] = torch.from_numpy(typed)[None]
        return self._shared[name]

    def bring(self, struct: Any, table: Mapping[str, tuple[str, Any]]) -> None:
        """Set the fields of a kernel's struct to the current values, by name."""
        for name, (field, dtype) in table.items():
            source = self.tensor(field)
            held = self._held.get(field)
            if held is None or held[0] is not source:
                typed = source.to(_TYPES.get(dtype, torch.float32))
                held = self._held[field] = (source, typed)
                setattr(struct, name, _live(typed, dtype))
            if held[1] is not source:
                held[1].copy_(source)


def _live(tensor: torch.Tensor, dtype: Any) -> wp.array:
    """Return a Warp array that shares a tensor's memory, shape (rows, elements)."""
    rows, elements = tensor.shape[:2]
    if elements == 0:
        return wp.zeros((rows, 0), dtype=dtype, device="cpu")
    if dtype in (wp.int32, wp.float32):
        tensor = tensor.view(rows, elements)
    return wp.from_torch(tensor, dtype=dtype)


def _outputs(num_envs: int, view: CameraView, images: Images) -> Any:
    pixels = view.width * view.height
    out = kernels.Pixels()
    only_depth = view.data_types == ("depth",)

    def new(dtype: Any, *, used: bool) -> wp.array:
        return wp.zeros((num_envs if used else 0, pixels), dtype=dtype, device="cpu")

    def image(kind: str, dtype: Any) -> wp.array:
        if kind not in images:
            return new(dtype, used=False)
        return wp.from_torch(images[kind].flatten(1), dtype=dtype)

    depth = image("depth", wp.float32)
    out.nearest = depth if only_depth else new(wp.float32, used=True)
    out.depth = new(wp.float32, used=False) if only_depth else depth
    out.geom = new(wp.int32, used=not only_depth)
    out.normal = new(wp.vec3, used="rgb" in images)
    out.labels = image("segmentation", wp.int32)
    out.rgb = image("rgb", wp.uint8)
    return out


def _refuse_view(model: mujoco.MjModel, view: CameraView) -> None:
    where = f"Camera sensor {view.name!r}"
    if model.nflex:
        raise VisionError(
            f"{where}: RayRendererCfg does not support flexes, and the scene has "
            f"{model.nflex}: set renderer=None for MuJoCo's renderer."
        )
    if view.use_shadows:
        raise VisionError(
            f"{where}: RayRendererCfg does not support shadows: set "
            "use_shadows=False, or renderer=None for MuJoCo's renderer."
        )
    if model.cam_projection[view.camera_id] != mujoco.mjtProjection.mjPROJ_PERSPECTIVE:
        raise VisionError(
            f"{where}: RayRendererCfg does not support orthographic cameras: set "
            "renderer=None for MuJoCo's renderer."
        )
    shown = np.isin(model.geom_group, view.geom_groups)
    if (model.geom_type[shown] == mujoco.mjtGeom.mjGEOM_SDF).any():
        raise VisionError(
            f"{where}: RayRendererCfg does not support geoms of type sdf: exclude "
            "their group from geom_groups, or set renderer=None for MuJoCo's "
            "renderer."
        )

"""Cameras: colour, depth and segmentation images."""

from dataclasses import fields
from typing import Literal, get_args

import mujoco
import torch

from mjlab.names import UnknownNameError, find_name, suggest
from mjlab.sensor.objects import (
    ObjRef,
    SensorError,
    object_id,
    object_names,
    require_object,
)
from mjlab.sensor.patterns import Vec3
from mjlab.sensor.sensor import Sensor, SensorCfg, SensorContext
from mjlab.sensor.vision import PIXELS, CameraRendererCfg, CameraView, Images
from mjlab.sim import SensePass
from mjlab.tensors.masks import fill_where

DataType = Literal["rgb", "depth", "segmentation"]


class CameraSensorCfg(SensorCfg):
    """Camera sensor: renders a camera of the scene, or adds a camera and renders it.

    On the Warp engine one launch renders all worlds, and all cameras that have the same
    `geom_groups`, `use_textures` and `use_shadows`. On the native engine MuJoCo's
    renderer renders one world at a time.
    """

    camera: str | None = None
    """Full name of a camera of the scene, such as "robot/head". None adds a camera.
    `mdp.randomize.cam_pos` and similar terms need a camera of an entity: one of its
    model, or of `EntityCfg.cameras`."""

    parent: ObjRef | None = None
    """Body that an added camera is fixed to. None fixes it to the world."""

    pos: Vec3 = (0.0, 0.0, 1.0)
    """Position of an added camera in the frame of its parent, in m."""

    quat: tuple[float, float, float, float] = (1.0, 0.0, 0.0, 0.0)
    """Rotation of an added camera, wxyz. A camera looks along its -z axis, y is up."""

    fovy: float | None = None
    """Vertical angle of view of an added camera, in degrees. None uses MuJoCo's
    default, 45."""

    width: int = 160
    """Image width, pixels."""

    height: int = 120
    """Image height, pixels."""

    data_types: tuple[DataType, ...] = ("rgb",)
    """Image types to render."""

    update_every: int = 1
    """Control steps per image: 2 gives half the control rate. Each world gets a new
    image after its own reset. The native engine renders only the worlds that are due;
    Warp renders all worlds and copies the images that are due."""

    max_distance: float = 20.0
    """Maximum depth in m, also the depth of pixels without a hit."""

    geom_groups: tuple[int, ...] = (0, 1, 2)
    """Geom groups to render."""

    use_textures: bool = True
    """Render the textures of materials."""

    use_shadows: bool = False
    """Render shadows of lights."""

    renderer: CameraRendererCfg | None = None
    """Renderer on the native engine, such as `mjlab.render.RayRendererCfg`, which is
    many times faster for small images. None uses MuJoCo's renderer, one world at a
    time."""

    def edit_spec(self, spec: mujoco.MjSpec) -> None:
        """Add the camera, or check that it exists."""
        self._check()
        if self.camera is not None:
            try:
                find_name(self.camera, object_names(spec, "camera"), what="camera")
            except UnknownNameError as error:
                raise UnknownNameError(f"Sensor {self.name!r}: {error}") from None
            return
        body = spec.worldbody
        if self.parent is not None:
            require_object(spec, self.parent, self.name)
            body = spec.body(self.parent.full_name)
        camera = body.add_camera(name=self.name, pos=self.pos, quat=self.quat)
        if self.fovy is not None:
            camera.fovy = self.fovy

    def bind(self, context: SensorContext) -> "CameraSensor":
        sensor = CameraSensor(self, context)
        context.sim.add_sense_pass(sensor)
        return sensor

    def view(self, model: mujoco.MjModel) -> CameraView:
        """Return the render settings, with the camera's id in the compiled model."""
        name = self.name if self.camera is None else self.camera
        index = object_id(model, ObjRef(type="camera", name=name))
        drawn = [field.name for field in fields(CameraView)[1:]]
        return CameraView(index, **{field: getattr(self, field) for field in drawn})

    def _check(self) -> None:
        where = f"Camera sensor {self.name!r}"
        for kind in self.data_types:
            if kind not in get_args(DataType):
                raise SensorError(
                    f"{where}: there is no data type {kind!r}. "
                    + suggest(kind, get_args(DataType))
                )
        if not self.data_types:
            raise SensorError(
                f"{where}: data_types is empty; name at least one of 'rgb', 'depth' "
                "and 'segmentation'."
            )
        for setting in ("width", "height", "update_every"):
            if getattr(self, setting) < 1:
                raise SensorError(
                    f"{where}: {setting}={getattr(self, setting)} has to be 1 or more."
                )
        if not self.max_distance > 0.0:
            raise SensorError(
                f"{where}: max_distance={self.max_distance} has to be positive."
            )
        if self.parent is not None and self.parent.type not in ("body", "xbody"):
            raise SensorError(
                f"{where}: parent {self.parent.full_name!r} has to be a body, not a "
                f"{self.parent.type}."
            )
        if self.camera is not None and self.parent is not None:
            raise SensorError(
                f"{where}: parent is only for an added camera, but "
                f"camera={self.camera!r} exists already. Leave parent out."
            )


class CameraData:
    """Images of a camera, written in place by `sim.sense()`."""

    def __init__(self, name: str, images: Images, max_distance: float) -> None:
        self._name = name
        self.max_distance = max_distance
        """Maximum depth in m, also the depth of pixels without a hit."""
        self._images = images

    @property
    def rgb(self) -> torch.Tensor:
        """RGB image, shape (num_envs, height, width, 3), uint8."""
        return self._drawn("rgb")

    @property
    def depth(self) -> torch.Tensor:
        """Distance along the optical axis in m, (num_envs, height, width, 1).

        Clipped at `max_distance`, which is also the depth of pixels without a hit.
        """
        return self._drawn("depth")

    @property
    def segmentation(self) -> torch.Tensor:
        """Object id and mjtObj type, (num_envs, height, width, 2), int32.

        Both are -1 in pixels without a hit.
        """
        return self._drawn("segmentation")

    def _drawn(self, kind: DataType) -> torch.Tensor:
        if kind not in self._images:
            raise AttributeError(
                f"Camera sensor {self._name!r} does not render {kind}: add {kind!r} to "
                "its data_types."
            )
        return self._images[kind]


class CameraSensor(Sensor, SensePass):
    """Camera sensor, a sense pass that renders in `sim.sense()`."""

    updates_from_readings = True

    def __init__(self, cfg: CameraSensorCfg, context: SensorContext) -> None:
        self.name, self.cfg = cfg.name, cfg
        sim, renderer = context.sim, context.renderer
        if cfg.renderer is not None and sim.engine.batch is not None:
            renderer = cfg.renderer.open(sim)
        assert renderer is not None, "Call `bind_sensors` first."
        self.notes = renderer.notes
        self._period = cfg.update_every
        shape = (sim.num_envs, cfg.height, cfg.width)
        self._images: Images = {
            kind: torch.zeros(*shape, size, dtype=dtype, device=sim.device)
            for kind, (size, dtype) in PIXELS.items()
            if kind in cfg.data_types
        }
        self._data = CameraData(cfg.name, self._images, cfg.max_distance)
        # Shape (num_envs,): control steps since the reset, and worlds that are due.
        self._steps = torch.zeros(sim.num_envs, dtype=torch.int64, device=sim.device)
        self._due = torch.ones(sim.num_envs, dtype=torch.bool, device=sim.device)
        # 1 until the first physics step after `sense()`. A partial reset also calls
        # `sense()`, but is not a control step of the other worlds.
        self._sensed = torch.ones_like(self._steps[:1])
        self._draw = renderer.add_camera(cfg.view(sim.mj_model), self._images)

    @property
    def data(self) -> CameraData:
        """Images of the camera."""
        return self._data

    def update(self, dt: float) -> None:
        """Count control steps since the reset, each at its first physics step."""
        if self._period > 1:
            self._steps.add_(self._sensed)
            self._sensed.zero_()

    def prepare(self) -> None:
        """Mark the worlds whose next image is due."""
        torch.eq(self._steps % self._period, 0, out=self._due)
        self._sensed.fill_(1)

    def finish(self) -> None:
        """Render the images that are due, and copy them to the output."""
        self._draw(self._due)

    def reset(self, mask: torch.Tensor) -> None:
        """Request new images of the worlds in `mask` from the next `sim.sense()`."""
        fill_where(self._steps, mask, 0)

    def state(self) -> dict[str, torch.Tensor]:
        """Return the live state tensors; copy into them to restore a snapshot."""
        return {**self._images, "steps": self._steps}

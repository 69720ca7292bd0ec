"""Rays and cameras as either engine takes them, and an engine as they take it.

`Renderer` is an engine's way of looking at the worlds. `NativeRenderer`: one MuJoCo
renderer per picture size, and rays through `mujoco.batch` or a map of the ground.
`WarpRenderer`: one tree of bounding boxes per set of visible geoms, in which both rays
and cameras search.
"""

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import mujoco
import torch

from mjlab.settings import Config
from mjlab.sim import Simulation

NEAR = 0.01
"""Meters from a camera within which the native renderer shows nothing."""


class VisionError(ValueError):
    """Nothing to see, or nothing to see with."""


DrawCamera = Callable[[torch.Tensor], None]
"""Draws one camera of the worlds where a new picture is due, shape (num_envs,)."""


@dataclass(frozen=True)
class CameraView:
    """The picture that is drawn of one camera, as its sensor's configuration says."""

    camera_id: int
    name: str
    width: int
    height: int
    data_types: tuple[str, ...]
    geom_groups: tuple[int, ...]
    use_textures: bool
    use_shadows: bool
    max_distance: float


PIXELS: dict[str, tuple[int, torch.dtype]] = {
    "rgb": (3, torch.uint8),
    "depth": (1, torch.float32),
    "segmentation": (2, torch.int32),
}
"""Numbers of a pixel and their type, by what is drawn: colour; distance along the
optical axis, in m; object id and type (mjtObj)."""

Images = Mapping[str, torch.Tensor]
"""Outputs of one camera by what is drawn, in place, (num_envs, height, width, ...)."""


@dataclass(frozen=True)
class Rays:
    """Inputs and outputs of one set of rays, all in place. R is their number."""

    starts: torch.Tensor
    """World frame, in m, shape (num_envs, R, 3)."""

    directions: torch.Tensor
    """Unit vectors in the world frame, shape (num_envs, R, 3)."""

    excluded_bodies: tuple[int, ...]
    """For each ray the body that it passes through, or -1."""

    geom_groups: tuple[int, ...]
    """Groups of the geoms that can be hit."""

    points_down: bool
    """Whether all of them point straight down at all times."""

    distance: torch.Tensor
    """Output: distance to the hit in m, -1 for a miss, shape (num_envs, R)."""

    geom: torch.Tensor
    """Output: the geom that was hit, -1 for a miss, shape (num_envs, R), int32."""

    normal: torch.Tensor
    """Output: surface normal in the world frame, 0 for a miss, (num_envs, R, 3)."""


@dataclass(frozen=True)
class RayCastData:
    """Hits of rays, written in place by `sim.sense()`.

    F is the number of frames and R the number of rays of the pattern; dimension 1 holds
    the rays of the first frame, then those of the second. The tensors are views of
    those of all sensors that cast together, so their rows are not contiguous.
    """

    distances: torch.Tensor
    """From the start to the hit, in m, shape (num_envs, F * R). Where nothing was met
    within `max_distance` it is `max_distance`, and `hit` is False."""

    hit: torch.Tensor
    """Whether the ray met something, shape (num_envs, F * R), bool."""

    hit_pos_w: torch.Tensor
    """Where, in the world frame, in m, shape (num_envs, F * R, 3). For a miss it is the
    point at `max_distance`."""

    normals_w: torch.Tensor
    """Surface normal in the world frame, 0 for a miss, shape (num_envs, F * R, 3)."""

    geom_ids: torch.Tensor
    """The geom that was met, -1 for a miss, shape (num_envs, F * R), int32."""

    starts_w: torch.Tensor
    """Starts in the world frame, in m, shape (num_envs, F * R, 3)."""

    directions_w: torch.Tensor
    """Unit directions in the world frame, shape (num_envs, F * R, 3)."""

    frame_pos_w: torch.Tensor
    """Positions of the frames in the world, in m, shape (num_envs, F, 3)."""


class CameraRenderer(Protocol):
    """A way of drawing cameras."""

    notes: tuple[str, ...]
    """What a user of its cameras should know."""

    def add_camera(self, view: CameraView, images: Images) -> DrawCamera:
        """Return what draws a camera into `images`, for the `finish` of a pass."""
        ...


class Renderer(CameraRenderer, Protocol):
    """An engine's way of looking at the worlds."""

    def add_rays(self, rays: Rays) -> Callable[[], None]:
        """Return what casts the rays, for the `launch` of a sense pass."""
        ...


class CameraRendererCfg(Config, ABC):
    """Another renderer than MuJoCo's for cameras of the native engine."""

    @abstractmethod
    def open(self, sim: Simulation) -> CameraRenderer:
        """Return what draws the cameras of a simulation."""


def model_for_drawing(
    model: mujoco.MjModel, cameras: Sequence[CameraView]
) -> mujoco.MjModel:
    """Return a copy of `model` whose cameras see from `NEAR` to the farthest asked.

    MuJoCo's clipping planes are multiples of the model's extent, so that on a large
    terrain a robot's camera would not see what is within meters of it.
    """
    model = copy.copy(model)
    extent = float(model.stat.extent)
    far = max([view.max_distance for view in cameras], default=0.0)
    model.vis.map.znear = NEAR / extent
    # A margin, so that a distance at the limit is told from the far plane.
    model.vis.map.zfar = max(model.vis.map.zfar, 1.1 * far / extent)
    widths = [view.width for view in cameras]
    heights = [view.height for view in cameras]
    buffer = model.vis.global_
    buffer.offwidth = max([buffer.offwidth, *widths])
    buffer.offheight = max([buffer.offheight, *heights])
    return model

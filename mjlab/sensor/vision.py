"""Interface between the ray and camera sensors and the renderers of the engines.

`Renderer` casts rays and renders cameras in all worlds. `NativeRenderer` uses one
MuJoCo renderer per image size, and casts rays with `mujoco.batch` or a ground map.
`WarpRenderer` uses one bounding volume hierarchy per set of visible geoms, for both
rays and cameras.
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
"""Near clipping plane of the native renderer, m from the camera."""


class VisionError(ValueError):
    """Raised for sensor settings that cannot be rendered, or for missing OpenGL."""


DrawCamera = Callable[[torch.Tensor], None]
"""Function that renders a camera, given a mask of the worlds whose image is due."""


@dataclass(frozen=True)
class CameraView:
    """Render settings of one camera, from its sensor's configuration."""

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
"""Channels and dtype of each image type: colour; distance along the optical axis, in m;
object id and type (mjtObj)."""

Images = Mapping[str, torch.Tensor]
"""Images of one camera by type, shape (num_envs, height, width, ...). Renderers write
them in place."""


@dataclass(frozen=True)
class Rays:
    """Input and output tensors of one set of R rays, written in place."""

    starts: torch.Tensor
    """Ray origins in the world frame, m, shape (num_envs, R, 3)."""

    directions: torch.Tensor
    """Unit vectors in the world frame, shape (num_envs, R, 3)."""

    excluded_bodies: tuple[int, ...]
    """Id of the body that each ray ignores, -1 for none, R entries."""

    geom_groups: tuple[int, ...]
    """Geom groups that rays can hit."""

    points_down: bool
    """True if all rays point straight down in every pose."""

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
    the rays of the first frame, then the rays of the second. The tensors are views of
    tensors shared by several sensors, so their rows are not contiguous.
    """

    distances: torch.Tensor
    """Distance from ray origin to hit, in m, shape (num_envs, F * R). Without a hit
    within `max_distance` it is `max_distance`, and `hit` is False."""

    hit: torch.Tensor
    """True where the ray hit a geom, shape (num_envs, F * R), bool."""

    hit_pos_w: torch.Tensor
    """Hit position in the world frame, in m, shape (num_envs, F * R, 3). For a miss it
    is the point at `max_distance`."""

    normals_w: torch.Tensor
    """Surface normal in the world frame, 0 for a miss, shape (num_envs, F * R, 3)."""

    geom_ids: torch.Tensor
    """Id of the geom that was hit, -1 for a miss, shape (num_envs, F * R), int32."""

    starts_w: torch.Tensor
    """Ray origins in the world frame, m, shape (num_envs, F * R, 3)."""

    directions_w: torch.Tensor
    """Unit directions in the world frame, shape (num_envs, F * R, 3)."""

    frame_pos_w: torch.Tensor
    """Positions of the frames in the world, in m, shape (num_envs, F, 3)."""


class CameraRenderer(Protocol):
    """Interface of camera renderers."""

    notes: tuple[str, ...]
    """Notes on camera rendering, for the start-up report."""

    def add_camera(self, view: CameraView, images: Images) -> DrawCamera:
        """Return a function that renders a camera into `images`, called in `finish`."""
        ...


class Renderer(CameraRenderer, Protocol):
    """Interface of an engine's renderer of cameras and rays."""

    def add_rays(self, rays: Rays) -> Callable[[], None]:
        """Return a function that casts the rays, called in a sense pass's `launch`."""
        ...


class CameraRendererCfg(Config, ABC):
    """Base class of alternatives to MuJoCo's camera renderer on the native engine."""

    @abstractmethod
    def open(self, sim: Simulation) -> CameraRenderer:
        """Create the camera renderer of a simulation."""


def model_for_drawing(
    model: mujoco.MjModel, cameras: Sequence[CameraView]
) -> mujoco.MjModel:
    """Return a copy of `model` that renders from `NEAR` to the largest camera range.

    MuJoCo's clipping planes are multiples of the model's extent, so on a large terrain
    a robot's camera would clip everything within metres of it.
    """
    model = copy.copy(model)
    extent = float(model.stat.extent)
    far = max([view.max_distance for view in cameras], default=0.0)
    model.vis.map.znear = NEAR / extent
    # The margin separates a distance at the limit from the far plane.
    model.vis.map.zfar = max(model.vis.map.zfar, 1.1 * far / extent)
    widths = [view.width for view in cameras]
    heights = [view.height for view in cameras]
    buffer = model.vis.global_
    buffer.offwidth = max([buffer.offwidth, *widths])
    buffer.offheight = max([buffer.offheight, *heights])
    return model

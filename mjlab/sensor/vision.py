"""What rays and cameras are to either engine, and what an engine is to them.

`EngineSight` is an engine's way of looking at the worlds. Native (`render_native`): one
MuJoCo renderer per picture size, and rays through `mujoco.batch` or a map of the
ground. Warp (`render_warp`): one tree of bounding boxes per set of visible geoms, in
which both rays and cameras search.
"""

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import mujoco
import torch

NEAR = 0.01
"""Meters from a camera within which the native renderer shows nothing."""


class SightError(ValueError):
    """Nothing to see, or nothing to see with."""


@dataclass(frozen=True)
class CameraView:
    """What is drawn of one camera."""

    sensor: str
    camera_id: int
    width: int
    height: int
    data_types: tuple[str, ...]
    geom_groups: tuple[int, ...]
    use_textures: bool
    use_shadows: bool
    max_distance: float


@dataclass(frozen=True)
class Images:
    """Outputs of one camera, in place; None is not drawn."""

    rgb: torch.Tensor | None
    """Shape (num_envs, height, width, 3), uint8."""

    depth: torch.Tensor | None
    """Along the optical axis, in m, shape (num_envs, height, width, 1)."""

    segmentation: torch.Tensor | None
    """Object id and type (mjtObj), shape (num_envs, height, width, 2), int32."""


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


class Eye(Protocol):
    """Draws one camera. `due`, shape (num_envs,), is where a new picture is wanted."""

    def launch(self, due: torch.Tensor) -> None:
        """Run the engine's part."""
        ...

    def finish(self, due: torch.Tensor) -> None:
        """Write the pictures of the worlds that are due."""
        ...


class EngineSight(Protocol):
    """An engine's way of looking at the worlds."""

    notes: tuple[str, ...]
    """What a user of its cameras should know."""

    def add_rays(self, rays: Rays) -> Callable[[], None]:
        """Return what casts the rays, for the `launch` of a sense pass."""
        ...

    def add_camera(self, view: CameraView, images: Images) -> Eye:
        """Return what draws a camera into `images`."""
        ...


def model_for_drawing(
    model: mujoco.MjModel, cameras: Sequence[CameraView]
) -> mujoco.MjModel:
    """A copy of `model` whose cameras see from `NEAR` to the farthest distance asked.

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

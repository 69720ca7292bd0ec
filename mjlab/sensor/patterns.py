"""Ray patterns: ray origins and directions in the sensor frame."""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, Self

import mujoco
import numpy as np

from mjlab.names import find_name
from mjlab.settings import Config

Vec3 = tuple[float, float, float]

Intrinsics = tuple[float, float, float, float]
"""Focal lengths and principal point (fx, fy, cx, cy), pixels."""


_VALID = {
    "resolution": "above 0",
    "size": "two lengths, 0 or more",
    "rings": "pairs (radius, number of rays) above 0; empty only with include_center",
    "direction": "finite, and not zero",
    "intrinsic_matrix": "the entries fx, 0, cx, 0, fy, cy, 0, 0, 1",
    "width": "above 0",
    "height": "above 0",
    "axes": "'camera' or 'body'",
    "intrinsics": "(fx, fy, cx, cy) with fx and fy above 0",
    "fovy": "above 0 and below 180",
    "channels": "above 0",
    "num_azimuths": "above 0",
    "elevation": "(low, high) with -90 <= low <= high <= 90",
    "azimuth": "(first, last) with last - first from 0 to 360",
}
"""Valid values of each setting, for error messages."""


class PatternError(ValueError):
    """Raised for a ray pattern with an invalid setting."""


class PatternCfg(Config, ABC):
    """Base class of ray patterns. Lengths are in metres, angles in degrees."""

    @abstractmethod
    def rays(self) -> tuple[np.ndarray, np.ndarray]:
        """Ray origins and unit directions in the sensor frame, each (rays, 3)."""

    def check(self, spec: mujoco.MjSpec) -> None:
        """Raise if a setting is out of range, or names a missing element."""
        del spec  # Needed only by patterns that refer to a camera of the scene.
        self.rays()

    def in_model(self, model: mujoco.MjModel) -> "PatternCfg":
        """Return the pattern with settings filled in from the compiled model."""
        del model
        return self


class GridPatternCfg(PatternCfg):
    """Parallel rays from a rectangular grid around the frame, x varying fastest."""

    size: tuple[float, float] = (1.0, 1.0)
    """Extent of the grid along x and y, m."""

    resolution: float = 0.1
    """Distance between neighbouring rays, m."""

    direction: Vec3 = (0.0, 0.0, -1.0)
    """Direction of all rays."""

    def rays(self) -> tuple[np.ndarray, np.ndarray]:
        """Ray origins and unit directions in the sensor frame, each (rays, 3)."""
        _require(self.resolution > 0.0, "resolution", self.resolution)
        _require(min(self.size) >= 0.0, "size", self.size)
        x, y = (_centered(length, self.resolution) for length in self.size)
        grid_y, grid_x = np.meshgrid(y, x, indexing="ij")
        starts = np.stack((grid_x, grid_y, np.zeros_like(grid_x)), axis=-1)
        return _parallel(starts.reshape(-1, 3), self.direction)


class RingPatternCfg(PatternCfg):
    """Parallel rays from circles around the frame."""

    rings: tuple[tuple[float, int], ...] = ((0.1, 8),)
    """Radius, m, and number of rays of each circle. The first ray is on the x axis."""

    include_center: bool = True
    """Add a ray at the centre, before the rays of the circles."""

    direction: Vec3 = (0.0, 0.0, -1.0)
    """Direction of all rays."""

    @classmethod
    def single_ring(cls, radius: float, num_samples: int, **more: Any) -> Self:
        """Return a pattern of one circle; named as in mjlab 1.6."""
        return cls(rings=((radius, num_samples),), **more)

    def rays(self) -> tuple[np.ndarray, np.ndarray]:
        """Ray origins and unit directions in the sensor frame, each (rays, 3)."""
        starts = [np.zeros((1, 3))] if self.include_center else []
        for radius, count in self.rings:
            _require(radius > 0.0 and count > 0, "rings", self.rings)
            angle = 2.0 * math.pi * np.arange(count) / count
            around = (radius * np.cos(angle), radius * np.sin(angle), 0.0 * angle)
            starts.append(np.stack(around, axis=-1))
        _require(bool(starts), "rings", self.rings)
        return _parallel(np.concatenate(starts), self.direction)


class PinholePatternCfg(PatternCfg):
    """One ray through the centre of each pixel, row by row from the upper left."""

    width: int = 16
    """Image width, pixels."""

    height: int = 12
    """Image height, pixels."""

    fovy: float = 45.0
    """Vertical field of view, degrees."""

    axes: Literal["camera", "body"] = "camera"
    """A `camera` looks along -z with y up, as MuJoCo's cameras do; a `body` looks along
    +x with z up."""

    intrinsics: Intrinsics | None = None
    """Focal lengths and principal point (fx, fy, cx, cy) of a calibrated camera,
    pixels, instead of `fovy`. The centre of the upper left pixel is at (0.5, 0.5)."""

    camera: str | None = None
    """Camera of the scene, such as "robot/front". The pattern uses its resolution and
    lens instead of `width`, `height`, `fovy` and `intrinsics`."""

    @classmethod
    def from_mujoco_camera(cls, camera_name: str, **more: Any) -> Self:
        """Return the pattern of a camera of the scene; named as in mjlab 1.6."""
        return cls(camera=camera_name, **more)

    @classmethod
    def from_intrinsic_matrix(
        cls, intrinsic_matrix: Sequence[float], width: int, height: int, **more: Any
    ) -> Self:
        """Return the pattern of a camera matrix; named as in mjlab 1.6.

        Args:
            intrinsic_matrix: Camera matrix by rows: fx, 0, cx, 0, fy, cy, 0, 0, 1.
            width: Image width, pixels.
            height: Image height, pixels.
            **more: Other fields.
        """
        matrix = np.asarray(intrinsic_matrix, dtype=float).reshape(-1)
        holds = matrix.size == 9 and not matrix[[1, 3, 6, 7]].any() and matrix[8] == 1.0
        _require(holds, "intrinsic_matrix", list(intrinsic_matrix))
        fx, _, cx, _, fy, cy = matrix[:6].tolist()
        return cls(width=width, height=height, intrinsics=(fx, fy, cx, cy), **more)

    def check(self, spec: mujoco.MjSpec) -> None:
        """Raise if a setting is out of range, or the camera does not exist."""
        if self.camera is None:
            self.rays()
        else:
            names = [camera.name for camera in spec.cameras if camera.name]
            find_name(self.camera, names, what="camera")

    def in_model(self, model: mujoco.MjModel) -> "PinholePatternCfg":
        """Return the pattern with the resolution and the lens of its camera."""
        if self.camera is None:
            return self
        index = model.camera(self.camera).id
        width, height = model.cam_resolution[index].tolist()
        if width * height == 1:
            raise PatternError(
                f"The camera {self.camera!r} has a resolution of 1 x 1; set "
                "`resolution` in its model file."
            )
        lens = camera_intrinsics(model, index, width, height)
        return replace(self, camera=None, width=width, height=height, intrinsics=lens)

    def rays(self) -> tuple[np.ndarray, np.ndarray]:
        """Ray origins and unit directions in the sensor frame, each (rays, 3)."""
        if self.camera is not None:
            raise PatternError(
                f"The rays of the camera {self.camera!r} are known only in the "
                "compiled model: call `in_model` first."
            )
        _require(self.width > 0, "width", self.width)
        _require(self.height > 0, "height", self.height)
        _require(self.axes in ("camera", "body"), "axes", self.axes)
        fx, fy, cx, cy = self._intrinsics()
        right = (np.arange(self.width) + 0.5 - cx) / fx
        up = (cy - np.arange(self.height) - 0.5) / fy
        up, right = np.meshgrid(up, right, indexing="ij")
        ahead = np.ones_like(up)
        axes = (right, up, -ahead) if self.axes == "camera" else (ahead, -right, up)
        directions = np.stack(axes, axis=-1).reshape(-1, 3)
        return np.zeros_like(directions), _unit(directions)

    def _intrinsics(self) -> Intrinsics:
        """Return the focal lengths and the principal point, pixels."""
        if self.intrinsics is not None:
            _require(min(self.intrinsics[:2]) > 0.0, "intrinsics", self.intrinsics)
            return self.intrinsics
        _require(0.0 < self.fovy < 180.0, "fovy", self.fovy)
        return _symmetric_lens(self.fovy, self.width, self.height)


class LidarPatternCfg(PatternCfg):
    """Rays from one point in all directions of a spherical grid, lowest row first.

    Azimuth is measured about z from the x axis; positive elevation points up.
    """

    channels: int = 16
    """Number of rows, evenly spaced in elevation."""

    elevation: tuple[float, float] = (-15.0, 15.0)
    """Elevation of the lowest and of the highest row, degrees."""

    azimuth: tuple[float, float] = (-180.0, 180.0)
    """First and last azimuth, degrees. For a full turn the last azimuth is omitted,
    because it equals the first."""

    num_azimuths: int = 360
    """Number of rays per row."""

    def rays(self) -> tuple[np.ndarray, np.ndarray]:
        """Ray origins and unit directions in the sensor frame, each (rays, 3)."""
        _require(self.channels > 0, "channels", self.channels)
        _require(self.num_azimuths > 0, "num_azimuths", self.num_azimuths)
        low, high = self.elevation
        _require(-90.0 <= low <= high <= 90.0, "elevation", self.elevation)
        first, last = self.azimuth
        _require(0.0 <= last - first <= 360.0, "azimuth", self.azimuth)
        is_full_turn = math.isclose(last - first, 360.0)
        azimuth = np.linspace(first, last, self.num_azimuths, endpoint=not is_full_turn)
        elevation = np.linspace(low, high, self.channels)
        pitch, yaw = np.meshgrid(
            np.radians(elevation), np.radians(azimuth), indexing="ij"
        )
        axes = (np.cos(pitch) * np.cos(yaw), np.cos(pitch) * np.sin(yaw), np.sin(pitch))
        directions = np.stack(axes, axis=-1).reshape(-1, 3)
        return np.zeros_like(directions), directions


def camera_intrinsics(
    model: mujoco.MjModel, camera: int, width: int, height: int
) -> Intrinsics:
    """Return the intrinsics of a camera for images of the given size.

    Args:
        model: The compiled model.
        camera: Id of the camera.
        width: Image width, pixels.
        height: Image height, pixels.
    """
    size = model.cam_sensorsize[camera]
    if not size.all():
        return _symmetric_lens(float(model.cam_fovy[camera]), width, height)
    per_length = np.array([width, height]) / size
    focal, shift = model.cam_intrinsic[camera].reshape(2, 2) * per_length
    center = np.array([width, height]) / 2.0 - shift
    return (*focal.tolist(), *center.tolist())


def _symmetric_lens(fovy: float, width: int, height: int) -> Intrinsics:
    focal = height / 2.0 / math.tan(math.radians(fovy) / 2.0)
    return focal, focal, width / 2.0, height / 2.0


def _centered(length: float, resolution: float) -> np.ndarray:
    # 1e-9 absorbs rounding errors: 1.6 / 0.1 = 15.999... counts as 16 intervals.
    intervals = int(length / resolution + 1e-9)
    return (np.arange(intervals + 1) - intervals / 2.0) * resolution


def _parallel(starts: np.ndarray, direction: Vec3) -> tuple[np.ndarray, np.ndarray]:
    vector = np.asarray(direction, dtype=float)
    _require(bool(np.isfinite(vector).all() and vector.any()), "direction", direction)
    return starts, np.broadcast_to(_unit(vector), starts.shape).copy()


def _unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def _require(holds: bool, setting: str, value: object) -> None:
    if not holds:
        raise PatternError(
            f"The ray pattern's {setting}={value!r} has to be {_VALID[setting]}."
        )

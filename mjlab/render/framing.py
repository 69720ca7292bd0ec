"""Camera distance that fits a subject, and smooth following."""

import math

import mujoco
import numpy as np

_HEIGHT = 0.68
"""Fraction of the image height that the subject fills in the first frame."""

_WIDTH = 0.7
"""Maximum fraction of the image width."""

_ABOVE = 0.06
"""Height of the image centre above the subject's centre, as a fraction of the image
height."""

_SMOOTHING = 0.88
"""Fraction of the error that remains after a frame: 1/3 s time constant at 25
frames/s."""

_JUMP = 1.0
"""Distance between two frames above which the camera jumps too, m."""

_NEAREST = 0.3
"""Minimum distance of a camera, m."""


class Subject:
    """Geoms that a camera shows: the geoms of an entity, or all movable geoms."""

    def __init__(self, model: mujoco.MjModel, prefix: str = "") -> None:
        """Select the geoms.

        Args:
            model: The compiled model.
            prefix: Prefix of the entity's bodies. An empty prefix selects all movable
                geoms, or all geoms in a fixed scene.
        """
        bodies = np.arange(model.nbody)
        if prefix:
            names = [model.body(body).name for body in bodies]
            chosen = bodies[[name.startswith(prefix) for name in names]]
        else:
            chosen = bodies[model.body_weldid != 0]
        has_end = model.geom_rbound > 0.0  # Planes have no finite size.
        geoms = np.flatnonzero(np.isin(model.geom_bodyid, chosen) & has_end)
        self.geoms = geoms if len(geoms) else np.flatnonzero(has_end)
        """Ids of the geoms."""

    def box(
        self, model: mujoco.MjModel, data: mujoco.MjData
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return lowest and highest corner of the geoms, world frame, m."""
        if not len(self.geoms):
            return np.full(3, -0.5), np.full(3, 0.5)
        turned = data.geom_xmat[self.geoms].reshape(-1, 3, 3)
        boxes = model.geom_aabb[self.geoms]
        middle = data.geom_xpos[self.geoms] + np.einsum(
            "gij,gj->gi", turned, boxes[:, :3]
        )
        reach = np.einsum("gij,gj->gi", np.abs(turned), boxes[:, 3:])
        return (middle - reach).min(axis=0), (middle + reach).max(axis=0)


def fitting_distance(
    model: mujoco.MjModel, low: np.ndarray, high: np.ndarray, aspect: float
) -> float:
    """Return the camera distance at which a box fills `_HEIGHT` of the image, m.

    The height is measured halfway between the near side and the centre of the box, for
    any direction. The distance is increased if the diagonal of the box would exceed
    `_WIDTH` of the image.

    Args:
        model: The model, for its field of view.
        low: Lowest corner of the box, world frame, m.
        high: Highest corner, m.
        aspect: Width of the image over its height.
    """
    size = high - low
    across = math.hypot(size[0], size[1])
    height = max(size[2] / _HEIGHT, across / (_WIDTH * aspect))
    angle = math.radians(model.vis.global_.fovy)
    return max(0.5 * height / math.tan(0.5 * angle) + 0.25 * across, _NEAREST)


class Follower:
    """Smoothed point that follows a target, without lag at a constant velocity.

    This is a g-h filter with two equal real poles.
    """

    def __init__(self) -> None:
        """Create the filter, which starts at its first target."""
        self.place = np.full(3, np.nan)
        """Filtered position, m."""
        self._step = np.zeros(3)

    def follow(self, target: np.ndarray) -> bool:
        """Advance by one frame, and return whether the point jumped.

        Args:
            target: Position of the target, m, shape (3,).
        """
        expected = self.place + self._step
        error = target - expected
        # `place` is NaN before the first target, so the comparison is False.
        if not np.linalg.norm(error) < _JUMP:
            self.place, self._step = target.copy(), np.zeros(3)
            return True
        self.place = expected + (1.0 - _SMOOTHING**2) * error
        self._step = self._step + (1.0 - _SMOOTHING) ** 2 * error
        return False


class FollowingCamera:
    """Camera of one world that follows a body at a constant distance."""

    def __init__(
        self,
        subject: Subject,
        body: int | None,
        camera: mujoco.MjvCamera,
        *,
        distance: float | None,
        aspect: float,
    ) -> None:
        """Create the framing; `look` returns the camera of each frame.

        Args:
            subject: The geoms to show.
            body: The body to follow. None keeps the camera fixed.
            camera: Direction of the camera. If it follows a body, its azimuth is
                relative to the heading of the body in the first frame, or after a jump.
            distance: Distance, m. None fits the subject into the image.
            aspect: Width of the image over its height.
        """
        self._subject, self._body, self._camera = subject, body, camera
        self._azimuth = camera.azimuth
        self._distance, self._aspect = distance, aspect
        self._follower = Follower()
        self._offset = np.zeros(3)
        self._is_placed = False

    def look(self, model: mujoco.MjModel, data: mujoco.MjData) -> mujoco.MjvCamera:
        """Return the camera for the next frame of the world."""
        jumped = not self._is_placed
        if self._body is not None:
            jumped = self._follower.follow(data.xpos[self._body])
        if jumped:
            self._place(model, data)
        shown = mujoco.MjvCamera()
        shown.type = mujoco.mjtCamera.mjCAMERA_FREE.value
        for name in ("distance", "azimuth", "elevation"):
            setattr(shown, name, getattr(self._camera, name))
        followed = self._camera.lookat if self._body is None else self._follower.place
        shown.lookat[:] = followed + self._offset
        return shown

    def _place(self, model: mujoco.MjModel, data: mujoco.MjData) -> None:
        """Reset distance, direction and look-at point."""
        camera = self._camera
        low, high = self._subject.box(model, data)
        camera.distance = self._distance or fitting_distance(
            model, low, high, self._aspect
        )
        self._is_placed = True
        if self._body is None:
            return
        forward = data.xmat[self._body].reshape(3, 3)[:, 0]
        heading = math.degrees(math.atan2(forward[1], forward[0]))
        is_level = math.hypot(forward[0], forward[1]) > 0.5
        camera.azimuth = self._azimuth + (heading if is_level else 0.0)
        # Horizontally, centre the body instead of the bounding box, which moves with
        # limbs.
        middle = 0.5 * (low[2] + high[2]) - data.xpos[self._body, 2]
        angle = math.radians(model.vis.global_.fovy)
        height = 2.0 * camera.distance * math.tan(0.5 * angle)
        self._offset = np.array([0.0, 0.0, middle + _ABOVE * height])

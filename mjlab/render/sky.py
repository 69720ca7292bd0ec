"""Sky of models without one: a gradient behind everything that is drawn."""

import mujoco
import numpy as np

HORIZON = (206, 217, 227)
"""Colour of the sky at the horizon, RGB."""

_ZENITH, _BLACK = (112, 150, 192), (0, 0, 0)

_WALL = 0.99
"""Distance of the wall, as a fraction of the far plane's distance."""

_EMISSION = 1e3
"""Emission of the wall. Its own colour is as much darker, so no light changes it."""


class Sky:
    """Gradient that replaces the background of a picture.

    A wall in the colour of the horizon closes the view, so that transparent geoms blend
    with the sky and not with MuJoCo's black background. Pixels that show only the wall
    become the gradient.
    """

    def __init__(self, height: int, width: int) -> None:
        """Compute the gradient for images of this size, in pixels."""
        self._gradient = sky_gradient(height, width)
        self._aspect = max(width / height, 1.0)
        self._behind, self._depth = _BLACK, 0.0

    def put_behind(self, scene: mujoco.MjvScene, model: mujoco.MjModel) -> None:
        """Add the wall to a scene whose camera is set.

        Reflective materials would show the wall as a bright stripe, so scenes with
        reflections have none, and their transparent geoms blend with black.
        """
        reflects = scene.flags[mujoco.mjtRndFlag.mjRND_REFLECTION.value]
        is_reflective = bool(reflects) and bool(model.mat_reflectance.any())
        self._behind, self._depth = _BLACK, 0.0
        if is_reflective or scene.ngeom >= scene.maxgeom:
            return
        camera, wall = scene.camera[0], scene.geoms[scene.ngeom]
        near, far = float(camera.frustum_near), float(camera.frustum_far)
        distance = _WALL * far
        half = 2.0 * distance * camera.frustum_top / near
        ahead, up = np.array(camera.forward), np.array(camera.up)
        axes = np.stack((np.cross(ahead, up), up, -ahead), axis=1)
        mujoco.mjv_initGeom(
            wall,
            mujoco.mjtGeom.mjGEOM_BOX,
            np.array((half * self._aspect, half, 1e-3 * distance)),
            camera.pos + distance * ahead,
            axes.astype(np.float64).flatten(),
            np.array((*(np.array(HORIZON) / 255.0 / _EMISSION), 1.0), np.float32),
        )
        wall.category = mujoco.mjtCatBit.mjCAT_DECOR
        wall.castshadow, wall.emission, wall.specular = 0, _EMISSION, 0.0
        scene.ngeom += 1
        # MuJoCo's depth is 1 at the near plane and 0 at the far plane.
        front = (2.0 * _WALL - 1.0) * far
        self._behind = HORIZON
        self._depth = near * (far - front) / (front * (far - near))

    def fill(self, pixels: np.ndarray, depth: np.ndarray) -> None:
        """Replace the pixels that show only the background, in place.

        Args:
            pixels: Image, bottom row first, shape (height, width, 3), uint8.
            depth: MuJoCo's depth, 0 at the far plane, shape (height, width).
        """
        bare = depth <= self._depth
        rows = np.flatnonzero(bare.any(axis=1))
        if not rows.size:
            return
        part = slice(rows[0], rows[-1] + 1)
        pixels, bare, sky = pixels[part], bare[part], self._gradient[part]
        for channel, value in enumerate(self._behind):
            bare &= np.abs(pixels[..., channel].astype(np.int16) - value) <= 1
        for channel in range(3):
            np.copyto(pixels[..., channel], sky[..., channel], where=bare)


def has_sky(model: mujoco.MjModel) -> bool:
    """True if the model has a sky texture."""
    return bool(np.any(model.tex_type == mujoco.mjtTexture.mjTEXTURE_SKYBOX.value))


def sky_gradient(height: int, width: int) -> np.ndarray:
    """Return a sky gradient, bottom row first, shape (height, width, 3), uint8.

    It is uniform up to the horizon of slightly downward cameras, so that haze fades
    into it.
    """
    share = np.linspace(-3.0, 1.0, height).clip(min=0.0)[:, None]
    rows = (1.0 - share) * np.array(HORIZON) + share * np.array(_ZENITH)
    return np.repeat(rows.astype(np.uint8)[:, None], width, axis=1)

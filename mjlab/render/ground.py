"""Infinite planes, rendered as a few large squares.

MuJoCo renders an infinite plane as 200 by 200 squares, three times with shadows.
Processing their vertices took a third of the time of a video frame.
"""

import mujoco
import numpy as np

_SQUARES = 40
"""Squares along each side of a plane: lighting is computed at their corners."""

_BEYOND = 1.5
"""Half of a plane's side, as a multiple of the far plane's distance."""

_PLANE = mujoco.mjtGeom.mjGEOM_PLANE.value
_DIRECTIONAL = mujoco.mjtLightType.mjLIGHT_DIRECTIONAL.value
_SKY = mujoco.mjtTexture.mjTEXTURE_SKYBOX.value
_FLAT = mujoco.mjtTexture.mjTEXTURE_2D.value
_COLOR = mujoco.mjtTextureRole.mjTEXROLE_RGB.value


class EndingPlanes:
    """Infinite planes of a model that can be replaced by large finite planes."""

    def __init__(self, model: mujoco.MjModel) -> None:
        """Resize the planes in the model from which an OpenGL context is created.

        Args:
            model: A copy. The sizes of planes are modified.
        """
        self._reach = _BEYOND * model.vis.map.zfar * model.stat.extent
        is_endless = (model.geom_type == _PLANE) & ~model.geom_size[:, :2].any(axis=1)
        # Lighting at the corners of a large square would miss a lamp nearby, and MuJoCo
        # fades only infinite planes into a sky.
        has_lamp = (model.light_type != _DIRECTIONAL).any()
        may_end = not has_lamp and not (model.tex_type == _SKY).any()
        self._planes = [
            plane
            for plane in np.flatnonzero(is_endless & may_end)
            if _repeats(model, model.geom_matid[plane])
        ]
        self._end(model)

    def put_under(
        self, model: mujoco.MjModel, data: mujoco.MjData, lookat: np.ndarray
    ) -> None:
        """Resize the planes in the model of a world, and centre them below the camera.

        They are moved by whole periods of their textures, which is invisible.

        Args:
            model: A copy of the world's model. The sizes of planes are modified.
            data: A copy of its state. The positions of planes are modified.
            lookat: Look-at point of the camera, world frame, m.
        """
        self._end(model)
        for plane in self._planes:
            along = data.geom_xmat[plane].reshape(3, 3)[:, :2]
            period = _period(model, model.geom_matid[plane])
            away = (lookat - data.geom_xpos[plane]) @ along
            data.geom_xpos[plane] += along @ (np.round(away / period) * period)

    def _end(self, model: mujoco.MjModel) -> None:
        square = 2.0 * self._reach / _SQUARES
        model.geom_size[self._planes] = (self._reach, self._reach, square)


def _is_plain(model: mujoco.MjModel, material: int) -> bool:
    return material < 0 or bool((model.mat_texid[material] < 0).all())


def _repeats(model: mujoco.MjModel, material: int) -> bool:
    """True if the appearance of a plane is periodic."""
    if _is_plain(model, material):
        return True
    texture = model.mat_texid[material, _COLOR]
    is_alone = (np.delete(model.mat_texid[material], _COLOR) < 0).all()
    is_flat = texture >= 0 and model.tex_type[texture] == _FLAT
    return bool(is_alone and is_flat and model.mat_texuniform[material])


def _period(model: mujoco.MjModel, material: int) -> np.ndarray:
    """Return the period of a plane's appearance along its axes, m."""
    if _is_plain(model, material):
        return np.ones(2)
    # MuJoCo's texrepeat refers to half sizes.
    return 2.0 / model.mat_texrepeat[material]

"""Sky and ground of the browser's scene, as in videos."""

import mujoco
import numpy as np
import viser

from mjlab.render import sky_gradient

_FADES_AT = 60.0
"""Distance at which the ground has faded out, m."""


def add_backdrop(
    server: viser.ViserServer, model: mujoco.MjModel
) -> list[tuple[int, viser.GridHandle]]:
    """Add a sky, and planes in their own colours instead of mjviser's white.

    Returns the planes with their geom groups. The caller must hide a plane if its group
    is hidden, because mjviser does not.

    Args:
        server: The server of the page.
        model: The model, whose fixed geoms mjviser has already added.
    """
    server.scene.set_background_image(sky_gradient(256, 4)[::-1], format="png")
    planes = []
    for geom in range(model.ngeom):
        body = int(model.geom_bodyid[geom])
        is_fixed = model.body_weldid[body] == 0 and model.body_mocapid[body] < 0
        if model.geom_type[geom] != mujoco.mjtGeom.mjGEOM_PLANE or not is_fixed:
            continue
        color = ground_color(model, geom)
        line = np.array([0.75 * part for part in color], dtype=np.uint8)
        # The name that mjviser uses, to replace its plane.
        name = f"/fixed_bodies/{model.body(body).name}/{model.geom(geom).name}"
        plane = server.scene.add_grid(
            name,
            infinite_grid=True,
            cell_size=1.0,
            cell_color=line,
            section_size=5.0,
            section_color=line,
            fade_distance=_FADES_AT,
            shadow_opacity=0.3,
            plane_color=color,
            plane_opacity=1.0,
            position=model.geom_pos[geom],
            wxyz=model.geom_quat[geom],
        )
        planes.append((int(model.geom_group[geom]), plane))
    return planes


def ground_color(model: mujoco.MjModel, geom: int) -> tuple[int, int, int]:
    """Return the mean colour of a geom, with its texture if it has one."""
    material = int(model.geom_matid[geom])
    shares = model.geom_rgba[geom, :3].astype(float)
    if material >= 0:
        shares = model.mat_rgba[material, :3].astype(float)
        texture = int(model.mat_texid[material, mujoco.mjtTextureRole.mjTEXROLE_RGB])
        if texture >= 0:
            shares = shares * _pixels(model, texture).mean(axis=(0, 1)) / 255.0
    red, green, blue = (round(255.0 * share) for share in shares)
    return red, green, blue


def _pixels(model: mujoco.MjModel, texture: int) -> np.ndarray:
    height, width = int(model.tex_height[texture]), int(model.tex_width[texture])
    channels, first = int(model.tex_nchannel[texture]), int(model.tex_adr[texture])
    data = model.tex_data[first : first + height * width * channels]
    return data.reshape(height, width, channels)[..., :3]

"""Camera images and camera frusta on the page."""

import colorsys
import math

import numpy as np
import torch
import viser

from mjlab.envs import ManagerBasedRlEnv
from mjlab.sensor import CameraSensor
from mjlab.tensors.math import quat_from_matrix
from mjlab.viewer.panels import Page

_WIDTH = 256
"""Minimum width of a displayed image, in pixels."""

_SIZE = 0.1
"""Size of a frustum, in viser's unit."""

_GOLDEN = 0.618034
"""Hue step between objects: the golden ratio keeps few objects clearly different."""

_OPENCV = torch.diag(torch.tensor([1.0, -1.0, -1.0]))
"""Axes of viser's cameras (z forward, y down) in the frame of MuJoCo's cameras
(-z forward, y up)."""


class CameraPanel:
    """Panel with camera images and frusta of the selected world.

    Images and frusta take no time while their checkboxes are off.
    """

    def __init__(self, page: Page) -> None:
        """Add the checkboxes to the page."""
        self._page = page
        env, gui = page.player.env, page.server.gui
        self._sensors = find_camera_sensors(env)
        self.shows_frusta = gui.add_checkbox("Show camera views", False)
        """Checkbox that shows the frusta of all cameras in the model."""
        # viser does not report the visible tab, so images have a checkbox.
        self.shows_pictures = gui.add_checkbox("Pictures", False)
        """Checkbox that shows the images of camera sensors."""
        nothing = np.zeros((1, 1, 3), np.uint8)
        self.pictures = {
            (name, kind): gui.add_image(nothing, format="png", visible=False)
            for name, sensor in self._sensors.items()
            for kind in sensor.cfg.data_types
        }
        """Images by sensor and data type."""
        self.frusta: dict[str, viser.CameraFrustumHandle] = {}
        """Frusta by camera name, created when first shown."""
        self.shows_frusta.on_update(lambda _: page.ask_to_draw())

    def update(self) -> None:
        """Show the images of camera sensors, if enabled."""
        shows = self.shows_pictures.value
        for (name, kind), shown in self.pictures.items():
            if shows:
                data = self._sensors[name].data
                seen = getattr(data, kind)[self._page.world].cpu().numpy()
                shown.image, scale = as_colors(kind, seen, data.max_distance)
                shown.label = f"{name}, {kind}{scale}"
            shown.visible = shows

    def draw(self) -> None:
        """Show the frusta, if enabled."""
        if not self.shows_frusta.value:
            for frustum in self.frusta.values():
                frustum.visible = False
            return
        if not self.frusta:
            self._add_frusta()
        sim, world = self._page.player.env.sim, self._page.world
        turned = quat_from_matrix(sim.data.cam_xmat[world].cpu() @ _OPENCV)
        positions = sim.data.cam_xpos[world].tolist()
        angles = sim.model.cam_fovy[world].flatten().deg2rad().tolist()
        for i, frustum in enumerate(self.frusta.values()):
            frustum.position, frustum.wxyz = positions[i], turned[i].tolist()
            frustum.fov = angles[i]
            frustum.visible = True

    def _add_frusta(self) -> None:
        model = self._page.player.env.sim.mj_model
        aspects = [width / height for width, height in model.cam_resolution.tolist()]
        for sensor in self._sensors.values():
            view = sensor.cfg.view(model)
            aspects[view.camera_id] = view.width / view.height
        for camera, aspect in enumerate(aspects):
            name = model.camera(camera).name or f"camera {camera}"
            # Inside the frame that mjviser moves to keep the tracked body in view.
            self.frusta[name] = self._page.server.scene.add_camera_frustum(
                f"/fixed_bodies/cameras/{name}",
                fov=1.0,
                aspect=aspect,
                scale=_SIZE,
                thickness=0.004,
                color=(240, 160, 40),
                cast_shadow=False,
            )


def find_camera_sensors(env: ManagerBasedRlEnv) -> dict[str, CameraSensor]:
    """Return the camera sensors of a scene, by name."""
    sensors = env.scene.sensors.items()
    return {name: each for name, each in sensors if isinstance(each, CameraSensor)}


def as_colors(
    kind: str, picture: np.ndarray, max_distance: float
) -> tuple[np.ndarray, str]:
    """Convert a camera image to enlarged colours, and describe a depth scale in text.

    Args:
        kind: Data type, as in `CameraSensorCfg.data_types`.
        picture: Shape (height, width, channels).
        max_distance: Depth without a hit, shown as white, m.
    """
    colors, scale = picture, ""
    if kind == "depth":
        hits = picture[picture < max_distance]
        near, far = (hits.min(), hits.max()) if hits.size else (0.0, max_distance)
        shares = ((picture - near) / max(far - near, 1e-6)).clip(max=1.0)
        colors = np.repeat((255.0 * shares).round().astype(np.uint8), 3, axis=2)
        scale = f": black {near:.2f} m, white {far:.2f} m and beyond"
    elif kind == "segmentation":
        objects, where = np.unique(picture.reshape(-1, 2), axis=0, return_inverse=True)
        palette = np.array([_color(*each) for each in objects.tolist()], np.uint8)
        colors = palette[where.reshape(picture.shape[:2])]
    times = math.ceil(_WIDTH / picture.shape[1])
    return colors.repeat(times, axis=0).repeat(times, axis=1), scale


def _color(number: int, kind: int) -> tuple[int, int, int]:
    """Return the colour of an object by id and type; black for ids below 0."""
    if number < 0:
        return 0, 0, 0
    hue = (number * _GOLDEN + kind / 7.0) % 1.0
    red, green, blue = colorsys.hsv_to_rgb(hue, 0.65, 0.95)
    return round(255 * red), round(255 * green), round(255 * blue)

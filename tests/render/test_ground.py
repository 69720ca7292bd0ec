"""Infinite planes rendered as finite ones, compared with MuJoCo's rendering."""

import copy

import mujoco
import numpy as np
import pytest

from mjlab.envs import ViewerCfg
from mjlab.render import Canvas
from mjlab.render.ground import EndingPlanes
from mjlab.render.offscreen import make_camera

SCENE = """
<mujoco>
  <statistic extent="2"/>
  <asset>
    <texture name="checker" type="2d" builtin="checker" width="64" height="64"
      rgb1="0.8 0.3 0.2" rgb2="0.2 0.4 0.8"/>
    <material name="checker" texture="checker" texrepeat="0.4 0.8"
      texuniform="{uniform}"/>
    {assets}
  </asset>
  <worldbody>
    <light {light} pos="0 0 9" dir="0.3 0.4 -1" castshadow="false"/>
    <geom type="plane" size="{size}" material="checker" euler="0 0 20"/>
  </worldbody>
</mujoco>
"""


def scene(
    *,
    size: str = "0 0 1",
    uniform: str = "true",
    light: str = 'type="directional"',
    assets: str = "",
) -> tuple[mujoco.MjModel, mujoco.MjData]:
    text = SCENE.format(size=size, uniform=uniform, light=light, assets=assets)
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return model, data


def draw(at: tuple[float, float]) -> np.ndarray:
    """The ground from above, and up to the horizon."""
    model, data = scene()
    view = ViewerCfg(lookat=(*at, 0.0), distance=4.0, azimuth=70.0, elevation=-15.0)
    canvas = Canvas(model, 160, 120)
    picture = canvas.draw(model, data, make_camera(view))
    canvas.close()
    return picture.astype(float)


@pytest.mark.parametrize("at", [(0.0, 0.0), (2.6, -8.9)])
def test_an_infinite_plane_looks_like_mujocos(renderer_works, at):
    model, data = scene()
    view = ViewerCfg(lookat=(*at, 0.0), distance=4.0, azimuth=70.0, elevation=-15.0)
    with mujoco.Renderer(model, 120, 160) as renderer:
        renderer.update_scene(data, make_camera(view))
        theirs = renderer.render().astype(float)
    ground = theirs.any(axis=-1)
    assert 0.6 < ground.mean() < 0.9, "The rest is sky, which MuJoCo leaves black."
    # They use several samples per pixel, so edges differ slightly.
    assert np.abs(draw(at) - theirs)[ground].mean() < 2.0


def test_the_ground_extends_below_a_robot_that_walks_far(renderer_works):
    turn = np.radians(20.0)
    axes = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    period = 2.0 / np.array([0.4, 0.8])  # Period of a checker, in m.
    x, y = axes @ (period * np.array([300, -500]))
    assert np.hypot(x, y) > 1500.0, "It is far beyond what a camera sees."
    assert np.abs(draw((x, y)) - draw((0.0, 0.0))).mean() < 0.5


@pytest.mark.parametrize(
    "kind",
    [
        {"light": 'type="spot"'},
        {"uniform": "false"},
        {"size": "3 2 1"},
        {"assets": '<texture type="skybox" builtin="flat" width="4" height="24"/>'},
    ],
)
def test_planes_that_would_look_different_are_unchanged(kind):
    """A lamp's spot, a stretched texture, a finite plane, haze before a sky.

    These planes are rendered by MuJoCo, so the test only checks that nothing is
    modified.
    """
    model, data = scene(**kind)
    sized, placed = copy.copy(model), copy.copy(data)
    ground = EndingPlanes(sized)
    ground.put_under(sized, placed, np.array([500.0, 0.0, 0.0]))
    np.testing.assert_array_equal(sized.geom_size, model.geom_size)
    np.testing.assert_array_equal(placed.geom_xpos, data.geom_xpos)

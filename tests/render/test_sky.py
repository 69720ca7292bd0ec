"""Background of pictures, seen through transparent geoms and beside text."""

import mujoco
import numpy as np
import pytest

from mjlab.render import Canvas, Marks
from mjlab.render.sky import HORIZON

pytestmark = pytest.mark.usefixtures("renderer_works")

SIZE = 96
SCENE = """
<mujoco>
  <statistic extent="2"/>
  <asset>
    <material name="floor" rgba="0.2 0.2 0.2 1" reflectance="{reflectance}"/>
  </asset>
  <worldbody>
    <light type="directional" pos="0 0 9" dir="0.3 0.3 -1"/>
    <geom type="plane" size="0 0 1" material="floor"/>
    <geom size="0.25" pos="0 4 0.3" rgba="1 0 0 1"/>
  </worldbody>
</mujoco>
"""


def draw(
    marks: Marks, *, reflectance: float = 0.0, haze: bool = True, text: str = ""
) -> np.ndarray:
    """Draw a level view 1 m above a plane, whose upper half is the sky."""
    model = mujoco.MjModel.from_xml_string(SCENE.format(reflectance=reflectance))
    data, camera = mujoco.MjData(model), mujoco.MjvCamera()
    mujoco.mj_forward(model, data)
    camera.distance, camera.elevation, camera.lookat[:] = 2.0, 0.0, (0.0, 0.0, 1.0)
    canvas = Canvas(model, 2 * SIZE, SIZE, haze=haze)
    lines = [text] if text else []
    picture = canvas.draw(model, data, camera, marks=marks, lines=lines)
    canvas.close()
    return picture.astype(int)


@pytest.mark.parametrize("haze", [True, False])
def test_a_transparent_black_ball_darkens_the_sky_by_its_opacity(haze: bool) -> None:
    """MuJoCo draws the front and the back of a transparent geom."""
    row, column = int(0.45 * SIZE), SIZE
    for opacity in (0.3, 0.7):
        marks = Marks((0,))
        marks.add_sphere(0, (0.0, 0.0, 1.0), 0.2, color=(0.0, 0.0, 0.0, opacity))
        picture = draw(marks, haze=haze)
        expected = (1.0 - opacity) ** 2 * np.array(HORIZON)
        np.testing.assert_allclose(picture[row, column], expected, atol=8)
        assert picture[row, 4].tolist() == list(HORIZON)


def test_text_leaves_the_rest_of_the_picture_as_it_was() -> None:
    plain, labelled = draw(Marks((0,))), draw(Marks((0,)), text="0.1 s")
    changed = (plain != labelled).any(axis=-1)
    assert changed[:, :SIZE].any() and not changed[:, SIZE:].any()


def test_reflections_of_the_floor_do_not_change_the_sky() -> None:
    dull, shiny = draw(Marks((0,))), draw(Marks((0,)), reflectance=0.6)
    assert np.array_equal(dull[: SIZE // 2 - 1], shiny[: SIZE // 2 - 1])
    assert shiny[..., 2].max() <= HORIZON[2], "There is no brighter stripe."
    assert (shiny[SIZE // 2 :, :, 0] > dull[SIZE // 2 :, :, 0] + 10).sum() > 20

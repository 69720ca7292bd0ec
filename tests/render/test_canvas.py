"""Rendered content and camera poses, compared with hand arithmetic."""

import mujoco
import numpy as np
import pytest

from mjlab.render.canvas import place_lights
from mjlab.render.framing import FollowingCamera, Subject
from mjlab.render.offscreen import tile
from mjlab.render.video import _even

XML = """
<mujoco>
  <statistic extent="3"/>
  <worldbody>
    <light type="directional" pos="0 0 9" dir="0.6 0 -0.8"/>
    <light type="spot" pos="1 2 3" dir="0 0 -1"/>
    <body name="pole" pos="1 0 0"><freejoint/>
      <geom type="capsule" fromto="0 0 0 0 0 2" size=".1"/>
    </body>
  </worldbody>
</mujoco>
"""


def test_a_distant_light_shines_on_the_cameras_target() -> None:
    model = mujoco.MjModel.from_xml_string(XML)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    lookat = np.array([10.0, -5.0, 0.5])
    place_lights(model, data, lookat)
    # The camera looks forward and down, so it is behind and above, at 0.4 extents.
    wanted = lookat + 1.2 * np.array([-0.6, 0.0, 0.8])
    assert data.light_xpos[0] == pytest.approx(wanted)
    assert data.light_xpos[1] == pytest.approx([1.0, 2.0, 3.0])


def test_a_camera_follows_the_frame_of_a_body_and_not_its_mass() -> None:
    model = mujoco.MjModel.from_xml_string(XML)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    assert data.xipos[1] == pytest.approx([1.0, 0.0, 1.0])
    camera = FollowingCamera(
        Subject(model), 1, mujoco.MjvCamera(), distance=2.0, aspect=1.5
    )
    # Only horizontally: its height is the centre of its subject.
    assert camera.look(model, data).lookat[:2] == pytest.approx([1.0, 0.0])


@pytest.mark.parametrize(("height", "width"), [(4, 6), (5, 6), (4, 7), (5, 7)])
def test_a_picture_with_an_odd_side_repeats_its_last_row_or_column(
    height: int, width: int
) -> None:
    picture = np.arange(height * width * 3, dtype=np.uint8).reshape(height, width, 3)
    grown = _even(picture)
    assert grown.shape == (height + height % 2, width + width % 2, 3)
    assert np.array_equal(grown[:height, :width], picture)
    assert np.array_equal(grown[-1, :width], picture[-1])
    assert np.array_equal(grown[:height, -1], picture[:, -1])


def test_worlds_of_a_grid_fill_a_row_before_the_next() -> None:
    frames = [np.full((2, 3, 3), number, np.uint8) for number in range(1, 6)]
    grid = tile(frames, gap=1)
    assert grid[::3, ::4, 0].tolist() == [[1, 2, 3], [4, 5, 0]]

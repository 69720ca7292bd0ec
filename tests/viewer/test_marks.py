"""Overlays that terms draw, compared with MuJoCo's own geoms."""

import mujoco
import numpy as np
import pytest

from mjlab.render import Canvas, Marks
from mjlab.render.offscreen import make_camera
from tests.viewer.test_render import ViewerCfg, redness

RED = (1.0, 0.0, 0.0, 1.0)
TURN = "0.3 -0.5 0.9"
CAMERA = ViewerCfg(lookat=(0.0, 0.0, 1.0), distance=3.0)

SCENE = """
<mujoco>
  <compiler angle="radian"/>
  <asset>
    <mesh name="wedge" vertex="-.3 -.2 0  .3 -.2 0  .3 .2 0  -.3 .2 0  .3 0 .5"/>
  </asset>
  <worldbody>
    <light type="directional" pos="0 0 9" dir="0.3 0.3 -1"/>
    <geom type="plane" size="0 0 1" rgba="0.2 0.2 0.2 1"/>
    <body name="part" pos="0.1 0.2 1" euler="{turn}">
      <freejoint/>
      <geom {geom} rgba="1 0 0 1" mass="1"/>
    </body>
  </worldbody>
</mujoco>
"""

GEOMS = {
    "sphere": 'type="sphere" size="0.3"',
    "cylinder": 'type="cylinder" size="0.1 0.4"',
    "ellipsoid": 'type="ellipsoid" size="0.1 0.2 0.4"',
    "box": 'type="box" size="0.1 0.2 0.3"',
    "capsule": 'type="capsule" size="0.1 0.3"',
    "mesh": 'type="mesh" mesh="wedge"',
}


def part(kind: str) -> tuple[mujoco.MjModel, mujoco.MjData]:
    text = SCENE.format(turn=TURN, geom=GEOMS[kind])
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return model, data


def draw(model: mujoco.MjModel, data: mujoco.MjData, marks: Marks) -> np.ndarray:
    canvas = Canvas(model, 160, 100)
    picture = canvas.draw(model, data, make_camera(CAMERA), marks=marks)
    canvas.close()
    return redness(picture)


def mark(kind: str, data: mujoco.MjData) -> Marks:
    """Return the overlay of the shape that `GEOMS` has of this kind."""
    center, mat, marks = data.geom_xpos[1], data.geom_xmat[1], Marks((0,))
    axis = mat.reshape(3, 3)[:, 2]
    if kind == "sphere":
        marks.add_sphere(0, center, 0.3, color=RED)
    elif kind == "cylinder":
        ends = (center - 0.4 * axis, center + 0.4 * axis)
        marks.add_cylinder(0, *ends, 0.1, color=RED)
    elif kind == "ellipsoid":
        marks.add_ellipsoid(0, center, (0.1, 0.2, 0.4), mat, color=RED)
    else:
        marks.add_box(0, center, (0.1, 0.2, 0.3), mat, color=RED)
    return marks


def assert_same(first: np.ndarray, second: np.ndarray) -> None:
    """The areas differ by less than 3 %: shadows and shading differ."""
    assert first.sum() > 50
    assert (first != second).sum() < 0.03 * first.sum()


@pytest.mark.parametrize("kind", ["sphere", "cylinder", "ellipsoid", "box"])
def test_a_shape_covers_the_pixels_of_the_geom(kind: str, renderer_works) -> None:
    model, data = part(kind)
    expected = draw(model, data, Marks(()))
    marks = mark(kind, data)
    data.qpos[2] = -9.0
    mujoco.mj_forward(model, data)
    assert not draw(model, data, Marks(())).any()
    assert_same(expected, draw(model, data, marks))


@pytest.mark.parametrize("kind", list(GEOMS))
def test_a_ghost_covers_the_pixels_of_the_robot_in_its_pose(
    kind: str, renderer_works
) -> None:
    model, data = part(kind)
    expected = draw(model, data, Marks(()))
    marks, qpos = Marks((0,)), data.qpos.copy()
    marks.add_ghost_mesh(0, qpos, model, color=RED)
    data.qpos[2] = -9.0
    mujoco.mj_forward(model, data)
    assert_same(expected, draw(model, data, marks))


def test_a_ghost_has_the_visible_geoms_in_the_models_colours() -> None:
    text = """
    <mujoco>
      <asset><material name="blue" rgba="0 0 1 1"/></asset>
      <worldbody>
        <geom size="0.1"/>
        <body>
          <freejoint/>
          <geom size="0.1" material="blue"/>
          <geom size="0.2" material="blue" rgba="0 1 0 0.8"/>
          <geom size="0.3" group="3"/>
          <geom size="0.4" rgba="0 0 0 0"/>
        </body>
      </worldbody>
    </mujoco>
    """
    model, marks = mujoco.MjModel.from_xml_string(text), Marks((0,))
    marks.add_ghost_mesh(0, model.qpos0, model)
    assert [shape.size[0] for shape in marks.shapes[0]] == [0.1, 0.2]
    colors = np.array([shape.color for shape in marks.shapes[0]])
    np.testing.assert_allclose(colors, [(0, 0, 1, 0.5), (0, 1, 0, 0.4)], atol=1e-6)
    marks.add_ghost_mesh(1, model.qpos0, model)
    assert list(marks.shapes) == [0], "World 1 is not shown."


def test_the_tip_of_an_arrow_is_drawn_at_its_end(renderer_works) -> None:
    """MuJoCo 4.0 draws an arrow of `mjv_connector` over half of the way."""
    model, data = part("sphere")
    data.qpos[2] = -9.0
    mujoco.mj_forward(model, data)
    rows = []
    for kind in ("arrow", "cylinder"):
        marks = Marks((0,))
        ends = ((0.0, 0.0, 1.5), (0.0, 0.0, 0.5))
        if kind == "arrow":
            marks.add_arrow(0, *ends, color=RED, width=0.05)
        else:
            marks.add_cylinder(0, *ends, 0.05, color=RED)
        covered = np.nonzero(draw(model, data, marks))[0]
        rows.append((covered.min(), covered.max()))
    np.testing.assert_allclose(rows[0], rows[1], atol=2)


def test_the_axes_of_a_frame_are_the_columns_of_its_matrix() -> None:
    _, data = part("box")
    marks = Marks((0,))
    matrix = data.geom_xmat[1].reshape(3, 3)
    marks.add_frame(0, (1.0, 2.0, 3.0), matrix, scale=0.5, alpha=0.25, text="base")
    arrows = marks.arrows[0]
    for axis, arrow in enumerate(arrows):
        np.testing.assert_allclose(arrow.start, (1.0, 2.0, 3.0))
        np.testing.assert_allclose(arrow.end - arrow.start, 0.5 * matrix[:, axis])
        assert max(range(3), key=lambda part: arrow.color[part]) == axis
        assert arrow.color[3] == 0.25
    assert [arrow.text for arrow in arrows] == ["base", "", ""]


@pytest.mark.parametrize("kind", list(GEOMS))
def test_the_browsers_mesh_of_a_shape_fills_the_box_of_the_geom(kind: str) -> None:
    pytest.importorskip("mjviser", reason="the extra `viewer` is not installed")
    from mjlab.viewer.browser_marks import _form, _mesh, _scale

    model, data = part(kind)
    marks = Marks((0,))
    marks.add_ghost_mesh(0, data.qpos, model)
    (shape,) = marks.shapes[0]
    vertices, faces = _mesh(_form(shape), model)
    sizes = np.array(_scale(shape)) * vertices
    box = model.geom_aabb[1]
    # Round meshes have flat faces.
    np.testing.assert_allclose(sizes.max(axis=0), box[:3] + box[3:], atol=0.01)
    np.testing.assert_allclose(sizes.min(axis=0), box[:3] - box[3:], atol=0.01)
    assert faces.max() < len(vertices)

"""Principal point of a camera, compared with MuJoCo's frustum."""

import mujoco
import pytest

from mjlab.sensor.patterns import camera_intrinsics

XML = """
<mujoco>
  <worldbody>
    <camera name="lens" resolution="48 32" sensorsize=".006 .004" focal=".004 .0045"
      principal="{} {}"/>
  </worldbody>
</mujoco>
"""


@pytest.mark.parametrize("across", [0.0, 0.0004, -0.0005])
@pytest.mark.parametrize("down", [0.0, 0.0003, -0.0002])
def test_the_lens_of_a_camera_has_mujocos_frustum(across: float, down: float):
    model = mujoco.MjModel.from_xml_string(XML.format(across, down))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    camera, scene = mujoco.MjvCamera(), mujoco.MjvScene(model, 1)
    camera.type, camera.fixedcamid = mujoco.mjtCamera.mjCAMERA_FIXED, 0
    mujoco.mjv_updateScene(
        model, data, mujoco.MjvOption(), None, camera, mujoco.mjtCatBit.mjCAT_ALL, scene
    )
    eye = scene.camera[0]
    wide, high = 2 * eye.frustum_width, eye.frustum_top - eye.frustum_bottom
    fx, fy, cx, cy = camera_intrinsics(model, 0, 48, 32)
    near = eye.frustum_near
    assert [fx, fy] == pytest.approx([48 * near / wide, 32 * near / high], rel=1e-4)
    left = eye.frustum_center - eye.frustum_width
    middle = [48 * -left / wide, 32 * eye.frustum_top / high]
    assert [cx, cy] == pytest.approx(middle, rel=1e-4)

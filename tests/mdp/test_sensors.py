"""Sensor observations, compared with MuJoCo C and hand arithmetic."""

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from mjlab.managers.term import TermError
from mjlab.mdp import observations as mdp
from mjlab.sensor import CameraData, ContactFieldError
from tests.worlds.fake_env import FakeEnv
from tests.worlds.term_world import TermWorld, contacts, rays, roll, value, yaw


def rows(*values: Any) -> torch.Tensor:
    return torch.tensor(np.array(values), dtype=torch.float32)


def assert_close(ours: torch.Tensor, theirs: torch.Tensor) -> None:
    assert ours.dtype == torch.float32
    torch.testing.assert_close(ours, theirs, rtol=2e-6, atol=2e-6)


def test_a_builtin_sensor_matches_mujocos_reading():
    env = TermWorld()
    env.scatter()
    ours = value(env, mdp.builtin_sensor, sensor_name="robot/gyro")
    adr = int(env.sim.mj_model.sensor("robot/gyro").adr[0])
    readings = [env.oracle(w).sensordata[adr : adr + 3] for w in range(4)]
    assert_close(ours, rows(*readings))
    # The site is turned about y by 2 asin 0.6, whose sine is 0.96 and cosine 0.28.
    x, y, z = value(env, mdp.base_ang_vel).unbind(1)
    turned = torch.stack([0.28 * x - 0.96 * z, y, 0.96 * x + 0.28 * z], dim=1)
    assert_close(ours, turned)


def test_a_height_scan_is_the_height_above_the_ground_and_above_a_crate():
    env = TermWorld(3, sensors=(*contacts(), rays()))
    # The torso's rays meet the ground at -0.4, 0 and 0.4 along its heading, those of
    # the nose, 0.3 ahead, at -0.1, 0.3 and 0.7. The crate spans 0.2 m about (0.4, 0),
    # and its lid is 0.17 above its centre.
    upright, left, high = yaw(0.0), yaw(math.pi / 2), yaw(0.0)
    env.set_root([[0, 0, 1.0, *upright], [0, 0, 1.0, *left], [0, 0, 5.0, *high]])
    crate = torch.tensor([[0.4, 0.0, 0.1, *yaw(0.0)]])
    env.scene.entity("crate").write_root_pose_w(env.everyone, crate)
    env.forward()
    env.sim.sense()
    ours = value(env, mdp.height_scan, sensor_name="scan", offset=0.5)
    above_crate = 1.0 - 0.27 - 0.5
    torso, nose = 1.0 - 0.5, 1.2 - 0.5
    expected = rows(
        [torso, torso, above_crate, nose, nose + 0.2 - 0.2 - 0.27, nose],
        [torso, torso, torso, nose, nose, nose],
        # Nothing within 3 m below 5 m: as if the ground were that far away.
        [3.0 - 0.5] * 6,
    )
    assert_close(ours, expected)


def test_a_height_scan_of_a_robot_that_leans_counts_along_the_vertical():
    env = TermWorld(1, sensors=(*contacts(), rays()))
    env.set_root([[0, 0, 2.0, *roll(0.5)]])
    env.sim.sense()
    ours = value(env, mdp.height_scan, sensor_name="scan")
    nose = 2.0 + 0.2 * math.cos(0.5)
    assert_close(ours, rows([2.0] * 3 + [nose] * 3))


def test_contact_found_is_one_for_each_primary_that_touches():
    env = TermWorld(2, sensors=contacts())
    crate = torch.tensor([[3.0, 0, 0.0999, *yaw(0.0)], [3.0, 0, 0.5, *yaw(0.0)]])
    env.scene.entity("crate").write_root_pose_w(env.everyone, crate)
    env.forward()
    ours = value(env, mdp.contact_found, sensor_name="corners")
    # Four corners touch in five slots, but what is asked is whether the crate does.
    # The lid never touches.
    assert_close(ours, rows([1.0, 0.0], [0.0, 0.0]))


def test_contact_found_of_a_crate_on_its_lid_is_reported_for_the_lid():
    env = TermWorld(1, sensors=contacts())
    crate = torch.tensor([[3.0, 0, 0.1699, *roll(math.pi)]])
    env.scene.entity("crate").write_root_pose_w(env.everyone, crate)
    env.forward()
    ours = value(env, mdp.contact_found, sensor_name="corners")
    assert_close(ours, rows([0.0, 1.0]))


def test_term_names_a_sensor_of_the_wrong_type():
    env = TermWorld(1, sensors=(*contacts(), rays()))
    with pytest.raises(TypeError, match="'scan' is a RayCastSensor, not a contact"):
        value(env, mdp.contact_found, sensor_name="scan")
    with pytest.raises(TypeError, match="'load' is a ContactSensor, not a ray"):
        value(env, mdp.height_scan, sensor_name="load")
    with pytest.raises(TypeError, match="'load' is not a MuJoCo sensor"):
        value(env, mdp.builtin_sensor, sensor_name="load")
    with pytest.raises(TypeError, match="'load' is a ContactSensor, not a camera"):
        value(env, mdp.camera_image, sensor_name="load")
    with pytest.raises(ContactFieldError, match="'load' has no field 'found'"):
        value(env, mdp.contact_found, sensor_name="load")


# --- Cameras --------------------------------------------------------------------------


def pictures(**images: torch.Tensor) -> Any:
    """An environment with a camera "eye" that drew these images."""
    eye = SimpleNamespace(data=CameraData("eye", images, 20.0))
    return FakeEnv(1, scene=SimpleNamespace(sensor={"eye": eye}.__getitem__))


def test_a_picture_has_channels_first_and_colours_up_to_one():
    # A picture of two rows and three columns: red, green, blue; black, white, grey.
    top = [[255, 0, 0], [0, 255, 0], [0, 0, 255]]
    bottom = [[0, 0, 0], [255, 255, 255], [51, 51, 51]]
    env = pictures(rgb=torch.tensor([[top, bottom]], dtype=torch.uint8))
    ours = value(env, mdp.camera_image, sensor_name="eye")
    assert ours.shape == (1, 3, 2, 3) and ours.dtype == torch.float32
    red, green, blue = ours[0]
    assert torch.equal(red, rows([1.0, 0, 0], [0.0, 1.0, 0.2]))
    assert torch.equal(green, rows([0.0, 1.0, 0], [0.0, 1.0, 0.2]))
    assert torch.equal(blue, rows([0.0, 0, 1.0], [0.0, 1.0, 0.2]))
    raw = value(env, mdp.camera_image, sensor_name="eye", normalize=False)
    assert raw[0, 0].tolist() == [[255.0, 0, 0], [0, 255.0, 51.0]]


def test_depths_and_segments_are_returned_unchanged():
    depth = torch.tensor([0.5, 20.0]).view(1, 1, 2, 1)
    segmentation = torch.tensor([[[[3, 5], [-1, -1]]]], dtype=torch.int32)
    env = pictures(depth=depth, segmentation=segmentation)
    ours = value(env, mdp.camera_image, sensor_name="eye", data_type="depth")
    assert ours.tolist() == [[[[0.5, 20.0]]]]
    ours = value(env, mdp.camera_image, sensor_name="eye", data_type="segmentation")
    assert ours.dtype == torch.float32
    assert ours.tolist() == [[[[3.0, -1.0]], [[5.0, -1.0]]]]


def test_a_type_of_picture_that_does_not_exist_is_named_with_the_nearest_ones():
    env = pictures()
    with pytest.raises(TermError, match=r"no data type 'rbg'.*'rgb'"):
        value(env, mdp.camera_image, sensor_name="eye", data_type="rbg")

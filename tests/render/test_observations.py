"""Image observations, against hand arithmetic."""

import pytest
import torch

from mjlab.managers.term import TermError
from mjlab.mdp import observations as mdp
from mjlab.render import camera_bytes, camera_depth, camera_mask, depth_frame
from mjlab.scene import SceneEntityCfg
from mjlab.sensor import CameraSensorCfg, ObjRef
from tests.mdp.test_sensors import assert_close, pictures, rows
from tests.worlds.term_world import TermWorld, contacts, value, yaw


def test_depth_is_a_share_of_the_cut_off_and_one_where_nothing_is_met():
    depth = torch.tensor([0.001, 0.5, 1.5, 3.0, 20.0]).view(1, 1, 5, 1)
    env = pictures(depth=depth)
    ours = value(env, camera_depth, sensor_name="eye", cutoff=2.0)
    # Nothing is nearer than 1 cm, from where on cameras see.
    assert_close(ours[0, 0], rows([0.005, 0.25, 0.75, 1.0, 1.0]))
    ours = value(env, camera_depth, sensor_name="eye", cutoff=2.0, as_bytes=True)
    assert ours.dtype == torch.uint8 and ours.shape == (1, 1, 1, 5)
    assert ours.flatten().tolist() == [1, 64, 191, 255, 255]


@pytest.mark.parametrize("cutoff", [0.01, 20.5])
def test_a_cut_off_below_what_is_seen_or_beyond_it_is_refused(cutoff):
    env = pictures(depth=torch.ones(1, 1, 1, 1))
    message = (
        f"camera_depth: cutoff={cutoff} has to be above 0.01, the near plane of "
        "cameras, and at most max_distance=20.0 of 'eye'."
    )
    with pytest.raises(TermError) as caught:
        value(env, camera_depth, sensor_name="eye", cutoff=cutoff)
    assert str(caught.value) == message


def test_colours_can_stay_the_bytes_that_are_drawn():
    env = pictures(rgb=torch.tensor([[[[255, 51, 0]]]], dtype=torch.uint8))
    ours = value(env, camera_bytes, sensor_name="eye")
    assert ours.dtype == torch.uint8
    assert ours.flatten().tolist() == [255, 51, 0]


def test_a_camera_above_a_crate_sees_how_far_away_its_lid_is(renderer_works):
    camera = CameraSensorCfg(
        name="eye",
        parent=ObjRef(type="body", name="torso", entity="robot"),
        pos=(0.0, 0.0, -0.2),
        width=9,
        height=5,
        data_types=("rgb", "depth", "segmentation"),
        geom_groups=(0,),
    )
    env = TermWorld(2, sensors=(*contacts(), camera))
    env.set_root([[3.0, 0, 1.0, *yaw(0.0)], [3.0, 0, 2.0, *yaw(0.0)]])
    env.sim.sense()
    depth = value(env, mdp.camera_image, sensor_name="eye", data_type="depth")
    assert depth.shape == (2, 1, 5, 9)
    # The crate stands on the ground, its lid at 0.27.
    expected = torch.tensor([0.8 - 0.27, 1.8 - 0.27])
    torch.testing.assert_close(depth[:, 0, 2, 4], expected, atol=2e-3, rtol=0)
    lid = SceneEntityCfg("crate", geom_names=("lid",))
    mask = value(env, camera_mask, sensor_name="eye", asset_cfg=lid)
    # It is seen where that is how far away it is.
    there = (depth - expected.view(2, 1, 1, 1)).abs() < 2e-3
    assert torch.equal(mask, there.float()) and 0.0 < mask.mean() < 1.0
    marks = value(env, camera_mask, sensor_name="eye", asset_cfg=lid, as_bytes=True)
    assert torch.equal(marks, 255 * there.to(torch.uint8))
    nothing = SceneEntityCfg("crate", geom_names=("handle",))
    with pytest.raises(TermError, match=r"matches 'handle'. Valid names: 'crate', 'l"):
        value(env, camera_mask, sensor_name="eye", asset_cfg=nothing)
    colours = value(env, mdp.camera_image, sensor_name="eye")
    assert colours.shape == (2, 3, 5, 9)
    assert 0.0 < colours.max() <= 1.0 and colours.min() >= 0.0


def test_a_depth_frame_is_the_depth_image_without_a_channel():
    depth = torch.tensor([0.5, 1.5, 3.0, 0.25]).view(1, 2, 2, 1)
    env = pictures(depth=depth)
    ours = value(env, depth_frame, sensor_name="eye", cutoff=2.0)
    assert ours.dtype == torch.uint8
    assert ours.tolist() == [[[64, 191], [255, 32]]]


def test_noise_of_a_depth_frame_grows_with_the_depth():
    depth = torch.ones(1, 40, 40, 1)
    depth[:, 20:] = 4.0
    env = pictures(depth=depth)
    shown = {"sensor_name": "eye", "cutoff": 10.0, "noise": 0.05}
    near, far = value(env, depth_frame, **shown)[0].float().split(20)
    assert near.std() == pytest.approx(0.05 * 25.5, rel=0.15)
    assert far.std() == pytest.approx(4 * 0.05 * 25.5, rel=0.15)
    assert near.mean() == pytest.approx(25.5, abs=0.3)


@pytest.mark.parametrize(("height", "width"), [(40, 60), (38, 61)])
def test_holes_of_a_depth_frame_are_white_squares(height, width):
    env = pictures(depth=torch.ones(1, height, width, 1))
    shown = {"sensor_name": "eye", "cutoff": 10.0, "holes": 0.3}
    frame = value(env, depth_frame, **shown)[0]
    is_hole = frame == 255
    assert torch.equal(frame[~is_hole].unique(), torch.tensor([26]).byte())
    assert is_hole.float().mean() == pytest.approx(0.3, abs=0.1)
    squares = is_hole[:36, :60].unflatten(0, (9, 4)).unflatten(2, (15, 4))
    assert torch.equal(squares.all(dim=3).all(dim=1), squares.any(dim=3).any(dim=1))
    everywhere = value(env, depth_frame, **{**shown, "holes": 1.0})
    assert (everywhere == 255).all()

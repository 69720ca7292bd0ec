"""Camera images compared with the equations of the surfaces, on both engines."""

import math
from dataclasses import replace
from types import SimpleNamespace

import mujoco
import numpy as np
import pytest
import torch

from mjlab.names import UnknownNameError
from mjlab.render import RayRendererCfg
from mjlab.sensor import (
    CameraSensor,
    CameraSensorCfg,
    ObjRef,
    PinholePatternCfg,
    SensorError,
    VisionError,
    bind_sensors,
)
from mjlab.sensor.native_renderer import SLOW_RENDERING
from tests.worlds.gallery import (
    BALL,
    BOX,
    ENGINES,
    FLOOR,
    XML,
    Gallery,
    build_gallery,
    clear_cut,
    random_poses,
    true_distances,
)

GEOM = int(mujoco.mjtObj.mjOBJ_GEOM)
FAR = 7.0

CFGS = (
    CameraSensorCfg(
        name="eye",
        camera="eye",
        width=64,
        height=64,
        data_types=("rgb", "depth", "segmentation"),
        max_distance=FAR,
        geom_groups=(0,),
    ),
    CameraSensorCfg(
        name="above",
        camera="above",
        width=48,
        height=32,
        data_types=("depth",),
        update_every=3,
        geom_groups=(0,),
    ),
    CameraSensorCfg(
        name="added",
        parent=ObjRef(type="body", name="boom"),
        pos=(0.0, 0.0, -0.1),
        fovy=90.0,
        width=5,
        height=5,
        data_types=("depth", "segmentation"),
        geom_groups=(0, 2, 3),
    ),
)


BY_RAYS = tuple(replace(cfg, renderer=RayRendererCfg()) for cfg in CFGS)
RAYS = pytest.param("rays", marks=pytest.mark.slow)


@pytest.fixture(scope="module", params=(*ENGINES, RAYS))
def gallery(request: pytest.FixtureRequest) -> Gallery:
    if request.param == "rays":
        return build_gallery("native", BY_RAYS)
    if request.param == "native":
        request.getfixturevalue("renderer_works")
    return build_gallery(request.param, CFGS)


def pixel_rays(
    gallery: Gallery, camera: str, fovy: float, width: int, height: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return start and direction of each pixel's ray, and its cosine to the axis."""
    camera_id = gallery.sim.mj_model.camera(camera).id
    position = gallery.sim.data.cam_xpos[:, camera_id].double().numpy()
    axes = gallery.sim.data.cam_xmat[:, camera_id].double().numpy()
    half = math.tan(math.radians(fovy) / 2)
    local = np.zeros((height, width, 3))
    for row in range(height):
        for column in range(width):
            right = (2 * (column + 0.5) / width - 1) * half * width / height
            up = (1 - 2 * (row + 0.5) / height) * half
            local[row, column] = np.array([right, up, -1.0]) / math.hypot(right, up, 1)
    directions = np.einsum("nij,hwj->nhwi", axes, local)
    starts = np.broadcast_to(position[:, None, None], directions.shape)
    return starts, directions, -local[..., 2]


def clear_pixels(starts: np.ndarray, rays: np.ndarray) -> np.ndarray:
    """Return pixels away from outlines; OpenGL's spheres consist of flat faces."""
    _, nearest = true_distances(starts, rays)
    clear = clear_cut(starts, rays)
    same = np.ones_like(clear)
    for axis in (1, 2):
        for shift in (-1, 1):
            same &= np.roll(nearest, shift, axis) == nearest
    same[:, [0, -1]] = same[:, :, [0, -1]] = True
    return clear & same


@pytest.mark.parametrize("seed", [0, 1])
def test_depth_and_segmentation_of_16_worlds_are_those_of_the_surfaces(gallery, seed):
    gallery.place_probe(*looking_down(seed))
    gallery.sim.sense()
    data = gallery.sensors["eye"].data
    starts, rays, cosine = pixel_rays(gallery, "eye", 70.0, 64, 64)
    distance, what = true_distances(starts, rays)
    true_depth = distance * cosine
    expected = np.minimum(true_depth, FAR)
    clear = clear_pixels(starts, rays) & (np.abs(true_depth - FAR) > 0.02)
    assert clear.mean() > 0.8
    depth = data.depth[..., 0].numpy()
    flat = clear & (what != BALL)
    np.testing.assert_allclose(depth[flat], expected[flat], atol=2e-3)
    # MuJoCo's renderer draws a sphere as an inscribed polyhedron.
    np.testing.assert_allclose(depth[clear], expected[clear], atol=2e-2)
    sees = clear & (true_depth < FAR)
    assert {FLOOR, BOX, BALL} <= set(what[sees])
    labels = data.segmentation.numpy()
    assert (labels[sees][:, 0] == what[sees]).all()
    assert (labels[sees][:, 1] == GEOM).all()


def looking_down(seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Poses whose cameras look down, tilted by up to about 60 degrees."""
    pos, quat = random_poses(16, seed)
    tilt = quat.clone()
    tilt[:, 0].abs_().add_(1.5)
    return pos, tilt


def test_without_geometry_depth_is_the_maximum_and_labels_are_minus_one(gallery):
    up = torch.tensor([0.0, 1.0, 0.0, 0.0])
    gallery.place_probe(torch.tensor([-1.0, -1.0, 2.0]), up)
    gallery.sim.sense()
    data = gallery.sensors["eye"].data
    assert (data.depth == FAR).all()
    assert (data.segmentation == -1).all()


def test_a_camera_and_a_pinhole_pattern_of_rays_give_the_same_depth(gallery):
    """Rays and cameras agree on pixel positions."""
    _, directions = PinholePatternCfg(width=64, height=64, fovy=70.0).rays()
    _, rays, cosine = pixel_rays(gallery, "above", 70.0, 64, 64)
    axes = gallery.sim.data.cam_xmat[0, gallery.sim.mj_model.camera("above").id]
    turned = directions @ axes.double().numpy().T
    np.testing.assert_allclose(turned, rays[0].reshape(-1, 3), atol=1e-6)
    np.testing.assert_allclose(-directions[:, 2], cosine.reshape(-1), atol=1e-12)


def test_colours_are_those_of_the_geoms(gallery):
    gallery.place_probe(torch.tensor([2.0, 0.0, 3.0]), torch.tensor([1.0, 0, 0, 0]))
    gallery.sim.sense()
    rgb = gallery.sensors["eye"].data.rgb
    assert rgb.dtype == torch.uint8 and rgb.shape == (16, 64, 64, 3)
    red, green, blue = rgb[:, 32, 32].int().unbind(-1)
    assert (red > 60).all() and (green < red // 3).all() and (blue < red // 3).all()
    # The floor has red < green < blue, so exchanged channels would be detected.
    red, green, blue = rgb[:, 2, 2].int().unbind(-1)
    assert (red < green).all() and (green < blue).all() and (blue > 60).all()


def test_an_added_camera_is_fixed_to_its_body(gallery):
    gallery.place_probe(torch.tensor([-1.0, -1.0, 2.0]), torch.tensor([1.0, 0, 0, 0]))
    gallery.sim.sense()
    data = gallery.sensors["added"].data
    assert data.depth.shape == (16, 5, 5, 1)
    # 0.5 below the probe and 0.1 below the boom: 1.4 above the floor, in planar depth.
    flat = torch.full_like(data.depth, 1.4)
    torch.testing.assert_close(data.depth, flat, atol=2e-3, rtol=0)
    assert (data.segmentation[..., 0] == FLOOR).all()


def test_images_are_kept_until_the_next_update(gallery):
    """`above` shows the probe's shell from 6 m, every third step, except for resets."""
    sensor = gallery.sensors["above"]
    sensor.reset(torch.ones(16, dtype=torch.bool))
    mask = torch.zeros(16, dtype=torch.bool)
    mask[5] = True
    seen = []
    for call in range(6):
        pos = torch.tensor([1.0, 1.0, 3.0 + 0.3 * call])
        gallery.place_probe(pos, torch.tensor([1.0, 0, 0, 0]))
        for _ in range(2 if call else 0):
            sensor.update(0.005)
        if call == 2:
            gallery.sim.sense()  # The ends of episodes are rendered too.
            sensor.reset(mask)
        gallery.sim.sense()
        depth = sensor.data.depth[:, 15:17, 23:25].reshape(16, -1).amin(1)
        # Return the step of each world's image, from the distance of the probe.\n\nThe
        # camera looks from z = 6 down to the top of the shell of radius 0.1.
        seen.append(((6.0 - 0.1 - 3.0 - depth) / 0.3).round().int().tolist())
    others = [row[:5] + row[6:] for row in seen]
    assert [set(row) for row in others] == [{0}, {0}, {0}, {3}, {3}, {3}]
    assert [row[5] for row in seen] == [0, 0, 2, 2, 2, 5]


@pytest.mark.parametrize("decimation", [1, 2, 3, 4])
def test_a_camera_counts_control_steps_whatever_the_decimation(decimation):
    """Every second step, with a renderer that only records the due worlds."""
    model = mujoco.MjModel.from_xml_string(
        "<mujoco><worldbody><camera name='eye'/></worldbody></mujoco>"
    )
    turns: list[list[bool]] = []

    def add_camera(view, images):
        return lambda due: turns.append(due.tolist())

    engine = SimpleNamespace(batch=None)
    sim = SimpleNamespace(num_envs=2, engine=engine, mj_model=model, device="cpu")
    renderer = SimpleNamespace(notes=(), add_camera=add_camera)
    cfg = CameraSensorCfg(name="eye", camera="eye", update_every=2)
    sensor = CameraSensor(cfg, SimpleNamespace(sim=sim, renderer=renderer))  # type: ignore[arg-type]
    for step in range(8):
        if step == 3:
            sensor.reset(torch.tensor([False, True]))
            # Worlds that were reset are rendered again at the end of the step.
            turns.pop()
        else:
            for _ in range(decimation if step else 0):
                sensor.update(0.005)
        sensor.prepare()
        sensor.finish()
    # Step 3 includes the reset: the first world is due in steps 0, 2, 4 and 6.
    assert turns == [
        *([True, True], [False, False], [True, True]),
        *([False, False], [True, True], [False, False], [True, True]),
    ]


def test_reset_keeps_images_and_schedules_of_other_worlds(gallery):
    sensor = gallery.sensors["above"]
    before = {name: tensor.clone() for name, tensor in sensor.state().items()}
    mask = torch.arange(16) % 3 == 0
    sensor.reset(mask)
    for name, tensor in sensor.state().items():
        assert torch.equal(tensor[~mask], before[name][~mask]), name


def test_images_keep_their_tensors(gallery):
    data = gallery.sensors["eye"].data
    pointers = [t.data_ptr() for t in (data.rgb, data.depth, data.segmentation)]
    gallery.sim.sense()
    assert pointers == [t.data_ptr() for t in (data.rgb, data.depth, data.segmentation)]


def test_a_field_of_view_that_differs_between_worlds_shows(gallery):
    """Expanded late, on Warp after `sense` was captured."""
    gallery.place_probe(torch.tensor([-1.0, -1.0, 2.0]), torch.tensor([1.0, 0, 0, 0]))
    gallery.sim.sense()
    before = gallery.sensors["eye"].data.rgb.clone()
    depth_before = gallery.sensors["above"].data.depth.clone()
    gallery.sim.expand("geom_size", "cam_fovy")
    gallery.sim.model.geom_size[1, BALL, 0] = 0.9
    gallery.sensors["above"].reset(torch.ones(16, dtype=torch.bool))
    gallery.sim.forward()
    gallery.sim.sense()
    # From (1, 1, 6), the ball at (0, 3, 1) is visible in `above`.
    depth = gallery.sensors["above"].data.depth
    changed = (depth != depth_before).flatten(1).sum(1)
    assert changed[1] > 20
    gallery.sim.model.geom_size[1, BALL, 0] = 0.5
    camera = gallery.sim.mj_model.camera("eye").id
    gallery.sim.model.cam_fovy[2, camera] = 20.0
    gallery.sim.sense()
    rgb = gallery.sensors["eye"].data.rgb
    assert (rgb[2] != before[2]).any()
    assert torch.equal(rgb[0], before[0]) and torch.equal(rgb[3], before[3])
    gallery.sim.model.cam_fovy[2, camera] = 70.0


def test_the_native_engine_reports_slow_or_flat_cameras(gallery, request):
    notes = gallery.sensors["eye"].notes
    if "rays" in request.node.name:
        assert len(notes) == 1 and notes[0].startswith(
            "rendered by ray casting: flat colours"
        )
        return
    native = gallery.sim.engine.name == "native"
    assert notes == ((SLOW_RENDERING,) if native else ())


# --- Bad input ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"camera": "eyes"},
            "Sensor 'c': There is no camera 'eyes'. Valid names, nearest first: 'eye'",
        ),
        (
            {"parent": ObjRef(type="body", name="bom")},
            "Sensor 'c': There is no body 'bom'. Valid names, nearest first: 'boom'",
        ),
        (
            {"parent": ObjRef(type="site", name="nose")},
            "Camera sensor 'c': parent 'nose' has to be a body, not a site.",
        ),
        (
            {"camera": "eye", "parent": ObjRef(type="body", name="boom")},
            "Camera sensor 'c': parent is only for an added camera, but camera='eye' ",
        ),
        (
            {"data_types": ("deph",)},
            "Camera sensor 'c': there is no data type 'deph'. Valid names, nearest "
            "first: 'depth'",
        ),
        (
            {"data_types": ()},
            "Camera sensor 'c': data_types is empty; name at least one",
        ),
        ({"width": 0}, "Camera sensor 'c': width=0 has to be 1 or more."),
        ({"update_every": 0}, "Camera sensor 'c': update_every=0 has to be 1 or more."),
        (
            {"max_distance": 0.0},
            "Camera sensor 'c': max_distance=0.0 has to be positive.",
        ),
    ],
)
def test_invalid_camera_settings_are_refused(settings, message):
    cfg = CameraSensorCfg(name="c", **settings)
    with pytest.raises((SensorError, UnknownNameError)) as caught:
        cfg.edit_spec(mujoco.MjSpec.from_string(XML))
    assert str(caught.value).startswith(message)


def test_a_picture_that_is_not_drawn_names_the_setting(gallery):
    sensor = gallery.sensors["above"]
    assert isinstance(sensor, CameraSensor)
    with pytest.raises(AttributeError, match="add 'rgb' to its data_types"):
        _ = sensor.data.rgb


def test_a_renderer_without_opengl_suggests_the_setting(monkeypatch):
    def no_opengl(*args: object, **kwargs: object) -> None:
        raise RuntimeError("no display")

    monkeypatch.setattr(mujoco, "Renderer", no_opengl)
    with pytest.raises(VisionError, match="set MUJOCO_GL=egl or MUJOCO_GL=osmesa"):
        build_gallery("native", CFGS, num_envs=1)


def test_a_camera_that_shows_no_group_of_the_scene_is_refused(renderer_works):
    gallery = build_gallery("native", [], num_envs=1)
    cfg = CameraSensorCfg(name="c", camera="eye", geom_groups=(5,))
    with pytest.raises(VisionError, match=r"geom_groups=\(5,\) matches no geom"):
        bind_sensors([cfg], gallery.sim)

"""Rays and heights compared with the equations of the surfaces, on both engines."""

import math
from dataclasses import replace

import mujoco
import numpy as np
import pytest
import torch

from mjlab.names import UnknownNameError
from mjlab.sensor import (
    ContactMatch,
    ContactSensorCfg,
    GridPatternCfg,
    LidarPatternCfg,
    ObjRef,
    PatternError,
    PinholePatternCfg,
    RayCastSensorCfg,
    RingPatternCfg,
    TerrainHeightSensorCfg,
    VisionError,
    bind_sensors,
)
from mjlab.sensor.patterns import PatternCfg
from mjlab.sim import Simulation, SimulationCfg, compile_model
from tests.worlds.gallery import (
    BALL,
    BOX,
    ENGINES,
    FLOOR,
    RAMP,
    XML,
    Gallery,
    build_gallery,
    clear_cut,
    random_poses,
    true_distances,
)

PROBE = ObjRef(type="body", name="probe")
NOSE = ObjRef(type="site", name="nose")
DOWN = RingPatternCfg(rings=())

CFGS = (
    RayCastSensorCfg(
        name="lidar",
        frame=PROBE,
        pattern=LidarPatternCfg(channels=9, elevation=(-90, 60), num_azimuths=40),
        ray_alignment="base",
        max_distance=8.0,
        include_geom_groups=(0,),
    ),
    RayCastSensorCfg(
        name="yaw",
        frame=PROBE,
        pattern=GridPatternCfg(size=(0.4, 0.2)),
        ray_alignment="yaw",
        include_geom_groups=(0,),
    ),
    RayCastSensorCfg(
        name="world",
        frame=(NOSE, PROBE, ObjRef(type="camera", name="eye")),
        pattern=GridPatternCfg(size=(0.2, 0.0), direction=(1.0, 0.0, -1.0)),
        ray_alignment="world",
        start_offset=(0.0, 0.0, 0.5),
        include_geom_groups=(0,),
    ),
    RayCastSensorCfg(
        name="down",
        frame=PROBE,
        pattern=DOWN,
        ray_alignment="yaw",
        max_distance=3.0,
        include_geom_groups=(0,),
    ),
    RayCastSensorCfg(
        name="groups",
        frame=PROBE,
        pattern=DOWN,
        ray_alignment="yaw",
        include_geom_groups=(0, 2, 3),
        exclude_parent_body=False,
    ),
    TerrainHeightSensorCfg(
        name="height",
        frame=(PROBE, NOSE),
        pattern=RingPatternCfg(rings=()),
        include_geom_groups=(0, 2),
    ),
    *(
        TerrainHeightSensorCfg(
            name=reduction,
            frame=PROBE,
            pattern=RingPatternCfg(rings=((0.3, 4),)),
            reduction=reduction,
            include_geom_groups=(0, 2),
            max_distance=1.5,
            start_height=0.2,
        )
        for reduction in ("min", "max", "mean", "none")
    ),
    ContactSensorCfg(
        name="contact",
        primary=ContactMatch(mode="body", pattern="crate"),
        reduce="netforce",
        track_air_time=True,
        history_length=2,
    ),
    ContactSensorCfg(
        name="corners",
        primary=ContactMatch(mode="geom", pattern="crate"),
        fields=("found", "force", "dist", "pos"),
        num_slots=4,
        global_frame=True,
    ),
)


@pytest.fixture(scope="module", params=ENGINES)
def gallery(request: pytest.FixtureRequest) -> Gallery:
    return build_gallery(request.param, CFGS)


def put(gallery: Gallery, *pos: float, quat: tuple[float, ...] = (1, 0, 0, 0)) -> None:
    gallery.place_probe(torch.tensor(pos), torch.tensor(quat, dtype=torch.float32))
    gallery.sim.sense()


def turn(*axis: float, degrees: float) -> tuple[float, ...]:
    half = math.radians(degrees) / 2.0
    return (math.cos(half), *(math.sin(half) * x for x in axis))


# --- Rays ---------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_distances_are_those_of_the_surfaces_in_16_worlds(gallery, seed):
    gallery.place_probe(*random_poses(16, seed))
    gallery.sim.sense()
    data = gallery.sensors["lidar"].data
    starts, directions = (
        data.starts_w.double().numpy(),
        data.directions_w.double().numpy(),
    )
    expected, what = true_distances(starts, directions)
    sees = expected <= 8.0
    clear = clear_cut(starts, directions) & (np.abs(expected - 8.0) > 1e-3)
    assert clear.mean() > 0.95
    assert {FLOOR, BOX, BALL} <= set(what[clear & sees])
    assert (data.hit.numpy() == sees)[clear].all()
    np.testing.assert_allclose(
        data.distances.numpy()[clear], np.where(sees, expected, 8.0)[clear], atol=2e-4
    )
    geoms = np.where(sees, what, -1)
    assert (data.geom_ids.numpy() == geoms)[clear].all()
    # Hit points are on the surface, and normals point towards the ray's origin.
    on_floor = clear & (geoms == FLOOR)
    assert np.abs(data.hit_pos_w.numpy()[on_floor][:, 2]).max() < 5e-4
    np.testing.assert_allclose(
        data.normals_w.numpy()[on_floor], [[0, 0, 1]] * on_floor.sum(), atol=1e-6
    )
    on_ball = clear & (geoms == BALL)
    from_center = data.hit_pos_w.numpy()[on_ball] - [0.0, 3.0, 1.0]
    np.testing.assert_allclose(
        data.normals_w.numpy()[on_ball], from_center / 0.5, atol=2e-3
    )
    assert not data.normals_w.numpy()[~data.hit.numpy()].any()


def test_a_hit_at_zero_distance_is_distinguished_from_a_miss(gallery):
    put(gallery, -1.0, -1.0, 0.0)
    down = gallery.sensors["down"].data
    assert down.hit.all() and not down.distances.any()
    put(gallery, -1.0, -1.0, 0.0, quat=turn(1, 0, 0, degrees=180.0))
    lidar = gallery.sensors["lidar"].data
    # Upside down, the downward rays point up and miss.
    assert not lidar.hit[:, 0].any() and (lidar.distances[:, 0] == 8.0).all()
    assert (lidar.geom_ids[:, 0] == -1).all()


def test_hits_beyond_the_maximum_count_as_misses_at_the_maximum(gallery):
    put(gallery, -1.0, -1.0, 2.999)
    down = gallery.sensors["down"].data
    assert down.hit.all()
    torch.testing.assert_close(down.distances, torch.full((16, 1), 2.999))
    put(gallery, -1.0, -1.0, 3.001)
    assert not down.hit.any()
    assert (down.distances == 3.0).all()
    torch.testing.assert_close(down.hit_pos_w[:, 0, 2], torch.full((16,), 0.001))


def test_rays_pass_through_their_own_body_and_other_groups(gallery):
    put(gallery, -1.0, -1.0, 2.0)
    # The own shell of radius 0.1 and the boom below, in group 3, are hit only if
    # included.
    assert gallery.sensors["down"].data.distances[0, 0] == pytest.approx(2.0, abs=1e-5)
    assert gallery.sensors["groups"].data.distances[0, 0] == pytest.approx(
        0.1, abs=1e-5
    )
    put(gallery, -4.0, 0.0, 2.0)
    assert gallery.sensors["down"].data.geom_ids[0, 0] == FLOOR


@pytest.mark.parametrize("engine", ENGINES)
def test_rays_without_chosen_groups_meet_geoms_of_all_groups(engine):
    below_boom = RayCastSensorCfg(
        name="all",
        frame=PROBE,
        pattern=DOWN,
        ray_alignment="yaw",
        start_offset=(0.0, 0.0, -0.6),
        include_geom_groups=None,
    )
    gallery = build_gallery(engine, [below_boom])
    put(gallery, 0.0, -5.0, 2.0)
    gallery.sim.sense()
    # From 1.4 m down to the crate's lid at 0.2 m, which is in group 4.
    distance = gallery.sensors["all"].data.distances[0, 0]
    assert distance == pytest.approx(1.2, abs=1e-5)


def test_yaw_alignment_uses_only_the_heading(gallery):
    yaw, roll, pitch = 70.0, 25.0, -40.0
    rotation = np.zeros(4)
    mujoco.mju_euler2Quat(rotation, np.radians([yaw, pitch, roll]), "zyx")
    put(gallery, -1.0, -1.0, 2.0, quat=tuple(rotation))
    data = gallery.sensors["yaw"].data
    down = torch.tensor([0.0, 0.0, -1.0]).expand(16, 15, 3)
    torch.testing.assert_close(data.directions_w, down)
    first = data.starts_w[0, 0] - data.frame_pos_w[0, 0]
    cos, sin = math.cos(math.radians(yaw)), math.sin(math.radians(yaw))
    corner = (-0.2 * cos + 0.1 * sin, -0.2 * sin - 0.1 * cos, 0.0)
    np.testing.assert_allclose(first, corner, atol=1e-6)
    # The grid's x varies fastest.
    step = data.starts_w[0, 1] - data.starts_w[0, 0]
    np.testing.assert_allclose(step, (0.1 * cos, 0.1 * sin, 0.0), atol=1e-6)


@pytest.mark.parametrize("pitch", [90.0, -90.0])
def test_yaw_alignment_has_a_heading_for_a_vertical_view_direction(gallery, pitch):
    put(gallery, -1.0, -1.0, 2.0, quat=turn(0, 1, 0, degrees=pitch))
    data = gallery.sensors["yaw"].data
    # Pitched about y, the y axis is unchanged, and so is the heading.
    step = data.starts_w[:, 1] - data.starts_w[:, 0]
    expected = torch.tensor([0.1, 0.0, 0.0]).expand(16, 3)
    torch.testing.assert_close(step, expected, atol=1e-5, rtol=0)


def test_several_frames_of_several_types_in_their_order(gallery):
    put(gallery, -3.0, 0.0, 2.0, quat=turn(0, 0, 1, degrees=90.0))
    data = gallery.sensors["world"].data
    expected = [[-3.0, 0.05, 2.0], [-3.0, 0.0, 2.0], [-3.0, 0.0, 1.8]]
    np.testing.assert_allclose(data.frame_pos_w[7], expected, atol=1e-6)
    starts = data.starts_w[7].view(3, 3, 3)
    for frame, origin in enumerate(expected):
        for ray, x in enumerate((-0.1, 0.0, 0.1)):
            np.testing.assert_allclose(
                starts[frame, ray], np.add(origin, [x, 0.0, 0.5]), atol=1e-6
            )
    # From z = 2.5 at 45 degrees to the floor.
    assert data.distances[7, 4] == pytest.approx(2.5 * math.sqrt(2.0), abs=1e-4)


def test_outputs_are_the_same_tensors_after_every_sense(gallery):
    data = gallery.sensors["lidar"].data
    pointers = [t.data_ptr() for t in gallery.sensors["lidar"].state().values()]
    for seed in range(4):
        gallery.place_probe(*random_poses(16, seed))
        gallery.sim.sense()
        ground = data.hit & (data.geom_ids == FLOOR)
        heights = data.hit_pos_w[..., 2][ground]
        assert heights.abs().max() < 5e-4
    assert pointers == [t.data_ptr() for t in gallery.sensors["lidar"].state().values()]


def test_non_finite_world_does_not_affect_other_worlds(gallery):
    poses = random_poses(16, 5)
    gallery.place_probe(*poses)
    gallery.sim.sense()
    before = gallery.sensors["lidar"].data.distances.clone()
    broken = poses[0].clone()
    broken[3].fill_(torch.nan)
    gallery.place_probe(broken, poses[1])
    gallery.sim.sense()
    after = gallery.sensors["lidar"].data
    others = torch.arange(16) != 3
    assert torch.equal(after.distances[others], before[others])
    assert not after.hit[3].any()
    gallery.sim.reset()


def test_casting_rays_leaves_state_and_derived_fields_untouched(gallery):
    gallery.place_probe(*random_poses(16, 6))
    fields = ("qpos", "qvel", "xpos", "cvel", "sensordata", "geom_xpos")
    before = {name: getattr(gallery.sim.data, name).clone() for name in fields}
    gallery.sim.sense()
    for name in fields:
        assert torch.equal(getattr(gallery.sim.data, name), before[name]), name


def test_rays_do_not_change_the_trajectory():
    trajectories = []
    for senses in (False, True):
        gallery = build_gallery("native", CFGS, num_envs=2)
        gallery.sim.data.qvel[:, 6:9] = torch.tensor([1.0, 0.3, 2.0])
        for _ in range(30):
            gallery.sim.step()
            gallery.sim.forward()
            if senses:
                gallery.sim.sense()
        trajectories.append(gallery.sim.data.qpos.clone())
    assert torch.equal(*trajectories)


def test_rays_do_not_depend_on_the_number_of_worlds():
    rows = []
    for num_envs in (1, 5):
        gallery = build_gallery("native", CFGS, num_envs)
        gallery.place_probe(*(pose[:1] for pose in random_poses(1, 3)))
        gallery.sim.sense()
        rows.append(
            {n: t[0].clone() for n, t in gallery.sensors["lidar"].state().items()}
        )
        rows[-1] |= {n: t[0].clone() for n, t in gallery.sensors["yaw"].state().items()}
    for name in rows[0]:
        assert torch.equal(rows[0][name], rows[1][name]), name


# --- Heights ------------------------------------------------------------------------


def test_height_is_the_distance_to_the_surface_below(gallery):
    put(gallery, -1.0, -1.0, 1.25)
    height = gallery.sensors["height"].data
    torch.testing.assert_close(height.heights, torch.full((16, 2), 1.25))
    assert height.hit.all()
    put(gallery, 2.0, 0.2, 1.75, quat=turn(1, 0, 0, degrees=120.0))
    # The top of the box is at 1; the nose is 5 cm along x, which did not rotate.
    torch.testing.assert_close(height.heights, torch.full((16, 2), 0.75))


def test_height_above_a_slope_follows_it(gallery):
    """The ramp rises from 0 at x = -5 to 1 at x = -3."""
    rays = gallery.sensors["height"].rays
    for x in (-4.75, -4.0, -3.4):
        put(gallery, x, 0.0, 1.5)
        surface = (x + 5.0) / 2.0
        torch.testing.assert_close(
            gallery.sensors["height"].data.heights[:, 0],
            torch.full((16,), 1.5 - surface),
            atol=2e-4,
            rtol=0,
        )
        assert (rays.data.geom_ids[:, 0] == RAMP).all()


def test_a_frame_under_the_ground_has_a_negative_height(gallery):
    put(gallery, 2.0, 0.0, 0.95)
    height = gallery.sensors["height"].data
    torch.testing.assert_close(height.heights, torch.full((16, 2), -0.05))
    # Deeper than the ray starts: the exact depth is unknown.
    put(gallery, 0.0, 3.0, 1.0)
    torch.testing.assert_close(height.heights, torch.full((16, 2), -0.1))


def test_reductions_over_a_ring_at_the_edge_of_the_box(gallery):
    """Of the centre and four points at 0.3 m, only one is above the box."""
    put(gallery, 1.3, 0.0, 1.4)
    expected = [1.4, 0.4, 1.4, 1.4, 1.4]
    sensors = gallery.sensors
    np.testing.assert_allclose(sensors["none"].data.heights[4, 0], expected, atol=1e-5)
    assert sensors["min"].data.heights[4, 0] == pytest.approx(0.4, abs=1e-5)
    assert sensors["max"].data.heights[4, 0] == pytest.approx(1.4, abs=1e-5)
    assert sensors["mean"].data.heights[4, 0] == pytest.approx(6.0 / 5, abs=1e-5)


def test_rays_that_find_no_ground_are_left_out_and_reported(gallery):
    """From 1.6 m, only the box, 0.6 m below, is within the maximum of 1.5 m."""
    put(gallery, 1.3, 0.0, 1.6)
    sensors = gallery.sensors
    assert sensors["none"].data.hit[0, 0].tolist() == [False, True, False, False, False]
    np.testing.assert_allclose(
        sensors["none"].data.heights[0, 0], [1.5, 0.6, 1.5, 1.5, 1.5], atol=1e-5
    )
    for name in ("min", "max", "mean"):
        assert sensors[name].data.heights[0, 0] == pytest.approx(0.6, abs=1e-5), name
        assert sensors[name].data.hit[0, 0]
    put(gallery, -1.0, -1.0, 1.6)
    for name in ("min", "max", "mean"):
        assert sensors[name].data.heights[0, 0] == 1.5, name
        assert not sensors[name].data.hit[0, 0]


# --- Contacts on both engines -------------------------------------------------------


def test_contact_sensor_carries_the_weight_on_both_engines(gallery):
    gallery.sim.reset()
    contact, corners = gallery.sensors["contact"], gallery.sensors["corners"]
    for sensor in (contact, corners):
        sensor.reset(torch.ones(16, dtype=torch.bool))
    for _ in range(300):
        gallery.sim.step()
        contact.update(0.002)
    corners.update(0.002)
    weight = torch.tensor([0.0, 0.0, -2.0 * 9.81]).expand(16, 3)
    torch.testing.assert_close(contact.data.force[:, 0], weight, rtol=2e-3, atol=2e-2)
    total = corners.data.force.sum(dim=1)
    torch.testing.assert_close(total, weight, rtol=2e-3, atol=2e-2)
    assert (corners.data.found == 4).all()
    # Warp's contacts have no order, so corners are compared as a set.
    places = sorted(corners.data.pos[3, :, :2].round(decimals=3).tolist())
    np.testing.assert_allclose(
        places, [[-0.1, -5.1], [-0.1, -4.9], [0.1, -5.1], [0.1, -4.9]], atol=2e-3
    )
    assert (contact.data.current_contact_time > 0.55).all()


def test_reset_changes_only_worlds_of_the_mask_on_both_engines(gallery):
    contact = gallery.sensors["contact"]
    for seed in range(8):
        mask = torch.rand(16, generator=torch.Generator().manual_seed(seed)) < 0.4
        gallery.sim.data.qpos[:, 9].add_(0.001)
        for _ in range(3):
            gallery.sim.step()
            contact.update(0.002)
        before = {name: tensor.clone() for name, tensor in contact.state().items()}
        gallery.sim.reset(mask)
        contact.reset(mask)
        for name, tensor in contact.state().items():
            assert torch.equal(tensor[~mask], before[name][~mask]), name


# --- Patterns -----------------------------------------------------------------------


def test_grid_has_its_ends_and_its_spacing():
    starts, directions = GridPatternCfg(size=(1.6, 1.0), resolution=0.1).rays()
    assert starts.shape == (17 * 11, 3)
    np.testing.assert_allclose(starts[0], [-0.8, -0.5, 0.0], atol=1e-12)
    np.testing.assert_allclose(starts[1], [-0.7, -0.5, 0.0], atol=1e-12)
    np.testing.assert_allclose(starts[-1], [0.8, 0.5, 0.0], atol=1e-12)
    assert (directions == [0.0, 0.0, -1.0]).all()


def test_ring_points_are_on_their_circles():
    starts, _ = RingPatternCfg(rings=((0.1, 4), (0.2, 6))).rays()
    radii = np.linalg.norm(starts, axis=1)
    np.testing.assert_allclose(radii, [0.0] + [0.1] * 4 + [0.2] * 6, atol=1e-12)
    np.testing.assert_allclose(starts[2], [0.0, 0.1, 0.0], atol=1e-12)


def test_lidar_covers_the_turn_once_and_both_ends_of_an_arc():
    _, full = LidarPatternCfg(channels=1, elevation=(0, 0), num_azimuths=4).rays()
    np.testing.assert_allclose(
        full, [[-1, 0, 0], [0, -1, 0], [1, 0, 0], [0, 1, 0]], atol=1e-12
    )
    _, arc = LidarPatternCfg(
        channels=2, elevation=(0, 90), azimuth=(0, 90), num_azimuths=2
    ).rays()
    np.testing.assert_allclose(
        arc, [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 1]], atol=1e-12
    )


def test_pinhole_rays_go_through_pixel_centers():
    cfg = PinholePatternCfg(width=4, height=2, fovy=90.0)
    _, directions = cfg.rays()
    # At distance 1 the image is 2 high and 4 wide, so pixels are 1 by 1.
    at_one = directions / -directions[:, 2:]
    np.testing.assert_allclose(at_one[0], [-1.5, 0.5, -1.0], atol=1e-12)
    np.testing.assert_allclose(at_one[-1], [1.5, -0.5, -1.0], atol=1e-12)
    _, ahead = PinholePatternCfg(width=1, height=1, axes="body").rays()
    np.testing.assert_allclose(ahead, [[1.0, 0.0, 0.0]], atol=1e-12)
    # A body looks along x with y to its left: the same image from there.
    _, turned = replace(cfg, axes="body").rays()
    right, up, back = directions.T
    np.testing.assert_allclose(turned, np.stack((-back, -right, up), 1), atol=1e-12)


def test_pinhole_rays_of_a_calibrated_camera_are_projected_to_pixel_centers():
    """Projected by the camera matrix, with x to the right, y down and z ahead."""
    matrix = np.array([[80.0, 0.0, 30.5], [0.0, 75.0, 21.0], [0.0, 0.0, 1.0]])
    cfg = PinholePatternCfg.from_intrinsic_matrix(matrix.ravel().tolist(), 64, 48)
    _, rays = cfg.rays()
    np.testing.assert_allclose(np.linalg.norm(rays, axis=1), 1.0)
    projected = rays * (1.0, -1.0, -1.0) @ matrix.T
    pixels = (projected[:, :2] / projected[:, 2:]).reshape(48, 64, 2)
    column, row = np.meshgrid(np.arange(64) + 0.5, np.arange(48) + 0.5)
    np.testing.assert_allclose(pixels[..., 0], column, atol=1e-9)
    np.testing.assert_allclose(pixels[..., 1], row, atol=1e-9)
    # The same camera, described by its angle of view.
    centred = [75.0, 0.0, 32.0, 0.0, 75.0, 24.0, 0.0, 0.0, 1.0]
    angle = np.degrees(2.0 * np.arctan(24.0 / 75.0))
    same = PinholePatternCfg(width=64, height=48, fovy=float(angle), axes="body")
    calibrated = PinholePatternCfg.from_intrinsic_matrix(centred, 64, 48, axes="body")
    np.testing.assert_allclose(calibrated.rays()[1], same.rays()[1], atol=1e-12)


LENSES = """
<mujoco>
  <worldbody>
    <body name="head" pos=".1 .2 1" euler="20 -70 10">
      <geom size=".01" contype="0" conaffinity="0"/>
      <camera name="wide" resolution="12 8" fovy="70"/>
      <camera name="real" resolution="12 8" sensorsize=".006 .004" focal=".004 .005"/>
      <camera name="shifted" resolution="12 8" sensorsize=".006 .004"
        focal=".004 .005" principal=".0004 -.0003"/>
      <camera name="plain"/>
    </body>
    <body name="wall" pos="0 0 0"><geom type="plane" size="9 9 .1"/></body>
  </worldbody>
</mujoco>
"""


@pytest.mark.parametrize("name", ["wide", "real"])
def test_rays_of_a_camera_hit_where_mujoco_projects_its_pixels(name: str):
    """MuJoCo's `camprojection` sensor gives the pixel of each hit."""
    spec = mujoco.MjSpec.from_string(LENSES)
    cfg = RayCastSensorCfg(
        name="eye",
        frame=ObjRef(type="camera", name=name),
        pattern=PinholePatternCfg.from_mujoco_camera(name),
        max_distance=100.0,
    )
    cfg.edit_spec(spec)
    sim_cfg = SimulationCfg(backend="native")
    sim = Simulation(compile_model(spec, sim_cfg), 1, sim_cfg)
    hits = bind_sensors([cfg], sim)["eye"].data
    sim.forward()
    sim.sense()
    assert hits.hit_pos_w.shape == (1, 96, 3) and bool(hits.hit.any())
    seen = mujoco.MjSpec.from_string(LENSES)
    for index, point in enumerate(hits.hit_pos_w[0].tolist()):
        seen.worldbody.add_site(name=f"{index}", pos=point)
        sensor = seen.add_sensor(type=mujoco.mjtSensor.mjSENS_CAMPROJECTION)
        sensor.objtype, sensor.objname = mujoco.mjtObj.mjOBJ_SITE, f"{index}"
        sensor.reftype, sensor.refname = mujoco.mjtObj.mjOBJ_CAMERA, name
    model = seen.compile()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    pixels = data.sensordata.reshape(8, 12, 2)
    column, row = np.meshgrid(np.arange(12) + 0.5, np.arange(8) + 0.5)
    met = hits.hit[0].numpy().reshape(8, 12)
    np.testing.assert_allclose(pixels[met][:, 0], column[met], atol=1e-3)
    np.testing.assert_allclose(pixels[met][:, 1], row[met], atol=1e-3)


def test_rays_of_a_camera_fill_the_frustum_that_mujoco_draws():
    model = mujoco.MjModel.from_xml_string(LENSES)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    camera, scene = mujoco.MjvCamera(), mujoco.MjvScene(model, 9)
    camera.type = mujoco.mjtCamera.mjCAMERA_FIXED
    camera.fixedcamid = model.camera("shifted").id
    options, every = mujoco.MjvOption(), mujoco.mjtCatBit.mjCAT_ALL
    mujoco.mjv_updateScene(model, data, options, None, camera, every, scene)
    eye = scene.camera[0]
    left, wide = eye.frustum_center - eye.frustum_width, 2.0 * eye.frustum_width
    top, high = eye.frustum_top, eye.frustum_top - eye.frustum_bottom
    pattern = PinholePatternCfg.from_mujoco_camera("shifted").in_model(model)
    rays = pattern.rays()[1].reshape(8, 12, 3)
    at_near = -rays[..., :2] / rays[..., 2:] * eye.frustum_near
    column, row = np.meshgrid(np.arange(12) + 0.5, np.arange(8) + 0.5)
    np.testing.assert_allclose(at_near[..., 0], left + column / 12 * wide, rtol=1e-4)
    np.testing.assert_allclose(at_near[..., 1], top - row / 8 * high, rtol=1e-4)


def test_a_camera_that_gives_no_pattern_is_named():
    spec = mujoco.MjSpec.from_string(LENSES)
    frame = ObjRef(type="camera", name="plain")
    pattern = PinholePatternCfg.from_mujoco_camera("plane")
    with pytest.raises(UnknownNameError, match=r"camera 'plane'.*'plain'"):
        RayCastSensorCfg(name="eye", frame=frame, pattern=pattern).edit_spec(spec)
    pattern = PinholePatternCfg.from_mujoco_camera("plain")
    with pytest.raises(PatternError, match="'plain' has a resolution of 1 x 1"):
        pattern.in_model(spec.compile())
    with pytest.raises(PatternError, match="call `in_model` first"):
        pattern.rays()


def test_invalid_camera_matrix_is_refused():
    with pytest.raises(PatternError, match="intrinsic_matrix="):
        PinholePatternCfg.from_intrinsic_matrix([75.0, 0.0, 32.0, 75.0], 64, 48)


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        (GridPatternCfg(resolution=0.0), "resolution=0.0"),
        (GridPatternCfg(size=(-1.0, 1.0)), "size="),
        (GridPatternCfg(direction=(0.0, 0.0, 0.0)), "direction="),
        (RingPatternCfg(rings=(), include_center=False), "rings="),
        (RingPatternCfg(rings=((0.1, 0),)), "rings="),
        (PinholePatternCfg(fovy=180.0), "fovy=180.0"),
        (PinholePatternCfg(width=0), "width=0"),
        (PinholePatternCfg(intrinsics=(0.0, 9.0, 8.0, 6.0)), "intrinsics="),
        (LidarPatternCfg(elevation=(10.0, -10.0)), "elevation="),
        (LidarPatternCfg(azimuth=(0.0, 361.0)), "azimuth="),
        (LidarPatternCfg(channels=0), "channels=0"),
    ],
)
def test_invalid_ray_patterns_are_refused(pattern: PatternCfg, message: str):
    with pytest.raises(PatternError, match=f"The ray pattern's {message}"):
        pattern.rays()


# --- Bad input ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"frame": ObjRef(type="site", name="noes")},
            "Sensor 'r': There is no site 'noes'. Valid names, nearest first: 'nose'.",
        ),
        (
            {"frame": ObjRef(type="joint", name="probe")},
            "Sensor 'r': rays cannot start at 'probe', a joint.",
        ),
        ({"frame": ()}, "Sensor 'r': frame is empty; name at least one."),
        ({"ray_alignment": "yav"}, "Sensor 'r': ray_alignment='yav' is unknown."),
        (
            {"max_distance": 0.0},
            "Sensor 'r': max_distance=0.0 has to be positive.",
        ),
    ],
)
def test_invalid_ray_settings_are_refused(settings, message):
    cfg = RayCastSensorCfg(name="r", **{"frame": PROBE, **settings})
    with pytest.raises(ValueError) as caught:
        cfg.edit_spec(mujoco.MjSpec.from_string(XML))
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"reduction": "median"}, "Sensor 'h': reduction='median' is unknown."),
        ({"start_height": -1.0}, "Sensor 'h': start_height=-1.0 is negative."),
        (
            {"pattern": LidarPatternCfg()},
            "Sensor 'h': the rays of its pattern have to point down.",
        ),
    ],
)
def test_invalid_height_sensor_settings_are_refused(settings, message):
    cfg = TerrainHeightSensorCfg(name="h", frame=PROBE, **settings)
    with pytest.raises(ValueError) as caught:
        cfg.edit_spec(mujoco.MjSpec.from_string(XML))
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (
            (5,),
            r"include_geom_groups=\(5,\) matches no geom: the geoms of the scene are "
            r"in groups \[0, 2, 3, 4\]",
        ),
        ((7,), r"include_geom_groups=\(7,\) is invalid: .*, each from 0 to 5"),
        ((), r"include_geom_groups=\(\) is invalid: name at least one geom group"),
    ],
)
def test_rays_without_visible_geoms_are_refused(groups, message):
    cfg = RayCastSensorCfg(name="r", frame=PROBE, include_geom_groups=groups)
    with pytest.raises(VisionError, match=message):
        build_gallery("native", [cfg], num_envs=1)


class Drawn:
    """Visualizer that stores the overlays of world 0."""

    def __init__(self) -> None:
        self.worlds = (0,)
        self.arrows: list[tuple[np.ndarray, np.ndarray, tuple[float, ...]]] = []
        self.spheres: list[tuple[np.ndarray, float]] = []

    def add_arrow(self, world, start, end, *, color, width) -> None:
        self.arrows.append((start, end, color))

    def add_sphere(self, world, center, radius, *, color) -> None:
        self.spheres.append((center, radius))


def test_hits_rays_and_normals_are_drawn_on_request():
    """Rays down and up from the probe, 2 m above the floor: half of them miss."""
    viz = RayCastSensorCfg.VizCfg(show_rays=True, show_normals=True)
    up_and_down = LidarPatternCfg(channels=2, elevation=(-90, 90), num_azimuths=1)
    cfgs = [
        RayCastSensorCfg(
            name="both",
            frame=PROBE,
            pattern=up_and_down,
            max_distance=4.0,
            include_geom_groups=(0,),
            debug_vis=True,
            viz=viz,
        ),
        RayCastSensorCfg(name="hidden", frame=PROBE, include_geom_groups=(0,)),
        TerrainHeightSensorCfg(
            name="height", frame=PROBE, pattern=DOWN, debug_vis=True
        ),
    ]
    gallery = build_gallery("native", cfgs, num_envs=2)
    gallery.sim.forward()
    gallery.sim.sense()
    drawn = Drawn()
    gallery.sensors["both"].debug_vis(drawn)
    assert [radius for _, radius in drawn.spheres] == [pytest.approx(0.015)]
    np.testing.assert_allclose(drawn.spheres[0][0], (0.0, 0.0, 0.0), atol=1e-5)
    by_color = {color: (start, end) for start, end, color in drawn.arrows}
    assert len(by_color) == len(drawn.arrows) == 3
    for color, end in (
        (viz.hit_color, (0.0, 0.0, 0.0)),
        (viz.miss_color, (0.0, 0.0, 2.2)),  # 5 % of its range.
        (viz.normal_color, (0.0, 0.0, 0.15)),
    ):
        np.testing.assert_allclose(by_color[color][1], end, atol=1e-5)
    np.testing.assert_allclose(by_color[viz.hit_color][0], (0.0, 0.0, 2.0), atol=1e-5)
    drawn = Drawn()
    gallery.sensors["hidden"].debug_vis(drawn)
    assert not drawn.arrows and not drawn.spheres
    gallery.sensors["height"].debug_vis(drawn)
    assert not drawn.arrows and len(drawn.spheres) == 1

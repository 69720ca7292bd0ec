"""Terrain: heights by MuJoCo's rays compared with formulas."""

import copy
from collections import Counter
from dataclasses import dataclass

import mujoco
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mjlab.terrain import (
    DiscreteObstaclesCfg,
    FlatCfg,
    FlatPatchCfg,
    GapCfg,
    InvertedPyramidStairsCfg,
    OpenStairsCfg,
    PerlinCfg,
    PitCfg,
    PyramidSlopeCfg,
    PyramidStairsCfg,
    RadialBeamsCfg,
    RandomGridCfg,
    RandomRoughCfg,
    RandomSpreadCfg,
    SteppingStonesCfg,
    SubTerrainCfg,
    Terrain,
    TerrainBlock,
    TerrainCfg,
    TerrainGeneratorCfg,
    WaveCfg,
    all_terrains,
    block_tile,
    build_terrain,
    height_field_tile,
    rough_terrains,
    stairs_terrains,
)
from mjlab.terrain.noise import perlin_noise
from mjlab.terrain.shapes import merged_cells
from mjlab.terrain.writer import _STOPS, PlacedTile, _height_colors, write_tiles

KINDS = all_terrains().sub_terrains


class Ground:
    """A compiled terrain whose height MuJoCo's rays measure."""

    def __init__(self, terrain: Terrain):
        self.terrain = terrain
        self.model = terrain.spec.compile()
        self.data = mujoco.MjData(self.model)
        mujoco.mj_forward(self.model, self.data)

    def height(self, x, y):
        start = np.array([x, y, 20.0])
        distance = mujoco.mj_ray(
            self.model,
            self.data,
            start,
            np.array([0.0, 0.0, -1.0]),
            None,
            True,
            -1,
            None,
        )
        assert distance >= 0.0, f"a hole at {x}, {y}"
        return 20.0 - distance

    def heights(self, points):
        return np.array([self.height(x, y) for x, y in points])


def generator(sub_terrains, **changes):
    return TerrainGeneratorCfg(sub_terrains=sub_terrains, curriculum=True, **changes)


def built(cfg, seed=0):
    return build_terrain(TerrainCfg(kind="generator", generator=cfg), seed=seed)


def one_tile(kind, difficulty=1.0, seed=0, **changes):
    """Return the ground of a single tile, centred at the world's origin."""
    cfg = generator(
        {"kind": kind},
        num_rows=1,
        difficulty_range=(difficulty, difficulty),
        **changes,
    )
    return Ground(built(cfg, seed))


def points_on(size, count, seed=0, margin=0.01):
    half = np.array(size) / 2 - margin
    return np.random.default_rng(seed).uniform(-half, half, size=(count, 2))


def edge_distance(points, size):
    return (np.array(size) / 2 - np.abs(points)).min(axis=1)


# Building


@pytest.mark.parametrize("seed", [0, 1, 2, 12345])
@pytest.mark.parametrize("difficulty", [0.0, 1.0])
@pytest.mark.parametrize("name", KINDS)
def test_every_kind_builds_at_both_ends_of_difficulty(name, difficulty, seed):
    ground = one_tile(KINDS[name], difficulty, seed)
    assert ground.model.ngeom > 0
    for array in (ground.model.geom_rgba, ground.model.mat_rgba):
        assert np.all(np.isfinite(array)) and np.all((array >= 0) & (array <= 1))
    assert np.all(np.isfinite(ground.heights(points_on((8, 8), 20))))


@pytest.mark.parametrize("scheme", ["height", "random", "none"])
def test_colours_are_finite_for_each_scheme_on_flat_and_tall_ground(scheme):
    for kind in (FlatCfg(), PyramidStairsCfg(), PerlinCfg()):
        model = one_tile(kind, color_scheme=scheme).model
        assert np.all(np.isfinite(model.geom_rgba))
        assert np.all((model.geom_rgba >= 0) & (model.geom_rgba <= 1))


def test_height_field_textures_show_high_ground_where_it_is_high():
    heights = np.zeros((11, 11))
    heights[9, 7] = 1.0

    @dataclass(kw_only=True)
    class PeakCfg(SubTerrainCfg):
        def check(self, path, size):
            pass

        def build(self, size, difficulty, rng):
            return height_field_tile(size, heights)

    model = one_tile(PeakCfg()).model
    picture = model.tex_data.reshape(11, 11, 3).astype(int)
    odd = np.abs(picture - picture[0, 0]).sum(axis=-1) > 0
    # MuJoCo draws an image's first row at the highest y.
    assert np.argwhere(odd).tolist() == [[1, 7]]


def test_difficulty_rows_reach_both_ends_and_grow_evenly():
    terrain = built(rough_terrains(curriculum=True))
    assert terrain.difficulty[:, 0].tolist() == pytest.approx(np.arange(10) / 9)
    assert terrain.difficulty.min() == 0.0 and terrain.difficulty.max() == 1.0
    up = terrain.column_kinds.index("pyramid_stairs")
    # Five rings of 0.3 m fit next to the platform, which is the sixth step.
    assert terrain.origins[:, up, 2] == pytest.approx(6 * 0.1 * np.arange(10) / 9)


def test_difficulty_range_is_where_the_rows_begin_and_end():
    terrain = built(
        generator({"up": PyramidStairsCfg()}, num_rows=3, difficulty_range=(0.2, 0.8))
    )
    assert terrain.difficulty[:, 0] == pytest.approx([0.2, 0.5, 0.8])


def test_random_difficulty_stays_in_its_range_and_varies():
    cfg = rough_terrains()
    cfg.difficulty_range = (0.3, 0.6)
    difficulty = built(cfg).difficulty
    assert difficulty.min() >= 0.3 and difficulty.max() <= 0.6
    assert np.unique(difficulty).size == difficulty.size


# Heights compared with formulas


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("difficulty", [0.0, 0.37, 1.0])
@pytest.mark.parametrize("size", [(8.0, 8.0), (9.3, 7.0)])
def test_stairs_rise_one_step_per_step_width(sign, difficulty, size):
    cfg = PyramidStairsCfg if sign > 0 else InvertedPyramidStairsCfg
    kind = cfg(
        step_height_range=(0.02, 0.18),
        step_width=0.35,
        platform_width=2.0,
        border_width=0.6,
    )
    ground = one_tile(kind, difficulty, size=size)
    points = points_on(size, 400)
    place = (edge_distance(points, size) - 0.6) / 0.35
    last = int((min(size) - 2 * 0.6 - 2.0) / (2 * 0.35)) + 1
    steps = np.clip(np.floor(place) + 1, 0, last)
    clear = np.abs(place - np.round(place)) > 1e-3
    expected = sign * steps * (0.02 + difficulty * 0.16)
    assert ground.heights(points)[clear] == pytest.approx(expected[clear], abs=1e-9)


@pytest.mark.parametrize("inverted", [False, True])
def test_slopes_rise_in_proportion_to_the_way_from_the_border(inverted):
    size = (8.0, 6.0)
    kind = PyramidSlopeCfg(
        slope_range=(0.1, 0.5), platform_width=1.0, border_width=0.4, inverted=inverted
    )
    ground = one_tile(kind, 0.75, size=size)
    points = points_on(size, 600)
    slope = 0.1 + 0.75 * 0.4
    way = np.clip(edge_distance(points, size) - 0.4, 0.0, 3.0 - 0.4 - 0.5)
    to_edge = np.sort(np.array(size) / 2 - np.abs(points), axis=1)
    # The ridges cut through cells, where the surface depends on the diagonal.
    away_from_ridge = to_edge[:, 1] - to_edge[:, 0] > 0.1
    expected = (-1 if inverted else 1) * slope * way
    assert away_from_ridge.sum() > 300
    assert ground.heights(points[away_from_ridge]) == pytest.approx(
        expected[away_from_ridge], abs=1e-6
    )


def wave_height(points, size, amplitude, waves):
    corner = points + np.array(size) / 2
    turns = 2 * np.pi * waves * corner / np.array(size)
    return amplitude * (np.cos(turns[:, 0]) + np.sin(turns[:, 1])) / 2


def test_waves_are_the_mean_of_a_cosine_and_a_sine():
    size, waves, amplitude, cell = (8.0, 6.0), 3, 0.1 + 0.5 * 0.2, 0.1
    kind = WaveCfg(amplitude_range=(0.1, 0.3), num_waves=waves, border_width=0.5)
    ground = one_tile(kind, 0.5, size=size)
    points = points_on(size, 800)
    points = points[edge_distance(points, size) > 0.6]
    vertices = np.round(points / cell) * cell
    expected = wave_height(vertices, size, amplitude, waves)
    assert ground.heights(vertices) == pytest.approx(expected, abs=2e-6)
    # Between vertices a linear surface errs by at most f''/8 per axis and cell.
    bend = amplitude / 2 * (2 * np.pi * waves / np.array(size)) ** 2
    error = ground.heights(points) - wave_height(points, size, amplitude, waves)
    assert np.abs(error).max() < (bend * cell**2 / 8).sum() * 2


@pytest.mark.parametrize("difficulty", [0.5, 1.0])
def test_rough_noise_takes_the_steps_of_its_range(difficulty):
    kind = RandomRoughCfg(noise_range=(-0.04, 0.1), noise_step=0.02, border_width=0.25)
    ground = one_tile(kind, difficulty)
    vertices = np.stack(np.meshgrid(*[np.arange(-35, 36, 3) / 10] * 2), -1)
    heights = ground.heights(vertices.reshape(-1, 2)) / difficulty
    steps = (heights + 0.04) / 0.02
    assert steps == pytest.approx(np.round(steps), abs=1e-4)
    assert set(np.round(steps).astype(int)) == set(range(8))


def test_rough_noise_without_scaling_is_the_same_range_at_each_difficulty():
    kind = RandomRoughCfg(scale_with_difficulty=False)
    heights = one_tile(kind, 0.0).heights(points_on((7, 7), 200))
    assert 0.02 - 1e-6 <= heights.min() < 0.04 and 0.08 < heights.max() <= 0.1 + 1e-6


def test_downsampled_noise_is_linear_between_its_points():
    kind = RandomRoughCfg(downsampled_scale=0.8, border_width=0.0)
    ground = one_tile(kind)
    x = np.linspace(-4.0, 4.0, 11)
    for lattice_x, y in ((x[3], x[5]), (x[7], x[2])):
        line = [
            ground.height(lattice_x + share * 0.8, y) for share in (0, 0.25, 0.5, 1)
        ]
        assert line[1] == pytest.approx(0.75 * line[0] + 0.25 * line[3], abs=1e-6)
        assert line[2] == pytest.approx(0.5 * line[0] + 0.5 * line[3], abs=1e-6)


def test_perlin_hills_span_their_height():
    kind = PerlinCfg(height_range=(0.2, 0.6), border_width=0.0)
    for difficulty, height in ((0.0, 0.2), (0.5, 0.4), (1.0, 0.6)):
        model = one_tile(kind, difficulty).model
        assert model.hfield_size[0, 2] == pytest.approx(height, abs=1e-6)
        assert model.geom_pos[0, 2] == pytest.approx(-height / 2, abs=1e-6)
        assert model.hfield_data.min() == 0.0 and model.hfield_data.max() == 1.0


def test_perlin_noise_is_zero_on_its_lattice_and_smooth_across_it():
    class Offset(np.random.Generator):
        """Starts the lattice at the first vertex."""

        def uniform(self, *args, size=None):
            if size == 2:
                return np.zeros(2)
            return super().uniform(*args, size=size)

    axis = np.linspace(0.0, 3.0, 3001)
    rng = Offset(np.random.PCG64(7))
    noise = perlin_noise(axis, np.array([0.0, 0.4, 1.0]), 1.0, rng)
    lattice = noise[[0, 2]][:, ::1000]
    assert lattice == pytest.approx(np.zeros_like(lattice), abs=1e-12)
    assert 0.05 < np.abs(noise).max() <= 1.0
    slope = np.diff(noise[1]) / 1e-3
    # The quintic has zero second derivatives at its ends, so the surface is smooth.
    assert np.abs(np.diff(slope)).max() < 0.02


def test_obstacles_have_the_heights_of_their_mode():
    for mode, shares in (("choice", {-2, -1, 0, 1, 2}), ("fixed", {0, 2})):
        kind = DiscreteObstaclesCfg(
            height_mode=mode, obstacle_height_range=(0.1, 0.3), num_obstacles=80
        )
        model = one_tile(kind, 0.5).model
        heights = model.geom_pos[0, 2] + model.hfield_data * model.hfield_size[0, 2]
        assert set(np.round(heights / 0.1, 4)) == shares


def test_stepping_stones_have_their_size_gap_and_depth():
    kind = SteppingStonesCfg(
        stone_size_range=(0.4, 0.8),
        stone_distance_range=(0.1, 0.3),
        stone_height_range=(0.0, 0.0),
        floor_depth=0.7,
        platform_width=1.5,
    )
    for difficulty, stone, gap in ((0.0, 0.8, 0.1), (1.0, 0.4, 0.3)):
        ground = one_tile(kind, difficulty)
        # A line through the first row of stones, next to the border.
        count = int((8 - 0.5 - gap + 1e-9) / (stone + gap))
        line = count * (stone + gap) + gap
        y = -line / 2 + gap + stone / 2
        x = np.arange(-4.0 + 1e-4, 4.0, 1e-3)
        heights = ground.heights(np.stack((x, np.full_like(x, y)), axis=-1))
        assert set(np.round(heights, 9)) == {0.0, -0.7}
        bottom = np.round(heights + 0.7, 9) == 0.0
        assert bottom.sum() * 1e-3 == pytest.approx((count + 1) * gap, abs=0.03)
        assert np.sum(np.diff(bottom.astype(int)) == 1) == count + 1
        assert ground.height(0.0, 0.0) == pytest.approx(0.0)
        assert ground.height(0.7, -0.7) == pytest.approx(0.0)


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_stepping_stones_are_displaced_by_a_fraction_of_half_the_gap(share):
    kind = SteppingStonesCfg(
        stone_size_range=(0.3, 0.3),
        stone_distance_range=(0.2, 0.2),
        displacement=share,
        platform_width=0.5,
    )
    tile = kind.build((8.0, 8.0), 0.0, np.random.default_rng(0))
    middles = [
        ((b.x_min + b.x_max) / 2, (b.y_min + b.y_max) / 2)
        for b in tile.blocks
        if b.x_max - b.x_min == pytest.approx(0.3) == b.y_max - b.y_min
    ]
    # Fourteen in a row, none of them in the centre.
    places = np.array(middles) / 0.5 - 0.5
    shifts = 0.5 * (places - np.round(places))
    assert len(middles) == 14**2 - 4 and np.abs(shifts).max() <= 0.1 * share + 1e-9
    assert np.abs(shifts).max() >= 0.09 * share


def test_random_grid_uses_its_levels_and_keeps_platform_and_border_level():
    kind = RandomGridCfg(
        grid_width=0.5, grid_height_range=(0.0, 0.2), num_levels=5, border_width=0.5
    )
    ground = one_tile(kind)
    cells = np.stack(np.meshgrid(*[np.arange(-3.25, 3.5, 0.5)] * 2), -1)
    cells = cells.reshape(-1, 2)
    heights = ground.heights(cells)
    assert set(np.round(heights, 9)) == {-0.2, -0.1, 0.0, 0.1, 0.2}
    corners = ground.heights(cells + 0.24)
    assert corners == pytest.approx(heights)
    on_platform = np.abs(cells).max(axis=1) < 0.5
    assert on_platform.sum() == 4
    assert heights[on_platform] == pytest.approx(0.0)


@pytest.mark.parametrize("sign", [1, -1])
def test_stairs_with_holes_keep_four_flights_around_deep_corners(sign):
    kind = PyramidStairsCfg if sign == 1 else InvertedPyramidStairsCfg
    ground = one_tile(kind(holes=True, hole_depth=2.0, step_height_range=(0.1, 0.1)))
    # Five steps of 0.3 m between the border, 1 m wide, and the platform.
    steps = {3.5: 0, 2.85: 1, 2.55: 2, 2.25: 3, 1.95: 4, 1.65: 5, 1.2: 6, 0.0: 6}
    flights = [(1, 0), (-1, 0), (0, 1), (0, -1)]
    for distance, step in steps.items():
        for across in (-1.4, 0.0, 1.4):
            points = [(distance * x, across) for x, _ in flights[:2]]
            points += [(across, distance * y) for _, y in flights[2:]]
            expected = sign * 0.1 * step
            assert ground.heights(points) == pytest.approx(expected, abs=1e-6)
    lowest = -2.0 if sign == 1 else -2.6
    corners = [(x * 2.0, y * 2.9) for x in (-1, 1) for y in (-1, 1)]
    assert ground.heights(corners) == pytest.approx(lowest, abs=1e-6)
    edge = np.linspace(-3.99, 3.99, 30)
    assert ground.heights([(3.99, y) for y in edge]) == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("is_inverted", [False, True])
@pytest.mark.parametrize("difficulty", [0.0, 1.0])
def test_open_stairs_have_air_below_their_treads(difficulty, is_inverted):
    cfg = OpenStairsCfg(
        step_height_range=(0.15, 0.25),
        step_width_range=(0.5, 0.6),
        step_thickness=0.04,
        inverted=is_inverted,
        platform_width=2.0,
        border_width=0.5,
    )
    ground = one_tile(cfg, difficulty)
    height, width = ((0.15, 0.6), (0.25, 0.5))[int(difficulty)]
    # Between the border and the platform are 2.5 m.
    steps = int(2.5 / width)
    floor = -steps * height if is_inverted else 0.0
    for step in range(steps):
        top = -step * height if is_inverted else (step + 1) * height
        distance = 3.5 - (step + 0.5) * width
        for x, y in ((distance, 0.0), (0.3, -distance), (-distance, distance)):
            assert ground.height(x, y) == pytest.approx(top, abs=1e-6)
            if top - 0.04 < floor + 0.02:
                continue
            start, up = np.array([x, y, floor + 0.01]), np.array([0.0, 0.0, 1.0])
            clear = mujoco.mj_ray(
                ground.model, ground.data, start, up, None, True, -1, None
            )
            assert clear == pytest.approx(top - 0.04 - floor - 0.01, abs=1e-6)
    middle = floor if is_inverted else (steps + 1) * height
    assert ground.height(0.0, 0.0) == pytest.approx(middle, abs=1e-6)
    assert ground.height(3.6, 1.0) == pytest.approx(0.0, abs=1e-6)
    origin = ground.terrain.origins[0, 0]
    assert origin.tolist() == pytest.approx([0.0, 0.0, middle])


def test_a_ball_comes_to_rest_on_a_tread_and_another_below_it():
    cfg = OpenStairsCfg(
        step_height_range=(0.0, 0.4),
        step_width_range=(0.5, 0.5),
        inverted=False,
        platform_width=3.0,
        border_width=1.0,
    )
    ground = one_tile(cfg)
    spec = ground.terrain.spec
    places = {"on": (-2.75, 0.0, 0.5), "under": (-1.75, 0.0, 0.2)}
    for name, place in places.items():
        ball = spec.worldbody.add_body(name=name, pos=place)
        ball.add_freejoint()
        ball.add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[0.08, 0, 0])
    model = spec.compile()
    data = mujoco.MjData(model)
    for _ in range(400):
        mujoco.mj_step(model, data)
    assert data.body("on").xpos[2] == pytest.approx(0.4 + 0.08, abs=5e-3)
    assert data.body("under").xpos[2] == pytest.approx(0.08, abs=5e-3)


def test_a_grid_with_holes_has_cells_in_line_with_its_platform_only():
    cfg = RandomGridCfg(holes=True, hole_depth=1.5, platform_width=1.2)
    ground = one_tile(cfg)
    # Twelve cells of 0.6 m, of which the platform replaces two along each side.
    middles = 0.6 * (np.arange(12) - 5.5)
    for x in middles:
        for y in middles:
            height = ground.height(x, y)
            in_line = min(abs(x), abs(y)) < 0.6
            on_edge = max(abs(x), abs(y)) > 3.6
            if in_line or on_edge:
                assert abs(height) <= 0.2 + 1e-6
            else:
                assert height == pytest.approx(-1.5, abs=1e-6)


def test_beams_leave_in_all_directions_with_their_width():
    cfg = RadialBeamsCfg(num_beams=5, floor_depth=0.7, border_width=0.35)
    for difficulty, width in ((0.0, 0.4), (1.0, 0.2)):
        ground = one_tile(cfg, difficulty, size=(8.0, 6.0))
        for yaw in 2.0 * np.pi * np.arange(5) / 5:
            ahead = np.array([np.cos(yaw), np.sin(yaw)])
            left = np.array([-ahead[1], ahead[0]])
            for distance in np.linspace(0.0, 2.69 / max(abs(ahead[1]), 0.73), 20):
                for side in (-0.49, 0.0, 0.49):
                    point = distance * ahead + side * width * left
                    assert ground.height(*point) == pytest.approx(0.0, abs=1e-6)
            beside = 2.0 * ahead + 0.51 * width * left
            assert ground.height(*beside) == pytest.approx(-0.7, abs=1e-6)


def test_spread_boxes_are_turned_and_keep_off_platform_and_border():
    cfg = RandomSpreadCfg(
        num_boxes=40,
        box_width_range=(0.4, 0.4),
        box_length_range=(1.0, 1.0),
        box_height_range=(0.1, 0.5),
        platform_width=2.0,
        border_width=0.5,
    )
    for difficulty, most in ((0.0, 20), (1.0, 40)):
        ground = one_tile(cfg, difficulty)
        model = ground.model
        boxes = range(1, model.ngeom)
        assert most / 2 < len(boxes) <= most
        tops = model.geom_pos[1:, 2] + model.geom_size[1:, 2]
        scale = 0.2 + 0.8 * difficulty
        assert 0.1 * scale <= tops.min() and tops.max() <= 0.5 * scale
        turns = set()
        for box in boxes:
            w, _, _, z = model.geom_quat[box]
            turns.add(round(float(2.0 * np.arctan2(z, w)), 3))
            for corner in ((-1, -1), (-1, 1), (1, -1), (1, 1), (0, 0)):
                local = np.array([*(corner * model.geom_size[box, :2]), 0.0])
                point = np.zeros(3)
                mujoco.mju_rotVecQuat(point, local, model.geom_quat[box])
                x, y = (point + model.geom_pos[box])[:2]
                assert max(abs(x), abs(y)) <= 3.5 + 1e-3
                assert max(abs(x), abs(y)) >= 1.0 - 1e-3
        assert len(turns) == len(boxes)


@pytest.mark.parametrize("difficulty", [0.0, 1.0])
def test_a_gap_surrounds_the_platform_with_its_width_and_depth(difficulty):
    cfg = GapCfg(gap_width_range=(0.2, 0.6), gap_depth=1.2, platform_width=1.5)
    ground, width = one_tile(cfg, difficulty), (0.2, 0.6)[int(difficulty)]
    for x, y in ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1)):
        for distance, height in (
            (0.0, 0.0),
            (0.74, 0.0),
            (0.76, -1.2),
            (0.74 + width, -1.2),
            (0.76 + width, 0.0),
            (3.99, 0.0),
        ):
            found = ground.height(distance * x, distance * y)
            assert found == pytest.approx(height, abs=1e-6)


@pytest.mark.parametrize("is_double", [False, True])
@pytest.mark.parametrize("difficulty", [0.0, 1.0])
def test_a_pit_has_its_walls_and_spawns_at_its_bottom(difficulty, is_double):
    cfg = PitCfg(
        pit_depth_range=(0.1, 0.4),
        platform_width=2.0,
        double_pit=is_double,
        ledge_width=0.6,
    )
    ground, depth = one_tile(cfg, difficulty), (0.1, 0.4)[int(difficulty)]
    bottom = -2.0 * depth if is_double else -depth
    ledge = -depth if is_double else 0.0
    for x, y in ((1, 0), (0, -1), (-1, 1)):
        profile = ((0.0, bottom), (0.99, bottom), (1.01, ledge), (1.59, ledge))
        for distance, height in (*profile, (1.61, 0.0), (3.99, 0.0)):
            found = ground.height(distance * x, distance * y)
            assert found == pytest.approx(height, abs=1e-6)
    assert ground.terrain.origins[0, 0].tolist() == pytest.approx([0.0, 0.0, bottom])


def beside_an_edge(tile, x, y):
    """Whether a point is within the overlap of blocks, 0.1 mm beyond a side."""
    around = [
        tile.height_at(x + dx, y + dy) for dx in (-2e-4, 2e-4) for dy in (-2e-4, 2e-4)
    ]
    return max(around) - min(around) > 0.01


@pytest.mark.parametrize("name", KINDS)
def test_terrain_tile_heights_match_rays(name):
    kind, size = KINDS[name], (8.0, 7.0)
    tile = kind.build(size, 1.0, np.random.default_rng(3))

    @dataclass(kw_only=True)
    class FixedCfg(SubTerrainCfg):
        def check(self, path, size):
            pass

        def build(self, size, difficulty, rng):
            return tile

    ground = one_tile(FixedCfg(), size=size)
    points = [p for p in points_on(size, 300) if not beside_an_edge(tile, *p)]
    assert len(points) > 280
    expected = [tile.height_at(x, y) for x, y in points]
    assert ground.heights(points) == pytest.approx(expected, abs=1e-5)
    x, y, raster = tile.raster(0.1)
    for row, column in np.random.default_rng(0).integers(1, len(y) - 1, (100, 2)):
        point = (x[min(column, len(x) - 1)], y[row])
        height = raster[row, min(column, len(x) - 1)]
        assert height == pytest.approx(tile.height_at(*point), abs=1e-9)


# Assembly of tiles


@pytest.mark.parametrize("difficulty", [0.0, 0.5, 1.0])
def test_tiles_meet_at_height_zero_without_gaps(difficulty):
    kinds = dict(KINDS)
    cfg = generator(
        kinds, num_rows=2, difficulty_range=(difficulty, difficulty), border_width=1.0
    )
    ground = Ground(built(cfg))
    (x_low, y_low), (x_high, y_high) = ground.terrain.tile_bounds
    along = np.random.default_rng(0).uniform(y_low, y_high, 150)
    across = np.random.default_rng(1).uniform(x_low, x_high, 20)
    for x in (x_low, 0.0, x_high):
        for nudge in (-1e-5, 0.0, 1e-5):
            seam = [(x + nudge, y) for y in along]
            assert ground.heights(seam) == pytest.approx(0.0, abs=1e-4)
    for y in np.linspace(y_low, y_high, len(kinds) + 1):
        for nudge in (-1e-5, 0.0, 1e-5):
            seam = [(x, y + nudge) for x in across]
            assert ground.heights(seam) == pytest.approx(0.0, abs=1e-4)


def test_a_border_surrounds_all_tiles_and_bounds_include_it():
    cfg = generator({"flat": FlatCfg()}, num_rows=3, border_width=5.0)
    ground = Ground(built(cfg))
    assert ground.terrain.tile_bounds.tolist() == [[-12, -4], [12, 4]]
    assert ground.terrain.bounds.tolist() == [[-17, -9], [17, 9]]
    for x, y in ((16.99, 8.99), (-16.99, 8.99), (0.0, -8.99), (12.01, 0.0)):
        assert ground.height(x, y) == pytest.approx(0.0)
    with pytest.raises(AssertionError, match="a hole"):
        ground.height(17.01, 0.0)


def test_columns_follow_proportions_and_no_kind_is_left_out():
    assert Counter(built(rough_terrains()).column_kinds) == {
        "flat": 4,
        "pyramid_stairs": 4,
        "pyramid_stairs_inv": 4,
        "pyramid_slope": 2,
        "pyramid_slope_inv": 2,
        "random_rough": 2,
        "wave": 2,
    }
    cfg = TerrainGeneratorCfg(
        num_rows=1,
        num_cols=5,
        sub_terrains={
            "much": FlatCfg(proportion=100.0),
            "little": FlatCfg(proportion=0.001),
        },
    )
    assert built(cfg).column_kinds == ("much",) * 4 + ("little",)


def test_columns_are_divided_by_the_webster_method():
    # Votes of three parties for seven seats, for which D'Hondt's divisors give 4, 2 and
    # 1.
    votes = {"a": 53.0, "b": 24.0, "c": 23.0}
    kinds = {name: FlatCfg(proportion=share) for name, share in votes.items()}
    cfg = TerrainGeneratorCfg(num_rows=1, num_cols=7, sub_terrains=kinds)
    assert Counter(built(cfg).column_kinds) == {"a": 3, "b": 2, "c": 2}


def test_columns_divide_worlds_by_proportion():
    for curriculum in (False, True):
        terrain = built(rough_terrains(curriculum=curriculum))
        assert terrain.column_shares.sum() == pytest.approx(1.0)
        kinds = np.array(terrain.column_kinds)
        assert terrain.column_shares[kinds == "flat"].sum() == pytest.approx(0.2)
        assert terrain.column_shares[kinds == "wave"].sum() == pytest.approx(0.1)
    assert terrain.num_cols == 7 and terrain.num_rows == 10


def test_origins_are_on_the_surface_at_the_centre_of_each_tile():
    ground = Ground(built(all_terrains(curriculum=True)))
    origins = ground.terrain.origins
    assert origins.shape == (10, 16, 3)
    assert origins[:, 0, 0] == pytest.approx(8.0 * (np.arange(10) - 4.5))
    assert origins[0, :, 1] == pytest.approx(8.0 * (np.arange(16) - 7.5))
    surface = ground.heights(origins[..., :2].reshape(-1, 2))
    assert origins[..., 2].ravel() == pytest.approx(surface, abs=1e-6)


def test_a_ball_dropped_at_an_origin_comes_to_rest_on_the_ground():
    level = [
        "flat",
        "pyramid_stairs",
        "pyramid_stairs_inv",
        "pyramid_slope",
        "pyramid_slope_inv",
        "random_grid",
        "stepping_stones",
        "discrete_obstacles",
        "open_stairs_inv",
        "random_spread",
        "radial_beams",
        "gap",
        "pit",
    ]
    cfg = generator({name: KINDS[name] for name in level}, num_rows=2)
    terrain = built(cfg)
    for place in terrain.origins.reshape(-1, 3):
        ball = terrain.spec.worldbody.add_body(pos=place + np.array([0.0, 0.0, 0.12]))
        ball.add_freejoint()
        ball.add_geom(size=[0.1, 0, 0])
    model = terrain.spec.compile()
    data = mujoco.MjData(model)
    mujoco.mj_step(model, data, nstep=400)
    rest = data.qpos.reshape(-1, 7)[:, 2] - 0.1
    assert rest == pytest.approx(terrain.origins[..., 2].ravel(), abs=2e-3)


def test_geoms_are_named_by_tile_in_group_zero_and_without_mass():
    model = built(rough_terrains(curriculum=True)).spec.compile()
    names = [model.geom(index).name for index in range(model.ngeom)]
    assert "terrain_0_0_0" in names and "terrain_9_6_0" in names
    assert "terrain_border_3" in names
    assert all(name.startswith("terrain_") for name in names)
    assert np.all(model.geom_group == 0)
    assert model.body("terrain").mass[0] == 0.0


def test_geoms_are_few_and_unique():
    for cfg, most in (
        (rough_terrains, 350),
        (stairs_terrains, 310),
        (all_terrains, 2700),
    ):
        model = built(cfg(curriculum=True)).spec.compile()
        assert model.ngeom <= most
        boxes = np.round(np.hstack((model.geom_pos, model.geom_size)), 9)
        fields = model.geom_type == mujoco.mjtGeom.mjGEOM_HFIELD
        assert len(np.unique(boxes[~fields], axis=0)) == np.sum(~fields)


@pytest.mark.parametrize(
    "kind",
    [PyramidStairsCfg(), InvertedPyramidStairsCfg(), RandomGridCfg(), WaveCfg()],
)
def test_a_level_tile_is_a_single_box(kind):
    model = one_tile(kind, 0.0).model
    assert model.ngeom == 1
    assert model.geom_type[0] == mujoco.mjtGeom.mjGEOM_BOX


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_merged_cells_show_each_cell_at_its_height(data):
    shape = data.draw(st.tuples(st.integers(1, 7), st.integers(1, 7)))
    count = shape[0] * shape[1]
    levels = data.draw(st.lists(st.integers(-2, 2), min_size=count, max_size=count))
    heights = np.array(levels, dtype=float).reshape(shape)
    edges = [np.cumsum([0.0, *([0.5, 0.25] * 4)[:extent]]) for extent in shape[::-1]]
    blocks = merged_cells(*edges, heights)
    assert len(blocks) <= count
    x, y = ((axis[1:] + axis[:-1]) / 2 for axis in edges)
    for row, column in np.ndindex(shape):
        tops = [
            block.top
            for block in blocks
            if block.x_min < x[column] < block.x_max
            and block.y_min < y[row] < block.y_max
        ]
        assert max(tops) == heights[row, column]
        assert len(tops) == len(set(tops)), "two blocks of one level overlap"


def test_hidden_blocks_are_dropped():
    seen = TerrainBlock(-1.0, 1.0, -1.0, 1.0, 0.5)
    hidden = TerrainBlock(-0.5, 0.5, -0.5, 0.5, 0.5)
    below = TerrainBlock(-2.0, 2.0, -2.0, 2.0, -0.1)
    tile = block_tile((4.0, 4.0), [hidden, seen, below], floor=0.0)
    assert tile.blocks == (TerrainBlock(-2.0, 2.0, -2.0, 2.0, 0.0), seen)


# Flat patches


@pytest.mark.parametrize("name", KINDS)
def test_patches_are_flat_by_rays_and_inside_their_tile(name):
    tolerance = {"random_rough": 0.1, "wave": 0.3, "perlin": 0.25}.get(name, 0.01)
    radius = 0.2 if name in ("stepping_stones", "random_grid") else 0.35
    patch = FlatPatchCfg(
        num_patches=6, patch_radius=radius, max_height_diff=tolerance, x_range=(-3, 2)
    )
    cfg = generator({"flat": FlatCfg(), name: KINDS[name]}, num_rows=2)
    cfg.flat_patch_sampling = {"spawn": patch}
    ground = Ground(built(cfg))
    patches = ground.terrain.patches["spawn"]
    columns = len(ground.terrain.column_kinds)
    assert patches.shape == (2, columns, 6, 3)
    rng = np.random.default_rng(0)
    for index in np.ndindex(2, columns, 6):
        offset = patches[index][:2] - ground.terrain.origins[index[:2]][:2]
        assert np.all(np.abs(offset) <= 4.0 - radius + 1e-9)
        assert -3 <= offset[0] <= 2
        assert patches[index][2] == pytest.approx(
            ground.height(*patches[index][:2]), abs=1e-5
        )
        angle, share = rng.uniform(0, 2 * np.pi, 60), np.sqrt(rng.uniform(size=60))
        share[:30] = 1.0
        disc = radius * share * np.stack((np.cos(angle), np.sin(angle)))
        around = ground.heights(patches[index][:2] + disc.T)
        assert around.max() - around.min() <= tolerance + 1e-5


def test_patches_reach_a_height_range():
    kind = PyramidStairsCfg(
        flat_patch_sampling={
            "top": FlatPatchCfg(num_patches=3, z_range=(0.55, 0.65)),
            "low": FlatPatchCfg(num_patches=20, z_range=(-0.05, 0.05)),
        }
    )
    cfg = generator({"flat": FlatCfg(), "up": kind}, num_rows=1)
    cfg.difficulty_range = (1.0, 1.0)
    terrain = built(cfg)
    assert terrain.patches["top"][0, 1, :, 2] == pytest.approx(0.6)
    assert terrain.patches["low"][0, 1, :, 2] == pytest.approx(0.0)
    # A kind without the name uses its origin.
    assert terrain.patches["top"][0, 0] == pytest.approx(
        np.tile(terrain.origins[0, 0], (3, 1))
    )


def test_patches_that_cannot_be_found_are_an_error_with_advice():
    patch = FlatPatchCfg(patch_radius=0.5, max_height_diff=0.001)
    kind = RandomRoughCfg(flat_patch_sampling={"spawn": patch})
    with pytest.raises(
        ValueError, match=r"tile terrain_1_0: .* flattest one differs by"
    ):
        built(generator({"rough": kind}, num_rows=2))
    kind = FlatCfg(flat_patch_sampling={"spawn": FlatPatchCfg(z_range=(1.0, 2.0))})
    with pytest.raises(
        ValueError, match=r"no point lies within .*z_range \(1.0, 2.0\)"
    ):
        built(generator({"flat": kind}, num_rows=2))


# Seeds


def compiled_arrays(terrain):
    model = terrain.spec.compile()
    return [
        model.geom_pos,
        model.geom_size,
        model.hfield_data,
        model.geom_rgba,
        terrain.origins,
        *terrain.patches.values(),
    ]


def test_one_seed_gives_one_terrain_and_another_seed_another():
    def arrays(seed):
        cfg = all_terrains()
        cfg.num_rows, cfg.color_scheme = 2, "random"
        cfg.flat_patch_sampling = {
            "spawn": FlatPatchCfg(patch_radius=0.1, max_height_diff=0.2)
        }
        return compiled_arrays(built(cfg, seed))

    first, again, other = arrays(3), arrays(3), arrays(4)
    assert all(map(np.array_equal, first, again))
    assert not any(map(np.array_equal, first, other))


def test_the_seed_of_the_config_has_priority_over_the_argument():
    def heights(cfg_seed, call_seed):
        cfg = generator({"rough": RandomRoughCfg()}, num_rows=2, seed=cfg_seed)
        return built(cfg, call_seed).spec.compile().hfield_data

    assert np.array_equal(heights(5, 1), heights(5, 2))
    assert np.array_equal(heights(5, 1), heights(None, 5))
    assert not np.array_equal(heights(None, 1), heights(None, 2))


def test_a_tile_does_not_depend_on_the_other_kinds():
    def first_column(other):
        cfg = generator({"rough": RandomRoughCfg(), "other": other}, num_rows=2)
        return built(cfg).spec.compile().hfield("terrain_1_0").data

    assert np.array_equal(first_column(FlatCfg()), first_column(RandomGridCfg()))


def test_tiles_of_one_kind_differ_in_each_row_and_column():
    kind = RandomRoughCfg(scale_with_difficulty=False)
    cfg = TerrainGeneratorCfg(sub_terrains={"rough": kind}, num_rows=3, num_cols=2)
    model = built(cfg).spec.compile()
    assert len(np.unique(model.hfield_data.reshape(6, -1), axis=0)) == 6


def test_building_does_not_write_to_the_config():
    cfg = TerrainCfg(kind="generator", generator=all_terrains(curriculum=True))
    before = copy.deepcopy(cfg)
    build_terrain(cfg)
    assert cfg == before


def test_presets_are_new_each_time():
    for preset in (rough_terrains, stairs_terrains, all_terrains):
        changed = preset()
        changed.sub_terrains.clear()
        changed.size = (1.0, 1.0)
        assert preset().sub_terrains and preset().size == (8.0, 8.0)


# Plane, contacts, composition


def test_plane_is_level_and_infinite():
    terrain = build_terrain(TerrainCfg())
    ground = Ground(terrain)
    assert ground.height(1e4, -1e4) == pytest.approx(0.0)
    assert ground.model.ngeom == 1 and ground.model.geom(0).name == "terrain"
    assert terrain.origins.tolist() == [[[0.0, 0.0, 0.0]]]
    assert np.all(np.isinf(terrain.bounds))
    bounded = build_terrain(TerrainCfg(plane_size=(6.0, 4.0), plane_checker=False))
    assert bounded.bounds.tolist() == [[-3, -2], [3, 2]]
    assert Ground(bounded).height(2.9, 1.9) == pytest.approx(0.0)


@pytest.mark.parametrize("kind", ["plane", "generator"])
def test_contact_parameters_reach_every_geom(kind):
    cfg = TerrainCfg(
        kind=kind,
        generator=stairs_terrains(curriculum=True),
        friction=(0.7, 0.01, 0.002),
        condim=4,
        priority=2,
        contype=4,
        conaffinity=6,
    )
    model = build_terrain(cfg).spec.compile()
    assert np.all(model.geom_friction == [0.7, 0.01, 0.002])
    assert np.all(model.geom_condim == 4) and np.all(model.geom_priority == 2)
    assert np.all(model.geom_contype == 4) and np.all(model.geom_conaffinity == 6)


def test_terrain_is_written_into_a_spec_that_is_given():
    spec = mujoco.MjSpec()
    spec.worldbody.add_body(name="robot").add_geom(name="torso", size=[0.1, 0, 0])
    cfg = generator({"wave": WaveCfg(), "up": PyramidStairsCfg()}, num_rows=2)
    terrain = build_terrain(TerrainCfg(kind="generator", generator=cfg), spec=spec)
    assert terrain.spec is spec
    model = spec.compile()
    assert model.geom("torso").id >= 0 and model.geom("terrain_1_0_0").id >= 0


def test_a_kind_of_the_user_needs_only_check_and_build():
    @dataclass(kw_only=True)
    class BumpCfg(SubTerrainCfg):
        height: float = 0.3

        def check(self, path, size):
            pass

        def build(self, size, difficulty, rng):
            return block_tile(
                size, [TerrainBlock(-1, 1, -1, 1, self.height)], floor=0.0
            )

    ground = one_tile(BumpCfg())
    assert ground.height(0.9, -0.9) == pytest.approx(0.3)
    with pytest.raises(ValueError, match=r"'kind' \(BumpCfg\) .* NaN or infinite"):
        one_tile(BumpCfg(height=float("nan")))


def test_a_preset_is_changed_by_subclassing_its_kinds():
    @dataclass(kw_only=True)
    class TallStairsCfg(PyramidStairsCfg):
        step_height_range: tuple[float, float] = (0.0, 0.3)

    assert one_tile(TallStairsCfg()).height(0.0, 0.0) == pytest.approx(6 * 0.3)


# Errors


def with_kind(kind, **changes):
    return generator({"it": kind}, **changes)


def with_patch(**changes):
    return with_kind(FlatCfg(flat_patch_sampling={"spawn": FlatPatchCfg(**changes)}))


IT = r"terrain\.generator\.sub_terrains\['it'\]\."


@pytest.mark.parametrize(
    ("cfg", "message"),
    [
        (generator({}), r"generator\.sub_terrains is empty; it must name at least one"),
        (
            generator({"it": "flat"}),
            r"sub_terrains\['it'\] is 'flat'; it must be a Sub",
        ),
        (with_kind(FlatCfg(), size=(8.0, -1.0)), r"size\[1\] is -1.0; .* above 0"),
        (with_kind(FlatCfg(), size=(float("nan"), 8.0)), r"size\[0\] is nan; .* above"),
        (with_kind(FlatCfg(), num_rows=0), r"num_rows is 0; .* at least 1"),
        (with_kind(FlatCfg(), num_rows=2.5), r"num_rows is 2.5; .* whole number"),
        (
            with_kind(FlatCfg(), difficulty_range=(0.9, 0.1)),
            r"difficulty_range is \(0.9, 0.1\); .* low <= high",
        ),
        (
            with_kind(FlatCfg(), difficulty_range=(0.0, 1.5)),
            r"difficulty_range is \(0.0, 1.5\); .* at least 0 and of at most 1",
        ),
        (with_kind(FlatCfg(), border_width=-1.0), r"border_width is -1.0; .* least 0"),
        (with_kind(FlatCfg(), base_thickness=0.0), r"base_thickness is 0.0; .* 0.05"),
        (with_kind(FlatCfg(), seed=-1), r"generator.seed is -1; .* at least 0"),
        (
            with_kind(FlatCfg(), color_scheme="heigth"),
            r"no terrain.generator.color_scheme 'heigth'.*nearest first: 'height'",
        ),
        (
            TerrainGeneratorCfg(sub_terrains=dict(KINDS), num_cols=5),
            r"num_cols is 5; it must be at least 16, one column for each kind",
        ),
        (with_kind(FlatCfg(proportion=0.0)), IT + r"proportion is 0.0; .* above 0"),
        (
            with_kind(PyramidStairsCfg(step_height_range=(0.2, 0.1))),
            IT + r"step_height_range is \(0.2, 0.1\); .* low <= high",
        ),
        (
            with_kind(PyramidStairsCfg(platform_width=7.0)),
            IT + r"platform_width is 7.0; .* at most 6 \(the tile is 8 m wide and its",
        ),
        (
            with_kind(InvertedPyramidStairsCfg(step_width=-0.3)),
            IT + r"step_width is -0.3; .* above 0",
        ),
        (
            with_kind(InvertedPyramidStairsCfg(border_width=5.0)),
            IT + r"border_width is 5.0; .* at most 4",
        ),
        (with_kind(RandomGridCfg(grid_width=0.0)), IT + r"grid_width is 0.0; .* above"),
        (with_kind(RandomGridCfg(num_levels=1)), IT + r"num_levels is 1; .* least 2"),
        (
            with_kind(SteppingStonesCfg(stone_size_range=(0.5, 9.0))),
            IT + r"stone_size_range\[1\] is 9.0; .* at most 6.9",
        ),
        (
            with_kind(SteppingStonesCfg(stone_distance_range=(0.0, 0.3))),
            IT + r"stone_distance_range is \(0.0, 0.3\); .* above 0",
        ),
        (
            with_kind(SteppingStonesCfg(displacement=2.0)),
            IT + r"displacement is 2.0; .* at most 1",
        ),
        (
            with_kind(PyramidSlopeCfg(slope_range=(-0.1, 0.4))),
            IT + r"slope_range is \(-0.1, 0.4\); .* at least 0",
        ),
        (
            with_kind(PyramidSlopeCfg(horizontal_scale=0.001)),
            IT + r"horizontal_scale is 0.001; .* at least 0.02 and of at most 2",
        ),
        (
            with_kind(RandomRoughCfg(noise_step=0.0)),
            IT + r"noise_step is 0.0; .* above 0",
        ),
        (
            with_kind(RandomRoughCfg(downsampled_scale=0.05)),
            IT + r"downsampled_scale is 0.05; .* at least 0.1",
        ),
        (with_kind(WaveCfg(num_waves=50)), IT + r"num_waves is 50; .* at most 20"),
        (
            with_kind(DiscreteObstaclesCfg(height_mode="fix")),
            r"height_mode 'fix'.*nearest first: 'fixed'",
        ),
        (
            with_kind(DiscreteObstaclesCfg(obstacle_width_range=(0.5, 8.0))),
            IT + r"obstacle_width_range is \(0.5, 8.0\); .* at most 7.5",
        ),
        (
            with_kind(PyramidStairsCfg(hole_depth=0.0)),
            IT + r"hole_depth is 0.0; .* above 0",
        ),
        (
            with_kind(RandomGridCfg(hole_depth=0.2)),
            IT + r"hole_depth is 0.2; .* above 0.2",
        ),
        (
            with_kind(RandomSpreadCfg(box_length_range=(0.3, 6.0))),
            IT + r"box_length_range is \(0.3, 6.0\); .* at most 5.3",
        ),
        (
            with_kind(RadialBeamsCfg(border_width=0.2)),
            IT + r"border_width is 0.2; .* at least 0.282",
        ),
        (
            with_kind(GapCfg(gap_width_range=(0.1, 3.5))),
            IT + r"gap_width_range is \(0.1, 3.5\); .* at most 3.25",
        ),
        (
            with_kind(PitCfg(double_pit=True, ledge_width=3.0)),
            IT + r"ledge_width is 3.0; .* at most 2.75",
        ),
        (with_kind(PerlinCfg(octaves=9)), IT + r"scale is 2.0; .* at least 25.6"),
        (with_kind(PerlinCfg(persistence=1.5)), IT + r"persistence is 1.5; .* most 1"),
        (
            with_patch(patch_radius=0.0),
            IT + r"flat_patch_sampling\['spawn'\]\.patch_radius is 0.0; .* above 0",
        ),
        (with_patch(num_patches=0), r"num_patches is 0; .* at least 1"),
        (with_patch(max_height_diff=-0.1), r"max_height_diff is -0.1; .* at least 0"),
        (with_patch(x_range=(1.0, -1.0)), r"x_range is \(1.0, -1.0\); .* low <= high"),
    ],
)
def test_bad_generators_are_errors_that_name_field_value_and_range(cfg, message):
    with pytest.raises(ValueError, match=message):
        built(cfg)


@pytest.mark.parametrize(
    ("cfg", "message"),
    [
        (TerrainCfg(kind="generater"), r"terrain.kind 'generater'.*first: 'generator'"),
        (TerrainCfg(kind="generator"), r"terrain.generator is None; .*rough_terrains"),
        (TerrainCfg(plane_size=(0.0, 1.0)), r"plane_size\[0\] is 0.0; .* above 0"),
        (
            TerrainCfg(friction=(1.0, -0.1, 0.0)),
            r"friction\[1\] is -0.1; .* at least 0",
        ),
        (TerrainCfg(condim=2), r"condim is 2; it must be one of \(1, 3, 4, 6\)"),
        (TerrainCfg(rgba=(0.0, 0.0, 2.0, 1.0)), r"rgba\[2\] is 2.0; .* at most 1"),
        (
            TerrainCfg(
                kind="generator", generator=rough_terrains(), max_init_terrain_level=-1
            ),
            r"max_init_terrain_level is -1; .* at least 0",
        ),
    ],
)
def test_bad_terrains_are_errors_that_name_field_value_and_range(cfg, message):
    with pytest.raises(ValueError, match=message):
        build_terrain(cfg)


def test_one_patch_name_means_one_number_of_patches():
    cfg = generator(
        {"flat": FlatCfg(flat_patch_sampling={"a": FlatPatchCfg(num_patches=3)})}
    )
    cfg.flat_patch_sampling = {"a": FlatPatchCfg(num_patches=4)}
    with pytest.raises(ValueError, match=r"\['a'\]\.num_patches is 3; it must be 4"):
        built(cfg)


def test_colours_go_from_the_deepest_to_the_highest_by_the_root_of_the_height() -> None:
    heights = np.array([-2.0, -0.5, 0.0, 0.5, 2.0])
    # A quarter of the farthest height is halfway to an end colour.
    found = _height_colors(heights, (-2.0, 1.0))
    assert found == pytest.approx(_STOPS)
    assert _height_colors(1.0, (-2.0, 1.0)) != pytest.approx(_STOPS[4])
    assert _height_colors(0.0, (0.0, 0.0)) == pytest.approx(_STOPS[2])


def test_a_rough_tile_has_all_heights_of_its_range_up_to_the_highest() -> None:
    cfg = RandomRoughCfg(noise_range=(0.02, 0.10), noise_step=0.02, border_width=0.0)
    tile = cfg.build((8.0, 8.0), 1.0, np.random.default_rng(0))
    assert tile.heights is not None
    found = np.unique(np.round(tile.heights, 6))
    assert found.tolist() == pytest.approx([0.02, 0.04, 0.06, 0.08, 0.10])


def test_the_picture_on_a_height_field_has_its_far_side_first() -> None:
    """MuJoCo's height fields start at the smallest y, its textures at the largest."""
    rows, columns = 5, 7
    heights = np.linspace(0.0, 1.0, rows)[:, None] + np.zeros((rows, columns))
    tile = height_field_tile((4.0, 4.0), heights)
    placed = PlacedTile(tile=tile, row=0, col=0, centre=(0.0, 0.0))
    generator = TerrainGeneratorCfg(
        size=(4.0, 4.0), sub_terrains={"flat": FlatCfg()}, color_scheme="height"
    )
    spec = mujoco.MjSpec()
    cfg = TerrainCfg(kind="generator", generator=generator)
    write_tiles(spec, cfg, generator, [placed], np.random.default_rng(0))
    model = spec.compile()
    image = model.tex_data[: rows * columns * 3].reshape(rows, columns, 3)
    expected = np.round(255 * _height_colors(heights[::-1], (0.0, 1.0)))
    assert np.array_equal(image, expected.astype(np.uint8))
    assert not np.array_equal(image[0], image[-1])

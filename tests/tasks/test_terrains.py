"""Tiles of the velocity tasks, by MuJoCo's rays compared with arithmetic."""

from dataclasses import dataclass

import numpy as np
import pytest

from mjlab.runs.settings import read_task, task_text
from mjlab.tasks.velocity import (
    NarrowBeamsCfg,
    NestedRingsCfg,
    RandomStairsCfg,
    TiltedGridCfg,
    VelocityG1Cfg,
    walking_terrains,
)
from mjlab.terrain import SubTerrainCfg, Tile
from tests.terrain.test_terrain import (
    Ground,
    built,
    generator,
    one_tile,
    points_on,
)

KINDS = walking_terrains()


def line(x: np.ndarray, y: float) -> np.ndarray:
    return np.stack((x, np.full_like(x, y)), axis=-1)


@pytest.mark.parametrize("difficulty", [0.0, 0.5, 1.0])
def test_tiles_meet_at_height_zero_and_have_no_hole(difficulty):
    cfg = generator(
        KINDS, num_rows=2, difficulty_range=(difficulty, difficulty), border_width=1.0
    )
    ground = Ground(built(cfg))
    (x_low, y_low), (x_high, y_high) = ground.terrain.tile_bounds
    along = np.random.default_rng(0).uniform(y_low, y_high, 80)
    for x in (x_low, 0.0, x_high):
        for nudge in (-1e-5, 0.0, 1e-5):
            seam = [(x + nudge, y) for y in along]
            assert ground.heights(seam) == pytest.approx(0.0, abs=1e-4)
    middle = ground.terrain.origins.reshape(-1, 3)
    assert ground.heights(middle[:, :2]) == pytest.approx(middle[:, 2], abs=1e-5)


@dataclass(kw_only=True)
class FixedCfg(SubTerrainCfg):
    """An existing tile."""

    tile: Tile

    def check(self, path, size):
        pass

    def build(self, size, difficulty, rng):
        return self.tile


@pytest.mark.parametrize("name", KINDS)
def test_tile_heights_match_rays(name):
    tile = KINDS[name].build((8.0, 7.0), 1.0, np.random.default_rng(3))
    ground = one_tile(FixedCfg(tile=tile), size=(8.0, 7.0))
    points = points_on((8, 7), 200)
    found = ground.heights(points)
    assert found.std() > 0.01
    assert found == pytest.approx([tile.height_at(x, y) for x, y in points], abs=1e-5)


def test_random_stairs_rise_by_another_height_at_each_step():
    kind = RandomStairsCfg(step_height_range=(0.05, 0.2), border_width=1.0)
    for difficulty, highest in ((0.0, 0.05), (1.0, 0.2)):
        ground = one_tile(kind, difficulty)
        rings = int((8.0 - 2 * 1.0 - 3.0) / (2 * 0.3))
        middles = -3.0 + 0.3 * (np.arange(rings + 1) + 0.5)
        rises = np.diff(ground.heights(line(middles, 0.0)), prepend=0.0)
        assert np.all(rises >= 0.05 - 1e-9) and np.all(rises <= highest + 1e-9)
        assert (np.ptp(rises) > 0.02) == (difficulty == 1.0)


def test_beams_have_their_width_and_lead_over_the_pit_to_the_platform():
    kind = NarrowBeamsCfg(
        beam_width_range=(0.2, 0.6), num_beams=2, pit_depth=0.7, platform_width=2.0
    )
    for difficulty, width in ((0.0, 0.6), (1.0, 0.2)):
        ground = one_tile(kind, difficulty)
        across = np.arange(-3.4 + 1e-4, 3.4, 2e-3)
        heights = ground.heights(np.stack((np.full_like(across, 2.0), across), -1))
        assert set(np.round(heights, 9)) == {0.0, -0.7}
        assert np.sum(heights > -0.1) * 2e-3 == pytest.approx(2 * width, abs=0.01)
        along = np.arange(-4.0, 4.0, 0.01)
        beam = ground.heights(line(along, 1.0 - width / 2))
        assert beam == pytest.approx(0.0)


def test_rings_keep_their_width_gap_and_height_range():
    kind = NestedRingsCfg(
        ring_width=0.5,
        gap_range=(0.1, 0.3),
        ring_height_range=(0.0, 0.15),
        floor_depth=0.9,
        platform_width=2.0,
        border_width=0.5,
    )
    for difficulty, gap, peak in ((0.0, 0.1, 0.0), (1.0, 0.3, 0.15)):
        ground = one_tile(kind, difficulty)
        x = np.arange(-4.0 + 1e-4, 0.0, 1e-3)
        heights = ground.heights(line(x, 0.0))
        in_gap = np.round(heights + 0.9, 6) == 0.0
        starts = np.flatnonzero(np.diff(in_gap.astype(int)) == 1)
        rings = int((4.0 - 0.5 - 1.0 - gap + 1e-9) // (0.5 + gap))
        assert len(starts) == rings + 1
        assert in_gap.sum() * 1e-3 == pytest.approx((rings + 1) * gap, abs=0.01)
        firm = heights[~in_gap]
        assert np.abs(firm).max() <= peak + 1e-9
        assert (np.abs(firm).max() > 0.01) == (peak > 0.0)
        assert firm[-1] == pytest.approx(0.0)


@pytest.mark.parametrize(("difficulty", "depth"), [(0.0, 0.2), (0.5, 0.3), (1.0, 0.4)])
def test_gaps_between_rings_become_deeper(difficulty, depth):
    kind = NestedRingsCfg(first_floor_depth=0.2, floor_depth=0.4)
    heights = one_tile(kind, difficulty).heights(
        line(np.arange(-4.0 + 1e-4, 0.0, 1e-3), 0.0)
    )
    assert heights.min() == pytest.approx(-depth)


def test_cells_are_flat_lean_to_different_sides_and_grow_steeper():
    kind = TiltedGridCfg(grid_width=0.8, slope_range=(0.0, 0.3))
    assert one_tile(kind, 0.0).heights(points_on((8, 8), 100)) == pytest.approx(0.0)
    ground = one_tile(kind, 1.0)
    slopes = []
    for column in (1, 2, 7, 8):
        for row in (1, 2, 7, 8):
            centre = -4.0 + 0.8 * (np.array([column, row]) + 0.5)
            assert ground.height(*centre) == pytest.approx(0.0, abs=1e-5)
            step = np.array([[0.25, 0.0], [0.0, 0.25], [0.25, 0.25]])
            rise_x, rise_y, both = ground.heights(centre + step)
            assert both == pytest.approx(rise_x + rise_y, abs=1e-5)
            slopes += [rise_x / 0.25, rise_y / 0.25]
    assert max(np.abs(slopes)) <= 0.3 + 1e-5
    assert np.std(slopes) > 0.1


BAD = [
    (NarrowBeamsCfg(num_beams=9), r"beam_width_range is .* at most 0\.222"),
    (NarrowBeamsCfg(pit_depth=0.0), r"pit_depth is 0\.0; it must be .*above 0"),
    (NestedRingsCfg(ring_width=3.0), r"ring_width is 3\.0"),
    (NestedRingsCfg(floor_depth=0.05), r"floor_depth is 0\.05"),
    (NestedRingsCfg(first_floor_depth=0.0), r"first_floor_depth is 0\.0"),
    (TiltedGridCfg(grid_width=0.1), r"grid_width is 0\.1"),
    (TiltedGridCfg(horizontal_scale=0.001), r"horizontal_scale is 0\.001"),
    (RandomStairsCfg(platform_width=9.0), r"platform_width is 9\.0"),
]


@pytest.mark.parametrize(("kind", "message"), BAD)
def test_mismatched_inputs_are_named(kind, message):
    with pytest.raises(ValueError, match=rf"sub_terrains\['kind'\]\.{message}"):
        one_tile(kind)


def test_task_with_these_tiles_is_restored_from_its_file():
    def task(seed: int | None = None) -> VelocityG1Cfg:
        cfg = VelocityG1Cfg(seed=seed)
        assert cfg.scene.terrain is not None and cfg.scene.terrain.generator is not None
        cfg.scene.terrain.generator.sub_terrains = walking_terrains()
        return cfg

    text = task_text("Walk", {"env": task(seed=5)})
    assert read_task(text, "a run", task={"env": task()})["env"] == task(seed=5)

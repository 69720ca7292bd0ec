"""Terminations below, at and above their limits."""

import math
from types import SimpleNamespace

import pytest
import torch

from mjlab.mdp import terminations as mdp
from mjlab.scene import SceneEntityCfg
from tests.worlds.fake_env import FakeEnv
from tests.worlds.term_world import (
    CRATE_MASS,
    GRAVITY,
    TermWorld,
    bound,
    contacts,
    planted,
    rays,
    roll,
    tiles,
    value,
    yaw,
)

APART = SceneEntityCfg("robot", joint_names=("shoulder", "wag"))
WEIGHT = CRATE_MASS * GRAVITY


def says(ours: torch.Tensor) -> list[bool]:
    assert ours.dtype == torch.bool and ours.dim() == 1
    return ours.tolist()


# --- Time -----------------------------------------------------------------------------


def test_time_out_is_true_in_the_last_step_only():
    env = FakeEnv(4)
    env.episode_length_buf.copy_(torch.tensor([0, 499, 500, 501]))
    assert says(value(env, mdp.time_out)) == [False, False, True, True]


# --- Orientation ----------------------------------------------------------------------


@pytest.mark.parametrize("limit", [0.1, 0.5, 1.0, math.pi / 2, 2.5, 3.1])
def test_bad_orientation_is_a_tilt_of_more_than_the_limit(limit):
    env = TermWorld(6)
    w, x = math.cos(limit / 2 + 5e-4), math.sin(limit / 2 + 5e-4)
    pitched_and_turned = [w * 0.6, -x * 0.8, x * 0.6, w * 0.8]
    quats = [
        roll(limit - 1e-3),
        roll(limit + 1e-3),
        roll(1e-3 - limit),
        roll(-1e-3 - limit),
        pitched_and_turned,
        yaw(3.0),
    ]
    env.set_root([[0, 0, 1.0, *quat] for quat in quats])
    ours = value(env, mdp.bad_orientation, limit_angle=limit)
    assert says(ours) == [False, True, False, True, True, False]


def test_bad_orientation_tolerates_cosines_rounded_beyond_one():
    # Upright twice, and lying on its back twice.
    above = 1.0 + 1.2e-7
    down = torch.tensor([[0.0, 0, -1.0], [0, 0, -above], [0, 0, 1.0], [0, 0, above]])
    assert down[1, 2] < -1.0
    robot = planted(gravity_b=down)
    for limit in (0.0, 0.01, 1.0, 3.0):
        ours = mdp.bad_orientation(None, limit, robot)  # type: ignore[arg-type]
        assert says(ours) == [False, False, True, True]


@pytest.mark.parametrize("rounding", [-1.2e-7, 0.0, 1.2e-7])
def test_rounding_does_not_exceed_the_tilt_limit(rounding):
    size = 1.0 + rounding
    upright, on_its_back = (torch.tensor([[0.0, 0.0, z]]) for z in (-size, size))
    for limit, down in ((0.0, upright), (math.pi, on_its_back)):
        ours = mdp.bad_orientation(None, limit, planted(gravity_b=down))  # type: ignore[arg-type]
        assert says(ours) == [False]


def test_a_limit_angle_narrowed_by_a_curriculum_takes_effect_immediately():
    env = TermWorld(1)
    env.set_root([[0, 0, 1.0, *roll(0.7)]])
    term = bound(env, mdp.bad_orientation, limit_angle=1.0)
    limit = term.live("limit_angle")
    assert says(term()) == [False]
    limit.fill_(0.5)
    assert says(term()) == [True]


# --- Height and place -----------------------------------------------------------------


def test_a_root_is_too_low_by_its_height_above_the_spawn_origin():
    env = TermWorld(3, terrain=tiles())
    assert env.scene.ground is not None
    origins = [[0.0, 2.0, 0.5], [0.0, 2.0, 0.5], [0.0, -2.0, -1.0]]
    env.scene.ground.origins.copy_(torch.tensor(origins))
    heights = (0.75, 0.875, -0.625)
    env.set_root([[0, 0, z, *yaw(0.0)] for z in heights])
    # Heights above the origins: 0.25, 0.375 and 0.375; equal is not below.
    ours = value(env, mdp.root_height_below_minimum, minimum_height=0.375)
    assert says(ours) == [True, False, False]


@pytest.mark.parametrize(
    "x, y, is_out",
    [
        # Tiles reach from -2 to 2 along x and from -4 to 4 along y; beyond them is a
        # border of 2 m.
        (0.0, 0.0, False),
        (1.69, 3.69, False),
        (-1.69, -3.69, False),
        (1.71, 0.0, True),
        (-1.71, 0.0, True),
        (0.0, 3.71, True),
        (0.0, -3.71, True),
        (0.0, 2.5, False),
        (2.5, 0.0, True),
        (0.0, 30.0, True),
    ],
)
def test_a_root_near_the_edge_of_the_tiles_is_out_of_bounds(on_tiles, x, y, is_out):
    on_tiles.set_root([[x, y, 1.0, *yaw(0.0)]])
    assert says(value(on_tiles, mdp.out_of_terrain_bounds)) == [is_out]


@pytest.fixture(scope="module")
def on_tiles() -> TermWorld:
    return TermWorld(1, terrain=tiles())


def test_another_margin_moves_the_bounds(on_tiles):
    on_tiles.set_root([[1.5, 0, 1.0, *yaw(0.0)]])
    assert says(value(on_tiles, mdp.out_of_terrain_bounds, margin=0.6)) == [True]
    assert says(value(on_tiles, mdp.out_of_terrain_bounds, margin=0.4)) == [False]
    on_tiles.set_root([[2.5, 0, 1.0, *yaw(0.0)]])
    assert says(value(on_tiles, mdp.out_of_terrain_bounds, margin=-1.0)) == [False]


def test_a_plane_has_no_bounds():
    env = TermWorld(2)
    env.set_root([[1e4, -1e4, 1.0, *yaw(0.0)]] * 2)
    assert says(value(env, mdp.out_of_terrain_bounds)) == [False, False]


# --- Joints ---------------------------------------------------------------------------


def joints_in(*positions: list[float]) -> TermWorld:
    env = TermWorld(len(positions))
    env.robot.write_joint_pos(env.everyone, torch.tensor(positions))
    env.forward()
    return env


def test_a_joint_beyond_a_soft_limit_ends_the_episode_of_its_world():
    # Soft limits: -0.75 to 1.25, none, 0.02 to 0.18, -0.4 to 0.4.
    env = joints_in(
        [1.249, 1e6, 0.1, 0.0],
        [1.251, 0.0, 0.1, 0.0],
        [-0.751, 0.0, 0.1, 0.0],
        [0.0, -1e6, 0.181, 0.0],
        [0.0, 0.0, 0.1, -0.401],
    )
    ours = value(env, mdp.joint_pos_out_of_limit)
    assert says(ours) == [False, True, True, True, True]
    ours = value(env, mdp.joint_pos_out_of_limit, asset_cfg=APART)
    assert says(ours) == [False, True, True, False, True]


def test_a_joint_at_its_soft_limit_is_within_it():
    env = TermWorld(2)
    limits = env.robot.data.soft_joint_pos_limits
    inside = torch.zeros(2, 4)
    inside[0, [0, 2, 3]] = limits[0, [0, 2, 3], 0]
    inside[1, [0, 2, 3]] = limits[1, [0, 2, 3], 1]
    env.robot.write_joint_pos(env.everyone, inside)
    assert says(value(env, mdp.joint_pos_out_of_limit)) == [False, False]


def test_a_joint_outside_of_bounds_ends_the_episode_whatever_its_limits():
    env = joints_in(
        [0.5, -0.25, 0.0, 0.0],
        [0.501, 0.0, 0.0, 0.0],
        [0.0, -0.251, 0.0, 0.0],
        [0.0, 0.0, 0.0, 9.0],
    )
    ours = value(env, mdp.joint_pos_out_of_range, bounds=(-0.25, 0.5))
    assert says(ours) == [False, True, True, True]
    ours = value(env, mdp.joint_pos_out_of_range, bounds=(-0.25, 0.5), asset_cfg=APART)
    assert says(ours) == [False, True, False, True]


def test_a_joint_that_is_too_fast_in_either_direction_ends_the_episode():
    env = TermWorld(4)
    velocities = [
        [2.0, -2.0, 0, 0],
        [0.0, 0, 2.1, 0],
        [0.0, 0, 0, -2.1],
        [2.1, 0, 0, 0],
    ]
    env.robot.write_joint_vel(env.everyone, torch.tensor(velocities))
    ours = value(env, mdp.joint_vel_out_of_limit, max_velocity=2.0)
    assert says(ours) == [False, True, True, True]
    ours = value(env, mdp.joint_vel_out_of_limit, max_velocity=2.0, asset_cfg=APART)
    assert says(ours) == [False, False, True, True]


# --- Contacts -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def resting() -> TermWorld:
    """A crate that rests on the ground in world 1, and is in the air in world 0."""
    env = TermWorld(2, sensors=(*contacts(), rays()))
    high = torch.tensor([[3.0, 0, 50.0, *yaw(0.0)]])
    env.scene.entity("crate").write_root_pose_w(env.mask(0), high)
    env.substeps(300)
    return env


@pytest.mark.parametrize(
    "sensor, threshold, is_illegal",
    [
        ("load", 0.99 * WEIGHT, True),
        ("load", 1.01 * WEIGHT, False),
        ("corners", 0.24 * WEIGHT, True),
        ("corners", 0.26 * WEIGHT, False),
        ("corners", 0.0, True),
    ],
)
def test_a_contact_is_illegal_if_it_bears_more_than_the_threshold(
    resting, sensor, threshold, is_illegal
):
    ours = value(
        resting, mdp.illegal_contact, sensor_name=sensor, force_threshold=threshold
    )
    assert says(ours) == [False, is_illegal]


def test_illegal_contact_names_a_sensor_without_contacts(resting):
    with pytest.raises(TypeError, match="'scan' is a RayCastSensor, not a contact"):
        value(resting, mdp.illegal_contact, sensor_name="scan")


# --- NaN ------------------------------------------------------------------------------


def test_a_state_that_is_not_finite_is_found_and_not_counted():
    env = TermWorld(4)
    assert says(value(env, mdp.nan_detection)) == [False] * 4
    env.sim.data.qpos[1, 8] = math.nan
    env.sim.data.qvel[2, 3] = math.inf
    env.sim.data.ctrl[3, 0] = -math.inf
    assert says(value(env, mdp.nan_detection)) == [False, True, True, True]
    # The environment counts by itself; a second count would double its figures.
    assert not env.sim.health.nonfinite.any()


def test_a_termination_is_false_in_worlds_with_a_non_finite_quantity():
    # Such worlds are found by their state; they did not fall, nor hit a limit.
    nan = torch.full((1, 3), math.nan)
    scene = SimpleNamespace(spawn_origins=torch.zeros(1, 3))
    env = FakeEnv(1, scene=scene)
    limits = torch.tensor([[[-1.0, 1.0]] * 3])
    robot = planted(
        gravity_b=nan,
        root_pos_w=nan,
        joint_pos=nan,
        joint_vel=nan,
        soft_joint_pos_limits=limits,
    )
    assert says(mdp.bad_orientation(env, 1.0, robot)) == [False]  # type: ignore[arg-type]
    assert says(mdp.root_height_below_minimum(env, 0.1, robot)) == [False]  # type: ignore[arg-type]
    assert says(mdp.joint_pos_out_of_limit(env, robot)) == [False]  # type: ignore[arg-type]
    assert says(mdp.joint_pos_out_of_range(env, (0.0, 1.0), robot)) == [False]  # type: ignore[arg-type]
    assert says(mdp.joint_vel_out_of_limit(env, 1.0, robot)) == [False]  # type: ignore[arg-type]

"""Rewards against hand arithmetic, MuJoCo C and the formulas they are named after."""

import math
from types import SimpleNamespace

import pytest
import torch

from mjlab.managers.term import TermError
from mjlab.managers.termination import TerminationManager, TerminationTermCfg
from mjlab.mdp import rewards as mdp
from mjlab.mdp import terminations
from mjlab.names import UnknownNameError
from mjlab.scene import SceneEntityCfg
from tests.worlds.fake_env import FakeEnv
from tests.worlds.term_world import (
    CRATE_MASS,
    GRAVITY,
    TermWorld,
    acted,
    bound,
    contacts,
    goals,
    planted,
    rays,
    roll,
    tiles,
    value,
    yaw,
)

APART = SceneEntityCfg("robot", joint_names=("shoulder", "wag"))
SWAPPED = SceneEntityCfg("robot", joint_names=("wag", "shoulder"), preserve_order=True)
WEIGHT = CRATE_MASS * GRAVITY


def assert_close(ours: torch.Tensor, theirs: list[float], rtol: float = 2e-6) -> None:
    assert ours.dtype == torch.float32
    expected = torch.tensor(theirs, dtype=torch.float64).float()
    torch.testing.assert_close(ours, expected, rtol=rtol, atol=2e-6)


def posed(*quats: list[float]) -> TermWorld:
    """Worlds whose robots have the given orientations."""
    env = TermWorld(len(quats))
    env.set_root([[0, 0, 1.0, *quat] for quat in quats])
    return env


# --- Being alive ----------------------------------------------------------------------


def test_time_out_is_not_counted_as_termination():
    env = FakeEnv(4, fallen=torch.tensor([False, True, False, True]))
    cfg = {
        "late": TerminationTermCfg(func=terminations.time_out, time_out=True),
        "fell": TerminationTermCfg(func=lambda env: env.fallen.clone()),
    }
    manager = TerminationManager(cfg, env)  # type: ignore[arg-type]
    env.termination_manager = manager  # type: ignore[attr-defined]
    env.episode_length_buf.copy_(torch.tensor([10, 10, 500, 500]))
    manager.compute()
    assert_close(value(env, mdp.is_alive), [1, 0, 1, 0])
    assert_close(value(env, mdp.is_terminated), [0, 1, 0, 1])


# --- Joints ---------------------------------------------------------------------------


def test_the_cost_of_torques_sums_squares_of_gear_times_control():
    env = TermWorld(2)
    env.sim.data.ctrl.copy_(torch.tensor([[0.5, 0.25, 1.0], [0.0, -0.5, 0.0]]))
    env.forward()
    # At the shoulder 2 * 0.5, at the grip 4 * 0.25, at the tail -3 * 1.
    assert_close(value(env, mdp.joint_torques_l2), [1 + 1 + 9, 4])
    assert_close(value(env, mdp.joint_torques_l2, asset_cfg=APART), [1 + 9, 0])


def test_the_cost_of_velocities_sums_their_squares():
    env = TermWorld(1)
    env.set_joints(vel=[1.0, -2.0, 0.5, 3.0])
    assert_close(value(env, mdp.joint_vel_l2), [1 + 4 + 0.25 + 9])
    assert_close(value(env, mdp.joint_vel_l2, asset_cfg=APART), [1 + 9])


@pytest.mark.parametrize(
    "cfg, names",
    [
        (SceneEntityCfg("robot"), ("shoulder", "elbow", "grip", "wag")),
        (APART, ("shoulder", "wag")),
    ],
)
def test_the_cost_of_accelerations_sums_squares_of_those_of_mujoco(cfg, names):
    env = TermWorld()
    env.scatter()
    dof = [int(env.sim.mj_model.joint(f"robot/{n}").dofadr[0]) for n in names]
    theirs = [float((env.oracle(w).qacc[dof] ** 2).sum()) for w in range(4)]
    assert_close(value(env, mdp.joint_acc_l2, asset_cfg=cfg), theirs, rtol=1e-4)


def test_the_cost_of_soft_limits_is_how_far_joints_are_beyond_them():
    env = TermWorld(1)
    # Soft limits: -0.75 to 1.25, none, 0.02 to 0.18, -0.4 to 0.4.
    env.set_joints([1.5, 100.0, 0.0, -0.6])
    assert_close(value(env, mdp.joint_pos_limits), [0.25 + 0.02 + 0.2])
    assert_close(value(env, mdp.joint_pos_limits, asset_cfg=APART), [0.25 + 0.2])
    env.set_joints([1.25, -100.0, 0.1, 0.4])
    assert_close(value(env, mdp.joint_pos_limits), [0.0])


def test_the_cost_of_deviation_is_the_distance_from_the_default_pose():
    env = TermWorld(1)
    assert_close(value(env, mdp.joint_deviation_l1), [0.0])
    env.set_joints([0.5, 0.25, 0.125, -1.0])
    assert_close(value(env, mdp.joint_deviation_l1), [0.25 + 0.25 + 1.0])
    assert_close(value(env, mdp.joint_deviation_l1, asset_cfg=APART), [0.25 + 1.0])


@pytest.mark.parametrize(
    "cfg, std, mean_square",
    [
        # Deviations are 0.5, 1, 0 and -0.75.
        (SceneEntityCfg("robot"), {".*": 0.5}, (1 + 4 + 0 + 2.25) / 4),
        (
            SceneEntityCfg("robot"),
            {"shoulder": 0.5, "elbow|grip": 0.25, "wag": 1.5},
            (1 + 16 + 0 + 0.25) / 4,
        ),
        (APART, {"shoulder": 0.25, "wag": 0.75}, (4 + 1) / 2),
        (SWAPPED, {"shoulder": 0.25, "wag": 0.75}, (4 + 1) / 2),
    ],
)
def test_posture_is_exp_of_minus_the_mean_square_of_deviations_over_std(
    cfg, std, mean_square
):
    env = TermWorld(2)
    assert_close(value(env, mdp.posture, std=std, asset_cfg=cfg), [1.0, 1.0])
    env.robot.write_joint_pos(env.mask(1), torch.tensor([[0.75, 1.5, 0.125, -0.75]]))
    ours = value(env, mdp.posture, std=std, asset_cfg=cfg)
    assert_close(ours, [1.0, math.exp(-mean_square)])


def test_posture_needs_a_positive_std_for_each_of_its_joints():
    env = TermWorld(1)
    with pytest.raises(UnknownNameError, match="'wag'"):
        value(env, mdp.posture, std={"shoulder": 0.5}, asset_cfg=APART)
    with pytest.raises(UnknownNameError, match="elbow"):
        value(env, mdp.posture, std={".*": 0.5, "elbow": 0.25}, asset_cfg=APART)
    with pytest.raises(TermError, match=r"std is {'\.\*': 0.0}.*positive"):
        value(env, mdp.posture, std={".*": 0.0})
    with pytest.raises(TermError, match=r"std is 0.5; .*'.\*': 0.3"):
        value(env, mdp.posture, std=0.5)


def test_electrical_power_counts_only_power_into_the_joints():
    env = TermWorld(2)
    env.sim.data.ctrl.copy_(torch.tensor([[0.5, 0.25, 1.0], [0.5, 0.25, 1.0]]))
    env.set_joints(vel=[2.0, 5.0, 4.0, 1.0])
    env.robot.write_joint_vel(env.mask(1), torch.tensor([[-2.0, 5.0, 4.0, -1.0]]))
    env.forward()
    # Forces 1, 0, 1 and -3: powers 2, 0, 4, -3, and -2, 0, 4, 3.
    assert_close(value(env, mdp.electrical_power_cost), [2 + 4, 4 + 3])
    assert_close(value(env, mdp.electrical_power_cost, asset_cfg=APART), [2, 3])


# --- Actions --------------------------------------------------------------------------


def test_costs_of_actions_are_squares_of_their_values_and_differences():
    env = acted(
        [[1.0, 0, 0, 2], [0.0, 0, 0, 0]],
        [[3.0, 0, 1, 2], [0.0, 0, 0, 0]],
        [[4.0, 0, -1, 2], [0.0, 0, 0, 0.5]],
    )
    assert_close(value(env, mdp.action_l2), [16 + 1 + 4, 0.25])
    # Changes 1, 0, -2, 0 and 0.5; changes of changes -1, 0, -3, 0 and 0.5.
    assert_close(value(env, mdp.action_rate_l2), [1 + 4, 0.25])
    assert_close(value(env, mdp.action_acc_l2), [1 + 9, 0.25])


def test_actions_that_grow_evenly_have_no_second_difference():
    env = acted(*([[0.5 * t, -t, 0.25, 2.0 * t]] for t in range(1, 4)))
    assert_close(value(env, mdp.action_acc_l2), [0.0])
    assert_close(value(env, mdp.action_rate_l2), [0.25 + 1 + 4])


# --- The base -------------------------------------------------------------------------


def test_the_cost_of_tilt_is_the_square_of_its_sine_whatever_the_heading():
    w, x = math.cos(0.2), math.sin(0.2)
    leaning_left = [w, x * math.cos(1.0), x * math.sin(1.0), 0.0]
    env = posed(yaw(2.0), roll(0.3), roll(-0.3), leaning_left, roll(math.pi / 2))
    squares = [math.sin(a) ** 2 for a in (0.0, 0.3, 0.3, 0.4, math.pi / 2)]
    assert_close(value(env, mdp.flat_orientation_l2), squares)


def test_costs_of_velocities_are_those_in_the_root_s_axes():
    env = posed(roll(0.0), roll(math.pi / 2))
    # World axes: moving 1, 2, 3 and turning 0.5, 1, 2. After a quarter turn about x,
    # the root's y is the world's z and the root's z is the world's -y.
    moving = torch.tensor([[1.0, 2.0, 3.0, 0.5, 1.0, 2.0]])
    env.robot.write_root_velocity_w(env.everyone, moving)
    assert_close(value(env, mdp.lin_vel_z_l2), [9.0, 4.0])
    assert_close(value(env, mdp.ang_vel_xy_l2), [0.25 + 1, 0.25 + 4])


def test_the_cost_of_height_counts_from_the_spawn_origin():
    env = TermWorld(2, terrain=tiles())
    assert env.scene.ground is not None
    env.scene.ground.origins.copy_(torch.tensor([[0.0, 2, 0.5], [0.0, -2, -0.5]]))
    env.set_root([[0, 2, 1.0, *yaw(0.0)], [0, -2, 1.0, *yaw(0.0)]])
    ours = value(env, mdp.base_height_l2, target_height=0.75)
    assert_close(ours, [0.0625, 0.5625])


# --- Tracking -------------------------------------------------------------------------


def test_tracking_is_exp_of_minus_the_squared_error_over_std_squared():
    env = posed(yaw(math.pi / 2), yaw(math.pi / 2), roll(0.0))
    env.command_manager = goals(twist=[[2.0, 0, 1], [1.5, 1, 0], [0.0, 2, 1]])
    # To the left in the world, which is ahead for the robots that face left.
    moving = torch.tensor([[0.0, 2.0, 5.0, 0.0, 0.0, 1.0]])
    env.robot.write_root_velocity_w(env.everyone, moving)
    ours = value(env, mdp.track_lin_vel_xy_exp, std=0.5, command_name="twist")
    assert_close(ours, [1.0, math.exp(-(0.25 + 1) / 0.25), 1.0])
    ours = value(env, mdp.track_ang_vel_z_exp, std=2.0, command_name="twist")
    assert_close(ours, [1.0, math.exp(-1 / 4), 1.0])


def test_velocity_tracking_uses_the_body_axes_of_a_leaning_robot():
    env = posed(roll(math.pi / 2))
    env.command_manager = goals(twist=[[1.0, 2.5, 0.5]])
    # In the world 1, 2, 3 and 0.5, 1, 2; in the root's axes 1, 3, -2 and 0.5, 2, -1.
    moving = torch.tensor([[1.0, 2.0, 3.0, 0.5, 1.0, 2.0]])
    env.robot.write_root_velocity_w(env.everyone, moving)
    params = {"std": 2.0, "command_name": "twist"}
    assert_close(value(env, mdp.track_lin_vel_xy_exp, **params), [math.exp(-0.25 / 4)])
    assert_close(value(env, mdp.track_ang_vel_z_exp, **params), [math.exp(-2.25 / 4)])


def test_wider_std_from_a_curriculum_gives_a_higher_reward():
    env = posed(roll(0.0))
    env.command_manager = goals(twist=[[1.0, 0.0, 1.0]])
    for func in (mdp.track_lin_vel_xy_exp, mdp.track_ang_vel_z_exp):
        term = bound(env, func, std=1.0, command_name="twist")
        std = term.live("std")
        assert_close(term(), [math.exp(-1.0)])
        std.fill_(2.0)
        assert_close(term(), [math.exp(-0.25)])


# --- Contacts -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def resting() -> TermWorld:
    """A crate that rests on the ground in world 0, and is in the air in world 1."""
    env = TermWorld(2, sensors=contacts())
    high = torch.tensor([[3.0, 0, 50.0, *yaw(0.0)]])
    env.scene.entity("crate").write_root_pose_w(env.mask(1), high)
    env.substeps(300)
    return env


@pytest.mark.parametrize(
    "sensor, threshold, count",
    [
        # Each of four corners bears a quarter of the weight; the fifth slot is empty.
        ("corners", 1.0, 4),
        ("corners", 0.24 * WEIGHT, 4),
        ("corners", 0.26 * WEIGHT, 0),
        ("load", 0.99 * WEIGHT, 1),
        ("load", 1.01 * WEIGHT, 0),
    ],
)
def test_undesired_contacts_are_those_that_bear_more_than_the_threshold(
    resting, sensor, threshold, count
):
    ours = value(
        resting,
        mdp.undesired_contacts,
        sensor_name=sensor,
        force_threshold=threshold,
    )
    assert_close(ours, [count, 0])


@pytest.mark.parametrize(
    "sensor, threshold, excess",
    [
        ("load", 10.0, WEIGHT - 10.0),
        ("load", 20.0, 0.0),
        ("corners", 1.0, WEIGHT - 4.0),
        ("corners", 5.0, 0.0),
    ],
)
def test_the_excess_of_contact_forces_is_the_crates_weight_above_the_threshold(
    resting, sensor, threshold, excess
):
    ours = value(
        resting,
        mdp.contact_force_excess,
        sensor_name=sensor,
        force_threshold=threshold,
    )
    assert_close(ours, [excess, 0.0], rtol=2e-3)


def test_force_magnitude_includes_friction():
    force = torch.tensor([[[3.0, 0.0, 4.0], [0.0, -2.0, 0.0]]])
    sensor = TermWorld(1, sensors=contacts()).scene.sensor("corners")
    data = SimpleNamespace(force=force)
    fake = type("Fake", (type(sensor),), {"__init__": lambda _: None, "data": data})()
    env = FakeEnv(1, scene=SimpleNamespace(sensor=lambda _: fake))
    params = {"sensor_name": "any", "force_threshold": 1.5}
    assert_close(value(env, mdp.contact_force_excess, **params), [3.5 + 0.5])
    assert_close(value(env, mdp.undesired_contacts, **params), [2.0])
    # A force of just the threshold is not more than it.
    params["force_threshold"] = 5.0
    assert_close(value(env, mdp.contact_force_excess, **params), [0.0])
    assert_close(value(env, mdp.undesired_contacts, **params), [0.0])
    params["force_threshold"] = 4.0
    assert_close(value(env, mdp.contact_force_excess, **params), [1.0])
    assert_close(value(env, mdp.undesired_contacts, **params), [1.0])


@pytest.mark.parametrize("func", [mdp.undesired_contacts, mdp.contact_force_excess])
def test_contact_reward_names_a_sensor_without_contacts(func):
    env = TermWorld(1, sensors=(*contacts(), rays()))
    with pytest.raises(TypeError, match="'scan' is a RayCastSensor, not a contact"):
        value(env, func, sensor_name="scan", force_threshold=1.0)


def test_a_cost_of_a_diverged_robot_is_nan_and_not_zero():
    nan = torch.full((1, 2), math.nan)
    limits = torch.tensor([[[-1.0, 1.0], [-math.inf, math.inf]]])
    zeros = torch.zeros(1, 2)
    robot = planted(
        joint_pos=nan,
        joint_vel=nan,
        qfrc_actuator=zeros,
        default_joint_pos=zeros,
        soft_joint_pos_limits=limits,
    )
    for func in (
        mdp.joint_vel_l2,
        mdp.joint_pos_limits,
        mdp.joint_deviation_l1,
        mdp.electrical_power_cost,
    ):
        assert func(None, robot).isnan().all(), func.__name__

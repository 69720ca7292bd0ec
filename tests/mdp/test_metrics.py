"""Metrics against hand arithmetic."""

import math

import torch

from mjlab.mdp import metrics as mdp
from mjlab.scene import SceneEntityCfg
from tests.worlds.term_world import TermWorld, acted, value, yaw

APART = SceneEntityCfg("robot", joint_names=("grip", "shoulder"))


def test_the_mean_action_acceleration_is_the_mean_size_of_second_differences():
    env = acted(
        [[1.0, 0, 0, 2], [0.0, 0, 0, 0]],
        [[3.0, 0, 1, 2], [1.0, 0, 0, 0]],
        [[4.0, 0, -1, 2], [2.0, 0, 0, 0.5]],
    )
    # Second differences -1, 0, -3, 0, and 0, 0, 0, 0.5.
    assert value(env, mdp.mean_action_acc).tolist() == [1.0, 0.125]


def test_the_base_s_speed_is_the_length_of_its_velocity_in_any_frame():
    env = TermWorld(3)
    env.set_root([[0, 0, 1.0, *yaw(angle)] for angle in (0.0, 1.0, 2.0)])
    velocity = torch.zeros(3, 6)
    velocity[0, :3] = torch.tensor([2.0, -3.0, 6.0])
    velocity[1, :3] = torch.tensor([-2.0, 3.0, -6.0])
    velocity[2, 3:] = 5.0
    env.robot.write_root_velocity_w(env.everyone, velocity)
    ours = value(env, mdp.base_speed)
    torch.testing.assert_close(ours, torch.tensor([7.0, 7.0, 0.0]))


def test_mechanical_power_is_force_times_velocity_minus_regenerated_power():
    env = TermWorld(2)
    env.sim.data.ctrl.copy_(torch.tensor([[0.5, 0.25, 1.0]]))
    env.set_joints(vel=[2.0, 5.0, 4.0, 1.5])
    env.robot.write_joint_vel(env.mask(1), torch.tensor([[-2.0, 5.0, 1.0, 1.5]]))
    env.forward()
    # Forces 1, 0, 1 and -3: powers 2, 0, 4, -4.5, and -2, 0, 1, -4.5.
    assert value(env, mdp.mechanical_power).tolist() == [1.5, -5.5]
    assert value(env, mdp.mechanical_power, asset_cfg=APART).tolist() == [6.0, -1.0]


def test_metric_of_a_nan_state_is_nan():
    env = TermWorld(2)
    env.sim.data.qvel[1] = math.nan
    env.robot.data.invalidate()
    assert value(env, mdp.base_speed).isnan().tolist() == [False, True]

"""Observation terms, compared with MuJoCo C and hand arithmetic."""

import math
from typing import Any

import mujoco
import numpy as np
import pytest
import torch

from mjlab.mdp import observations as mdp
from mjlab.scene import SceneEntityCfg
from tests.worlds.fake_env import FakeEnv
from tests.worlds.term_world import (
    DEFAULT_POS,
    DEFAULT_VEL,
    JOINTS,
    SOFT_LIMITS,
    TermWorld,
    acted,
    goals,
    planted,
    roll,
    tiles,
    value,
    yaw,
)

APART = SceneEntityCfg("robot", joint_names=("shoulder", "wag"))
SWAPPED = SceneEntityCfg("robot", joint_names=("wag", "elbow"), preserve_order=True)


@pytest.fixture(scope="module")
def scattered() -> TermWorld:
    env = TermWorld()
    env.scatter()
    return env


def rows(*values: Any) -> torch.Tensor:
    return torch.tensor(np.array(values), dtype=torch.float32)


def assert_close(ours: torch.Tensor, theirs: torch.Tensor, atol: float = 2e-6) -> None:
    assert ours.dtype == torch.float32
    torch.testing.assert_close(ours, theirs, rtol=2e-6, atol=atol)


def velocity_of(env: TermWorld, world: int) -> np.ndarray:
    """Angular and linear velocity of the torso's origin in its axes, by MuJoCo C."""
    out = np.zeros(6)
    mujoco.mj_objectVelocity(
        env.sim.mj_model,
        env.oracle(world),
        mujoco.mjtObj.mjOBJ_XBODY,
        env.body("torso"),
        out,
        1,
    )
    return out


# --- The base -------------------------------------------------------------------------


def test_base_velocities_are_those_of_mj_objectvelocity_in_the_body_frame(scattered):
    theirs = rows(*(velocity_of(scattered, world) for world in range(4)))
    assert_close(value(scattered, mdp.base_ang_vel), theirs[:, :3])
    assert_close(value(scattered, mdp.base_lin_vel), theirs[:, 3:])


def test_base_velocity_of_a_robot_facing_left_is_forward_when_it_moves_left():
    env = TermWorld(2)
    env.set_root([[0, 0, 1.0, *yaw(math.pi / 2)], [0, 0, 1.0, *yaw(-math.pi / 2)]])
    moving = torch.tensor([[0.0, 2.0, 0.0, 0.0, 3.0, 0.0]])
    env.robot.write_root_velocity_w(env.everyone, moving)
    assert_close(value(env, mdp.base_lin_vel), rows([2.0, 0, 0], [-2.0, 0, 0]))
    assert_close(value(env, mdp.base_ang_vel), rows([3.0, 0, 0], [-3.0, 0, 0]))


def test_projected_gravity_is_the_world_s_minus_z_in_the_torso_s_axes(scattered):
    xmats = [scattered.oracle(w).xmat[scattered.body("torso")] for w in range(4)]
    theirs = rows(*(-xmat.reshape(3, 3)[2] for xmat in xmats))
    assert_close(value(scattered, mdp.projected_gravity), theirs)


def test_projected_gravity_of_a_robot_that_rolls_to_its_right_points_to_its_right():
    env = TermWorld(2)
    env.set_root([[0, 0, 1.0, *roll(0.3)], [0, 0, 1.0, *roll(math.pi)]])
    # A roll about x lifts the left side (y), so that down leans towards -y.
    expected = rows([0.0, -math.sin(0.3), -math.cos(0.3)], [0.0, 0.0, 1.0])
    assert_close(value(env, mdp.projected_gravity), expected)


def test_heights_and_positions_count_from_the_spawn_origin():
    env = TermWorld(2, terrain=tiles())
    assert env.scene.ground is not None
    env.scene.ground.origins.copy_(torch.tensor([[1.0, 2.0, 0.5], [-1.0, 0.0, -0.25]]))
    env.set_root([[1.5, 2.0, 1.0, *yaw(0.0)], [1.0, 4.0, 0.75, *yaw(0.0)]])
    assert value(env, mdp.base_height).tolist() == [[0.5], [1.0]]
    expected = [[0.5, 0.0, 0.5], [2.0, 4.0, 1.0]]
    assert value(env, mdp.root_pos_local).tolist() == expected


def test_root_orientation_equals_mujocos_body_orientation(scattered):
    theirs = [scattered.oracle(w).xquat[scattered.body("torso")] for w in range(4)]
    assert_close(value(scattered, mdp.root_quat_w), rows(*theirs))


# --- Joints ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "cfg, names",
    [
        (SceneEntityCfg("robot"), JOINTS),
        (APART, ("shoulder", "wag")),
        (SWAPPED, ("wag", "elbow")),
    ],
)
def test_joint_states_and_efforts_are_those_of_the_named_joints_in_mujoco(
    scattered, cfg, names
):
    joints = [scattered.sim.mj_model.joint(f"robot/{name}") for name in names]
    adr = [int(joint.qposadr[0]) for joint in joints]
    dof = [int(joint.dofadr[0]) for joint in joints]
    theirs = [scattered.oracle(world) for world in range(4)]

    def ours(func):
        return value(scattered, func, asset_cfg=cfg)

    assert_close(ours(mdp.joint_pos), rows(*(d.qpos[adr] for d in theirs)))
    assert_close(ours(mdp.joint_vel), rows(*(d.qvel[dof] for d in theirs)))
    efforts = rows(*(d.qfrc_actuator[dof] for d in theirs))
    assert_close(ours(mdp.joint_effort), efforts)


def test_joint_effort_is_gear_times_control_and_zero_without_an_actuator():
    env = TermWorld(1)
    env.sim.data.ctrl.copy_(torch.tensor([[0.5, 0.25, 1.5]]))
    env.forward()
    assert value(env, mdp.joint_effort).tolist() == [[1.0, 0.0, 1.0, -4.5]]


def test_relative_joint_states_count_from_the_default_ones():
    env = TermWorld(2)
    assert not value(env, mdp.joint_pos_rel).any()
    assert not value(env, mdp.joint_vel_rel).any()
    env.set_joints([0.5, 0.25, 0.125, -1.0], [1.0, 0.0, -2.0, 0.25])
    moved = [0.25, -0.25, 0.0, -1.0]
    assert value(env, mdp.joint_pos_rel).tolist() == [moved, moved]
    assert value(env, mdp.joint_pos_rel, asset_cfg=APART).tolist()[0] == [0.25, -1.0]
    assert value(env, mdp.joint_vel_rel).tolist()[1] == [1.0, 0.0, -2.0, -0.25]
    assert value(env, mdp.joint_vel_rel, asset_cfg=SWAPPED)[0].tolist() == [-0.25, 0.0]


def test_only_a_biased_joint_position_has_the_bias_of_the_encoders():
    env = TermWorld(2)
    bias = torch.tensor([[0.5, 0.0, 0.25, -0.125]])
    env.robot.write_encoder_bias(env.mask(1), bias)
    ours = value(env, mdp.joint_pos_rel, biased=True)
    assert ours.tolist() == [[0.0] * 4, bias[0].tolist()]
    assert not value(env, mdp.joint_pos_rel).any()
    assert value(env, mdp.joint_pos_rel, biased=True, asset_cfg=SWAPPED).tolist()[
        1
    ] == [-0.125, 0.0]


def test_a_default_pose_that_differs_between_worlds_counts_for_each_world():
    env = TermWorld(2)
    env.robot.data.default_joint_pos[1, 0] += 0.5
    assert value(env, mdp.joint_pos_rel).tolist() == [[0.0] * 4, [-0.5, 0, 0, 0]]
    env.robot.data.default_joint_pos[1, 0] -= 0.5


@pytest.mark.parametrize("side, sign", [(0, -1.0), (1, 1.0)])
def test_a_joint_at_a_soft_limit_is_at_minus_or_plus_one(side, sign):
    env = TermWorld(1)
    at = [limit[side] for limit in SOFT_LIMITS]
    at[1] = 7.0
    env.set_joints(at)
    ours = value(env, mdp.joint_pos_limit_normalized)
    # The elbow has no limits: wherever it is, it is as far from one as from the other.
    assert_close(ours, rows([sign, 0.0, sign, sign]))


def test_normalised_joint_position_is_linear_within_and_beyond_limits():
    env = TermWorld(1)
    env.set_joints([0.25, -50.0, 0.14, -0.6])
    ours = value(env, mdp.joint_pos_limit_normalized)
    assert_close(ours, rows([0.0, 0.0, 0.5, -1.5]))
    picked = value(env, mdp.joint_pos_limit_normalized, asset_cfg=SWAPPED)
    assert_close(picked, rows([-1.5, 0.0]))


def test_normalised_nan_joint_position_is_nan():
    limits = torch.tensor([[[-1.0, 1.0], [-math.inf, math.inf]]])
    broken = torch.full((1, 2), math.nan)
    entity = planted(soft_joint_pos_limits=limits, joint_pos=broken)
    ours = mdp.joint_pos_limit_normalized(None, entity)  # type: ignore[arg-type]
    assert ours.isnan().all()


def test_tendon_lengths_are_the_sums_of_coefficients_times_positions():
    env = TermWorld(2)
    env.set_joints([0.5, -1.0, 0.125, 0.25])
    # cord: 0.5 - 2 * 0.25; line: 3 * -1; rope: 0.5 * 0.125.
    assert value(env, mdp.tendon_length).tolist() == [[0.0, -3.0, 0.0625]] * 2
    apart = SceneEntityCfg("robot", tendon_names=("rope", "cord"), preserve_order=True)
    assert value(env, mdp.tendon_length, asset_cfg=apart).tolist() == [[0.0625, 0]] * 2


# --- Bodies ---------------------------------------------------------------------------


def test_body_poses_are_those_of_mujoco_body_after_body(scattered):
    cfg = SceneEntityCfg("robot", body_names=("torso", "hand", "tail"))
    ids = [scattered.body(name) for name in ("torso", "hand", "tail")]
    theirs = []
    for world in range(4):
        data = scattered.oracle(world)
        theirs.append(np.concatenate([[*data.xpos[i], *data.xquat[i]] for i in ids]))
    ours = value(scattered, mdp.body_pose_local, asset_cfg=cfg)
    assert ours.shape == (4, 21)
    assert_close(ours, rows(*theirs))


def test_body_position_is_relative_to_the_spawn_origin():
    env = TermWorld(1, terrain=tiles())
    assert env.scene.ground is not None
    env.scene.ground.origins.copy_(torch.tensor([[1.0, 2.0, 0.5]]))
    env.set_joints([0.0] * 4)
    env.set_root([[1.0, 2.0, 1.0, *yaw(math.pi / 2)]])
    cfg = SceneEntityCfg("robot", body_names=("tail", "arm"), preserve_order=True)
    # The tail is 0.2 behind the torso, the arm 0.2 ahead; ahead is +y now.
    expected = [0, -0.2, 0.5, *yaw(math.pi / 2), 0, 0.2, 0.5, *yaw(math.pi / 2)]
    assert_close(value(env, mdp.body_pose_local, asset_cfg=cfg), rows(expected))


# --- The past, goals and time ---------------------------------------------------------


def test_last_action_is_the_newest_for_all_terms_or_one():
    env = acted([[1.0, 2, 3, 4]] * 2, [[5.0, 6, 7, 8], [9.0, 10, 11, 12]])
    assert value(env, mdp.last_action).tolist() == [[5, 6, 7, 8], [9, 10, 11, 12]]
    right = value(env, mdp.last_action, action_name="right")
    assert right.tolist() == [[7, 8], [11, 12]]
    env.action_manager.reset(env.mask(0))
    assert value(env, mdp.last_action).tolist() == [[0.0] * 4, [9, 10, 11, 12]]


def test_a_generated_command_equals_the_command_of_the_named_term():
    env = FakeEnv(2, command_manager=goals(walk=[[1.0, 2.0]] * 2, look=[[3.0], [4.0]]))
    ours = value(env, mdp.generated_commands, command_name="look")
    assert ours.tolist() == [[3.0], [4.0]]


def test_episode_progress_runs_from_zero_to_one():
    env = FakeEnv(3)
    env.episode_length_buf.copy_(torch.tensor([0, 125, 500]))
    assert_close(value(env, mdp.episode_progress), rows([0.0], [0.25], [1.0]))


def test_default_state_equals_the_reference_of_the_tests():
    env = TermWorld(1)
    assert value(env, mdp.joint_pos).tolist() == [list(DEFAULT_POS)]
    assert value(env, mdp.joint_vel).tolist() == [list(DEFAULT_VEL)]
    assert_close(env.robot.data.soft_joint_pos_limits, rows(SOFT_LIMITS))

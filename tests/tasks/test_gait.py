"""Gait of the G1, its assistive wrench, and mirror-equivariant networks."""

import math
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import onnxruntime
import pytest
import torch
from rsl_rl.algorithms import PPO
from rsl_rl.modules import EmpiricalNormalization
from torch import nn

from mjlab.envs import ManagerBasedRlEnv
from mjlab.export.graph import onnx_model, traced
from mjlab.export.network import Network
from mjlab.rl import RslRlVecEnv
from mjlab.rl.distributed import Ranks
from mjlab.rl.learners import Learner
from mjlab.rl.models.equivariant import EquivariantModel, Image
from mjlab.rl.models.mirrored_columns import MirroredColumns, SignedColumns
from mjlab.tasks.robots.g1 import MIRROR
from mjlab.tasks.robots.legged import Foot
from mjlab.tasks.robots.symmetry import Reflection
from mjlab.tasks.velocity import VelocityG1FlatCfg, g1_flat_rl
from mjlab.tasks.velocity import gait as gait_module
from mjlab.tasks.velocity.gait import Clock, Gait, LegGait
from mjlab.tasks.velocity.support import Hand

WORLDS = 4


@pytest.fixture(scope="module")
def env():
    cfg = VelocityG1FlatCfg()
    cfg.scene.num_envs, cfg.seed = WORLDS, 3
    made = ManagerBasedRlEnv(cfg.for_training(), device="cpu")
    made.reset()
    yield made
    made.close()


FORMS = pytest.mark.parametrize("tied", [False, True], ids=["mean", "tied"])


def learner_of(env: ManagerBasedRlEnv, tied: bool) -> Learner:
    torch.manual_seed(0)
    cfg = g1_flat_rl()
    cfg.actor = replace(cfg.actor, tied=tied)
    cfg.critic = replace(cfg.critic, tied=tied)
    return Learner(RslRlVecEnv(env), cfg, Ranks())


# Networks.


def most_asymmetric(network: torch.nn.Module, env: ManagerBasedRlEnv) -> float:
    """Return the maximum difference of f(Mx) and M f(x), with mirrors from names."""
    reflection = Reflection(env, MIRROR)
    chance = torch.Generator().manual_seed(1)
    seen = {
        name: torch.randn(16, value.shape[1], generator=chance)
        for name, value in RslRlVecEnv(env).get_observations().items()
    }
    images = {name: reflection.group(name, value) for name, value in seen.items()}
    with torch.no_grad():
        out, image = network(seen), network(images)
    expected = reflection.actions(out) if out.shape[1] > 1 else out
    assert out.std() > 1e-3
    return float((image - expected).abs().max())


@FORMS
def test_a_policy_acts_symmetrically_in_mirrored_states(env, tied):
    learner = learner_of(env, tied)
    assert isinstance(learner.algorithm, PPO)
    policy, critic = learner.algorithm.actor, learner.algorithm.critic
    with torch.no_grad():
        for name, bias in nn.ModuleList([policy, critic]).named_parameters():
            if name.endswith("bias"):  # The last one starts at zero.
                bias.normal_(std=0.1)
    # The normaliser has seen asymmetric data.
    worlds = RslRlVecEnv(env)
    for _ in range(3):
        stepped = worlds.step(torch.full((WORLDS, 15), 0.3))[0]
        policy.update_normalization(stepped)
    assert most_asymmetric(policy, env) < 5e-6
    assert most_asymmetric(critic, env) < 5e-6


def test_statistics_match_those_of_mirrored_data(env):
    learner = learner_of(env, tied=True)
    worlds, reflection = RslRlVecEnv(env), Reflection(env, MIRROR)
    policy: Any = learner.policy
    expected = EmpiricalNormalization(policy.obs_dim)
    for force in (0.3, -0.1, 0.2):
        seen = worlds.step(torch.full((WORLDS, 15), force))[0]
        policy.update_normalization(seen)
        image = reflection.group("actor", seen["actor"])
        expected.update(torch.cat((seen["actor"], image)))
    torch.testing.assert_close(policy.obs_normalizer.mean, expected.mean)
    torch.testing.assert_close(policy.obs_normalizer.std, expected.std)
    found = policy.get_latent(seen)
    assert torch.equal(found, policy.obs_normalizer(seen["actor"]))
    assert found.std() > 0.1


@FORMS
def test_wrong_sign_in_the_mirror_table_is_found(env, tied):
    policy = learner_of(env, tied).policy
    assert isinstance(policy, EquivariantModel)
    signs = [*Reflection(env, MIRROR).columns.acted.signs]
    signs[0] = -signs[0]
    places = Reflection(env, MIRROR).columns.acted.places
    mlp: Any = policy.mlp
    last = mlp[-1] if tied else mlp
    last.done = Image(SignedColumns(places, signs))
    assert most_asymmetric(policy, env) > 1e-3


@FORMS
def test_reflections_are_not_saved(env, tied):
    keys = learner_of(env, tied).policy.state_dict()
    assert {key for key in keys if key.startswith("mlp.")} == {
        f"mlp.{'' if tied else 'mlp.'}{layer}.{part}"
        for layer in (0, 2, 4, 6)
        for part in ("weight", "bias")
    }


def test_layers_of_odd_size_are_refused(env):
    cfg = g1_flat_rl()
    cfg.actor = replace(cfg.actor, tied=True, hidden_dims=(64, 33))
    with pytest.raises(ValueError, match=r"has a layer of 33; .* such as 34"):
        Learner(RslRlVecEnv(env), cfg, Ranks())


def test_network_with_extra_outputs_is_refused(env):
    columns = MirroredColumns(
        Reflection(env, MIRROR).columns.observed, SignedColumns([0], [1.0])
    )
    groups = {"actor": ["actor"]}
    seen = RslRlVecEnv(env).get_observations()
    with pytest.raises(ValueError, match="15 numbers for 1 actions"):
        EquivariantModel(seen, groups, "actor", 15, columns=columns)


@FORMS
def test_the_network_as_onnx_matches_torch(env, tied):
    policy = learner_of(env, tied).policy.eval()
    seen = torch.randn(1, 87, generator=torch.Generator().manual_seed(2))
    examples = {"actor": seen[:1]}
    model = onnx_model(traced(Network.of(policy), examples), examples, {})
    session = onnxruntime.InferenceSession(model.SerializeToString())
    (found,) = session.run(["action"], {"actor": seen[:1].numpy()})
    expected = policy({"actor": seen[:1]}).detach().numpy()
    assert np.abs(found - expected).max() < 1e-5
    assert np.abs(expected).max() > 0.01


# The gait.

NUMBERS = Gait(
    period=1.0, duty=0.5, knee=0.6, hip=0.2, sway=0.0, pitch_per_m=2.0, roll_per_m=1.0
)
AHEAD = (1.0, 0.4, 0.2)
"""The command: m/s forward, m/s to the left, rad/s."""


@pytest.mark.parametrize(
    ("seconds", "place", "lift"),
    [
        # The left leg has just touched down, half a step ahead.
        (0.0, 0.5, 0.0),
        # Halfway through its stance, below the hip.
        (7.25, 0.0, 0.0),
        # It leaves the ground, half a step behind.
        (0.5, -0.5, 0.0),
        # In the middle of its swing: below the hip, at maximum height.
        (3.75, 0.0, 1.0),
    ],
)
def test_gait_reference_at_four_phases_equals_hand_calculation(seconds, place, lift):
    command = torch.tensor([AHEAD])
    phases = NUMBERS.phases(torch.tensor([seconds]))
    found = NUMBERS.offsets(phases, command).view(6, 2)[:, 0]
    # 1 m/s for half a second of stance is a step of 0.5 m.
    ahead, aside, turn = 2.0 * 0.5 * place, 0.4 * 0.5 * place, 0.2 * 0.5 * place
    expected = [
        -0.2 * lift - ahead,
        aside,
        turn,
        0.6 * lift,
        -0.4 * lift + ahead,
        -aside,
    ]
    assert found.tolist() == pytest.approx(expected, abs=1e-6)


def test_a_foot_leaves_and_meets_the_ground_at_the_speed_of_stance():
    gait = Gait()
    command = torch.tensor([[0.7, 0.0, 0.0]], dtype=torch.float64)

    def speed(phase: float) -> float:
        """Return the hip's speed by differences, rad per period."""
        ends = [
            gait.offsets(torch.tensor([[at, at]], dtype=torch.float64), command)[0, 0]
            for at in (phase - 1e-6, phase + 1e-6)
        ]
        return float(ends[1] - ends[0]) / 2e-6

    stance = speed(0.3)
    assert stance > 0.1
    for phase in (gait.duty + 2e-6, 1.0 - 2e-6):
        assert speed(phase) == pytest.approx(stance, rel=1e-3)


def test_the_right_leg_is_half_a_period_behind_the_left_one_all_the_time():
    """Both phases stay below one, on either side of the half period."""
    for turn in (0.0, 0.1, 0.25, 0.49, 0.5, 0.75, 0.99, 3.75):
        found = NUMBERS.phases(torch.tensor([turn]))[0].tolist()
        wanted = [turn % 1.0, (turn + 0.5) % 1.0]
        assert found == pytest.approx(wanted, abs=1e-6), turn
    # Each leg lifts once per period: 0.75 for the left, 0.25 for the right.
    command = torch.zeros(1, 3)
    for turn, lifts in ((0.75, [0.6, 0.0]), (0.25, [0.0, 0.6]), (0.5, [0.0, 0.0])):
        phases = NUMBERS.phases(torch.tensor([turn]))
        knees = NUMBERS.offsets(phases, command).view(6, 2)[3]
        assert knees.tolist() == pytest.approx(lifts, abs=1e-6), turn


def test_the_pelvis_moves_over_the_stance_leg():
    gait = replace(NUMBERS, sway=0.1)
    still = torch.zeros(1, 3)
    for seconds, roll in ((0.25, -0.1), (0.75, 0.1), (0.5, 0.0)):
        phases = gait.phases(torch.tensor([seconds]))
        rolls = gait.offsets(phases, still).view(6, 2)[1]
        assert rolls.tolist() == pytest.approx([roll, roll], abs=1e-6)


def test_posture_is_best_in_the_pose_of_the_gait_and_without_it_when_standing(env):
    env.reset(seed=3)
    command = env.command_manager.get_command("twist")
    command.copy_(torch.tensor(AHEAD).expand(WORLDS, 3))
    moving = env.command_manager.term("twist").moving
    moving.copy_(torch.tensor([1.0, 1.0, 0.0, 0.0]))
    env.episode_length_buf.copy_(torch.tensor([13, 30, 13, 30]))
    term, robot = env.reward_manager.term("gait_posture"), env.scene.entity("robot")
    gait = env.cfg.rewards["gait_posture"].params["gait"]
    seconds = env.episode_length_buf * env.step_dt
    # The robot does not move, so the step length is smaller than commanded.
    follows = command * torch.tensor([1.0 - gait.measured, 1.0 - gait.measured, 1.0])
    offsets = gait.offsets(gait.phases(seconds), follows) * moving.unsqueeze(1)
    order = ("hip_pitch", "hip_roll", "hip_yaw", "knee", "ankle_pitch", "ankle_roll")
    pose = robot.data.default_joint_pos.clone()
    for place, joint in enumerate(order):
        for side, name in enumerate(("left", "right")):
            column = robot.joint_names.index(f"{name}_{joint}_joint")
            pose[:, column] += offsets[:, 2 * place + side]
    everyone = torch.ones(WORLDS, dtype=torch.bool)
    robot.write_joint_state(everyone, pose, torch.zeros_like(pose))
    env.sim.forward()
    env.scene.refresh()
    assert term().tolist() == pytest.approx([1.0] * WORLDS, abs=1e-5)
    assert offsets[:2].abs().max() > 0.1
    twice = 2.0 * robot.data.default_joint_pos - pose
    robot.write_joint_state(everyone, twice, torch.zeros_like(pose))
    env.sim.forward()
    env.scene.refresh()
    assert (term()[:2] < 0.9).all() and term()[2:].tolist() == pytest.approx([1.0] * 2)


def test_feet_touch_the_ground_by_the_gait_and_both_while_standing(env, monkeypatch):
    env.reset(seed=3)
    moving = env.command_manager.term("twist").moving
    moving.copy_(torch.tensor([1.0, 1.0, 0.0, 0.0]))
    gait = replace(NUMBERS, duty=0.6)
    # At 0.3 periods the left leg is in stance, and the right one, at 0.8, in swing.
    env.episode_length_buf.fill_(round(0.3 / env.step_dt))
    down = torch.tensor([[True, False], [True, True], [True, True], [False, True]])
    sensor = SimpleNamespace(is_in_contact=lambda: down)
    monkeypatch.setattr(gait_module, "contact_sensor", lambda env, name: sensor)
    found = gait_module.gait_contact(env, gait, "feet", "twist")
    assert found.tolist() == [1.0, 0.5, 1.0, 0.0]


def test_diagonal_feet_of_a_trot_step_together(env, monkeypatch):
    env.reset(seed=3)
    env.command_manager.term("twist").moving.copy_(torch.tensor([1.0, 1.0, 0.0, 0.0]))
    # At 0.3 periods front left and rear right are in stance; the other two, at 0.8, in
    # swing.
    env.episode_length_buf.fill_(round(0.3 / env.step_dt))
    trot = Clock(period=1.0, duty=0.6)
    down = torch.tensor(
        [
            [False, True, True, False],
            [True, False, True, False],
            [False, True, True, False],
            [True, True, True, True],
        ]
    )
    sensor = SimpleNamespace(is_in_contact=lambda: down)
    monkeypatch.setattr(gait_module, "contact_sensor", lambda env, name: sensor)
    args = (env, trot, "feet", "twist", (1, 0, 0, 1))
    # At zero command all feet must be in contact.
    assert gait_module.gait_contact(*args).tolist() == [1.0, 0.5, 0.0, 1.0]


def leg_gait(duty: float = 0.5) -> LegGait:
    """Return a gait of two feet: joints a and b of the left one, and c of the right."""
    left = {"a": (0.5, 1.0, 0.0, -2.0, 0.3), "b": (0.0, 0.0, 1.0, 1.0)}
    feet = (
        Foot(body="l", geoms=(), clock=0, moves=left),
        Foot(body="r", geoms=(), clock=1, moves={"c": (0.0, 1.0, 0.0, 2.0)}),
    )
    return LegGait(period=1.0, duty=duty, feet=feet)


def joint_offsets(
    gait: LegGait, phases: tuple[float, float], command: tuple[float, float, float]
) -> list[float]:
    factors = torch.zeros(gait.columns, 3)
    for column, joint, factor in gait.driven():
        factors[column, "abc".index(joint)] += factor
    offsets = gait.offsets(torch.tensor([phases]), torch.tensor([command]))
    return (offsets @ factors)[0].tolist()


def test_legs_follow_each_part_of_a_command():
    """At the beginning of stance a foot is half a step in front of its place."""
    gait = leg_gait()
    turning = joint_offsets(gait, (0.0, 0.5), (0.0, 0.0, 0.4))
    # Half a turn of 0.2 rad; the right foot begins its swing half a step behind.
    assert turning == pytest.approx([-0.2, 0.1, -0.2])
    ahead = joint_offsets(gait, (0.0, 0.5), (0.4, 0.0, 0.0))
    assert ahead == pytest.approx([0.1, 0.0, -0.1])
    left = joint_offsets(gait, (0.0, 0.5), (0.0, 0.4, 0.0))
    assert left == pytest.approx([0.0, 0.1, 0.0])
    lifted = joint_offsets(gait, (0.75, 0.25), (0.0, 0.0, 0.0))
    assert lifted == pytest.approx([0.5, 0.0, 0.0], abs=1e-6)


def test_the_distance_of_the_feet_depends_on_the_steps_to_the_side():
    """With 0.3 m/s and a period of 1 s, feet approach each other by 15 cm."""
    full = replace(NUMBERS, duty=0.6, room=0.05, narrower=0.03)
    half = replace(full, aside=0.5)
    phases = torch.linspace(0.0, 1.0, 401)
    both = torch.stack((phases, (phases + 0.5) % 1.0), dim=1)
    stands = (both < full.duty).all(dim=1)
    for gait, speed, closest, widest in (
        (full, 0.3, -0.05, 0.25),
        (full, -0.3, -0.05, 0.25),
        (full, 0.08, -0.05, 0.03),
        (full, 0.0, -0.03, -0.03),
        (half, 0.3, -0.05, 0.1),
    ):
        command = torch.tensor([[0.5, speed, 0.1]]).expand(401, 3)
        left, right = gait.steps(both, command)[1].unbind(dim=1)
        apart = (left - right)[stands]
        assert apart.min().item() == pytest.approx(closest, abs=1e-3)
        assert apart.max().item() == pytest.approx(widest, abs=1e-3)


def test_the_load_of_a_leg_increases_while_both_legs_are_in_stance():
    gait = leg_gait(duty=0.6)
    ((column, joint, load),) = gait.loaded()
    assert (joint, load) == ("a", 0.3)
    phases = torch.tensor([0.0, 0.05, 0.1, 0.3, 0.5, 0.55, 0.6, 0.8])
    offsets = gait.offsets(
        torch.stack((phases, (phases + 0.5) % 1.0), dim=1), torch.zeros(8, 3)
    )
    expected = [0.0, 0.5, 1.0, 1.0, 1.0, 0.5, 0.0, 0.0]
    assert offsets[:, column].tolist() == pytest.approx(expected, abs=1e-5)


def test_joint_targets_precede_the_clock_by_the_lead(env):
    env.reset(seed=3)
    env.command_manager.term("twist").moving.fill_(1.0)
    env.command_manager.get_command("twist").copy_(
        torch.tensor(AHEAD).expand(WORLDS, 3)
    )
    gait = replace(NUMBERS, lead=3 * env.step_dt)
    env.episode_length_buf.fill_(10)
    early = gait_module._offsets(env, gait, "twist", gait.lead)
    env.episode_length_buf.fill_(13)
    assert torch.allclose(early, gait_module._offsets(env, gait, "twist"), atol=1e-5)


def test_the_length_of_steps_is_between_command_and_measured_velocity(env):
    env.reset(seed=3)
    env.command_manager.term("twist").moving.fill_(1.0)
    command = env.command_manager.get_command("twist")
    command.copy_(torch.tensor(AHEAD).expand(WORLDS, 3))
    env.episode_length_buf.fill_(7)
    velocity = torch.zeros(WORLDS, 6)
    velocity[:, 0], velocity[:, 1], velocity[:, 5] = 0.2, -0.4, 0.7
    everywhere = torch.ones(WORLDS, dtype=torch.bool)
    env.scene.entity("robot").write_root_velocity_w(everywhere, velocity)
    env.sim.forward()
    env.scene.refresh()
    mixed = gait_module._offsets(env, replace(NUMBERS, measured=0.25), "twist")
    base = env.scene.entity("robot").data.root_lin_vel_b
    command[:, :2] = 0.75 * command[:, :2] + 0.25 * base[:, :2]
    assert torch.allclose(mixed, gait_module._offsets(env, NUMBERS, "twist"), atol=1e-5)


def test_a_pushed_robot_has_a_running_clock_at_zero_command(env):
    env.reset(seed=3)
    env.command_manager.term("twist").moving.zero_()
    env.episode_length_buf.fill_(5)
    velocity = torch.zeros(WORLDS, 6)
    velocity[1, 0], velocity[2, 1], velocity[3, 2] = 0.2, -0.3, 0.9
    everywhere = torch.ones(WORLDS, dtype=torch.bool)
    env.scene.entity("robot").write_root_velocity_w(everywhere, velocity)
    env.sim.forward()
    env.scene.refresh()
    clock = Clock(period=0.8, push_speed=0.25)
    seen = gait_module.gait_clock(env, "twist", clock)
    # Only the third robot moves faster than 0.25 m/s horizontally.
    assert (seen.square().sum(dim=1) > 0.5).tolist() == [False, False, True, False]


def test_targets_are_the_default_pose_plus_gait_plus_action(env):
    cfg = env.cfg.actions["joint_pos"]
    term = env.action_manager.get_term("joint_pos")
    robot = env.scene.entity("robot")
    env.reset(seed=3)
    command = env.command_manager.get_command("twist")
    command.copy_(torch.tensor(AHEAD).expand(WORLDS, 3))
    env.command_manager.term("twist").moving.fill_(1.0)
    env.episode_length_buf.fill_(7)
    names = list(term.target_names)
    knee = names.index("right_knee_joint")
    actions = torch.zeros(WORLDS, 15)
    actions[:, knee] = 2.0
    term.process_actions(actions)
    # The right leg is half a period behind the left one, in its swing.
    turn = 7 * 0.02 / cfg.gait.period + 0.5
    assert cfg.gait.duty < turn < 1.0
    swing = (turn - cfg.gait.duty) / (1.0 - cfg.gait.duty)
    expected = 0.669 + cfg.gait.knee * math.sin(math.pi * swing) ** 2
    expected += 2.0 * cfg.scale[".*_knee_joint"]
    assert term.processed_action[:, knee].tolist() == pytest.approx(
        [expected] * WORLDS, abs=1e-5
    )
    waist = names.index("waist_yaw_joint")
    default = robot.data.default_joint_pos[
        0, robot.joint_names.index("waist_yaw_joint")
    ]
    assert float(term.processed_action[0, waist]) == pytest.approx(float(default))


# The hand.


def test_assistance_decreases_each_step_and_increases_after_a_fall(env):
    env.reset(seed=3)
    term = env.event_manager.term("support")
    level = env.observation_manager.term("critic/support")()
    terminated = env.termination_manager.terminated
    level.copy_(torch.tensor([[0.0], [0.5], [0.9], [0.5]]))
    everywhere = torch.ones(WORLDS, dtype=torch.bool)
    for fallen in ([1], [], [1, 2], []):
        terminated.zero_()
        terminated[fallen] = True
        term(everywhere)
    terminated.zero_()
    down, up = 1.0 / 480.0, 120.0 / 480.0
    expected = [0.0, 0.5 - 4 * down + 2 * up, 1.0 - down, 0.5 - 4 * down]
    assert level[:, 0].tolist() == pytest.approx(expected, abs=1e-6)
    assert env.get_state()["event.support.level"].equal(level)


HAND = Hand(
    spring=700.0, damper=120.0, tilt=60.0, tilt_damper=3.6, lift=800.0, height=0.74
)


def test_assistive_force_equals_hand_calculation():
    force = HAND.force(
        torch.tensor([[0.1, 5.0, 0.84], [0.0, 0.0, 0.9]]),
        torch.tensor([[0.5, 0.0, -1.0], [0.0, 0.0, 0.0]]),
        # The lower foot of the first robot is 0.2 m above the ground.
        torch.tensor(
            [[[0.1, 0.1, 0.2], [-0.1, -0.1, 0.4]], [[0.1, 0.1, 0.1], [-0.1, -0.1, 0.0]]]
        ),
        torch.tensor([[1.0, 0.0], [0.0, -0.5]]),
    )
    # 0.1 m ahead of the feet, and half as fast as commanded; 5 m sideways count as 0.3
    # m.
    assert force[0].tolist() == pytest.approx([60.0 - 70.0, -210.0, 80.0], abs=1e-3)
    # Above its height there is no upward force.
    assert force[1].tolist() == pytest.approx([0.0, -60.0, 0.0])


def test_assistive_torque_rights_a_tilted_body():
    half = math.radians(30.0) / 2.0
    ahead = [math.cos(half), 0.0, math.sin(half), 0.0]
    aside = [math.cos(half), math.sin(half), 0.0, 0.0]
    torque = HAND.torque(
        torch.tensor([[ahead, aside]]), torch.tensor([[[0.0, 0.0, 9.0], [1.0, 2.0, 0]]])
    )[0]
    # Pitched by 30 degrees about y, the restoring torque about y is half of 60 N m.
    assert torque[0].tolist() == pytest.approx([0.0, -30.0, 0.0], abs=1e-4)
    assert torque[1].tolist() == pytest.approx([-30.0 - 3.6, -7.2, 0.0], abs=1e-4)


def feet_places(robot):
    names = ("left_ankle_roll_link", "right_ankle_roll_link")
    return [robot.body_names.index(name) for name in names]


def test_wrench_is_scaled_by_the_assistance_of_each_world(env):
    env.reset(seed=3)
    for _ in range(5):
        env.step(torch.zeros(WORLDS, 15))
    level = env.observation_manager.term("critic/support")()
    level.copy_(torch.tensor([[0.0], [0.25], [0.5], [1.0]]) + 1.0 / 480.0)
    env.termination_manager.terminated.zero_()
    env.event_manager.term("support")(torch.ones(WORLDS, dtype=torch.bool))
    robot = env.scene.entity("robot")
    # Wrench of each world at full strength, from its own state.
    wrench = torch.as_tensor(env.sim.data.xfrc_applied)
    pushed = [index for index in range(wrench.shape[1]) if bool(wrench[3, index].any())]
    assert len(pushed) == 2
    feet = torch.stack([robot.data.body_pos_w[:, i, 2] for i in feet_places(robot)])
    low = HAND.height - (robot.data.root_pos_w[:, 2] - feet.amin(dim=0))
    lift = HAND.lift * low.clamp(0.0, 0.3) * torch.tensor([0.0, 0.25, 0.5, 1.0])
    assert wrench[:, pushed[0], 2].tolist() == pytest.approx(lift.tolist(), abs=1e-2)
    assert wrench[0].abs().max() < 1e-4


def test_the_assistance_level_is_zero_without_its_event():
    cfg = VelocityG1FlatCfg().play()
    cfg.scene.num_envs = 2
    env = ManagerBasedRlEnv(cfg, device="cpu")
    env.reset()
    assert env.observation_manager.term("critic/support")().tolist() == [[0.0], [0.0]]
    env.close()

"""Velocity-G1-Loco: punches, externally moved arms, and commands from targets."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import mujoco
import numpy as np
import pytest
import torch

from mjlab.envs import ManagerBasedRlEnv
from mjlab.exam import CommandCfg
from mjlab.exam.command import Reached, command_of, relative_target
from mjlab.managers import SceneEntityCfg
from mjlab.managers.term import TermError
from mjlab.tasks.robots.g1 import MIRROR
from mjlab.tasks.robots.symmetry import Reflection
from mjlab.tasks.velocity import VelocityG1LocoCfg
from mjlab.tasks.velocity.capture import capture_point_near_foot
from mjlab.tasks.velocity.gait import gait_contact, gait_posture

WORLDS = 4
EVERYWHERE = torch.ones(WORLDS, dtype=torch.bool)


@pytest.fixture(scope="module")
def env() -> Iterator[ManagerBasedRlEnv]:
    cfg = VelocityG1LocoCfg(seed=3)
    cfg.scene.num_envs = WORLDS
    made = ManagerBasedRlEnv(cfg.for_training(), device="cpu")
    made.reset()
    yield made
    made.close()


@pytest.fixture(autouse=True)
def unchanged(env: ManagerBasedRlEnv) -> Iterator[None]:
    before = env.get_state()
    yield
    env.set_state(before)


def instance(env: ManagerBasedRlEnv, event: str) -> Any:
    found = env.event_manager.terms[event].instance
    assert found is not None
    return found


def call(env: ManagerBasedRlEnv, event: str) -> None:
    """Run one event in all worlds, with new random numbers."""
    env.rng.advance()
    env.event_manager.terms[event](EVERYWHERE)


def wrenches(env: ManagerBasedRlEnv) -> torch.Tensor:
    """External wrenches of the robot's bodies, shape (num_envs, bodies, 6)."""
    ids = env.scene.entity("robot").index.bodies.columns.ids
    return env.sim.data.xfrc_applied[:, ids]


# Punches.


@pytest.fixture(scope="module")
def flying() -> Iterator[ManagerBasedRlEnv]:
    """Robots without ground contact, assistance and terminations.

    Punches hit the trunk, and physics steps are short: MuJoCo's integrator conserves
    the momentum of turning bodies only to the first order.
    """
    cfg = VelocityG1LocoCfg(seed=3)
    cfg.scene.num_envs = WORLDS
    cfg.punches.start = 1.0
    cfg.sim.training, cfg.sim.mujoco.timestep, cfg.decimation = None, 0.0005, 40
    cfg = cfg.for_training()
    punches = cfg.events["punches"]
    trunk = SceneEntityCfg("robot", body_names=("pelvis", "torso_link"))
    punches.params |= {"asset_cfg": trunk, "lever_m": 0.0, "often": {}, "calm": 0.0}
    events = {**cfg.events, "support": None, "arms": None}
    groups = {"actor": cfg.observations["actor"]}
    cfg = replace(cfg, events=events, terminations={}, rewards={}, observations=groups)
    made = ManagerBasedRlEnv(cfg, device="cpu")
    made.reset()
    robot = made.scene.entity("robot")
    pose = robot.data.default_root_state[:, :7].clone()
    pose[:, 2] = 50.0
    robot.write_root_pose_w(EVERYWHERE, pose)
    yield made
    made.close()


def in_mujoco(
    env: ManagerBasedRlEnv, world: int
) -> tuple[mujoco.MjModel, mujoco.MjData]:
    """Model and state of a world, with derived quantities computed by MuJoCo."""
    model = env.sim.mj_model.__copy__()
    model.body_mass[:] = env.sim.model.body_mass[world]
    model.body_ipos[:] = env.sim.model.body_ipos[world]
    data = mujoco.MjData(model)
    mujoco.mj_setConst(model, data)
    data.qpos[:] = env.sim.data.qpos[world]
    data.qvel[:] = env.sim.data.qvel[world]
    mujoco.mj_forward(model, data)
    mujoco.mj_subtreeVel(model, data)
    return model, data


def momentum(env: ManagerBasedRlEnv) -> tuple[torch.Tensor, torch.Tensor]:
    """Momenta of all worlds, N s, shape (num_envs, 3), and their masses, kg."""
    worlds = [in_mujoco(env, world) for world in range(WORLDS)]
    masses = torch.tensor([model.body_mass.sum() for model, _ in worlds])
    velocities = np.array([data.subtree_linvel[0] for _, data in worlds])
    return torch.tensor(velocities) * masses.unsqueeze(1), masses


def test_a_punch_changes_the_momentum_by_force_times_80_ms(flying) -> None:
    punches = instance(flying, "punches")
    punches.steps_left.fill_(1)
    action = torch.zeros(WORLDS, 15)
    flying.step(action)
    assert punches.is_punching.all()
    force = punches.wrench[:, :3].double()
    before, mass = momentum(flying)
    impulse = torch.zeros(WORLDS, 3)
    for _ in range(4):
        # Constant in world axes within a step, and in the body's axes otherwise.
        impulse += punches.wrench_w()[:, :3] * 0.02
        flying.step(action)
    after, _ = momentum(flying)
    fall = torch.tensor([0.0, 0.0, -9.81]) * mass.unsqueeze(1) * 0.08
    found = (after - before - fall).float()
    torch.testing.assert_close(found, impulse, rtol=0, atol=0.2)
    # From half to full force at level 1.
    assert ((force.norm(dim=1) >= 300.0) & (force.norm(dim=1) <= 600.0)).all()
    assert not punches.is_punching.any()
    assert not wrenches(flying).any()


def test_a_punch_has_a_lever_of_at_most_10_cm_along_each_axis(env) -> None:
    punches = instance(env, "punches")
    punches.steps_left.fill_(1)
    call(env, "punches")
    force, torque = punches.wrench.double().split(3, dim=1)
    # The torque is perpendicular to the force, and the lever is at most sqrt(3) 10 cm.
    assert (force * torque).sum(dim=1).abs().max() < 1e-2
    assert (torque.norm(dim=1) <= 0.1 * 3**0.5 * force.norm(dim=1)).all()


def test_every_body_is_punched_and_never_two_at_a_time(env) -> None:
    punches = instance(env, "punches")
    hit = torch.zeros(env.scene.entity("robot").num_bodies, dtype=torch.bool)
    for _ in range(120):
        punches.is_punching.fill_(False)
        punches.steps_left.fill_(1)
        call(env, "punches")
        is_hit = wrenches(env)[..., :3].any(dim=2)
        assert (is_hit.sum(dim=1) == 1).all()
        hit |= is_hit.any(dim=0)
    assert hit.all()


def test_feet_and_hands_are_punched_more_often(env) -> None:
    punches = instance(env, "punches")
    names = env.scene.entity("robot").body_names
    counts = Counter(names[int(place)] for place in punches._bodies)
    assert counts["left_ankle_roll_link"] == counts["right_ankle_pitch_link"] == 3
    assert counts["left_wrist_yaw_link"] == 2
    assert counts["pelvis"] == counts["torso_link"] == counts["left_knee_link"] == 1


def test_levels_rise_after_a_punch_and_sink_after_a_fall(env) -> None:
    punches = instance(env, "punches")
    fell = env.termination_manager.terminated
    fell.zero_()
    punches.level.copy_(torch.tensor([0.50, 0.50, 0.12, 0.998]))

    def punch() -> None:
        punches.is_punching.fill_(False)
        punches.steps_left.fill_(1)
        call(env, "punches")

    punch()  # The first punch of an episode: nothing was withstood before.
    torch.testing.assert_close(punches.level, torch.tensor([0.50, 0.50, 0.12, 0.998]))
    punch()
    torch.testing.assert_close(punches.level, torch.tensor([0.505, 0.505, 0.125, 1.0]))
    fell.copy_(torch.tensor([False, True, True, False]))
    call(env, "punches")
    torch.testing.assert_close(punches.level, torch.tensor([0.505, 0.455, 0.10, 1.0]))
    fell.zero_()
    # A time-out or a reset leaves the levels alone, and the next punch is a first one.
    punches.reset(EVERYWHERE)
    punch()
    torch.testing.assert_close(punches.level, torch.tensor([0.505, 0.455, 0.10, 1.0]))


def test_pauses_between_punches_last_1_to_2_and_a_half_seconds(env) -> None:
    punches = instance(env, "punches")
    seen = []
    for _ in range(100):
        env.rng.advance()
        punches.reset(EVERYWHERE)
        seen.append(punches.steps_left.clone())
    steps = torch.stack(seen)
    is_calm = steps > env.max_episode_length
    assert 0.15 < is_calm.float().mean() < 0.35
    assert 50 <= steps.min() < 60
    assert 115 < steps[~is_calm].max() <= 125


def test_assistance_is_added_to_a_punch(env) -> None:
    punches, hand = instance(env, "punches"), instance(env, "support")
    robot = env.scene.entity("robot")
    torso = robot.body_names.index("torso_link")
    env.step(torch.zeros(WORLDS, 15))
    hand.level.fill_(0.5)
    punches.is_punching.fill_(False)
    call(env, "punches")
    call(env, "support")
    alone = wrenches(env)[:, torso].clone()
    assert alone[:, 3:].any(dim=1).all()
    punches.is_punching.fill_(True)
    punches.steps_left.fill_(3)
    punches.body.fill_(torso)
    punches.wrench.copy_(torch.tensor([100.0, -50.0, 20.0, 3.0, 2.0, 1.0]))
    hand.level.fill_(0.5)
    call(env, "punches")
    call(env, "support")
    added = wrenches(env)[:, torso] - alone
    torch.testing.assert_close(added, punches.wrench_w(), rtol=0, atol=1e-4)


def test_levels_out_of_order_are_refused() -> None:
    cfg = VelocityG1LocoCfg()
    cfg.scene.num_envs = 1
    cfg.punches.start = 2.0
    with pytest.raises(TermError, match="least <= start <= most"):
        ManagerBasedRlEnv(cfg.for_training(), device="cpu")


@pytest.mark.slow
def test_a_world_does_not_depend_on_the_number_of_worlds() -> None:
    found = []
    for worlds in (2, 5):
        cfg = VelocityG1LocoCfg(seed=4, episode_length_s=1.0)
        cfg.scene.num_envs, cfg.punches.cooldown_s = worlds, (0.1, 0.3)
        made = ManagerBasedRlEnv(cfg.for_training(), device="cpu")
        made.reset()
        chance = torch.Generator().manual_seed(1)
        for _ in range(120):
            made.step(torch.randn(5, 15, generator=chance)[:worlds])
        rows = made.state.live() | made.sim.snapshot()
        for name in ("qpos", "qvel", "xfrc_applied"):
            rows[name] = made.sim.engine.data(name).clone()
        made.close()
        found.append({n: t[:2] for n, t in rows.items() if t.ndim and len(t) == worlds})
    few, many = found
    assert few.keys() == many.keys()
    assert any("punches" in name for name in few)
    for name, tensor in few.items():
        torch.testing.assert_close(many[name], tensor, rtol=0, atol=0, msg=name)


# Arms.


def arm_targets(env: ManagerBasedRlEnv) -> torch.Tensor:
    """Targets of the left and the right arm, shape (num_envs, 2, 7), rad."""
    robot = env.scene.entity("robot")
    words = ("shoulder", "elbow", "wrist")
    arms = [
        [
            n
            for n in robot.joint_names
            if n.startswith(side) and any(map(n.count, words))
        ]
        for side in ("left_", "right_")
    ]
    columns = [[robot.joint_names.index(name) for name in arm] for arm in arms]
    return robot.data.targets.joint_pos[:, columns].clone()


def test_arm_targets_change_every_half_second_within_joint_limits(env) -> None:
    arms = instance(env, "arms")
    env.rng.advance()
    arms.reset(EVERYWHERE)
    start = env.scene.entity("robot").data.default_joint_pos
    path = []
    for _ in range(600):
        call(env, "arms")
        path.append(arm_targets(env))
    walk = torch.stack(path)
    limits = torch.from_numpy(env.sim.mj_model.jnt_range).float()
    model = env.sim.mj_model
    for side, arm in enumerate(("left", "right")):
        for place, joint in enumerate(
            ("shoulder_pitch", "shoulder_roll", "shoulder_yaw", "elbow")
        ):
            low, high = limits[model.joint(f"robot/{arm}_{joint}_joint").id]
            assert low <= walk[:, :, side, place].min()
            assert walk[:, :, side, place].max() <= high
    # It starts at the default pose, and a first goal is reached after 2 s.
    shoulder = env.scene.entity("robot").joint_names.index("left_shoulder_pitch_joint")
    first = walk[99, :, 0, 0] - start[:, shoulder]
    torch.testing.assert_close(walk[0, :, 0, 0] - start[:, shoulder], first / 100.0)
    # Then straight lines of 25 steps.
    speeds = walk.diff(dim=0)[99:599].view(20, 25, WORLDS, 2, 7)
    torch.testing.assert_close(
        speeds, speeds[:, :1].expand_as(speeds), atol=1e-5, rtol=0
    )
    # 25 uniform steps of at most 0.06 rad: variance 25 * 0.06^2 / 3. Clamping at the
    # ends of the ranges makes steps smaller.
    steps = speeds.sum(dim=1)
    assert 0.13 < float(steps.std()) < 0.18


def test_half_of_the_episodes_have_mirrored_arms(env) -> None:
    arms = instance(env, "arms")
    signs = torch.tensor([1.0, -1.0, -1.0, 1.0, -1.0, 1.0, -1.0])
    shares = []
    for _ in range(100):
        env.rng.advance()
        arms.reset(EVERYWHERE)
        call(env, "arms")
        left, right = arm_targets(env).unbind(dim=1)
        shares.append(((left * signs - right).abs() < 1e-6).all(dim=1))
    assert 0.4 < float(torch.stack(shares).float().mean()) < 0.6


# Commands.


def test_commands_equal_those_of_the_exam(env) -> None:
    term: Any = env.command_manager.term("twist")
    term.is_target.fill_(True)
    law = CommandCfg(
        lin_vel_x=(-0.5, 0.8), lin_vel_y=(-0.5, 0.5), ang_vel_z=(-1.0, 1.0)
    )
    reached = Reached(WORLDS, law)
    term.is_reached.fill_(False)
    robot = env.scene.entity("robot")
    chance = np.random.default_rng(0)
    goal = np.array([[0.4, -0.2, 0.5]] * WORLDS)
    term.target.copy_(torch.tensor(goal))
    near = np.array([1.0, 0.3, 0.15, 0.08])
    for attempt in range(12):
        size = near * (1.0 if attempt < 6 else 0.7)
        place = goal[:, :2] + size[:, None] * chance.uniform(-1, 1, (WORLDS, 2))
        yaw = goal[:, 2] + size * chance.uniform(-1, 1, WORLDS)
        pose = torch.zeros(WORLDS, 7)
        pose[:, :2] = torch.tensor(place)
        pose[:, 2] = 0.76
        pose[:, 3], pose[:, 6] = (
            torch.tensor(np.cos(yaw / 2)),
            torch.tensor(np.sin(yaw / 2)),
        )
        robot.write_root_pose_w(EVERYWHERE, pose)
        seen = relative_target(place, yaw, goal[:, :2], goal[:, 2])
        reached.update(seen)
        term.update()
        expected = torch.tensor(command_of(law, seen, reached)).float()
        torch.testing.assert_close(term.command, expected, atol=1e-5, rtol=1e-4)
    assert reached.place.any() and not reached.place.all()


def test_targets_are_as_far_apart_as_those_of_the_exam(env) -> None:
    term: Any = env.command_manager.term("twist")
    robot = env.scene.entity("robot")
    apart, turns = [], []
    for _ in range(300):
        env.rng.advance()
        term._resample(EVERYWHERE, env.rng.draw("test", (6,)))
        apart.append((term.target[:, :2] - robot.data.root_pos_w[:, :2]).norm(dim=1))
        turns.append(term.target[:, 2].clone())
    # Mean distance of two points in a disc of radius r: 128 r / (45 pi).
    mean = float(torch.stack(apart).mean())
    assert mean == pytest.approx(128 * 0.75 / (45 * np.pi), rel=0.06)
    assert float(torch.stack(apart).max()) <= 1.5
    assert (
        float(torch.stack(turns).min()) < -3.0 < 3.0 < float(torch.stack(turns).max())
    )


def test_play_and_the_exam_have_no_punches_targets_and_assistance() -> None:
    cfg = VelocityG1LocoCfg()
    for judged in (cfg, cfg.play()):
        assert {"punches", "support", "push_robot"}.isdisjoint(
            name for name, event in judged.events.items() if event
        )
        assert type(judged.commands["twist"]).__name__ == "TwistCommandCfg"
        assert judged.events["arms"] is not None
    assert cfg == VelocityG1LocoCfg()


# Observations and rewards.


def test_actor_observes_no_arms_and_no_linear_velocity(env) -> None:
    robot, manager = env.scene.entity("robot"), env.observation_manager
    names = manager.active_terms["actor"]
    assert "base_lin_vel" not in names and "punch" not in names
    arms, _ = robot.find_joints((".*_shoulder_.*", ".*_elbow_.*", ".*_wrist_.*"))
    terms = {name: manager.term(f"actor/{name}") for name in ("joint_pos", "joint_vel")}
    before = {name: term().clone() for name, term in terms.items()}
    assert all(value.shape == (WORLDS, 15) for value in before.values())
    moved = torch.full((WORLDS, len(arms)), 0.3)
    robot.write_joint_state(EVERYWHERE, moved, moved, arms)
    for name, term in terms.items():
        torch.testing.assert_close(term(), before[name], atol=0, rtol=0)


def test_history_is_mirrored_for_each_step(env) -> None:
    reflection = Reflection(env, MIRROR)
    width = env.observation_manager.group_obs_dim["actor"][0]
    rows = torch.arange(1.0, width + 1.0).unsqueeze(0)
    image = reflection.group("actor", rows)
    # The first term is a history of five angular velocities: roll and yaw change sign.
    signs = torch.tensor([-1.0, 1.0, -1.0]).repeat(5)
    torch.testing.assert_close(image[0, :15], rows[0, :15] * signs)
    torch.testing.assert_close(reflection.group("actor", image), rows)


def test_the_critic_sees_the_punch_in_the_root_frame(env) -> None:
    punches = instance(env, "punches")
    robot = env.scene.entity("robot")
    pose = robot.data.default_root_state[:, :7].clone()
    pose[:, 3:] = torch.tensor([0.5**0.5, 0.0, 0.0, 0.5**0.5])  # 90 degrees to the left
    robot.write_root_pose_w(EVERYWHERE, pose)
    joints = robot.data.default_joint_pos.clone()
    joints[:, robot.joint_names.index("waist_yaw_joint")] = -0.5 * torch.pi
    robot.write_joint_pos(EVERYWHERE, joints)
    env.sim.forward()
    env.scene.refresh()
    punches.level.fill_(0.7)
    punches.is_punching.copy_(torch.tensor([True, True, True, False]))
    punches.steps_left.copy_(torch.tensor([4, 2, 1, 100]))
    torso = robot.body_names.index("torso_link")
    punches.body.fill_(torso)
    punches.wrench.zero_()
    punches.wrench[:, 0] = 250.0
    seen = env.observation_manager.term("critic/punch")()
    # The torso's x axis is to the pelvis' right, and in the world ahead.
    expected = torch.tensor([0.0, -0.5, 0.0])
    torch.testing.assert_close(seen[0, :3], expected, atol=1e-5, rtol=0)
    force = torch.tensor([250.0, 0.0, 0.0])
    torch.testing.assert_close(punches.wrench_w()[0, :3], force, atol=1e-3, rtol=0)
    # The torso's centre of mass is above the root.
    centre = robot.data.body_com_pos_w[0, torso] - robot.data.root_pos_w[0]
    assert float(seen[0, 3]) * 250.0 == pytest.approx(
        250.0 * float(centre[2]), abs=1e-3
    )
    torch.testing.assert_close(seen[:, 6], torch.full((WORLDS,), 0.7))
    torch.testing.assert_close(seen[:, 7], torch.tensor([0.8, 0.4, 0.2, 0.0]))
    torch.testing.assert_close(seen[:, 8], torch.tensor([0.0, 0.0, 0.0, 2.0]))
    assert not seen[3, :6].any()


def test_the_capture_point_is_that_of_mujoco_s_centre_of_mass(env) -> None:
    term = env.reward_manager.terms["capture_point"]
    assert isinstance(term.instance, capture_point_near_foot)
    robot = env.scene.entity("robot")
    velocity = torch.zeros(WORLDS, 6)
    velocity[:, 0] = torch.tensor([0.0, 0.5, 1.0, -1.5])
    robot.write_root_velocity_w(EVERYWHERE, velocity)
    env.sim.forward()
    env.scene.refresh()
    value = term()
    sites = ("robot/left_foot", "robot/right_foot")
    for world in range(WORLDS):
        _, data = in_mujoco(env, world)
        feet = np.array([data.site(name).xpos for name in sites])
        height = data.subtree_com[0, 2] - feet[:, 2].min()
        point = data.subtree_com[0] + data.subtree_linvel[0] * (height / 9.81) ** 0.5
        apart = np.linalg.norm(point[:2] - feet[:, :2], axis=1).min()
        expected = np.exp(-((max(apart - 0.1, 0.0) / 0.15) ** 2))
        assert float(value[world]) == pytest.approx(expected, abs=2e-3)
    assert float(value[3]) < 0.5


def test_the_gait_does_not_count_while_the_capture_point_is_away_from_the_feet(
    env,
) -> None:
    params = env.reward_manager.terms["gait"].params
    robot = env.scene.entity("robot")
    velocity = torch.zeros(WORLDS, 6)
    velocity[:, 0] = torch.tensor([0.0, 0.3, 1.0, 3.0])
    robot.write_root_velocity_w(EVERYWHERE, velocity)
    env.sim.forward()
    env.scene.refresh()
    near = env.reward_manager.terms["capture_point"]()
    posture = gait_posture(env.cfg.rewards["gait"], env)
    words = ("gait", "command_name", "std_standing", "std_walking", "asset_cfg")
    closeness = posture(env, **{word: params[word] for word in words})
    contact = gait_contact(
        env, params["gait"], params["sensor_name"], params["command_name"]
    )
    found = env.reward_manager.terms["gait"]()
    torch.testing.assert_close(found, near * (closeness + contact) / 2.0)
    assert float(found[0]) > 0.4
    assert float(found[3]) < 1e-4

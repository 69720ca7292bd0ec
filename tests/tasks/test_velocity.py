"""Velocity tasks: published sizes and weights, play, subclasses, peers' faults."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, cast

import mujoco
import pytest
import torch

from mjlab.cli.hardware import choose_learner
from mjlab.envs import ManagerBasedRlEnv, mdp
from mjlab.managers import CommandTermCfg, RewardTermCfg
from mjlab.registry import load_task
from mjlab.sim import Stage
from mjlab.tasks.robots.g1 import G1
from mjlab.tasks.robots.go1 import GO1
from mjlab.tasks.robots.robot import Robot
from mjlab.tasks.robots.symmetry import EquivariantModelCfg
from mjlab.tasks.velocity import (
    VelocityCfg,
    VelocityG1Cfg,
    VelocityG1FlatCfg,
    VelocityGo1FlatCfg,
    g1_rewards,
)
from mjlab.tasks.velocity.commands import TwistCommandCfg
from mjlab.tasks.velocity.mdp import feet_too_close
from mjlab.tasks.velocity.terms import commands, rewards

TASKS = ("Velocity-G1", "Velocity-G1-Flat", "Velocity-Go1", "Velocity-Go1-Flat")
ROBOTS = {"G1": G1, "Go1": GO1}


def make(cfg: Any, num_envs: int = 4) -> ManagerBasedRlEnv:
    cfg.scene.num_envs = num_envs
    cfg.seed = 3
    env = ManagerBasedRlEnv(cfg)
    env.reset()
    return env


@pytest.fixture(scope="module", params=TASKS)
def task(request: pytest.FixtureRequest) -> tuple[str, ManagerBasedRlEnv]:
    return request.param, make(load_task(request.param).env())


def robot_of(name: str) -> Robot:
    return ROBOTS[name.split("-")[1]]


def walk(env: ManagerBasedRlEnv, steps: int, size: float = 0.5) -> None:
    random = torch.Generator().manual_seed(0)
    shape = (env.num_envs, env.action_manager.total_action_dim)
    for _ in range(steps):
        env.step(size * torch.randn(shape, generator=random))


# Sizes of actor, critic and action, and published weights of the shared rewards.

SIZES = {
    # 14 joints of the arms do not act; clock, and assistance for the critic; 9 by 6
    # rays instead of 17 by 11.
    "Velocity-G1": (286 - 14 + 2 - 187 + 54, 298 - 14 + 3 - 187 + 54, 15),
    "Velocity-G1-Flat": (99 - 14 + 2, 112 - 14 + 2, 15),
    # The clock, and 9 by 6 rays instead of 17 by 11.
    "Velocity-Go1": (235 + 2 - 187 + 54, 259 + 2 - 187 + 54, 12),
    "Velocity-Go1-Flat": (48 + 2, 72 + 2, 12),
}
PUBLISHED_WEIGHTS = {
    "track_linear_velocity": 2.0,
    "track_angular_velocity": 2.0,
    "upright": 1.0,
    "pose": 1.0,
    "body_ang_vel": 0.0,
    "angular_momentum": 0.0,
    "dof_pos_limits": -1.0,
    "action_rate_l2": -0.1,
    "air_time": 0.0,
    "foot_clearance": -2.0,
    "foot_swing_height": -0.25,
    "foot_slip": -0.1,
    "soft_landing": -1e-5,
}


def test_sizes_are_those_published(task: tuple[str, ManagerBasedRlEnv]) -> None:
    name, env = task
    observed, _ = env.reset()
    actor, critic, action = SIZES[name]
    shapes = {group: tuple(value.shape) for group, value in observed.items()}  # type: ignore[union-attr]
    assert shapes == {"actor": (4, actor), "critic": (4, critic)}
    assert env.action_manager.total_action_dim == action
    assert env.step_dt == pytest.approx(0.02)
    assert env.max_episode_length == 1000


@pytest.mark.parametrize("robot", ROBOTS.values())
def test_weights_are_those_published(robot: Robot) -> None:
    terms = rewards(robot, rough=True)
    assert {name: term.weight for name, term in terms.items()} == PUBLISHED_WEIGHTS


def test_terms_agree_on_the_order_of_feet(task: tuple[str, ManagerBasedRlEnv]) -> None:
    name, env = task
    model = env.sim.mj_model
    sensor: Any = env.scene.sensor("feet_contact")
    contacts = [_body(model, primary) for primary in sensor.primary_names]
    sites = [f"robot/{site}" for site in robot_of(name).foot_sites]
    # A selection follows the model, so the robot must list its feet in that order.
    ids = [model.site(site).id for site in sites]
    assert ids == sorted(ids)
    assert contacts == [int(model.site_bodyid[i]) for i in ids]


def _body(model: mujoco.MjModel, name: str) -> int:
    """Return the body of that name, or of the geom of that name."""
    body = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, name)
    return body if body >= 0 else int(model.geom_bodyid[model.geom(name).id])


def test_steps_are_finite_and_need_no_second_solve(
    task: tuple[str, ManagerBasedRlEnv],
) -> None:
    _, env = task
    walk(env, 60)
    assert env.sim.forward_stage == Stage.VELOCITY
    figures = env.take_log()
    nonfinite = {k: v for k, v in figures.items() if k.startswith("Health") and v}
    assert nonfinite == {}
    assert bool(env.reward_manager.values.isfinite().all())


# To be watched.


def test_play_has_no_pushes_and_no_time_limit(
    task: tuple[str, ManagerBasedRlEnv],
) -> None:
    name, _ = task
    is_rough = not name.endswith("Flat")
    cfg = load_task(name).play()
    env = make(cfg, 2)
    assert cfg.events["push_robot"] is None
    assert env.curriculum_manager.active_terms == []
    assert env.max_episode_length > 10**9
    ground = env.scene.ground
    assert (ground is not None) == is_rough
    if ground is not None:
        assert (ground.terrain.num_rows, ground.terrain.num_cols) == (5, 7)
    else:
        ranges = _twist(env).ranges
        assert ranges["lin_vel_x"].tolist() == [-1.0, 1.0]
    # Without noise the actor's observations equal the critic's.
    observed: Any = env.reset()[0]
    torch.testing.assert_close(observed["actor"][:, :9], observed["critic"][:, :9])
    assert env.take_log()["Health/nonfinite"] == 0.0


def test_playing_leaves_the_training_config_alone() -> None:
    cfg = VelocityG1Cfg()
    cfg.play()
    assert cfg == VelocityG1Cfg()


def test_worlds_play_on_all_tiles() -> None:
    env = make(load_task("Velocity-Go1").play(), 40)
    ground = env.scene.ground
    assert ground is not None
    before = ground.origins.clone()
    env.reset(mask=torch.arange(40) < 20)
    moved = (ground.origins != before).any(dim=1)
    assert int(moved[:20].sum()) > 10
    assert not moved[20:].any()
    assert set(ground.levels.tolist()) == set(range(5))
    # Robots start at their spawn origins, at most half a metre aside.
    away = env.scene.entity("robot").data.root_pos_w - ground.origins
    assert float(away[:, :2].abs().max()) <= 0.5


@pytest.mark.parametrize(
    ("name", "height"), [("Velocity-Go1", 0.28), ("Velocity-G1", 0.76)]
)
def test_rays_that_start_three_metres_above_reach_the_ground(
    name: str, height: float
) -> None:
    env = make(load_task(name).env(), 8)
    distances: Any = env.scene.sensor("terrain_scan").data
    middle = distances.distances.median(dim=1).values
    # The ground is level where a robot starts.
    torch.testing.assert_close(
        middle, torch.full((8,), 3.0 + height), atol=0.1, rtol=0.0
    )


def test_feet_that_are_close_together_seen_from_the_front_have_a_cost() -> None:
    # Left and right foot of four robots: apart, at half of the distance, crossed, and
    # one ahead of the other, with headings of 0 and 90 degrees.
    feet = torch.tensor(
        [
            [[0.0, 0.1, 0.0], [0.0, -0.1, 0.0]],
            [[0.3, 0.05, 0.0], [0.0, -0.05, 0.0]],
            [[0.0, -0.1, 0.0], [0.0, 0.1, 0.0]],
            [[-0.05, 0.4, 0.0], [0.05, 0.0, 0.0]],
        ]
    )
    heading = torch.tensor([0.0, 0.0, 0.0, math.pi / 2])
    data = SimpleNamespace(site_pos_w=feet, heading_w=heading)
    robot = SimpleNamespace(entity=SimpleNamespace(data=data), site_ids=slice(None))
    cost = feet_too_close(cast(Any, None), 0.2, cast(Any, robot))
    torch.testing.assert_close(cost, torch.tensor([0.0, 0.5, 2.0, 0.5]))


# Subclasses.


def my_rewards() -> dict[str, RewardTermCfg | None]:
    terms = g1_rewards(rough=False)
    terms["action_rate_l2"].weight = -0.2
    return terms | {"alive": RewardTermCfg(func=mdp.is_alive), "foot_slip": None}


def my_commands() -> dict[str, CommandTermCfg | None]:
    twist = TwistCommandCfg(
        resampling_time_range=(2.0, 2.0),
        ranges=mdp.UniformVelocityCommandCfg.Ranges(
            lin_vel_x=(0.5, 0.5), lin_vel_y=(0.0, 0.0), ang_vel_z=(0.0, 0.0)
        ),
    )
    return {**commands(), "twist": twist}


@dataclass(kw_only=True)
class MyG1Cfg(VelocityG1FlatCfg):
    rewards: dict[str, RewardTermCfg | None] = field(default_factory=my_rewards)
    commands: dict[str, CommandTermCfg | None] = field(default_factory=my_commands)
    episode_length_s: float = 7.0


def test_user_task_is_a_subclass() -> None:
    env = make(MyG1Cfg())
    walk(env, 2)
    manager = env.reward_manager
    assert float(manager.weight("action_rate_l2")) == pytest.approx(-0.2)
    assert "foot_slip" not in manager.active_terms
    alive = manager.active_terms.index("alive")
    assert float(manager.values[0, alive]) == 1.0
    assert env.command_manager.get_command("twist").tolist() == [[0.5, 0.0, 0.0]] * 4
    assert env.max_episode_length == 350
    # And play belongs to the subclass.
    assert isinstance(MyG1Cfg().play(), MyG1Cfg)


def test_configs_share_no_objects() -> None:
    factories: list[Callable[[], VelocityCfg]] = [VelocityG1Cfg, VelocityGo1FlatCfg]
    for factory in factories:
        first, second = factory(), factory()
        assert first == second
        first.rewards["upright"].params.clear()  # type: ignore[union-attr]
        first.observations["actor"].terms["command"].noise = 1  # type: ignore[union-attr,assignment]
        first.scene.entities["robot"].init_state.pos = (9.0, 9.0, 9.0)
        assert second == factory()


# Faults of peers.


def _twist(env: ManagerBasedRlEnv) -> Any:
    return env.command_manager.term("twist")


def test_forward_commands_have_no_sideways_velocity_or_heading() -> None:
    env = make(VelocityGo1FlatCfg(), 64)
    term = _twist(env)
    seen = {"forward": 0, "heading": 0, "standing": 0}
    for _ in range(40):
        # Every command is due, and robots have random headings.
        term.state()["ends"].fill_(0)
        walk(env, 1)
        forward, heading, standing = term.is_forward, term.is_heading, term.is_standing
        assert not (forward & heading).any() and not (standing & heading).any()
        straight = term.command[forward]
        assert not straight[:, 1:].any() and bool((straight[:, 0] >= 0.0).all())
        assert not term.command[standing].any()
        seen["forward"] += int(forward.sum())
        seen["heading"] += int(heading.sum())
        seen["standing"] += int(standing.sum())
    shares = {name: count / (64 * 40) for name, count in seen.items()}
    assert shares == pytest.approx(
        {"forward": 0.2, "heading": 0.3, "standing": 0.1}, abs=0.03
    )


def test_faster_commands_come_with_the_stages() -> None:
    env = make(VelocityGo1FlatCfg())
    ranges = _twist(env).ranges

    def after(iterations: int) -> tuple[list[float], list[float]]:
        env.common_step_counter.fill_(24 * iterations)
        env.reset()
        forward, turning = ranges["lin_vel_x"].tolist(), ranges["ang_vel_z"].tolist()
        return forward, [round(x, 6) for x in turning]

    assert after(4999) == ([-1.0, 1.0], [-0.5, 0.5])
    assert after(5000) == ([-1.5, 2.0], [-0.7, 0.7])
    assert after(10000) == ([-2.0, 3.0], [-0.7, 0.7])


def test_a_worlds_feet_share_one_friction() -> None:
    env = make(load_task("Velocity-Go1-Flat").env(), 64)
    model = env.sim.mj_model
    feet = [model.geom(f"robot/{name}").id for name in GO1.foot_geoms]
    friction = env.sim.model.geom_friction
    bounds = ((0.3, 1.5), (1e-4, 2e-2), (1e-5, 5e-3))
    for axis, (low, high) in enumerate(bounds):
        values = friction[:, feet, axis]
        assert bool((values == values[:, :1]).all())
        assert low <= float(values.min()) and float(values.max()) <= high
        assert len(values[:, 0].unique()) > 60
    # The logarithm of the last is uniform: half of all are below the geometric mean.
    below = float((friction[:, feet[0], 2] < math.sqrt(1e-5 * 5e-3)).float().mean())
    assert below == pytest.approx(0.5, abs=0.2)
    others = [i for i in range(model.ngeom) if i not in feet]
    compiled = torch.from_numpy(model.geom_friction[others]).float()
    torch.testing.assert_close(friction[:, others], compiled.expand(64, -1, -1))


def test_a_standing_robot_counts_as_standing(
    task: tuple[str, ManagerBasedRlEnv],
) -> None:
    """Zero actions hold the default pose, in which a robot lands on its feet."""
    name, _ = task
    env = make(load_task(name).play(), 4)
    for _ in range(15):
        env.step(torch.zeros(4, env.action_manager.total_action_dim))
    tilt = env.scene.entity("robot").data.gravity_b[:, 2]
    assert bool((tilt < -0.9).all())


# Learners.


@pytest.mark.parametrize(("name", "iterations"), [("G1", 30_000), ("Go1", 10_000)])
def test_learning_is_as_published(name: str, iterations: int) -> None:
    make_rl = load_task(f"Velocity-{name}").rl
    assert make_rl is not None
    rl = make_rl()
    assert (rl.num_steps_per_env, rl.max_iterations) == (24, iterations)
    assert rl.actor.hidden_dims == rl.critic.hidden_dims == (512, 256, 128)
    assert rl.actor.obs_normalization and rl.critic.obs_normalization
    ppo = rl.algorithm
    assert (ppo.gamma, ppo.lam, ppo.clip_param) == (0.99, 0.95, 0.2)
    assert (ppo.learning_rate, ppo.desired_kl, ppo.entropy_coef) == (1e-3, 0.01, 0.01)
    assert (ppo.num_learning_epochs, ppo.num_mini_batches) == (5, 4)


@pytest.mark.parametrize("name", ["Velocity-G1-Flat", "Velocity-Go1-Flat"])
def test_a_gpu_learns_flat_ground_with_the_settings_proven_on_a_cpu(name: str) -> None:
    task = load_task(name)
    assert task.rl is not None and task.on_cpu is not None
    learners = [choose_learner(task, on_gpu=on_gpu)() for on_gpu in (True, False)]
    assert learners[0] == learners[1]
    assert isinstance(learners[0].actor, EquivariantModelCfg)

"""Schedules and levels: written values and logs."""

from typing import Any

import pytest
import torch

from mjlab.managers.command import CommandManager
from mjlab.managers.curriculum import CurriculumManager, CurriculumTermCfg
from mjlab.managers.event import EventManager, EventTermCfg
from mjlab.managers.reward import RewardManager, RewardTermCfg
from mjlab.managers.term import TermError
from mjlab.managers.termination import TerminationManager, TerminationTermCfg
from mjlab.mdp import curriculums as mdp
from mjlab.mdp.events import push_by_setting_velocity
from mjlab.mdp.velocity_command import UniformVelocityCommandCfg, VelocityRanges
from tests.mdp.test_events import hills
from tests.worlds.fake_env import FakeEnv
from tests.worlds.small_world import small_world


def rate(env: Any, std: float = 0.5) -> torch.Tensor:
    return torch.ones(env.num_envs) * std


def succeeded(env: Any) -> torch.Tensor:
    return torch.zeros(env.num_envs, dtype=torch.bool)


def commands() -> dict[str, Any]:
    ranges = VelocityRanges(
        lin_vel_x=(-1.0, 1.0), lin_vel_y=(0.0, 0.0), ang_vel_z=(-1.0, 1.0)
    )
    return {
        "twist": UniformVelocityCommandCfg(
            resampling_time_range=(5.0, 5.0), ranges=ranges
        )
    }


def world(num_envs: int = 4, **kwargs: Any) -> FakeEnv:
    """Worlds with a reward, a termination, a command and an event."""
    env: Any = small_world(num_envs, **kwargs)
    env.reward_manager = RewardManager(
        {"rate": RewardTermCfg(func=rate, weight=-1.0, params={"std": 0.5})}, env
    )
    env.termination_manager = TerminationManager(
        {"success": TerminationTermCfg(func=succeeded)}, env
    )
    env.command_manager = CommandManager(commands(), env)
    push = EventTermCfg(
        func=push_by_setting_velocity,
        mode="interval",
        interval_range_s=(1.0, 2.0),
        params={"velocity_range": {"x": (-1.0, 1.0)}},
    )
    env.event_manager = EventManager({"push": push}, env)
    return env


def bound(env: Any, func: Any, **params: Any) -> CurriculumManager:
    term = CurriculumTermCfg(func=func, params=params)
    return CurriculumManager({"term": term, "off": None}, env)


# --- Schedules ------------------------------------------------------------------------


def followed(env: Any, curriculum: CurriculumManager, steps: list[int]) -> list[float]:
    """Return the log at some steps of the environment."""
    values = []
    for step in steps:
        env.common_step_counter.fill_(step)
        curriculum.compute(env.mask())
        values.append(float(curriculum.log_values()["Curriculum/term"]))
    return values


def test_a_weight_follows_its_stages_and_the_config_does_not():
    env: Any = world()
    stages = [(10, -2.0), (20, -3.0)]
    curriculum = bound(
        env, mdp.reward_weight_schedule, reward_name="rate", stages=stages
    )
    values = followed(env, curriculum, [0, 9, 10, 19, 20, 1000])
    assert values == [-1.0, -1.0, -2.0, -2.0, -3.0, -3.0]
    assert env.reward_manager.compute(1.0).tolist() == [-1.5] * 4
    assert env.reward_manager.term("rate").cfg.weight == -1.0
    assert stages == [(10, -2.0), (20, -3.0)]


def test_value_changes_linearly_between_stages():
    env: Any = world()
    curriculum = bound(
        env,
        mdp.schedule,
        target="reward/rate/std",
        stages=[(10, 1.0), (20, 3.0), (30, 2.0)],
        interpolation="linear",
    )
    values = followed(env, curriculum, [0, 10, 15, 20, 24, 30, 99])
    assert values == pytest.approx([0.5, 1.0, 2.0, 3.0, 2.6, 2.0, 2.0])
    env.common_step_counter.fill_(15)
    curriculum.compute(env.mask())
    assert env.reward_manager.compute(1.0).tolist() == pytest.approx([-2.0] * 4)


def test_stages_of_mjlab_set_weight_and_parameters_of_a_reward():
    """Expected values by hand: a stage applies from its step until a later one."""
    env: Any = world()
    env.extras = {"log": {}}
    stages = [
        {"step": 0, "weight": -1.0},
        {"step": 10, "weight": -2.0, "params": {"std": 0.25}},
        {"step": 20, "params": {"std": 2.0}},
    ]
    curriculum = bound(env, mdp.reward_curriculum, reward_name="rate", stages=stages)
    seen = []
    for step in (0, 9, 10, 20, 99):
        env.common_step_counter.fill_(step)
        curriculum.compute(env.mask())
        log = env.extras["log"]
        names = ("weight", "std")
        seen.append([float(log[f"Curriculum/term/{name}"]) for name in names])
    assert seen == [[-1, 0.5], [-1, 0.5], [-2, 0.25], [-2, 2], [-2, 2]]


def test_stages_that_change_nothing_are_an_error():
    env: Any = world()
    with pytest.raises(ValueError, match="No stage changes 'rate'"):
        bound(env, mdp.reward_curriculum, reward_name="rate", stages=[{"step": 0}])


def test_a_range_of_a_command_follows_its_stages():
    env: Any = world(64)
    curriculum = bound(
        env,
        mdp.command_range_schedule,
        command_name="twist",
        range_name="lin_vel_x",
        stages=[(0, (0.5, 0.5)), (10, (2.0, 3.0))],
    )
    assert followed(env, curriculum, [0, 10]) == [0.5, 3.0]
    env.command_manager.reset(env.everyone)
    env.command_manager.compute(0.0)
    forward = env.command_manager.get_command("twist")[:, 0]
    assert forward.min() >= 2.0 and forward.max() <= 3.0


def test_a_weight_can_be_changed_once():
    env: Any = world()
    curriculum = bound(
        env, mdp.modify_reward_weight, term_name="rate", weight=-5.0, num_steps=100
    )
    assert followed(env, curriculum, [0, 99, 100]) == [-1.0, -1.0, -5.0]


# --- Adaptive -------------------------------------------------------------------------


def adaptive(env: Any, **params: Any) -> CurriculumManager:
    defaults: dict[str, Any] = {
        "target": "reward/rate/weight",
        "start": 0.0,
        "end": -2.0,
        "lower_below": 0.2,
        "raise_above": 0.8,
        "step": 0.25,
        "min_episodes": 4,
    }
    return bound(env, mdp.adaptive, **{**defaults, **params})


def test_a_level_rises_with_good_episodes_and_falls_with_bad_ones():
    env: Any = world()
    env.episode_length_buf.fill_(50)
    scores = torch.tensor([1.0, 1.0, 0.9, 0.9])
    curriculum = adaptive(env, figure=lambda env: scores)
    weight = env.reward_manager.weight("rate")
    assert curriculum.couples_worlds == ("term",)
    assert weight == 0.0
    curriculum.compute(env.mask(0, 1))
    curriculum.compute(env.mask(2))
    assert weight == 0.0  # Three episodes are too few.
    curriculum.compute(env.mask(0, 2))
    assert weight == -0.5
    for _ in range(10):
        curriculum.compute(env.everyone)
    assert weight == -2.0
    scores.fill_(0.5)
    curriculum.compute(env.everyone)
    assert weight == -2.0
    scores.fill_(0.1)
    curriculum.compute(env.everyone)
    assert weight == -1.5


def test_a_mean_counts_each_episode_once_and_only_complete_episodes():
    env: Any = world()
    env.episode_length_buf.copy_(torch.tensor([0, 5, 5, 5]))
    scores = torch.tensor([0.0, 1.0, float("nan"), 0.7])
    curriculum = adaptive(env, figure=lambda env: scores, min_episodes=2)
    curriculum.compute(env.everyone)
    # The mean of 1 and 0.7 is above 0.8; with the world that has not begun it is not.
    assert env.reward_manager.weight("rate") == -0.5


@pytest.mark.parametrize("figure", ["return", "length", "termination/success"])
def test_episodes_can_be_judged_by_return_length_or_success(figure: str):
    env: Any = world()
    env.episode_length_buf.fill_(10)
    env.reward_manager.episode_sums.fill_(10.0)
    env.termination_manager.get_term("success").fill_(True)
    high = {"return": 9.0, "length": 9.0, "termination/success": 0.9}[figure]
    curriculum = adaptive(env, figure=figure, raise_above=high, lower_below=0.0)
    curriculum.compute(env.everyone)
    assert env.reward_manager.weight("rate") == -0.5
    assert not torch.equal(
        next(iter(curriculum.log_values().values())), torch.zeros(())
    )


# --- Terrain --------------------------------------------------------------------------


def test_terrain_level_follows_the_walked_distance():
    env: Any = world(6, terrain=hills())
    ground = env.scene.ground
    ground.levels.copy_(torch.tensor([1, 1, 1, 1, 1, 0]))
    ground.move(*torch.zeros(2, 6, dtype=torch.bool), stream="none")
    command = env.command_manager.get_command("twist")
    command.zero_()
    command[:, 0] = 0.5  # Over 10 s that asks for 5 m.
    env.episode_length_buf.fill_(500)
    # Half a tile of 4 m is far; half of what was asked for is 2.5 m.
    walked = torch.tensor([2.1, 1.9, 2.1, 0.1, 2.6, 0.1])
    pose = env.scene.entity("robot").data.default_root_state[:, :7].clone()
    pose[:, :3] += ground.origins
    pose[:, 0] += 0.6 * walked
    pose[:, 1] -= 0.8 * walked
    env.scene.entity("robot").write_root_pose_w(env.everyone, pose)
    env.episode_length_buf[2] = 0  # Its first reset ends no episode.
    curriculum = bound(env, mdp.terrain_levels)
    curriculum.compute(env.mask(0, 1, 2, 4, 5))
    assert ground.levels.tolist() == [2, 0, 1, 1, 2, 0]
    origins = torch.tensor(ground.terrain.origins).float()
    expected = origins[ground.levels, ground.columns]
    torch.testing.assert_close(ground.origins, expected)
    logged = curriculum.log_values()["Curriculum/term"]
    assert logged == pytest.approx(1.0)


def test_worlds_move_up_after_a_time_out_and_down_after_an_early_failure():
    env: Any = world(7, terrain=hills())
    ground = env.scene.ground
    ground.levels.fill_(1)
    env.max_episode_length = 1000
    lengths = [1000, 400, 499, 500, 1000, 0, 1000]
    env.episode_length_buf.copy_(torch.tensor(lengths))
    ends = env.termination_manager
    # Worlds: time limit, left the terrain, early and late failure, failure at the time
    # limit, first reset, and an episode that does not end.
    ends.time_outs.copy_(torch.tensor([1, 1, 0, 0, 1, 1, 1]) > 0)
    ends.terminated.copy_(torch.tensor([0, 0, 1, 1, 1, 0, 0]) > 0)
    curriculum = bound(env, mdp.terrain_levels_by_survival)
    curriculum.compute(env.mask(0, 1, 2, 3, 4, 5))
    assert ground.levels.tolist() == [2, 2, 0, 1, 1, 1, 1]


def test_worlds_beyond_the_last_level_move_to_a_random_level():
    env: Any = world(64, terrain=hills())
    ground = env.scene.ground
    ground.levels.fill_(2)
    env.episode_length_buf.fill_(500)
    curriculum = bound(
        env,
        mdp.terrain_levels,
        walked=lambda env: torch.full((64,), 10.0),
        commanded=lambda env: torch.zeros(64),
    )
    curriculum.compute(env.mask(*range(32)))
    assert set(ground.levels[:32].tolist()) == {0, 1, 2}
    assert set(ground.levels[32:].tolist()) == {2}


# --- Errors and cost ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("func", "params", "message"),
    [
        (
            mdp.reward_weight_schedule,
            {"reward_name": "rat", "stages": [(0, 1.0)]},
            "There is no reward term 'rat'. Valid names, nearest first: 'rate'.",
        ),
        (
            mdp.schedule,
            {"target": "reward/rate/stdd", "stages": [(0, 1.0)]},
            "Reward term 'rate' has no parameter 'stdd'. Valid names, nearest first: "
            "'std'.",
        ),
        (
            mdp.schedule,
            {"target": "rewards/rate/std", "stages": [(0, 1.0)]},
            "'rewards/rate/std': there is no manager 'rewards'. Valid names, nearest "
            "first: 'reward', ",
        ),
        (
            mdp.schedule,
            {"target": "rate", "stages": [(0, 1.0)]},
            "'rate' is not an address; it has to be '<manager>/<term>/<parameter>', "
            "such as 'reward/alive/weight'.",
        ),
        (
            mdp.command_range_schedule,
            {"command_name": "twist", "range_name": "lin_x", "stages": [(0, (0, 1))]},
            "Command 'twist' has no range 'lin_x' to change. Valid names, nearest "
            "first: 'lin_vel_x', ",
        ),
        (
            mdp.reward_weight_schedule,
            {"reward_name": "rate", "stages": [(10, 1.0), (5, 2.0)]},
            "stages start at steps [10, 5]; give at least one, in ascending order.",
        ),
        (
            mdp.reward_weight_schedule,
            {"reward_name": "rate", "stages": [(10, (1.0, 2.0))]},
            "(1.0, 2.0) has shape (2,); it has to have the shape of the parameter, ().",
        ),
        (
            mdp.terrain_levels,
            {},
            "terrain_levels needs generated terrain: set scene.terrain to a TerrainCfg "
            "with kind='generator'.",
        ),
    ],
)
def test_invalid_curriculum_is_an_error(
    func: Any, params: dict[str, Any], message: str
):
    with pytest.raises(TermError) as error:
        bound(world(2), func, **params)
    text = str(error.value).removeprefix("Curriculum term 'term': ")
    assert text.startswith(message)

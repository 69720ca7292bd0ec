"""A resumed run applies the settings that the user changes."""

from pathlib import Path
from typing import Any

import pytest
import torch

from mjlab.envs import mdp
from mjlab.managers import CurriculumTermCfg, RewardTermCfg
from mjlab.registry import load_task
from mjlab.rl import GaussianCfg, PpoCfg, RndCfg, TrainingLoop
from mjlab.rl.changed_settings import find_changes
from mjlab.runs import CheckpointError
from mjlab.runs.settings import task_text
from mjlab.settings.file import Settings, settings_text
from tests.worlds.rl_runs import agent_cfg, differing, env_cfg, flat_state, make_loop


def loop_of(agent, folder: Path, env=None) -> TrainingLoop:
    """A training loop with its configuration in a file, as in a run's folder."""
    text = task_text("Some-Task", {"env": env or env_cfg(), "agent": agent})
    if not (folder / "config.json").exists():
        (folder / "config.json").write_text(text)
    return make_loop(agent, folder=folder / "checkpoints", env=env, config_text=text)


def trained(folder: Path, iterations: int = 2, env=None, **algorithm) -> TrainingLoop:
    loop = loop_of(agent(iterations, **algorithm), folder, env)
    loop.run()
    return loop


def agent(iterations: int = 4, **algorithm) -> Any:
    settings = {"num_learning_epochs": 2, "num_mini_batches": 2} | algorithm
    return agent_cfg(iterations, algorithm=PpoCfg(**settings))


def optimizer_in(folder: Path, iteration: int) -> dict:
    """The optimiser's state in a checkpoint, read with torch alone."""
    file = folder / "checkpoints" / f"model_{iteration:06d}.pt"
    data = torch.load(file, weights_only=True)
    return data["learner"]["algorithm"]["optimizer_state_dict"]


def test_field_added_after_the_run_is_not_a_change() -> None:
    """Term parameters and dictionary entries also apply, including new ones."""
    names = {"env": "Cfg", "env.events.push": "EventTermCfg"}
    old = {"env.seed": 1, "env.ranges": {"x": 1.0}}
    new = {"env.seed": 2, "env.is_new": True, "env.ranges": {"x": 1.0, "y": 2.0}}
    new["env.events.push.params.size"] = 3.0
    before, after = (settings_text("T", Settings(v, names)) for v in (old, new))
    assert {p: (c.before, c.after) for p, c in find_changes(before, after).items()} == {
        "env.seed": (1, 2),
        "env.ranges.y": (None, 2.0),
        "env.events.push.params.size": (None, 3.0),
    }


def test_a_fixed_learning_rate_that_changes_reaches_the_optimiser(tmp_path):
    trained(tmp_path, schedule="fixed")
    second = loop_of(agent(3, schedule="fixed", learning_rate=1e-4), tmp_path)
    second.resume(tmp_path)
    assert second.changes == [
        "agent.max_iterations 2 -> 3",
        "agent.algorithm.learning_rate 0.001 -> 0.0001",
    ]
    second.run()
    assert [g["lr"] for g in optimizer_in(tmp_path, 3)["param_groups"]] == [1e-4]
    # Moments are those of the run: a new optimiser would have made 4 steps.
    assert optimizer_in(tmp_path, 3)["state"][0]["step"] == 3 * 4


def test_an_adaptive_learning_rate_continues_from_the_value_that_is_typed(tmp_path):
    trained(tmp_path, schedule="adaptive", learning_rate=2e-3)
    (moved,) = [g["lr"] for g in optimizer_in(tmp_path, 2)["param_groups"]]
    assert moved != 2e-3
    again = loop_of(agent(2, learning_rate=2e-3), tmp_path)
    again.resume(tmp_path)
    assert (again.learner.learning_rate, again.changes) == (moved, [])
    name = "agent.algorithm.learning_rate"
    typed = loop_of(agent(3, learning_rate=2e-3), tmp_path)
    typed.resume(tmp_path, chosen=[name])
    assert typed.learner.learning_rate == 2e-3
    assert typed.changes[-1] == f"{name} {moved:.4g} -> 0.002"
    typed.run()
    # The schedule multiplies or divides by 1.5, at most once in each of 4 minibatches.
    (rate,) = [g["lr"] for g in optimizer_in(tmp_path, 3)["param_groups"]]
    assert any(rate == pytest.approx(2e-3 * 1.5**power) for power in range(-4, 5))


def test_fixed_schedule_keeps_the_current_learning_rate(tmp_path):
    trained(tmp_path, schedule="adaptive", learning_rate=2e-3)
    (moved,) = [g["lr"] for g in optimizer_in(tmp_path, 2)["param_groups"]]
    second = loop_of(agent(4, schedule="fixed", learning_rate=2e-3), tmp_path)
    second.resume(tmp_path)
    assert "agent.algorithm.schedule adaptive -> fixed" in second.changes
    second.run()
    assert [g["lr"] for g in optimizer_in(tmp_path, 4)["param_groups"]] == [moved]


@pytest.mark.parametrize("kind", ["scalar", "log"])
def test_the_action_noise_that_changes_is_in_the_policy(tmp_path, kind):
    def noisy(std):
        cfg = agent(2)
        cfg.actor.distribution_cfg = GaussianCfg(init_std=std, std_type=kind)
        return cfg

    loop_of(noisy(1.0), tmp_path).run()
    second = loop_of(noisy(0.25), tmp_path)
    second.resume(tmp_path)
    second.learner.algorithm.act(second.worlds.get_observations())
    assert float(second.learner.action_std) == pytest.approx(0.25)
    (line,) = second.changes
    assert line.startswith("agent.actor.distribution_cfg.init_std ")
    assert line.endswith(" -> 0.25")


def test_the_learning_rate_of_curiosity_that_changes_reaches_its_optimiser(tmp_path):
    def curious(rate):
        cfg = agent(1, rnd_cfg=RndCfg(weight=1.0, learning_rate=rate))
        cfg.obs_groups = {**cfg.obs_groups, "rnd_state": ("actor",)}
        return cfg

    loop_of(curious(1e-3), tmp_path).run()
    second = loop_of(curious(1e-5), tmp_path)
    second.resume(tmp_path)
    curiosity: Any = second.learner.algorithm
    assert curiosity.rnd.optimizer.param_groups[0]["lr"] == 1e-5
    assert second.changes == ["agent.algorithm.rnd_cfg.learning_rate 0.001 -> 1e-05"]


def test_inexact_resume_with_another_optimiser_starts_without_moments(
    tmp_path,
):
    trained(tmp_path, optimizer="adam")
    second = loop_of(agent(3, optimizer="sgd", learning_rate=3e-4), tmp_path)
    with pytest.raises(CheckpointError, match=r"optimizer adam -> sgd.*--no-exact"):
        second.resume(tmp_path)
    second.resume(tmp_path, exact=False)
    second.run()
    saved = optimizer_in(tmp_path, 3)
    assert "momentum" in saved["param_groups"][0]
    assert "betas" not in saved["param_groups"][0]


def worlds(smooth=1.0, numbers=(0.0, 1.0), far=0.1) -> Any:
    """Cartpoles in which curricula change a weight and a range."""
    cfg: Any = env_cfg()
    cfg.rewards["smooth"].weight = smooth
    cfg.rewards["alive"] = RewardTermCfg(func=mdp.is_alive, weight=1.0)
    cfg.commands["numbers"] = mdp.UniformVectorCommandCfg(
        ranges=[numbers], resampling_time_range=(1.0, 1.0)
    )
    cfg.events["reset_slider"].params["position_range"] = (-far, far)
    targets = {
        "reward/alive/weight": 0.5,
        "event/reset_slider/position_range": (-0.75, 0.75),
    }
    for name, value in targets.items():
        params = {"target": name, "stages": ((6, value),)}
        cfg.curriculum[name.split("/")[1]] = CurriculumTermCfg(
            func=mdp.schedule, params=params
        )
    return cfg


def test_settings_of_the_worlds_that_change_replace_the_saved_ones(tmp_path):
    trained(tmp_path, env=worlds())
    second = loop_of(agent(2), tmp_path, env=worlds(2.0, (3.0, 4.0), 0.25))
    second.resume(tmp_path)
    env = second.env
    assert float(env.reward_manager.weight("smooth")) == 2.0
    assert env.command_manager.term("numbers").ranges.tolist() == [[3.0, 4.0]]
    far = env.event_manager.term("reset_slider").params["position_range"]
    assert far.tolist() == [-0.25, 0.25]
    # A weight changed by a curriculum but not by the user is kept.
    assert float(env.reward_manager.weight("alive")) == 0.5
    assert sorted(second.changes) == [
        "env.commands.numbers.ranges [[0.0, 1.0]] -> [[3.0, 4.0]]",
        "env.events.reset_slider.params.position_range [-0.75, 0.75] -> [-0.25, 0.25]",
        "env.rewards.smooth.weight 1 -> 2",
    ]


def test_a_typed_weight_replaces_the_value_of_the_curriculum(tmp_path):
    trained(tmp_path, env=worlds())
    second = loop_of(agent(2), tmp_path, env=worlds())
    second.resume(tmp_path, chosen=["env.rewards.alive.weight"])
    assert float(second.env.reward_manager.weight("alive")) == 1.0
    assert second.changes == ["env.rewards.alive.weight 0.5 -> 1"]


def test_inexact_resume_continues_schedules_with_another_number_of_worlds(tmp_path):
    trained(tmp_path, env=worlds())
    cfg = worlds()
    cfg.scene.num_envs = 5
    second = loop_of(agent(3), tmp_path, env=cfg)
    assert float(second.env.reward_manager.weight("alive")) == 1.0
    steps = 2 * second.cfg.num_steps_per_env
    assert steps > 6, "the stage of the schedule"
    second.resume(tmp_path, exact=False)
    assert int(second.env.common_step_counter) == steps
    second.run()
    assert float(second.env.reward_manager.weight("alive")) == 0.5
    assert int(second.env.common_step_counter) == 3 * second.cfg.num_steps_per_env


def test_inexact_resume_continues_on_the_same_terrain_levels(tmp_path):
    def rough(num_envs: int) -> Any:
        cfg = load_task("Velocity-Go1").env()
        cfg.scene.num_envs = num_envs
        return cfg

    cfg = load_task("Velocity-Go1").rl()
    cfg.max_iterations, cfg.num_steps_per_env = 1, 2
    first = loop_of(cfg, tmp_path, env=rough(4))
    ground = first.env.scene.ground
    ground.levels.copy_(torch.tensor([3, 0, 9, 5]))
    first.run()
    second = loop_of(cfg, tmp_path, env=rough(6))
    second.resume(tmp_path, exact=False)
    env = second.env
    assert env.scene.ground.levels.tolist() == [3, 0, 9, 5, 3, 0]
    away = env.scene["robot"].data.root_pos_w - env.scene.ground.origins
    assert float(away[:, :2].abs().max()) < 1.0
    fresh = loop_of(cfg, tmp_path, env=rough(6)).env.scene.ground.origins
    assert not torch.equal(fresh, env.scene.ground.origins)


def other(what) -> Any:
    cfg: Any = env_cfg()
    if what == "seed":
        cfg.seed = 5
    if what == "num_envs":
        cfg.scene.num_envs = 4
    if what == "init_state":
        cfg.scene.entities["cartpole"].init_state.joint_pos = {"slider": 0.5}
    return cfg


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("seed", "env.seed 3 -> 5"),
        ("num_envs", "env.scene.num_envs 8 -> 4"),
        ("init_state", "env.scene.entities.cartpole.init_state"),
    ],
)
def test_settings_fixed_in_an_exact_resume_are_refused_in_one_line(
    tmp_path, what, said
):
    trained(tmp_path)
    second = loop_of(agent(3), tmp_path, env=other(what))
    before = flat_state(second)
    with pytest.raises(CheckpointError) as refusal:
        second.resume(tmp_path)
    assert str(refusal.value).startswith(said)
    assert str(refusal.value).endswith(
        "--no-exact (in Python exact=False) starts new episodes with the new value."
    )
    assert "\n" not in str(refusal.value)
    assert differing(before, flat_state(second)) == []
    second.resume(tmp_path, exact=False)
    assert second.iteration == 2


@pytest.mark.parametrize(
    ("metric", "expected"), [("Train/mean_reward", 7.0), ("Loss/value", None)]
)
def test_the_best_score_of_another_metric_is_discarded(tmp_path, metric, expected):
    first = loop_of(agent(1), tmp_path)
    first.run()
    first._scores.best = 7.0
    first.save()
    cfg = agent(1)
    cfg.stop.metric = metric
    second = loop_of(cfg, tmp_path)
    second.resume(tmp_path)
    assert second._scores.best == expected

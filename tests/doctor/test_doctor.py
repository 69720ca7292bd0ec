"""Each fault is found where it is planted, and none where a training went well."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from mjlab.cli.doctor import course_of, examine, try_remedy
from mjlab.cli.train import train
from mjlab.doctor import Diagnosis, listing, ordered
from mjlab.doctor.acting import (
    Acting,
    _walks,
    examine_acting,
    examine_weights,
    roll,
)
from mjlab.doctor.training import Course, examine_training
from mjlab.doctor.watch import WatchedDisplay
from mjlab.envs import ManagerBasedRlEnv, Policy
from mjlab.mdp import UniformVelocityCommand
from mjlab.registry import load_task
from mjlab.report import render
from mjlab.rl import RunFolder
from mjlab.rl.console import Progress
from mjlab.rl.logging import METRICS, JsonlWriter
from mjlab.rl.metrics_file import Metrics, Series, read_metrics
from scripts import doctor
from tests.rl.test_train import Quiet
from tests.worlds import doctor_runs
from tests.worlds.doctor_runs import Does, planted, train_course
from tests.worlds.rl_runs import env_cfg

FAULTS = [
    "ending_pays",
    "dead_term",
    "drowning_term",
    "sign",
    "noise_explodes",
    "noise_gone",
    "rate_at_bound",
    "value_loss",
    "one_end",
    "nonfinite",
    "mostly_learning",
]
QUICK = ("dead_term", "sign", "one_end")

# Of these, the rest of the run is as short as the fault, and says more than the fault.
OF_SHORT_RUNS = {"noise_gone", "value_loss", "rate_at_bound", "mostly_learning"}


def kinds(findings: list[Diagnosis]) -> set[str]:
    return {one.kind for one in findings}


@pytest.mark.parametrize(
    "kind",
    [k if k in QUICK else pytest.param(k, marks=pytest.mark.slow) for k in FAULTS],
)
def test_a_fault_planted_in_a_small_training_is_found(
    kind: str, tmp_path: Path
) -> None:
    course = train_course(tmp_path, getattr(doctor_runs, kind))
    found = examine_training(course)
    assert kind in kinds(found)
    (one,) = [one for one in found if one.kind == kind]
    # What is proposed names parts that there are.
    env, agent = planted(getattr(doctor_runs, kind))
    for name in one.settings:
        part: Any = {"env": env, "agent": agent}
        for step in name.replace("-", "_").split("."):
            part = part[step] if isinstance(part, dict) else getattr(part, step)


@pytest.mark.slow
def test_a_small_training_without_a_fault_has_none_of_them(tmp_path: Path) -> None:
    found = kinds(examine_training(train_course(tmp_path, doctor_runs.nothing)))
    assert found <= OF_SHORT_RUNS


HEALTHY = [
    "cartpole/trained/Cartpole-Balance",
    "velocity/trained/Velocity-Go1-Flat",
    "velocity/trained/Velocity-G1-Gait",
    "muscle/trained/Muscle-Walk-W18",
]
TASKS = Path(__file__).resolve().parents[2] / "tasks"


@pytest.mark.parametrize("place", HEALTHY)
def test_the_figures_of_a_training_that_went_well_show_nothing(place: str) -> None:
    assert examine_training(course_of(RunFolder(TASKS / place))) == []


@pytest.mark.slow
@pytest.mark.parametrize("place", HEALTHY)
def test_nothing_is_found_in_a_run_that_went_well(place: str) -> None:
    run = RunFolder(TASKS / place)
    assert examine(run, run.configs())[0] == []


# Rollouts.


def seen(
    env: ManagerBasedRlEnv, policy: Policy, steps: int = 60, **more: Any
) -> list[Diagnosis]:
    given = {"is_normalised": False} | more
    return examine_acting(roll(env, policy, ["actor"], steps=steps), **given)


def cartpoles(**changes: Any) -> ManagerBasedRlEnv:
    cfg: Any = env_cfg()
    for name, value in changes.items():
        setattr(cfg.observations["actor"].terms["velocity"], name, value)
    return ManagerBasedRlEnv(cfg)


def test_a_rollout_without_a_fault_shows_none() -> None:
    assert seen(cartpoles(), Does(0.0, spread=0.1)) == []


def test_an_observation_that_is_constant_is_found() -> None:
    (one,) = seen(cartpoles(scale=0.0), Does(0.0))
    assert one.kind == "constant_observation"
    assert "actor/velocity" in one.what


def test_an_observation_that_is_large_is_found_unless_it_is_normalised() -> None:
    env = cartpoles(scale=1e4)
    (one,) = seen(env, Does(0.0))
    assert one.kind == "badly_scaled_observation"
    assert seen(env, Does(0.0), is_normalised=True) == []


def test_an_observation_that_is_clipped_is_found() -> None:
    (one,) = seen(cartpoles(clip=(-1e-3, 1e-3)), Does(0.0))
    assert one.kind == "clipped_observation"


def test_actions_that_never_change_are_found_by_name() -> None:
    (one,) = seen(cartpoles(), Does(0.5, spread=0.0))
    assert one.kind == "dead_actions"
    assert one.what == "1 of 1 actions never change: slider."


def test_actuators_at_the_end_of_their_range_are_found() -> None:
    (one,) = seen(cartpoles(), Does(5.0, spread=0.5), steps=10)
    assert one.kind == "saturated_actions"


def test_who_is_asked_to_go_slowly_may_stand() -> None:
    robot = SimpleNamespace(default_root_state=torch.tensor([[0.0, 0.0, 0.3]]))
    term = object.__new__(UniformVelocityCommand)
    term.entity = SimpleNamespace(data=robot)  # pyright: ignore
    manager = SimpleNamespace(term=lambda name: term)
    moved = torch.tensor([0.0, 0.0, 0.0, 0.3]).expand(40, 2, 4)
    found = []
    for speed in (0.2, 0.4):
        asked = torch.tensor([speed, 0.0, 0.0]).expand(40, 2, 3)
        ages = torch.full((40, 2), 1000)
        env: Any = SimpleNamespace(command_manager=manager)
        acting = Acting(env, {}, moved, moved, {"go": asked}, {"go": moved}, ages)
        found.append([one.kind for one in _walks(acting)])
    assert found == [[], ["stands_still"]]


def go1(**command: Any) -> ManagerBasedRlEnv:
    cfg: Any = load_task("Velocity-Go1-Flat").env()
    cfg.scene.num_envs, cfg.seed = 8, 0
    cfg.events["push_robot"] = None
    for name, value in command.items():
        setattr(cfg.commands["twist"], name, value)
    return ManagerBasedRlEnv(cfg, device="cpu")


@pytest.mark.slow
def test_a_robot_that_stands_still_or_lies_or_is_told_nothing_is_found() -> None:
    env = go1()
    (stands,) = seen(env, Does(*[0.0] * 12), is_normalised=True)
    assert stands.kind == "stands_still"
    # Thighs ahead and calves folded: the trunk lies on the ground.
    folded = Does(*[0.0, 3.0, -3.0] * 4)
    assert kinds(seen(env, folded, steps=90, is_normalised=True)) >= {"lies"}
    (untold,) = [
        one
        for one in seen(
            go1(rel_standing_envs=1.0, rel_heading_envs=0.0, rel_forward_envs=0.0),
            Does(*[0.0] * 12),
            is_normalised=True,
        )
        if one.kind == "command_never_sampled"
    ]
    assert untold.what == "The command twist is 0 in all worlds and steps."


def test_weights_that_are_not_finite_and_what_never_changed_are_found() -> None:
    weights = {
        "mlp.0.weight": torch.tensor([[1.0, float("nan")]]),
        "obs_normalizer._var": torch.tensor([[1.0, 2.0, 0.0, 0.0]]),
    }
    found = examine_weights(weights, {"actor/a": 2, "actor/b": 2})
    assert [one.kind for one in found] == ["weights_not_finite", "constant_observation"]
    assert "actor/b" in found[1].what


# What is said, and where.


def test_beside_a_training_the_figures_are_those_that_its_file_has(
    tmp_path: Path,
) -> None:
    writer = JsonlWriter(tmp_path / METRICS)
    display = WatchedDisplay(Quiet(), {})
    for iteration in range(1, 7):
        figures = {"a": 0.5 * iteration, "b": float("nan") if iteration == 3 else 1.0}
        writer.write(iteration, figures)
        display.show(Progress(iteration, 6, 0, 0.0, None), figures)
    assert display._metrics == read_metrics(tmp_path / METRICS)
    assert display._metrics.series["b"].bad == [3]


def collapse() -> Course:
    """Episodes of a G1 that learned to fall, as they were: 62 to 8.6 steps."""
    lengths = [62.0 - 53.4 * min(i, 30) / 30 for i in range(40)]
    figures = {
        "Train/mean_episode_length": lengths,
        "Train/mean_step_reward": [-0.06] * 40,
        "Episode_Reward/action_rate_l2": [-5.8] * 40,
        "Episode_Reward/upright": [0.9] * 40,
    }
    iterations = list(range(1, 41))
    series = {name: Series(name, iterations, [*v]) for name, v in figures.items()}
    rewards = {"action_rate_l2": {"weight": -0.1}, "upright": {"weight": 1.0}}
    return Course(Metrics(series, iterations, [], 0), {"env": {"rewards": rewards}})


def earned(**rates: float) -> Course:
    """A course in which each reward gave as much a second all the time."""
    iterations = list(range(1, 41))
    series = {
        f"Episode_Reward/{name}": Series(f"Episode_Reward/{name}", iterations, [r] * 40)
        for name, r in rates.items()
    }
    rewards = {name: {"weight": 1.0} for name in rates}
    return Course(Metrics(series, iterations, [], 0), {"env": {"rewards": rewards}})


@pytest.mark.parametrize("scale", [0.01, 100.0])
def test_a_reward_drowns_the_others_from_ten_times_their_sum_on(scale: float) -> None:
    even = earned(a=9.0 * scale, b=0.5 * scale, c=-0.5 * scale)
    assert "drowning_term" not in kinds(examine_training(even))
    drowned = examine_training(earned(a=11.0 * scale, b=0.5 * scale, c=-0.5 * scale))
    (one,) = [one for one in drowned if one.kind == "drowning_term"]
    assert one.settings == {"env.rewards.a.weight": "0.091"}


def test_the_console_text_of_findings_is_this() -> None:
    other = Diagnosis(
        kind="dead_actions",
        certainty=0.5,
        what="1 of 1 actions never change: slider.",
        advice="look for a network whose units are all off.",
    )
    found = ordered([other, *examine_training(collapse())])
    expected = """\
2 findings in a run: 40 recorded iterations.

 1. sure    Ending at once is the best return: episodes shrank from 59.3 to 8.6 steps,
            and a step costs 0.06.
            Try: let action_rate_l2 cost less, which takes most; or begin with less
            noise, such as agent.actor.distribution-cfg.init-std 0.4.
            --env.rewards.action-rate-l2.weight -0.01

 2. perhaps 1 of 1 actions never change: slider.
            Try: look for a network whose units are all off."""
    assert listing(found, "a run: 40 recorded iterations") == expected
    assert listing([], "a run") == "Nothing found in a run."


@pytest.fixture
def sick(tmp_path: Path) -> tuple[RunFolder, Quiet]:
    env, agent = planted(doctor_runs.ending_pays)
    agent.logging.tensorboard = False
    told = Quiet()
    folder, _ = train(env, agent, task="Cartpole-Balance", root=tmp_path, display=told)
    return folder, told


@pytest.mark.slow
def test_a_collapse_is_said_while_training_in_the_report_and_by_the_script(
    sick: tuple[RunFolder, Quiet], capsys: pytest.CaptureFixture[str]
) -> None:
    run, told = sick
    (said,) = [line for line in told.said if line.startswith("Doctor: Ending at once")]
    assert said.endswith("--env.rewards.alive.weight -0.1")
    assert told.shown[-1].findings[0].startswith("Ending at once")
    assert "Ending at once is the best return" in render(run.path)
    doctor.main([str(run.path)])
    shown = capsys.readouterr().out
    assert " 1. sure    Ending at once is the best return" in shown
    kept = json.loads((run.path / "doctor.json").read_text("utf-8"))
    assert kept["findings"][0]["degree"] == "sure"
    assert "100 steps of 16 worlds" in render(run.path)


@pytest.mark.slow
def test_a_remedy_is_tried_beside_none_from_the_same_checkpoint(
    sick: tuple[RunFolder, Quiet],
) -> None:
    run, _ = sick
    configs = run.configs()

    def tried(weight: str) -> dict[str, list[str]]:
        settings = {"env.rewards.alive.weight": weight}
        one = Diagnosis(kind="x", certainty=1.0, what="", advice="", settings=settings)
        rows = try_remedy(run, configs, one, 2).splitlines()
        assert rows[0].split() == "after 2 iterations as it is with the remedy".split()
        return {row.split()[0]: row.split()[1:] for row in rows[1:]}

    # A remedy that changes nothing makes no difference; a tenth of a cost is a tenth.
    assert all(here == there for here, there in tried("-1.0").values())
    before, after = tried("-0.1")["Episode_Reward/alive"]
    assert float(after) / float(before) == pytest.approx(0.1, rel=0.2)

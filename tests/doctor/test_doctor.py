"""Each planted fault is found, and good trainings have no findings."""

import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from mjlab.cli import doctor
from mjlab.cli import train as train_script
from mjlab.cli.examine import course_of, examine, try_remedy
from mjlab.doctor import Diagnosis, listing, ordered
from mjlab.doctor.acting import (
    Acting,
    _walks,
    examine_acting,
    examine_weights,
    roll,
)
from mjlab.doctor.training import Course, examine_training, too_early
from mjlab.doctor.watch import WatchedDisplay
from mjlab.envs import ManagerBasedRlEnv, Policy
from mjlab.mdp import UniformVelocityCommand
from mjlab.registry import Task, load_task
from mjlab.report import render
from mjlab.rl.console import Progress
from mjlab.rl.logging import JsonlWriter
from mjlab.runs import Run
from mjlab.runs.metrics import METRICS, Metrics, Series, read_metrics
from mjlab.settings.file import settings_text
from tests.doctor import runs as doctor_runs
from tests.doctor.runs import Does, planted, train_course
from tests.report.test_report import make_run
from tests.tools.flat import flat_settings
from tests.tools.registered import registered
from tests.worlds.rl_runs import Display, env_cfg, train_without_export

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
]
QUICK = ("dead_term", "sign", "one_end")

# Of these, the rest of the run is as short as the fault, and says more than the fault.
OF_SHORT_RUNS = {"noise_gone", "value_loss", "rate_at_bound"}


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
    # Suggested settings exist.
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
    "velocity/trained/Velocity-G1-Flat",
    "muscle/trained/Muscle-Walk-W18",
]
TASKS = Path(__file__).resolve().parents[2] / "tasks"


@pytest.mark.parametrize("place", HEALTHY)
def test_a_successful_training_gives_no_finding(place: str) -> None:
    assert examine_training(course_of(Run(TASKS / place))) == []


@pytest.mark.slow
@pytest.mark.parametrize("place", HEALTHY)
def test_run_without_faults_has_no_findings(place: str) -> None:
    run = Run(TASKS / place)
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


def walking(asked: Any, moved: Any, height: float = 0.3) -> list[Diagnosis]:
    """Findings where a robot is asked for (x, y) m/s and moves at (x, y) m/s."""
    robot = SimpleNamespace(default_root_state=torch.tensor([[0.0, 0.0, 0.3]]))
    term = object.__new__(UniformVelocityCommand)
    term.entity = SimpleNamespace(data=robot)  # pyright: ignore
    manager = SimpleNamespace(term=lambda name: term)
    env: Any = SimpleNamespace(command_manager=manager)
    command = torch.tensor([*asked, 0.0]).expand(40, 2, 3)
    went = torch.tensor([*moved, 0.0, height]).expand(40, 2, 4)
    ages = torch.full((40, 2), 1000)
    acting = Acting(env, {}, went, went, {"go": command}, {"go": went}, ages)
    return [*_walks(acting)]


def test_standing_is_no_finding_at_slow_commands() -> None:
    assert walking((0.2, 0.0), (0.0, 0.0)) == []
    assert kinds(walking((0.4, 0.0), (0.0, 0.0))) == {"stands_still"}


@pytest.mark.parametrize("asked", [(0.8, 0.0), (-0.8, 0.0), (0.0, 0.8), (0.6, -0.6)])
def test_only_velocity_along_the_command_counts_as_tracking(asked: Any) -> None:
    x, y = asked
    assert walking(asked, asked) == []
    assert walking(asked, (0.5 * x, 0.5 * y)) == []
    backwards, across = walking(asked, (-x, -y)), walking(asked, (-y, x))
    assert kinds(backwards) == kinds(across) == {"command_not_followed"}
    speed = (x * x + y * y) ** 0.5
    assert f"{speed:.2f} m/s, the measured speed {-speed:.2f} m/s" in backwards[0].what


def test_a_robot_below_six_tenths_of_its_height_is_lying() -> None:
    assert walking((0.8, 0.0), (0.8, 0.0), height=0.19) == []
    assert kinds(walking((0.8, 0.0), (0.8, 0.0), height=0.17)) == {"lies"}


def go1(**command: Any) -> ManagerBasedRlEnv:
    cfg: Any = load_task("Velocity-Go1-Flat").env()
    cfg.scene.num_envs, cfg.seed = 8, 0
    cfg.events["push_robot"] = None
    for name, value in command.items():
        setattr(cfg.commands["twist"], name, value)
    return ManagerBasedRlEnv(cfg, device="cpu")


@pytest.mark.slow
def test_a_robot_that_stands_lies_or_has_no_command_is_reported() -> None:
    env = go1()
    (stands,) = seen(env, Does(*[0.0] * 12), is_normalised=True)
    assert stands.kind == "stands_still"
    # Thighs forward and calves folded: the trunk lies on the ground.
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


def test_non_finite_weights_and_constant_weights_are_reported() -> None:
    weights = {
        "mlp.0.weight": torch.tensor([[1.0, float("nan")]]),
        "obs_normalizer._var": torch.tensor([[1.0, 2.0, 0.0, 0.0]]),
    }
    found = examine_weights(weights, {"actor/a": 2, "actor/b": 2})
    assert [one.kind for one in found] == ["weights_not_finite", "constant_observation"]
    assert "actor/b" in found[1].what


# Text and file of the findings.


def test_during_training_the_figures_equal_those_of_the_file(
    tmp_path: Path,
) -> None:
    writer = JsonlWriter(tmp_path / METRICS)
    display = WatchedDisplay(Display(), flat_settings())
    for iteration in range(1, 7):
        figures = {"a": 0.5 * iteration, "b": float("nan") if iteration == 3 else 1.0}
        writer.write(iteration, figures)
        display.show(Progress(iteration, 6, 0, 0.0, None), figures)
    assert display._metrics == read_metrics(tmp_path / METRICS)
    assert display._metrics.series["b"].bad == [3]


def collapse() -> Course:
    """Episode lengths of a G1 that learned to fall: 62 to 8.6 steps."""
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
    return Course(
        Metrics(series, iterations, [], 0), flat_settings(env={"rewards": rewards})
    )


def earned(**rates: float) -> Course:
    """Training figures with a constant rate of each reward."""
    iterations = list(range(1, 41))
    series = {
        f"Episode_Reward/{name}": Series(f"Episode_Reward/{name}", iterations, [r] * 40)
        for name, r in rates.items()
    }
    rewards = {name: {"weight": 1.0} for name in rates}
    return Course(
        Metrics(series, iterations, [], 0), flat_settings(env={"rewards": rewards})
    )


def course(config: Any, count: int = 40, **figures: Any) -> Course:
    """Training figures; each is a number or a function of the fraction done.

    In their names, "__" stands for "/".
    """
    iterations = list(range(1, count + 1))
    series = {}
    for key, figure in figures.items():
        name = key.replace("__", "/")
        of = figure if callable(figure) else lambda share, value=figure: value
        values = [of(i / count) for i in iterations]
        series[name] = Series(name, iterations, values)
    return Course(Metrics(series, iterations, [], 0), flat_settings(**config))


def learner(**algorithm: Any) -> dict[str, Any]:
    given = {"desired_kl": 0.01, "entropy_coef": 0.005, "num_learning_epochs": 4}
    return {"agent": {"algorithm": given | algorithm, "num_steps_per_env": 24}}


def rewarded(name: str, weight: float) -> dict[str, Any]:
    term = {"func": name, "weight": weight}
    return {"env": {"rewards": {"mine": term}}}


KL, ENTROPY, WEIGHT, VALUE = (
    "agent.algorithm.desired-kl",
    "agent.algorithm.entropy-coef",
    "env.rewards.mine.weight",
    "agent.algorithm.value-loss-coef",
)
ADAPTIVE = learner(schedule="adaptive")
GROWING, FADING = (lambda share: 0.5 + 2.0 * share), (lambda share: 0.04 - 0.03 * share)
CRITIC = {"Train__mean_step_reward": 1.0, "Train__mean_episode_length": 100.0}
ADVICE = {
    # RSL-RL reduces the rate if the KL divergence exceeds desired_kl.
    "rate at its lower bound": (
        course(ADAPTIVE, Policy__learning_rate=1e-5),
        ("rate_at_bound", {KL: "0.02"}),
    ),
    "rate at its upper bound": (
        course(ADAPTIVE, Policy__learning_rate=1e-2),
        ("rate_at_bound", {KL: "0.005"}),
    ),
    "noise explodes": (
        course(learner(), Policy__mean_std=GROWING),
        ("noise_explodes", {ENTROPY: "0.0005"}),
    ),
    "noise gone": (
        course(learner(), Policy__mean_std=FADING, Train__mean_step_reward=1.0),
        ("noise_gone", {ENTROPY: "0.05"}),
    ),
    "noise gone without entropy": (
        course(
            learner(entropy_coef=0.0),
            Policy__mean_std=FADING,
            Train__mean_step_reward=1.0,
        ),
        ("noise_gone", {ENTROPY: "0.01"}),
    ),
    "a cost is rewarded": (
        course(rewarded("action_rate_l2", 0.1)),
        ("sign", {WEIGHT: "-0.1"}),
    ),
    "a gain costs": (
        course(rewarded("track_linear_velocity", -2.0)),
        ("sign", {WEIGHT: "2"}),
    ),
    "critic without its loss": (
        course(learner(value_loss_coef=0.0), Loss__value=100.0, **CRITIC),
        ("value_loss", {VALUE: "1.0"}),
    ),
    "critic with its loss": (
        course(learner(value_loss_coef=1.0), Loss__value=100.0, **CRITIC),
        ("value_loss", {}),
    ),
}


@pytest.mark.parametrize("fault", ADVICE)
def test_advice_changes_the_setting_in_the_right_direction(fault: str) -> None:
    seen_course, (kind, settings) = ADVICE[fault]
    (one,) = examine_training(seen_course)
    assert (one.kind, one.settings) == (kind, settings)


@pytest.mark.parametrize(
    "quiet",
    [
        course(ADAPTIVE, Policy__learning_rate=1e-3),
        course(learner(schedule="fixed"), Policy__learning_rate=1e-5),
        course(learner(), Policy__mean_std=1.0, Train__mean_step_reward=1.0),
        course(rewarded("action_rate_l2", -0.1)),
        course(rewarded("track_linear_velocity", 2.0)),
        course(learner(value_loss_coef=1.0), Loss__value=1.0, **CRITIC),
    ],
)
def test_figures_between_the_two_thresholds_give_no_finding(quiet: Course) -> None:
    assert examine_training(quiet) == []


# Too early.


def plain_g1(folder: Path) -> Course:
    """The training of `Velocity-G1-Flat` from random weights.

    The policy that ships began with the weights of another one.
    """
    results = TASKS.parent / "bench/results/learning_velocity_g1_flat.json"
    curve = json.loads(results.read_text("utf-8"))["curve"]
    columns = zip(*curve.values(), strict=True)
    rows = [dict(zip(curve, row, strict=True)) for row in columns]
    path = folder / METRICS
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    return Course(read_metrics(path), flat_settings(agent={"max_iterations": 600}))


@pytest.mark.parametrize("task", ["Velocity-Go1-Flat", "Velocity-G1-Flat"])
def test_motion_is_judged_once_tracking_reaches_40_percent_of_its_final_value(
    task: str, tmp_path: Path
) -> None:
    """Tested with the metrics of complete trainings from random weights."""
    biped = task == "Velocity-G1-Flat"
    place = TASKS / "velocity/trained" / task
    course = plain_g1(tmp_path) if biped else course_of(Run(place))
    tracked = course.metrics.series["Episode_Reward/track_linear_velocity"]
    pairs = [*zip(tracked.iterations, tracked.finite, strict=True)]
    last = [value for _, value in pairs[-len(pairs) // 10 :]]
    end = sum(last) / len(last)
    tracks = next(i for i, value in pairs if value > 0.4 * end)
    assert 0.5 * course.judged_from < tracks < course.judged_from


ENDS = {
    "env": {
        "episode_length_s": 20.0,
        "decimation": 4,
        "sim": {"mujoco": {"timestep": 0.005}},
        "terminations": {"fell_over": {}},
    }
}


@pytest.mark.parametrize(
    ("limit", "count", "is_early"),
    [(600, 149, True), (600, 150, False), (4000, 199, True), (4000, 200, False)],
)
def test_falls_are_normal_early_in_a_training(
    limit: int, count: int, is_early: bool
) -> None:
    falls = course(
        ENDS | {"agent": {"max_iterations": limit}},
        count,
        Train__mean_episode_length=20.0,
        Episode_Termination__fell_over=1.0,
    )
    assert kinds(examine_training(falls)) == (set() if is_early else {"one_end"})
    said = [one.what for one in too_early(falls)]
    assert said == [f"Too early to judge: {count} of {limit} iterations."] * is_early


def test_faults_that_training_cannot_correct_are_reported_early() -> None:
    early = course(rewarded("action_rate_l2", 0.1) | {"agent": {"max_iterations": 600}})
    assert early.early
    assert kinds(examine_training(early)) == {"sign"}


def test_early_phase_follows_from_the_iterations_of_the_task(
    tmp_path: Path,
) -> None:
    lines = [{"iteration": i, "Train/mean_step_reward": 0.1} for i in range(1, 6)]
    run = make_run(tmp_path / "run", lines, task="Velocity-Go1-Flat")
    settings = flat_settings(agent={"max_iterations": 5})
    (run / "config.json").write_text(settings_text("Velocity-Go1-Flat", settings))
    found, looked_at = examine(Run(run), {})
    said = listing(found, looked_at)
    assert " 1. sure    Too early to judge: 5 of 400 iterations." in said
    again = "Try: continue with --resume latest --agent.max-iterations 400."
    assert again in said
    settings = flat_settings(agent={"max_iterations": 400})
    (run / "config.json").write_text(settings_text("Velocity-Go1-Flat", settings))
    said = listing(*examine(Run(run), {}))
    assert "Try: run the doctor again after iteration 100." in said


@pytest.mark.slow
def test_early_training_gets_no_advice_on_gait(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """After three iterations it stands; `command_not_followed` would be found."""
    line = ["Velocity-Go1-Flat", "--env.scene.num-envs", "16", "--device", "cpu"]
    line += ["--agent.max-iterations", "3", "--logs", str(tmp_path)]
    train_script.main(line)
    doctor.main(["latest", "--logs", str(tmp_path)])
    said = capsys.readouterr().out
    assert "Too early to judge: 3 of 400 iterations." in said
    assert "is not tracked" not in said and "lies" not in said


@pytest.mark.parametrize("scale", [0.01, 100.0])
def test_reward_above_ten_times_the_sum_of_others_is_reported(scale: float) -> None:
    even = earned(a=9.0 * scale, b=0.5 * scale, c=-0.5 * scale)
    assert "drowning_term" not in kinds(examine_training(even))
    drowned = examine_training(earned(a=11.0 * scale, b=0.5 * scale, c=-0.5 * scale))
    (one,) = [one for one in drowned if one.kind == "drowning_term"]
    assert one.settings == {"env.rewards.a.weight": "0.091"}


def test_console_text_of_findings_equals_the_stored_text() -> None:
    other = Diagnosis(
        kind="dead_actions",
        certainty=0.5,
        what="1 of 1 actions never change: slider.",
        advice="look for a network whose units are all off.",
    )
    found = ordered([other, *examine_training(collapse())])
    expected = """\
2 findings in a run: 40 recorded iterations.

 1. sure    Ending early gives the best return: episodes shrank from 59.3 to 8.6 steps,
            and the reward per step is -0.06.
            Try: reduce the weight of action_rate_l2, the largest cost; or start with
            less action noise, such as agent.actor.distribution-cfg.init-std 0.4.
            --env.rewards.action-rate-l2.weight -0.01

 2. perhaps 1 of 1 actions never change: slider.
            Try: look for a network whose units are all off."""
    assert listing(found, "a run: 40 recorded iterations") == expected
    assert listing([], "a run") == "No findings in a run."


def sick_agent() -> Any:
    agent = planted(doctor_runs.ending_pays)[1]
    agent.max_iterations = 0  # A run of any length counts as complete.
    return agent


SICK = Task(env=lambda: planted(doctor_runs.ending_pays)[0], rl=sick_agent)
"""Task of the run below."""


@pytest.fixture
def sick(tmp_path: Path) -> Iterator[tuple[Run, Display]]:
    env, agent = planted(doctor_runs.ending_pays)
    agent.logging.tensorboard = False
    told = Display()
    with registered(tmp_path / "package", Sick=f"{__name__}:SICK"):
        logs = tmp_path / "logs"
        folder, _ = train_without_export(
            env, agent, task="Sick", root=logs, display=told
        )
        yield folder, told


@pytest.mark.slow
def test_a_collapse_is_reported_during_training_in_the_report_and_by_the_script(
    sick: tuple[Run, Display], capsys: pytest.CaptureFixture[str]
) -> None:
    run, told = sick
    (said,) = [line for line in told.said if line.startswith("Doctor: Ending early")]
    assert said.endswith("--env.rewards.alive.weight -0.1")
    assert told.shown[-1].findings[0].startswith("Ending early")
    assert "Ending early gives the best return" in render(run.path)
    doctor.main([str(run.path)])
    shown = capsys.readouterr().out
    assert " 1. sure    Ending early gives the best return" in shown
    kept = json.loads((run.path / "doctor.json").read_text("utf-8"))
    assert kept["findings"][0]["degree"] == "sure"
    assert "100 steps of 16 worlds" in render(run.path)


@pytest.mark.slow
def test_a_remedy_is_compared_with_no_change_from_the_same_checkpoint(
    sick: tuple[Run, Display],
) -> None:
    run, _ = sick
    configs = run.configs()

    def tried(weight: str) -> dict[str, list[str]]:
        settings = {"env.rewards.alive.weight": weight}
        one = Diagnosis(kind="x", certainty=1.0, what="", advice="", settings=settings)
        rows = try_remedy(run, configs, one, 2).splitlines()
        assert rows[0].split() == "after 2 iterations unchanged with remedy".split()
        return {row.split()[0]: row.split()[1:] for row in rows[1:]}

    # A remedy without effect makes no difference; a tenth of a cost is a tenth.
    assert all(here == there for here, there in tried("-1.0").values())
    before, after = tried("-0.1")["Episode_Reward/alive"]
    assert float(after) / float(before) == pytest.approx(0.1, rel=0.2)

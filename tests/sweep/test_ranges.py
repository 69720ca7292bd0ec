"""Ranges as typed by a user, and errors of invalid ones."""

import dataclasses

import pytest

from mjlab.cli import sweep as script
from mjlab.cli.answers import UsageError
from mjlab.cli.line import read_line
from mjlab.sweep.ranges import Range, RangeError, read_ranges
from tests.worlds.rl_runs import agent_cfg, env_cfg

RATE = "agent.algorithm.learning-rate"


@pytest.mark.parametrize(
    ("text", "kind", "ends", "examples"),
    [
        ("a.b:0..0.5", "linear", (0.0, 0.5), ["0.0", "0.5"]),
        ("a.b:-1..1", "linear", (-1.0, 1.0), ["-1.0", "1.0"]),
        ("a.b:log:1e-5..1e-3", "log", (1e-5, 1e-3), ["1e-05", "0.001"]),
        ("a.b:int:8..64", "int", (8.0, 64.0), ["8", "64"]),
        ("a.b:choice:elu,relu", "choice", (0.0, 0.0), ["elu", "relu"]),
        ("a.b:choice:(64,64),(8,)", "choice", (0.0, 0.0), ["(64,64)", "(8,)"]),
    ],
)
def test_a_range_is_written_in_a_form_that_can_be_read_again(
    text, kind, ends, examples
):
    (one,) = read_ranges([text])
    assert (one.path, one.kind, one.ends) == ("a.b", kind, ends)
    assert one.examples[:2] == examples
    assert read_ranges([str(one)]) == [one]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a.b", "with a colon between them"),
        ("a.b:", "with a colon between them"),
        (
            "a.b:lag:1..2",
            "unknown kind of range 'lag'. Valid names, nearest first: 'log'",
        ),
        ("a.b:log:1e-3..1e-5", "the lower end must come first: a.b:log:1e-5..1e-3."),
        ("a.b:3..2", "the lower end must come first: a.b:2..3."),
        ("a.b:log:0..1", "or write a.b:0..1 for a uniform range"),
        ("a.b:int:1..2.5", "Write a.b:1..2.5 for real numbers"),
        ("a.b:1,2", "For single values write a.b:choice:1,2."),
        ("a.b:1..x", "'x' is not a finite number"),
        ("a.b:1..inf", "'inf' is not a finite number"),
        ("a.b:2..2", "the range has one value. To set it, write --a.b 2."),
        ("a.b:choice:elu", "two or more different choices"),
        ("a.b:choice:elu,elu", "two or more different choices"),
    ],
)
def test_an_invalid_range_suggests_a_valid_one(text, said):
    with pytest.raises(RangeError) as error:
        read_ranges([text])
    assert said in str(error.value)
    assert str(error.value).startswith(f"--tune {text}: ")


def test_a_setting_has_one_range():
    with pytest.raises(RangeError, match="a_b twice"):
        read_ranges(["a-b:1..2", "a_b:3..4"])


def check(*texts: str, more: tuple[str, ...] = ()) -> None:
    line = read_line(script.SweepOptions, ["Cartpole-Balance", "--tune", *texts, *more])
    configs = {"env": env_cfg(), "agent": agent_cfg()}
    script.check_ranges(read_ranges(line.options.tune), line, configs)


def test_valid_ranges_are_accepted():
    check(
        f"{RATE}:log:1e-5..1e-3",
        "agent.num-steps-per-env:int:8..64",
        "agent.actor.hidden-dims:choice:(64,64),(8,)",
        "agent.actor:choice:MlpModelCfg,RnnModelCfg",
        "env.rewards.smooth.weight:0.1..10",
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("agent.algorithm.learnig-rate:1..2", "nearest first: 'learning_rate'"),
        ("agnt.seed:1..2", "There is no part 'agnt'. Valid names, nearest first: 'ag"),
        (
            "agent.num-steps-per-env:4..30",
            "takes a whole number, not '4.0'. It is 6 now. "
            "Write agent.num-steps-per-env:int:4..30.",
        ),
        ("agent.actor.activation:choice:elu,relo", "cannot be 'relo'. Valid names, n"),
        ("agent.actor.activation:1..2", "agent.actor.activation"),
        (f"{RATE}:choice:fast,slow", "takes a number"),
    ],
)
def test_a_range_with_the_wrong_type_is_refused_by_the_settings(text, said):
    with pytest.raises(UsageError) as error:
        check(text)
    assert said in str(error.value)
    assert str(error.value).startswith(f"--tune {read_ranges([text])[0]}: ")


def test_a_searched_setting_cannot_also_be_set():
    with pytest.raises(UsageError, match="both set and searched"):
        check(f"{RATE}:log:1e-5..1e-3", more=(f"--{RATE}", "1e-4"))


def test_trials_that_no_evaluation_would_score_are_refused():
    agent = agent_cfg(20)
    agent.evaluation = dataclasses.replace(agent.evaluation, every=50)
    with pytest.raises(UsageError, match=r"Add --agent.evaluation.every 2\."):
        script.metric_of(agent)
    agent.evaluation = dataclasses.replace(agent.evaluation, every=5)
    assert script.metric_of(agent) == "Eval/mean_reward"
    agent.evaluation = dataclasses.replace(agent.evaluation, every=0)
    assert script.metric_of(agent) == "Train/mean_reward"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "pass a setting and its range, such as --tune "),
        (
            ["--tune", "a:1..2", "--trials", "0"],
            "--trials is 0; it has to be 1 or more",
        ),
    ],
)
def test_an_invalid_command_line_is_refused_before_any_trial(words, said):
    words = ["Cartpole-Balance", *words]
    with pytest.raises(ValueError) as error:
        script.check_line(read_line(script.SweepOptions, words).options)
    assert said in str(error.value)


def test_missing_packages_are_named(monkeypatch):
    monkeypatch.setattr(script.importlib.util, "find_spec", lambda name: None)
    words = ["Cartpole-Balance", "--tune", "a:1..2"]
    with pytest.raises(UsageError, match=r'pip install "mjlab-fused\[sweep\]"'):
        script.check_line(read_line(script.SweepOptions, words).options)


def test_ranges_of_several_options_count_together():
    words = ["Cartpole-Balance", "--tune", "a:1..2", "--tune", "b:1..2", "c:1..2"]
    tune = read_line(script.SweepOptions, words).options.tune
    assert tune == ("a:1..2", "b:1..2", "c:1..2")


def test_middle_example_of_a_float_range_is_not_an_integer():
    assert not float(Range("a", "linear", (4.0, 30.0)).examples[2]).is_integer()

"""Display of a training in a terminal or in a file."""

import builtins
import io

import pytest
from rich.console import Console

from mjlab.rl.console import LivePanel, PlainLines, Progress, duration, open_display
from tests.worlds.rl_runs import agent_cfg, make_loop

FIGURES = {
    "Train/mean_reward": 12.5,
    "Perf/steps_per_s": 23456.0,
    "Health/nonfinite": 2.0,
    "Health/overflow": 0.0,
    **{f"Episode_Reward/term{i}": float(i) for i in range(-4, 5)},
}


def progress(iteration=3):
    return Progress(
        iteration=iteration,
        max_iterations=10,
        env_steps=12_000,
        seconds=30.0,
        remaining=4000.0,
    )


def shown(make, **options):
    out = io.StringIO()
    with make(Console(file=out, width=100, **options)) as display:
        display.show(progress(), FIGURES)
        display.say("and more")
    return out.getvalue()


def test_plain_lines_show_the_main_figures_without_colours():
    text = shown(PlainLines)
    assert text.splitlines() == [
        "3/10  23,456 steps/s  reward 12.5  ETA 1 h 06 min  nonfinite 2",
        "and more",
    ]
    assert "\x1b" not in text


def test_panel_shows_progress_best_and_worst_terms_and_warnings():
    text = shown(lambda c: LivePanel(c, "Cartpole"), force_terminal=True)
    for part in ("3/10", "23,456", "ETA 1 h 06 min", "term4", "term-4", "nonfinite 2"):
        assert part in text, part
    assert "term0" not in text
    assert "overflow" not in text


def test_panel_keeps_reward_terms_if_no_episode_ended():
    out = io.StringIO()
    with LivePanel(Console(file=out, width=100, force_terminal=True), "A") as panel:
        panel.show(progress(), FIGURES)
        out.truncate(0)
        panel.show(progress(), {"Perf/steps_per_s": 1.0})
    assert "term4" in out.getvalue()
    assert "nonfinite" not in out.getvalue()


def test_lines_may_be_spaced_in_time_but_the_last_is_always_printed():
    out = io.StringIO()
    display = PlainLines(Console(file=out, width=100), every=60.0)
    display.show(progress(1), FIGURES)
    display.show(progress(2), FIGURES)
    display.show(progress(10), FIGURES)
    assert [line.split()[0] for line in out.getvalue().splitlines()] == [
        "1/10",
        "10/10",
    ]


def test_a_terminal_gets_the_panel_and_a_file_gets_lines():
    def opened(**options):
        return type(open_display("x", Console(file=io.StringIO(), **options)))

    assert opened(force_terminal=True, _environ={"TERM": "xterm"}) is LivePanel
    assert opened() is PlainLines


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (None, "?"),
        (0.4, "0 s"),
        (59.6, "1 min 00 s"),
        (200, "3 min 20 s"),
        (3720, "1 h 02 min"),
    ],
)
def test_durations_are_formatted(seconds, text):
    assert duration(seconds) == text


def test_building_and_training_a_learner_prints_no_text(capsys):
    make_loop(agent_cfg(1)).run()
    assert capsys.readouterr().out == ""
    assert builtins.print is print

"""Draws of a sweep, parallel trials, and the results page."""

from pathlib import Path
from typing import Any

import pytest

from mjlab.sweep.folder import Search, Trials
from mjlab.sweep.ranges import read_ranges

pytest.importorskip("optuna", reason="Optuna is not installed")

from mjlab.sweep import study as study_module
from mjlab.sweep import trial as trial_module
from mjlab.sweep.page import _place
from mjlab.sweep.study import SweepRunner, distribution_of, open_study
from mjlab.sweep.trial import TrialEnd


def test_log_ranges_are_sampled_log_uniformly(
    tmp_path: Path,
) -> None:
    """From 1e-4 to 1, half of log-uniform draws and 1% of others are below 1e-2."""
    below = {}
    for kind in ("log:", ""):
        (one,) = read_ranges([f"rate:{kind}1e-4..1"])
        study = open_study(_made(tmp_path / (kind or "linear")), seed=0, prunes=False)
        drawn = [study_module._draw(study.ask(), one) for _ in range(10)]
        assert all(1e-4 <= float(value) <= 1.0 for value in drawn)
        below[kind] = sum(float(value) < 1e-2 for value in drawn)
        assert distribution_of(one).log == (kind == "log:")
    assert below["log:"] >= 2 and below[""] <= 1


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


class Slow:
    """A trial that has ended after three polls."""

    running = most = 0

    def __init__(self, trials: Trials, name: str, settings: Any) -> None:
        self.looks = 0
        Slow.running += 1
        Slow.most = max(Slow.most, Slow.running)

    def is_over(self) -> bool:
        self.looks += 1
        return self.looks > 3

    def stop(self) -> None:
        pass

    def wait(self) -> TrialEnd:
        Slow.running -= 1
        return TrialEnd("failed", "it was enough")


@pytest.mark.parametrize("processes", [1, 2, 3])
def test_the_number_of_parallel_trials_equals_the_number_of_processes(
    processes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(study_module, "TrialProcess", Slow)
    monkeypatch.setattr(study_module, "_POLL_S", 0.0)
    monkeypatch.setattr(Slow, "running", 0)
    monkeypatch.setattr(Slow, "most", 0)
    ranges = read_ranges(["rate:0..1"])
    runner = SweepRunner(
        open_study(tmp_path, seed=0, prunes=False),
        Trials(folder=tmp_path, task="Some-Task"),
        ranges,
        say=lambda line: None,
        after_trial=lambda: None,
    )
    runner.run(5, processes=processes)
    assert Slow.most == processes and Slow.running == 0


def test_choices_are_spread_over_the_whole_axis_of_the_page() -> None:
    (one,) = read_ranges(["net:choice:elu,tanh,relu"])
    places = [_place(one, choice) for choice in one.choices]
    assert places == [0.0, 0.5, 1.0]
    (log,) = read_ranges(["rate:log:0.01..1"])
    assert _place(log, 0.1) == pytest.approx(0.5)
    (linear,) = read_ranges(["rate:1..3"])
    assert _place(linear, 2.0) == pytest.approx(0.5)


def test_threads_of_a_trial_are_those_of_its_physics_and_of_torch(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert trial_module._environment(2)["OMP_NUM_THREADS"] == "2"
    assert "OMP_NUM_THREADS" not in trial_module._environment(None)
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    assert trial_module._environment(2)["OMP_NUM_THREADS"] == "7"


def test_newest_sweep_of_a_task_is_resumed(tmp_path: Path) -> None:
    """By the time in its name, for any order of the directory listing."""
    from mjlab.sweep.folder import INFO, SWEEPS, find_sweep

    search = Search(
        task="Some-Task",
        ranges=tuple(read_ranges(["rate:0..1"])),
        arguments=(),
        metric="Eval/mean_reward",
        seed=0,
        prunes=False,
        engine="optuna",
    )
    folder = search.begin(tmp_path, "a")
    text = (folder / INFO).read_text()
    for year in (2031, 2029, 2030):
        made = tmp_path / SWEEPS / f"{year}-01-01_00-00-00_b"
        made.mkdir()
        (made / INFO).write_text(text)
    assert find_sweep(tmp_path, "Some-Task").name.startswith("2031")

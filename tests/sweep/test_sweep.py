"""Trials of a sweep: each runs exactly once, and the page shows all of them.

Fast tests replace the process of a trial by one that writes a run folder. Slow tests
train.
"""

import collections
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import ClassVar

import pytest
from optuna.trial import TrialState

from mjlab.cli import sweep as script
from mjlab.runs import Checkpoints, Run, RunError
from mjlab.runs.lock import LOCK, locked
from mjlab.runs.metrics import read_metrics
from mjlab.sweep import study as study_module
from mjlab.sweep import trial as trial_module
from mjlab.sweep.folder import Search, SweepError, find_sweep, lock_sweep
from mjlab.sweep.page import write_page
from mjlab.sweep.ranges import read_ranges
from mjlab.sweep.study import SweepRunner, open_study
from mjlab.sweep.trial import TrialEnd
from tests.report.test_report import Listening, make_run
from tests.tools.browser import find_browser

ROOT = Path(__file__).resolve().parents[2]
WEIGHT = "env.rewards.smooth.weight"
ITERATIONS = 4


def make_search(**more) -> Search:
    given = {
        "task": "Some-Task",
        "ranges": tuple(
            read_ranges(
                [f"{WEIGHT}:log:0.1..10", "agent.actor.activation:choice:elu,tanh"]
            )
        ),
        "arguments": ("--num-envs", "8"),
        "metric": "Eval/mean_reward",
        "seed": 4,
        "prunes": True,
        "engine": "optuna",
    }
    return Search(**(given | more))


class StandIn:
    """Process of a trial that trains for one iteration at each poll."""

    begun: ClassVar[collections.Counter[str]] = collections.Counter()
    fails: ClassVar[set[str]] = set()
    course: ClassVar[tuple[float, ...]] = (1.0,) * ITERATIONS
    """Score of each iteration, in units of the searched weight."""
    saves_when_stopped = True

    def __init__(self, trials, name, settings) -> None:
        run = trials.find(name)
        self.begun[name] += run is None
        self._folder = run.path if run else trials.folder / f"{trials.task}/2026_{name}"
        if run is None:
            make_run(self._folder, [], status="running")
        self._weight = float(settings[WEIGHT])
        self._trials, self._name = trials, name
        self._note("running", "")

    def is_over(self) -> bool:
        if self._status() != "running":
            return True
        if self._name in self.fails:
            self._note("failed", "no room")
            return True
        scores = self._trials.scores(self._name)
        score = self._weight * self.course[len(scores)]
        line = {"iteration": len(scores) + 1, "Eval/mean_reward": score}
        with (self._folder / "metrics.jsonl").open("a") as file:
            file.write(json.dumps(line) + "\n")
        if len(scores) + 1 == ITERATIONS:
            self._note("finished", "all iterations are done")
        return False

    def stop(self) -> None:
        if self.saves_when_stopped and self._status() == "running":
            self._note("stopped", "a signal asked for it")

    def wait(self) -> TrialEnd:
        return TrialEnd(self._status(), Run(self._folder).info()["reason"])

    def _status(self):
        return Run(self._folder).info()["status"]

    def _note(self, status: str, reason: str) -> None:
        info = {"task": "Some-Task", "status": status, "reason": reason}
        (self._folder / "run.json").write_text(json.dumps(info))


@pytest.fixture
def stand_in(monkeypatch):
    monkeypatch.setattr(study_module, "TrialProcess", StandIn)
    monkeypatch.setattr(study_module, "_POLL_S", 0.0)
    monkeypatch.setattr(StandIn, "begun", collections.Counter())
    monkeypatch.setattr(StandIn, "fails", set())
    monkeypatch.setattr(StandIn, "course", (1.0,) * ITERATIONS)
    monkeypatch.setattr(StandIn, "saves_when_stopped", True)
    return StandIn


def run_trials(search: Search, folder: Path, count: int, *, stop_after: int = 1000):
    """Run a sweep, or only until a number of lines has been printed."""
    study = open_study(folder, seed=search.seed, prunes=search.prunes)
    said: list[str] = []

    def say(line: str) -> None:
        said.append(line)
        if len(said) == stop_after:
            raise KeyboardInterrupt

    runner = SweepRunner(
        study, search.trials(folder), search.ranges, say=say, after_trial=lambda: None
    )
    try:
        runner.run(count, processes=4)
    except KeyboardInterrupt:
        assert len(said) == stop_after
    return study, said


@pytest.mark.parametrize(
    ("saves", "stop_after"), [(True, 6), (False, 13)], ids=["Ctrl-C", "killed"]
)
def test_interrupted_sweep_loses_and_repeats_no_trial(
    tmp_path, stand_in, saves, stop_after
):
    stand_in.saves_when_stopped = saves
    search = make_search()
    folder = search.begin(tmp_path, "cut")
    study, _ = run_trials(search, folder, 12, stop_after=stop_after)
    told = [t for t in study.get_trials() if t.state.is_finished()]
    before = {t.number: (t.state, t.value, t.params) for t in told}
    stand_in.saves_when_stopped = True
    study, _ = run_trials(search, folder, 12)
    found = study.get_trials()
    assert [trial.number for trial in found] == list(range(12))
    assert all(trial.state.is_finished() for trial in found)
    assert len(list(folder.glob("Some-Task/*/run.json"))) == 12
    assert set(stand_in.begun.values()) == {1}
    after = {n: (found[n].state, found[n].value, found[n].params) for n in before}
    assert after == before
    for trial in found:
        (run,) = folder.glob(f"Some-Task/*_trial-{trial.number:03d}")
        metrics = read_metrics(run / "metrics.jsonl")
        count = len(metrics.iterations)
        assert metrics.iterations == list(range(1, count + 1))
        assert metrics.joins == []
        assert (count == ITERATIONS) == (trial.state == TrialState.COMPLETE)


def test_trial_interrupted_while_sampling_is_completed(tmp_path, stand_in):
    search = make_search()
    folder = search.begin(tmp_path, "")
    study = open_study(folder, seed=1, prunes=True)
    study.ask()
    weight = study.ask().suggest_float(WEIGHT, 0.1, 10.0, log=True)
    assert "No finished trial yet." in write_page(folder, search, study).read_text()
    found = run_trials(search, folder, 3)[0].get_trials()
    assert [trial.state for trial in found] == [TrialState.COMPLETE] * 3
    assert found[1].params[WEIGHT] == weight
    assert all(len(trial.params) == 2 for trial in found)


def test_trials_below_the_median_are_pruned_and_others_score_their_best(
    tmp_path, stand_in
):
    search = make_search()
    folder = search.begin(tmp_path, "")
    study, said = run_trials(search, folder, 14)
    found = study.get_trials()
    pruned = [t for t in found if t.state == TrialState.PRUNED]
    complete = [t for t in found if t.state == TrialState.COMPLETE]
    assert pruned and len(pruned) + len(complete) == 14
    for trial in complete:
        assert trial.value == pytest.approx(trial.params[WEIGHT])
    middle = sorted(t.params[WEIGHT] for t in complete)[len(complete) // 2]
    assert max(t.params[WEIGHT] for t in pruned) < middle
    assert sum("pruned after iteration" in line for line in said) == len(pruned)
    unpruned = make_search(prunes=False)
    study, _ = run_trials(unpruned, unpruned.begin(tmp_path, "all"), 7)
    assert {t.state for t in study.get_trials()} == {TrialState.COMPLETE}


def test_a_failed_trial_reports_the_reason_and_the_others_continue(tmp_path, stand_in):
    stand_in.fails = {"trial-001"}
    search = make_search()
    study, said = run_trials(search, search.begin(tmp_path, ""), 3)
    states = [trial.state for trial in study.get_trials()]
    assert states == [TrialState.COMPLETE, TrialState.FAIL, TrialState.COMPLETE]
    assert "trial-001 failed: no room" in said


def test_extended_sweep_samples_new_values(tmp_path, stand_in):
    search = make_search(prunes=False)
    folder = search.begin(tmp_path, "")
    run_trials(search, folder, 3)
    study, _ = run_trials(search, folder, 6)
    drawn = [trial.params[WEIGHT] for trial in study.get_trials()]
    assert len(drawn) == len(set(drawn)) == 6
    # One seed draws one sequence.
    again = search.begin(tmp_path, "again")
    repeated, _ = run_trials(search, again, 3)
    assert [trial.params[WEIGHT] for trial in repeated.get_trials()] == drawn[:3]


def test_the_score_of_a_trial_is_its_best_evaluation(tmp_path, stand_in):
    stand_in.course = (1.0, 3.0, 2.0, 2.0)
    search = make_search(prunes=False)
    folder = search.begin(tmp_path, "")
    study, _ = run_trials(search, folder, 1)
    (trial,) = study.get_trials()
    weight = trial.params[WEIGHT]
    assert trial.value == pytest.approx(3 * weight)
    page = write_page(folder, search, study).read_text()
    assert f"trial-000 scores {3 * weight:.4g}" in page


# --- The folder -----------------------------------------------------------------------


def test_the_newest_sweep_of_the_task_continues_with_the_same_command_only(tmp_path):
    search = make_search()
    first = search.begin(tmp_path, "a")
    second = search.begin(tmp_path, "b")
    make_search(task="Other-Task").begin(tmp_path, "c")
    assert find_sweep(tmp_path, "Some-Task") == second
    assert find_sweep(tmp_path, "Some-Task", str(first)) == first
    assert Search.read(first) == search
    with pytest.raises(SweepError, match="No sweep of No-Task"):
        find_sweep(tmp_path, "No-Task")
    with pytest.raises(SweepError, match=r"sweep\.json is missing"):
        find_sweep(tmp_path, "Some-Task", str(tmp_path))
    other = make_search(ranges=tuple(read_ranges([f"{WEIGHT}:1..2"])))
    with pytest.raises(SweepError, match=r"different ranges: .* not \S+:1\.\.2\."):
        other.check_goes_on(search, first)
    make_search(seed=9).check_goes_on(search, first)


def test_two_processes_do_not_sweep_in_one_folder(tmp_path):
    with lock_sweep(tmp_path):
        with pytest.raises(RunError, match="Another process is running the sweep"):
            with lock_sweep(tmp_path):
                pass


def test_a_trial_resumes_from_its_checkpoint_or_starts_from_the_beginning(
    tmp_path, monkeypatch
):
    trials = make_search().trials(tmp_path)
    assert trial_module._left(trials, "trial-000") is None
    run = make_run(tmp_path / "Some-Task/2026_trial-000", [], pid=1)
    saved = make_run(tmp_path / "Some-Task/2026_trial-001", [], pid=1)
    monkeypatch.setattr(
        Checkpoints,
        "newest",
        lambda self: self.folder if self.folder.parent == saved else None,
    )
    assert trial_module._left(trials, "trial-000") is None
    assert not run.exists()
    left = trial_module._left(trials, "trial-001")
    assert left is not None and left.path == saved
    # Its process is still saving.
    monkeypatch.setattr(trial_module, "PATIENCE_S", 0.3)
    (saved / LOCK).touch()
    with locked(saved, RuntimeError):
        with pytest.raises(RunError, match="Process 1 is still training"):
            trial_module._left(trials, "trial-001")


# --- The page -------------------------------------------------------------------------


@pytest.mark.skipif(find_browser() is None, reason="there is no Chromium")
def test_a_browser_shows_every_trial_and_makes_no_requests(tmp_path, stand_in):
    stand_in.fails = {"trial-002"}
    search = make_search()
    folder = search.begin(tmp_path, "")
    study, _ = run_trials(search, folder, 14)
    file = write_page(folder, search, study)
    best = max(t.value for t in study.get_trials() if t.value is not None)
    browser = Listening(file.as_uri(), width=500, height=900)
    try:
        browser.wait("document.readyState === 'complete'")
        count = "document.querySelectorAll('{}').length"
        assert browser.run(count.format(".axes path.line")) == 14
        assert browser.run(count.format("#trials tbody tr")) == 14
        states = browser.run(
            "[...document.querySelectorAll('#trials tbody tr')].map("
            "row => row.children[1].textContent)"
        )
        told = collections.Counter(states)
        assert told["failed"] == 1 and told["pruned"] > 0 and told["finished"] > 4
        dashed = browser.run(count.format(".axes path.dashed"))
        assert dashed == told["pruned"] + told["failed"]
        # The lower end of the score's axis is the worst score, the upper end the best.
        head, foot = browser.run(
            "(([x, y]) => [x, y])(document.querySelector('.axes .best')"
            ".getAttribute('d').match(/[\\d.]+ [\\d.]+$/)[0].split(' ').map(Number))"
        )
        assert (head, foot) == (1000.0, 0.0)
        assert f"{best:.4g}" in browser.run("document.body.textContent")
        assert browser.run(count.format(".bars .name")) == 2
        assert not browser.run("document.documentElement.scrollWidth > innerWidth")
        assert browser.complaints == []
        assert set(browser.requested) <= {file.as_uri(), "about:blank"}
    finally:
        browser.close()


def places_on(page: Path) -> tuple[set[Path], str]:
    """Return files linked from a page, and the folder in its line of `mjlab play`."""
    text = page.read_text()
    links = {page.parent / place for place in re.findall(r'href="\./([^"]+)"', text)}
    (played,) = re.findall(r"mjlab play ([^<]+)<", text)
    return links, played


@pytest.mark.parametrize("logs", [(), ("--logs", "a/b"), ("--logs", "../beside")])
def test_the_page_links_runs_below_a_relative_logs_folder(
    tmp_path, monkeypatch, stand_in, logs
):
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    tuned = ("--tune", f"{WEIGHT}:log:0.1..10", "--trials", "3", "--seed", "1")
    settings = ("--agent.evaluation.every", "2", "--agent.max-iterations", "8")
    script.main(["Cartpole-Balance", *tuned, *settings, *logs])
    root = here / (logs[1] if logs else "logs")
    (page,) = root.glob("sweeps/*/sweep.html")
    links, played = places_on(page)
    runs = {file.parent.resolve() for file in page.parent.glob("*/*/run.json")}
    assert len(runs) == 3
    assert {link.parent.resolve() for link in links} == runs
    assert (here / played).resolve() in runs


# --- Trainings ------------------------------------------------------------------------

SMALL = [
    *("--env.scene.num-envs", "8", "--env.episode-length-s", "5"),
    *("--agent.max-iterations", "8", "--agent.num-steps-per-env", "8"),
    *("--agent.evaluation.every", "2", "--agent.evaluation.num-envs", "4"),
    *("--agent.checkpoint.every", "2", "--agent.logging.tensorboard", "False"),
    *("--device", "cpu"),
]


def sweep_command(*more: str) -> list[str]:
    return [
        *(sys.executable, str(ROOT / "scripts/sweep.py"), "Cartpole-Balance"),
        *(
            "--tune",
            f"{WEIGHT}:log:0.1..10",
            "agent.algorithm.learning-rate:1e-4..1e-3",
        ),
        *("--seed", "1", *SMALL, *more),
    ]


def trained(folder: Path) -> dict[str, Path]:
    """Run folders of trials by name; each has one."""
    runs = [file.parent for file in folder.glob("Cartpole-Balance/2*/run.json")]
    found = {run.name.rpartition("_")[2]: run for run in runs}
    assert len(found) == len(runs)
    return found


def is_running(run: Path) -> bool:
    return Run(run).info()["status"] == "running"


@pytest.mark.slow
def test_twelve_trials_in_four_processes_survive_a_kill(tmp_path):
    command = sweep_command(
        *("--logs", str(tmp_path), "--trials", "12", "--processes", "4")
    )
    with (tmp_path / "said.txt").open("w") as said:
        first = subprocess.Popen(
            command, stdout=said, stderr=said, start_new_session=True
        )
    limit = time.monotonic() + 900
    running: dict[str, Path] = {}
    # During the sweep: some trials have finished, and an unfinished one has a
    # checkpoint.
    while not any([*run.glob("checkpoints/model_*.json")] for run in running.values()):
        assert first.poll() is None and time.monotonic() < limit
        time.sleep(0.1)
        if (tmp_path / "said.txt").read_text().count("scores") >= 3:
            folder = find_sweep(tmp_path, "Cartpole-Balance")
            known = trained(folder)
            running = {n: run for n, run in known.items() if is_running(run)}
    done = {
        name: (run / "metrics.jsonl").read_bytes()
        for name, run in trained(folder).items()
        if name not in running
    }
    os.killpg(first.pid, signal.SIGKILL)
    first.wait()
    pids = [Run(run).info()["pid"] for run in running.values()]
    while any(Path(f"/proc/{pid}").exists() for pid in pids):
        assert time.monotonic() < limit
        time.sleep(0.1)
    again = subprocess.run([*command, "--resume"], capture_output=True, text=True)
    assert again.returncode == 0, again.stdout + again.stderr
    assert any(f"{name} resumed" in again.stdout for name in running)

    found = open_study(folder, seed=1, prunes=True).get_trials()
    states = collections.Counter(trial.state for trial in found)
    print(again.stdout, dict(states))
    assert [trial.number for trial in found] == list(range(12))
    assert states[TrialState.COMPLETE] + states[TrialState.PRUNED] == 12
    assert states[TrialState.PRUNED] > 0
    runs = trained(folder)
    assert runs.keys() == {f"trial-{number:03d}" for number in range(12)}
    for trial in found:
        metrics = read_metrics(runs[f"trial-{trial.number:03d}"] / "metrics.jsonl")
        # Lines of an iteration before the kill, which is repeated, appear once.
        assert metrics.iterations == list(range(1, metrics.iterations[-1] + 1))
        is_whole = metrics.iterations[-1] == 8
        assert is_whole or trial.state == TrialState.PRUNED
        scores = metrics.series["Eval/mean_reward"]
        pairs = dict(zip(scores.iterations, scores.values, strict=True))
        assert trial.intermediate_values == pytest.approx(pairs)
    for name, figures in done.items():
        assert (runs[name] / "metrics.jsonl").read_bytes() == figures
    page = (folder / "sweep.html").read_text()
    assert page.count("below the median of earlier trials") == states[TrialState.PRUNED]


@pytest.mark.slow
def test_the_same_search_runs_on_ray_tune(tmp_path):
    pytest.importorskip("ray.tune", reason="Ray Tune is not installed")
    command = sweep_command(
        *("--logs", str(tmp_path), "--trials", "4", "--processes", "2"),
        *("--engine", "ray"),
    )
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    folder = find_sweep(tmp_path, "Cartpole-Balance")
    found = open_study(folder, seed=1, prunes=True).get_trials()
    assert len(found) == 4 and len(trained(folder)) == 4
    assert {trial.state for trial in found} <= {TrialState.COMPLETE, TrialState.PRUNED}
    for trial in found:
        run = trained(folder)[trial.user_attrs["name"]]
        weight = Run(run).settings().values["env.rewards.smooth.weight"]
        assert weight == pytest.approx(trial.params[WEIGHT])
    again = subprocess.run([*command, "--resume"], capture_output=True, text=True)
    assert again.returncode == 0, again.stdout + again.stderr
    assert len(trained(folder)) == 4
    assert len(open_study(folder, seed=1, prunes=True).get_trials()) == 4

"""Malicious sweep folders that try to write or delete the user's files."""

import json
from pathlib import Path

import pytest

from mjlab.sweep.folder import Search, SweepError, Trials, lock_sweep
from mjlab.sweep.ranges import read_ranges

optuna = pytest.importorskip("optuna", reason="Optuna is not installed")

from mjlab.sweep import trial as trial_module  # noqa: E402
from mjlab.sweep.page import write_page  # noqa: E402
from mjlab.sweep.study import NAME, SweepRunner, open_study  # noqa: E402

EVIL = ["../../evil", "{home}/evil", "*", "../*", "", "..", "a\0b", 3, None, ["a"]]


@pytest.fixture
def search() -> Search:
    return Search(
        task="Some-Task",
        ranges=tuple(read_ranges(["env.rewards.smooth.weight:0.1..10"])),
        arguments=(),
        metric="Eval/mean_reward",
        seed=4,
        prunes=False,
        engine="optuna",
    )


@pytest.fixture
def no_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    def popen(*words: object, **more: object) -> None:
        raise AssertionError("A process was started.")

    monkeypatch.setattr(trial_module.subprocess, "Popen", popen)


def a_run(folder: Path) -> Path:
    folder.mkdir(parents=True)
    (folder / "run.json").write_text(json.dumps({"task": "Some-Task", "pid": 1}))
    (folder / "thesis.tex").write_text("years")
    return folder


@pytest.mark.parametrize("name", EVIL)
def test_the_name_of_a_trial_writes_and_deletes_no_files(
    name, search, no_processes, tmp_path
):
    """A running trial has no checkpoint, so its run would be replaced."""
    home = tmp_path / "home"
    kept = a_run(home / "task" / "2026_evil")
    folder = search.begin(tmp_path / "logs", "theirs")
    a_run(folder / "Some-Task" / "2026_trial-001")
    study = open_study(folder, seed=4, prunes=False)
    trial = study.ask()
    trial.suggest_float("env.rewards.smooth.weight", 0.1, 10)
    trial.set_user_attr(NAME, name.format(home=home) if isinstance(name, str) else name)
    runner = SweepRunner(
        study, search.trials(folder), search.ranges, say=print, after_trial=list
    )
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(SweepError, match=r"study\.db names trial 0"):
        runner.run(1, processes=1)
    with pytest.raises(SweepError, match=r"study\.db names trial 0"):
        write_page(folder, search, study)
    assert sorted(tmp_path.rglob("*")) == before
    assert (kept / "thesis.tex").read_text() == "years"


def test_trial_name_is_not_a_glob_pattern(search, tmp_path):
    """Brackets are valid in a file name, and a pattern of `glob`."""
    a_run(tmp_path / "Some-Task" / "2026_trial-1")
    trials = search.trials(tmp_path)
    assert trials.find("trial-[0-9]") is None
    found = trials.find("trial-1")
    assert found is not None and found.path.name == "2026_trial-1"


@pytest.mark.parametrize("name", ["../evil", "*"])
def test_a_process_of_a_trial_has_a_safe_name(name, no_processes, tmp_path):
    trials = Trials(folder=tmp_path, task="Some-Task")
    with pytest.raises(SweepError, match="name of a trial"):
        trial_module.TrialProcess(trials, name, {})
    assert list(tmp_path.iterdir()) == []


def test_a_sweep_with_a_link_that_leaves_its_folder_is_refused(search, tmp_path):
    kept = a_run(tmp_path / "home" / "2026_trial-000")
    folder = search.begin(tmp_path / "logs", "theirs")
    (folder / "Some-Task").symlink_to(kept.parent)
    with pytest.raises(SweepError, match="is a link that leaves"):
        with lock_sweep(folder):
            pass


def test_a_locked_sweep_makes_no_file_elsewhere(search, tmp_path):
    folder = search.begin(tmp_path / "logs", "theirs")
    (folder / ".lock").symlink_to(tmp_path / "planted")
    with pytest.raises(SweepError, match="is a link that leaves"):
        with lock_sweep(folder):
            pass
    assert not (tmp_path / "planted").exists()

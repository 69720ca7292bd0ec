"""What a run leaves behind, and what a user sees of it."""

import builtins
import importlib
import io
import json
import logging
import shutil
import subprocess
import sys

import pytest
from rich.console import Console

from mjlab.rl import LoggingCfg, RunFolder
from mjlab.rl.console import LivePanel, PlainLines, Progress, duration, open_display
from mjlab.rl.figures import Window
from mjlab.rl.logging import JsonlWriter, read_rows, writing
from tests.worlds.rl_runs import agent_cfg, env_cfg, make_loop


def create(root, task="Cartpole-Balance", name="first try"):
    configs = {"env": env_cfg(), "agent": agent_cfg()}
    return RunFolder.create(root, task, name, configs=configs, seed=3)


# --- The folder ----------------------------------------------------------------------


def test_a_run_folder_says_what_was_run_on_what(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["scripts/train.py", "Cartpole-Balance", "--a b"])
    run = create(tmp_path)
    assert run.path.parent == tmp_path / "Cartpole-Balance"
    assert run.path.name.endswith("_first-try")
    info = run.info()
    assert info["status"] == "running"
    assert info["seed"] == 3
    assert info["arguments"] == ["Cartpole-Balance", "--a b"]
    assert info["command"].endswith("scripts/train.py Cartpole-Balance '--a b'")
    assert {"python", "torch", "mujoco", "rsl-rl-lib"} <= info["versions"].keys()
    assert info["hardware"]["cores"] >= 1
    assert run.configs() == {"env": env_cfg(), "agent": agent_cfg()}


def test_a_run_is_found_by_the_name_of_its_folder(tmp_path):
    run = create(tmp_path)
    assert RunFolder.find(run.path.name, root=tmp_path).path == run.path.resolve()
    run.path.parent.joinpath("latest").unlink()
    shutil.copytree(tmp_path / "Cartpole-Balance", tmp_path / "Other")
    with pytest.raises(ValueError, match=r"names several runs: .*Other"):
        RunFolder.find(run.path.name, root=tmp_path)


def test_git_is_what_git_says(tmp_path, monkeypatch):
    project = tmp_path / "project"
    project.mkdir()

    def git(*arguments):
        identity = ["-c", "user.name=a", "-c", "user.email=a@b"]
        command = ["git", "-C", str(project), *identity, *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True)

    git("init", "-q")
    (project / "file").write_text("one\n")
    git("add", "file")
    git("commit", "-qm", "x")
    (project / "file").write_text("two\n")
    monkeypatch.chdir(project)
    run = create(tmp_path / "logs")
    (said,) = [v for k, v in run.info()["git"].items() if k.endswith("project")]
    assert said["commit"] == git("rev-parse", "HEAD").stdout.strip()
    assert said["changed"]
    assert "+two" in (run.path / "git" / "project.diff").read_text()


def test_the_newest_run_is_found_by_latest_and_by_its_task(tmp_path):
    first, second = create(tmp_path), create(tmp_path, task="Other")
    assert first.path != second.path
    for place, run in {
        "latest": second,
        "Other": second,
        "Cartpole-Balance": first,
        "Cartpole-Balance/latest": first,
        first.path: first,
        first.path / "checkpoints" / "model_000001.pt": first,
    }.items():
        assert RunFolder.find(place, root=tmp_path).path == run.path.resolve(), place
    (tmp_path / "sweeps").mkdir()
    with pytest.raises(ValueError, match=r"no run 'sweps'\. (?!.*'sweeps')"):
        RunFolder.find("sweps", root=tmp_path)
    with pytest.raises(ValueError, match=r"no run 'Cartpole'.*'Cartpole-Balance'"):
        RunFolder.find("Cartpole", root=tmp_path)


def test_two_runs_of_one_second_have_two_folders(tmp_path):
    assert len({create(tmp_path).path for _ in range(3)}) == 3


def test_a_name_leads_nowhere_else(tmp_path):
    run = create(tmp_path / "logs", task="../../Bad/Task", name="../x")
    assert run.path.is_relative_to(tmp_path / "logs")
    assert run.path.parent.parent == tmp_path / "logs"


def test_a_failure_is_recorded_with_its_reason(tmp_path):
    run = create(tmp_path)
    with pytest.raises(ZeroDivisionError), run.recording():
        _ = 1 / 0
    assert run.info()["status"] == "failed"
    assert run.info()["reason"] == "ZeroDivisionError: division by zero"
    assert "in test_a_failure" in (run.path / "error.txt").read_text()
    with pytest.raises(KeyboardInterrupt), run.recording():
        raise KeyboardInterrupt
    assert run.info()["status"] == "stopped"
    run.finish("finished", "all 3 iterations are done")
    assert run.info()["status"] == "finished"
    assert run.info()["finished"] >= run.info()["started"]


# --- Figures -------------------------------------------------------------------------


def test_figures_go_to_jsonl_and_tensorboard(tmp_path):
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    with writing(tmp_path, LoggingCfg(), config={}) as writers:
        loop = make_loop(agent_cfg(2), writers=writers)
        loop.run()
    lines = read_rows(tmp_path / "metrics.jsonl")
    events = EventAccumulator(str(tmp_path))
    events.Reload()
    scalars = events.Scalars("Loss/value")
    assert [scalar.step for scalar in scalars] == [1, 2]
    assert scalars[1].value == pytest.approx(lines[1]["Loss/value"])
    assert lines[1]["Loss/value"] == loop.figures["Loss/value"]


def test_without_tensorboard_the_pip_line_is_said_and_training_goes_on(
    tmp_path, monkeypatch, caplog
):
    hide(monkeypatch, "torch.utils.tensorboard")
    with (
        caplog.at_level(logging.WARNING),
        writing(tmp_path, LoggingCfg(), config={}) as writers,
    ):
        assert len(writers) == 1
    assert "pip install tensorboard" in caplog.text


def hide(monkeypatch, name):
    original = importlib.import_module

    def without(wanted, *args):
        if wanted == name:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return original(wanted, *args)

    monkeypatch.setattr(importlib, "import_module", without)


def test_a_number_that_is_not_finite_is_null_in_jsonl(tmp_path):
    writer = JsonlWriter(tmp_path / "metrics.jsonl")
    writer.write(1, {"a": float("nan"), "b": 2.0})
    line = (tmp_path / "metrics.jsonl").read_text()
    assert line.endswith("\n")
    strict = json.loads(line, parse_constant=lambda name: pytest.fail(name))
    assert strict == {"iteration": 1, "a": None, "b": 2.0}


def test_the_window_holds_just_enough_of_the_latest_episodes():
    window = Window(10)
    assert window.means() == {}
    window.add(100.0, 50.0, 5.0)
    window.add(0.0, 0.0, 0.0)
    window.add(40.0, 30.0, 4.0)
    # Nine episodes are too few, so all of them count.
    assert window.means()["Train/mean_reward"] == pytest.approx(140 / 9)
    window.add(6.0, 12.0, 6.0)
    # The last two iterations have ten, so the first goes.
    assert window.means()["Train/mean_reward"] == pytest.approx(46 / 10)
    assert window.means()["Train/mean_episode_length"] == pytest.approx(42 / 10)
    other = Window(10)
    other.load_state(window.state())
    assert other.means() == window.means()


# --- The console ---------------------------------------------------------------------

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


def test_plain_lines_say_the_main_figures_without_colours():
    text = shown(PlainLines)
    assert text.splitlines() == [
        "3/10  23,456 steps/s  reward 12.5  ETA 1 h 06 min  nonfinite 2",
        "and more",
    ]
    assert "\x1b" not in text


def test_the_panel_shows_progress_best_and_worst_terms_and_trouble():
    text = shown(lambda c: LivePanel(c, "Cartpole"), force_terminal=True)
    for part in ("3/10", "23,456", "ETA 1 h 06 min", "term4", "term-4", "nonfinite 2"):
        assert part in text, part
    assert "term0" not in text
    assert "overflow" not in text


def test_lines_may_be_kept_apart_in_time_but_the_last_always_comes():
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
def test_a_duration_reads_well(seconds, text):
    assert duration(seconds) == text


def test_nothing_is_printed_while_a_learner_is_built_and_learns(capsys):
    make_loop(agent_cfg(1)).run()
    assert capsys.readouterr().out == ""
    assert builtins.print is print


def test_writers_are_closed_whichever_of_them_fails(tmp_path, monkeypatch):
    closed = []

    class Failing:
        def __init__(self, folder: object, **more: object) -> None: ...

        def write(self, iteration: int, figures: object) -> None: ...

        def close(self, *, failed: bool = False) -> None:
            closed.append(("tensorboard", failed))
            raise OSError("disk full")

    monkeypatch.setattr("mjlab.rl.logging.TensorboardWriter", Failing)
    close = JsonlWriter.close
    monkeypatch.setattr(
        JsonlWriter,
        "close",
        lambda self, *, failed=False: closed.append(("jsonl", failed)) or close(self),
    )
    with (
        pytest.raises(OSError, match="disk full"),
        writing(tmp_path, LoggingCfg(), config={}),
    ):
        pass
    assert closed == [("tensorboard", False), ("jsonl", True)]
    # One that cannot be opened leaves none of the others open.
    closed.clear()
    monkeypatch.setattr("mjlab.rl.logging.WandbWriter", lambda *args: 1 / 0)
    with (
        pytest.raises(OSError, match="disk full"),
        writing(tmp_path, LoggingCfg(wandb=True), config={}),
    ):
        pass
    assert closed == [("tensorboard", True), ("jsonl", True)]

"""The command `mjlab`: its verbs, and program names in messages."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import mjlab
from mjlab.cli import answers
from mjlab.cli.answers import as_called
from mjlab.cli.demo import SHOWN
from mjlab.cli.main import main
from mjlab.cli.verbs import VERBS
from mjlab.registry import load_task

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = str(load_task(SHOWN).trained)
SCHEDULED = ("--commands", "scheduled")


@pytest.fixture
def call(monkeypatch, capsys):
    """Run `mjlab` with arguments; return exit code, output and errors."""
    monkeypatch.setattr(answers, "_CALLED", {})

    def typed(*line: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["mjlab", *line])
        try:
            code = main()
        except SystemExit as ended:  # tyro's output, after a help text
            code = int(ended.code or 0)
        said = capsys.readouterr()
        return code, said.out, said.err

    return typed


@pytest.mark.parametrize("word", [*VERBS])
def test_each_verb_shows_its_own_name_in_the_help(call, word):
    code, text, _ = call(word, "--help")
    assert code == 0
    assert text.startswith(f"usage: mjlab {word}")
    # Files of the user, or written by `export`.
    for file in (
        "mjlab_runner.py",
        "their_env_cfg.py",
        "my_env.py",
        "my_adapter.py",
        "measured_yam.py",
        "FILE.py",
    ):
        text = text.replace(file, "")
    assert ".py" not in text


def test_without_a_verb_it_lists_all_of_them(call):
    for line in ([], ["--help"], ["help"]):
        code, text, _ = call(*line)
        assert code == 0
        assert all(f"\n  {word} " in text for word in VERBS)


def test_an_unknown_verb_suggests_the_nearest(call):
    code, _, said = call("trian", "Cartpole-Balance")
    assert code == 2
    assert said.startswith(
        "error: Unknown verb 'mjlab trian'. Valid names, nearest first: 'train', "
    )


def test_python_without_the_packages_prints_which_environment_to_activate():
    line = [sys.executable, "-I", "-S", str(ROOT / "scripts/train.py"), "--help"]
    done = subprocess.run(line, capture_output=True, text=True)
    assert done.returncode == 2
    assert "has no package 'tyro'. Activate the environment" in done.stderr
    assert "Traceback" not in done.stderr


def test_every_program_of_the_folder_has_a_verb():
    programs = {file.stem for file in (ROOT / "scripts").glob("[!_]*.py")}
    named = {verb.script or name for name, verb in VERBS.items()}
    assert sorted(named - programs) == [], "verbs without a file scripts/NAME.py"
    assert sorted(programs - named) == [], "scripts without a line in cli/verbs.py"


def test_importing_a_script_does_not_change_sys_path():
    """In an installation, the package is next to the program, not the repository."""
    code = (
        "import importlib, sys; before = [*sys.path]\n"
        f"for name in {[*VERBS]}:\n"
        "    importlib.import_module(f'mjlab.cli.{name}')\n"
        "    assert sys.path == before, name"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_the_version_matches_the_project_file(call):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert call("--version") == (0, f"mjlab-fused {project['version']}\n", "")


def test_messages_name_programs_as_the_user_calls_them(call, tmp_path):
    _, _, said = call("evaluate", "Muscle-Walk-W54", "--logs", str(tmp_path))
    assert said.endswith("Train one with mjlab train Muscle-Walk-W54.\n")
    assert as_called("python scripts/export.py logs/x") == "mjlab export logs/x"
    assert as_called("mine/train.py, my_train.py") == "mine/train.py, my_train.py"
    assert as_called("conftest.py") == "conftest.py"


@pytest.fixture
def played(monkeypatch):
    """Arguments of `play`."""
    seen = []
    monkeypatch.setattr("mjlab.cli.play.main", seen.append)
    return seen


def test_the_help_of_a_demo_describes_it(call, played):
    for line in (["--help"], ["Lift-Yam", "-h"]):
        code, said, _ = call("demo", *line)
        assert code == 0
        assert said.startswith("usage: mjlab demo [TASK]")
        assert "Velocity-Go1-Flat" in said and "demo.mp4" in said
        assert max(map(len, said.splitlines())) <= 88
    assert played == []


def test_a_demo_without_a_task_shows_a_shipped_policy(call, played):
    assert call("demo", "--viewer", "none")[0] == 0
    assert call("demo", "Muscle-Walk-W18", "--video=x.mp4")[0] == 0
    # Not the newest run of the user, which `play TASK` shows.
    walk, muscles = (load_task(task).trained for task in (SHOWN, "Muscle-Walk-W18"))
    assert None not in (walk, muscles)
    assert played == [
        [str(walk), "--viewer", "none", *SCHEDULED],
        [str(muscles), "--video=x.mp4", *SCHEDULED],
    ]


def test_demo_opens_a_browser_with_a_display_and_records_a_video_without(
    call, played, monkeypatch
):
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.setenv("DISPLAY", ":0")
    assert call("demo")[1] == ""
    monkeypatch.delenv("DISPLAY")
    said = call("demo", "--seconds", "3")[1]
    assert said.startswith("No display found: recording demo.mp4 instead ")
    assert played == [
        [SHIPPED, *SCHEDULED, "--open"],
        [SHIPPED, "--seconds", "3", *SCHEDULED, "--video", "demo.mp4"],
    ]


def test_package_lists_public_names_only():
    assert "make" in dir(mjlab)
    assert not {"os", "sys", "warnings", "TYPE_CHECKING"} & {*dir(mjlab)}

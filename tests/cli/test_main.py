"""The command `mjlab`: its verbs, and how answers name programs under it."""

import sys
from pathlib import Path

import pytest

import mjlab
from mjlab.cli import answers
from mjlab.cli.answers import as_called
from mjlab.cli.main import VERBS, main
from scripts import play

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def call(monkeypatch, capsys):
    """Type a line after `mjlab`; return exit code, output and errors."""
    monkeypatch.setattr(answers, "_CALLED", {})

    def typed(*line: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["mjlab", *line])
        code = main()
        said = capsys.readouterr()
        return code, said.out, said.err

    return typed


@pytest.mark.parametrize("word", [*VERBS])
def test_each_verb_is_a_program_that_calls_itself_so(call, word):
    code, text, _ = call(word, "--help")
    assert code == 0
    own = "play" if word == "demo" else word
    assert text.startswith(f"usage: mjlab {own}")
    # The runner is a file that `export` writes.
    assert ".py" not in text.replace("mjlab_runner.py", "")


def test_without_a_verb_it_lists_all_of_them(call):
    for line in ([], ["--help"], ["help"]):
        code, text, _ = call(*line)
        assert code == 0
        assert all(f"\n  {word} " in text for word in VERBS)


def test_a_wrong_verb_is_answered_with_the_nearest(call):
    code, _, said = call("trian", "Cartpole-Balance")
    assert code == 2
    assert said.startswith(
        "error: There is no 'mjlab trian'. Valid names, nearest first: 'train', "
    )


def test_every_program_of_the_folder_but_those_for_developers_has_a_verb():
    programs = {file.stem for file in (ROOT / "scripts").glob("[!_]*.py")}
    missing = programs - {verb.script for verb in VERBS.values()}
    assert missing == {"bench", "warm_kernels"}


def test_answers_name_programs_as_the_user_calls_them(call, tmp_path):
    _, _, said = call("evaluate", "Velocity-G1", "--logs", str(tmp_path))
    assert said.endswith("Train one with mjlab train Velocity-G1.\n")
    assert as_called("python scripts/export.py logs/x") == "mjlab export logs/x"
    assert as_called("mine/train.py, my_train.py") == "mine/train.py, my_train.py"
    assert as_called("bench.py") == "bench.py"


def test_a_demo_shows_what_ships_where_nothing_is_named(call, monkeypatch):
    seen = []
    monkeypatch.setattr("mjlab.scripts.play.main", seen.append)
    assert call("demo", "--viewer", "none")[0] == 0
    assert call("demo", "Muscle-Walk-W18")[0] == 0
    assert seen == [["Velocity-Go1-Flat", "--viewer", "none"], ["Muscle-Walk-W18"]]
    assert play.load_task("Velocity-Go1-Flat").trained is not None


def test_the_front_door_shows_its_own_names_only():
    assert "make" in dir(mjlab)
    assert not {"os", "sys", "warnings", "TYPE_CHECKING"} & {*dir(mjlab)}

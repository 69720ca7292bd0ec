"""`adopt` writes a task, which is trained and played from its file."""

import subprocess
import sys
from pathlib import Path

import pytest

from mjlab.cli import adopt
from mjlab.cli.answers import run_program
from tests.adopt.models import hexapod

ROOT = Path(__file__).resolve().parents[2]


def typed(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(ROOT / "scripts" / words[0]), *words[1:]],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=900,
    )


def test_a_missing_file_and_a_wrong_option_are_one_line_each(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "walk_rex").mkdir()
    complaints = {
        "": "FILE is missing: adopt.py FILE, such as adopt.py robot.xml.",
        "none.xml": "none.xml does not exist. Name an MJCF or URDF file.",
        "walk_rex": "walk_rex is a folder. Name an MJCF or URDF file.",
    }
    for words, complaint in complaints.items():
        assert run_program(adopt.main, words.split()) == 2
        assert capsys.readouterr().err.strip() == f"error: {complaint}"
    assert run_program(adopt.main, ["a.xml", "--stance", "knee"]) == 2
    assert "'knee' is not a joint and a number" in capsys.readouterr().err


@pytest.mark.slow
def test_an_adopted_robot_is_trained_and_played(tmp_path):
    (tmp_path / "rex.xml").write_text(hexapod())
    done = typed(tmp_path, "adopt.py", "rex.xml", "--no-train", "--no-pictures")
    assert done.returncode == 0, done.stderr
    assert "6 legs with 3 joints each" in done.stdout
    task = "walk_rex/walk_rex.py:TASK"
    assert task in done.stdout
    small = ["--num-envs", "8", "--agent.max-iterations", "1"]
    small += ["--agent.num-steps-per-env", "8", "--agent.evaluation.every", "0"]
    done = typed(tmp_path, "train.py", task, *small)
    assert done.returncode == 0, done.stderr
    for verb in (
        ("play.py", "latest", "--viewer", "none", "--steps", "5"),
        ("doctor.py", "latest"),
    ):
        done = typed(tmp_path, *verb, "--task", task)
        assert done.returncode == 0, done.stderr

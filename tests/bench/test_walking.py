"""`bench/walking.py`: table and file."""

import json
import sys
from pathlib import Path

import pytest

from bench import walking
from mjlab.gait import walk as gait_walk
from mjlab.gait.limits import QUIET


def test_one_command_prints_the_gait_table_and_saves_it(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setitem(gait_walk.EPISODE_S, QUIET, 4.5)
    monkeypatch.chdir(tmp_path)
    line = ["Velocity-Go1-Flat", "--robots", "1", "--episodes", "0"]
    name = str(tmp_path / "found")
    monkeypatch.setattr(sys, "argv", ["walking.py", *line, "--name", name])
    walking.main()
    said = capsys.readouterr().out
    assert "forward 0.5 m/s, quiet" in said and "forward 1.0 m/s, quiet" in said
    assert said.count("per leg 1/s") == 2
    found = json.loads((tmp_path / "found.json").read_text("utf-8"))
    assert found["machine"]["processor"] and found["versions"]["mujoco"]
    policy = found["policies"]["Velocity-Go1-Flat"]
    assert list(policy["worlds"]) == [QUIET]
    assert policy["natural"] == (not policy["failures"])
    assert policy["worlds"][QUIET]["forward 1.0"]["feet"] == 4


def test_without_a_policy_the_saved_figures_are_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["walking.py"])
    walking.main()
    said = capsys.readouterr().out
    table = said.partition("forward 1.0 m/s, quiet")[2].partition("\n\n")[0]
    for name in ("Velocity-G1-Flat", "Velocity-G1-Flat, seed 1", "rl_mjlab/policy"):
        assert f"\n{name}  " in table
    steps = walking.saved()["Velocity-G1-Flat of commit cb987b4"]["worlds"][QUIET]
    assert steps["forward 1.0"]["steps_per_s"] > 9.0 and "saved" not in said

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

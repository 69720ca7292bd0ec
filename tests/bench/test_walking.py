"""`bench/walking.py`: table, file, and disturbances other than the task's."""

import json
import sys
from pathlib import Path

import pytest

from bench import walking
from bench.walking import disturbed
from mjlab.gait import walk as gait_walk
from mjlab.gait.limits import QUIET
from mjlab.registry import load_task
from mjlab.runs import Run
from mjlab.tasks.velocity import VelocityG1FlatCfg, VelocityGo1FlatCfg


def test_pushes_and_friction_match_the_request_and_the_task_is_unchanged() -> None:
    cfg = VelocityG1FlatCfg()
    found = disturbed(cfg, 1.0, [0.3, 1.6])
    push, feet = found.events["push_robot"], found.events["foot_friction"]
    assert push is not None and feet is not None
    velocity = push.params["velocity_range"]
    assert (velocity["x"], velocity["y"]) == ((-1.0, 1.0), (-1.0, 1.0))
    assert velocity["z"] == (-0.4, 0.4)
    assert feet.params["ranges"] == (0.3, 1.6)
    assert cfg == VelocityG1FlatCfg()
    assert disturbed(cfg, None, None) == cfg


def test_the_settings_of_a_saved_run_are_changed_as_well() -> None:
    trained = load_task("Velocity-G1-Flat").trained
    assert trained is not None
    cfg = Run(trained).configs()["env"]
    found = disturbed(cfg, 0.7, (0.2, 0.4)).events
    push, feet = found["push_robot"], found["foot_friction"]
    assert push is not None and push.params["velocity_range"]["x"] == (-0.7, 0.7)
    assert feet is not None and feet.params["ranges"] == (0.2, 0.4)


def test_given_friction_range_applies_to_sliding_friction_only() -> None:
    found = disturbed(VelocityGo1FlatCfg(), None, [0.3, 1.6]).events
    spin, slide = found["foot_friction_spin"], found["foot_friction"]
    assert spin is not None and spin.params["ranges"] == (1e-4, 2e-2)
    assert slide is not None and slide.params["ranges"] == (0.3, 1.6)


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

"""`bench/exams.py`: figures by level, and levels that are not run again."""

import json
import sys
from pathlib import Path

import pytest

from bench import exams, record
from mjlab.exam import LEVELS


def test_finished_level_is_not_repeated_for_the_same_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "exam").mkdir()
    for module in (exams, record):
        monkeypatch.setattr(module, "RESULTS", tmp_path)
    conducted: list[str] = []

    def conduct(robot, level, policy, runs):
        conducted.append(level.name)
        return exam_of(robot, level, policy, runs)

    exam_of = exams.conduct
    monkeypatch.setattr(exams, "conduct", conduct)
    # With arms that others move, this policy falls within a few seconds.
    line = ["exams.py", "Velocity-G1-Flat", "--runs", "2", "--first-run", "100000"]
    monkeypatch.setattr(sys, "argv", [*line, "--levels", "N"])
    exams.main()
    path = tmp_path / "exam" / "Velocity-G1-Flat.json"
    found = json.loads(path.read_text("utf-8"))
    assert found["first_run"] == 100000 and found["robot"] == "G1"
    level = found["levels"]["N"]
    assert len(level["survival_s"]) == 2
    assert level["scores"]["runs"] == 2
    mean = sum(level["survival_s"]) / 2
    assert level["scores"]["survival"]["mean"] == pytest.approx(mean, abs=0.01)
    assert str(path) in capsys.readouterr().out
    exams.main()
    assert conducted == ["N"]
    monkeypatch.setattr(sys, "argv", [*line[:3], "1", *line[4:], "--levels", "N"])
    exams.main()
    assert conducted == ["N", "N"]
    assert set(json.loads(path.read_text("utf-8"))["levels"]) == {"N"} < set(LEVELS)

"""The page from a policy to a robot: its commands run, one after the other."""

import ast
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from mjlab.export.runner import robot as interface

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "robot.md").read_text("utf-8")


@pytest.mark.slow
def test_five_commands_lead_to_a_robot(tmp_path):
    (block,) = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
    commands = block.splitlines()
    assert len(commands) == 5
    (tmp_path / "scripts").symlink_to(ROOT / "scripts")
    said = []
    for command in commands:
        program, *arguments = shlex.split(command)
        assert program == "python"
        line = [sys.executable, *arguments]
        done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        said.append(done.stdout)
    assert said[1].endswith("Equal.\n") and said[4].endswith("Equal.\n")
    assert said[3] == "500 steps, 10 s.\n"
    rows = [
        json.loads(row) for row in (tmp_path / "steps.jsonl").read_text().splitlines()
    ]
    # It walks as it is told.
    speeds = [row["measured"]["base_lin_vel"][0] for row in rows[100:]]
    assert sum(speeds) / len(speeds) == pytest.approx(0.5, abs=0.1)


def test_the_driver_of_the_page_has_every_method_of_the_interface():
    (block,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    (driver,) = [n for n in ast.parse(block).body if isinstance(n, ast.ClassDef)]
    methods = {n.name for n in driver.body if isinstance(n, ast.FunctionDef)}
    assert methods - {"__init__"} == interface.RobotInterface.__abstractmethods__

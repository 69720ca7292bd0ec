"""The page "From a trained policy to a robot": its commands run in order."""

import ast
import json
import math
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from mjlab.export.runner import robot as interface
from mjlab.export.runner import write_runner
from mjlab.export.runner.policy import ContractPolicy

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/tutorials/policy_to_robot.md").read_text("utf-8")


@pytest.mark.slow
def test_six_commands_lead_to_a_robot(tmp_path):
    (block,) = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
    commands = block.splitlines()
    assert len(commands) == 6
    (tmp_path / "scripts").symlink_to(ROOT / "scripts")
    said = []
    for command in commands:
        program, *arguments = shlex.split(command)
        assert program == "python"
        line = [sys.executable, *arguments]
        done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        said.append(done.stdout)
    for place in (1, 5):
        assert said[place].endswith("OK: matches the recording.\n")
    assert said[4] == "OK: 500 lines match the contract.\n"
    assert said[3] == "500 steps, 10 s.\n"
    rows = [
        json.loads(row) for row in (tmp_path / "steps.jsonl").read_text().splitlines()
    ]
    # It tracks the command.
    speeds = [row["measured"]["imu_lin_vel"][0] for row in rows[100:]]
    assert sum(speeds) / len(speeds) == pytest.approx(0.5, abs=0.1)


def test_the_driver_on_the_page_implements_the_whole_interface():
    block, _ = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    (driver,) = [n for n in ast.parse(block).body if isinstance(n, ast.ClassDef)]
    methods = {n.name for n in driver.body if isinstance(n, ast.FunctionDef)}
    assert methods - {"__init__"} == interface.RobotInterface.__abstractmethods__


def test_the_robot_in_mujoco_of_the_page_walks(go1, tmp_path):
    _, block = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    path = write_runner(tmp_path / "go1.onnx")
    shutil.copy(go1, tmp_path / "go1.onnx")
    line = [sys.executable, "-c", block]
    done = subprocess.run(line, cwd=path.parent, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    reason, place = done.stdout.splitlines()
    assert reason == "None"
    x, y, z = map(float, place.strip("[]").split())
    start = ContractPolicy(go1).record()["qpos"][0]
    # 0.5 m/s for 5 s, upright.
    assert math.hypot(x - start[0], y - start[1]) == pytest.approx(2.5, abs=0.5)
    assert z > 0.2

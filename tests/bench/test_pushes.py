"""`bench/pushes.py`: each condition changes pushes or friction, and nothing else."""

from pathlib import Path
from typing import Any

import pytest

from bench.pushes import CONDITIONS
from mjlab.cli import evaluate
from mjlab.cli.line import read_line
from mjlab.runs import find


def events(task: str, options: list[str], logs: Path) -> dict[str, Any]:
    """Events of a shipped policy with the given `evaluate.py` options."""
    line = read_line(evaluate.EvaluateOptions, [task, "--logs", str(logs), *options])
    return evaluate.read_configs(line, find(task, logs).run)["env"].events


@pytest.mark.parametrize("task", ["Velocity-G1-Flat", "Velocity-Go1-Flat"])
def test_a_condition_changes_only_pushes_or_friction(task: str, tmp_path: Path) -> None:
    usual = events(task, [], tmp_path)
    for name, options in CONDITIONS.items():
        found = events(task, options, tmp_path)
        pushes, feet = found.get("push_robot"), found["foot_friction"]
        size = float(name.split()[-2]) if "m/s" in name else None
        assert (pushes is None) == (size is None)
        if size is not None:
            horizontal = {"x": (-size, size), "y": (-size, size)}
            expected = usual["push_robot"].params["velocity_range"] | horizontal
            assert pushes.params["velocity_range"] == expected
        if name.startswith("friction"):
            value = float(name.split()[-1])
            assert feet.params["ranges"] == (value, value)
        else:
            assert feet == usual["foot_friction"]
        others = usual.keys() - {"push_robot", "foot_friction"}
        assert all(found[other] == usual[other] for other in others)

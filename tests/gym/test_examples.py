"""Examples in docs/examples."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "docs" / "examples"
TASK = "Cartpole-Balance"
SETTINGS: dict[str, Any] = {"backend": "native", "max_episode_steps": 5, "seed": 1}


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


episodes = load("episodes")


def pull(observations: torch.Tensor) -> torch.Tensor:
    """Push the cart to the centre."""
    return -observations[:, :1]


def test_training_receives_each_episode_that_ends() -> None:
    ended = episodes.reinforcement_learning(TASK, 3, pull, 12, **SETTINGS)
    assert [each["episode_len"].tolist() for each in ended] == [[5] * 3] * 2
    for figures in ended:
        mean = figures["return"] / figures["episode_len"]
        assert torch.allclose(figures["reward"], mean)
        assert (figures["return"] > 0.2).all()  # At most five steps of 0.05.


def test_unlimited_worlds_continue_beyond_the_time_limit() -> None:
    returns = episodes.without_end(TASK, 3, pull, 12, **SETTINGS)
    assert returns.shape == (3,) and (returns > 0.5).all()


def test_an_evaluation_is_one_whole_episode_of_each_world() -> None:
    means = episodes.evaluation(TASK, 3, pull, **SETTINGS)
    assert means["episode_len"] == 5.0 and 0.2 < means["return"] <= 0.25


def test_collected_episodes_end_with_their_terminal_observation() -> None:
    whole = episodes.collection(TASK, 2, pull, 3, **SETTINGS)
    assert [len(each["observations"]) for each in whole] == [6] * 3
    assert [len(each["rewards"]) for each in whole] == [5] * 3
    for each in whole:
        position, velocity = each["observations"][:, 0], each["observations"][:, 3]
        # A cart moves by about its mean velocity, 0.05 s per step; a reset would jump.
        moved, expected = position.diff(), (velocity[1:] + velocity[:-1]) / 2 * 0.05
        assert torch.allclose(moved, expected, atol=2e-3)
        assert torch.equal(each["actions"], -each["observations"][:-1, :1])


def test_recorded_episodes_are_those_that_were_collected(tmp_path: Path) -> None:
    import h5py

    whole = episodes.collection(TASK, 2, pull, 4, **SETTINGS)
    path = episodes.recording(TASK, 2, pull, 10, tmp_path, **SETTINGS)
    with h5py.File(path) as file:
        found: list[Any] = [file[f"traj_{index}"] for index in range(4)]
        assert len(file) == 4
        seen = [torch.as_tensor(each["obs"][()]) for each in found]
        acted = [torch.as_tensor(each["actions"][()]) for each in found]
    for each in whole:
        same = [torch.equal(each["observations"], other) for other in seen]
        assert sum(same) == 1
        assert torch.equal(each["actions"], acted[same.index(True)])


@pytest.mark.slow
@pytest.mark.parametrize("form", ["torch", "numpy"])
def test_a_learner_in_one_file_solves_cartpole(form: str, tmp_path: Path) -> None:
    command = [sys.executable, str(EXAMPLES / "ppo.py"), "--form", form]
    # The tests do not need an installed project.
    place = os.environ | {"PYTHONPATH": str(ROOT)}
    result = subprocess.run(
        command,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=1800,
        env=place,
    )
    assert result.returncode == 0, result.stderr
    reached = float(result.stdout.splitlines()[-1].split()[1])
    assert reached > 45.0, result.stdout
    assert "Mean reward" in (tmp_path / "ppo.svg").read_text("utf-8")

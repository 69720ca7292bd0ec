"""Measurements and messages of `bench.py` and `bench/velocity.py`."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from mjlab.cli import bench
from mjlab.cli.speed import count_operations, measure, random_actions, run_steps
from mjlab.envs import ManagerBasedRlEnv
from mjlab.registry import load_task
from tests.tools.step_watch import watch

ROOT = Path(__file__).resolve().parents[2]
TASK = "Cartpole-Balance"


def cartpole(num_envs: int) -> ManagerBasedRlEnv:
    cfg = load_task(TASK).env()
    cfg.scene.num_envs = num_envs
    cfg.seed = 0
    env = ManagerBasedRlEnv(cfg)
    env.reset()
    return env


def test_bench_prints_figures_and_writes_them(tmp_path, capsys) -> None:
    out = tmp_path / "figures.json"
    line = f"{TASK} --env.scene.num-envs 8 --blocks 2 --steps 3 --out {out}"
    bench.main(line.split())
    shown = capsys.readouterr().out
    figures = json.loads(out.read_text())
    assert f"{TASK}, 8 worlds on native (cpu, eager)" in shown
    assert f"{figures['operations_per_step']:,}" in shown
    assert "whole step" in shown and "engine: step" in shown
    # A few steps on a busy machine do not determine the faster one.
    assert min(figures["physics_steps_per_s"], figures["env_steps_per_s"]) > 0.0
    assert sum(figures["parts_s"].values()) == pytest.approx(figures["step_s"])
    assert {"hardware", "versions", "date", "command"} <= figures.keys()


def test_operations_are_those_that_a_watched_step_has(monkeypatch) -> None:
    env, action = cartpole(4), torch.zeros(4, 1)
    with watch(env, monkeypatch) as step:
        env.step(action)
    assert count_operations(env) == step.launches > 20


def test_a_resumed_measurement_equals_an_uninterrupted_one() -> None:
    """Physics is measured from the same states, which are restored."""
    measured, stepped = cartpole(4), cartpole(4)
    random = torch.Generator().manual_seed(0)
    speed = measure(measured, blocks=1, steps=3)
    for _ in range(2):  # The first block is warm-up.
        run_steps(stepped, random_actions(stepped, 3, random))
    assert torch.equal(measured.sim.data.qpos, stepped.sim.data.qpos)
    assert len(speed.step_s) == len(speed.physics_s) == 1


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("", "TASK is missing: bench.py TASK [options]. Tasks: Cartpole-Balance"),
        (f"{TASK} --blocks 0", "--blocks is 0; it has to be 1 or more."),
        (f"{TASK} --steps -1", "--steps is -1; it has to be 1 or more."),
        (
            f"{TASK} --out /nowhere/x.json",
            "--out /nowhere/x.json: folder /nowhere does",
        ),
    ],
)
def test_invalid_bench_command_lines_are_refused(line: str, message: str) -> None:
    with pytest.raises(ValueError) as caught:
        bench.main(line.split())
    assert str(caught.value).startswith(message)


@pytest.mark.slow
@pytest.mark.parametrize("study", bench.STUDIES)
def test_a_study_gets_its_own_arguments(study: str) -> None:
    script = str(ROOT / "scripts/bench.py")
    done = subprocess.run(
        [sys.executable, script, study, "--help"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"usage: {bench.STUDIES[study]}")


@pytest.mark.slow
def test_other_worlds_are_unchanged_by_a_disturbed_world():
    from bench.soak import soak

    figures = soak("Cartpole-Balance", 8, minutes=1.0, seed=0)
    assert figures["differences"] == 0
    assert all(figures["troubles"][kind] > 0 for kind in ("nan", "reset", "restore"))
    assert figures["troubles"]["visit"] >= 2
    first, last = figures["first"], figures["last"]
    # Warm after half of the time; only unused arenas can still grow.
    memory = figures["rss_mb_of_notes"]
    assert memory[-1] - memory[len(memory) // 2] < 5.0
    assert 0.0 < last["arena_mb"] < figures["arena_reserve_mb"]
    assert last["descriptors"] <= first["descriptors"] + 8
    assert last["threads"] <= first["threads"] + 2

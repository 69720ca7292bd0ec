"""Policies that ship with tasks, and the reduction of a run's size for shipping."""

import itertools
import json
from pathlib import Path

import pytest
import torch

from mjlab.cli import evaluate, play
from mjlab.envs import ManagerBasedRlEnv
from mjlab.registry import entries, load_task
from mjlab.rl import RslRlVecEnv, load_policy, ship
from mjlab.rl.checkpoint import load_model
from mjlab.runs import Run, find
from mjlab.runs.checkpoints import find_fault
from tests.worlds.rl_runs import agent_cfg, env_cfg, train_without_export

TASK = "Cartpole-Balance"
TRAINED = {name: trained for name in entries() if (trained := load_task(name).trained)}
MOST_BYTES = 1_000_000
"""An installed package should be small."""
LARGER = {"Velocity-Go1-Sight": 1_500_000}
"""Limits of larger policies: this one contains its teacher's network too."""


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Run:
    """A run of two iterations."""
    root = tmp_path_factory.mktemp("logs")
    train_without_export(env_cfg(), agent_cfg(2), task=TASK, root=root, device="cpu")
    return find("latest", root).run


def act(run: Run) -> torch.Tensor:
    """Actions of a run's policy for the first observations of the small worlds."""
    configs = run.configs()
    env = ManagerBasedRlEnv(env_cfg())
    worlds = RslRlVecEnv(env, groups=("actor", "critic"))
    policy = load_policy(run.path, worlds, configs["agent"])
    return policy(worlds.reset(seed=0)[0])


def test_a_shipped_run_acts_as_the_run_did_and_is_small(run, tmp_path):
    small = ship(run, tmp_path / "trained" / TASK)
    torch.testing.assert_close(act(small), act(run), rtol=0.0, atol=0.0)
    (path,) = (small.path / "checkpoints").glob("*.pt")
    assert find_fault(path) is None
    assert list(load_model(path)["learner"]["algorithm"]) == ["actor_state_dict"]
    assert small.info() == run.info()


def shipped_rows(run, to, rows):
    (run.path / "metrics.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
    small = ship(run, to)
    return [json.loads(line) for line in (small.path / "metrics.jsonl").open()]


def test_a_shipped_curve_has_at_most_50_points_with_the_evaluations(run, tmp_path):
    rows: list[dict] = [{"iteration": i} for i in range(1, 1001)]
    for row in rows[99::100]:
        row["Eval/mean_reward"] = 1.0
    kept = [row["iteration"] for row in shipped_rows(run, tmp_path / "small", rows)]
    assert len(kept) == 50 and kept[0] == 1 and kept[-1] == 1000
    assert set(range(100, 1001, 100)) <= set(kept)
    # 40 points over 999 iterations are 999 / 39 = 25.6 apart.
    assert max(b - a for a, b in itertools.pairwise(kept)) <= 26


def test_many_evaluations_are_thinned_too_and_a_short_curve_is_complete(run, tmp_path):
    rows = [{"iteration": i, "Eval/mean_reward": 1.0} for i in range(1, 201)]
    kept = [row["iteration"] for row in shipped_rows(run, tmp_path / "many", rows)]
    assert len(kept) == 50 and kept[0] == 1 and kept[-1] == 200
    assert shipped_rows(run, tmp_path / "few", rows[:20]) == rows[:20]


def test_a_shipped_curve_has_six_digits_and_whole_counts(run, tmp_path):
    row = {"iteration": 1, "Train/env_steps": 123456789.0, "a": 0.123456789, "b": None}
    assert shipped_rows(run, tmp_path / "digits", [row]) == [row | {"a": 0.123457}]


@pytest.mark.parametrize("task", TRAINED)
def test_shipped_files_are_complete_and_small_and_contain_their_origin(task):
    run = Run(TRAINED[task])
    info = run.info()
    assert info["task"] == task and info["status"] in ("finished", "stopped")
    assert all(not source["changed"] for source in info["git"].values())
    assert info["git"] and info["versions"] and info["hardware"]["processor"]
    assert find_fault(run.checkpoints.newest() or Path()) is None
    size = sum(file.stat().st_size for file in run.path.rglob("*") if file.is_file())
    assert size < LARGER.get(task, MOST_BYTES)
    rows = [json.loads(line) for line in (run.path / "metrics.jsonl").open()]
    assert len(rows) <= 50 and rows[0]["iteration"] == 1
    (manifest,) = (run.path / "checkpoints").glob("*.json")
    assert rows[-1]["iteration"] == json.loads(manifest.read_text())["iteration"]


def test_without_a_run_the_shipped_policy_is_used_and_reported(tmp_path, caplog):
    found = find(TASK, tmp_path).run
    assert found.is_shipped and found.path == TRAINED[TASK].resolve()
    (said,) = caplog.messages
    assert said == (
        f"No run of {TASK} in {tmp_path}: using the policy that ships with the task."
    )


def test_a_run_of_the_user_comes_before_the_one_that_ships(run, caplog):
    found = find(TASK, run.path.parents[1]).run
    assert found.path == run.path and not found.is_shipped
    assert caplog.messages == []


def test_the_shipped_cartpole_is_played_and_balances(tmp_path, capsys, caplog):
    line = [TASK, "--logs", str(tmp_path), "--viewer", "none", "--steps", "100"]
    play.main(line)
    said = capsys.readouterr().out
    assert "using the policy that ships with the task" in caplog.text
    # A step earns at most 0.05: 1 per second, with 20 steps per second.
    assert float(said.split()[-1].rstrip(".")) > 0.9 * 0.05


def test_evaluating_a_shipped_policy_writes_only_the_named_file(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    before = sorted(TRAINED[TASK].rglob("*"))
    line = [TASK, "--episodes", "2", "--env.episode-length-s", "2"]
    evaluate.main(line)
    assert sorted(TRAINED[TASK].rglob("*")) == before
    assert [*tmp_path.rglob("*")] == []
    assert "Written to" not in capsys.readouterr().out
    evaluate.main([*line, "--json", "mine.json"])
    assert [*tmp_path.rglob("*")] == [tmp_path / "mine.json"]
    assert "Written to mine.json" in capsys.readouterr().out


@pytest.mark.parametrize("task_id", TRAINED)
def test_a_shipped_run_has_the_outcomes_of_its_task(task_id):
    shipped = Run(TRAINED[task_id]).configs()["env"]
    assert shipped.outcomes.keys() == load_task(task_id).env().outcomes.keys()

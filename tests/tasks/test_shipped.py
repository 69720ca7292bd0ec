"""The policies that ship with tasks, and how a run is made small enough to ship."""

import json
from pathlib import Path

import pytest
import torch

from mjlab.cli.runs import find_run, ships
from mjlab.cli.train import train
from mjlab.envs import ManagerBasedRlEnv
from mjlab.registry import entries, load_task, trusted
from mjlab.rl import Checkpoints, RslRlVecEnv, RunFolder, load_policy, ship
from mjlab.rl.checkpoint import find_fault, load_model
from scripts import evaluate, play
from tests.worlds.rl_runs import agent_cfg, env_cfg

TASK = "Cartpole-Balance"
TRAINED = {name: trained for name in entries() if (trained := load_task(name).trained)}
MOST_BYTES = 1_500_000
"""A package that is installed to be looked at should not be large."""


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> RunFolder:
    """A run of two iterations."""
    root = tmp_path_factory.mktemp("logs")
    train(env_cfg(), agent_cfg(2), task=TASK, root=root, device="cpu")
    return RunFolder.find("latest", root)


def act(run: RunFolder) -> torch.Tensor:
    """Actions of a run's policy in the first observations of the small worlds."""
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


def test_metrics_are_thinned_evenly_and_keep_their_evaluations(run, tmp_path):
    rows = [{"iteration": i} for i in range(1000)]
    rows[501] = {"iteration": 501, "Eval/mean_reward": 1.0}
    (run.path / "metrics.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n")
    small = ship(run, tmp_path / "small")
    lines = (small.path / "metrics.jsonl").read_text().splitlines()
    kept = [json.loads(line)["iteration"] for line in lines]
    assert kept == sorted({*range(0, 1000, 4), 501, 999})


@pytest.mark.parametrize("task", TRAINED)
def test_what_ships_is_whole_small_and_says_where_it_came_from(task):
    run = RunFolder(TRAINED[task])
    info = run.info()
    assert info["task"] == task and info["status"] in ("finished", "stopped")
    assert all(not source["changed"] for source in info["git"].values())
    assert info["git"] and info["versions"] and info["hardware"]["processor"]
    assert find_fault(Checkpoints(run.path / "checkpoints").newest() or Path()) is None
    size = sum(file.stat().st_size for file in run.path.rglob("*") if file.is_file())
    assert size < MOST_BYTES


def test_without_a_run_the_shipped_policy_is_found_and_said(tmp_path, capsys):
    found = find_run(TASK, tmp_path)
    assert ships(found) and found.path == TRAINED[TASK]
    said = capsys.readouterr().out
    assert said == (
        f"There is no run of {TASK} in {tmp_path}: this is the policy that ships with "
        "it.\n"
    )


def test_a_run_of_the_user_comes_before_the_one_that_ships(run, capsys):
    found = find_run(TASK, run.path.parents[1])
    assert found.path == run.path and not ships(found)
    assert capsys.readouterr().out == ""


def test_the_shipped_cartpole_is_played_and_balances(tmp_path, capsys):
    line = [TASK, "--logs", str(tmp_path), "--viewer", "none", "--steps", "100"]
    play.main(line)
    said = capsys.readouterr().out
    assert "this is the policy that ships with it" in said
    # A step is worth 0.05 at most: 1 a second, and 20 steps to each.
    assert float(said.split()[-1].rstrip(".")) > 0.9 * 0.05


def test_evaluating_what_ships_writes_only_the_file_that_is_named(
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
    shipped = RunFolder(TRAINED[task_id]).configs(trusted(task_id))["env"]
    assert shipped.outcomes.keys() == load_task(task_id).env().outcomes.keys()

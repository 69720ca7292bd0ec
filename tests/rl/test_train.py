"""A complete run: from configurations to a folder, and a policy for play."""

import hashlib
import json
import os
import signal

import pytest
import torch

from mjlab.envs import ManagerBasedRlEnv, mdp
from mjlab.managers import RewardTermCfg
from mjlab.rl import EvaluationCfg, Hook, LoggingCfg, TrainingLoop, load_policy
from mjlab.rl.checkpoint import load_model
from mjlab.rl.logging import read_rows
from mjlab.rl.vecenv import RslRlVecEnv
from mjlab.runs import CheckpointError, RunError, find
from mjlab.runs.settings import read_task
from tests.worlds.rl_runs import (
    Display,
    agent_cfg,
    env_cfg,
    make_env,
    train_without_export,
)


def agent(iterations, **more):
    logging = LoggingCfg(tensorboard=False)
    evaluation = EvaluationCfg(every=2, num_envs=4)
    return agent_cfg(iterations, logging=logging, evaluation=evaluation, **more)


def run(tmp_path, iterations=2, **more):
    return train_without_export(
        env_cfg(),
        agent(iterations),
        task="Cartpole-Balance",
        root=tmp_path,
        **({"display": Display()} | more),
    )


def test_a_run_leaves_everything_in_its_folder_and_its_policy_plays(tmp_path):
    folder, outcome = run(tmp_path, name="x")
    assert outcome.iteration == 2
    assert find("latest", tmp_path).run.path == folder.path
    info = folder.info()
    assert (info["status"], info["seed"]) == ("finished", 3)
    assert info["reason"] == outcome.reason == "2 of 2 iterations"
    lines = read_rows(folder.path / "metrics.jsonl")
    assert "Eval/mean_reward" in lines[1]
    assert folder.checkpoints.best() is not None

    configs = folder.configs()
    configs["env"].scene.num_envs = 3
    worlds = RslRlVecEnv(ManagerBasedRlEnv(configs["env"]))
    policy = load_policy(folder.path, worlds, configs["agent"])
    actions = policy(worlds.get_observations())
    weights = load_model(outcome.checkpoint)["learner"]["algorithm"]["actor_state_dict"]
    seen = worlds.get_observations()["actor"]
    # The network in plain torch: normalisation, a hidden layer of ELU, and the mean.
    mean, std = weights["obs_normalizer._mean"], weights["obs_normalizer._std"]
    hidden = torch.nn.functional.elu(
        (seen - mean) / (std + 0.01) @ weights["mlp.0.weight"].T + weights["mlp.0.bias"]
    )
    expected = hidden @ weights["mlp.2.weight"].T + weights["mlp.2.bias"]
    assert torch.allclose(actions, expected, atol=1e-6)


def digest(folder):
    return hashlib.sha256((folder.path / "config.json").read_bytes()).hexdigest()


def test_a_checkpoint_refers_to_the_configuration_of_its_run(tmp_path):
    folder, outcome = run(tmp_path, iterations=1)
    model = load_model(outcome.checkpoint)
    assert model["config"] == digest(folder)
    assert b"episode_length_s" not in outcome.checkpoint.read_bytes()


def test_an_interrupted_run_resumes_in_its_folder(tmp_path):
    class Kill(Hook):
        name = "kill"

        def after_iteration(self, loop):
            if loop.iteration == 2:
                os.kill(os.getpid(), signal.SIGTERM)
            return {}

    told = Display()
    first, _ = run(tmp_path, 4, make_hooks=lambda env: [Kill()], display=told)
    assert told.said[-1] == (
        "No ONNX file was written, because the run was stopped. Export its last "
        f"checkpoint with: python scripts/export.py {first.path}"
    )
    assert first.info()["status"] == "stopped"
    assert "SIGTERM" in first.info()["reason"]
    configs = first.configs()
    display = Display()
    second, outcome = train_without_export(
        configs["env"],
        configs["agent"],
        task="Cartpole-Balance",
        root=tmp_path,
        resume=first.path,
        display=display,
    )
    assert second.path == first.path
    assert outcome.iteration == 4
    assert second.info()["status"] == "finished"
    assert [p.iteration for p in display.shown] == [3, 4]
    lines = read_rows(first.path / "metrics.jsonl")
    assert [line["iteration"] for line in lines] == [1, 2, 3, 4]

    whole, _ = run(tmp_path / "whole", 4)
    ends = [
        json.loads(f.path.joinpath("metrics.jsonl").read_text().splitlines()[-1])
        for f in (whole, second)
    ]
    kept = [{k: v for k, v in e.items() if not k.startswith("Perf/")} for e in ends]
    assert kept[0] == kept[1]


def go_on(tmp_path, env, agent_config):
    return train_without_export(
        env,
        agent_config,
        task="Cartpole-Balance",
        root=tmp_path,
        resume=find("latest", tmp_path).run.path,
        display=Display(),
    )


def test_settings_changed_at_a_resume_become_the_configuration(tmp_path):
    folder, _ = run(tmp_path)
    before = folder.configs()
    more = agent(3)
    more.algorithm.entropy_coef = 0.125
    _, outcome = go_on(tmp_path, env_cfg(), more)
    configs = folder.configs()
    assert configs["agent"].max_iterations == 3
    assert configs["agent"].algorithm.entropy_coef == 0.125
    until = folder.path / "config_until_000002.json"
    assert read_task(until.read_text(), str(until)) == before
    # The new checkpoint refers to the new configuration, an older one to the old.
    assert outcome.checkpoint is not None
    assert load_model(outcome.checkpoint)["config"] == digest(folder)
    older = load_model(folder.path / "checkpoints" / "model_000002.pt")["config"]
    before_text = (folder.path / "config_until_000002.json").read_text()
    assert folder.saved_config(older) == before_text
    (entry,) = folder.info()["resumed"]
    assert entry["iteration"] == 2


def test_a_run_resumed_unchanged_has_one_configuration(tmp_path):
    folder, _ = run(tmp_path)
    text = (folder.path / "config.json").read_text()
    go_on(tmp_path, env_cfg(), agent(2))
    assert (folder.path / "config.json").read_text() == text
    assert not list(folder.path.glob("config_until_*"))


def test_a_run_with_an_edited_configuration_file_is_not_resumed(tmp_path):
    folder, _ = run(tmp_path)
    file = folder.path / "config.json"
    file.write_text(file.read_text().replace("0.99", "0.98"))
    with pytest.raises(RunError, match=r"config\.json was changed or is missing"):
        go_on(tmp_path, env_cfg(), agent(3))


def test_refused_resume_does_not_change_the_run(tmp_path):
    folder, _ = run(tmp_path)

    def everything():
        files = [file for file in folder.path.rglob("*") if file.is_file()]
        return {file: file.read_bytes() for file in files}

    before = everything()
    cfg = env_cfg()
    cfg.rewards["smooth"] = None
    with pytest.raises(CheckpointError, match="reward/smooth: present, absent here"):
        go_on(tmp_path, cfg, agent(3))
    assert folder.info()["status"] == "finished"
    assert everything() == before


def test_a_failed_run_records_the_reason_in_its_folder(tmp_path):
    class Fail(Hook):
        name = "fail"

        def after_iteration(self, loop):
            raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        run(tmp_path, make_hooks=lambda env: [Fail()])
    info = find("latest", tmp_path).run.info()
    assert (info["status"], info["reason"]) == ("failed", "RuntimeError: no more")


def test_a_run_that_is_refused_at_its_start_is_not_the_latest(tmp_path):
    good, _ = run(tmp_path)
    damaged = tmp_path / "damaged.pt"
    damaged.write_bytes(b"no checkpoint")
    with pytest.raises(CheckpointError):
        run(tmp_path, init_from=damaged)
    assert len(list(good.path.parent.glob("2*"))) == 2
    for place in ("latest", "Cartpole-Balance"):
        assert find(place, tmp_path).run.path == good.path.resolve()


def test_a_run_can_be_resumed_before_its_first_iteration_ends(tmp_path, monkeypatch):
    class Killed(BaseException):
        pass

    def collect(loop):
        raise Killed

    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(TrainingLoop, "_collect", collect)
        run(tmp_path)
    killed = find("Cartpole-Balance", tmp_path)
    assert killed.choose_checkpoint().name == "model_000000.pt"
    resumed, outcome = run(tmp_path, resume=killed.run.path)
    assert resumed.path == killed.run.path and outcome.iteration == 2
    whole, _ = run(tmp_path / "whole")
    rewards = [
        [row["Train/mean_reward"] for row in read_rows(each.path / "metrics.jsonl")]
        for each in (resumed, whole)
    ]
    assert rewards[0] == rewards[1] and len(rewards[0]) == 2


def test_missing_seed_is_sampled_and_stored(tmp_path):
    cfg = env_cfg()
    cfg.seed = None
    folder, _ = train_without_export(
        cfg, agent(1), task="Cartpole-Balance", root=tmp_path, display=Display()
    )
    assert cfg.seed is None
    assert folder.configs()["env"].seed == folder.info()["seed"]


def test_a_policy_is_loaded_with_the_learner_that_its_folder_names(tmp_path):
    folder, outcome = run(tmp_path, iterations=1)
    assert outcome.checkpoint is not None
    worlds = RslRlVecEnv(make_env())
    seen = worlds.get_observations()
    expected = load_policy(folder.path, worlds, folder.configs()["agent"])(seen)
    for place in (folder.path, outcome.checkpoint):
        assert torch.equal(load_policy(place, worlds)(seen), expected)


def test_policy_plays_if_only_unobserved_settings_differ(tmp_path):
    folder, _ = run(tmp_path, iterations=1)
    cfg = env_cfg()
    cfg.rewards["alive"] = RewardTermCfg(func=mdp.is_alive, weight=1.0)
    cfg.observations["critic"] = None
    worlds = RslRlVecEnv(ManagerBasedRlEnv(cfg), groups=["actor"])
    load_policy(folder.path, worlds, agent(1))
    cfg = env_cfg()
    cfg.observations["actor"].terms["cart_pos"] = None
    worlds = RslRlVecEnv(ManagerBasedRlEnv(cfg), groups=["actor"])
    with pytest.raises(ValueError, match="observation/actor/cart_pos"):
        load_policy(folder.path, worlds, agent(1))


def test_global_world_index_continues_in_later_processes():
    """World 8 of a run of 16 is world 0 of its second process of 8."""
    whole, part = make_env(worlds=16), make_env(worlds=8, first=8)
    first, second = RslRlVecEnv(whole), RslRlVecEnv(part)
    both = [first.get_observations()["actor"][8:], second.get_observations()["actor"]]
    assert torch.equal(*both)

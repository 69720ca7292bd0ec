"""Initial weights from another task's run: copied by name, with the same actions."""

import copy
from typing import Any

import pytest
import torch

from mjlab.cli import UsageError, train
from mjlab.envs import ManagerBasedRlEnv
from mjlab.registry import load_task
from mjlab.rl import GaussianCfg, TrainingLoop
from mjlab.rl.checkpoint import load_model
from mjlab.rl.initial_weights import take_weights
from mjlab.runs import CheckpointError, Checkpoints
from tests.worlds.rl_runs import agent_cfg, env_cfg, make_loop, network

ELU = torch.nn.functional.elu


def by_hand(weights, seen):
    """A policy with one hidden layer, in plain torch."""
    mean, std = weights["obs_normalizer._mean"], weights["obs_normalizer._std"]
    inner = (seen - mean) / (std + 0.01) @ weights["mlp.0.weight"].T
    hidden = ELU(inner + weights["mlp.0.bias"])
    return hidden @ weights["mlp.2.weight"].T + weights["mlp.2.bias"]


@pytest.fixture
def old(tmp_path):
    make_loop(folder=tmp_path / "checkpoints").run()
    return tmp_path


def widened(cfg=None, position=1):
    """A loop whose observations have two new columns between the old ones."""
    world: Any = env_cfg()
    for group in world.observations.values():
        terms = list(group.terms.items())
        terms.insert(position, ("again", copy.deepcopy(group.terms["velocity"])))
        group.terms = dict(terms)
    return TrainingLoop(ManagerBasedRlEnv(world), cfg or agent_cfg())


def nets(loop) -> tuple[Any, Any]:
    """Return the trained actor and critic."""
    learned: Any = loop.learner.algorithm
    return learned.actor, learned.critic


def taken(place, loop):
    return take_weights(place, loop.learner, loop.worlds, loop.cfg)


def test_policy_with_new_observations_starts_with_the_same_actions(old):
    loop = widened()
    lines = taken(old, loop)
    assert lines[1:] == [
        "  actor: copied 3 observations (5 columns) and 1 actions; new: "
        "actor/again (2,)",
        "  critic: copied 3 observations (5 columns); new: critic/again (2,)",
    ]
    weights = load_model(old / "checkpoints/model_000002.pt")["learner"]["algorithm"]
    seen = torch.randn(40, 7) * 3.0
    before = by_hand(weights["actor_state_dict"], seen[:, [0, 3, 4, 5, 6]])
    groups = {name: seen for name in ("actor", "critic")}
    observed = loop.worlds.get_observations().__class__(groups, batch_size=[40])
    acts = nets(loop)[0](observed)
    assert torch.allclose(acts, before, atol=1e-6)
    values = by_hand(weights["critic_state_dict"], seen[:, [0, 3, 4, 5, 6]])
    assert torch.allclose(nets(loop)[1](observed), values, atol=1e-6)
    noise = weights["actor_state_dict"]["distribution.std_param"]
    assert torch.equal(nets(loop)[0].distribution.std_param, noise)


def test_new_observations_get_new_statistics_and_others_keep_theirs(old):
    loop = widened()
    taken(old, loop)
    before = load_model(old / "checkpoints/model_000002.pt")["learner"]["algorithm"]
    normaliser = nets(loop)[0].obs_normalizer
    seen = loop.worlds.get_observations()["actor"][:, 1:3]
    assert torch.allclose(normaliser._mean[0, 1:3], seen.mean(dim=0))
    assert torch.allclose(normaliser._std[0, 1:3], seen.std(dim=0, correction=0))
    for name in ("_mean", "_var", "_std"):
        kept = before["actor_state_dict"][f"obs_normalizer.{name}"]
        assert torch.equal(getattr(normaliser, name)[0, [0, 3, 4, 5, 6]], kept[0])
    assert int(normaliser.count) == before["actor_state_dict"]["obs_normalizer.count"]


def test_weights_of_the_new_observation_learn(old):
    loop = widened()
    taken(old, loop)
    loop.run()
    assert nets(loop)[0].mlp[0].weight[:, 1:3].abs().min() > 0.0


def test_actions_are_matched_by_the_name_of_their_target(tmp_path):
    task = load_task("Velocity-Go1-Flat")
    agent = agent_cfg(1)

    def loop_of(cfg, checkpoints=None):
        cfg.scene.num_envs, cfg.seed = 8, 3
        env = ManagerBasedRlEnv(cfg)
        return TrainingLoop(env, agent, checkpoints=checkpoints)

    loop_of(task.env(), Checkpoints(tmp_path / "checkpoints")).run()
    cfg = task.env()
    whole = cfg.actions["joint_pos"]
    rear, front = copy.deepcopy(whole), copy.deepcopy(whole)
    rear.joint_names, front.joint_names = ("R[RL]_.*",), ("F[RL]_.*",)
    rear.scale = front.scale = 0.25
    cfg.actions = {"rear": rear, "front": front}
    loop = loop_of(cfg)
    taken(tmp_path, loop)
    saved = load_model(tmp_path / "checkpoints/model_000001.pt")["learner"]["algorithm"]
    weights = saved["actor_state_dict"]
    # Saved: right and left front legs, then right and left rear legs; here rear first.
    order = [*range(6, 12), *range(6)]
    policy = nets(loop)[0]
    assert torch.equal(policy.mlp[2].weight, weights["mlp.2.weight"][order])
    assert torch.equal(policy.mlp[2].bias, weights["mlp.2.bias"][order])
    noise = weights["distribution.std_param"][order]
    assert torch.equal(policy.distribution.std_param, noise)


def test_another_robot_is_refused_by_the_names_of_its_joints(old):
    world = load_task("Velocity-Go1-Flat").env()
    world.scene.num_envs, world.seed = 2, 3
    loop = TrainingLoop(ManagerBasedRlEnv(world), agent_cfg())
    before = {k: v.clone() for k, v in nets(loop)[0].state_dict().items()}
    with pytest.raises(CheckpointError, match="from another robot") as error:
        taken(old, loop)
    said = str(error.value)
    assert "with actions for cartpole/slider joint_effort" in said
    assert "has actions for robot/FR_hip_joint joint_pos" in said
    after = nets(loop)[0].state_dict()
    assert all(torch.equal(before[name], after[name]) for name in before)


def test_policy_with_other_layers_is_refused_with_the_differing_setting(old):
    bigger = network(distribution_cfg=GaussianCfg())
    bigger.hidden_dims = (16,)
    loop = make_loop(agent_cfg(actor=bigger))
    with pytest.raises(CheckpointError) as error:
        taken(old, loop)
    assert str(error.value).endswith(
        "agent.actor.hidden_dims is [8] in the run and [16] here. "
        "To match the run, use --agent.actor.hidden-dims 8"
    )


def test_incompatible_critic_is_reinitialised_with_a_message(old):
    critic = network()
    critic.activation = "tanh"
    loop = make_loop(agent_cfg(critic=critic))
    fresh = nets(loop)[1].mlp[0].weight.clone()
    assert taken(old, loop)[2] == (
        "  critic: newly initialised, because agent.critic.activation is elu in the "
        "run and tanh here"
    )
    assert torch.equal(nets(loop)[1].mlp[0].weight, fresh)


def test_train_refuses_init_from_together_with_resume(tmp_path):
    with pytest.raises(UsageError, match="pass only one of them"):
        both = ["--init-from", "latest", "--resume", "latest"]
        train.main(["Cartpole-Balance", *both, "--logs", str(tmp_path)])

"""Several critics in PPO, compared with formulas in NumPy."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from rsl_rl.models import MLPModel
from rsl_rl.storage import RolloutStorage
from tensordict import TensorDict

from mjlab.envs import ManagerBasedRlEnv, ManagerBasedRlEnvCfg, mdp
from mjlab.managers import RewardTermCfg
from mjlab.names import UnknownNameError
from mjlab.rl import CriticCfg, RnnModelCfg, check_agent
from mjlab.rl.algorithms.ppo import Ppo
from mjlab.rl.models.critics import Critics
from mjlab.rl.vecenv import RslRlVecEnv
from mjlab.workers import WorkerEnv
from tests.worlds.rl_runs import (
    agent_cfg,
    differing,
    env_cfg,
    flat_state,
    make_loop,
)

WORLDS, STEPS, WIDTH = 5, 7, 4
TERMS = ("near", "style", "far")
GAMMAS, LAMS, WEIGHTS = (0.95, 0.7), (0.9, 0.8), (1.0, 0.4)
MLP = {"hidden_dims": (WIDTH,), "activation": "tanh"}


def learner(**more: Any) -> tuple[Ppo, dict[str, np.ndarray]]:
    """Return a learner after one rollout, and the data of the rollout by name."""
    torch.manual_seed(2)
    obs = TensorDict({"seen": torch.randn(WORLDS, 3)}, batch_size=[WORLDS])
    groups = {"actor": ["seen"], "critic": ["seen"]}
    gaussian = {
        "class_name": "rsl_rl.modules.distribution:GaussianDistribution",
        "init_std": 0.5,
    }
    actor = MLPModel(obs, groups, "actor", 2, distribution_cfg=gaussian, **MLP)
    model = {"class_name": "rsl_rl.models:MLPModel", **MLP}
    names = ["critic", "style"]
    critic: Any = Critics(obs, groups, "critic", 1, names=names, model=model)
    made = Ppo(
        actor,
        critic,
        RolloutStorage("rl", WORLDS, STEPS, obs, [2]),
        critics={
            "style": {
                "rewards": ("style",),
                "gamma": GAMMAS[1],
                "lam": LAMS[1],
                "weight": WEIGHTS[1],
            }
        },
        reward_terms=TERMS,
        gamma=GAMMAS[0],
        lam=LAMS[0],
        optimizer="sgd",
        learning_rate=1.0,
        schedule="fixed",
        entropy_coef=0.0,
        num_learning_epochs=1,
        num_mini_batches=1,
        max_grad_norm=1e9,
        use_clipped_value_loss=False,
        **more,
    )
    kept: dict[str, list[torch.Tensor]] = {
        name: [] for name in ("seen", "action", "terms", "done", "late")
    }
    for _ in range(STEPS):
        action = made.act(obs)
        terms, done = torch.randn(WORLDS, 3), torch.rand(WORLDS) < 0.3
        late = done & (torch.rand(WORLDS) < 0.5)
        kept["seen"].append(obs["seen"])
        obs = TensorDict({"seen": torch.randn(WORLDS, 3)}, batch_size=[WORLDS])
        extras = {"time_outs": late, "reward_terms": terms}
        made.process_env_step(obs, terms.sum(1), done, extras)
        for name, value in (
            ("action", action),
            ("terms", terms),
            ("done", done),
            ("late", late),
        ):
            kept[name].append(value)
    kept["seen"].append(obs["seen"])
    with torch.no_grad():
        made.compute_returns(obs)
    return made, {name: torch.stack(rows).numpy() for name, rows in kept.items()}


def layers(network: Any) -> list[np.ndarray]:
    """Return weight and bias of both layers of an MLP."""
    return [p.detach().double().numpy().copy() for p in network.mlp.parameters()]


def hidden(network: Any, seen: np.ndarray) -> np.ndarray:
    weight, bias, *_ = layers(network)
    return np.tanh(seen @ weight.T + bias)


def output(network: Any, seen: np.ndarray) -> np.ndarray:
    *_, weight, bias = layers(network)
    return hidden(network, seen) @ weight.T + bias


def advantages(
    rewards: np.ndarray, values: np.ndarray, data: dict, gamma: float, lam: float
) -> np.ndarray:
    """Return sum_k (gamma lam)^k delta_(t+k) up to the end of the episode."""
    done, late = data["done"], data["late"]
    found = np.zeros((STEPS, WORLDS))
    for world in range(WORLDS):
        for step in range(STEPS):
            factor = 1.0
            for at in range(step, STEPS):
                # After a time-out, the value of the state of the time-out itself.
                after = values[at, world] if late[at, world] else 0.0
                if not done[at, world]:
                    after = values[at + 1, world]
                delta = rewards[at, world] + gamma * after - values[at, world]
                found[step, world] += factor * delta
                factor *= gamma * lam
                if done[at, world]:
                    break
    return found


def test_gradients_of_two_critics_and_the_policy_equal_those_by_hand():
    made, data = learner()
    critics: Any = made.critic
    both = [critics.by_name["critic"], critics.by_name["style"]]
    rewards = [data["terms"][..., [0, 2]].sum(-1), data["terms"][..., 1]]
    seen, mixed, wanted = data["seen"].astype(float), 0.0, []
    for k, (critic, reward) in enumerate(zip(both, rewards, strict=True)):
        values = output(critic, seen)[..., 0]
        found = advantages(reward, values, data, GAMMAS[k], LAMS[k])
        centred = found - found.mean()
        std = np.sqrt(np.square(centred).sum() / (found.size - 1))
        mixed = mixed + WEIGHTS[k] * centred / (std + 1e-8)
        # d/dw mean (V - R)^2, where R - V is the advantage.
        h = hidden(critic, seen[:-1])
        wanted.append((-2.0 * found[..., None] * h).mean((0, 1)))
    # d/dW of -mean(A log pi), as the ratio is 1 before the first step.
    error = (data["action"] - output(made.actor, seen[:-1])) / 0.5**2
    h = hidden(made.actor, seen[:-1])
    slope = np.asarray(mixed)[..., None, None] * error[..., :, None] * h[..., None, :]
    wanted.append(-slope.mean((0, 1)))

    np.testing.assert_allclose(made.storage.advantages[..., 0], mixed, atol=2e-5)
    networks = [*both, made.actor]
    before = [layers(network)[2] for network in networks]
    made.update()
    for network, weight, gradient in zip(networks, before, wanted, strict=True):
        moved = weight - layers(network)[2]  # SGD with a learning rate of 1.
        np.testing.assert_allclose(moved, gradient.reshape(moved.shape), atol=2e-5)
        assert np.abs(moved).max() > 1e-2


def test_a_critics_reward_does_not_change_the_other_critic():
    made, _ = learner()
    other, _ = learner()
    critics = [made.critic, other.critic]
    other.storage.rewards[..., 1] *= -3.0
    with torch.no_grad():
        obs = made.storage.observations[-1]
        made.compute_returns(obs)
        other.compute_returns(obs)
    for one in (made, other):
        torch.manual_seed(0)
        one.update()
    main, style = (
        [one.by_name[name].mlp[2].weight for one in critics]  # type: ignore
        for name in ("critic", "style")
    )
    assert torch.equal(main[0], main[1])
    assert not torch.equal(style[0], style[1])


def test_all_critics_learn_with_gradients_in_bfloat16():
    made, _ = learner(use_mixed_precision=True)
    critics: Any = made.critic
    networks = [*critics.by_name.values(), made.actor]
    before = [layers(network) for network in networks]
    losses = made.update()
    assert all(np.isfinite(value) for value in losses.values())
    for network, old in zip(networks, before, strict=True):
        kinds = {type(layer).__name__ for layer in network.mlp}
        assert "Linear" not in kinds
        new = layers(network)
        assert all(np.isfinite(each).all() for each in new)
        assert any(np.abs(a - b).max() > 0.0 for a, b in zip(old, new, strict=True))


# In the training loop.


def two_rewards() -> ManagerBasedRlEnvCfg:
    cfg = env_cfg()
    cfg.rewards = {
        **cfg.rewards,
        "effort": RewardTermCfg(func=mdp.action_rate_l2, weight=-0.01),
    }
    return cfg


def two_critics(iterations: int, **more: Any) -> Any:
    critics = {"effort": CriticCfg(rewards=("effort",), gamma=0.5)}
    return agent_cfg(iterations, critics=critics, **more)


def test_ten_iterations_equal_five_and_five_bit_for_bit(tmp_path: Path):
    whole = make_loop(two_critics(10), env=two_rewards())
    whole.run()
    make_loop(two_critics(5), env=two_rewards(), folder=tmp_path).run()
    torch.manual_seed(99)
    second = make_loop(two_critics(10), env=two_rewards(), folder=tmp_path)
    second.resume(tmp_path)
    assert second.iteration == 5
    second.run()
    state = flat_state(whole)
    assert sum("by_name.effort" in name for name in state) >= 4
    assert differing(state, flat_state(second)) == []


def test_critics_divide_the_reward_of_the_task():
    loop = make_loop(two_critics(1), env=two_rewards())
    seen = []
    algorithm: Any = loop.learner.algorithm
    process = algorithm.process_env_step

    def record(obs, rewards, dones, extras):
        process(obs, rewards, dones, extras | {"time_outs": torch.zeros_like(dones)})
        parts = algorithm.storage.rewards[algorithm.storage.step - 1].clone()
        seen.append((rewards, parts))

    algorithm.process_env_step = record
    loop.run()
    for whole, parts in seen:
        assert parts.shape == (whole.shape[0], 2)
        torch.testing.assert_close(parts.sum(1), whole)
    assert any(bool((parts[:, 1] < 0.0).any()) for _, parts in seen)


def test_worker_processes_return_the_same_reward_terms():
    one, two = ManagerBasedRlEnv(two_rewards()), WorkerEnv(two_rewards(), 2)
    try:
        worlds = [RslRlVecEnv(env, splits_rewards=True) for env in (one, two)]
        first, second = torch.randn(2, one.num_envs, 1)
        for env in worlds:
            env.step(first)
        inline, remote = (env.step(second)[3]["reward_terms"] for env in worlds)
        assert torch.equal(inline, remote)
        assert bool((inline != 0.0).all())
    finally:
        one.close()
        two.close()


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (
            {"critics": {"a": CriticCfg(rewards=())}},
            r"critics\['a'\]\.rewards is empty",
        ),
        (
            {"critics": {"critic": CriticCfg(rewards=("smooth",))}},
            r"critics has the name 'critic' of the main critic",
        ),
        (
            {"critic": RnnModelCfg(), "critics": {"a": CriticCfg(rewards=("smooth",))}},
            r"critic is an RnnModelCfg",
        ),
    ],
)
def test_faults_of_critics_are_found_before_worlds_are_built(change, told):
    with pytest.raises(ValueError, match=told):
        check_agent(agent_cfg(**change), ["actor", "critic"], 8)


def test_unknown_and_shared_rewards_are_refused():
    with pytest.raises(UnknownNameError, match=r"names 'smoth'.*'smooth'"):
        make_loop(agent_cfg(critics={"a": CriticCfg(rewards=("smoth",))}))
    both = {name: CriticCfg(rewards=("smooth",)) for name in ("a", "b")}
    with pytest.raises(ValueError, match=r"'smooth' belongs to the critics 'a' and"):
        make_loop(agent_cfg(critics=both))


def test_a_checkpoint_with_other_critics_is_refused(tmp_path: Path):
    make_loop(agent_cfg(1), env=two_rewards(), folder=tmp_path).run()
    with pytest.raises(ValueError, match="agent/critic/critics: absent"):
        make_loop(two_critics(2), env=two_rewards()).resume(tmp_path)

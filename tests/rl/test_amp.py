"""Style reward by an adversarial motion prior, compared with formulas in NumPy."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from rsl_rl.models import MLPModel
from rsl_rl.storage import RolloutStorage
from tensordict import TensorDict

from mjlab.envs import ManagerBasedRlEnvCfg, mdp
from mjlab.gait.style import style_distance
from mjlab.managers import (
    ObservationGroupCfg,
    ObservationTermCfg,
    RewardTermCfg,
    SceneEntityCfg,
)
from mjlab.rl import CriticCfg, StyleCfg, check_agent
from mjlab.rl.algorithms.amp import (
    Discriminator,
    MotionPrior,
    ReplayBuffer,
    transitions,
)
from mjlab.rl.algorithms.ppo import Ppo
from mjlab.rl.models.critics import Critics
from tests.worlds.rl_runs import (
    agent_cfg,
    differing,
    env_cfg,
    flat_state,
    make_loop,
)

WIDTH = 4


def elu(x: np.ndarray) -> np.ndarray:
    return np.where(x > 0.0, x, np.expm1(np.minimum(x, 0.0)))


def numbers(network: Discriminator) -> list[np.ndarray]:
    """Weight and bias of both layers, in double precision."""
    return [p.detach().double().numpy() for p in network.mlp.parameters()]


def network() -> tuple[Discriminator, np.ndarray, np.ndarray]:
    """A discriminator with statistics of other rows, and rows of both kinds."""
    torch.manual_seed(4)
    made = Discriminator(WIDTH, (5,))
    made.normalizer.update(3.0 + 2.0 * torch.randn(50, WIDTH))
    clips, policy = 3.0 + torch.randn(2, 7, WIDTH)
    return made, clips.double().numpy(), policy.double().numpy()


def outputs(made: Discriminator, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Output and its gradient with respect to the normalised rows."""
    normalizer: Any = made.normalizer
    mean, std = (getattr(normalizer, name).double().numpy() for name in ("mean", "std"))
    w1, b1, w2, b2 = numbers(made)
    before = (rows - mean) / (std + 1e-3) @ w1.T + b1
    slope = np.where(before > 0.0, 1.0, np.exp(np.minimum(before, 0.0)))
    return (elu(before) @ w2.T + b2)[:, 0], (slope * w2[0]) @ w1


def test_loss_equals_least_squares_and_gradient_penalty_by_hand():
    made, clips, policy = network()
    real, slope = outputs(made, clips)
    fake, _ = outputs(made, policy)
    wanted = np.square(real - 1.0).mean() + np.square(fake + 1.0).mean()
    wanted += 0.5 * 7.0 * np.square(slope).sum(-1).mean()
    rows = [torch.from_numpy(each).float() for each in (clips, policy)]
    assert made.loss(rows[0], rows[1], 7.0).item() == pytest.approx(wanted, rel=1e-5)


def test_penalty_reaches_the_weights_through_the_gradient():
    """The derivative by a weight of the first layer equals central differences."""
    made, clips, policy = network()
    rows = [torch.from_numpy(each).float() for each in (clips, policy)]
    weight: Any = next(made.mlp.parameters())
    made.loss(rows[0], rows[1], 7.0).backward()
    found = float(weight.grad[2, 1])
    values = []
    for step in (1e-3, -1e-3):
        with torch.no_grad():
            weight[2, 1] += step
        real, slope = outputs(made, clips)
        fake, _ = outputs(made, policy)
        error = np.square(real - 1.0).mean() + np.square(fake + 1.0).mean()
        values.append(error + 3.5 * np.square(slope).sum(-1).mean())
        with torch.no_grad():
            weight[2, 1] -= step
    assert found == pytest.approx((values[0] - values[1]) / 2e-3, rel=2e-3)


@pytest.mark.parametrize(
    ("output", "reward"), [(1.0, 1.0), (-1.0, 0.0), (0.0, 0.75), (3.5, 0.0)]
)
def test_reward_is_one_for_clips_and_never_negative(output: float, reward: float):
    made = Discriminator(WIDTH, (5,))
    with torch.no_grad():
        for parameter in made.mlp.parameters():
            parameter.zero_()
        list(made.mlp.parameters())[-1].fill_(output)
    assert made.reward(torch.randn(3, WIDTH)).tolist() == [reward] * 3


def test_replay_keeps_the_newest_transitions():
    buffer = ReplayBuffer(5, 1, "cpu")
    for first in (0, 3, 6):
        buffer.add(torch.arange(first, first + 3.0).unsqueeze(1))
    assert sorted(buffer.state()["rows"][:, 0].tolist()) == [4, 5, 6, 7, 8]
    buffer.add(torch.arange(20.0, 27.0).unsqueeze(1))
    assert sorted(set(buffer.sample(200)[:, 0].tolist())) == [22, 23, 24, 25, 26]


def prior(**more: Any) -> MotionPrior:
    given: dict[str, Any] = {
        "groups": ("a", "b"),
        "num_steps": 2,
        "num_envs": 3,
        "step_dt": 0.1,
        "weight": 2.0,
        "hidden_dims": (8,),
        "gradient_penalty": 1.0,
        "learning_rate": 1e-2,
        "num_updates_per_iteration": 5,
        "batch_size": 16,
        "capacity": 20,
        "device": "cpu",
    }
    return MotionPrior(torch.randn(30, 6), **(given | more))


def seen(value: float) -> TensorDict:
    groups = {"a": torch.full((3, 1), value), "b": torch.full((3, 2), 10.0 + value)}
    return TensorDict(groups, batch_size=[3])


def test_a_transition_that_ends_an_episode_leads_to_the_terminal_observation():
    made = prior()
    dones, final = torch.tensor([False, True, True]), seen(5.0)
    for group in ("a", "b"):
        final[group][2] = 0.0  # The third world diverged.
    made.record(0, seen(1.0), seen(3.0), dones, final)
    first = [1.0, 11.0, 11.0]
    assert made._rollout[0, 0].tolist() == [*first, 2.0, 2.0, 2.0]
    assert made._rollout[0, 1].tolist() == [*first, 4.0, 4.0, 4.0]
    assert made._valid[0].tolist() == [True, True, False]
    made.record(1, seen(3.0), seen(4.0), torch.zeros(3), final)
    reward = made.rewards()
    assert reward[0, 2] == 0.0
    wanted = 0.2 * made.discriminator.reward(made._rollout[1, 0])
    assert reward[1].tolist() == pytest.approx([float(wanted)] * 3, rel=1e-6)
    made.update()
    assert len(made.replay.state()["rows"]) == 5


def test_discriminator_learns_to_separate_clips_from_the_policy():
    torch.manual_seed(0)
    made = prior(num_updates_per_iteration=200)
    for step in range(2):
        made.record(step, seen(3.0), seen(4.0), torch.zeros(3), seen(0.0))
    made.update()
    figures = made.update()
    assert figures["style_reward"] < 0.2 < 0.6 < figures["style_reward_of_clips"]


# In the training loop.


class WaveCfg(StyleCfg):
    """Style of a cart that swings by 0.3 m at 0.5 Hz, with an upright pole."""

    frequency: float = 0.5
    """Frequency of the wave, Hz."""

    hidden_dims = (16,)
    num_updates_per_iteration = 2
    batch_size = 16
    capacity = 64

    def clip_features(self, env, groups):
        """Return 51 frames of the wave."""
        width = sum(env.reset()[0][name].shape[1] for name in groups)
        time = torch.arange(51) * env.step_dt
        wave = 0.3 * torch.sin(2.0 * math.pi * self.frequency * time)
        return [torch.stack([wave, *[torch.zeros(51)] * (width - 1)], dim=1)]


def style_env() -> ManagerBasedRlEnvCfg:
    cfg = env_cfg()
    cfg.final_obs = True
    cfg.observations = {
        **cfg.observations,
        "style": ObservationGroupCfg(
            terms={
                "joint_pos": ObservationTermCfg(
                    func=mdp.joint_pos_rel,
                    params={"asset_cfg": SceneEntityCfg("cartpole")},
                )
            }
        ),
    }
    return cfg


def styled(iterations: int, *, own_critic: bool = True, **more: Any) -> Any:
    groups = {"actor": ("actor",), "critic": ("critic",), "style": ("style",)}
    more = {"style": WaveCfg(), "obs_groups": groups} | more
    if own_critic:
        more["critics"] = {"manner": CriticCfg(rewards=("style",), gamma=0.9)}
    return agent_cfg(iterations, **more)


@pytest.mark.parametrize("own_critic", [True, False])
def test_ten_iterations_equal_five_and_five_bit_for_bit(
    tmp_path: Path, own_critic: bool
):
    whole = make_loop(styled(10, own_critic=own_critic), env=style_env())
    whole.run()
    first = styled(5, own_critic=own_critic)
    make_loop(first, env=style_env(), folder=tmp_path).run()
    torch.manual_seed(99)
    cfg = styled(10, own_critic=own_critic)
    second = make_loop(cfg, env=style_env(), folder=tmp_path)
    second.resume(tmp_path)
    assert second.iteration == 5
    second.run()
    state = flat_state(whole)
    assert sum("/style/discriminator/" in name for name in state) >= 6
    assert any("/style/optimizer/" in name for name in state)
    assert any("own/style/rows" in name for name in state)
    assert differing(state, flat_state(second)) == []


@pytest.mark.parametrize("own_critic", [True, False])
def test_style_reward_goes_to_the_critic_that_names_it(own_critic: bool):
    loop = make_loop(styled(1, own_critic=own_critic), env=style_env())
    algorithm: Any = loop.learner.algorithm
    assert isinstance(algorithm, Ppo) and algorithm.prior is not None
    style = torch.rand(algorithm.storage.rewards.shape[:2])
    algorithm.prior.rewards = lambda: style
    compute, parts = algorithm.compute_returns, []

    def record(obs: TensorDict) -> None:
        parts.append(algorithm.storage.rewards.clone())
        compute(obs)
        parts.append(algorithm.storage.rewards.clone())

    algorithm.compute_returns = record
    loop.run()
    before, after = parts
    assert before.shape[-1] == (2 if own_critic else 1)
    torch.testing.assert_close((after - before)[..., -1], style)
    if own_critic:
        assert torch.equal(before[..., 0], after[..., 0])


def test_rollout_holds_the_terminal_observations_of_the_worlds():
    """Compared with a step of the worlds in which no episode is reset."""
    loop = make_loop(styled(1), env=style_env())
    worlds, prior = loop.worlds, loop.learner.algorithm.prior  # type: ignore
    last = loop.env.max_episode_length - 1
    loop.env.episode_length_buf.copy_(torch.arange(8) + last - 4)
    begin, state = worlds.get_observations(), worlds.env.get_state()
    actions = torch.full((8, 1), 0.5)
    obs, _, dones, extras = worlds.step(actions)
    prior.record(0, begin, obs, dones, extras["final_obs"])
    assert 0 < int(dones.sum()) < 8
    worlds.env.set_state(state)
    worlds.env.choose_resets("never")
    reached = worlds.env.step(actions).observations["style"]
    change = reached - begin["style"]
    torch.testing.assert_close(prior._rollout[0, :, 2:], change)
    assert bool(prior._valid[0].all())


def test_the_learning_rate_of_a_resumed_run_is_the_configured_one(tmp_path: Path):
    make_loop(styled(1), env=style_env(), folder=tmp_path).run()
    cfg = styled(2, style=WaveCfg(learning_rate=0.5))
    loop = make_loop(cfg, env=style_env())
    loop.resume(tmp_path)
    prior: Any = loop.learner.algorithm.prior  # type: ignore
    assert prior._optimizer.param_groups[0]["lr"] == 0.5


def test_other_styles_are_refused_when_a_run_is_resumed(tmp_path: Path):
    make_loop(styled(1), env=style_env(), folder=tmp_path / "style").run()
    make_loop(agent_cfg(1), env=style_env(), folder=tmp_path / "plain").run()
    with pytest.raises(ValueError, match="agent/style/model/hidden_dims"):
        cfg = styled(2, style=WaveCfg(hidden_dims=(5,)))
        make_loop(cfg, env=style_env()).resume(tmp_path / "style")
    with pytest.raises(ValueError, match="agent/style: absent"):
        cfg = styled(2, own_critic=False)
        make_loop(cfg, env=style_env()).resume(tmp_path / "plain")


def test_faults_of_a_style_are_found_before_training():
    groups = {"actor": ("actor",), "critic": ("critic",)}
    with pytest.raises(ValueError, match="obs_groups has no groups for 'style'"):
        check_agent(styled(1, obs_groups=groups), ["actor", "critic"], 8)
    with pytest.raises(ValueError, match=r"set env\.final_obs=True"):
        cfg = style_env()
        cfg.final_obs = False
        make_loop(styled(1), env=cfg)
    with pytest.raises(ValueError, match=r"reward term named 'style'"):
        cfg = style_env()
        effort = RewardTermCfg(func=mdp.action_rate_l2, weight=-0.01)
        cfg.rewards = {**cfg.rewards, "style": effort}
        make_loop(styled(1), env=cfg)


# A small problem, learned from nothing.

FPS = 20.0


def swing(seconds: float, phase: float = 0.0) -> np.ndarray:
    """Position of a point that swings by 0.3 m at 0.5 Hz, shape (frames, 1)."""
    time = np.arange(round(seconds * FPS)) / FPS
    return 0.3 * np.sin(np.pi * time + phase)[:, None]


class Points:
    """Points on a line that are pushed by the action, m/s^2, and start near 0."""

    def __init__(self, number: int) -> None:
        self.state = torch.zeros(number, 2)
        self.reset(torch.ones(number, dtype=torch.bool))

    def reset(self, mask: torch.Tensor) -> None:
        self.state[mask] = 0.2 * torch.randn(int(mask.sum()), 2)

    def step(self, force: torch.Tensor) -> torch.Tensor:
        """Return the reward, which is 1 at rest in 0."""
        self.state[:, 1:] += (3.0 * force.clamp(-3.0, 3.0)) / FPS
        self.state[:, :1] += self.state[:, 1:] / FPS
        return torch.exp(-self.state.square().sum(1))

    def seen(self) -> TensorDict:
        state = self.state.clone()
        groups = {"all": state, "style": state[:, :1]}
        return TensorDict(groups, batch_size=[len(state)])


def learned(style: bool, *, seed: int, iterations: int = 150) -> tuple[float, float]:
    """Return style distance, m, and reward of a policy, with or without the style."""
    torch.manual_seed(seed)
    points, worlds, steps = Points(64), 64, 24
    groups = {"actor": ["all"], "critic": ["all"]}
    gaussian = {
        "class_name": "rsl_rl.modules.distribution:GaussianDistribution",
        "init_std": 0.5,
    }
    mlp = {"hidden_dims": (32, 32), "activation": "elu"}
    obs = points.seen()
    actor = MLPModel(obs, groups, "actor", 1, distribution_cfg=gaussian, **mlp)
    critic: Any = MLPModel(obs, groups, "critic", 1, **mlp)
    options: dict[str, Any] = {}
    if style:
        names = ["critic", "style"]
        model = {"class_name": "rsl_rl.models:MLPModel", **mlp}
        critic = Critics(obs, groups, "critic", 1, names=names, model=model)
        clip = torch.from_numpy(swing(6.0)).float()
        options = {
            "critics": {"style": {"rewards": ("style",), "gamma": 0.9}},
            "reward_terms": ("task",),
            "style": {
                "clips": transitions(clip[:-1], clip[1:]),
                "groups": ("style",),
                "step_dt": 1.0 / FPS,
                "weight": 1.0,
                "hidden_dims": (64, 32),
                "gradient_penalty": 0.3,
                "learning_rate": 1e-3,
                "num_updates_per_iteration": 10,
                "batch_size": 256,
                "capacity": 10_000,
            },
        }
    made = Ppo(
        actor,
        critic,
        RolloutStorage("rl", worlds, steps, obs, [1]),
        gamma=0.95,
        entropy_coef=0.0,
        learning_rate=1e-3,
        **options,
    )
    age = torch.randint(100, (worlds,))
    for _ in range(iterations):
        with torch.no_grad():
            for _ in range(steps):
                reward = points.step(made.act(obs)) / FPS
                final, age = points.seen(), age + 1
                done = (age >= 100) | (points.state.abs().amax(1) > 2.0)
                points.reset(done)
                age[done], obs = 0, points.seen()
                extras = {"final_obs": final, "reward_terms": reward[:, None]}
                made.process_env_step(obs, reward, done, extras)
            made.compute_returns(obs)
        made.update()
    points.reset(torch.ones(worlds, dtype=torch.bool))
    places, rewards = [], []
    with torch.no_grad():
        for _ in range(160):
            rewards.append(points.step(actor(points.seen())).mean())
            places.append(points.state[:8, 0].clone())
    motion = torch.stack(places[60:]).double().numpy()
    # A phase and a duration that are not in the clip.
    judge = swing(4.0, phase=0.1)
    found = [style_distance(motion[:, [k]], judge, FPS) for k in range(8)]
    return float(np.mean(found)), float(torch.stack(rewards[60:]).mean())


@pytest.mark.slow
def test_a_policy_learns_the_style_of_a_clip_besides_its_task():
    for seed in (0, 1):
        plain, best = learned(False, seed=seed, iterations=60)
        near, reward = learned(True, seed=seed)
        assert plain > 0.1
        assert best > 0.85
        assert near < 0.5 * plain
        # The mean of exp(-x^2 - v^2) over the swing.
        assert reward > 0.5

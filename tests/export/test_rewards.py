"""Reward terms that export traces to the file of a policy."""

import contextlib

import numpy as np
import onnxruntime
import pytest
import torch

from mjlab.envs import ManagerBasedRlEnv, mdp
from mjlab.export.rewards import Rewards, rewards_of
from mjlab.export.trace import Tracer
from mjlab.export.write import nominal
from mjlab.managers import ManagerTermBase, RewardTermCfg, SceneEntityCfg
from mjlab.tasks.cartpole.env import CartpoleBalanceCfg

CART = {"asset_cfg": SceneEntityCfg("cartpole")}


class MeanSpeed(ManagerTermBase):
    """Exponential mean with its own initial value."""

    def __init__(self, cfg, env):
        super().__init__(cfg, env)
        self._data = env.scene["cartpole"].data
        self._mean = torch.full((env.num_envs,), 0.25)

    def __call__(self, env):
        self._mean = 0.5 * self._mean + 0.5 * self._data.joint_vel[:, 0]
        return self._mean

    def reset(self, mask):
        self._mean[mask] = 0.25

    def state(self):
        return {"mean": self._mean}


def branching(env):
    fast = env.scene["cartpole"].data.joint_vel[0, 0] > 0.1
    return torch.ones(env.num_envs) if fast else torch.zeros(env.num_envs)


class Counter:
    calls = 0


def counting(env):
    Counter.calls += 1
    return torch.full((env.num_envs,), float(Counter.calls))


def unsupported(env):
    return torch.special.bessel_j1(env.scene["cartpole"].data.joint_vel[:, 0])


def traced(**terms: RewardTermCfg) -> Rewards:
    cfg = CartpoleBalanceCfg()
    cfg.rewards = terms
    with contextlib.closing(ManagerBasedRlEnv(nominal(cfg), device="cpu")) as env:
        env.reset(seed=0)
        return Rewards(Tracer(env, ["actor"]), [], {})


def call(rewards: Rewards, **inputs: list[float]) -> dict[str, np.ndarray]:
    session = onnxruntime.InferenceSession(rewards.model().SerializeToString())
    fed = {name: np.array(value, np.float32) for name, value in inputs.items()}
    outputs = [each.name for each in session.get_outputs()]
    found = session.run(outputs, fed)
    return {n: np.asarray(value) for n, value in zip(outputs, found, strict=True)}


def test_the_model_computes_weighted_terms_and_passes_the_last_action_on():
    rewards = traced(
        speed=RewardTermCfg(mdp.joint_vel_l2, weight=-0.5, params=CART),
        rate=RewardTermCfg(mdp.action_rate_l2, weight=-2.0),
        unused=RewardTermCfg(mdp.joint_vel_l2, weight=0.0, params=CART),
    )
    assert rewards.names == ["speed", "rate"] and rewards.held == {}
    found = call(rewards, qvel=[3.0, 4.0], action=[0.5], last_action=[0.2])
    assert found["speed"] == pytest.approx([-12.5])
    assert found["rate"] == pytest.approx([-0.18])
    assert found["next_last_action"] == pytest.approx([0.5])


def test_term_state_starts_at_its_value_after_a_reset():
    rewards = traced(mean=RewardTermCfg(MeanSpeed))
    (state,) = rewards.described()["states"]
    assert state["initial"] == [0.25]
    found = call(rewards, qvel=[2.0, 0.0], **{state["name"]: [0.25]})
    assert found["mean"] == found[state["next"]] == pytest.approx([1.125])


@pytest.mark.slow
def test_terms_that_cannot_be_computed_are_named_with_the_reason():
    rewards = traced(
        branching=RewardTermCfg(branching),
        counting=RewardTermCfg(counting),
        unsupported=RewardTermCfg(unsupported),
        speed=RewardTermCfg(mdp.joint_vel_l2, params=CART),
    )
    assert rewards.names == ["speed"]
    assert "branches on data" in rewards.held["branching"]
    assert rewards.held["counting"] == "its traced value differs from the term's"
    assert "ONNX does not support" in rewards.held["unsupported"]


@pytest.mark.parametrize("terms", [{}, {"branching": RewardTermCfg(branching)}])
def test_a_file_without_computable_terms_has_no_rewards(terms):
    cfg = CartpoleBalanceCfg()
    cfg.rewards = terms
    with contextlib.closing(ManagerBasedRlEnv(nominal(cfg), device="cpu")) as env:
        env.reset(seed=0)
        assert rewards_of(Tracer(env, ["actor"]), [], {}) is None

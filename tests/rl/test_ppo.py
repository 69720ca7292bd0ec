"""Mixed precision compared with float32, and with RSL-RL's own."""

import copy
from typing import Any

import pytest
import torch
from rsl_rl.algorithms import PPO
from rsl_rl.models import MLPModel
from rsl_rl.modules.distribution import GaussianDistribution
from rsl_rl.storage import RolloutStorage
from tensordict import TensorDict
from torch import nn

from mjlab.rl.algorithms.ppo import Ppo, round_layers
from mjlab.rl.models.equivariant import Image, TiedLinear
from mjlab.rl.models.mirrored_columns import SignedColumns

WORLDS, STEPS = 64, 8


def learner(kind: type[PPO], **options: Any) -> PPO:
    """Return a learner with a rollout of its own policy, the same for each kind."""
    torch.manual_seed(3)
    obs = TensorDict({"actor": torch.randn(WORLDS, 10)}, batch_size=[WORLDS])
    groups = {"actor": ["actor"], "critic": ["actor"]}
    gaussian = {
        "class_name": "rsl_rl.modules.distribution:GaussianDistribution",
        "init_std": 0.3,
    }
    sizes = {"hidden_dims": (32, 16), "activation": "elu"}
    actor = MLPModel(obs, groups, "actor", 3, distribution_cfg=gaussian, **sizes)
    critic = MLPModel(obs, groups, "critic", 1, **sizes)
    storage = RolloutStorage("rl", WORLDS, STEPS, obs, [3])
    made = kind(actor, critic, storage, **options)
    for _ in range(STEPS):
        obs = TensorDict({"actor": torch.randn(WORLDS, 10)}, batch_size=[WORLDS])
        action = made.act(obs)
        reward = -(action - obs["actor"][:, :3]).square().sum(1)
        made.process_env_step(obs, reward, torch.rand(WORLDS) < 0.1, {})
    with torch.no_grad():
        made.compute_returns(obs)
    return made


def updated(made: PPO) -> dict[str, torch.Tensor]:
    """Return all weights after an update, with the same order of minibatches."""
    torch.manual_seed(5)
    made.update()
    nets = nn.ModuleList([made.actor, made.critic])
    return {k: v.detach().clone() for k, v in nets.state_dict().items()}


def off(made: PPO, batch: RolloutStorage.Batch) -> float:
    """Return the difference of log probabilities from those of the acting policy."""
    assert batch.actions is not None and batch.old_actions_log_prob is not None
    made.actor(batch.observations, stochastic_output=True)
    found = made.actor.get_output_log_prob(batch.actions)
    away = found - batch.old_actions_log_prob.squeeze()
    return float(away.detach().abs().mean())


def test_mixed_precision_trains_like_float32_and_acts_the_same():
    exact, rounded = learner(Ppo), learner(Ppo, use_mixed_precision=True)
    obs = TensorDict({"actor": torch.randn(500, 10)}, batch_size=[500])
    with torch.no_grad():
        assert torch.equal(exact.actor(obs), rounded.actor(obs))
        assert torch.equal(exact.critic(obs), rounded.critic(obs))
    before = copy.deepcopy(nn.ModuleList([exact.actor, exact.critic]).state_dict())
    ways = []
    for made in (exact, rounded):
        after = updated(made)
        ways.append(torch.cat([(after[k] - before[k]).flatten() for k in after]))
    away = (ways[0] - ways[1]).norm() / ways[0].norm()
    assert 0.0 < away < 0.1
    assert exact.learning_rate == rounded.learning_rate


def test_float32_update_equals_rsl_rl_bit_for_bit():
    kind, draws = GaussianDistribution, []
    sample, found = kind.sample, []
    for made in (learner(PPO), learner(Ppo)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(kind, "sample", lambda one: draws.append(1) or sample(one))
            found.append((updated(made), len(draws)))
    (theirs, drawn), (ours, drawn_then) = found
    assert all(torch.equal(theirs[key], ours[key]) for key in theirs)
    assert drawn_then == drawn > 0
    obs = TensorDict({"actor": torch.randn(4, 10)}, batch_size=[4])
    first, second = (made.actor(obs, stochastic_output=True) for _ in range(2))
    assert not torch.equal(first, second)


def test_policy_ratio_to_itself_is_one_with_mixed_precision():
    """RSL-RL's autocast differs by some percent."""
    made = learner(Ppo, use_mixed_precision=True)
    batch = next(iter(made.storage.mini_batch_generator(1, 1)))
    assert off(made, batch) < 1e-5
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert off(learner(PPO), batch) > 1e-3


def tied() -> TiedLinear:
    seen = SignedColumns([*range(12, 24), *range(12)], [-1.0] * 24)
    return TiedLinear(24, 8, Image(seen), None)


@pytest.mark.parametrize(
    "make", [lambda: nn.Linear(24, 8), tied], ids=["plain", "tied"]
)
def test_gradients_of_a_rounded_layer_are_those_of_float32_to_eight_bits(make):
    torch.manual_seed(0)
    x = torch.randn(256, 24, requires_grad=True)
    plain = make()
    layer = copy.deepcopy(plain)
    round_layers(layer, outputs=False)
    target, found = torch.randn(256, 8), []
    for rounds, one in ((False, plain), (False, layer), (True, layer)):
        vars(one)["rounds_output"] = rounds
        x.grad = one.weight.grad = one.bias.grad = None
        out = one(x)
        (out - target).square().mean().backward()
        found.append((out, x.grad, one.weight.grad, one.bias.grad))
    assert torch.equal(found[1][0], found[0][0])
    assert not torch.equal(found[2][0], found[0][0])
    for rounded in found[1:]:
        for got, exact in zip(rounded, found[0], strict=True):
            assert (got - exact).norm() < 0.01 * exact.norm()
            assert got.dtype == torch.float32

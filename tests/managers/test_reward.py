"""Rewards: weighted sum, logs, and non-finite terms."""

import pytest
import torch

from mjlab.managers.reward import RewardManager, RewardTermCfg
from mjlab.managers.term import ManagerTermBase, TermError
from mjlab.names import UnknownNameError
from tests.worlds.fake_env import FakeEnv


def column(env, index):
    return env.values[:, index]


def terms(*weights):
    return {
        f"r{i}": RewardTermCfg(func=column, params={"index": i}, weight=weight)
        for i, weight in enumerate(weights)
    }


def fake(num_envs=4, columns=2):
    return FakeEnv(num_envs, values=torch.zeros(num_envs, columns))


class Calls(ManagerTermBase):
    """Term that returns its number of calls since the reset."""

    def __init__(self, cfg, env):
        super().__init__(cfg, env)
        self.calls = torch.zeros(self.num_envs)

    def __call__(self, env):
        self.calls += 1
        return self.calls

    def reset(self, mask):
        self.calls.masked_fill_(mask, 0)


def test_reward_is_the_weighted_sum_times_the_duration_of_the_step():
    env = fake(2)
    manager = RewardManager(terms(0.5, -2.0), env)
    env.values.copy_(torch.tensor([[1.0, 2.0], [8.0, -1.0]]))
    # (0.5 * 1 - 2 * 2) / 4 and (0.5 * 8 + 2 * 1) / 4: exact in binary.
    assert manager.compute(0.25).tolist() == [-0.875, 1.5]
    assert manager.contributions.tolist() == [[0.125, -1.0], [1.0, 0.5]]


def test_reward_is_not_scaled_if_so_configured():
    env = fake(1)
    manager = RewardManager(terms(0.5, -2.0), env, scale_by_dt=False)
    env.values.copy_(torch.tensor([[1.0, 2.0]]))
    assert manager.compute(0.25).tolist() == [-3.5]


def test_a_weight_written_on_the_device_counts_from_the_next_step():
    env = fake(1)
    manager = RewardManager(terms(1.0, 1.0), env, scale_by_dt=False)
    env.values.fill_(1.0)
    manager.set_weight("r1", torch.tensor(3.0))
    assert manager.compute(1.0).tolist() == [4.0]
    manager.weight("r0").mul_(2.0)
    manager.set_weight("r1", 0.5)
    assert manager.compute(1.0).tolist() == [2.5]


def test_the_weight_of_an_unknown_term_is_an_error_that_suggests_one():
    manager = RewardManager(terms(1.0, 1.0), fake())
    with pytest.raises(UnknownNameError, match=r"no reward term 'r7'.*'r0', 'r1'"):
        manager.set_weight("r7", 1.0)


@pytest.mark.parametrize("value", [torch.nan, torch.inf, -torch.inf, 3e38])
def test_a_world_with_a_bad_term_gets_no_reward_and_the_term_is_counted(value):
    env = fake(3)
    manager = RewardManager(terms(1.0, 10.0), env, scale_by_dt=False)
    env.values.fill_(1.0)
    env.values[1, 1] = value  # 10 times 3e38 overflows.
    for _ in range(2):
        assert manager.compute(1.0).tolist() == [11.0, 0.0, 11.0]
    assert manager.nonfinite.tolist() == [False, True, False]
    assert manager.episode_sums[:, 0].tolist() == [2.0, 0.0, 2.0]
    assert manager.take_nonfinite() == {"reward/r0": 0, "reward/r1": 2}
    assert manager.take_nonfinite() == {"reward/r0": 0, "reward/r1": 0}


def test_a_diverged_world_gets_zero_reward_from_all_terms():
    env = fake(3)
    manager = RewardManager(terms(1.0, 10.0), env, scale_by_dt=False)
    env.values.fill_(1.0)
    assert manager.compute(1.0, diverged=env.mask(1)).tolist() == [11.0, 0.0, 11.0]
    assert manager.episode_sums[:, 1].tolist() == [10.0, 0.0, 10.0]
    assert not manager.nonfinite.any()


def test_logged_reward_is_the_episode_sum_divided_by_the_maximum_duration():
    env = fake(4)
    manager = RewardManager(terms(1.0, 2.0), env)
    env.values.copy_(torch.tensor([[1.0, 0.0], [2.0, 1.0], [4.0, 5.0], [8.0, 0.0]]))
    for _ in range(5):
        manager.compute(0.5)
    before = manager.episode_sums.clone()
    mask = env.mask(1, 2)
    manager.reset(mask)
    env.episode_log.fold(mask)
    figures, count = env.episode_log.take()
    # Five steps of half a second at rates 2 and 4 (times 1), 1 and 5 (times 2).
    assert count == 2
    assert figures["Episode_Reward/r0"] == pytest.approx((5.0 + 10.0) / 2 / 10.0)
    assert figures["Episode_Reward/r1"] == pytest.approx((5.0 + 25.0) / 2 / 10.0)
    assert torch.equal(manager.episode_sums[[0, 3]], before[[0, 3]])
    assert manager.episode_sums[[1, 2]].abs().max() == 0


def test_a_term_of_weight_zero_is_computed_so_that_its_state_stays_current():
    manager = RewardManager({"calls": RewardTermCfg(func=Calls, weight=0.0)}, fake(1))
    for _ in range(3):
        assert manager.compute(1.0).tolist() == [0.0]
    manager.set_weight("calls", 1.0)
    # The trial call of the constructor is forgotten: this is the fourth.
    assert manager.compute(1.0).tolist() == [4.0]


def test_a_term_that_is_none_is_left_out():
    manager = RewardManager({**terms(1.0), "off": None}, fake())
    assert manager.active_terms == ["r0"]
    assert manager.rows() == [("r0", "1")]


def test_an_empty_set_of_terms_gives_zero_reward():
    env = FakeEnv(2)
    manager = RewardManager({}, env)
    assert manager.compute(0.1).tolist() == [0.0, 0.0]
    manager.reset(env.everyone)


@pytest.mark.parametrize(
    ("func", "message"),
    [
        (lambda env: torch.zeros(env.num_envs, 1), r"'bad' returned shape \(4, 1\)"),
        (lambda env: torch.zeros(()), r"'bad' returned shape \(\)"),
        (lambda env: torch.ones(env.num_envs) > 0, r"'bad' returned torch.bool"),
        (lambda env: torch.zeros(env.num_envs).double(), r"returned torch.float64"),
        (lambda env: 1.0, r"'bad' returned float"),
    ],
)
def test_a_term_of_the_wrong_shape_or_type_is_an_error_when_built(func, message):
    with pytest.raises(TermError, match=f"Reward term .*{message}"):
        RewardManager({"bad": RewardTermCfg(func=func)}, fake())


def test_a_weight_that_is_no_number_is_an_error_when_built():
    with pytest.raises(TermError, match=r"Reward term 'r0' has weight=nan"):
        RewardManager(terms(float("nan")), fake())


def test_worlds_do_not_depend_on_the_number_of_worlds():
    generator = torch.Generator().manual_seed(1)
    data = torch.randn(20, 8, 13, generator=generator) * 100.0
    results = {}
    for num_envs in (1, 2, 8):
        env = fake(num_envs, 13)
        manager = RewardManager(terms(*[0.1 * i - 0.55 for i in range(13)]), env)
        rewards = []
        for values in data:
            env.values.copy_(values[:num_envs])
            rewards.append(manager.compute(0.02).clone())
        results[num_envs] = (torch.stack(rewards), manager.episode_sums)
    for few in (1, 2):
        for small, large in zip(results[few], results[8], strict=True):
            rows = large[..., :few] if large.shape[0] == 20 else large[:few]
            assert torch.equal(small, rows)


def test_reward_tensors_keep_their_address_and_a_snapshot_restores_them():
    env = fake(4)
    manager = RewardManager(terms(1.0, 2.0), env)
    env.values.normal_(generator=torch.Generator().manual_seed(0))
    manager.compute(0.1)
    live = manager.state()
    saved = {name: tensor.clone() for name, tensor in live.items()}
    places = {name: tensor.data_ptr() for name, tensor in live.items()}
    manager.set_weight("r0", 5.0)
    expected = manager.compute(0.1).clone()
    manager.reset(env.mask(0))
    for name, tensor in live.items():
        tensor.copy_(saved[name])
    manager.set_weight("r0", 5.0)
    assert torch.equal(manager.compute(0.1), expected)
    assert {n: t.data_ptr() for n, t in manager.state().items()} == places

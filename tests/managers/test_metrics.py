"""Episode metrics, compared with hand arithmetic."""

import pytest
import torch

from mjlab.managers.metrics import MetricsManager, MetricsTermCfg
from mjlab.managers.term import TermError
from tests.worlds.fake_env import FakeEnv

KINDS = ("last", "max", "mean", "sum")


def value(env):
    return env.value


def build(num_envs=2, **options):
    env = FakeEnv(num_envs, value=torch.zeros(num_envs))
    cfg = {
        kind: MetricsTermCfg(func=value, reduce=kind, **options)  # pyright: ignore
        for kind in KINDS
    }
    return env, MetricsManager(cfg, env)


def take(env, manager, mask):
    manager.reset(mask)
    env.episode_log.fold(mask)
    figures, _ = env.episode_log.take()
    return {name.removeprefix("Metrics/"): v for name, v in figures.items()}


def test_each_reduction_equals_the_reduction_of_the_values_of_one_episode():
    env, manager = build()
    for step in (-4.0, -1.0, -3.0, -2.0):
        env.value.copy_(torch.tensor([step, 100.0]))
        manager.compute()
    figures = take(env, manager, env.mask(0))
    # The largest is below zero: an episode does not start from a maximum of zero.
    assert figures == {"mean": -2.5, "sum": -10.0, "max": -1.0, "last": -2.0}


def test_episodes_are_averaged_over_their_own_length():
    env, manager = build()
    env.value.copy_(torch.tensor([6.0, 1.0]))
    manager.compute()
    manager.reset(env.mask(0))
    env.value.copy_(torch.tensor([2.0, 3.0]))
    manager.compute()
    assert take(env, manager, env.mask(0))["mean"] == 2.0
    assert take(env, manager, env.mask(1)) == {
        "mean": 2.0,
        "sum": 4.0,
        "max": 3.0,
        "last": 3.0,
    }


def test_a_reset_leaves_the_other_worlds_bit_equal():
    env, manager = build(4)
    env.value.normal_(generator=torch.Generator().manual_seed(0))
    for _ in range(3):
        manager.compute()
    before = {n: t.clone() for n, t in manager.state().items() if t.shape[0] == 4}
    manager.reset(env.mask(1))
    for name, tensor in before.items():
        others = torch.tensor([0, 2, 3])
        assert torch.equal(manager.state()[name][others], tensor[others])


def test_episode_without_steps_has_zero_metrics():
    env, manager = build()
    assert take(env, manager, env.everyone) == dict.fromkeys(KINDS, 0.0)


def test_substep_terms_take_one_value_a_physics_step():
    env = FakeEnv(1, value=torch.zeros(1))
    cfg = {
        "step": MetricsTermCfg(func=value, reduce="sum"),
        "substep": MetricsTermCfg(func=value, reduce="sum", per_substep=True),
    }
    manager = MetricsManager(cfg, env)
    for _ in range(3):
        for _ in range(4):
            env.value += 1.0
            manager.compute_substep()
        manager.compute()
    # 1 + ... + 12, and 4 + 8 + 12.
    assert take(env, manager, env.everyone) == {"step": 24.0, "substep": 78.0}


def test_non_finite_values_are_counted_and_excluded_from_figures():
    env, manager = build()
    for number in (2.0, torch.nan, torch.inf):
        env.value.copy_(torch.tensor([number, 1.0]))
        manager.compute()
    figures = take(env, manager, env.everyone)
    assert figures["sum"] == (2.0 + 3.0) / 2
    assert manager.take_nonfinite() == {f"metrics/{kind}": 2 for kind in KINDS}
    assert set(manager.take_nonfinite().values()) == {0}


def test_an_unknown_reduction_is_an_error_when_built():
    cfg = MetricsTermCfg(func=value, reduce="meen")  # pyright: ignore
    with pytest.raises(TermError, match=r"Metrics term 'm' has reduce='meen'.*'mean'"):
        MetricsManager({"m": cfg}, FakeEnv(2, value=torch.zeros(2)))


def test_a_term_of_the_wrong_shape_is_an_error_when_built():
    cfg = MetricsTermCfg(func=value)
    with pytest.raises(TermError, match=r"Metrics term 'm' returned shape \(3,\)"):
        MetricsManager({"m": cfg}, FakeEnv(2, value=torch.zeros(3)))


def test_worlds_do_not_depend_on_the_number_of_worlds():
    data = torch.randn(10, 8, generator=torch.Generator().manual_seed(2))
    found = {}
    for num_envs in (2, 8):
        env, manager = build(num_envs)
        for values in data:
            env.value.copy_(values[:num_envs])
            manager.compute()
        found[num_envs] = manager.state()
    for name, tensor in found[2].items():
        if tensor.shape[0] == 2:
            assert torch.equal(tensor, found[8][name][:2])

"""Observation groups: scaling, clipping, noise, delay, history, and their state."""

import warnings

import pytest
import torch

from mjlab.managers.observation import (
    NonfiniteObservationError,
    ObservationGroupCfg,
    ObservationManager,
    ObservationTermCfg,
)
from mjlab.managers.term import ManagerTermBase, TermError
from mjlab.names import UnknownNameError
from mjlab.tensors import (
    ConstantNoiseCfg,
    DelayCfg,
    GaussianNoiseCfg,
    NoiseModelCfg,
    NoiseModelWithAdditiveBiasCfg,
    UniformNoiseCfg,
)
from tests.worlds.fake_env import FakeEnv


def pos(env, gain=1.0):
    env.calls += 1
    return env.pos * gain


def vel(env):
    return env.vel


def image(env):
    return env.image


class Total(ManagerTermBase):
    """Sum of the positions since the reset: a term with state."""

    def __init__(self, cfg, env):
        super().__init__(cfg, env)
        self.total = torch.zeros_like(env.pos)

    def __call__(self, env):
        return self.total.add_(env.pos)

    def reset(self, mask):
        self.total.masked_fill_(mask.unsqueeze(1), 0.0)

    def state(self):
        return {"total": self.total}


def fake(num_envs=3):
    """World i has positions (10 i + 1, 10 i + 2) and velocity -i."""
    worlds = torch.arange(float(num_envs)).unsqueeze(1)
    return FakeEnv(
        num_envs,
        pos=10.0 * worlds + torch.tensor([1.0, 2.0]),
        vel=-worlds,
        image=torch.arange(num_envs * 12.0).view(num_envs, 3, 2, 2),
        calls=0,
    )


def term(func=pos, **options):
    return ObservationTermCfg(func=func, **options)


def single(env, func=pos, group=None, **options):
    """A manager with one group `g` of one term `t`."""
    noisy = {"enable_corruption": True} | (group or {})
    cfg = ObservationGroupCfg(terms={"t": term(func, **options)}, **noisy)
    return ObservationManager({"g": cfg}, env)


def observe(env, manager, value=None):
    """Set all positions to `value`, and return a copy of the group `g`."""
    if value is not None:
        env.pos.fill_(value)
    return manager.compute()["g"].clone()


def unit(env, group, kind, width):
    """The uniform numbers behind a group's noise, in [0, 1), from the generator."""
    return env.rng.draw(f"observation/{group}/{kind}", width)


# Stages.


def test_noise_precedes_clip_which_precedes_scale():
    env = fake(1)
    noise = ConstantNoiseCfg(bias=2.0)
    manager = single(env, noise=noise, clip=(-2.0, 3.5), scale=10.0)
    # 1 + 2 = 3 and 2 + 2 = 4, which is clipped to 3.5.
    assert observe(env, manager).tolist() == [[30.0, 35.0]]


def test_scale_may_differ_by_component_and_by_term():
    env = fake(1)
    cfg = ObservationGroupCfg(
        terms={
            "a": term(scale=(2.0, -1.0)),
            "b": term(vel, clip=(5.0, 6.0)),
            "c": term(scale=torch.tensor(0.5)),
        }
    )
    manager = ObservationManager({"g": cfg}, env)
    assert observe(env, manager).tolist() == [[2.0, -2.0, 5.0, 0.5, 1.0]]


def test_a_delay_follows_the_scale_and_a_history_follows_the_delay():
    env = fake(1)
    options = {"scale": 2.0, "delay_min_lag": 1, "delay_max_lag": 1}
    manager = single(env, history_length=2, **options)
    seen = [observe(env, manager, value)[0, ::2].tolist() for value in (1, 2, 3, 4)]
    # Delayed and scaled: 2, 2, 4, 6; the oldest comes first.
    assert seen == [[2.0, 2.0], [2.0, 2.0], [2.0, 4.0], [4.0, 6.0]]


def test_nan_is_replaced_before_the_delay_and_the_history():
    env = fake(2)
    manager = single(env, group={"nan_policy": "sanitize"}, history_length=2, scale=3.0)
    observe(env, manager, 1.0)
    env.pos[0, 1] = torch.nan
    assert observe(env, manager).tolist() == [[3, 3, 3, 0], [3, 3, 3, 3]]


# Noise.


def test_uniform_noise_of_all_terms_stays_within_its_bounds():
    env = fake(1000)
    cfg = ObservationGroupCfg(
        enable_corruption=True,
        terms={
            "a": term(noise=UniformNoiseCfg(n_min=-0.5, n_max=0.25)),
            "b": term(vel, noise=UniformNoiseCfg(n_min=1.0, n_max=3.0)),
            "c": term(),
            "d": term(noise=UniformNoiseCfg(n_min=(0.0, -4.0), n_max=(0.0, -2.0))),
        },
    )
    seen = ObservationManager({"g": cfg}, env).compute()["g"]
    noise = seen - torch.cat([env.pos, env.vel, env.pos, env.pos], dim=1)
    for columns, low, high in (
        (0, -0.5, 0.25),
        (1, -0.5, 0.25),
        (2, 1, 3),
        (6, -4, -2),
    ):
        assert low - 1e-3 <= noise[:, columns].min() < low + 0.1 * (high - low)
        assert high - 0.1 * (high - low) < noise[:, columns].max() <= high + 1e-3
    assert noise[:, 3:6].abs().max() == 0


def test_uniform_noise_is_the_generators_number_between_its_bounds():
    env = fake(4)
    noise = UniformNoiseCfg(n_min=-1.0, n_max=3.0)
    manager = single(env, noise=noise)
    numbers = unit(env, "g", "uniform", 2)
    assert torch.equal(observe(env, manager), env.pos + (numbers * 4.0 - 1.0))


def test_gaussian_noise_has_its_mean_and_deviation():
    env = fake(4000)
    cfg = ObservationGroupCfg(
        enable_corruption=True,
        terms={
            "a": term(noise=GaussianNoiseCfg(mean=2.0, std=0.5)),
            "b": term(vel, noise=UniformNoiseCfg(n_min=0.0, n_max=1.0)),
            "c": term(noise=NoiseModelCfg(noise_cfg=GaussianNoiseCfg(std=(0.0, 3.0)))),
        },
    )
    seen = ObservationManager({"g": cfg}, env).compute()["g"]
    noise = seen - torch.cat([env.pos, env.vel, env.pos], dim=1)
    mean, std = noise.mean(dim=0), noise.std(dim=0)
    # Four standard errors of 4000 samples.
    assert torch.allclose(mean[:2], torch.tensor(2.0), atol=0.032)
    assert torch.allclose(std[:2], torch.tensor(0.5), atol=0.023)
    assert abs(float(mean[2]) - 0.5) < 0.02 and 0.0 <= float(noise[:, 2].min())
    assert noise[:, 3].abs().max() == 0
    assert abs(float(std[4]) - 3.0) < 0.14


def test_noise_may_multiply_or_replace_the_value():
    env = fake(2)
    cfg = ObservationGroupCfg(
        enable_corruption=True,
        terms={
            "scale": term(noise=ConstantNoiseCfg(bias=3.0, operation="scale")),
            "abs": term(noise=ConstantNoiseCfg(bias=(7.0, 8.0), operation="abs")),
            "add": term(noise=ConstantNoiseCfg(bias=0.5)),
        },
    )
    manager = ObservationManager({"g": cfg}, env)
    assert observe(env, manager).tolist() == [
        [3.0, 6.0, 7.0, 8.0, 1.5, 2.5],
        [33.0, 36.0, 7.0, 8.0, 11.5, 12.5],
    ]


def biased(**options):
    return NoiseModelWithAdditiveBiasCfg(
        noise_cfg=ConstantNoiseCfg(),
        bias_noise_cfg=UniformNoiseCfg(n_min=-1.0, n_max=1.0),
        **options,
    )


def test_a_bias_is_constant_in_an_episode_and_redrawn_at_a_reset():
    env = fake(3)
    manager = single(env, noise=biased())
    first = observe(env, manager) - env.pos
    env.rng.advance()
    assert torch.equal(observe(env, manager) - env.pos, first)
    assert first.abs().max() <= 1.0 and (first[:, 0] != first[:, 1]).all()
    env.rng.advance(env.mask(1))
    manager.reset(env.mask(1))
    second = observe(env, manager) - env.pos
    assert torch.equal(second[[0, 2]], first[[0, 2]])
    # Drawn, not added to the old one: it stays within the bounds for good.
    assert (second[1] != first[1]).all() and second[1].abs().max() <= 1.0


def test_a_bias_may_be_one_for_all_components():
    env = fake(3)
    cfg = ObservationGroupCfg(
        enable_corruption=True,
        terms={
            "a": term(vel),
            "b": term(noise=biased(sample_bias_per_component=False)),
            "c": term(noise=biased()),
        },
    )
    manager = ObservationManager({"g": cfg}, env)
    bias = observe(env, manager) - torch.cat([env.vel, env.pos, env.pos], dim=1)
    assert bias[:, 0].abs().max() == 0
    assert torch.allclose(bias[:, 1], bias[:, 2], atol=1e-5)
    assert (bias[:, 3] - bias[:, 4]).abs().min() > 1e-4


def test_groups_have_separate_noise_and_none_without_corruption():
    env = fake()
    noise = UniformNoiseCfg(n_min=-1.0, n_max=1.0)
    groups = {
        "actor": ObservationGroupCfg(
            enable_corruption=True, terms={"p": term(noise=noise)}
        ),
        "other": ObservationGroupCfg(
            enable_corruption=True, terms={"p": term(noise=noise)}
        ),
        "critic": ObservationGroupCfg(
            terms={"p": term(noise=noise)}, enable_corruption=False
        ),
    }
    seen = ObservationManager(groups, env).compute()
    assert torch.equal(seen["critic"], env.pos)
    assert (seen["actor"] != seen["other"]).all()


# Terms that groups share.


def two_groups(first, second):
    return {
        "actor": ObservationGroupCfg(terms={"p": first}),
        "critic": ObservationGroupCfg(terms={"v": term(vel), "p": second}),
    }


def test_shared_term_is_computed_once():
    env = fake(1)
    manager = ObservationManager(two_groups(term(scale=2.0), term()), env)
    env.calls = 0
    seen = manager.compute()
    assert env.calls == 1
    assert seen["actor"].tolist() == [[2.0, 4.0]]
    assert seen["critic"].tolist() == [[0.0, 1.0, 2.0]]
    assert manager.term("critic/p") is manager.term("actor/p")
    assert manager.rows()[2] == ("critic", "p", "(2,)", "actor/p")


def test_a_default_and_the_same_value_given_are_equal_parameters():
    env = fake(1)
    groups = two_groups(term(), term(params={"gain": 1.0}))
    manager = ObservationManager(groups, env)
    env.calls = 0
    manager.compute()
    assert env.calls == 1


def test_terms_with_different_parameters_are_computed_separately():
    env = fake(1)
    groups = two_groups(term(), term(params={"gain": 3.0}))
    manager = ObservationManager(groups, env)
    env.calls = 0
    seen = manager.compute()
    assert env.calls == 2
    assert seen["critic"].tolist() == [[0.0, 3.0, 6.0]]


def test_shared_term_with_state_updates_once_per_step():
    env = fake(1)
    manager = ObservationManager(two_groups(term(Total), term(Total)), env)
    manager.compute()
    seen = manager.compute()
    assert seen["actor"].tolist() == [[2.0, 4.0]]
    assert seen["critic"].tolist() == [[0.0, 2.0, 4.0]]


# Delay and history.


def test_a_lag_of_two_returns_the_value_two_steps_ago_or_the_oldest():
    env = fake(1)
    manager = single(env, delay=DelayCfg(min_lag=2, max_lag=2))
    seen = [observe(env, manager, value)[0, 0].item() for value in range(5)]
    assert seen == [0.0, 0.0, 0.0, 1.0, 2.0]


def test_a_delay_concerns_the_columns_of_its_term_only():
    env = fake(1)
    delayed = term(delay_min_lag=1, delay_max_lag=1)
    cfg = ObservationGroupCfg(terms={"a": term(), "b": delayed, "c": term(vel)})
    manager = ObservationManager({"g": cfg}, env)
    observe(env, manager, 1.0)
    assert observe(env, manager, 2.0).tolist() == [[2.0, 2.0, 1.0, 1.0, 0.0]]


def test_a_reset_clears_buffers_of_its_worlds_and_the_first_value_fills_them():
    env = fake(3)
    manager = single(env, delay_min_lag=1, delay_max_lag=1, history_length=3)
    for value in (1.0, 2.0, 3.0):
        observe(env, manager, value)
    manager.reset(env.mask(1))
    seen = observe(env, manager, 4.0)
    assert seen[:, ::2].tolist() == [[1, 2, 3], [4, 4, 4], [1, 2, 3]]
    assert observe(env, manager, 5.0)[:, ::2].tolist() == [
        [2, 3, 4],
        [4, 4, 4],
        [2, 3, 4],
    ]


def test_outputs_stay_until_the_next_step_when_a_world_is_reset():
    env = fake(2)
    manager = single(env, history_length=2, delay_min_lag=1, delay_max_lag=1)
    before = observe(env, manager)
    manager.reset(env.everyone)
    assert torch.equal(manager.output["g"], before)


def test_histories_are_laid_out_term_by_term_with_the_oldest_first():
    env = fake(1)
    group = {"history_length": 2, "flatten_history_dim": True}
    terms = {"a": term(), "b": term(vel, history_length=7)}
    manager = ObservationManager({"g": ObservationGroupCfg(terms=terms, **group)}, env)
    manager.compute()
    env.pos += 100.0
    env.vel -= 5.0
    assert observe(env, manager).tolist() == [[1, 2, 101, 102, 0, -5]]


def test_terms_can_have_different_history_lengths():
    env = fake(1)
    terms = {
        "now": term(vel),
        "long": term(history_length=3),
        "also_now": term(vel, scale=10.0),
        "short": term(vel, history_length=2),
        "also_long": term(vel, history_length=3),
    }
    manager = ObservationManager({"g": ObservationGroupCfg(terms=terms)}, env)
    for step in (1.0, 2.0, 3.0):
        env.pos.copy_(torch.tensor([[step, -step]]))
        env.vel.fill_(10.0 * step)
        seen = manager.compute()["g"]
    long, short = [1, -1, 2, -2, 3, -3], [20, 30]
    assert seen.tolist() == [[30, *long, 300, *short, 10, 20, 30]]


def test_a_history_with_a_stride_skips_steps():
    env = fake(1)
    terms = {
        "a": term(history_length=3, history_stride=2),
        "b": term(history_length=3),
        "c": term(vel, history_length=3, history_stride=2),
    }
    manager = ObservationManager({"g": ObservationGroupCfg(terms=terms)}, env)
    for step in range(1, 7):
        env.pos.fill_(step)
        env.vel.fill_(-step)
        seen = manager.compute()["g"]
    a, b, c = [2, 2, 4, 4, 6, 6], [4, 4, 5, 5, 6, 6], [-2, -4, -6]
    assert seen.tolist() == [[*a, *b, *c]]
    manager.reset(env.everyone)
    assert manager.compute()["g"].tolist() == [[6.0] * 12 + [-6.0] * 3]


def test_a_stride_below_one_is_an_error():
    with pytest.raises(TermError, match=r"history_stride=0; it has to be 1 or more"):
        single(fake(1), history_length=2, history_stride=0)


def test_a_history_may_have_its_own_dimension():
    env = fake(1)
    manager = single(env, history_length=2, flatten_history_dim=False)
    observe(env, manager, 1.0)
    assert observe(env, manager, 2.0).tolist() == [[[1.0, 1.0], [2.0, 2.0]]]
    assert manager.group_obs_dim == {"g": (2, 2)}


def test_computing_twice_in_a_step_does_not_advance_histories():
    env = fake(1)
    manager = single(env, history_length=2)
    observe(env, manager, 1.0)
    before = observe(env, manager, 2.0)
    env.pos.fill_(3.0)
    assert torch.equal(manager.compute(update=False)["g"], before)
    assert observe(env, manager).tolist() == [[2.0, 2.0, 3.0, 3.0]]


def test_a_mask_leaves_buffers_and_outputs_of_other_worlds_alone():
    env = fake(3)
    groups = {
        "g": ObservationGroupCfg(terms={"t": term(history_length=2)}),
        "d": ObservationGroupCfg(terms={"t": term(delay_min_lag=1, delay_max_lag=1)}),
        "plain": ObservationGroupCfg(terms={"t": term()}),
    }
    manager = ObservationManager(groups, env)
    for value in (1.0, 2.0):
        observe(env, manager, value)
    manager.reset(env.mask(1))
    env.pos.fill_(9.0)
    seen = manager.compute(mask=env.mask(1))
    assert seen["g"][:, ::2].tolist() == [[1, 2], [9, 9], [1, 2]]
    assert seen["d"][:, 0].tolist() == [1, 9, 1]
    assert seen["plain"][:, 0].tolist() == [2, 9, 2]
    seen = manager.compute()
    assert seen["g"][:, ::2].tolist() == [[2, 9], [9, 9], [2, 9]]
    assert seen["d"][:, 0].tolist() == [2, 9, 2]


# Shapes.


def test_terms_that_are_not_concatenated_come_by_name_in_their_shapes():
    env = fake(2)
    terms = {"i": term(image, scale=0.5), "p": term(history_length=2)}
    cfg = ObservationGroupCfg(terms=terms, concatenate_terms=False)
    manager = ObservationManager({"g": cfg}, env)
    seen = manager.compute()["g"]
    assert list(seen) == ["i", "p"]
    assert torch.equal(seen["i"], env.image * 0.5)
    assert seen["p"].tolist() == [[1, 2, 1, 2], [11, 12, 11, 12]]
    assert manager.group_obs_dim == {"g": [(3, 2, 2), (4,)]}
    assert manager.group_obs_term_dim == {"g": [(3, 2, 2), (4,)]}
    assert manager.active_terms == {"g": ["i", "p"]}


@pytest.mark.parametrize("dim", [0, 1, -1])
def test_images_are_concatenated_along_the_requested_dimension(dim):
    env = fake(2)
    terms = {"i": term(image), "j": term(image, scale=2.0)}
    cfg = ObservationGroupCfg(terms=terms, concatenate_dim=dim)
    manager = ObservationManager({"g": cfg}, env)
    by_torch = torch.cat([env.image, env.image * 2.0], dim=dim + 1 if dim >= 0 else dim)
    assert torch.equal(observe(env, manager), by_torch)
    assert manager.group_obs_dim == {"g": tuple(by_torch.shape[1:])}


def test_uint8_images_keep_their_type_with_delay_and_history():
    env = fake(2)
    env.image = env.image.to(torch.uint8)
    terms = {
        "i": term(image, history_length=2, flatten_history_dim=False),
        "d": term(image, delay_min_lag=1, delay_max_lag=1),
        "p": term(noise=ConstantNoiseCfg(bias=1.0)),
    }
    cfg = ObservationGroupCfg(
        terms=terms, concatenate_terms=False, enable_corruption=True
    )
    manager = ObservationManager({"g": cfg}, env)
    first = env.image.clone()
    manager.compute()
    env.image += 100
    seen = manager.compute()["g"]
    assert seen["i"].dtype == seen["d"].dtype == torch.uint8
    assert torch.equal(seen["i"], torch.stack([first, env.image], dim=1))
    assert torch.equal(seen["d"], first)
    assert torch.equal(seen["p"], env.pos + 1.0)


# The terminal observation.


def everything(env):
    """A manager with every stateful or random feature."""
    noise = UniformNoiseCfg(n_min=-0.1, n_max=0.1)
    terms = {
        "a": term(noise=noise, clip=(-50.0, 50.0), history_length=3),
        "b": term(vel, noise=GaussianNoiseCfg(std=0.2), delay_max_lag=3),
        "c": term(noise=biased(), scale=0.3, delay=DelayCfg(min_lag=1, max_lag=2)),
        "d": term(Total, history_length=2),
    }
    return ObservationManager(
        {
            "actor": ObservationGroupCfg(terms=terms, nan_policy="sanitize"),
            "critic": ObservationGroupCfg(
                terms=terms, enable_corruption=False, history_length=2
            ),
            "parts": ObservationGroupCfg(terms=terms, concatenate_terms=False),
        },
        env,
    )


def flatten(seen):
    parts = {}
    for group, value in seen.items():
        if isinstance(value, torch.Tensor):
            parts[group] = value
        else:
            parts |= {f"{group}/{name}": part for name, part in value.items()}
    return {name: part.clone() for name, part in parts.items()}


def drive(env, step):
    env.rng.advance()
    generator = torch.Generator().manual_seed(step)
    # Drawn for the most worlds, so that world i sees the same for any number of them.
    env.pos.copy_(torch.randn(16, 2, generator=generator)[: env.num_envs] * 30.0)
    env.vel.copy_(torch.randn(16, 1, generator=generator)[: env.num_envs])


# What is not finite.


def test_sanitised_numbers_are_counted_by_term():
    env = fake(3)
    cfg = ObservationGroupCfg(
        terms={"v": term(vel), "p": term()}, nan_policy="sanitize"
    )
    manager = ObservationManager({"g": cfg}, env)
    env.pos[1] = torch.tensor([torch.nan, torch.inf])
    for _ in range(2):
        assert observe(env, manager)[1].tolist() == [-1.0, 0.0, 0.0]
    counts = {"observation/g/v": 0, "observation/g/p": 4}
    assert manager.take_nonfinite() == counts
    assert set(manager.take_nonfinite().values()) == {0}


def test_a_group_may_raise_or_warn_when_the_log_is_taken():
    env = fake(2)
    strict = single(env, group={"nan_policy": "error"})
    lenient = single(env, group={"nan_policy": "warn"})
    careless = single(env)
    env.pos[1, 0] = torch.nan
    for manager in (strict, lenient, careless):
        assert torch.isnan(observe(env, manager)[1, 0])  # The step itself goes on.
    with pytest.raises(NonfiniteObservationError, match=r"NaN or infinity.*g/t 1"):
        strict.take_nonfinite()
    with pytest.warns(RuntimeWarning, match=r"NaN or infinity.*g/t 1"):
        lenient.take_nonfinite()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert lenient.take_nonfinite() == {"observation/g/t": 0}
        assert careless.take_nonfinite() == {}


# Errors.


def wrong_rows(env):
    return torch.zeros(5, 2)


def no_columns(env):
    return torch.zeros(env.num_envs)


def doubles(env):
    return env.pos.double()


def a_list(env):
    return [0.0]


def as_bytes(env):
    return env.pos.to(torch.uint8)


@pytest.mark.parametrize(
    ("cfg", "message"),
    [
        (term(wrong_rows), r"returned shape \(5, 2\); it has to be \(3, \.\.\.\)"),
        (term(no_columns), r"returned shape \(3,\); .* Return value.unsqueeze\(-1\)"),
        (term(doubles), r"returned torch.float64; it has to be torch.float32"),
        (term(a_list), r"returned list; it has to return a tensor"),
        (term(as_bytes, scale=2.0), r"returned torch.uint8, but scale can be applied"),
        (term(delay_min_lag=-1), r"min_lag is -1; a lag cannot be negative"),
        (term(delay_max_lag=-1), r"max_lag is -1; it has to be at least min_lag, 0"),
        (term(delay_min_lag=3), r"max_lag is 0; it has to be at least min_lag, 3"),
        (
            term(delay_max_lag=1, delay=DelayCfg(max_lag=2)),
            r"has both delay and delay_min_lag or delay_max_lag",
        ),
        (term(history_length=-2), r"has history_length=-2; it cannot be negative"),
        (term(clip=(1.0, -1.0)), r"has clip=\(1.0, -1.0\); it has to be"),
        (term(scale=(1.0, 2.0, 3.0)), r"has a scale of shape \(3,\).*\(2,\)"),
        (term(noise=UniformNoiseCfg(n_min=1.0, n_max=0.0)), r"n_min .* at most n_max"),
        (term(noise=GaussianNoiseCfg(std=(1.0,) * 3)), r"std .* 3 entries.*\(2,\)"),
        (term(params={"gane": 2.0}), r"has no parameter 'gane'.*'gain'"),
    ],
)
def test_invalid_term_is_an_error_when_built(cfg, message):
    group = ObservationGroupCfg(terms={"bad": cfg}, enable_corruption=True)
    with pytest.raises(ValueError, match=f"Observation term 'actor/bad'.*{message}"):
        ObservationManager({"actor": group}, fake(3))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"terms": {}}, r"has no terms. Set the group to None"),
        ({"terms": {"off": None}}, r"has no terms"),
        ({"nan_policy": "santize"}, r"nan_policy='santize'.*first: 'sanitize'"),
        ({"history_length": -1}, r"has history_length=-1"),
        (
            {"terms": {"p": term(), "i": term(image)}},
            r"cannot concatenate .* p \(2,\), i \(3, 2, 2\)",
        ),
        ({"concatenate_dim": 1}, r"cannot concatenate its terms along dimension 1"),
        (
            {"terms": {"p": term(), "b": term(as_bytes)}},
            r"types: p is torch.float32, b is torch.uint8. Set concatenate_terms=False",
        ),
    ],
)
def test_invalid_group_is_an_error_when_built(options, message):
    group = ObservationGroupCfg(**{"terms": {"p": term()}} | options)
    with pytest.raises(ValueError, match=f"Observation group 'actor' .*{message}"):
        ObservationManager({"actor": group}, fake(3))


def test_a_term_that_changes_its_shape_later_is_an_error():
    env = fake(2)
    manager = single(env)
    env.pos = torch.zeros(2, 3)
    with pytest.raises(ValueError, match=r"'g/t' returned shape \(2, 3\).*\(2, 2\)"):
        manager.compute()


def test_an_unknown_term_is_an_error_that_suggests_one():
    with pytest.raises(UnknownNameError, match=r"observation term 'g/tt'.*'g/t'"):
        single(fake()).term("g/tt")


def test_a_group_that_is_none_is_left_out():
    groups = {"g": ObservationGroupCfg(terms={"p": term(), "v": None}), "off": None}
    manager = ObservationManager(groups, fake())
    assert manager.active_terms == {"g": ["p"]}


# Cost, independence, snapshots.


def test_observations_do_not_depend_on_other_worlds():
    seen = {}
    for num_envs, others in ((2, ()), (8, ()), (8, (3, 7))):
        env = fake(num_envs)
        manager = everything(env)
        outputs = []
        for step in range(12):
            drive(env, step)
            mask = env.mask(1, *others) if step % 5 == 4 else env.mask(*others)
            env.rng.advance(mask)
            manager.reset(mask)
            outputs.append(flatten(manager.compute()))
        seen[num_envs, others] = outputs
    few, many, with_resets = seen.values()
    for step, small in enumerate(few):
        for name, rows in small.items():
            assert torch.equal(rows, many[step][name][:2]), name
            assert torch.equal(rows, with_resets[step][name][:2]), name


def test_tensors_keep_their_address_and_a_snapshot_restores_them():
    env = fake(4)
    manager = everything(env)
    for step in range(4):
        drive(env, step)
        manager.compute()
    live = manager.state() | env.rng.state()
    saved = {name: tensor.clone() for name, tensor in live.items()}
    places = {name: tensor.data_ptr() for name, tensor in live.items()}
    runs = []
    for _ in range(2):
        for name, tensor in live.items():
            tensor.copy_(saved[name])
        outputs = [flatten(manager.output)]
        for step in range(4, 10):
            drive(env, step)
            manager.reset(env.mask(step % 4))
            outputs.append(flatten(manager.compute()))
        runs.append(outputs)
    for first, second in zip(*runs, strict=True):
        for name in first:
            assert torch.equal(first[name], second[name]), name
    after = manager.state() | env.rng.state()
    assert {name: tensor.data_ptr() for name, tensor in after.items()} == places

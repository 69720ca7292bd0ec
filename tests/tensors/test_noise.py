"""Observation noise, compared with hand arithmetic and probability."""

import pytest
import torch

from mjlab.random import WorldRng
from mjlab.tensors import (
    ConstantNoiseCfg,
    GaussianNoiseCfg,
    NoiseModelCfg,
    NoiseModelWithAdditiveBiasCfg,
    UniformNoiseCfg,
    build_noise,
)


def make(cfg, shape=(2,), num_envs=3, seed=0):
    rng = WorldRng(num_envs, seed, "cpu")
    return build_noise(cfg, shape, rng, "policy/joint_pos"), rng


@pytest.mark.parametrize(
    ("operation", "expected"),
    [("add", [4.0, 6.0]), ("scale", [3.0, 8.0]), ("abs", [1.0, 2.0])],
)
def test_constant_noise_can_add_scale_or_replace(operation, expected):
    noise, _ = make(ConstantNoiseCfg(bias=(1.0, 2.0), operation=operation))
    value = torch.tensor([3.0, 4.0]).expand(3, 2).clone()
    assert noise(value).tolist() == [expected] * 3
    assert value.tolist() == [[3.0, 4.0]] * 3


def test_uniform_noise_fills_the_range_of_each_dimension():
    noise, _ = make(
        UniformNoiseCfg(n_min=(-1.0, 0.0), n_max=(1.0, 10.0)), num_envs=5000
    )
    out = noise(torch.zeros(5000, 2))
    assert (out >= torch.tensor([-1.0, 0.0])).all()
    assert (out <= torch.tensor([1.0, 10.0])).all()
    # Five standard deviations of the mean: 5 * range / sqrt(12 * 5000).
    assert out.mean(0)[0].item() == pytest.approx(0.0, abs=0.041)
    assert out.mean(0)[1].item() == pytest.approx(5.0, abs=0.205)


def test_gaussian_noise_has_its_mean_and_standard_deviation():
    noise, _ = make(GaussianNoiseCfg(mean=3.0, std=(0.5, 2.0)), num_envs=20000)
    out = noise(torch.zeros(20000, 2))
    assert out.mean(0).tolist() == pytest.approx([3.0, 3.0], abs=0.071)
    assert out.std(0)[0].item() == pytest.approx(0.5, rel=0.025)
    assert out.std(0)[1].item() == pytest.approx(2.0, rel=0.025)


def test_noise_is_fresh_when_the_counter_advances():
    noise, rng = make(GaussianNoiseCfg())
    first = noise(torch.zeros(3, 2))
    rng.advance()
    assert not (first == noise(torch.zeros(3, 2))).any()


def test_two_streams_draw_different_noise():
    rng = WorldRng(3, 0, "cpu")
    noises = [build_noise(GaussianNoiseCfg(), (2,), rng, name) for name in ("a", "b")]
    first, second = (noise(torch.zeros(3, 2)) for noise in noises)
    assert not (first == second).any()


def test_a_noise_model_without_bias_is_its_noise():
    cfg = GaussianNoiseCfg(std=0.1)
    value = torch.ones(3, 2)
    assert torch.equal(
        make(NoiseModelCfg(noise_cfg=cfg))[0](value), make(cfg)[0](value)
    )


def biased(**overrides):
    return NoiseModelWithAdditiveBiasCfg(
        noise_cfg=ConstantNoiseCfg(bias=0.0),
        bias_noise_cfg=UniformNoiseCfg(n_min=-1.0, n_max=1.0),
        **overrides,
    )


def test_a_bias_lasts_for_the_episode_of_its_world():
    noise, rng = make(biased())
    value = torch.zeros(3, 2)
    first = noise(value)
    for _ in range(3):
        rng.advance()
        assert torch.equal(noise(value), first)
    noise.reset(torch.tensor([False, True, False]))
    second = noise(value)
    assert torch.equal(first[[0, 2]], second[[0, 2]])
    assert not (first[1] == second[1]).any()


@pytest.mark.parametrize("operation", ["add", "abs"])
def test_a_bias_is_redrawn_and_is_not_a_random_walk(operation):
    cfg = biased()
    cfg.bias_noise_cfg.operation = operation
    noise, rng = make(cfg, num_envs=500)
    everyone = torch.ones(500, dtype=torch.bool)
    for _ in range(50):
        rng.advance()
        noise.reset(everyone)
    # A random walk of 50 steps would have a standard deviation of 4.
    out = noise(torch.zeros(500, 2))
    assert out.abs().max() <= 1.0
    assert out.std().item() == pytest.approx(3**-0.5, rel=0.1)


def test_a_bias_is_shared_by_the_components_on_request():
    noise, _ = make(biased(sample_bias_per_component=False))
    out = noise(torch.zeros(3, 2))
    assert torch.equal(out[:, 0], out[:, 1])
    assert out[:, 0].unique().numel() == 3


def test_a_bias_is_part_of_the_state():
    noise, rng = make(biased())
    saved = noise.state()["bias"].clone()
    first = noise(torch.zeros(3, 2))
    rng.advance()
    noise.reset(torch.ones(3, dtype=torch.bool))
    noise.state()["bias"].copy_(saved)
    assert torch.equal(noise(torch.zeros(3, 2)), first)


def test_noise_of_a_world_does_not_depend_on_the_number_of_worlds():
    few, many = (make(GaussianNoiseCfg(), num_envs=n)[0] for n in (3, 10))
    assert torch.equal(few(torch.zeros(3, 2)), many(torch.zeros(10, 2))[:3])


@pytest.mark.parametrize(
    ("cfg", "message"),
    [
        (UniformNoiseCfg(n_min=(0.0, 1.0, 2.0)), r"n_min .* 3 entries.*shape \(2,\)"),
        (
            UniformNoiseCfg(n_min=2.0, n_max=1.0),
            "n_min .*joint_pos' is 2.0; it has to be at most n_max",
        ),
        (
            GaussianNoiseCfg(std=-1.0),
            "std .*joint_pos' is -1.0; it has to be 0 or more",
        ),
        (ConstantNoiseCfg(operation="mul"), "'add', 'scale' or 'abs', not 'mul'"),
        (
            NoiseModelWithAdditiveBiasCfg(
                noise_cfg=ConstantNoiseCfg(),
                bias_noise_cfg=ConstantNoiseCfg(operation="scale"),
            ),
            "a bias is additive",
        ),
    ],
)
def test_impossible_noise_is_an_error_when_it_is_built(cfg, message):
    with pytest.raises(ValueError, match=message):
        make(cfg)

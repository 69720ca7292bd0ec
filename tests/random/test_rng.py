"""Counter-based draws, compared with big-integer arithmetic and probability."""

import hashlib
import math
import statistics
import subprocess
import sys

import numpy as np
import pytest
import torch
from torch._subclasses import FakeTensorMode

from mjlab.random import WorldRng, _as_normal, stream_id, world_seeds

GOLDEN = 0x9E3779B97F4A7C15
WORD = 2**64


def splitmix(state: int) -> int:
    """The finaliser of the paper, on Python integers."""
    z = state % WORD
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % WORD
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB % WORD
    return z ^ (z >> 31)


def expected_word(seed: int, counter: int, tick: int, stream: str, element: int) -> int:
    digest = hashlib.blake2b(stream.encode(), digest_size=8).digest()
    key = splitmix((seed % WORD) ^ int.from_bytes(digest, "little"))
    key = splitmix(key + (counter + tick * 2**40) * GOLDEN)
    return splitmix(key + (element + 1) * GOLDEN)


def rng_at(seeds, counters):
    rng = WorldRng(len(seeds), 0, "cpu")
    rng.world_seed.copy_(torch.tensor(seeds))
    rng.counter.copy_(torch.tensor(counters))
    return rng


def bits(rng, shape, stream, tick=None):
    return torch.ops.mjlab.draw_bits(
        rng.world_seed, rng.counter, tick, stream_id(stream), list(shape)
    )


SEEDS = [0, 1, -1, 2**62 + 12345, -(2**63)]
COUNTERS = [0, 7, 123456789, 1, 2**39]
TICKS = [0, 3, 0, 2**22, 1]


def test_reference_generator_is_splitmix64():
    # The first outputs of Vigna's splitmix64.c for the seed 1234567.
    known = [6457827717110365317, 3203168211198807973, 9817491932198370423]
    assert [splitmix(1234567 + (i + 1) * GOLDEN) for i in range(3)] == known


@pytest.mark.parametrize("tick", [None, TICKS])
def test_bits_equal_big_integer_arithmetic(tick):
    rng = rng_at(SEEDS, COUNTERS)
    drawn = bits(rng, (2, 3), "push", None if tick is None else torch.tensor(tick))
    for world, (seed, counter) in enumerate(zip(SEEDS, COUNTERS, strict=True)):
        moment = 0 if tick is None else tick[world]
        words = [expected_word(seed, counter, moment, "push", e) for e in range(6)]
        assert [w % WORD for w in drawn[world].flatten().tolist()] == words


def test_uniforms_are_the_upper_24_bits():
    rng = rng_at(SEEDS, COUNTERS)
    drawn = rng.draw("push", 3)
    for world, (seed, counter) in enumerate(zip(SEEDS, COUNTERS, strict=True)):
        words = [expected_word(seed, counter, 0, "push", e) for e in range(3)]
        assert drawn[world].tolist() == [(w >> 40) / 2**24 for w in words]


def test_integers_are_the_upper_32_bits_scaled():
    rng = rng_at(SEEDS, COUNTERS)
    drawn = rng.integers(-5, 1000, (), "push")
    words = [
        expected_word(s, c, 0, "push", 0) for s, c in zip(SEEDS, COUNTERS, strict=True)
    ]
    assert drawn.tolist() == [-5 + ((w >> 32) * 1005 >> 32) for w in words]


def test_normals_are_the_quantiles_of_the_upper_52_bits():
    rng = WorldRng(500, 3, "cpu")
    drawn = rng.normal(0.0, 1.0, 40, "push").flatten().tolist()
    words = bits(rng, (40,), "push").flatten().tolist()
    quantile = statistics.NormalDist().inv_cdf
    for value, word in zip(drawn, words, strict=True):
        p = ((word % WORD >> 12) + 0.5) / 2**52
        assert value == pytest.approx(quantile(p), rel=5e-7, abs=1e-9)


def test_extreme_random_words_give_finite_symmetric_normals():
    # The private converter is called directly, because no key with such a word is
    # known.
    import numpy as np

    from mjlab.random import _as_normal

    words = np.array([0, WORD - 1, 2**63, 2**30, WORD - 1 - 2**30], dtype=np.uint64)
    low, high, middle, tail, upper = _as_normal(words).tolist()
    quantile = statistics.NormalDist().inv_cdf
    assert low == pytest.approx(quantile(2.0**-53), rel=5e-7)
    assert high == -low
    assert abs(middle) < 1e-15
    assert tail == -upper == pytest.approx(quantile((2**18 + 0.5) / 2**52), rel=5e-7)


def test_world_seeds_equal_big_integer_arithmetic_and_are_distinct():
    for seed in (0, 42, -3, 2**70):
        key = splitmix(seed + GOLDEN)
        expected = [splitmix(key + (world + 1) * GOLDEN) for world in range(5)]
        assert [s % WORD for s in world_seeds(seed, 5).tolist()] == expected
    many = torch.cat([world_seeds(seed, 5000) for seed in range(10)])
    assert many.unique().numel() == 50000


def test_a_later_process_continues_the_worlds_of_the_first():
    assert torch.equal(world_seeds(1, 10)[6:], world_seeds(1, 4, first_world=6))


def test_a_stream_id_is_the_same_in_every_process():
    digest = hashlib.blake2b(b"reset_joints/pos", digest_size=8).digest()
    assert stream_id("reset_joints/pos") % WORD == int.from_bytes(digest, "little")


def test_draws_do_not_depend_on_the_number_of_worlds():
    few, many = WorldRng(3, 9, "cpu"), WorldRng(77, 9, "cpu")
    assert torch.equal(few.draw("a", (4,)), many.draw("a", (4,))[:3])
    assert torch.equal(few.normal(1.0, 2.0, 5, "a"), many.normal(1.0, 2.0, 5, "a")[:3])
    assert torch.equal(few.integers(0, 9, 5, "a"), many.integers(0, 9, 5, "a")[:3])


def test_advancing_or_reseeding_some_worlds_leaves_the_others_as_they_were():
    rng = WorldRng(6, 0, "cpu")
    before = rng.draw("a", 3).clone()
    mask = torch.tensor([True, False] * 3)
    rng.advance(mask)
    after = rng.draw("a", 3)
    assert torch.equal(before[~mask], after[~mask])
    assert not (before[mask] == after[mask]).any()
    rng.reseed(mask, world_seeds(0, 6))
    assert torch.equal(rng.draw("a", 3), before)


def test_one_stream_repeats_within_a_tick_and_another_does_not():
    rng = WorldRng(50, 0, "cpu")
    assert torch.equal(rng.draw("a", 3), rng.draw("a", 3))
    assert not (rng.draw("a", 3) == rng.draw("b", 3)).any()
    tick = torch.ones(50, dtype=torch.int64)
    assert not (rng.draw("a", 3) == rng.draw("a", 3, tick=tick)).any()


def test_a_given_seed_is_used_unchanged():
    rng = WorldRng(2, 0, "cpu")
    rng.reseed(torch.tensor([False, True]), torch.tensor([5, 5]))
    other = WorldRng(1, 99, "cpu")
    other.reseed(torch.tensor([True]), torch.tensor([5]))
    assert torch.equal(rng.draw("a", 3)[1], other.draw("a", 3)[0])


def test_a_restored_state_repeats_the_draws():
    rng = WorldRng(4, 0, "cpu")
    saved = {name: tensor.clone() for name, tensor in rng.state().items()}
    rng.advance()
    first = rng.draw("a", 3)
    for name, tensor in rng.state().items():
        tensor.copy_(saved[name])
    rng.advance()
    assert torch.equal(rng.draw("a", 3), first)


def test_bounds_may_differ_between_worlds():
    rng = WorldRng(1000, 0, "cpu")
    high = torch.arange(1000) + 1
    drawn = rng.integers(0, high, (), "a")
    assert ((drawn >= 0) & (drawn < high)).all()
    low, top = torch.tensor([0.0, 10.0]), torch.tensor([1.0, 20.0])
    uniform = rng.uniform(low, top, 2, "a")
    assert ((uniform >= low) & (uniform <= top)).all()
    # The standard deviation is 0.009.
    share = (uniform.mean(0) - low) / (top - low)
    assert share.tolist() == pytest.approx([0.5, 0.5], abs=0.05)


@pytest.mark.parametrize(("low", "high"), [(3, 3), (4, 2)])
def test_an_empty_range_of_integers_is_an_error(low, high):
    with pytest.raises(ValueError, match=rf"\[{low}, {high}\) contains no integer"):
        WorldRng(1, 0, "cpu").integers(low, high, (), "a")


def test_bool_samples_have_their_probability_and_exact_limits():
    rng = WorldRng(20000, 0, "cpu")
    # The standard deviation is 0.0032.
    share = rng.bernoulli(0.3, (), "a").float().mean().item()
    assert share == pytest.approx(0.3, abs=0.015)
    assert not rng.bernoulli(0.0, 5, "a").any()
    assert rng.bernoulli(1.0, 5, "a").all()


def deviations(counts):
    """Chi-squared of equal chances, in its standard deviations from its mean."""
    expected = counts.sum() / counts.numel()
    chi2 = ((counts - expected) ** 2 / expected).sum().item()
    freedom = counts.numel() - 1
    return (chi2 - freedom) / math.sqrt(2 * freedom)


def test_uniforms_fill_their_range_evenly():
    drawn = WorldRng(4096, 1, "cpu").draw("a", 64)
    counts = torch.bincount((drawn * 256).long().flatten(), minlength=256).float()
    assert abs(deviations(counts)) < 5
    assert drawn.min() >= 0 and drawn.max() < 1


def test_normals_have_normal_moments_and_tails():
    drawn = WorldRng(20000, 1, "cpu").normal(0.0, 1.0, 10, "a").double()
    count = drawn.numel()
    assert drawn.mean().item() == pytest.approx(0.0, abs=5 / math.sqrt(count))
    assert drawn.var().item() == pytest.approx(1.0, abs=5 * math.sqrt(2 / count))
    assert (drawn**3).mean().item() == pytest.approx(0, abs=5 * math.sqrt(15 / count))
    assert (drawn**4).mean().item() == pytest.approx(3, abs=5 * math.sqrt(96 / count))
    beyond = (drawn.abs() > 3).double().mean().item()
    assert beyond == pytest.approx(0.0026998, abs=5 * math.sqrt(0.0027 / count))


def test_mean_and_standard_deviation_scale_a_normal():
    rng = WorldRng(100, 0, "cpu")
    unit = rng.normal(0.0, 1.0, 3, "a")
    assert torch.equal(rng.normal(5.0, 2.0, 3, "a"), unit * 2.0 + 5.0)


@pytest.mark.parametrize("neighbour", ["world", "seed", "stream", "counter", "tick"])
def test_neighbouring_keys_draw_independent_numbers(neighbour):
    rng = WorldRng(4097, 1, "cpu")
    first = rng.draw("a", 16)
    if neighbour == "world":
        first, second = first[:-1], first[1:]
    elif neighbour == "seed":
        rng.world_seed += 1
        second = rng.draw("a", 16)
    elif neighbour == "stream":
        second = rng.draw("b", 16)
    elif neighbour == "counter":
        rng.advance()
        second = rng.draw("a", 16)
    else:
        second = rng.draw("a", 16, tick=torch.ones_like(rng.counter))
    cells = (first * 16).long() * 16 + (second * 16).long()
    counts = torch.bincount(cells.flatten(), minlength=256).float()
    assert abs(deviations(counts)) < 5


def test_small_consecutive_seeds_draw_independent_numbers():
    rng = WorldRng(4096, 0, "cpu")
    rng.reseed(torch.ones(4096, dtype=torch.bool), torch.arange(4096))
    drawn = rng.draw("a", 16)
    counts = torch.bincount((drawn[:, 0] * 64).long(), minlength=64).float()
    assert abs(deviations(counts)) < 5
    correlation = torch.corrcoef(torch.stack((drawn[:-1, 0], drawn[1:, 0])))[0, 1]
    assert abs(correlation.item()) < 5 / math.sqrt(4095)


@pytest.mark.parametrize("field", ["world_seed", "counter"])
def test_every_bit_of_the_key_flips_half_of_the_bits_drawn(field):
    flips = torch.zeros(64, 64, dtype=torch.int64)
    for bit in range(64 if field == "world_seed" else 40):
        rng = WorldRng(256, 2, "cpu")
        before = bits(rng, (), "a")
        value = -(2**63) if bit == 63 else 2**bit
        getattr(rng, field).bitwise_xor_(torch.tensor(value))
        changed = before ^ bits(rng, (), "a")
        flips[bit] = (changed[:, None] >> torch.arange(64) & 1).sum(0)
    used = flips[flips.sum(1) > 0].double() / 256
    assert used.shape[0] == (64 if field == "world_seed" else 40)
    # With 256 draws the standard deviation is 0.031 in each of up to 4096 cells.
    assert (used - 0.5).abs().max() < 0.17
    assert (used.mean(1) - 0.5).abs().max() < 0.02


def test_a_draw_is_one_operation_with_a_known_shape_and_type():
    rng = WorldRng(5, 0, "cpu")
    with FakeTensorMode(allow_non_fake_inputs=True):
        uniform = torch.ops.mjlab.draw_uniform(
            rng.world_seed, rng.counter, None, 1, [2, 3]
        )
        integer = torch.ops.mjlab.draw_bits(rng.world_seed, rng.counter, None, 1, [])
    assert (uniform.shape, uniform.dtype) == ((5, 2, 3), torch.float32)
    assert (integer.shape, integer.dtype) == ((5,), torch.int64)


def test_drawing_on_the_cpu_imports_no_warp():
    code = (
        "import sys; from mjlab.random import WorldRng;"
        "WorldRng(2, 0, 'cpu').draw('a', 3);"
        "assert 'warp' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("name", ["draw_bits", "draw_uniform", "draw_normal"])
def test_the_warp_kernel_draws_the_same_bits(name):
    from mjlab.random.kernels import launch_draw

    rng = WorldRng(3000, 11, "cpu")
    rng.counter.add_(torch.arange(3000) * 999)
    for tick in (None, torch.arange(3000)):
        key = (rng.world_seed, rng.counter, tick, stream_id("a"))
        expected = getattr(torch.ops.mjlab, name)(*key, [5, 6])
        out = torch.empty_like(expected)
        launch_draw(name, *key, out=out)
        assert torch.equal(out, expected)


@pytest.mark.gpu
def test_a_cuda_device_draws_the_same_bits_also_in_a_graph():
    host, device = WorldRng(300, 4, "cpu"), WorldRng(300, 4, "cuda")
    out = torch.empty(300, 7, device="cuda")
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        device.normal(0.0, 1.0, 7, "a")
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out.copy_(device.normal(0.0, 1.0, 7, "a"))
        device.advance()
    for _ in range(3):
        graph.replay()
        assert torch.equal(out.cpu(), host.normal(0.0, 1.0, 7, "a"))
        host.advance()


def test_the_smallest_and_the_largest_word_are_finite_normal_numbers() -> None:
    """Compared with quantiles of the standard library, at the centre of each cell."""
    words = np.array([0, 1 << 12, 2**63 - 1, 2**63, 2**64 - 1], np.uint64)
    found = _as_normal(words.copy())
    assert np.isfinite(found).all()
    cells = [int(word) >> 12 for word in words]
    normal = statistics.NormalDist()
    # Mirrored, because probabilities near one have few digits.
    expected = [
        normal.inv_cdf((c + 0.5) / 2**52)
        if c < 2**51
        else -normal.inv_cdf((2**52 - c - 0.5) / 2**52)
        for c in cells
    ]
    assert found.tolist() == pytest.approx(expected, rel=1e-5, abs=1e-6)


def test_probability_zero_never_occurs_and_probability_one_always(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Uniform numbers include 0 and stay below 1."""
    rng = WorldRng(3, 0, "cpu")
    drawn = torch.tensor([0.0, 0.5, 1.0 - 2.0**-24])
    monkeypatch.setattr(rng, "draw", lambda stream, shape, tick=None: drawn.clone())
    assert rng.bernoulli(0.0, (), "s").tolist() == [False, False, False]
    assert rng.bernoulli(0.5, (), "s").tolist() == [True, False, False]
    assert rng.bernoulli(1.0, (), "s").tolist() == [True, True, True]

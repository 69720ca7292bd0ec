"""History and delay, compared with plain Python lists."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from mjlab.random import WorldRng
from mjlab.tensors import (
    DelayBuffer,
    DelayCfg,
    HistoryBuffer,
)

# Events of one step for three worlds: first resets, then appends.
STEPS = st.lists(
    st.tuples(
        st.lists(st.booleans(), min_size=3, max_size=3),
        st.lists(st.booleans(), min_size=3, max_size=3),
    ),
    min_size=1,
    max_size=12,
)


@settings(deadline=None, max_examples=60)
@given(STEPS, st.integers(1, 4), st.booleans(), st.integers(1, 3))
def test_a_history_matches_a_list(steps, length, newest_first, stride):
    history = HistoryBuffer(
        3, (2,), length, "cpu", newest_first=newest_first, stride=stride
    )
    lists = [[], [], []]
    for number, (resets, appends) in enumerate(steps):
        history.reset(torch.tensor(resets))
        value = torch.arange(6.0).view(3, 2) + 10.0 * number
        history.append(value, torch.tensor(appends))
        for world in range(3):
            if resets[world]:
                lists[world].clear()
            if appends[world]:
                lists[world].append(value[world].tolist())
            expected = _last(lists[world], length, stride)
            if newest_first:
                expected.reverse()
            assert history.values[world].tolist() == expected


def _last(values, length, stride):
    if not values:
        return [[0.0, 0.0]] * length
    padded = [values[0]] * length * stride + values
    return padded[::-1][::stride][:length][::-1]


def test_a_history_takes_integers_and_scalars_per_world():
    history = HistoryBuffer(2, (), 2, "cpu", torch.int64)
    history.append(torch.tensor([1, 2]))
    history.append(torch.tensor([3, 4]))
    assert history.values.tolist() == [[3, 1], [4, 2]]


def test_a_history_is_written_in_place():
    history = HistoryBuffer(2, (1,), 3, "cpu")
    address = history.values.data_ptr()
    history.append(torch.ones(2, 1))
    history.reset(torch.tensor([True, False]))
    assert history.values.data_ptr() == address
    assert history.state()["values"] is history.values


@pytest.mark.parametrize("value", [torch.zeros(2), torch.zeros(2, 1).double()])
def test_a_value_of_another_shape_or_type_is_an_error(value):
    with pytest.raises(
        ValueError, match=r"needs torch.float32 values of shape \(2, 1\)"
    ):
        HistoryBuffer(2, (1,), 3, "cpu").append(value)


def test_a_history_of_no_length_is_an_error():
    with pytest.raises(ValueError, match="length is 0"):
        HistoryBuffer(2, (1,), 0, "cpu")


@settings(deadline=None, max_examples=60)
@given(STEPS, st.lists(st.integers(0, 3), min_size=3, max_size=3))
def test_a_delay_returns_the_value_appended_lag_calls_earlier(steps, lags):
    buffer = DelayBuffer(
        DelayCfg(max_lag=3, hold_prob=1.0), (), WorldRng(3, 0, "cpu"), "d"
    )
    everyone = torch.ones(3, dtype=torch.bool)
    buffer.set_lags(everyone, torch.tensor(lags))
    lists, last = [[], [], []], [0.0] * 3
    for number, (resets, appends) in enumerate(steps):
        buffer.reset(torch.tensor(resets))
        buffer.set_lags(everyone, torch.tensor(lags))
        value = torch.tensor([1.0, 2.0, 3.0]) + 10.0 * number
        out = buffer.append_and_read(value, torch.tensor(appends)).tolist()
        for world in range(3):
            if resets[world]:
                lists[world].clear()
                last[world] = 0.0
            if appends[world]:
                lists[world].append(value[world].item())
                last[world] = lists[world][max(0, len(lists[world]) - 1 - lags[world])]
            assert out[world] == last[world]


def test_lag_zero_is_the_value_just_appended():
    buffer = DelayBuffer(DelayCfg(), (2,), WorldRng(4, 0, "cpu"), "d")
    for _ in range(3):
        value = torch.randn(4, 2)
        assert torch.equal(buffer.append_and_read(value), value)


def test_reset_leaves_other_worlds_bit_identical():
    cfg = DelayCfg(max_lag=4, update_period=3, hold_prob=0.3)
    rngs = WorldRng(8, 5, "cpu"), WorldRng(8, 5, "cpu")
    alone, disturbed = (DelayBuffer(cfg, (3,), rng, "d") for rng in rngs)
    odd = torch.arange(8) % 2 == 1
    generator = torch.Generator().manual_seed(0)
    for step in range(30):
        value = torch.randn(8, 3, generator=generator)
        if step % 7 == 3:
            disturbed.reset(odd)
            rngs[1].advance(odd)
        first, second = alone.append_and_read(value), disturbed.append_and_read(value)
        assert torch.equal(first[~odd], second[~odd])
        for name, tensor in alone.state().items():
            assert torch.equal(tensor[~odd], disturbed.state()[name][~odd])
        for rng in rngs:
            rng.advance()
    assert not torch.equal(first[odd], second[odd])


def test_world_delays_do_not_depend_on_the_number_of_worlds():
    cfg = DelayCfg(max_lag=5, update_period=4)
    buffers = [DelayBuffer(cfg, (), WorldRng(n, 7, "cpu"), "d") for n in (4, 9)]
    for step in range(12):
        for buffer in buffers:
            buffer.append_and_read(torch.full_like(buffer.lags, step).float())
        assert torch.equal(buffers[0].lags, buffers[1].lags[:4])


def test_lags_are_uniform_over_their_range():
    cfg = DelayCfg(min_lag=1, max_lag=4)
    buffer = DelayBuffer(cfg, (), WorldRng(2000, 0, "cpu"), "d")
    counts = torch.zeros(5)
    for _ in range(10):
        buffer.append_and_read(torch.zeros(2000))
        counts += torch.bincount(buffer.lags, minlength=5)
    assert counts[0] == 0
    # 20000 draws of 4 equal probabilities: the standard deviation is 61.
    assert (counts[1:] - 5000).abs().max() < 5 * 61


def test_substeps_of_one_environment_step_draw_different_lags():
    buffer = DelayBuffer(DelayCfg(max_lag=9), (), WorldRng(64, 0, "cpu"), "d")
    drawn = []
    for _ in range(4):
        buffer.append_and_read(torch.zeros(64))
        drawn.append(buffer.lags.clone())
    assert all(not torch.equal(drawn[0], later) for later in drawn[1:])


def test_held_lags_last_for_the_episode_and_are_drawn_at_the_reset():
    rng = WorldRng(64, 0, "cpu")
    buffer = DelayBuffer(DelayCfg(max_lag=9, hold_prob=1.0), (), rng, "d")
    first = buffer.lags.clone()
    for _ in range(20):
        buffer.append_and_read(torch.zeros(64))
        rng.advance()
    assert torch.equal(buffer.lags, first)
    buffer.reset(torch.ones(64, dtype=torch.bool))
    assert not torch.equal(buffer.lags, first)


def test_lags_after_a_reset_equal_those_of_a_new_delay():
    rng = WorldRng(64, 0, "cpu")
    cfg = DelayCfg(max_lag=9, update_period=3)
    used = DelayBuffer(cfg, (), rng, "d")
    for _ in range(5):
        used.append_and_read(torch.zeros(64))
    fresh = DelayBuffer(cfg, (), rng, "d")
    used.reset(torch.ones(64, dtype=torch.bool))
    drawn = used.lags.clone()
    for call in range(7):
        assert torch.equal(used.lags, fresh.lags)
        for buffer in (used, fresh):
            buffer.append_and_read(torch.zeros(64))
        if call == 0:
            assert torch.equal(used.lags, drawn)


def test_hold_probability_is_the_share_of_updates_that_keep_the_lag():
    rng = WorldRng(4000, 0, "cpu")
    buffer = DelayBuffer(DelayCfg(max_lag=999, hold_prob=0.7), (), rng, "d")
    buffer.append_and_read(torch.zeros(4000))
    before = buffer.lags.clone()
    buffer.append_and_read(torch.zeros(4000))
    kept = (buffer.lags == before).float().mean().item()
    # The standard deviation is 0.007; one update in 1000 draws the old lag again.
    assert kept == pytest.approx(0.7, abs=0.03)


@pytest.mark.parametrize("spread", [False, True])
def test_updates_come_once_a_period_and_spread_over_it_by_the_phase(spread):
    buffer = DelayBuffer(
        DelayCfg(max_lag=50, update_period=4, per_world_phase=spread),
        (),
        WorldRng(400, 0, "cpu"),
        "d",
    )
    changed = []
    for _ in range(9):
        before = buffer.lags.clone()
        buffer.append_and_read(torch.zeros(400))
        changed.append((buffer.lags != before).float().mean().item())
    if spread:
        # Of 400 worlds a quarter is due at each call except the first.
        assert all(0.12 < share < 0.38 for share in changed[1:])
    else:
        due = [share > 0.9 for share in changed]
        assert due == [number in (4, 8) for number in range(9)]


def test_a_shared_lag_is_that_of_the_first_world_alone():
    cfg = DelayCfg(max_lag=4, update_period=3, hold_prob=0.3, per_world=False)
    rngs = [WorldRng(count, 5, "cpu") for count in (1, 6)]
    alone, shared = (DelayBuffer(cfg, (), rng, "d") for rng in rngs)
    past, seen = [], set()
    for step in range(80):
        if step == 20:
            rngs[1].advance(torch.arange(6) == 3)
            shared.reset(torch.arange(6) == 3)
        value = torch.arange(6.0) + 100.0 * step
        past.append(value)
        alone.append_and_read(value[:1])
        found = shared.append_and_read(value)
        lag = int(alone.lags)
        assert shared.lags.tolist() == [lag] * 6
        for world in range(6):
            start = 20 if world == 3 and step >= 20 else 0
            assert found[world] == past[max(start, step - lag)][world]
        seen.add(lag)
        for rng in rngs:
            rng.advance()
    assert len(seen) >= 4


def test_lags_set_by_hand_are_clamped_or_refused():
    buffer = DelayBuffer(DelayCfg(max_lag=2), (), WorldRng(3, 0, "cpu"), "d")
    mask = torch.tensor([True, True, False])
    buffer.set_lags(torch.ones(3, dtype=torch.bool), 1)
    buffer.set_lags(mask, torch.tensor([-3, 9, 0]))
    assert buffer.lags.tolist() == [0, 2, 1]
    with pytest.raises(ValueError, match="lag 3 is out of range; it has to be 0 to 2"):
        buffer.set_lags(mask, 3)


@pytest.mark.parametrize(
    ("cfg", "message"),
    [
        (DelayCfg(min_lag=-1, max_lag=2), "min_lag is -1; a lag cannot be negative"),
        (
            DelayCfg(min_lag=3, max_lag=2),
            "max_lag is 2; it has to be at least min_lag, 3",
        ),
        (DelayCfg(hold_prob=1.5), "hold_prob is 1.5; it has to be a probability"),
        (DelayCfg(update_period=-4), "update_period is -4; it has to be 0 or more"),
    ],
)
def test_an_impossible_delay_is_an_error_when_the_buffer_is_built(cfg, message):
    with pytest.raises(ValueError, match=message):
        DelayBuffer(cfg, (), WorldRng(1, 0, "cpu"), "d")


def test_a_restored_state_repeats_the_same_outputs():
    rng = WorldRng(16, 0, "cpu")
    cfg = DelayCfg(max_lag=4, update_period=2, hold_prob=0.5)
    buffer = DelayBuffer(cfg, (2,), rng, "d")
    values = torch.randn(12, 16, 2)
    for value in values[:6]:
        buffer.append_and_read(value)
    saved = {name: tensor.clone() for name, tensor in buffer.state().items()}
    first = [buffer.append_and_read(value) for value in values[6:]]
    for name, tensor in buffer.state().items():
        tensor.copy_(saved[name])
    second = [buffer.append_and_read(value) for value in values[6:]]
    assert all(torch.equal(a, b) for a, b in zip(first, second, strict=True))

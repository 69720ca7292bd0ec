"""The classic cartpole compared with Gymnasium's, and its two implementations."""

import functools
import math
from typing import NamedTuple

import numpy as np
import pytest
import torch

from mjlab.envs import Discrete
from mjlab.rl.models.categorical import CategoricalDistribution
from mjlab.rl.vecenv import BatchVecEnv
from mjlab.tasks.cartpole.classic import (
    ClassicCartpoleCfg,
    ClassicCartpoleError,
    KernelCartpoles,
    TensorCartpoles,
)
from tests.tools.operations import counted_operations

gymnasium = pytest.importorskip("gymnasium", reason="the extra `gym` is not installed")

WAYS = [TensorCartpoles, KernelCartpoles]
GROWTH = 1.0 + 0.02 * math.sqrt(9.8 / (0.5 * (4 / 3 - 0.1 / 1.1)))
"""Factor per step by which an upright pole amplifies a difference: 1.08."""


class Episodes(NamedTuple):
    """Episodes of Gymnasium's cartpole, each array (steps, episodes, ...)."""

    actions: np.ndarray
    states: np.ndarray
    """Before each step, and after the last one, in float64."""
    observations: np.ndarray
    reward: np.ndarray
    terminated: np.ndarray
    truncated: np.ndarray
    active: np.ndarray
    """Whether the episode was running before the step."""

    @property
    def lengths(self):
        return self.active.sum(axis=0)


@functools.cache
def published(num, law, integrator="euler"):
    """Episodes from the initial states of our seed 0, in float64, by Gymnasium."""
    envs = [gymnasium.make("CartPole-v1", disable_env_checker=True) for _ in range(num)]
    starts = TensorCartpoles(ClassicCartpoleCfg(num_envs=num)).memory.state
    for env, start in zip(envs, starts.tolist(), strict=True):
        env.reset(seed=0)
        env.unwrapped.kinematics_integrator = integrator
        env.unwrapped.state = np.array(start, dtype=np.float64)
    active, rows = np.ones(num, bool), []
    while active.any():
        states = np.stack([env.unwrapped.state for env in envs])
        actions = law(states)
        seen, reward = np.zeros((num, 4), np.float32), np.zeros(num)
        ended, late = np.zeros(num, bool), np.zeros(num, bool)
        for i in np.flatnonzero(active):
            step = envs[i].step(int(actions[i]))
            seen[i], reward[i], ended[i], late[i] = step[:4]
        rows.append((actions, states, seen, reward, ended, late, active))
        active = active & ~ended & ~late
    columns = [np.stack(column) for column in zip(*rows, strict=True)]
    last = np.stack([env.unwrapped.state for env in envs])
    columns[1] = np.concatenate([columns[1], last[None]])
    return Episodes(*columns)


def standing(way, num, *, seed=0, **more):
    return way(ClassicCartpoleCfg(num_envs=num, seed=seed, autoreset=False, **more))


def tensors_of(step):
    return (*step[:4], *step.extras.values())


def balancing(states):
    """Linear controller that keeps the pole upright and the cart near the centre."""
    return (states @ np.array([0.3, 0.6, 8.0, 1.6]) > 0.0).astype(np.int64)


def leaving(states):
    """The same controller for a pole that leans to the right."""
    away = states - np.array([0.0, 0.0, 0.08, 0.0])
    return (away @ np.array([0.0, 0.0, 8.0, 1.6]) > 0.0).astype(np.int64)


def by_chance():
    random = np.random.default_rng(0)
    return lambda states: random.integers(0, 2, len(states))


RANDOM = {"euler": by_chance(), "semi-implicit euler": by_chance()}


def differences(worlds, theirs, *, again=0):
    """Apply the same actions, compare rewards and ends, and return maximum differences.

    Args:
        worlds: Our worlds, at their initial states.
        theirs: Episodes of Gymnasium.
        again: Steps after which our worlds are set to Gymnasium's state. 0 means never.
    """
    assert np.array_equal(worlds.memory.state.numpy(), theirs.states[0])
    largest = np.zeros(worlds.num_envs)
    for step, active in enumerate(theirs.active):
        if again and step and step % again == 0:
            state = torch.from_numpy(theirs.states[step]).float()
            going = torch.from_numpy(active)[:, None]
            worlds.memory.state.copy_(torch.where(going, state, worlds.memory.state))
        ours = worlds.step(torch.from_numpy(theirs.actions[step]))
        for name in ("reward", "terminated", "truncated"):
            value = getattr(ours, name).numpy()[active]
            assert np.array_equal(value, getattr(theirs, name)[step][active]), name
        apart = np.abs(ours.observations.numpy() - theirs.observations[step])
        largest = np.where(active, np.maximum(largest, apart.max(axis=1)), largest)
    return largest


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("integrator", ["euler", "semi-implicit euler"])
def test_1000_random_episodes_equal_gymnasium(way, integrator):
    theirs = published(1000, RANDOM[integrator], integrator)
    ours = standing(way, 1000, integrator=integrator.replace("-", "_").split(" ")[0])
    largest = differences(ours, theirs)
    # An upright pole amplifies a difference 1.08 times per step, so rounding of float32
    # reaches 1e-5 after about 60 steps, which few episodes last.
    bound = 1e-5 * np.maximum(1.0, GROWTH ** (theirs.lengths - 60.0))
    assert (largest < bound).all()
    assert (largest < 1e-5).mean() > 0.99
    assert theirs.lengths.min() >= 7 and 15 < theirs.lengths.mean() < 30


@pytest.mark.parametrize("way", WAYS)
def test_100_balanced_episodes_last_500_steps_as_in_gymnasium(way):
    # A difference grows 4e16 times in 500 steps, beyond the digits of float64. Our
    # worlds are therefore set to Gymnasium's state every 20 steps, in which it grows
    # five times.
    theirs = published(100, balancing)
    assert (theirs.lengths == 500).all() and theirs.truncated[-1].all()
    assert (differences(standing(way, 100), theirs, again=20) < 1e-5).all()


@pytest.mark.parametrize("way", WAYS)
def test_100_episodes_end_at_2_4_m_as_in_gymnasium(way):
    theirs = published(100, leaving)
    ends = theirs.states[-1]
    assert (np.abs(ends[:, 0]) > 2.4).all() and (np.abs(ends[:, 2]) < 0.2).all()
    assert theirs.terminated.any(axis=0).all() and theirs.lengths.max() < 500
    assert (differences(standing(way, 100), theirs, again=20) < 1e-5).all()


def test_a_difference_grows_as_documented_in_the_comments():
    theirs, worlds = published(100, balancing), standing(KernelCartpoles, 100)
    for actions in theirs.actions[:150]:
        worlds.step(torch.from_numpy(actions))
    apart = np.abs(worlds.memory.state[:, 2].numpy() - theirs.states[150][:, 2])
    # float32 rounds an angle of a few degrees at about 4e-9.
    assert 1e-10 * GROWTH**150 < np.median(apart) < 1e-7 * GROWTH**150


@pytest.mark.parametrize("way", WAYS)
def test_state_feedback_balances_for_500_steps(way):
    worlds = standing(way, 100)
    for _ in range(499):
        result = worlds.step(torch.from_numpy(balancing(worlds.memory.state.numpy())))
    assert not (result.terminated | result.truncated).any()
    result = worlds.step(torch.from_numpy(balancing(worlds.memory.state.numpy())))
    assert result.truncated.all() and not result.terminated.any()


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"integrator": "semi_implicit"},
        {"final_observations": True},
        {"autoreset": False},
        {"max_steps": 7},
    ],
    ids=str,
)
def test_tensor_and_kernel_episodes_are_bit_identical(options):
    tensors, kernel = (
        way(ClassicCartpoleCfg(num_envs=67, seed=3, **options)) for way in WAYS
    )
    random = torch.Generator().manual_seed(1)
    mask = torch.rand(67, generator=random) < 0.3
    ends = 0
    for step in range(200):
        actions = torch.randint(2, (67,), generator=random)
        ours, theirs = tensors.step(actions), kernel.step(actions)
        assert ours.extras.keys() == theirs.extras.keys()
        for one, other in zip(tensors_of(ours), tensors_of(theirs), strict=True):
            assert torch.equal(one, other)
        ends += int((ours.terminated | ours.truncated).sum())
        if step % 50 == 49:
            assert torch.equal(tensors.reset(mask=mask)[0], kernel.reset(mask=mask)[0])
        if step == 120:
            first = tensors.reset(seed=11)[0]
            assert torch.equal(first, kernel.reset(seed=11)[0])
    assert ends > 300


@pytest.mark.parametrize("autoreset", [True, False])
@pytest.mark.parametrize("way", WAYS)
def test_a_fall_can_have_no_reward(way, autoreset):
    cfg = ClassicCartpoleCfg(
        num_envs=67, seed=3, autoreset=autoreset, fall_reward=0.0, max_steps=15
    )
    worlds = way(cfg)
    over = torch.zeros(67, dtype=torch.bool)
    falls = 0
    for _ in range(30):
        step = worlds.step(torch.ones(67, dtype=torch.int64))
        expected = torch.where(step.terminated | over, 0.0, 1.0)
        assert torch.equal(step.reward, expected)
        falls += int((step.terminated & ~over).sum())
        if not autoreset:
            over = step.terminated | step.truncated
    assert falls >= 67


@pytest.mark.parametrize("way", WAYS)
def test_world_is_identical_for_any_number_of_worlds(way):
    few, many = (way(ClassicCartpoleCfg(num_envs=n, seed=5)) for n in (3, 130))
    random = torch.Generator().manual_seed(2)
    for _ in range(120):
        actions = torch.randint(2, (130,), generator=random)
        ours, theirs = few.step(actions[:3]), many.step(actions)
        assert torch.equal(ours.observations, theirs.observations[:3])


@pytest.mark.parametrize("way", WAYS)
def test_starts_are_uniform_in_each_number_and_over_episodes(way):
    worlds = way(ClassicCartpoleCfg(num_envs=4000, seed=1))
    starts = torch.cat([worlds.reset()[0] for _ in range(5)])
    assert starts.abs().max() <= 0.05
    for column in range(4):
        counts = torch.histc(starts[:, column], 20, -0.05, 0.05)
        squares = float(((counts - 1000.0) ** 2 / 1000.0).sum())
        # Chi-squared with 19 degrees of freedom: 99.9% lies below 43.8.
        assert squares < 43.8
        ordered = (starts[:, column].double().sort().values + 0.05) / 0.1
        places = torch.arange(1, 20001, dtype=torch.float64) / 20000
        # Kolmogorov-Smirnov: 99.9% lies below 1.95 / sqrt(n).
        assert float((ordered - places).abs().max()) < 1.95 / math.sqrt(20000)


@pytest.mark.parametrize("way", WAYS)
def test_random_streams_of_worlds_and_of_episodes_are_independent(way):
    worlds = way(ClassicCartpoleCfg(num_envs=64, seed=9))
    starts = torch.stack([worlds.reset()[0] for _ in range(500)])  # (500, 64, 4)
    # All numbers of a world, and those of the next episode: 512 columns.
    columns = torch.cat([starts[:-1].flatten(1), starts[1:].flatten(1)], dim=1)
    found = torch.corrcoef(columns.t()).fill_diagonal_(0.0)
    # Of 130,816 coefficients of 499 samples, the largest is about 4.6 / sqrt(499).
    assert float(found.abs().max()) < 5.5 / math.sqrt(499)
    assert len(starts.flatten().unique()) > 0.98 * starts.numel()


@pytest.mark.parametrize("way", WAYS)
def test_a_seed_gives_each_world_its_own_stream(way):
    worlds = way(ClassicCartpoleCfg(num_envs=8))
    by_number = worlds.reset(seed=40)[0]
    assert torch.equal(worlds.reset(seed=list(range(40, 48)))[0], by_number)
    assert torch.equal(worlds.reset(seed=41)[0][:7], by_number[1:])
    assert not torch.equal(worlds.reset()[0], worlds.reset()[0])


@pytest.mark.parametrize("way", WAYS)
def test_partial_reset_leaves_other_worlds_unchanged(way):
    worlds = way(ClassicCartpoleCfg(num_envs=6, results="live"))
    for _ in range(5):
        worlds.step(torch.ones(6, dtype=torch.int64))
    before = worlds.memory.state.clone()
    mask = torch.tensor([True, False, False, True, False, True])
    after = worlds.reset(mask=mask)[0]
    assert torch.equal(after[~mask], before[~mask])
    assert (after[mask] != before[mask]).all() and after[mask].abs().max() <= 0.05
    assert worlds.memory.steps.tolist() == [0, 5, 5, 0, 5, 0]


@pytest.mark.parametrize("way", WAYS)
def test_without_automatic_resets_an_ended_world_stops(way):
    worlds = standing(way, 2)
    worlds.set_state(torch.tensor([[0.0, 0.0, 0.2, 3.0], [0.0, 0.0, 0.0, 0.0]]))
    push = torch.ones(2, dtype=torch.int64)
    ended = worlds.step(push)
    assert ended.terminated.tolist() == [True, False]
    assert ended.reward.tolist() == [1.0, 1.0]  # The terminal step counts.
    later = worlds.step(push)
    assert later.terminated.tolist() == [True, False]
    assert later.reward.tolist() == [0.0, 1.0]
    assert torch.equal(later.observations[0], ended.observations[0])
    worlds.reset(mask=torch.tensor([True, False]))
    assert worlds.step(push).reward.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("way", WAYS)
def test_the_last_observation_is_there_when_a_new_episode_has_begun(way):
    worlds = way(ClassicCartpoleCfg(num_envs=2, final_observations=True))
    worlds.set_state(torch.tensor([[0.0, 0.0, 0.2, 3.0], [0.0, 0.0, 0.0, 0.0]]))
    result = worlds.step(torch.ones(2, dtype=torch.int64))
    final = result.extras["final_obs"]
    assert final[0, 2] == pytest.approx(0.26)
    assert result.observations[0].abs().max() <= 0.05
    assert torch.equal(result.observations[1], final[1])


@pytest.mark.parametrize("way", WAYS)
def test_spaces_are_those_of_gymnasium(way):
    worlds, theirs = way(ClassicCartpoleCfg()), gymnasium.make("CartPole-v1")
    space = theirs.observation_space
    assert worlds.single_observation_space.shape == space.shape
    assert np.array_equal(np.float32(worlds.single_observation_space.low), space.low)
    assert np.array_equal(np.float32(worlds.single_observation_space.high), space.high)
    assert worlds.single_action_space == Discrete(theirs.action_space.n)
    assert worlds.max_episode_length == theirs.spec.max_episode_steps


@pytest.mark.parametrize("way", WAYS)
def test_results_are_copies_unless_live_tensors_are_requested(way):
    push = torch.ones(4, dtype=torch.int64)
    copied = way(ClassicCartpoleCfg(num_envs=4))
    kept = copied.step(push)
    before = kept.observations.clone()
    copied.step(push)
    assert torch.equal(kept.observations, before)
    live = way(ClassicCartpoleCfg(num_envs=4, results="live"))
    kept = live.step(push)
    later = live.step(push)
    assert kept.observations.data_ptr() == later.observations.data_ptr()


def test_a_step_of_the_kernel_with_its_resets_is_a_single_launch(
    monkeypatch,
):
    import warp as wp

    worlds = KernelCartpoles(ClassicCartpoleCfg(num_envs=512, results="live"))
    actions = torch.randint(2, (60, 512), generator=torch.Generator().manual_seed(0))
    launches = []
    launch = wp.Launch.launch
    monkeypatch.setattr(
        wp.Launch, "launch", lambda self, stream=None: launches.append(launch(self))
    )
    monkeypatch.setattr(wp, "launch", None)
    monkeypatch.setattr(wp, "copy", None)
    rows = [actions[step] for step in range(60)]
    episodes = worlds.rng.counter.sum().item()
    with counted_operations() as operations:
        for row in rows:
            worlds.step(row)
    assert len(launches) == 60
    assert not operations
    assert worlds.rng.counter.sum().item() - episodes > 512  # All ended, or nearly so.


def test_tensor_steps_have_the_same_operations_for_any_resets():
    worlds = TensorCartpoles(ClassicCartpoleCfg(num_envs=256, results="live"))
    actions = torch.randint(2, (60, 256), generator=torch.Generator().manual_seed(0))
    programs = []
    for row in actions.unbind():
        with counted_operations() as operations:
            worlds.step(row)
        programs.append(dict(operations))
    assert all(program == programs[0] for program in programs)
    waits = ("item", "_local_scalar_dense", "nonzero", "index")
    assert not [name for name in programs[0] if name.split(".")[1] in waits]


def test_replayed_steps_are_single_steps():
    single, replayed = (
        KernelCartpoles(ClassicCartpoleCfg(num_envs=50, seed=2)) for _ in range(2)
    )
    replay = replayed.record(30)
    for block in range(4):
        random = torch.Generator().manual_seed(block)
        replay.rollout.actions.copy_(torch.randint(2, (30, 50), generator=random))
        found = replay.run()
        for step in range(30):
            expected = single.step(replay.rollout.actions[step])
            assert torch.equal(found.observations[step], expected.observations)
            assert torch.equal(found.reward[step], expected.reward)
            assert torch.equal(found.terminated[step], expected.terminated)
            assert torch.equal(found.truncated[step], expected.truncated)
    assert torch.equal(replay.last().observations, single.memory.state)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"num_envs": 0}, "num_envs=0 has to be 1 or more"),
        ({"num_envs": -4}, "num_envs=-4 has to be 1 or more"),
        ({"integrator": "rk4"}, "'rk4' is unknown. Valid names"),
        ({"results": "gpu"}, "results='gpu' is unknown"),
        ({"threads_per_block": 2048}, "threads_per_block=2048 has to be from 1 to"),
        ({"max_steps": 0}, "max_steps=0 has to be 1 or more"),
    ],
)
def test_invalid_cartpole_options_are_refused(way, options, said):
    with pytest.raises(ClassicCartpoleError, match=said):
        way(ClassicCartpoleCfg(**options))


@pytest.mark.parametrize("way", WAYS)
def test_wrong_tensors_are_refused(way):
    worlds = way(ClassicCartpoleCfg(num_envs=3))
    with pytest.raises(ClassicCartpoleError, match=r"shape \(2,\)"):
        worlds.step(torch.ones(2, dtype=torch.int64))
    with pytest.raises(ClassicCartpoleError, match=r"torch\.float32"):
        worlds.step(torch.ones(3))
    with pytest.raises(ClassicCartpoleError, match="mask has shape"):
        worlds.reset(mask=torch.ones(2, dtype=torch.bool))
    with pytest.raises(ClassicCartpoleError, match="2 entries for 3 worlds"):
        worlds.reset(seed=[1, 2])
    with pytest.raises(ClassicCartpoleError, match="angle of 1 rad"):
        worlds.set_state(torch.tensor([0.0, 0.0, 1.0, 0.0]).expand(3, 4))


def test_a_learner_of_rsl_rl_can_use_the_worlds():
    worlds = KernelCartpoles(ClassicCartpoleCfg(num_envs=5, max_steps=3))
    vecenv = BatchVecEnv(worlds)
    twin = KernelCartpoles(ClassicCartpoleCfg(num_envs=5, max_steps=3))
    expected = twin.reset()[0]
    assert torch.equal(vecenv.get_observations()["policy"], expected)
    choice = torch.tensor([[0.1, 0.9], [0.8, 0.2], [1.0, 0.0], [0.0, 1.0], [0.4, 0.6]])
    for step in range(3):
        seen, reward, dones, extras = vecenv.step(choice)
        result = twin.step(torch.tensor([1, 0, 0, 1, 1]))
        assert torch.equal(seen["policy"], result.observations)
        assert reward.tolist() == [1.0] * 5
        assert dones.tolist() == [step == 2] * 5 == extras["time_outs"].tolist()
        assert vecenv.episode_length_buf.tolist() == [(step + 1) % 3] * 5
    assert vecenv.episode_length_buf.tolist() == [0] * 5


def test_a_learner_restarts_worlds_that_stopped():
    worlds = standing(KernelCartpoles, 2, max_steps=3)
    vecenv = BatchVecEnv(worlds)
    choice = torch.tensor([[0.0, 1.0], [1.0, 0.0]])
    for step in range(6):
        seen, reward, dones, _ = vecenv.step(choice)
        assert reward.tolist() == [1.0, 1.0] and dones.tolist() == [step % 3 == 2] * 2
        assert (seen["policy"].abs().max() <= 0.05) == (step % 3 == 2)


@pytest.mark.parametrize("bootstraps", [True, False])
def test_fall_in_the_last_step_is_not_a_time_out(bootstraps):
    worlds = TensorCartpoles(ClassicCartpoleCfg(num_envs=3, max_steps=1))
    vecenv = BatchVecEnv(worlds, bootstraps=bootstraps)
    # Just within 12 degrees, and rotating outwards to either side.
    falls = [[0.0, 0.0, 0.209, 2.0], [0.0, 0.0, -0.209, -2.0], [0.0] * 4]
    worlds.set_state(torch.tensor(falls))
    _, _, dones, extras = vecenv.step(torch.tensor([[1.0, 0.0]] * 3))
    assert dones.all()
    if bootstraps:
        assert extras["time_outs"].tolist() == [False, False, True]
    else:
        assert "time_outs" not in extras


def test_a_categorical_distribution_equals_torchs():
    outputs = torch.randn(200, 3, generator=torch.Generator().manual_seed(0))
    ours = CategoricalDistribution(3)
    ours.update(outputs)
    theirs = torch.distributions.Categorical(logits=outputs)
    picks = torch.arange(200) % 3
    rows = torch.nn.functional.one_hot(picks, 3).float()
    torch.testing.assert_close(ours.log_prob(rows), theirs.log_prob(picks))
    torch.testing.assert_close(ours.entropy, theirs.entropy())
    torch.testing.assert_close(ours.mean, theirs.probs)
    other = torch.distributions.Categorical(logits=outputs.flip(0))
    torch.testing.assert_close(
        ours.kl_divergence(ours.params, (other.logits,)),
        torch.distributions.kl_divergence(theirs, other),
    )
    assert torch.equal(
        ours.deterministic_output(outputs).argmax(-1), outputs.argmax(-1)
    )
    ours.update(outputs[:1].expand(20000, 3))
    torch.manual_seed(0)
    shares = ours.sample().mean(dim=0)
    torch.testing.assert_close(shares, theirs.probs[0], atol=0.015, rtol=0.0)


@pytest.mark.gpu
def test_gpu_and_cpu_episodes_are_bit_identical():
    cfg = ClassicCartpoleCfg(num_envs=500, seed=4)
    here, *there = KernelCartpoles(cfg), *(way(cfg, "cuda:0") for way in WAYS)
    random = torch.Generator().manual_seed(0)
    for _ in range(200):
        actions = torch.randint(2, (500,), generator=random)
        expected = here.step(actions)
        for worlds in there:
            found = worlds.step(actions.cuda())
            assert torch.equal(found.observations.cpu(), expected.observations)
            assert torch.equal(found.terminated.cpu(), expected.terminated)
    replay, one = (KernelCartpoles(cfg, "cuda:0") for _ in range(2))
    recorded = replay.record(20)
    recorded.rollout.actions.random_(2)
    for _ in range(3):
        rollout = recorded.run()
        for step in range(20):
            seen = one.step(rollout.actions[step]).observations
            assert torch.equal(seen, rollout.observations[step])


@pytest.mark.gpu
def test_a_step_on_a_gpu_is_one_launch_without_copies():
    worlds = KernelCartpoles(ClassicCartpoleCfg(num_envs=4096, results="live"), "cuda")
    actions = torch.randint(2, (4096,), device="cuda")
    worlds.step(actions)
    torch.cuda.synchronize()
    kinds = [torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=kinds) as trace:
        for _ in range(50):
            worlds.step(actions)
        torch.cuda.synchronize()
    on_device = [
        event.name
        for event in trace.events()
        if event.device_type == torch.autograd.DeviceType.CUDA
    ]
    assert len(on_device) == 50
    assert not [name for name in on_device if "memcpy" in name.lower()]

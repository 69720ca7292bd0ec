"""Studies of throughput and learning: refused options, stored results, conclusions."""

import json
import math
import types

import numpy as np
import pytest
import torch

from bench import cartpole_learning, cartpole_scaling, cartpole_study, task_scaling
from bench.study import memory
from bench.study.acting import BURN_IN, LENGTH, WIDTH, Actor, Sequences
from bench.study.advice import advise, limit_of
from bench.study.contenders import contenders
from bench.study.curves import Budget, Curve, Judge
from bench.study.learning_report import score_table
from bench.study.points import Point, measure
from bench.study.ppo import HORIZON, SIZE, PpoLearner, minibatches
from bench.study.replay import GAMMA, Replay, ReplayLearner
from mjlab.cli.answers import UsageError

CPU = torch.device("cpu")


# What is refused.


def test_too_many_worlds_for_the_memory_are_refused_with_the_maximum(tmp_path):
    out = ["--out", str(tmp_path)]
    with pytest.raises(UsageError) as refused:
        cartpole_scaling.main(["--only", "kernel", "--counts", str(2**45), *out])
    # 2^45 worlds of 128 bytes.
    assert "35,184,372,088,832 worlds of kernel need about 4,504 TB" in str(
        refused.value
    )
    assert "worlds fit" in str(refused.value)
    with pytest.raises(UsageError, match="worlds of Cartpole-Balance need about"):
        task_scaling.main(["Cartpole-Balance", "--counts", str(2**40), *out])
    assert not [file for file in tmp_path.iterdir() if "scaling" not in file.name]


def test_four_fifths_of_the_free_memory_can_be_used():
    assert memory.needs("x", 80, 1e6, 100_000_000) is None
    assert "81 worlds of x need about 81 MB" in str(
        memory.needs("x", 81, 1e6, 100_000_000)
    )
    with pytest.raises(UsageError, match="At most 80 worlds fit"):
        memory.refuse_if_too_large("x", 81, 1e6, 100_000_000)


# Contenders.


def test_implementations_that_are_not_installed_are_listed_with_the_reason(
    tmp_path, monkeypatch, capsys
):
    from bench.study import contenders as room

    real = room.importlib.util.find_spec
    with monkeypatch.context() as patch:
        patch.setattr(room.importlib.util, "find_spec", lambda name: None)
        everyone = contenders(CPU)
    absent = {name for name, one in everyone.items() if one.absent is not None}
    peers = {name for name, one in everyone.items() if one.is_peer}
    assert absent == peers | {"managers-warp"}
    monkeypatch.setattr(
        room.importlib.util,
        "find_spec",
        lambda name: None if name == "ray" else real(name),
    )
    arguments = ["--only", "kernel", "ray", "--counts", "4", "--seconds", "0.01"]
    cartpole_scaling.main([*arguments, "--out", str(tmp_path)])
    assert "Ray remote environments: ray is not installed" in capsys.readouterr().out
    record = json.loads((tmp_path / "scaling.json").read_text())
    assert record["absent"] == {"ray": "ray is not installed (pip install ray)"}


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("kernel", 600),
        ("kernel-replay", 600),
        ("tensors", 600),
        ("gym-vector", 600),
        ("gym-sync", 20),
        ("sb3-dummy", 20),
    ],
)
def test_every_implementation_steps_and_resets_its_worlds(name, count):
    contender = contenders(CPU)[name]
    if contender.absent is not None:
        pytest.skip(contender.absent)
    run = contender.make(count, CPU, 256)
    point = measure(run, count, seconds=0.01, repeats=3)
    run.close()
    assert len(point.step_s) == 3 and min(point.step_s) > 0
    # A random episode lasts 22 steps, so 1 in 22 ends per step.
    if count > 100:
        assert 0.01 < point.ended_share < 0.12


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gym-async", "sb3-subproc", "ray"])
def test_every_implementation_with_processes_steps_its_worlds(name):
    contender = contenders(CPU)[name]
    if contender.absent is not None:
        pytest.skip(contender.absent)
    run = contender.make(2, CPU, 256)
    assert measure(run, 2, seconds=0.05, repeats=1).rate > 0
    run.close()


class Sleeping:
    """Worlds with a step duration set by a fake clock."""

    steps = 2

    def __init__(self, clock):
        self.clock = clock
        self.calls = 0

    def call(self):
        self.calls += 1
        self.clock[0] += 0.1

    def wait(self):
        self.clock[0] += 0.02

    def ended(self):
        return 5


def test_the_clock_stops_when_the_device_has_finished(monkeypatch):
    clock = [0.0]
    monkeypatch.setattr("bench.study.points.time.perf_counter", lambda: clock[0])
    run = Sleeping(clock)
    point = measure(run, 10, seconds=4.0, repeats=4)
    # 13 warm-up calls take 1.32 s, so 10 calls fill a repeat of 1 s.
    assert point.steps == 20
    assert point.step_s == pytest.approx([(10 * 0.1 + 0.02) / 20] * 4)
    assert point.rate == pytest.approx(10 / 0.051)
    assert point.ended_share == pytest.approx(5 / (2 * 10))


def test_a_point_is_the_median_with_its_spread():
    point = Point(100, [0.3, 0.1, 0.2], 1, 0.0, 0.0)
    assert point.rate == pytest.approx(500)
    assert point.rates == pytest.approx((100 / 0.3, 1000))
    assert Point.from_data(json.loads(json.dumps(point.to_data()))) == point


# Stored results.


def scaling(tmp_path, *more):
    fixed = ["--only", "kernel", "gym-vector", "--seconds", "0.01", "--repeats", "2"]
    cartpole_scaling.main([*fixed, "--out", str(tmp_path), *more])
    return json.loads((tmp_path / "scaling.json").read_text())


def test_an_interrupted_run_resumes(tmp_path, monkeypatch, capsys):
    pytest.importorskip("gymnasium")
    real, calls = cartpole_scaling.measure, []

    def interrupted(*args, **kwargs):
        calls.append(args[1])
        if len(calls) == 3:
            raise KeyboardInterrupt
        return real(*args, **kwargs)

    monkeypatch.setattr(cartpole_scaling, "measure", interrupted)
    with pytest.raises(KeyboardInterrupt):
        scaling(tmp_path, "--counts", "2", "8")
    before = json.loads((tmp_path / "scaling.json").read_text())["results"]
    assert list(before) == ["kernel/2", "gym-vector/2"]
    after = scaling(tmp_path, "--counts", "2", "8")["results"]
    assert calls == [2, 2, 8, 8, 8]  # Points with 2 worlds were not measured again.
    assert list(after) == ["kernel/2", "gym-vector/2", "kernel/8", "gym-vector/8"]
    assert {key: after[key] for key in before} == before
    assert "2 results already exist" in capsys.readouterr().out
    for file in ("tables.md", "rate.svg", "step.svg"):
        assert (tmp_path / file).stat().st_size > 200


def test_results_of_other_settings_are_not_mixed(tmp_path):
    first = scaling(tmp_path, "--counts", "2", "--only", "kernel")
    with pytest.raises(UsageError, match=r"repeats was 2 and is 3.*--fresh"):
        scaling(tmp_path, "--counts", "2", "--repeats", "3")
    fresh = scaling(
        tmp_path, "--counts", "4", "--repeats", "3", "--fresh", "--only", "kernel"
    )
    assert list(first["results"]) == ["kernel/2"] and list(fresh["results"]) == [
        "kernel/4"
    ]
    (tmp_path / "scaling.json").write_text("not JSON")
    with pytest.raises(UsageError, match="is not a file of results"):
        scaling(tmp_path, "--counts", "2")


def test_too_long_runs_and_too_many_processes_are_skipped_with_a_reason(
    tmp_path,
):
    def point(count, step, build):
        return Point(count, [step], 1, 0.0, build).to_data()

    kept = types.SimpleNamespace()
    kept.results = {
        "gym-sync/10": point(10, 0.1, 9.0),
        "gym-sync/20": point(20, 0.2, 1),
    }
    sweep = cartpole_scaling.Sweep(kept, CPU, 1.0, 5)
    one = contenders(CPU)["gym-sync"]
    assert sweep._why_not(one, 40) is None  # 2 * (11 * 0.2 + 1) = 6.4 s, of 25
    assert "about 32 s" in str(sweep._why_not(one, 200))
    many = contenders(CPU)["gym-async"]
    assert many.most is not None
    assert "each world is a process" in str(sweep._why_not(many, many.most + 1))


def test_a_task_is_swept_resumed_and_judged(tmp_path, capsys):
    arguments = ["Cartpole-Balance", "--engine", "native", "--seconds", "0.01"]
    arguments += ["--blocks", "1", "--counts", "1", "4", "--out", str(tmp_path)]
    task_scaling.main(arguments)
    first = json.loads((tmp_path / "scaling.json").read_text())
    task_scaling.main(arguments)
    again = json.loads((tmp_path / "scaling.json").read_text())
    assert again["results"] == first["results"] and len(first["results"]) == 2
    assert "Recommended:" in capsys.readouterr().out
    assert first["conclusion"]["best_worlds"] in (1, 4)


# Conclusions from rates.


def test_the_recommended_number_is_the_fewest_within_a_tenth_of_the_best():
    advice = advise({64: 500.0, 128: 899.0, 256: 900.0, 512: 1000.0, 1024: 980.0})
    assert (advice.best, advice.worlds, advice.saturated) == (512, 256, True)
    assert not advise({64: 500.0, 128: 800.0, 256: 1300.0}).saturated
    assert advise({64: 500.0, 128: 800.0, 256: 850.0}).saturated
    assert not advise({64: 500.0}).saturated


def result(rate, physics):
    return {"samples_per_s": rate, "share_of_physics": physics}


@pytest.mark.parametrize(
    ("results", "limit", "worlds"),
    [
        ({"64": result(900, 0.8), "128": result(950, 0.8)}, "physics", 64),
        ({"64": result(900, 0.8), "128": result(1050, 0.3)}, "managers", 128),
        (
            {
                "64": result(500, 0.8),
                "128": result(1000, 0.8),
                "256": {"left_out": "too large", "because": "memory"},
            },
            "memory",
            128,
        ),
        (
            {
                "64": result(1000, 0.8),
                "128": result(1010, 0.8),
                "256": {"left_out": "too large", "because": "memory"},
            },
            "physics",
            64,
        ),
    ],
)
def test_the_limit_is_the_bottleneck_at_the_best_number_of_worlds(
    results, limit, worlds
):
    found = task_scaling.conclude(results)
    assert found is not None
    assert (found[1], found[0].worlds) == (limit, worlds)
    assert f"Limit: {limit}" in task_scaling.sentence(*found)
    assert limit_of(0.9, found[0], "time") in ("physics", "time")


# Learning.


def curve(samples_score, seconds_score=None, *, solved=math.inf):
    """Run with a score at 1000 samples and 10 seconds."""
    best = 500.0 if math.isfinite(solved) else samples_score
    return Curve(
        samples=[0, 1000, 2000],
        seconds=[0.0, 10.0, solved if math.isfinite(solved) else 20.0],
        scores=[9.0, samples_score, best],
        updates=[0, 10, 20],
    )


def test_table_shows_the_number_of_seeds_of_each_figure():
    short = Curve(samples=[0], seconds=[0.0], scores=[9.0], updates=[0])
    runs = {8: [curve(400.0), curve(420.0)], 32: [curve(100.0), short], 128: [short]}
    head, rows = score_table({"x": runs}, {"x": "X"}, "samples", 1000)
    assert head == ["worlds", "8", "32", "128"]
    cells = ["410 (400 to 420)", "100 (100 to 100), 1 of 2 seeds", "not reached"]
    assert rows == [["X", *cells]]


def test_curve_holds_its_last_value_and_is_none_beyond_its_end():
    one = Curve([0, 100, 300], [0.0, 1.0, 5.0], [10.0, 480.0, 200.0], [0, 1, 2])
    assert one.at("samples", 299) == 480.0 and one.at("samples", 300) == 200.0
    assert one.at("samples", 400) is None
    assert one.first("seconds") == 1.0 and one.first("samples", 490) == math.inf


def test_a_run_lasts_until_its_samples_and_seconds_suffice_or_exceed_the_limit():
    budget = Budget(1000, 10.0, 30.0)
    assert not budget.is_over(1000, 9.0) and not budget.is_over(900, 29.0)
    assert budget.is_over(1000, 10.0) and budget.is_over(10, 30.0)


def test_minibatches_are_fixed_in_number_or_in_size():
    counts = (8, 32, 128, 8192)
    assert [minibatches(n, scaled=False) for n in counts] == [4, 4, 4, 4]
    assert [minibatches(n, scaled=True) for n in counts] == [1, 4, 16, 1024]
    assert 8192 * HORIZON // 1024 == SIZE
    learner = PpoLearner(64, 0, scaled=True)
    learner.advance()
    assert (learner.samples, learner.updates) == (2048, 4 * 8)


class Always:
    """Policy that always pushes to the right."""

    def begin(self, num_envs):
        self.num = num_envs

    def __call__(self, observations):
        return torch.ones(self.num, dtype=torch.int64)


def test_a_score_is_the_mean_return_of_gymnasiums_episodes():
    gymnasium = pytest.importorskip("gymnasium")
    judge = Judge(7)
    score = judge.score(Always())
    env, lengths = gymnasium.make("CartPole-v1"), []
    for start in judge._worlds.reset(seed=7)[0].tolist():
        env.reset()
        env.unwrapped.state = np.array(start)
        ended, length = False, 0
        while not ended:
            ended, length = env.step(1)[2], length + 1
        lengths.append(length)
    assert score == pytest.approx(np.mean(lengths))
    assert judge.score(Always()) == score


def rolled(rows, lengths, *, ended):
    """Sequences of one number each, for hand arithmetic."""
    valid = (torch.arange(LENGTH)[None] < torch.tensor(lengths)[:, None]).float()
    over = torch.zeros(rows, LENGTH)
    for row, (length, is_end) in enumerate(zip(lengths, ended, strict=True)):
        over[row, length - 1] = float(is_end)
    zeros = torch.zeros(rows, dtype=torch.int64)
    return Sequences(
        torch.zeros(rows, LENGTH + 1, 4),
        torch.zeros(rows, LENGTH, dtype=torch.int64),
        over,
        valid,
        zeros,
        torch.zeros(rows, 2 * WIDTH),
    )


def test_targets_are_three_rewards_and_a_value_unless_the_episode_ended():
    later = torch.arange(LENGTH + 1.0)[None].expand(3, -1) * 10
    found = rolled(3, [LENGTH, 5, 5], ended=[False, True, False])
    targets = ReplayLearner._targets(found, later)
    three = 1 + GAMMA + GAMMA**2
    assert targets[0, 0] == pytest.approx(three + GAMMA**3 * 30, rel=1e-5)
    # Two steps before the end of the sequence: two rewards, then the value of its last
    # state.
    assert targets[0, LENGTH - 2] == pytest.approx(
        1 + GAMMA + GAMMA**2 * 10 * LENGTH, rel=1e-5
    )
    # Three of five steps are left: three rewards, and nothing after the end.
    assert targets[1, 2] == pytest.approx(three, rel=1e-5)
    assert targets[1, 4] == pytest.approx(1.0)
    assert targets[2, 4] == pytest.approx(1 + GAMMA * 50, rel=1e-5)


def by_chance(num, seed):
    """An actor with random actions, so that some episodes outlast a sequence."""
    actor = Actor(num, seed=seed, first=0, total=num)
    actor._chance = torch.ones(num)
    return actor, [Sequences(*parts) for parts in actor.collect(None, 300)]


def test_sequences_are_pieces_of_single_episodes():
    _, found = by_chance(16, 0)
    assert sum(int((piece.burn_in == BURN_IN).sum()) for piece in found) > 10
    for piece in found:
        seen, valid = piece.observations, piece.valid.bool()
        # Positions follow from velocities, so no sequence contains two episodes.
        moved = seen[:, :-1, 0] + 0.02 * seen[:, :-1, 1]
        torch.testing.assert_close(moved[valid], seen[:, 1:, 0][valid])
        # The start of an episode is near the centre, with a zero recurrent state.
        fresh = piece.burn_in == 0
        assert (seen[fresh, 0].abs() <= 0.05).all()
        assert (piece.hidden[fresh] == 0).all()
        assert (piece.hidden[~fresh] != 0).any(dim=1).all()
        # A terminated episode ends in the last step of a sequence.
        ends = piece.ended.bool()
        assert (ends.float().sum(dim=1) <= 1).all()
        last = piece.valid.sum(dim=1).long() - 1
        assert torch.equal(ends.any(dim=1), ends[torch.arange(len(last)), last])


def test_burn_in_restores_the_recurrent_state():
    actor, found = by_chance(8, 3)
    pieces = [(piece, row) for piece in found for row in range(len(piece.hidden))]
    checked = 0
    for after, row in pieces:
        if after.burn_in[row] != BURN_IN:
            continue
        head = after.observations[row, : BURN_IN + 1]
        (before,) = [
            (piece, other)
            for piece, other in pieces
            if piece.valid[other].sum() == LENGTH
            and torch.equal(piece.observations[other, LENGTH - BURN_IN :], head)
        ]
        piece, other = before
        with torch.no_grad():
            earlier = piece.observations[other : other + 1, : LENGTH - BURN_IN]
            _, hidden = actor.network(earlier, piece.hidden[other : other + 1])
        torch.testing.assert_close(hidden[0], after.hidden[row])
        checked += 1
    assert checked > 5


def test_replay_buffer_drops_the_oldest_and_prefers_large_errors():
    replay = Replay(4)
    for number in range(6):
        parts = rolled(1, [3], ended=[False]).tensors()
        parts[0][:] = float(number)
        replay.add(parts)
    assert replay.size == 4
    torch.manual_seed(0)
    found, places, weight = replay.draw(400)
    assert set(found.observations[:, 0, 0].tolist()) == {2.0, 3.0, 4.0, 5.0}
    assert torch.equal(weight, torch.ones(400))
    replay.judge(torch.arange(4), torch.tensor([0.0, 0.0, 9.0, 0.0]))
    found, places, weight = replay.draw(400)
    often = (places == 2).float().mean()
    # With priorities 9 and 1e-3 to the power of 0.9, about once in 1,000 draws.
    assert often > 0.98 and weight[places == 2].max() <= weight.max()


def test_replay_learner_updates_in_proportion_to_samples():
    few, many = (ReplayLearner(n, 0, under_ray=False) for n in (16, 128))
    for learner, calls in ((few, 16), (many, 2)):
        learner._replay.size = 256  # As if the buffer were full enough for learning.
        for _ in range(calls):
            learner.advance()
    assert few.samples == many.samples == 4096
    # Four times 4096 samples, in steps of 64 sequences of 16.
    assert few.updates == many.updates == 16


def test_an_interrupted_study_of_learning_resumes(tmp_path, monkeypatch, capsys):
    real, keys = cartpole_learning.run, []

    def interrupted(make, budget, seed):
        keys.append(seed)
        if len(keys) == 2:
            raise KeyboardInterrupt
        return real(make, budget, seed)

    monkeypatch.setattr(cartpole_learning, "run", interrupted)
    arguments = ["--learners", "ppo-scaled", "--counts", "8", "--seeds", "0", "1"]
    arguments += ["--samples", "512", "--seconds", "0.05", "--longest", "5"]
    arguments += ["--out", str(tmp_path)]
    with pytest.raises(KeyboardInterrupt):
        cartpole_learning.main(arguments)
    before = json.loads((tmp_path / "learning.json").read_text())["results"]
    assert list(before) == ["ppo-scaled/8/0"]
    cartpole_learning.main(arguments)
    after = json.loads((tmp_path / "learning.json").read_text())["results"]
    assert keys == [0, 1, 1]
    assert list(after) == ["ppo-scaled/8/0", "ppo-scaled/8/1"]
    assert after["ppo-scaled/8/0"] == before["ppo-scaled/8/0"]
    assert "1 runs already exist" in capsys.readouterr().out
    assert "Score after 512 samples" in (tmp_path / "learning.md").read_text()
    assert (tmp_path / "learning_samples.svg").stat().st_size > 1000


def test_runs_with_equal_seeds_are_identical():
    scores = []
    for _ in range(2):
        learner = PpoLearner(16, 5, scaled=True)
        for _ in range(3):
            learner.advance()
        scores.append(Judge(0).score(learner.policy))
        weights = torch.cat([p.flatten() for p in learner._ppo.actor.parameters()])
        scores.append(float(weights.detach().sum()))
    assert scores[:2] == scores[2:]


# Both parts.


def test_one_command_runs_both_parts_or_one(tmp_path, monkeypatch):
    ran = []
    parts = {name: lambda rest, n=name: ran.append((n, list(rest))) for name in "ab"}
    monkeypatch.setattr(cartpole_study, "PARTS", parts)
    cartpole_study.main(["--quick", "--out", str(tmp_path)])
    cartpole_study.main(["b", "--seeds", "1"])
    shared = ["--quick", "--out", str(tmp_path)]
    assert ran == [("a", shared), ("b", shared), ("b", ["--seeds", "1"])]

"""The training loop: exact repetition, reasons to stop, and synchronisation."""

import dataclasses
import math
import os
import signal
import threading
from types import SimpleNamespace
from typing import ClassVar

import numpy as np
import pytest
import torch

from mjlab.envs import ManagerBasedRlEnv
from mjlab.envs.nonfinite import TooManyNonfiniteError
from mjlab.envs.rollout import ZeroPolicy
from mjlab.managers import CurriculumTermCfg, ManagerTermBase
from mjlab.rl import (
    CheckpointCfg,
    DistillationAgentCfg,
    DistillationCfg,
    EvaluationCfg,
    GaussianCfg,
    Hook,
    PpoCfg,
    Ranks,
    RndCfg,
    RnnModelCfg,
    StopCfg,
)
from mjlab.rl.checkpoint import load_model, policy_weights
from mjlab.rl.evaluation import Evaluation, _OutcomeShares
from mjlab.rl.figures import IterationFigures
from mjlab.rl.logging import JsonlWriter, read_rows
from mjlab.rl.policy import load_network
from mjlab.rl.vecenv import RslRlVecEnv
from mjlab.runs.checkpoints import find_checkpoint
from tests.tools.step_watch import watch
from tests.worlds.rl_runs import (
    STEPS,
    WORLDS,
    agent_cfg,
    differing,
    env_cfg,
    flat_state,
    make_env,
    make_loop,
    network,
)


def recurrent(**more):
    return RnnModelCfg(hidden_dims=(8,), rnn_hidden_dim=4, **more)


CURIOUS = PpoCfg(
    num_learning_epochs=1,
    num_mini_batches=2,
    rnd_cfg=RndCfg(weight=1.0, state_normalization=True, reward_normalization=True),
)
AGENTS = {
    "perceptron": lambda n: agent_cfg(n),
    "averaged": lambda n: agent_cfg(n, average_decay=0.75),
    "recurrent and curious": lambda n: agent_cfg(
        n,
        actor=recurrent(distribution_cfg=GaussianCfg()),
        critic=recurrent(),
        algorithm=CURIOUS,
        obs_groups={
            "actor": ("actor",),
            "critic": ("critic",),
            "rnd_state": ("actor",),
        },
    ),
}


class Learning(Hook):
    """Hook with a model: a mean, learned from random numbers."""

    name = "learning"

    def __init__(self):
        self.mean = torch.zeros(())
        self.calls: list[int] = []

    def after_iteration(self, loop):
        self.calls.append(loop.iteration)
        self.mean += torch.rand(())
        return {"Hook/mean": self.mean, "Hook/iteration": float(loop.iteration)}

    def state(self):
        return {"mean": self.mean}

    def load_state(self, state):
        self.mean.copy_(state["mean"])


# --- Exactness -----------------------------------------------------------------------


@pytest.mark.parametrize("kind", AGENTS)
def test_ten_iterations_equal_five_and_five_after_a_resume_bit_for_bit(tmp_path, kind):
    whole = make_loop(AGENTS[kind](10), hooks=[Learning()])
    whole.run()

    first = make_loop(AGENTS[kind](5), hooks=[Learning()], folder=tmp_path)
    first.run()
    # Operations in between must have no effect.
    torch.manual_seed(99)
    np.random.seed(99)
    second = make_loop(AGENTS[kind](10), hooks=[Learning()], folder=tmp_path)
    second.resume(tmp_path)
    assert second.iteration == 5
    second.run()

    assert second.hooks[0].calls == [6, 7, 8, 9, 10]
    assert len(flat_state(whole)) > 50
    assert differing(flat_state(whole), flat_state(second)) == []


def test_a_run_resumed_without_its_worlds_starts_new_episodes(tmp_path):
    first = make_loop(agent_cfg(3, init_at_random_ep_len=False), folder=tmp_path)
    first.run()
    assert first.env.episode_length_buf.tolist() == [3 * STEPS] * WORLDS
    second = make_loop(agent_cfg(4, init_at_random_ep_len=False), folder=tmp_path)
    second.resume(tmp_path, exact=False)
    assert second.iteration == 3
    assert second.env.episode_length_buf.tolist() == [0] * WORLDS
    name = "shared/algorithm/actor_state_dict/mlp.0.weight"
    assert torch.equal(flat_state(first)[name], flat_state(second)[name])


def test_a_checkpoint_from_which_a_run_resumes_is_not_written_again(tmp_path):
    saved = make_loop(agent_cfg(2), folder=tmp_path).run().checkpoint
    before = saved.with_suffix(".json").stat().st_mtime_ns
    again = make_loop(agent_cfg(2), folder=tmp_path)
    again.resume(tmp_path)
    assert again.run().checkpoint == saved
    assert saved.with_suffix(".json").stat().st_mtime_ns == before
    # In another folder there is none yet, and other worlds have another state.
    for folder, exact in ((tmp_path / "other", True), (tmp_path, False)):
        other = make_loop(agent_cfg(2), folder=folder)
        other.resume(saved, exact=exact)
        assert other.run().checkpoint == folder / saved.name
    assert saved.with_suffix(".json").stat().st_mtime_ns > before


def test_evaluations_do_not_change_the_training():
    with_them = make_loop(
        agent_cfg(4, evaluation=EvaluationCfg(every=2, num_envs=4)), evaluates=True
    )
    with_them.run()
    without = make_loop(agent_cfg(4))
    without.run()
    first, second = flat_state(with_them), flat_state(without)
    first = {k: v for k, v in first.items() if not k.startswith("figures/Eval")}
    assert differing(first, second) == []
    assert with_them.figures["Eval/finished"] == 1.0


def test_an_evaluation_scores_the_mean_action_over_one_episode_of_each_world():
    """Compared with a second, plain rollout."""
    loop = make_loop(
        agent_cfg(2, evaluation=EvaluationCfg(every=1, seed=5)), evaluates=True
    )
    loop.run()
    worlds = RslRlVecEnv(make_env(worlds=4))
    seen = worlds.reset(seed=5)
    total = torch.zeros(4)
    for _ in range(worlds.max_episode_length):
        with torch.no_grad():
            actions = loop.learner.policy(seen)
        seen, reward, _, _ = worlds.step(actions)
        total += reward
    assert loop.figures["Eval/mean_reward"] == pytest.approx(total.mean().item())
    assert loop.figures["Eval/mean_episode_length"] == worlds.max_episode_length


class Countdown(ManagerTermBase):
    """A curriculum that reduces the weight of the reward with each episode."""

    def __call__(self, env, mask, term):
        env.reward_manager.weight(term).mul_(torch.where(mask.any(), 0.5, 1.0))
        return env.reward_manager.weight(term).clone()


def test_a_second_evaluation_begins_with_the_curricula_of_the_first():
    """The same policy has the same score after any earlier evaluations."""
    cfg = agent_cfg(1, evaluation=EvaluationCfg(every=1, num_envs=4))

    def build():
        env = env_cfg(worlds=4)
        (reward,) = env.rewards
        env.curriculum["easier"] = CurriculumTermCfg(
            func=Countdown, params={"term": reward}
        )
        return ManagerBasedRlEnv(env)

    evaluation = Evaluation(build, cfg)
    worlds = build()
    policy = ZeroPolicy(worlds)
    scores = [evaluation.run(policy) for _ in range(3)]
    assert scores[0] == scores[1] == scores[2]
    assert scores[0]["Eval/mean_reward"] > 0.0
    # Without restoring, the weight would differ from the initial one.
    (name,) = worlds.reward_manager.terms
    moved = evaluation._env.reward_manager.weight(name)
    assert moved < worlds.reward_manager.weight(name)


def test_an_evaluation_of_the_first_process_counts_for_all():
    """Figures are means over processes, and the other processes add zeros."""
    loop = make_loop(agent_cfg(1, evaluation=EvaluationCfg(every=1)), evaluates=True)
    alone = loop._evaluate()
    loop.ranks = dataclasses.replace(loop.ranks, world=4)
    assert {k: v / 4 for k, v in loop._evaluate().items()} == alone
    loop.iteration = 3
    assert loop.env_steps == 3 * STEPS * WORLDS * 4
    assert alone["Eval/mean_episode_length"] == loop.env.max_episode_length


def test_outcomes_count_while_an_episode_runs_and_in_its_last_step():
    now: dict[str, torch.Tensor] = {}
    terms = SimpleNamespace(active_terms=["success"], now=now.__getitem__)
    env = SimpleNamespace(outcome_manager=terms, num_envs=4, device="cpu")
    shares = _OutcomeShares(env)
    steps = [("tftf", "tttt"), ("fttf", "tttf"), ("ffft", "tfff")]
    for flags, running in steps:
        now["success"] = torch.tensor([flag == "t" for flag in flags])
        shares.update(torch.tensor([flag == "t" for flag in running]))
    found = {name: float(share) for name, share in shares.shares().items()}
    assert found == {"Eval/success_once": 0.75, "Eval/success_at_end": 0.5}


def test_the_remaining_time_uses_the_iterations_of_this_process():
    """Resumed at iteration 8, two iterations took 4 s, and 10 are left."""
    loop = make_loop(agent_cfg(20))
    loop.iteration = loop._first = 8
    assert loop.progress.remaining is None
    loop.iteration, loop._seconds = 10, 4.0
    assert loop.progress.remaining == 20.0


# --- Figures -------------------------------------------------------------------------


def look_away_from_physics(env, seen, monkeypatch):
    """Ignore the engine's host reads, which are normal on a CPU."""

    def hidden(verb):
        def call(*args, **kwargs):
            with seen.pause():
                return verb(*args, **kwargs)

        return call

    for verb in ("step", "forward", "reset", "sense", "snapshot", "restore"):
        original = getattr(env.sim.engine, verb)
        monkeypatch.setattr(env.sim.engine, verb, hidden(original))


def test_an_iteration_waits_for_the_device_once_outside_of_the_update(
    monkeypatch, record_property
):
    loop = make_loop(
        agent_cfg(9, evaluation=EvaluationCfg(every=1)),
        evaluates=True,
        hooks=[Learning()],
    )
    loop._begin()
    loop._iterate()  # Builds the evaluation worlds.
    algorithm = loop.learner.algorithm
    inside: list[str] = []
    evaluated = loop._evaluation._env
    with watch(loop.env, monkeypatch) as seen:
        look_away_from_physics(evaluated, seen, monkeypatch)
        original = algorithm.update

        def update():
            before, seen.problems = seen.problems, inside
            try:
                return original()
            finally:
                seen.problems = before

        monkeypatch.setattr(algorithm, "update", update)
        loop._iterate()
    # Copies to the device, and data on it, need no synchronisation.
    sent = ("aten.lift_fresh", "Tensor.to ")
    reads = [name for name in seen.problems if not f"{name} ".startswith(sent)]
    assert reads == ["Tensor.tolist"]
    inside = [name for name in inside if not f"{name} ".startswith(sent)]
    said = f"Host reads of an iteration: 1, and {len(inside)} in RSL-RL's update"
    record_property("summary", f"{said} of {2 * 2} minibatches")


def test_mean_reward_and_length_are_those_of_the_episodes_that_ended():
    """The environment's own figures count the same episodes independently."""
    cfg = agent_cfg(1, num_steps_per_env=40, init_at_random_ep_len=False)
    loop = make_loop(cfg)
    loop.run()
    length = loop.env.max_episode_length
    assert loop.figures["Train/episodes"] == WORLDS * (40 // length)
    assert loop.figures["Train/mean_episode_length"] == length
    # The log's reward is a mean per second of a complete episode, which takes a second.
    seconds = loop.env.max_episode_length_s
    mean = loop.figures["Episode_Reward/smooth"] * seconds
    assert loop.figures["Train/mean_reward"] == pytest.approx(mean, rel=1e-5)


def test_metrics_are_written_a_line_an_iteration_and_rewritten_after_a_resume(tmp_path):
    path = tmp_path / "metrics.jsonl"
    first = make_loop(agent_cfg(3), writers=[JsonlWriter(path)])
    first.run()
    with path.open("a") as file:
        file.write('{"iteration": 4, "torn')
    second = make_loop(agent_cfg(2), writers=[JsonlWriter(path, start=1)])
    second.iteration = 1
    second.run()
    lines = read_rows(path)
    assert [line["iteration"] for line in lines] == [1, 2]
    assert lines[0]["Train/env_steps"] == WORLDS * STEPS
    assert all(math.isfinite(line["Loss/value"]) for line in lines)


# --- Reasons to stop -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("number", "name"), [(signal.SIGINT, "Ctrl-C"), (signal.SIGTERM, "SIGTERM")]
)
def test_a_signal_finishes_the_iteration_saves_and_leaves_cleanly(
    tmp_path, number, name
):
    class Kill(Hook):
        name = "kill"

        def after_iteration(self, loop):
            if loop.iteration == 2:
                os.kill(os.getpid(), number)
            return {}

    before = signal.getsignal(number)
    loop = make_loop(agent_cfg(9), folder=tmp_path, hooks=[Kill()])
    outcome = loop.run()
    assert outcome.interrupted
    assert outcome.iteration == 2
    assert outcome.reason == f"{name} received"
    assert signal.getsignal(number) is before
    again = make_loop(agent_cfg(9), folder=tmp_path, hooks=[Kill()])
    assert again.resume(tmp_path) == outcome.checkpoint
    assert again.iteration == 2


@pytest.fixture
def usual_sigint():
    """Send SIGINT, as Ctrl-C does; background jobs ignore it by default."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("usual_sigint")
def test_a_second_signal_stops_immediately():
    class Twice(Hook):
        name = "twice"

        def after_iteration(self, loop):
            os.kill(os.getpid(), signal.SIGINT)
            os.kill(os.getpid(), signal.SIGINT)
            return {}

    with pytest.raises(KeyboardInterrupt):
        make_loop(agent_cfg(9), hooks=[Twice()]).run()


def test_training_runs_in_a_thread_that_can_take_no_signals():
    loop = make_loop(agent_cfg(1))
    thread = threading.Thread(target=loop.run)
    thread.start()
    thread.join()
    assert loop.iteration == 1


@pytest.mark.parametrize(
    ("stop", "iterations", "said"),
    [
        (StopCfg(), 6, "6 of 6 iterations"),
        (StopCfg(max_env_steps=2 * STEPS * WORLDS + 1), 3, "stop.max_env_steps"),
        (StopCfg(max_seconds=1e-6), 1, "stop.max_seconds"),
        (StopCfg(metric="Train/mean_step_reward", target=0.0), 1, "stop.target"),
        (StopCfg(metric="Train/mean_step_reward", target=9.0), 6, "6 of 6"),
        # A constant learning rate never exceeds its first value, 1e-3.
        (StopCfg(metric="Policy/learning_rate", patience=2), 4, "stop.patience"),
    ],
)
def test_training_ends_for_each_reason(stop, iterations, said):
    algorithm = PpoCfg(num_learning_epochs=1, num_mini_batches=1, schedule="fixed")
    cfg = agent_cfg(
        6, stop=stop, algorithm=algorithm, checkpoint=CheckpointCfg(every=1)
    )
    outcome = make_loop(cfg).run()
    assert outcome.iteration == iterations
    assert said in outcome.reason
    assert not outcome.interrupted


def test_the_best_policy_is_kept(tmp_path):
    class Rising(Hook):
        name = "rising"
        scores: ClassVar = [1.0, 3.0, 2.0, float("nan")]

        def after_iteration(self, loop):
            return {"Hook/score": self.scores[loop.iteration - 1]}

    cfg = agent_cfg(
        4, stop=StopCfg(metric="Hook/score"), checkpoint=CheckpointCfg(every=1, keep=1)
    )
    loop = make_loop(cfg, folder=tmp_path, hooks=[Rising()])
    assert loop.run().best == 3.0
    again = make_loop(cfg, hooks=[Rising()])
    again.resume(tmp_path / "best.pt", exact=False)
    assert again.iteration == 2


# --- The averaged policy --------------------------------------------------------------


class Weights(Hook):
    """Hook that keeps the newest weights of each iteration, and the normaliser."""

    name = "weights"

    def __init__(self):
        self.kept = []

    def after_iteration(self, loop):
        state = loop.learner.policy.state_dict()
        self.kept.append({name: value.clone() for name, value in state.items()})
        return {}


def test_the_policy_is_averaged_over_iterations(tmp_path):
    hook = Weights()
    loop = make_loop(agent_cfg(4, average_decay=0.75), folder=tmp_path, hooks=[hook])
    loop.run()
    factors = [0.75**3, 0.25 * 0.75**2, 0.25 * 0.75, 0.25]
    model = load_model(find_checkpoint(tmp_path))
    saved, newest = model["learner"]["averaged"], hook.kept[-1]
    weights = [name for name, _ in loop.learner.policy.named_parameters()]
    assert len(weights) > 3
    for name in weights:
        mean = sum(f * kept[name] for f, kept in zip(factors, hook.kept, strict=True))
        assert torch.allclose(saved[name], mean, atol=1e-6)
        assert not torch.equal(saved[name], newest[name])
    assert saved.keys() - set(weights)
    for name in saved.keys() - set(weights):
        assert torch.equal(saved[name], newest[name])
    # Played, shipped and evaluated policies are the averaged one.
    network = load_network(tmp_path, loop.env, loop.cfg)
    assert differing(network.state_dict(), saved) == []
    assert differing(policy_weights(model, "actor"), saved) == []
    assert differing(loop.learner.averaged_policy.state_dict(), saved) == []
    shipped = {"learner": {"algorithm": {"actor_state_dict": newest}}}
    assert differing(policy_weights(shipped, "actor"), newest) == []


def test_an_average_that_begins_in_a_resumed_run_begins_with_its_weights(tmp_path):
    make_loop(agent_cfg(2), folder=tmp_path).run()
    loop = make_loop(agent_cfg(3, average_decay=0.75), folder=tmp_path)
    loop.resume(tmp_path)
    assert loop.learner.averaged_policy is loop.learner.policy
    loop.run()
    newest = loop.learner.policy.state_dict()
    assert differing(loop.learner.averaged_policy.state_dict(), newest) == []


def test_a_student_learns_from_the_average_of_its_teacher(tmp_path):
    teacher = make_loop(agent_cfg(3, average_decay=0.75), folder=tmp_path)
    teacher.run()
    cfg = DistillationAgentCfg(
        max_iterations=1,
        num_steps_per_env=STEPS,
        obs_groups={"student": ("actor",), "teacher": ("actor",)},
        student=network(distribution_cfg=GaussianCfg()),
        teacher=network(distribution_cfg=GaussianCfg()),
        teacher_checkpoint=str(tmp_path),
        algorithm=DistillationCfg(gradient_length=3),
        evaluation=EvaluationCfg(every=0),
    )
    student = make_loop(cfg)
    student.run()
    taught = student.learner.algorithm.teacher.state_dict()
    average = teacher.learner.averaged_policy.state_dict()
    assert differing(taught, average) == []


# --- Other algorithms -----------------------------------------------------------------


def test_a_student_learns_from_a_teacher_and_resumes_exactly(tmp_path):
    teacher = make_loop(agent_cfg(2), folder=tmp_path / "teacher")
    teacher.run()

    def cfg(iterations, **more):
        return DistillationAgentCfg(
            max_iterations=iterations,
            num_steps_per_env=STEPS,
            obs_groups={"student": ("actor",), "teacher": ("actor",)},
            student=network(distribution_cfg=GaussianCfg(init_std=0.1)),
            teacher=network(distribution_cfg=GaussianCfg()),
            teacher_checkpoint=str(tmp_path / "teacher"),
            algorithm=DistillationCfg(gradient_length=3, learning_rate=0.05),
            evaluation=EvaluationCfg(every=0),
            **more,
        )

    whole = make_loop(cfg(4))
    whole.run()
    losses = []

    class Note(Hook):
        name = "note"

        def after_iteration(self, loop):
            return {}

    first = make_loop(cfg(2), folder=tmp_path / "student", hooks=[Note()])
    losses.append(first.run().figures["Loss/behavior"])
    second = make_loop(cfg(4), folder=tmp_path / "student", hooks=[Note()])
    second.resume(tmp_path / "student")
    losses.append(second.run().figures["Loss/behavior"])
    assert losses[1] < losses[0]
    assert differing(flat_state(whole), flat_state(second)) == []
    weights = flat_state(teacher)["shared/algorithm/actor_state_dict/mlp.0.weight"]
    name = "shared/algorithm/teacher_state_dict/mlp.0.weight"
    assert torch.equal(flat_state(second)[name], weights)


# --- The environment in RSL-RL's interface
# ----------------------------------------------


def worlds_and_actions(**more):
    cfg = env_cfg()
    for name, value in more.items():
        setattr(cfg, name, value)
    return RslRlVecEnv(ManagerBasedRlEnv(cfg)), torch.ones(WORLDS, 1)


def test_requesting_observations_has_no_side_effects_and_equals_those_of_step():
    worlds, actions = worlds_and_actions()
    stepped = worlds.step(actions)[0]
    state = worlds.state()
    assert worlds.get_observations() is worlds.get_observations() is stepped
    assert differing(flat(state), flat(worlds.state())) == []


def test_tensors_returned_by_a_step_are_never_modified():
    worlds, actions = worlds_and_actions()
    seen, reward, dones, extras = worlds.step(actions)
    kept = [seen["actor"].clone(), reward.clone(), dones.clone()]
    log = {name: value.clone() for name, value in extras["log"].items()}
    for _ in range(worlds.max_episode_length + 1):
        worlds.step(actions)
    assert torch.equal(seen["actor"], kept[0])
    assert torch.equal(reward, kept[1])
    assert torch.equal(dones, kept[2])
    assert all(torch.equal(extras["log"][name], log[name]) for name in log)
    assert worlds.step(actions)[3]["log"] is not extras["log"]


def test_fraction_of_diverged_worlds_is_not_averaged_over_good_iterations():
    env = make_env()
    env.reset()
    figures = IterationFigures(env, Ranks(), window=1)
    action = torch.zeros(WORLDS, 1)
    for _ in range(20):
        for _ in range(STEPS):
            step = env.step(action)
            figures.tally.add(step.reward, step.terminated | step.truncated)
        figures.read()
    env.sim.data.qvel[:4] = torch.nan
    step = env.step(action)
    figures.tally.add(step.reward, step.terminated)
    # Over all steps it would be 4 of 968, below the limit of 0.05.
    with pytest.raises(TooManyNonfiniteError, match=r"4 of 8 world steps"):
        figures.read()


@pytest.mark.parametrize("finite", [False, True])
def test_time_outs_are_passed_on_unless_the_horizon_is_part_of_the_task(finite):
    worlds, actions = worlds_and_actions(is_finite_horizon=finite)
    for _ in range(worlds.max_episode_length):
        _, _, dones, extras = worlds.step(actions)
    assert dones.all()
    assert ("time_outs" in extras) is not finite
    assert finite or extras["time_outs"].all()


def test_termination_in_the_last_step_is_not_a_time_out():
    worlds, actions = worlds_and_actions()
    worlds.episode_length_buf.fill_(worlds.max_episode_length - 1)
    # NaN, so that the episode fails.
    worlds.env.sim.data.qpos[0].fill_(math.nan)
    _, _, dones, extras = worlds.step(actions)
    assert dones.all()
    assert extras["time_outs"].tolist() == [False] + [True] * (WORLDS - 1)


def test_actions_are_clipped_before_they_reach_the_worlds():
    clipped = RslRlVecEnv(make_env(), clip_actions=0.5)
    plain = RslRlVecEnv(make_env())
    first = clipped.step(torch.full((WORLDS, 1), -7.0))[0]["actor"]
    second = plain.step(torch.full((WORLDS, 1), -0.5))[0]["actor"]
    assert torch.equal(first, second)


def test_only_the_groups_observed_by_a_learner_are_returned():
    worlds = RslRlVecEnv(make_env(), groups=["critic"])
    assert set(worlds.step(torch.zeros(WORLDS, 1))[0].keys()) == {"critic"}
    with pytest.raises(ValueError, match=r"'actr'.*'actor'"):
        RslRlVecEnv(make_env(), groups=["actr"])


def flat(state):
    return {f"{part}/{k}": v for part, inner in state.items() for k, v in inner.items()}

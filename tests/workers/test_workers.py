"""Worlds in worker processes equal the worlds of one process, bit for bit."""

import dataclasses
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from mjlab.envs import ManagerBasedRlEnv
from mjlab.envs.state import StateError
from mjlab.managers import (
    CurriculumTermCfg,
    EventTermCfg,
    ManagerTermBase,
    MetricsTermCfg,
)
from mjlab.registry import load_task
from mjlab.rl import TrainingLoop
from mjlab.runs import Checkpoints
from mjlab.sim import SimulationUseError
from mjlab.workers import ShardError, WorkerEnv, WorkerError
from mjlab.workers.shards import Shards, StateShape
from tests.worlds.rl_runs import agent_cfg, differing, env_cfg, flat_state

ROOT = Path(__file__).resolve().parents[2]
WORLDS = 8
# Sums over worlds in another order: figures, which learning does not use.
FIGURES = {"log.sums_and_count", "log.latest", "curriculum.values"}
# The parent process checks the fraction of diverged worlds, not the workers.
SHARE = {"quarantine.since"}


def make_workers(count: int, **more: Any) -> WorkerEnv:
    return WorkerEnv(env_cfg(worlds=WORLDS), count, **more)


def actions(step: int, worlds: int, size: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(step)
    return torch.randn(worlds, size, generator=generator)


def is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def assert_same(ours: Any, theirs: Any) -> None:
    assert ours.keys() == theirs.keys()
    assert all(torch.equal(ours[group], seen) for group, seen in theirs.items())


def assert_same_step(ours: Any, theirs: Any) -> None:
    assert_same(ours[0], theirs[0])
    for mine, other in zip(ours[1:4], theirs[1:4], strict=True):
        assert torch.equal(mine, other)
    for key, mean in theirs[4]["log"].items():
        torch.testing.assert_close(ours[4]["log"][key], mean, rtol=1e-5, atol=1e-6)


@pytest.fixture(scope="module")
def workers() -> Iterator[WorkerEnv]:
    env = make_workers(2)
    yield env
    env.close()


@pytest.fixture(scope="module")
def alone() -> ManagerBasedRlEnv:
    return ManagerBasedRlEnv(env_cfg(worlds=WORLDS))


def test_steps_and_resets_give_the_bits_of_one_process(
    workers: WorkerEnv, alone: ManagerBasedRlEnv
) -> None:
    for seed in (5, list(range(20, 20 + WORLDS))):
        assert_same(workers.reset(seed=seed)[0], alone.reset(seed=seed)[0])
    ended = 0
    for step in range(45):
        action = actions(step, WORLDS, 1)
        theirs = alone.step(action)
        assert_same_step(workers.step(action), theirs)
        ended += int((theirs[2] | theirs[3]).sum())
    assert ended >= WORLDS, "No episode ended, so that no reset was compared."
    mask = torch.arange(WORLDS) % 3 == 0
    assert_same(workers.reset(mask=mask)[0], alone.reset(mask=mask)[0])
    assert torch.equal(workers.episode_length_buf, alone.episode_length_buf)


def test_a_state_passes_from_one_process_to_workers_and_back(
    workers: WorkerEnv, alone: ManagerBasedRlEnv
) -> None:
    alone.reset(seed=1)
    for step in range(7):
        alone.step(actions(step, WORLDS, 1))
    state = alone.get_state()
    workers.set_state(state)
    merged = workers.get_state()
    assert merged.keys() == state.keys()
    assert differing(merged, state) == []
    for step in range(30):
        action = actions(100 + step, WORLDS, 1)
        theirs = alone.step(action)
        assert_same_step(workers.step(action), theirs)
    assert set(differing(workers.get_state(), alone.get_state())) <= FIGURES


def test_the_learner_can_set_how_far_episodes_are(
    workers: WorkerEnv, alone: ManagerBasedRlEnv
) -> None:
    lengths = torch.arange(WORLDS) * 3
    for env in (workers, alone):
        env.reset(seed=2)
        env.episode_length_buf.copy_(lengths)
    for step in range(5):
        action = actions(step, WORLDS, 1)
        assert_same_step(workers.step(action), alone.step(action))
    assert int(workers.episode_length_buf[6]) == 3  # 18 and 2 steps, then a new one.


def test_returned_tensors_are_never_modified_later(workers: WorkerEnv) -> None:
    seen: Any = workers.reset(seed=3)[0]["actor"]
    _, reward, *_ = workers.step(actions(0, WORLDS, 1))
    kept = seen.clone(), reward.clone()
    workers.step(actions(1, WORLDS, 1))
    assert torch.equal(seen, kept[0])
    assert torch.equal(reward, kept[1])


def test_figures_of_episodes_are_those_of_all_worlds(
    workers: WorkerEnv, alone: ManagerBasedRlEnv
) -> None:
    for env in (workers, alone):
        env.reset(seed=4)
        env.take_log()
        for step in range(25):
            env.step(actions(step, WORLDS, 1))
    theirs, ours = alone.take_log(), workers.take_log()
    assert theirs.keys() == ours.keys()
    assert theirs == pytest.approx(ours, rel=1e-5, abs=1e-6)
    assert workers.health() == (0, 0)


def test_workers_have_one_thread_and_no_gpu(workers: WorkerEnv) -> None:
    for process in workers.processes:
        # Checked through the operating system, not through the workers.
        maps = Path(f"/proc/{process}/maps").read_text()
        assert "libcuda.so" not in maps
        assert "/warp/bin/" not in maps
        assert maps.count("memfd:mjlab-shared") == 1
        files = Path(f"/proc/{process}/fd").iterdir()
        assert not any("nvidia" in os.readlink(file) for file in files)
        variables = Path(f"/proc/{process}/environ").read_bytes().split(b"\0")
        assert b"CUDA_VISIBLE_DEVICES=" in variables
        assert b"OMP_NUM_THREADS=1" in variables


def test_training_with_workers_equals_training_in_one_process(
    workers: WorkerEnv, alone: ManagerBasedRlEnv, tmp_path: Path
) -> None:
    start = alone.get_state()
    states = []
    for name, env in (("alone", alone), ("workers", workers)):
        env.set_state(start)
        loop = TrainingLoop(env, agent_cfg(3), checkpoints=Checkpoints(tmp_path / name))
        loop.run()
        states.append(flat_state(loop))
    differences = set(differing(*states))
    assert not {name for name in differences if "shared/" in name or "random" in name}
    names = {name.rsplit("/", 1)[-1] for name in differences}
    assert names <= FIGURES | SHARE, differences
    # Checkpoints do not depend on the placement.
    resumed = TrainingLoop(workers, agent_cfg(4))
    resumed.resume(tmp_path / "alone")
    resumed.run()
    assert resumed.iteration == 4


# Invalid use.


def test_an_action_of_another_shape_is_refused(workers: WorkerEnv) -> None:
    with pytest.raises(ValueError, match=r"has shape \(1, 1\); it has to be \(8, 1\)"):
        workers.step(torch.zeros(1, 1))


def test_workers_reset_in_the_same_step_or_refuse(
    workers: WorkerEnv,
) -> None:
    workers.choose_resets("same_step", final_obs=workers.cfg.final_obs)
    with pytest.raises(ValueError, match=r"in the same step.*'next_step'"):
        workers.choose_resets("next_step")
    with pytest.raises(ValueError, match="final_obs=True"):
        workers.choose_resets("same_step", final_obs=not workers.cfg.final_obs)


def test_more_workers_than_worlds_are_refused() -> None:
    with pytest.raises(ShardError) as caught:
        WorkerEnv(env_cfg(worlds=2), 3)
    assert str(caught.value) == (
        "3 workers are too many for 2 worlds. Use at most 2 workers, or more worlds "
        "(env.scene.num_envs)."
    )
    with pytest.raises(ShardError, match=r"workers=0 has to be 1 or more\."):
        Shards(4, 0)


def noop(env: Any, mask: torch.Tensor) -> None:
    """An event without effect."""


class gate(ManagerTermBase):
    """A curriculum that reads all worlds, without effect."""

    couples_worlds = True

    def __call__(self, env: Any, mask: torch.Tensor) -> None:
        """Do nothing."""


def test_terms_that_couple_worlds_are_refused_by_name() -> None:
    cfg = env_cfg(worlds=4)
    cfg.events["gust"] = EventTermCfg(
        func=noop,
        mode="interval",
        interval_range_s=(0.5, 1.0),
        is_global_time=True,
    )
    cfg.curriculum["gate"] = CurriculumTermCfg(func=gate)
    with pytest.raises(ShardError) as caught:
        WorkerEnv(cfg, 2)
    assert str(caught.value) == (
        "Worlds depend on each other because of curriculum term 'gate' and event "
        "'gust' (is_global_time), so they cannot be divided among workers. Use one "
        "worker, or placement 'cpu'."
    )


def test_a_tensor_that_differs_between_workers_is_named() -> None:
    shape = StateShape({"reward.weights": torch.zeros(2)}, 1)
    parts = [{"reward.weights": torch.tensor([1.0, x])} for x in (1.0, 2.0)]
    with pytest.raises(StateError, match=r"'reward\.weights' has no world axis"):
        shape.merged(parts)


def test_counts_are_added_and_rows_are_put_side_by_side() -> None:
    sample = {
        "qpos": torch.zeros(1, 2),
        "ring": torch.zeros(5, 1),
        "reward.nonfinite_counts": torch.zeros(3, dtype=torch.int64),
        "step_counter": torch.tensor(0),
    }
    shape, shards = StateShape(sample, 1), Shards(5, 2)
    whole = {
        "qpos": torch.arange(10.0).view(5, 2),
        "ring": torch.arange(25.0).view(5, 5),
        "reward.nonfinite_counts": torch.tensor([1, 0, 4]),
        "step_counter": torch.tensor(7),
    }
    parts = shape.divided(whole, shards)
    assert [part["ring"].shape for part in parts] == [(5, 3), (5, 2)]
    assert [int(part["step_counter"]) for part in parts] == [7, 7]
    assert differing(shape.merged(parts), whole) == []


# Failing workers.


def breaks(env: Any) -> torch.Tensor:
    """Metric that fails in the third step."""
    if int(env.episode_length_buf.max()) >= 3:
        raise RuntimeError("this term is broken")
    return torch.zeros(env.num_envs)


@pytest.mark.slow
def test_an_error_in_a_worker_arrives_with_its_traceback() -> None:
    cfg = env_cfg(worlds=4)
    cfg.metrics["broken"] = MetricsTermCfg(func=breaks)
    env = WorkerEnv(cfg, 2)
    processes = env.processes
    with pytest.raises(WorkerError) as caught:
        for step in range(9):
            env.step(actions(step, 4, 1))
    message = str(caught.value)
    assert message.startswith(f"Worker 0 (process {processes[0]}, worlds 0 to 1) fail")
    assert "in breaks" in message
    assert "RuntimeError: this term is broken" in message
    assert not any(is_alive(process) for process in processes)
    with pytest.raises(WorkerError, match=r"The workers are closed\."):
        env.step(actions(0, 4, 1))


@pytest.mark.slow
def test_closed_workers_are_not_stepped() -> None:
    env = make_workers(2)
    env.close()
    for call in (lambda: env.step(actions(0, WORLDS, 1)), env.reset):
        with pytest.raises(SimulationUseError, match="is closed"):
            call()


@pytest.mark.slow
def test_a_worker_that_cannot_start_reports_the_reason() -> None:
    cfg = env_cfg(worlds=2)
    cfg.metrics["broken"] = MetricsTermCfg(func=fails_in_workers)
    with pytest.raises(WorkerError, match="only here"):
        WorkerEnv(cfg, 2)


def fails_in_workers(env: Any) -> torch.Tensor:
    """Metric that only the learner's process can compute."""
    if os.environ.get("CUDA_VISIBLE_DEVICES") == "":
        raise RuntimeError("only here")
    return torch.zeros(env.num_envs)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_dead_or_hanging_worker_ends_the_run(
    number: signal.Signals,
) -> None:
    env = make_workers(2, timeout_s=4.0)
    processes = env.processes
    env.step(actions(0, WORLDS, 1))
    os.kill(processes[1], number)
    began = time.monotonic()
    with pytest.raises(WorkerError) as caught:
        for step in range(10_000):
            env.step(actions(step, WORLDS, 1))
    assert time.monotonic() - began < 15.0
    who = f"Worker 1 (process {processes[1]}, worlds 4 to 7)"
    assert (
        str(caught.value)
        == {
            signal.SIGKILL: (
                f"{who} was killed by SIGKILL, possibly because memory ran out."
            ),
            signal.SIGSTOP: f"{who} has not responded for 4 s.",
        }[number]
    )
    assert not any(is_alive(process) for process in processes)


def hangs(env: Any) -> torch.Tensor:
    """Metric that a worker computes forever from the third step on.

    Until then it checks the worker's imports, and that it has one thread.
    """
    if os.environ.get("CUDA_VISIBLE_DEVICES") == "":
        assert not [name for name in sys.modules if name.split(".")[0] == "warp"]
        assert torch.get_num_threads() == 1 and not torch.cuda.is_initialized()
        while env.episode_length_buf[0] > 2:
            time.sleep(0.01)
    return torch.zeros(env.num_envs)


@pytest.mark.slow
def test_a_worker_that_hangs_ends_with_a_learner_that_is_killed() -> None:
    """The kernel reports existing processes, and their states."""
    code = (
        "import torch; from tests.workers import test_workers as t\n"
        "cfg = t.env_cfg(worlds=2)\n"
        "cfg.metrics['endless'] = t.MetricsTermCfg(func=t.hangs)\n"
        "env = t.WorkerEnv(cfg, 2)\n"
        "print(*env.processes, flush=True)\n"
        "for step in range(9): env.step(torch.zeros(2, 1))\n"
    )
    learner = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, cwd=ROOT
    )
    assert learner.stdout is not None
    processes = [int(each) for each in learner.stdout.readline().split()]
    assert len(processes) == 2 and all(runs(each) for each in processes)
    time.sleep(2.0)  # Now they hang in the third step.
    learner.kill()
    learner.wait()
    deadline = time.monotonic() + 5.0
    while any(runs(each) for each in processes) and time.monotonic() < deadline:
        time.sleep(0.05)
    left = [each for each in processes if runs(each)]
    for each in left:
        os.kill(each, signal.SIGKILL)
    assert left == []


def runs(process: int) -> bool:
    """Return whether a process exists and is not a zombie."""
    try:
        status = Path(f"/proc/{process}/stat").read_text()
    except FileNotFoundError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


def hangs_at_once(env: Any) -> torch.Tensor:
    """Metric that a worker cannot create, so that it is not built."""
    while os.environ.get("CUDA_VISIBLE_DEVICES") == "":
        time.sleep(0.01)
    return torch.zeros(env.num_envs)


@pytest.mark.slow
def test_a_worker_that_hangs_in_a_term_is_found_within_its_timeout() -> None:
    cfg = env_cfg(worlds=4)
    cfg.metrics["endless"] = MetricsTermCfg(func=hangs)
    env = WorkerEnv(cfg, 2, timeout_s=3.0)
    processes = env.processes
    began = time.monotonic()
    with pytest.raises(WorkerError, match=r"Worker 0 .* not responded for 3 s\."):
        for step in range(9):
            env.step(actions(step, 4, 1))
    # Ending a hung worker takes 5 s more.
    assert time.monotonic() - began < 15.0
    assert not any(is_alive(process) for process in processes)


@pytest.mark.slow
def test_a_worker_that_hangs_while_building_is_found_by_a_separate_limit() -> None:
    cfg = env_cfg(worlds=2)
    cfg.metrics["endless"] = MetricsTermCfg(func=hangs_at_once)
    with pytest.raises(WorkerError, match=r"Worker 0 .* not responded for 8 s\."):
        WorkerEnv(cfg, 1, timeout_s=1.0, build_timeout_s=8.0)


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 3, 7])
def test_a_robot_with_everything_gives_the_same_bits_in_any_division(
    count: int,
) -> None:
    cfg: Any = load_task("Velocity-Go1-Flat").env()
    cfg.scene.num_envs, cfg.seed, cfg.episode_length_s = 7, 3, 0.3
    cfg.events["push_robot"].interval_range_s = (0.04, 0.1)
    native = dataclasses.replace(cfg.sim, backend="native")
    alone = ManagerBasedRlEnv(dataclasses.replace(cfg, sim=native))
    env = WorkerEnv(cfg, count)
    try:
        env.reset()
        alone.reset()
        size = alone.action_manager.total_action_dim
        for step in range(40):
            action = actions(step, 7, size)
            theirs = alone.step(action)
            assert_same_step(env.step(action), theirs)
        assert set(differing(env.get_state(), alone.get_state())) <= FIGURES
    finally:
        env.close()


def test_the_states_of_one_worker_or_two_are_those_of_all_worlds():
    shape = StateShape({"a": torch.zeros(3, 2), "nonfinite": torch.tensor(0)}, 3)
    one = {"a": torch.rand(8, 2), "nonfinite": torch.tensor(5)}
    merged = shape.merged([one])
    assert torch.equal(merged["a"], one["a"]) and merged["nonfinite"] == 5
    two = shape.merged([one, one])
    assert torch.equal(two["a"], torch.cat([one["a"]] * 2)) and two["nonfinite"] == 10

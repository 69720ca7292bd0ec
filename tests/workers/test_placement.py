"""Placement of worlds and learner: selection, errors, and report."""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

from mjlab.registry import load_task
from mjlab.runs.checkpoints import find_checkpoint, find_fault
from mjlab.workers import ShardError
from mjlab.workers.placement import PlacementError, find_placement
from tests.worlds.rl_runs import env_cfg

ROOT = Path(__file__).resolve().parents[2]
without_cuda = pytest.mark.skipif(
    torch.cuda.is_available(), reason="is about machines without CUDA"
)


@without_cuda
def test_each_placement_reports_the_devices() -> None:
    found = {
        name: find_placement(name, cores=5) for name in ("dual", "cpu", "warp-cpu")
    }
    assert [place.device for place in found.values()] == ["cpu"] * 3
    assert [place.workers for place in found.values()] == [5, None, None]
    backends = [place.applied(env_cfg()).sim.backend for place in found.values()]
    assert backends == ["native", "native", "warp"]
    assert found["dual"].reason.endswith(why_no_cuda())


def why_no_cuda() -> str:
    if torch.version.cuda is None:
        return f"this PyTorch ({torch.__version__}) was built without CUDA"
    return "PyTorch finds none"


@pytest.mark.slow
def test_the_program_of_the_page_trains(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (ROOT / "docs/howto/placements.md").read_text("utf-8")
    (program,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    task = load_task("Cartpole-Balance")
    assert task.rl is not None
    env, agent = task.env(), task.rl()
    env.scene.num_envs, agent.max_iterations, agent.num_steps_per_env = 4, 1, 4
    monkeypatch.chdir(tmp_path)
    small = program.replace("Velocity-Go1-Flat", "Cartpole-Balance")
    exec(small.replace("workers=8", "workers=2"), {"env_cfg": env, "agent_cfg": agent})
    (run,) = (tmp_path / "logs" / "Cartpole-Balance").glob("20*")
    assert find_checkpoint(run) is not None


@without_cuda
def test_a_missing_gpu_is_refused() -> None:
    with pytest.raises(PlacementError) as caught:
        find_placement("gpu")
    message = str(caught.value)
    expected = f"Placement 'gpu' needs a CUDA device, and {why_no_cuda()}"
    assert message.startswith(expected)
    assert message.endswith("Placements for a CPU: 'dual', 'cpu', 'warp-cpu'.")


def test_a_gpu_runs_all_of_a_step_as_one_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    place = find_placement("gpu")
    assert (place.device, place.physics, place.workers) == ("cuda:0", "cuda:0", None)
    applied = place.applied(env_cfg())
    assert (applied.sim.backend, applied.mode) == ("warp", "fused")
    # Worlds of workers stay on the CPU, for any device of the learner.
    dual = find_placement("dual", cores=2)
    assert (dual.device, dual.physics) == ("cuda:0", "cpu")
    assert dual.reason == "CUDA is available"


def test_contradictory_placements_are_refused() -> None:
    with pytest.raises(PlacementError, match=r"workers=2 needs placement 'dual'; "):
        find_placement("cpu", workers=2)
    with pytest.raises(PlacementError) as caught:
        find_placement("duel")
    assert str(caught.value) == (
        "There is no placement 'duel'. Valid names, nearest first: 'dual', 'gpu', "
        "'cpu', 'warp-cpu'."
    )
    with pytest.raises(PlacementError) as caught:
        find_placement("cpu", device="cuda:0")
    assert str(caught.value) == (
        "Placement 'cpu' runs on the CPU, but the device is 'cuda:0'. Remove one of "
        "the two options."
    )
    cfg = env_cfg()
    cfg.sim.backend = "warp"
    with pytest.raises(PlacementError) as caught:
        find_placement("dual", cores=2).applied(cfg)
    assert str(caught.value) == (
        "Placement 'dual' runs the native engine, but env.sim.backend is 'warp'. "
        "Remove one of the two options."
    )


def test_more_workers_than_worlds_are_only_refused_if_they_were_chosen() -> None:
    assert find_placement("dual", cores=16).for_worlds(3).workers == 3
    with pytest.raises(ShardError) as caught:
        find_placement("dual", workers=16).for_worlds(3)
    assert str(caught.value) == (
        "16 workers are too many for 3 worlds. Use at most 3 workers, or more "
        "worlds (env.scene.num_envs)."
    )


# The script.


def start(folder: Path, *more: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-u", "scripts/train.py", "Cartpole-Balance"]
    command += ["--env.scene.num-envs", "8", "--env.episode-length-s", "1"]
    command += ["--agent.num-steps-per-env", "8", "--agent.evaluation.every", "0"]
    command += ["--agent.checkpoint.every", "1", "--seed", "3", "--logs", str(folder)]
    return subprocess.Popen(
        [*command, *more],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        start_new_session=True,
    )


def read_until(process: subprocess.Popen[str], pattern: str) -> str:
    assert process.stdout is not None
    lines = []
    for line in process.stdout:
        lines.append(line)
        if re.search(pattern, line):
            return "".join(lines)
    pytest.fail("".join(lines))


def children_of(process: int) -> list[int]:
    listed = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    found = [int(child) for child in listed]
    commands = {c: Path(f"/proc/{c}/cmdline").read_bytes() for c in found}
    return [c for c in found if b"spawn_main" in commands[c]]


def shared_files(processes: list[int]) -> set[Path]:
    """Return shared memory files that processes have open or mapped."""
    found = set()
    for process in processes:
        maps = Path(f"/proc/{process}/maps").read_text()
        assert "/memfd:mjlab-shared" in maps
        found |= set(re.findall(r"/dev/shm/\S+", maps))
        for file in Path(f"/proc/{process}/fd").iterdir():
            # The running worker may close a file between listing and reading.
            with contextlib.suppress(FileNotFoundError):
                found |= set(re.findall(r"/dev/shm/\S+", os.readlink(file)))
    return {Path(name) for name in found}


def assert_gone(processes: list[int], shared: set[Path]) -> None:
    deadline = time.monotonic() + 10.0
    while any(Path(f"/proc/{process}").exists() for process in processes):
        assert time.monotonic() < deadline, "A worker outlived its run."
        time.sleep(0.05)
    assert not any(file.exists() for file in shared)


@pytest.mark.slow
@without_cuda
def test_the_script_prints_the_placement_and_every_tensors_device(
    tmp_path: Path,
) -> None:
    process = start(
        tmp_path, *("--placement", "dual", "--workers", "2"), "--agent.max-iterations=1"
    )
    output, _ = process.communicate(timeout=300)
    assert process.returncode == 0, output
    assert "8 worlds on native (cpu), in 2 worker processes of 4 worlds." in output
    why = find_placement("dual", cores=1).reason
    assert (
        "Placement dual: worlds in 2 worker processes on cpu, learner on cpu, because "
        f"{why}.\n"
    ) in output
    assert re.search(
        r"Tensors: physics state: cpu; actions, observations, rewards: cpu, shared "
        r"memory of 0\.00 MB; rollout: cpu; networks: cpu\.\n",
        output,
    )


@pytest.mark.slow
def test_killed_worker_ends_the_run_with_a_valid_checkpoint(
    tmp_path: Path,
) -> None:
    process = start(tmp_path, "--placement", "dual", "--workers", "2")
    read_until(process, r"^5/")
    workers = children_of(process.pid)
    shared = shared_files([process.pid, *workers])
    assert len(workers) == 2
    os.kill(workers[0], signal.SIGKILL)
    began = time.monotonic()
    output, _ = process.communicate(timeout=60)
    assert time.monotonic() - began < 10.0
    assert process.returncode == 2
    assert "was killed by SIGKILL, possibly because memory ran out." in output
    assert_gone([process.pid, *workers], shared)
    (run,) = (tmp_path / "Cartpole-Balance").glob("20*")
    assert json.loads((run / "run.json").read_text())["status"] == "failed"
    checkpoint = find_checkpoint(run)
    assert find_fault(checkpoint) is None
    # And the run resumes from there, with another number of workers.
    done = int(checkpoint.stem.removeprefix("model_"))
    resumed = start(
        tmp_path,
        *("--placement", "dual", "--workers", "3", "--resume", "latest"),
        f"--agent.max-iterations={done + 2}",
    )
    output, _ = resumed.communicate(timeout=300)
    assert resumed.returncode == 0, output
    assert f"{done + 2}/{done + 2}" in output


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_to_all_processes_finishes_the_iteration_and_saves(
    number: signal.Signals, tmp_path: Path
) -> None:
    process = start(tmp_path, "--placement", "dual", "--workers", "2")
    read_until(process, r"^3/")
    workers = children_of(process.pid)
    shared = shared_files([process.pid, *workers])
    # As a terminal or a scheduler does.
    os.killpg(process.pid, number)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 128 + number, output
    received = {signal.SIGINT: "Ctrl-C", signal.SIGTERM: "SIGTERM"}[number]
    assert f"Stopped: {received} received." in output
    assert_gone([process.pid, *workers], shared)
    (run,) = (tmp_path / "Cartpole-Balance").glob("20*")
    assert find_fault(find_checkpoint(run)) is None

"""Several processes: their ranks, and one policy trained on different worlds."""

import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mjlab.rl import Ranks
from mjlab.rl.distributed import DistributedError, check_gpus, torchrun_command
from mjlab.runs import Checkpoints

ROOT = Path(__file__).parents[2]

# --- Ranks ----------------------------------------------------------------------------


def test_ranks_equal_those_of_torchrun():
    said = {"RANK": "5", "LOCAL_RANK": "1", "WORLD_SIZE": "8", "LOCAL_WORLD_SIZE": "4"}
    ranks = Ranks.from_environment(said)
    assert ranks == Ranks(index=5, local=1, world=8, local_world=4)
    assert not ranks.is_first
    assert not ranks.is_alone
    assert ranks.threads() == max(1, (os.cpu_count() or 1) // 4)


def test_process_without_torchrun_has_world_size_one():
    ranks = Ranks.from_environment({})
    assert ranks.is_first and ranks.is_alone
    ranks.join("cpu")
    assert ranks.share_number(7) == 7
    assert ranks.share_text("x") == "x"
    assert ranks.gather(b"y") == [b"y"]
    ranks.leave()


@pytest.mark.parametrize(
    "said", [{"RANK": "2", "WORLD_SIZE": "2"}, {"LOCAL_RANK": "1"}]
)
def test_invalid_torchrun_variables_are_refused(said):
    with pytest.raises(DistributedError, match="are inconsistent"):
        Ranks.from_environment(said)


def test_each_process_takes_its_own_gpu(monkeypatch):
    import torch

    ranks = Ranks(index=3, local=1, world=4, local_world=2)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert ranks.device() == ranks.device("cuda") == "cuda:1"
    assert ranks.device("cpu") == "cpu"
    with pytest.raises(DistributedError, match="no GPU: 2 are visible"):
        Ranks(index=2, local=2, world=3, local_world=3).device()
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert ranks.device() == "cpu"
    with pytest.raises(DistributedError, match="no CUDA device"):
        ranks.device("cuda")


@pytest.mark.parametrize(
    ("gpus", "count", "said"),
    [
        ([0, 3], 2, "There is no GPU 3. Valid: 0, 1."),
        ([0], 0, "no GPU 0. Valid: none"),
        ([0, 0], 2, "one or more different GPUs"),
        ([], 2, "has to list one or more"),
    ],
)
def test_missing_gpus_are_refused(gpus, count, said):
    with pytest.raises(DistributedError) as caught:
        check_gpus(gpus, count)
    assert said in str(caught.value)


def test_the_command_line_continues_under_torchrun(monkeypatch):
    line = ["scripts/train.py", "Velocity-G1", "--gpus", "0", "--logs", "there"]
    monkeypatch.setattr(sys, "argv", line)
    monkeypatch.setattr(sys.modules["__main__"], "__spec__", None)
    command = torchrun_command(2)
    assert command[:4] == [
        sys.executable,
        "-m",
        "torch.distributed.run",
        "--standalone",
    ]
    assert command[4:6] == ["--nproc-per-node", "2"]
    # As parsed by torchrun: options of the program are not its own.
    from torch.distributed.run import parse_args

    read = parse_args(command[3:])
    assert [read.training_script, *read.training_script_args] == line
    # Started by its name, as by `python -m mjlab`.
    begun = SimpleNamespace(name="mjlab.__main__")
    monkeypatch.setattr(sys.modules["__main__"], "__spec__", begun)
    read = parse_args(torchrun_command(2)[3:])
    assert read.module
    assert [read.training_script, *read.training_script_args] == ["mjlab", *line[1:]]


# --- Together ------------------------------------------------------------------------

WORKER = """
import json, os, sys, torch
from pathlib import Path
from mjlab.rl import Ranks
from tests.worlds.rl_runs import agent_cfg, flat_state, make_env, make_loop
from mjlab.rl import EvaluationCfg, Hook

ranks = Ranks.from_environment()
ranks.join("cpu")
mode, folder = sys.argv[1], Path(ranks.share_text(sys.argv[2]))
if mode == "no all-reduce":
    import rsl_rl.algorithms
    rsl_rl.algorithms.PPO.reduce_parameters = lambda self: None

class Act(Hook):
    name = "act"
    def after_iteration(self, loop):
        if mode == "die" and ranks.index == 1 and loop.iteration == 3:
            os._exit(7)
        if mode == "signal" and ranks.index == 1 and loop.iteration == 2:
            os.kill(os.getpid(), 15)
        return {}

iterations = {"die": 100000, "signal": 100000}.get(mode, 4)
seed = ranks.share_number(11 + ranks.index)
evaluation = EvaluationCfg(every=2)
loop = make_loop(agent_cfg(iterations, evaluation=evaluation), folder=folder,
                 ranks=ranks, hooks=[Act()], seed=seed, evaluates=mode == "train")
loop.cfg.checkpoint.every = 2
first = loop.worlds.get_observations()["actor"].tolist()
if mode == "resume":
    loop.cfg.max_iterations = 2
    loop.run()
    loop = make_loop(agent_cfg(4), folder=folder, ranks=ranks, hooks=[Act()], seed=seed)
    loop.resume(folder)
outcome = loop.run()
state = {k: v.tolist() for k, v in flat_state(loop).items() if k.startswith("shared")}
report = {"first": first, "state": state, "figures": loop.figures, "seed": seed,
          "reason": outcome.reason, "iteration": outcome.iteration,
          "lr": loop.learner.learning_rate}
(folder / f"report{ranks.index}.json").write_text(json.dumps(report))
ranks.leave()
"""


def launch(tmp_path, mode, *options):
    script = tmp_path / "worker.py"
    script.write_text(WORKER)
    command = [sys.executable, "-m", "torch.distributed.run", *options]
    environ = os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(
        [*command, str(script), mode, str(tmp_path)],
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def run(tmp_path, mode):
    process = launch(tmp_path, mode, "--standalone", "--nproc-per-node", "2")
    output, _ = process.communicate(timeout=120)
    assert process.returncode == 0, output
    return reports(tmp_path)


def reports(tmp_path):
    return [json.loads((tmp_path / f"report{i}.json").read_text()) for i in (0, 1)]


@pytest.mark.slow
def test_two_ranks_share_one_policy_and_have_different_worlds(tmp_path):
    first, second = run(tmp_path, "train")
    assert first["seed"] == second["seed"] == 11
    assert first["first"] != second["first"]
    assert first["state"] == second["state"]
    assert first["lr"] == second["lr"]
    # Both count the worlds of both.
    figures = [
        {k: v for k, v in r["figures"].items() if "Perf" not in k}
        for r in (first, second)
    ]
    assert figures[0] == figures[1]
    assert figures[0]["Train/env_steps"] == 2 * 8 * 6 * 4
    # The first evaluates for both.
    assert figures[0]["Eval/mean_episode_length"] == 20
    assert figures[0]["Eval/finished"] == 1.0


@pytest.mark.slow
def test_without_the_all_reduce_the_ranks_would_drift_apart(tmp_path):
    """Shows that the test above can fail."""
    first, second = run(tmp_path, "no all-reduce")
    assert first["state"] != second["state"]


@pytest.mark.slow
def test_two_ranks_resume_exactly(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    whole, parts = run(tmp_path / "a", "train"), run(tmp_path / "b", "resume")
    assert [r["state"] for r in whole] == [r["state"] for r in parts]


@pytest.mark.slow
def test_a_signal_to_one_rank_stops_all_of_them_together(tmp_path):
    first, second = run(tmp_path, "signal")
    assert first["iteration"] == second["iteration"] == 2
    assert "SIGTERM" in second["reason"]
    assert "another process" in first["reason"]
    assert Checkpoints(tmp_path).newest() == tmp_path / "model_000002.pt"


@pytest.mark.slow
def test_two_agents_on_loopback_train_as_two_nodes(tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = [
        *("--nnodes", "2", "--nproc-per-node", "1", "--rdzv-backend", "c10d"),
        *("--rdzv-endpoint", f"127.0.0.1:{port}", "--local-addr", "127.0.0.1"),
    ]
    agents = [launch(tmp_path, "train", *options) for _ in range(2)]
    for agent in agents:
        output, _ = agent.communicate(timeout=120)
        assert agent.returncode == 0, output
    first, second = reports(tmp_path)
    assert first["state"] == second["state"]


STAND_INS = {
    "torchrun": 'exec "$PYTHON" -m torch.distributed.run --local-addr 127.0.0.1 "$@"',
    "scontrol": '[ "$*" = "show hostnames two[1-2]" ] && printf "127.0.0.1\\nother\\n"',
    # One task on each of two machines, until both end.
    "srun": '"$@" & one=$!\n"$@" & two=$!\nwait $one && wait $two',
}


@pytest.mark.slow
def test_the_script_for_slurm_trains_on_two_nodes_and_resumes(tmp_path):
    """Stand-ins for SLURM's commands, which start two agents on one machine."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    for name, text in STAND_INS.items():
        program = tmp_path / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(f"#!/bin/sh\n{text}\n")
        program.chmod(0o755)
    given = {
        "PATH": f"{tmp_path}/bin:{os.environ['PATH']}",
        "PYTHON": sys.executable,
        "PYTHONPATH": str(ROOT),
        "SLURM_JOB_NODELIST": "two[1-2]",
        "SLURM_NNODES": "2",
        "SLURM_JOB_ID": "7",
        "PORT": str(port),
        "OMP_NUM_THREADS": "1",
    }
    small = ["--env.scene.num-envs", "4", "--agent.num-steps-per-env", "4"]
    small += ["--agent.evaluation.every", "0", "--device", "cpu"]

    def train(*options: str) -> dict[str, Any]:
        line = ["sh", str(ROOT / "docs/examples/slurm.sh"), "Cartpole-Balance"]
        done = subprocess.run(
            [*line, "--logs", str(tmp_path), *options],
            env=os.environ | given,
            capture_output=True,
            text=True,
            timeout=280,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        # Only the first process writes.
        (file,) = tmp_path.glob("Cartpole-Balance/2*/metrics.jsonl")
        return json.loads(file.read_text().splitlines()[-1])

    last = train(*small, "--agent.max-iterations", "2")
    assert (last["iteration"], last["Train/env_steps"]) == (2, 2 * 2 * 4 * 4)
    last = train("--resume", "latest", "--agent.max-iterations", "3")
    assert (last["iteration"], last["Train/env_steps"]) == (3, 3 * 2 * 4 * 4)


@pytest.mark.slow
def test_dying_rank_ends_the_job_with_a_valid_checkpoint(tmp_path):
    process = launch(tmp_path, "die", "--standalone", "--nproc-per-node", "2")
    checkpoints = Checkpoints(tmp_path)
    while checkpoints.newest() is None:
        assert process.poll() is None
        time.sleep(0.05)
    start = time.monotonic()
    output, _ = process.communicate(timeout=60)
    assert process.returncode != 0
    assert time.monotonic() - start < 20, output
    assert checkpoints.newest() == tmp_path / "model_000002.pt"

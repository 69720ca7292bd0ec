"""Muscle networks that act in one process and are trained in another."""

import importlib.util
import multiprocessing
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import yaml

from mjlab.envs import ManagerBasedRlEnv
from mjlab.muscle import (
    MuscleLearnerCfg,
    MuscleNetwork,
    TupleLayout,
    WeightStore,
    muscle_action,
)
from mjlab.muscle.buffer import MuscleTupleBuffer, SharedMuscles
from mjlab.parallel.memory import ArraySpec, SharedArrays
from mjlab.rl import TrainingEnv, TrainingLoop, terms_of
from mjlab.tasks.muscle.learning import MuscleHookCfg
from mjlab.tasks.muscle.walk import WalkW18Cfg
from mjlab.workers import WorkerEnv
from tests.worlds.rl_runs import agent_cfg, differing, flat_state

ROOT = Path(__file__).resolve().parents[2]
SIZES = (30, 6, 18)
PUBLISHES = 10_000


def marked(network: MuscleNetwork, number: float) -> dict[str, torch.Tensor]:
    """Weights that all have the same value."""
    return {n: torch.full_like(t, number) for n, t in network.state_dict().items()}


# Weights on their way.


def read_for_ever(
    store: WeightStore, network: MuscleNetwork, last: int
) -> tuple[list[int], int]:
    """Fetch until version `last`; return the versions, and how many were torn."""
    versions, torn = [0], 0
    while versions[-1] < last:
        version = store.fetch(network)
        if version:
            values = {float(t.min()) for t in network.state_dict().values()}
            values |= {float(t.max()) for t in network.state_dict().values()}
            torn += values != {float(version)}
        versions.append(version)
    return versions, torn


def test_no_reader_gets_a_mixture_of_two_publishings() -> None:
    writer = MuscleNetwork(*SIZES, hidden=(16, 16))
    memory = bytearray(WeightStore.nbytes_for(writer))
    store = WeightStore(writer, memory)
    reader = MuscleNetwork(*SIZES, hidden=(16, 16))
    found: list[tuple[list[int], int]] = []
    thread = threading.Thread(
        target=lambda: found.append(
            read_for_ever(WeightStore(reader, memory), reader, PUBLISHES)
        )
    )
    with torch.no_grad():
        states = [marked(writer, float(version)) for version in range(8)]
        thread.start()
        for version in range(1, PUBLISHES + 1):
            state = states[version % 8]
            for tensor in state.values():
                tensor.fill_(float(version))
            assert store.publish(state) == version
        thread.join()
    ((versions, torn),) = found
    assert torn == 0
    assert versions == sorted(versions)
    assert len(set(versions)) > 10, "The reader was never in the way."


def read_in_process(block: SharedArrays, network: MuscleNetwork, answer: Any) -> None:
    """Read from shared memory in a separate process."""
    torch.set_num_threads(1)
    store = WeightStore(network, block["weights"].data)
    answer.send("ready")
    with torch.no_grad():
        versions, torn = read_for_ever(store, network, PUBLISHES)
    answer.send((versions == sorted(versions), len(set(versions)), torn))


@pytest.mark.slow
def test_no_process_gets_a_mixture_of_two_publishings() -> None:
    network = MuscleNetwork(*SIZES)
    nbytes = WeightStore.nbytes_for(network)
    block = SharedArrays({"weights": ArraySpec((nbytes,), "uint8")})
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    reader = context.Process(target=read_in_process, args=(block, network, there))
    reader.start()
    assert here.recv() == "ready"
    store = WeightStore(network, block["weights"].data)
    state = marked(network, 0.0)
    for version in range(1, PUBLISHES + 1):
        for tensor in state.values():
            tensor.fill_(float(version))
        store.publish(state)
    monotone, seen, torn = here.recv()
    reader.join()
    assert (monotone, torn) == (True, 0)
    assert seen > 10


def test_weights_change_only_when_a_rollout_begins() -> None:
    networks = [MuscleNetwork(*SIZES, seed=seed) for seed in (1, 1)]
    buffers = [MuscleTupleBuffer(TupleLayout(*SIZES), n, 4, 1) for n in (5, 3)]
    learner, worker = map(SharedMuscles, networks, buffers)
    fields = learner.fields(5, 2)
    memory = {name: torch.zeros(s, dtype=t) for name, (s, t) in fields.items()}
    learner.share(memory)
    worker.share(memory, worlds=slice(2, 5), worker=1)
    before = {k: v.clone() for k, v in networks[1].state_dict().items()}
    worker.begin_rollout()
    assert worker.version == 0
    assert differing(dict(networks[1].state_dict()), before) == []
    state = marked(networks[0], 0.5)
    learner.publish(state)
    assert differing(dict(networks[1].state_dict()), before) == []
    worker.begin_rollout()
    assert worker.version == 1
    assert differing(dict(networks[1].state_dict()), state) == []


def test_rows_are_ordered_by_step_and_world_for_any_order_of_writers() -> None:
    layout = TupleLayout(2, 1, 1)
    steps, sizes = 6, (2, 3)
    whole = torch.arange(steps * 5 * 3, dtype=torch.float32).view(steps, 5, 3)

    def written(order: list[tuple[int, int]]) -> torch.Tensor:
        network = MuscleNetwork(2, 1, 1, hidden=(4,))
        buffers = [MuscleTupleBuffer(layout, n, 4, 1) for n in (*sizes, 5)]
        parts = [SharedMuscles(network, buffer) for buffer in buffers]
        fields = parts[2].fields(5, 2)
        memory = {name: torch.zeros(s, dtype=t) for name, (s, t) in fields.items()}
        worlds = slice(0, 2), slice(2, 5)
        for worker in (0, 1):
            parts[worker].share(memory, worlds=worlds[worker], worker=worker)
        parts[2].share(memory)
        done = [0, 0]
        for worker, count in order:
            for _ in range(count):
                row = whole[done[worker], worlds[worker]]
                buffers[worker].begin(torch.zeros(sizes[worker]))
                buffers[worker].record(red=row[:, :2], torque=row[:, 2:])
                buffers[worker].end()
                done[worker] += 1
        return buffers[2].rows().clone()

    in_step = written([(0, 1), (1, 1)] * steps)
    far_apart = written([(1, 5), (0, 2), (1, 1), (0, 4)])
    assert torch.equal(in_step, far_apart)
    # Six steps on four places: the last two have made room for themselves.
    assert torch.equal(in_step, whole[[4, 5, 2, 3]].reshape(-1, 3))


# Whole runs.


def walk_cfg() -> WalkW18Cfg:
    cfg = WalkW18Cfg(seed=5, episode_length_s=0.3)
    cfg.scene.num_envs = 5
    cfg.sim.backend = "native"
    cfg.actions["muscles"].kept_steps = 12  # pyright: ignore
    return cfg


def trained(env: TrainingEnv) -> dict[str, torch.Tensor]:
    """Results of three iterations: policy, muscle network, samples, worlds."""
    learner = MuscleLearnerCfg(teacher_iterations=5, epochs=2, batch_size=16)
    hook = MuscleHookCfg(
        learner=learner, pretraining_rows=64, pretraining_updates=1
    ).bind("muscles", env)
    agent = agent_cfg(3, num_steps_per_env=4)
    loop = TrainingLoop(env, agent, hooks=[hook])
    loop.run()
    term = muscle_action(terms_of(env))
    found = flat_state(loop)
    timed = ("learn_ms", "publish_ms")
    return {name: t for name, t in found.items() if not name.endswith(timed)} | {
        "rows": term.rows().clone(),
        **{f"acting/{name}": t for name, t in term.network_state().items()},
    }


@pytest.fixture(scope="module")
def alone() -> dict[str, torch.Tensor]:
    return trained(ManagerBasedRlEnv(walk_cfg(), device="cpu"))


@pytest.mark.parametrize(
    "count",
    [pytest.param(n, marks=pytest.mark.slow) for n in (1, 2, 3, 5)],
)
def test_muscles_in_workers_are_trained_like_muscles_in_one_process(
    alone: dict[str, torch.Tensor], count: int
) -> None:
    env = WorkerEnv(walk_cfg(), count)
    try:
        workers = trained(env)
    finally:
        env.close()
    assert alone["rows"].shape[0] == 5 * 12
    assert alone["rows"].abs().sum() > 0.0
    # The process that learns counts the share of diverged worlds, not its workers.
    figures = {"log.sums_and_count", "log.latest", "curriculum.values"}
    figures.add("quarantine.since")
    differences = {
        name
        for name in differing(alone, workers)
        if name.rsplit("/", 1)[-1] not in figures and "figures/" not in name
    }
    assert differences == set()
    # Figures are sums over worlds, whose order is another.
    for name in (n for n in alone if n.startswith("figures/")):
        torch.testing.assert_close(workers[name], alone[name], rtol=1e-4, atol=1e-6)


# The programme of before.


def example() -> Any:
    path = ROOT / "docs/examples/ppo_hierarchical.py"
    spec = importlib.util.spec_from_file_location("ppo_hierarchical", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def check_example(figures: list[dict[str, float]], tuples: int) -> None:
    assert len(figures) == 3
    assert all(figure["tuples"] == tuples for figure in figures)
    assert all(np.isfinite(list(figure.values())).all() for figure in figures)
    assert figures[2]["muscle_loss"] < figures[0]["muscle_loss"]


@pytest.mark.slow
def test_the_original_programme_runs_in_one_file() -> None:
    check_example(example().train("Muscle-Walk-W18", 2, 16, 3, 1), 2 * 16)


@pytest.mark.slow
def test_the_original_programme_runs_with_sixteen_workers() -> None:
    check_example(example().train("Muscle-Walk-W18", 16, 8, 3, 1), 16 * 8)


PRIVATE_MEMORY = """
import importlib.util, sys
from pathlib import Path
if __name__ == "__main__":
    spec = importlib.util.spec_from_file_location("ppo_hierarchical", sys.argv[1])
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    envs = module.make_envs("Muscle-Walk-W18", 2, 8, 1, {})
    envs.reset(seed=1)
    for process in envs.processes:
        lines = Path(f"/proc/{process.pid}/smaps_rollup").read_text().splitlines()
        print(*[line.split()[1] for line in lines if "Private_Dirty" in line])
    envs.close()
"""
"""Prints the private memory of each worker process, kB."""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_workers_share_the_memory_of_imported_modules(tmp_path: Path) -> None:
    script = tmp_path / "private_memory.py"
    script.write_text(PRIVATE_MEMORY)
    example = ROOT / "docs/examples/ppo_hierarchical.py"
    done = subprocess.run(
        [sys.executable, str(script), str(example)],
        capture_output=True,
        text=True,
        timeout=600,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, done.stderr
    sizes = [int(line) for line in done.stdout.split()]
    # A process that imports PyTorch and MuJoCo itself has about 200 MB.
    assert len(sizes) == 2
    assert max(sizes) < 100_000


def run_example(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    path = ROOT / "docs/examples/ppo_hierarchical.py"
    place = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, str(path), *options]
    return subprocess.run(
        command,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=600,
        env=place,
    )


@pytest.mark.slow
def test_published_program_reads_a_settings_file(tmp_path: Path) -> None:
    path = tmp_path / "walk.yaml"
    path.write_text(
        "# Sizes.\nnum_envs: 2\nsteps: 8\niterations: 2\n"
        "episode_length_s: 0.1  # Of the task: three steps.\n"
    )
    found = run_example(tmp_path, "--env_file", str(path), "--iterations", "1")
    assert found.returncode == 0, found.stderr
    line = found.stdout.splitlines()[-1]
    # What is typed counts more than the file; two worlds of eight steps.
    assert line.startswith("1/1 ") and " tuples 16 " in line
    assert "Muscle loss" in (tmp_path / "ppo_hierarchical.svg").read_text("utf-8")
    # A part of the configuration arrives, and one that is not there is named.
    path.write_text("episode_lenght_s: 0.1\n")
    found = run_example(tmp_path, "--env_file", str(path))
    assert found.returncode != 0 and "episode_length_s" in found.stderr


def test_missing_settings_file_is_named_in_one_line() -> None:
    with pytest.raises(SystemExit) as caught:
        example().read_scalars(Path("missing.yaml"))
    assert str(caught.value) == "--env_file missing.yaml: no such file"


def test_settings_file_cannot_create_objects(tmp_path: Path) -> None:
    path, made = tmp_path / "walk.yaml", tmp_path / "made"
    path.write_text(f"seed: !!python/object/apply:os.mkdir ['{made}']\n")
    with pytest.raises(yaml.YAMLError, match="could not determine a constructor"):
        example().read_scalars(path)
    assert not made.exists()
    path.write_text("rewards: {effort: 1}\n")
    with pytest.raises(SystemExit, match="rewards is a dict; it has to be a number"):
        example().read_scalars(path)

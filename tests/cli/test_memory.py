"""Worlds that exceed the memory are refused before they are built."""

import ctypes
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import mujoco
import pytest
import torch

from mjlab import memory as machine
from mjlab.cli import memory, run_program, train
from mjlab.cli.memory import Need, available_memory, measure
from mjlab.envs import ManagerBasedRlEnv
from mjlab.memory import NotEnoughMemoryError
from mjlab.memory import _free_in_group as free_in_group
from mjlab.registry import load_task
from mjlab.sim.sizes import data_size
from tests.worlds.rl_runs import agent_cfg, env_cfg

GB = 2**30


def require(worlds: int, available: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available_memory", lambda device: available)
    memory.require_memory(env_cfg(worlds=worlds), agent_cfg(), "cpu")


def test_worlds_that_fit_are_accepted_up_to_the_suggested_number(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(NotEnoughMemoryError) as caught:
        require(40_000, GB, monkeypatch)
    said = str(caught.value)
    assert said.startswith("40000 worlds need about ")
    assert "and 1.0 GB are free on this machine. Memory per world is 0." in said
    found = re.search(r"(\d+) worlds fit: --env.scene.num-envs (\d+)\.$", said)
    assert found is not None and found[1] == found[2]
    fitting = int(found[1])
    require(fitting, GB, monkeypatch)
    with pytest.raises(NotEnoughMemoryError):
        require(fitting + 8, GB, monkeypatch)


def test_no_environment_is_built_when_memory_is_plentiful(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(memory, "measure", None)
    require(4096, 17 * GB, monkeypatch)


def test_processes_share_the_memory_of_a_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(memory, "available_memory", lambda device: GB)
    cfg = env_cfg(worlds=3000)
    memory.require_memory(cfg, agent_cfg(), "cpu")
    with pytest.raises(NotEnoughMemoryError, match="to each of 4 processes"):
        memory.require_memory(cfg, agent_cfg(), "cpu", processes=4)


def test_suggested_number_of_worlds_is_the_largest_multiple_of_eight_that_fits() -> (
    None
):
    need = Need(physics=1, managers=2, rollout=3, update=4, fixed=100)
    assert need.fitting(100 + 10 * 47) == 40
    assert need.fitting(100 + 10 * 48) == 48
    assert need.fitting(100 + 10 * 7) == 7


def test_a_single_world_does_not_fit_without_memory() -> None:
    need = Need(physics=10, managers=5, rollout=3, update=2, fixed=100)
    assert need.total(4) == 180
    assert need.fitting(99) == 0
    assert need.fitting(100 + 7 * 20) == 7
    assert need.fitting(100 + 31 * 20) == 24


def test_the_refusal_is_the_output_of_the_command_line_and_writes_no_files(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    monkeypatch.setattr(memory, "available_memory", lambda device: 3 * GB)
    line = ["Velocity-G1", "--env.scene.num-envs", "4096", "--device", "cpu"]
    assert run_program(train.main, [*line, "--logs", str(tmp_path)]) == 2
    complaint = capsys.readouterr().err
    assert complaint.startswith("error: 4096 worlds need about ")
    assert "3.0 GB are free on this machine" in complaint
    assert list(tmp_path.iterdir()) == []


def test_velocity_g1_with_4096_worlds_fits_into_16_gb() -> None:
    """4096 worlds of Velocity-G1 ran on a machine with 23 GB."""
    task = load_task("Velocity-G1")
    assert task.rl is not None
    need = measure(task.env(), task.rl(), "cpu")
    assert 2 * GB < need.total(4096) < 12 * GB
    # Rollout storage: 24 steps of observations, actions and seven scalars.
    observed, actions = 141 + 154, 15
    assert need.rollout == 24 * 4 * (observed + 3 * actions + 7)


def test_estimated_world_size_covers_mujocos_buffer_and_arena() -> None:
    model = mujoco.MjModel.from_xml_string(
        "<mujoco><worldbody><geom type='plane' size='1 1 1'/><body pos='0 0 .1'>"
        "<freejoint/><geom size='.1'/></body></worldbody></mujoco>"
    )
    data = mujoco.MjData(model)
    for _ in range(100):
        mujoco.mj_step(model, data)
    expected = data.nbuffer + data.maxuse_arena
    assert expected < data_size(model) < expected + 2**18


@pytest.mark.parametrize("worlds", [10**9, 10**8, 3 * 10**12])
def test_too_many_worlds_in_python_give_one_line_with_the_maximum(worlds: int) -> None:
    with pytest.raises(MemoryError) as caught:
        ManagerBasedRlEnv(env_cfg(worlds=worlds), device="cpu")
    said = str(caught.value)
    assert said.startswith(f"{worlds} worlds need at least ")
    assert said.endswith("scene.num_envs in Python, --num-envs on the command line.")
    fitting = re.search(r"enough for at most (\d+)", said)
    # Each world has an MjData, whose size without buffers is above 160 kB.
    assert fitting is not None
    assert 0 < int(fitting[1]) * 160_000 < os.sysconf("SC_PHYS_PAGES") * 2**12


LIMITED = """
import resource
from mjlab.envs import ManagerBasedRlEnv
from tests.worlds.rl_runs import env_cfg
ManagerBasedRlEnv(env_cfg(), device="cpu")
pages = int(open("/proc/self/statm").read().split()[0])
limit = pages * resource.getpagesize() + 2**28
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
print(f"{limit / 2**30:.1f}")
try:
    ManagerBasedRlEnv(env_cfg(worlds=10_000), device="cpu")
except MemoryError as error:
    print(error)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="Linux alone limits addresses")
def test_a_limit_of_the_shell_is_named_where_worlds_exceed_it() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LIMITED],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[2],
    )
    limit, said = done.stdout.splitlines()
    assert said == (
        f"10000 worlds do not fit into memory (ulimit -v allows {limit} GB). Use "
        "fewer worlds: scene.num_envs in Python, --num-envs on the command line."
    )


def fail_to_allocate() -> None:
    torch.empty(2**55, dtype=torch.uint8)


def fail_as_cpp() -> None:
    raise ValueError("std::bad_alloc")


def fail_as_python() -> None:
    bytearray(2**62)


def fail_as_cuda() -> None:
    raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 MiB.")


@pytest.mark.parametrize(
    ("fail", "size"),
    [
        (fail_to_allocate, f" (an allocation of {2**55 / 2**30:.2f} GB failed)"),
        (fail_as_cpp, ""),
        (fail_as_python, ""),
        (fail_as_cuda, " (an allocation of 20.00 MiB failed)"),
    ],
)
def test_out_of_memory_gives_one_line(
    fail: Callable[[], None], size: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_program(lambda arguments: fail(), []) == 2
    assert capsys.readouterr().err == (
        f"error: Out of memory{size}. Use fewer worlds: scene.num_envs in Python, "
        "--num-envs on the command line.\n"
    )


def test_free_memory_is_less_than_total_memory() -> None:
    there = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    assert 0 < available_memory("cpu") <= there


def test_free_memory_is_shown_in_units_of_1024_bytes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told = "MemTotal: 900 kB\nMemFree: 10 kB\nMemAvailable:     123 kB\n"
    monkeypatch.setattr(Path, "read_text", lambda self: told)
    assert machine._free_on_machine() == 123 * 1024


@pytest.mark.parametrize("version", [1, 2])
def test_the_memory_of_a_container_is_limited_by_its_cgroup(
    tmp_path: Path, version: int
) -> None:
    folder = tmp_path / "memory" if version == 1 else tmp_path
    folder.mkdir(exist_ok=True)
    names = {
        1: ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
        2: ("memory.max", "memory.current", "inactive_file"),
    }[version]
    (folder / names[0]).write_text("1000\n")
    (folder / names[1]).write_text("700\n")
    (folder / "memory.stat").write_text(f"anon 5\n{names[2]} 50\n")
    assert free_in_group(tmp_path) == 350
    (folder / names[0]).write_text("max\n")
    assert free_in_group(tmp_path) == 2**63


GROWTH = """
import re, sys
from pathlib import Path
from mjlab.cli.training import train
from mjlab.registry import load_task
task, root = load_task(sys.argv[1]), Path(sys.argv[3])
env, agent = task.env(), task.rl()
env.scene.num_envs = int(sys.argv[2])
agent.max_iterations, agent.evaluation.every, agent.num_steps_per_env = 2, 0, 8
agent.logging.tensorboard = False
train(env, agent, task="T", root=root, device="cpu")
# That of `getrusage` begins with what the process had that started this one.
print("PEAK", re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])
"""


@pytest.mark.slow
@pytest.mark.parametrize("name", ["Velocity-Go1-Flat", "Velocity-G1"])
def test_the_estimate_matches_the_memory_of_a_real_run(
    name: str, tmp_path: Path
) -> None:
    """Compared with the peak memory of two runs that differ only in their worlds."""
    peaks = []
    for worlds in (64, 320):
        command = [sys.executable, "-c", GROWTH, name, str(worlds), str(tmp_path)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        peaks.append(int(done.stdout.rpartition("PEAK")[2]) * 1024)
    task = load_task(name)
    assert task.rl is not None
    agent = task.rl()
    agent.num_steps_per_env = 8
    estimate = measure(task.env(), agent, "cpu").per_world
    real = (peaks[1] - peaks[0]) / 256
    print(f"{name}: estimate {estimate / 1024:.0f} KB, real {real / 1024:.0f} KB")
    assert 0.85 * real < estimate < 1.6 * real, f"estimate {estimate}, real {real}"


def test_flight_recorder_stores_two_keyframes_and_two_rollouts() -> None:
    agent, cfg = agent_cfg(), env_cfg()
    takes = {}
    for enabled in (False, True):
        agent.dumps.enabled = enabled
        for steps in (10, 30):
            agent.num_steps_per_env = steps
            takes[enabled, steps] = measure(cfg, agent, "cpu").managers
    # Of cart and pole: two positions, two velocities and one control.
    rows = [takes[True, n] - takes[False, n] for n in (10, 30)]
    assert rows[1] - rows[0] == 2 * 20 * 4 * (2 + 2 + 1)
    assert takes[False, 10] == takes[False, 30]


FREED = """
import ctypes
from mjlab.cli.memory import keep_freed_memory

class Info(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in "heap b c d e f g h i j".split()]

libc = ctypes.CDLL(None)
libc.mallinfo2.restype, libc.malloc.restype = Info, ctypes.c_void_p
libc.free.argtypes = [ctypes.c_void_p]

def grown():
    "Megabytes by which the heap has grown when a large block is freed again."
    libc.malloc_trim(0)  # What is free at its end would serve a part of the block.
    before = libc.mallinfo2().heap
    libc.free(libc.malloc(30 * 2**20))
    return libc.mallinfo2().heap - before >> 20

given_back = grown()
keep_freed_memory()
print(given_back, grown())
"""


@pytest.mark.skipif(
    sys.platform != "linux" or not hasattr(ctypes.CDLL(None), "mallinfo2"),
    reason="this C library does not say",
)
def test_memory_freed_during_training_is_kept_for_reuse() -> None:
    program = [sys.executable, "-c", FREED]
    done = subprocess.run(program, capture_output=True, text=True, check=True)
    given_back, kept = map(int, done.stdout.split())
    assert given_back < 5
    assert kept >= 29

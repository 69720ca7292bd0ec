"""What recording episodes costs, beside the step itself.

    python bench/recording.py --num-envs 256 --steps 2000

Two environments of the same task take turns in blocks of steps: one is recorded, the
other is not. Before each block the writer has nothing left to do, so that the blocks
that are not recorded are not disturbed; how long that took counts as a part of the
recorded block before it in `share_of_step_with_wait`. Worlds are at different moments
of their episodes, so that some end in most steps.
"""

import argparse
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from mjlab.threads import prepare_threads, torch_threads

prepare_threads()

import torch

from bench.record import save
from mjlab.wrappers import RecordEpisode, TorchVectorEnv
from tasks.gym import make_worlds


def main() -> None:
    """Measure, print and save."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--task", default="Cartpole-Balance")
    parser.add_argument("--num-envs", type=int, default=256)
    parser.add_argument("--steps", type=int, default=2000, help="recorded steps")
    parser.add_argument("--block", type=int, default=100, help="steps of a block")
    parser.add_argument("--backend", default="native", choices=("native", "warp"))
    args = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="mjlab-recording-"))
    try:
        with torch_threads(1):
            figures = measure(args, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    name = args.task.lower().removesuffix("-balance")
    path = save(f"recording_{name}_{args.num_envs}", figures)
    for key, value in figures.items():
        print(f"{key}: {value:.4g}" if isinstance(value, float) else f"{key}: {value}")
    print(f"saved {path}")


def measure(args: argparse.Namespace, folder: Path) -> dict[str, object]:
    """All figures."""
    plain = build(args)
    bare = build(args)
    recorded = RecordEpisode(bare, folder, save_video=False, trajectory_name="run")
    recording = recorded._trajectories
    assert recording is not None, "Trajectories are on."
    for env in (plain, recorded):
        env.reset(seed=0)
        stagger(env)
    writer = recording.recording.writer_pid
    assert writer is not None, "The writer runs."
    random = torch.Generator().manual_seed(0)
    shape = plain.action_space.shape
    assert shape is not None, "The task has one action term."
    pairs, times, waits, memory = [], [], [], []
    for _ in range(args.steps // args.block):
        actions = torch.rand((args.block, *shape), generator=random) * 2.0 - 1.0
        own = sum(run(plain, actions))
        spent = run(recorded, actions)
        start = time.perf_counter()
        recording.recording.show()
        waits.append(time.perf_counter() - start)
        times += spent
        pairs.append((own, sum(spent)))
        memory.append((resident("self"), resident(str(writer))))
    start = time.perf_counter()
    recorded.close()
    closing = time.perf_counter() - start
    plain.close()
    shares = [ours / own - 1.0 for own, ours in pairs]
    waited = [(o + w) / own - 1.0 for (own, o), w in zip(pairs, waits, strict=True)]
    half = len(memory) // 2
    return {
        "task": args.task,
        "num_envs": args.num_envs,
        "engine": args.backend,
        "torch_threads": 1,
        "steps": len(times),
        "block": args.block,
        "step_ms": 1e3 * sum(own for own, _ in pairs) / len(times),
        "recorded_step_ms": 1e3 * statistics.fmean(times),
        "share_of_step": statistics.median(shares),
        "share_of_step_quartiles": statistics.quantiles(shares, n=4)[::2],
        "share_of_step_total": sum(o for _, o in pairs) / sum(p for p, _ in pairs) - 1,
        "share_of_step_with_wait": statistics.median(waited),
        "last_100_over_first_100": statistics.fmean(times[-100:])
        / statistics.fmean(times[:100]),
        "last_100_over_first_100_of_medians": statistics.median(times[-100:])
        / statistics.median(times[:100]),
        "resident_growth_mb": (memory[-1][0] - memory[0][0]) / 2**20,
        "resident_growth_of_second_half_mb": (memory[-1][0] - memory[half][0]) / 2**20,
        "writer_resident_mb": memory[-1][1] / 2**20,
        "writer_growth_of_second_half_mb": (memory[-1][1] - memory[half][1]) / 2**20,
        "close_s": closing,
        "episodes": recorded.totals["episodes"],
        "file_mb": (folder / "run.h5").stat().st_size / 2**20,
    }


def build(args: argparse.Namespace) -> TorchVectorEnv:
    """Worlds of the task."""
    worlds = make_worlds(args.task, args.num_envs, seed=0, backend=args.backend)
    return TorchVectorEnv(worlds)


def stagger(env: TorchVectorEnv | RecordEpisode) -> None:
    """Have the worlds' episodes end at different times."""
    base = env.unwrapped
    assert isinstance(base, TorchVectorEnv), "Below all wrappers is such a form."
    inner = base.worlds.env  # pyright: ignore[reportAttributeAccessIssue]
    lengths = torch.arange(inner.num_envs, device=inner.device)
    lengths = lengths * inner.max_episode_length // inner.num_envs
    inner.episode_length_buf.copy_(lengths)


def run(env: TorchVectorEnv | RecordEpisode, actions: torch.Tensor) -> list[float]:
    """Seconds of each step."""
    times = []
    for action in actions.to(env.device):
        start = time.perf_counter()
        env.step(action)
        if env.device.type == "cuda":
            torch.cuda.synchronize(env.device)
        times.append(time.perf_counter() - start)
    return times


def resident(pid: str) -> int:
    """Bytes of memory that a process holds."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * 4096


if __name__ == "__main__":
    main()

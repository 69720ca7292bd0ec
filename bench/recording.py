"""Cost of recording episodes, relative to a step.

    python bench/recording.py --num-envs 256 --steps 2000

Blocks of steps of two environments of the same task alternate, with and without
recording. A recorded block is compared with the mean of the blocks before and after it,
so that slow changes of the machine's load cancel. Each block starts after the writer
has finished, so unrecorded blocks are not disturbed; this waiting time is included in
the recorded block in `share_of_step_with_wait`. Worlds are at different steps of their
episodes, so some episodes end in most steps.
"""

import argparse
import itertools
import shutil
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from mjlab.threads import prepare_threads, torch_threads

prepare_threads()

import torch

from bench.record import save
from mjlab.gym import TorchVectorEnv
from mjlab.gym.build import make_worlds
from mjlab.replay import RecordEpisode


def main() -> None:
    """Run the measurement, print the figures and save them."""
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


@dataclass
class Turns:
    """Times and memory use of the alternating blocks."""

    plain_s: list[float] = field(default_factory=list)
    """Duration of each unrecorded block, s; one more than there are recorded blocks."""

    spent_s: list[float] = field(default_factory=list)
    """Duration of each recorded block, s."""

    waits_s: list[float] = field(default_factory=list)
    """Seconds until the writer had finished."""

    own_bytes: list[int] = field(default_factory=list)
    """Memory of this process, bytes."""

    writer_bytes: list[int] = field(default_factory=list)
    """Memory of the writer process, bytes."""


def measure(args: argparse.Namespace, folder: Path) -> dict[str, object]:
    """Run the blocks, and return cost, memory growth and file size of recording."""
    plain = build(args)
    bare = build(args)
    recorded = RecordEpisode(bare, folder, save_video=False, trajectory_name="run")
    for env in (plain, recorded):
        env.reset(seed=0)
        stagger(env)
    turns = take_turns(args, plain, recorded)
    start = time.perf_counter()
    recorded.close()
    closing = time.perf_counter() - start
    plain.close()
    steps = len(turns.spent_s) * args.block
    return {
        "task": args.task,
        "num_envs": args.num_envs,
        "engine": args.backend,
        "torch_threads": 1,
        "steps": steps,
        "block": args.block,
        **shares(turns, steps, blocks=max(1, 100 // args.block)),
        "resident_growth_mb": growth_mb(turns.own_bytes),
        "resident_growth_of_second_half_mb": growth_mb(second_half(turns.own_bytes)),
        "writer_resident_mb": turns.writer_bytes[-1] / 2**20,
        "writer_growth_of_second_half_mb": growth_mb(second_half(turns.writer_bytes)),
        "close_s": closing,
        "episodes": recorded.totals["episodes"],
        "file_mb": (folder / "run.h5").stat().st_size / 2**20,
    }


def take_turns(
    args: argparse.Namespace, plain: TorchVectorEnv, recorded: RecordEpisode
) -> Turns:
    """Run blocks of random steps without and with recording; return their figures."""
    trajectories = recorded._trajectories
    assert trajectories is not None, "Trajectories are on."
    recorder = trajectories.recorder
    random = torch.Generator().manual_seed(0)
    shape = plain.action_space.shape
    assert shape is not None, "The task has one action term."
    turns = Turns()
    for index in range(args.steps // args.block + 1):
        actions = torch.rand((args.block, *shape), generator=random) * 2.0 - 1.0
        turns.plain_s.append(run(plain, actions))
        if index == args.steps // args.block:
            return turns
        turns.spent_s.append(run(recorded, actions))
        start = time.perf_counter()
        recorder.save()
        turns.waits_s.append(time.perf_counter() - start)
        turns.own_bytes.append(resident("self"))
        turns.writer_bytes.append(resident(str(recorder.writer.pid)))
    return turns


def shares(turns: Turns, steps: int, blocks: int) -> dict[str, object]:
    """Return the cost of recording as a fraction of a step, and its growth.

    Args:
        turns: The measured blocks.
        steps: Recorded steps.
        blocks: Number of blocks to compare at both ends.
    """
    spent = turns.spent_s
    beside = [statistics.fmean(pair) for pair in itertools.pairwise(turns.plain_s)]
    each = [ours / own - 1.0 for ours, own in zip(spent, beside, strict=True)]
    waited = [
        (ours + wait) / own - 1.0
        for ours, wait, own in zip(spent, turns.waits_s, beside, strict=True)
    ]
    first = sum(spent[:blocks]) / sum(beside[:blocks])
    last = sum(spent[-blocks:]) / sum(beside[-blocks:])
    return {
        "step_ms": 1e3 * sum(beside) / steps,
        "recorded_step_ms": 1e3 * sum(spent) / steps,
        "share_of_step": statistics.median(each),
        "share_of_step_quartiles": statistics.quantiles(each, n=4)[::2],
        "share_of_step_total": sum(spent) / sum(beside) - 1.0,
        "share_of_step_with_wait": statistics.median(waited),
        "last_100_over_first_100": sum(spent[-blocks:]) / sum(spent[:blocks]),
        "last_100_over_first_100_beside_unrecorded": last / first,
    }


def growth_mb(figures: list[int]) -> float:
    """Return the increase from the first to the last value, MB."""
    return (figures[-1] - figures[0]) / 2**20


def second_half(figures: list[int]) -> list[int]:
    """Return the second half of the list."""
    return figures[len(figures) // 2 :]


def build(args: argparse.Namespace) -> TorchVectorEnv:
    """Create the vector environment of the task."""
    worlds = make_worlds(args.task, args.num_envs, seed=0, backend=args.backend)
    return TorchVectorEnv(worlds)


def stagger(env: TorchVectorEnv | RecordEpisode) -> None:
    """Make the worlds' episodes end at different times."""
    base = env.unwrapped
    assert isinstance(base, TorchVectorEnv), "The innermost environment has this form."
    inner = base.worlds.env  # pyright: ignore[reportAttributeAccessIssue]
    lengths = torch.arange(inner.num_envs, device=inner.device)
    lengths = lengths * inner.max_episode_length // inner.num_envs
    inner.episode_length_buf.copy_(lengths)


def run(env: TorchVectorEnv | RecordEpisode, actions: torch.Tensor) -> float:
    """Return the duration of the steps, in seconds."""
    placed = actions.to(env.device)
    start = time.perf_counter()
    for action in placed:
        env.step(action)
    if env.device.type == "cuda":
        torch.cuda.synchronize(env.device)
    return time.perf_counter() - start


def resident(pid: str) -> int:
    """Return the memory of a process, in bytes."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * 4096


if __name__ == "__main__":
    main()

"""Compare the step speeds of two checkouts in alternating blocks.

    git worktree add ../before main~1
    python bench/paired.py ../before .
    python bench/paired.py ../before . --points Velocity-G1-Flat:256 --pairs 30
    python bench/paired.py ../before . --points Velocity-G1-Flat:2048:update --steps 1

Each checkout steps the same task in a separate process, with the same seed and actions;
one waits while the other runs, and the order alternates between pairs. The ratio of a
pair is the speed of the second checkout divided by the first, so slow changes of the
machine's load cancel. The default points are those of `bench/env.py` and
`bench/velocity.py`; any registered task is valid. With `:update`, the update of the
task's CPU learner is measured, once per step, always from the same rollout.
"""

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from bench.record import save
from mjlab.cli.progress import tell_progress

WORKER = Path(__file__).with_name("paired_worker.py")
POINTS = (
    "Cartpole-Balance:1024",
    "synthetic:1024",
    "Velocity-Go1-Flat:256",
    "Velocity-G1-Flat:256",
    "Velocity-Go1:256",
    "Velocity-G1:256",
)
# Physics uses all processors; more torch threads would slow it down.
THREADS = {"OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "passive", "GOMP_SPINCOUNT": "0"}


class Side:
    """Worlds of a checkout, stepped in a separate process."""

    def __init__(self, checkout: Path, point: str, threads: int | None) -> None:
        """Start the process, and build the worlds of a point, TASK:WORLDS[:update]."""
        task, number, *more = point.split(":")
        if more not in ([], ["update"]):
            raise ValueError(f"{point!r} has to be TASK:WORLDS or TASK:WORLDS:update.")
        settings = {
            "task": task,
            "num_envs": int(number),
            "threads": threads,
            "updates": more == ["update"],
        }
        self._process = subprocess.Popen(
            [sys.executable, str(WORKER), json.dumps(settings)],
            cwd=checkout,
            env=os.environ | THREADS | {"PYTHONPATH": str(checkout)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._answer()

    def run(self, steps: int) -> tuple[float, float]:
        """Return the wall time and the processor time per step in a block, s."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{steps}\n")
        self._process.stdin.flush()
        passed, processor = self._answer()
        return passed / steps, processor / steps

    def close(self) -> None:
        """End the worker process."""
        self._process.communicate()

    def _answer(self) -> list[float]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(
                f"A worker process ended with code {self._process.wait()}."
            )
        return json.loads(line)


def compare(
    before: Path,
    after: Path,
    point: str,
    *,
    pairs: int,
    steps: int,
    threads: int | None = None,
) -> dict[str, Any]:
    """Measure pairs of blocks of a task in two checkouts, after a warm-up pair."""
    sides = [Side(place, point, threads) for place in (before, after)]
    times: list[list[tuple[float, float]]] = []
    tell = tell_progress(point, "pair", every=1)
    for pair in range(pairs + 1):
        order = (0, 1) if pair % 2 else (1, 0)
        found = {index: sides[index].run(steps) for index in order}
        times.append([found[0], found[1]])
        tell(pair, pairs)
    for side in sides:
        side.close()
    return {
        "num_envs": int(point.split(":")[1]),
        "before_step_ms": 1e3 * statistics.median(a[0] for a, _ in times[1:]),
        "after_step_ms": 1e3 * statistics.median(b[0] for _, b in times[1:]),
        "speed": ratio_figures([a[0] / b[0] for a, b in times[1:]]),
        "speed_by_processor_time": ratio_figures([a[1] / b[1] for a, b in times[1:]]),
    }


def ratio_figures(ratios: Sequence[float]) -> dict[str, Any]:
    """Median of the ratios, with its 95 % interval, and all ratios."""
    ranked = sorted(ratios)
    rank = median_rank(len(ranked))
    return {
        "median": statistics.median(ranked),
        "interval": [ranked[rank - 1], ranked[-rank]],
        "pairs": list(ratios),
    }


def median_rank(number: int, confidence: float = 0.95) -> int:
    """Return the rank of the values that enclose the true median at 95 %.

    The rank counts from either end. Each value is above the true median with
    probability 1/2, for any distribution. With fewer than six values the confidence is
    lower; then the rank is 1.
    """
    below, rank = 0.0, 0
    while rank <= number // 2:
        below += math.comb(number, rank) / 2.0**number
        if 2.0 * below > 1.0 - confidence:
            break
        rank += 1
    return max(rank, 1)


def commit_of(checkout: Path) -> dict[str, Any]:
    """Return the commit of a checkout, and whether its files are modified."""
    found = [
        subprocess.run(
            ["git", "-C", str(checkout), *arguments],
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for arguments in (("rev-parse", "HEAD"), ("status", "--porcelain"))
    ]
    return {"commit": found[0], "changed": bool(found[1])}


def main() -> None:
    """Run the measurement, print the figures and save them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("before", type=Path, help="folder of a checkout")
    parser.add_argument("after", type=Path, help="folder of another checkout")
    parser.add_argument(
        "--points", nargs="+", default=list(POINTS), metavar="TASK:WORLDS[:update]"
    )
    parser.add_argument("--pairs", type=int, default=30, help="pairs of blocks")
    parser.add_argument("--steps", type=int, default=10, help="steps of a block")
    parser.add_argument("--threads", type=int, help="physics threads; default: all")
    parser.add_argument("--name", default="paired", help="name of the results file")
    args = parser.parse_args()
    before, after = args.before.resolve(), args.after.resolve()
    figures: dict[str, Any] = {
        "before": commit_of(before),
        "after": commit_of(after),
        "load_before": os.getloadavg(),
        "pairs": args.pairs,
        "steps_per_block": args.steps,
        "threads": args.threads,
        "torch_threads": 1,
        "points": {},
    }
    for point in args.points:
        found = compare(
            before,
            after,
            point,
            pairs=args.pairs,
            steps=args.steps,
            threads=args.threads,
        )
        figures["points"][point] = found
        print(described(point, found), flush=True)
        # Saved here, so that an interruption affects only one point.
        save(args.name, figures)
    print(f"saved {save(args.name, figures | {'load_after': os.getloadavg()})}")


def described(point: str, found: dict[str, Any]) -> str:
    """Return the figures of a point on one line."""
    low, high = found["speed"]["interval"]
    processor = found["speed_by_processor_time"]
    return (
        f"{point}: {found['speed']['median']:.3f} times the speed before (95 %: "
        f"{low:.3f} to {high:.3f}), by processor time {processor['median']:.3f} "
        f"({processor['interval'][0]:.3f} to {processor['interval'][1]:.3f}); "
        f"{found['before_step_ms']:.2f} ms per step before, "
        f"{found['after_step_ms']:.2f} ms after"
    )


if __name__ == "__main__":
    main()

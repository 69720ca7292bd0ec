"""Cartpole steps per second of several implementations, with 1 to 2^20 worlds.

    python bench/cartpole_scaling.py --quick
    python bench/cartpole_scaling.py
    python bench/cartpole_scaling.py --only kernel gym-vector --counts 1024 16384

All implementations take prepared random actions, and the time includes resets. At each
number of worlds all implementations are measured, so that other load on the machine
affects all of them. Results are saved after each point, so the same command resumes an
interrupted study.
"""

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from mjlab.threads import prepare_threads, torch_threads

prepare_threads()

import torch

from bench.record import RESULTS
from bench.study.bandwidth import bandwidth
from bench.study.cartpole_report import report
from bench.study.contenders import Contender, contenders
from bench.study.memory import free_bytes, needs, refuse_if_too_large
from bench.study.points import Point, measure
from bench.study.progress import Progress
from bench.study.store import Store
from mjlab.cli.answers import UsageError, run_program
from mjlab.names import UnknownNameError, suggest

COUNTS = tuple(4**power for power in range(11))
"""1 to 2^20."""

GPU_COUNTS = tuple(4**power for power in range(13))
"""1 to 2^24."""

QUICK_COUNTS = (1, 64, 1024, 2**14)
BLOCKS = (1, 4, 16, 32, 64, 128, 256, 512, 1024)
"""Block sizes compared on a CUDA device, in threads."""

BLOCK_WORLDS = 2**18
"""Number of worlds at which they are compared."""

PATIENCE = 20.0
"""A point that would take longer than this multiple of its time share is omitted."""


def parser() -> argparse.ArgumentParser:
    """The command line."""
    found = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    found.add_argument("--counts", type=int, nargs="+", help="numbers of worlds")
    found.add_argument(
        "--only", nargs="+", metavar="NAME", help="implementations to measure"
    )
    found.add_argument(
        "--without", nargs="+", metavar="NAME", help=("implementations to omit")
    )
    found.add_argument("--threads-per-block", type=int, nargs="+", metavar="N")
    found.add_argument("--device", help='such as "cpu"; default: a GPU if available')
    found.add_argument("--seconds", type=float, help="seconds per point")
    found.add_argument("--repeats", type=int, default=5)
    found.add_argument("--quick", action="store_true", help="few, short points")
    found.add_argument("--fresh", action="store_true", help="replace earlier results")
    found.add_argument("--out", type=Path, help="folder for JSON, table, charts, page")
    return found


def main(arguments: Sequence[str]) -> None:
    """Measure the missing points, and write and print all results."""
    args = parser().parse_args(arguments)
    device = choose_device(args.device)
    chosen = choose(contenders(device), args.only, args.without)
    counts = choose_counts(args, chosen, device)
    check(args)
    seconds = args.seconds or (0.2 if args.quick else 1.0)
    name = "cartpole_quick" if args.quick else "cartpole"
    out = args.out or RESULTS / name
    settings = {"device": str(device), "seconds": seconds, "repeats": args.repeats}
    store = Store(out / "scaling.json", settings, fresh=args.fresh)
    if store.resumed:
        print(f"{store.resumed} results already exist in {store.path}.")
    blocks = tuple(args.threads_per_block or (BLOCKS if device.type == "cuda" else ()))
    with torch_threads(1):
        Sweep(store, device, seconds, args.repeats).run(chosen, counts, blocks)
    if "bandwidth" not in store.record:
        store.record["bandwidth"] = bandwidth(device)
        store.save()
    print(report(store, chosen, out))


def choose_device(name: str | None) -> torch.device:
    """Return the requested device, or a GPU if available."""
    if name is None:
        return torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
    except RuntimeError:
        raise UsageError(f"--device {name!r}. Valid: 'cpu', 'cuda:<index>'.") from None
    if device.type == "cuda" and not torch.cuda.is_available():
        raise UsageError(f"--device {name!r}, but PyTorch sees no CUDA device.")
    return device


def choose(
    known: dict[str, Contender], only: list[str] | None, without: list[str] | None
) -> list[Contender]:
    """Return the requested contenders; raise for unknown names."""
    for name in [*(only or ()), *(without or ())]:
        if name not in known:
            hint = suggest(name, list(known))
            raise UnknownNameError(f"There is no contender {name!r}. {hint}")
    names = [name for name in only or known if name not in (without or ())]
    if not names:
        raise UsageError("No contender is left to measure.")
    return [known[name] for name in dict.fromkeys(names)]


def choose_counts(
    args: argparse.Namespace, chosen: Sequence[Contender], device: torch.device
) -> list[int]:
    """Return numbers of worlds in order; raise for impossible ones."""
    if args.counts is None:
        if args.quick:
            return list(QUICK_COUNTS)
        return list(GPU_COUNTS if device.type == "cuda" else COUNTS)
    for count in args.counts:
        if count < 1:
            raise UsageError(f"--counts {count}: a number of worlds is 1 or more.")
        for contender in chosen:
            if contender.absent is None and not over_most(contender, count):
                free = free_bytes(device)
                each = contender.bytes_per_world
                refuse_if_too_large(contender.name, count, each, free)
    return sorted(set(args.counts))


def over_most(contender: Contender, count: int) -> bool:
    """Return whether a number of worlds is beyond the contender's limit."""
    return contender.most is not None and count > contender.most


def check(args: argparse.Namespace) -> None:
    """Raise for invalid options."""
    if args.repeats < 1:
        raise UsageError(f"--repeats {args.repeats} has to be 1 or more.")
    if args.seconds is not None and not args.seconds > 0:
        raise UsageError(f"--seconds {args.seconds} has to be above 0.")
    for threads in args.threads_per_block or ():
        if not 1 <= threads <= 1024:
            raise UsageError(f"--threads-per-block {threads} has to be from 1 to 1024.")


class Sweep:
    """Measures the missing points."""

    def __init__(
        self, store: Store, device: torch.device, seconds: float, repeats: int
    ) -> None:
        self._store = store
        self._device = device
        self._seconds = seconds
        self._repeats = repeats

    def run(
        self, chosen: Sequence[Contender], counts: Sequence[int], blocks: Sequence[int]
    ) -> None:
        """Measure every contender at every number of worlds, then block sizes."""
        todo = [(c, n, None) for n in counts for c in chosen if c.absent is None]
        todo += [
            (c, min(BLOCK_WORLDS, max(counts)), threads)
            for threads in blocks
            for c in chosen
            if c.has_blocks and c.absent is None
        ]
        absent = {c.name: c.absent for c in chosen if c.absent is not None}
        self._store.record["absent"] = absent
        self._store.save()
        progress = Progress(len(todo))
        for contender, count, threads in todo:
            key = key_of(contender.name, count, threads)
            if key in self._store.results:
                progress.done(key, measured=False)
                continue
            progress.show(key)
            result = self._result(contender, count, threads)
            self._store.add(key, result)
            progress.done(f"{key}: {said(result)}")
        progress.close()

    def _result(
        self, contender: Contender, count: int, threads: int | None
    ) -> dict[str, Any]:
        reason = self._why_not(contender, count)
        if reason is not None:
            return {"left_out": reason}
        start = time.perf_counter()
        run = contender.make(count, self._device, threads or 256)
        try:
            run.wait()
            build_s = time.perf_counter() - start
            point = measure(
                run,
                count,
                seconds=self._seconds,
                repeats=self._repeats,
                build_s=build_s,
            )
        finally:
            run.close()
        return point.to_data()

    def _why_not(self, contender: Contender, count: int) -> str | None:
        """Return the reason to omit a point, or None."""
        if over_most(contender, count):
            return (
                f"each world needs a process, and {contender.most} is the maximum here"
            )
        free = free_bytes(self._device)
        reason = needs(contender.name, count, contender.bytes_per_world, free)
        return reason or self._too_slow(contender, count)

    def _too_slow(self, contender: Contender, count: int) -> str | None:
        """Return the reason if a point would take too long, by extrapolation."""
        smaller = [
            Point.from_data(result)
            for key, result in self._store.results.items()
            if key.startswith(f"{contender.name}/") and "left_out" not in result
        ]
        before = sorted(
            (point for point in smaller if point.num_envs < count),
            key=lambda point: point.num_envs,
        )
        if not before:
            return None
        largest = before[-1]
        # One initial step, one per repeat, and four to count resets.
        steps = (6 + self._repeats) * largest.seconds
        expected = count / largest.num_envs * steps
        if len(before) > 1:
            # The time of the first point is mostly the loading of libraries.
            expected += count / largest.num_envs * largest.build_s
        if expected <= PATIENCE * self._seconds + 5.0:
            return None
        return f"it would take about {expected:,.0f} s"


def key_of(name: str, count: int, threads: int | None) -> str:
    """Return the key of a result."""
    return f"{name}/{count}" if threads is None else f"{name}/{count}/block{threads}"


def said(result: dict[str, Any]) -> str:
    """Return a summary of a result."""
    if "left_out" in result:
        return f"omitted, {result['left_out']}"
    return f"{result['samples_per_s']:,.0f} samples/s"


if __name__ == "__main__":
    sys.exit(run_program(main))

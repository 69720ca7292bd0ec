"""Cartpole steps per second of several implementations, with 1 to 2^20 worlds.

    python bench/cartpole_scaling.py --quick
    python bench/cartpole_scaling.py --only kernel gym-vector --counts 1024 16384

This is the first part of `cartpole_study.py`.

Actions are random and drawn in advance; resets are included in the time. All
implementations are measured at one number of worlds before the next, so that background
load affects all of them alike. Results are saved after each point, so the same command
resumes an interrupted study.
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

from bench.study.cartpole_report import report
from bench.study.contenders import Contender, contenders
from bench.study.memory import needs, refuse_if_too_large
from bench.study.points import Point, measure
from bench.study.store import Store, folders, show_progress, study_parser
from mjlab.cli.answers import UsageError, run_program
from mjlab.cli.memory import available_memory
from mjlab.names import UnknownNameError, suggest

COUNTS = tuple(4**power for power in range(11))
"""Numbers of worlds on a CPU, 1 to 2^20."""

GPU_COUNTS = tuple(4**power for power in range(13))
"""Numbers of worlds on a GPU, 1 to 2^24."""

QUICK_COUNTS = (1, 64, 1024, 2**14)
BLOCKS = (1, 4, 16, 32, 64, 128, 256, 512, 1024)
"""Block sizes compared on a CUDA device, in threads."""

BLOCK_WORLDS = 2**18
"""Number of worlds at which block sizes are compared."""

PATIENCE = 20.0
"""A point is omitted if it would take longer than this multiple of --seconds."""


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    found = study_parser(__doc__)
    found.add_argument("--counts", type=int, nargs="+", help="numbers of worlds")
    found.add_argument("--only", nargs="+", metavar="NAME", help="implementations")
    found.add_argument("--threads-per-block", type=int, nargs="+", metavar="N")
    found.add_argument("--device", help='such as "cpu"; default: a GPU if available')
    found.add_argument("--seconds", type=float, help="seconds per point")
    found.add_argument("--repeats", type=int, default=5)
    return found


def main(arguments: Sequence[str]) -> None:
    """Measure the missing points, and write and print all results."""
    args = parser().parse_args(arguments)
    device = choose_device(args.device)
    chosen = choose(contenders(device), args.only)
    counts = choose_counts(args, chosen, device)
    check(args)
    seconds = args.seconds or (0.2 if args.quick else 1.0)
    out, charts = folders(args)
    settings = {"device": str(device), "seconds": seconds, "repeats": args.repeats}
    store = Store(out / "scaling.json", settings, fresh=args.fresh)
    if store.resumed:
        print(f"{store.resumed} results already exist in {store.path}.")
    blocks = tuple(args.threads_per_block or (BLOCKS if device.type == "cuda" else ()))
    with torch_threads(1):
        Sweep(store, device, seconds, args.repeats).run(chosen, counts, blocks)
    print(report(store, chosen, out, charts))


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


def choose(known: dict[str, Contender], only: list[str] | None) -> list[Contender]:
    """Return the contenders of --only, or all; an unknown name is an error."""
    for name in only or ():
        if name not in known:
            hint = suggest(name, list(known))
            raise UnknownNameError(f"There is no contender {name!r}. {hint}")
    return [known[name] for name in dict.fromkeys(only or known)]


def choose_counts(
    args: argparse.Namespace, chosen: Sequence[Contender], device: torch.device
) -> list[int]:
    """Return numbers of worlds in order; raise if one is below 1 or too large."""
    if args.counts is None:
        if args.quick:
            return list(QUICK_COUNTS)
        return list(GPU_COUNTS if device.type == "cuda" else COUNTS)
    for count in args.counts:
        if count < 1:
            raise UsageError(
                f"--counts {count}: the number of worlds has to be 1 or more."
            )
        for contender in chosen:
            if contender.absent is None and not over_most(contender, count):
                free = available_memory(str(device))
                each = contender.bytes_per_world
                refuse_if_too_large(contender.name, count, each, free)
    return sorted(set(args.counts))


def over_most(contender: Contender, count: int) -> bool:
    """True if a number of worlds is beyond the contender's limit."""
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
    """Measures the points that are not in the store yet."""

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
        for contender, count, threads in todo:
            key = key_of(contender.name, count, threads)
            if key not in self._store.results:
                result = self._result(contender, count, threads)
                self._store.add(key, result)
                show_progress(f"{key}: {said(result)}")

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
            return f"each world is a process, and at most {contender.most} are measured"
        free = available_memory(str(self._device))
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
            # The time of the first point is mostly spent on loading libraries.
            expected += count / largest.num_envs * largest.build_s
        if expected <= PATIENCE * self._seconds + 5.0:
            return None
        return f"it would take about {expected:,.0f} s"


def key_of(name: str, count: int, threads: int | None) -> str:
    """Return the key of a result: NAME/WORLDS, and /blockTHREADS for block sizes."""
    return f"{name}/{count}" if threads is None else f"{name}/{count}/block{threads}"


def said(result: dict[str, Any]) -> str:
    """Return a summary of a result."""
    if "left_out" in result:
        return f"omitted, {result['left_out']}"
    return f"{result['samples_per_s']:,.0f} samples/s"


if __name__ == "__main__":
    sys.exit(run_program(main))

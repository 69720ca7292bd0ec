"""Recommended number of worlds for a task, from the speed at increasing numbers.

    python scripts/bench.py scaling Velocity-G1-Flat
    python scripts/bench.py scaling Cartpole-Balance --engine warp --counts 64 256 1024

At each number of worlds, blocks of environment steps alternate with blocks of the same
engine calls, from the same states. Results are saved after each point, so the same
command resumes an interrupted study.
"""

import argparse
import gc
import statistics
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
from bench.study.advice import Advice, Limit, advise, limit_of
from bench.study.memory import needs, refuse_if_too_large
from bench.study.store import Store, show_progress
from bench.study.table import markdown
from mjlab.cli import speed
from mjlab.cli.answers import UsageError, run_program
from mjlab.cli.memory import available_memory
from mjlab.envs import ManagerBasedRlEnv
from mjlab.registry import load_task
from mjlab.report.chart import Chart, ChartLine
from mjlab.sim.backend import resolve_backend

COUNTS = tuple(2**power for power in range(15))
"""Numbers of worlds on a CPU, 1 to 16384."""

GPU_COUNTS = tuple(2**power for power in range(6, 18))
"""Numbers of worlds on a GPU, 64 to 131072."""

FIRST_GUESS = 1_000_000
"""Estimated bytes per world, until measured."""

EXPLAINED = {
    "physics": (
        "physics takes most of a step, so more processors or a smaller model would "
        "help, but more worlds do not"
    ),
    "managers": (
        "operations outside physics take most of a step: see the profile of "
        "`bench.py TASK`"
    ),
    "memory": "more worlds do not fit into memory, and the rate was still increasing",
    "time": (
        "more worlds were omitted because they would take too long, and the rate was "
        "still increasing"
    ),
}


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    found = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    found.add_argument("task", help="a registered task")
    found.add_argument("--engine", choices=("auto", "native", "warp"), default="auto")
    found.add_argument("--device", help='such as "cpu" or "cuda:1"')
    found.add_argument("--counts", type=int, nargs="+", help="numbers of worlds")
    found.add_argument("--blocks", type=int, default=5, help="pairs of blocks")
    found.add_argument("--seconds", type=float, default=1.0, help="for one block")
    found.add_argument("--limit", type=float, default=90.0, help="seconds per count")
    found.add_argument("--fresh", action="store_true", help="discard old results")
    found.add_argument("--out", type=Path, help="folder for JSON and chart")
    return found


def main(arguments: Sequence[str]) -> None:
    """Measure the missing points, and print conclusions."""
    args = parser().parse_args(arguments)
    check(args)
    load_task(args.task)  # Check the names before measuring.
    backend = resolve_backend(args.engine, args.device)
    out = args.out or RESULTS / "scaling" / f"{args.task.lower()}_{backend.engine}"
    settings = {
        "task": args.task,
        "engine": backend.engine,
        "device": backend.device,
        "blocks": args.blocks,
        "seconds": args.seconds,
    }
    store = Store(out / "scaling.json", settings, fresh=args.fresh)
    sweep = Sweep(store, args, torch.device(backend.device))
    if args.counts is not None:
        sweep.refuse(args.counts)
    with torch_threads(1):
        sweep.run(args.counts or (COUNTS if backend.device == "cpu" else GPU_COUNTS))
    print(report(store, out))


def check(args: argparse.Namespace) -> None:
    """Raise for invalid options."""
    if args.blocks < 1:
        raise UsageError(f"--blocks {args.blocks} has to be 1 or more.")
    for name in ("seconds", "limit"):
        if not getattr(args, name) > 0:
            raise UsageError(f"--{name} {getattr(args, name)} has to be above 0.")
    for count in args.counts or ():
        if count < 1:
            raise UsageError(
                f"--counts {count}: the number of worlds has to be 1 or more."
            )


class Sweep:
    """Measures the numbers of worlds that are not in the store yet."""

    def __init__(
        self, store: Store, args: argparse.Namespace, device: torch.device
    ) -> None:
        self._store = store
        self._args = args
        self._device = device

    def refuse(self, counts: Sequence[int]) -> None:
        """Raise if a requested number of worlds does not fit into memory."""
        free = available_memory(str(self._device))
        each = self._bytes_per_world(max(counts))
        refuse_if_too_large(self._args.task, max(counts), each, free)

    def run(self, counts: Sequence[int]) -> None:
        """Measure the given numbers of worlds, in ascending order."""
        for count in sorted(set(counts)):
            known = self._store.results.get(str(count))
            if known is None or "left_out" in known:
                result = self._result(count)
                self._store.add(str(count), result)
                show_progress(f"{count} worlds: {said(result)}")

    def _result(self, count: int) -> dict[str, Any]:
        free = available_memory(str(self._device))
        reason = needs(self._args.task, count, self._bytes_per_world(count), free)
        if reason is not None:
            return {"left_out": reason, "because": "memory"}
        seconds = self._expected_seconds(count)
        if seconds > self._args.limit:
            said = f"it would take about {seconds:,.0f} s, but --limit is "
            return {"left_out": f"{said}{self._args.limit:g} s", "because": "time"}
        measured = self._measured(count)
        gc.collect()  # Free the previous worlds before creating the next ones.
        return measured

    def _measured(self, count: int) -> dict[str, Any]:
        before = speed.memory(self._device)
        start = time.perf_counter()
        env = self._environment(count)
        env.reset()
        build_s = time.perf_counter() - start
        random = torch.Generator(device=env.device).manual_seed(1)
        # From the third step on, all memory is allocated.
        speed.run_steps(env, speed.random_actions(env, 2, random))
        actions = speed.random_actions(env, 1, random)
        once = speed.seconds(env, lambda: speed.run_steps(env, actions))
        steps = max(1, min(1000, round(self._args.seconds / 2 / once)))
        found = speed.measure(env, self._args.blocks, steps)
        used = max(speed.memory(env.device) - before, 0)
        env.close()
        return {
            "step_s": found.step_s,
            "physics_s": found.physics_s,
            "samples_per_s": found.env_steps_per_s,
            "share_of_physics": 1.0 - statistics.median(found.shares_of_managers),
            "memory_bytes": used,
            "build_s": build_s,
            "steps": steps,
        }

    def _environment(self, count: int) -> ManagerBasedRlEnv:
        cfg = load_task(self._args.task).env()
        cfg.scene.num_envs = count
        cfg.seed = 0
        cfg.sim.backend = self._args.engine
        return ManagerBasedRlEnv(cfg, device=str(self._device))

    def _before(self, count: int) -> dict[int, dict[str, Any]]:
        """Return the results for smaller numbers of worlds."""
        return {
            int(key): result
            for key, result in self._store.results.items()
            if int(key) < count and "left_out" not in result
        }

    def _bytes_per_world(self, count: int) -> float:
        """Extrapolate from smaller numbers; the smallest includes the fixed cost."""
        found = self._before(count)
        large = [n for n in found if n >= 64 and found[n]["memory_bytes"] > 0]
        if not large:
            return FIRST_GUESS
        return max(found[n]["memory_bytes"] / n for n in large[-2:])

    def _expected_seconds(self, count: int) -> float:
        found = self._before(count)
        if not found:
            return 0.0
        last = max(found)
        times = count / last
        step = statistics.median(found[last]["step_s"]) * times
        build = found[last]["build_s"] * (times if len(found) > 3 else 1.0)
        pairs = 2 * (self._args.blocks + 1)
        return build + 6 * step + pairs * max(step, self._args.seconds / 2)


def said(result: dict[str, Any]) -> str:
    """Return a summary of a result."""
    if "left_out" in result:
        return f"omitted, {result['left_out']}"
    return (
        f"{result['samples_per_s']:,.0f} steps/s, physics "
        f"{result['share_of_physics']:.0%} of a step"
    )


def conclude(results: dict[str, Any]) -> tuple[Advice, Limit] | None:
    """Return conclusions from results by number of worlds; None without results."""
    there = {int(n): r for n, r in results.items() if "left_out" not in r}
    if not there:
        return None
    advice = advise({n: r["samples_per_s"] for n, r in there.items()})
    # Numbers above all measured ones were omitted for the reason that ended the study.
    left = [
        r["because"]
        for n, r in sorted(results.items(), key=lambda item: int(item[0]))
        if "left_out" in r and int(n) > max(there)
    ]
    share = there[advice.best]["share_of_physics"]
    return advice, limit_of(share, advice, left[0] if left else None)


def sentence(advice: Advice, limit: Limit) -> str:
    """Return the conclusions as text."""
    state = "saturates" if advice.saturated else "was still increasing at the end"
    return (
        f"The rate {state}: {advice.best_rate:,.0f} steps/s at {advice.best:,} worlds "
        f"is the best. Limit: {limit} ({EXPLAINED[limit]}). Recommended: "
        f"{advice.worlds:,} worlds, the smallest number with at least 90 % of the best "
        f"rate ({advice.rate:,.0f} steps/s)."
    )


def report(store: Store, out: Path) -> str:
    """Write the chart, and return table and conclusion."""
    settings = store.record["settings"]
    title = f"{settings['task']} on {settings['engine']} ({settings['device']})"
    head = ("worlds", "steps/s", "ms per step", "physics", "kB per world")
    rows: list[list[str]] = []
    for key, result in sorted(store.results.items(), key=lambda item: int(item[0])):
        if "left_out" in result:
            rows.append([f"{int(key):,}", "omitted:", result["left_out"], "", ""])
            continue
        rows.append(
            [
                f"{int(key):,}",
                f"{result['samples_per_s']:,.0f}",
                f"{1e3 * statistics.median(result['step_s']):.3g}",
                f"{result['share_of_physics']:.0%}",
                f"{result['memory_bytes'] / int(key) / 1e3:,.0f}",
            ]
        )
    found = conclude(store.results)
    said = "Nothing was measured." if found is None else sentence(*found)
    if found is not None:
        advice, limit = found
        conclusion: dict[str, Any] = {
            "best_worlds": advice.best,
            "best_samples_per_s": advice.best_rate,
            "recommended_worlds": advice.worlds,
            "recommended_samples_per_s": advice.rate,
            "saturated": advice.saturated,
            "limit": limit,
            "sentence": said,
        }
        store.record["conclusion"] = conclusion
        store.save()
    draw(store, title, out)
    table = markdown(title, head, rows)
    return "\n\n".join([store.about_machine(), table, said, f"Written: {out}"])


def draw(store: Store, title: str, out: Path) -> None:
    """Draw the chart, if there are measured points."""
    there = {int(n): r for n, r in store.results.items() if "left_out" not in r}
    if not there:
        return
    counts = sorted(there)
    lines = []
    for index, (label, name) in enumerate(
        (("environment", "step_s"), ("physics alone", "physics_s"))
    ):
        rates = [[n / seconds for seconds in there[n][name]] for n in counts]
        lines.append(
            ChartLine(
                label=label,
                x=counts,
                y=[statistics.median(one) for one in rates],
                low=[min(one) for one in rates],
                high=[max(one) for one in rates],
                colour=index,
                dashed=index == 1,
            )
        )
    ratios: dict[str, Any] = {"log_up": "yes", "log_across": True}
    chart = Chart(title=title, across="worlds", up="steps/s", lines=lines, **ratios)
    chart.save(out / "rate.svg")


if __name__ == "__main__":
    sys.exit(run_program(main))

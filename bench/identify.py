"""Twin test of `mjlab identify`: hidden parameters, and the intervals that it states.

    python bench/identify.py Velocity-Go1-Flat --joints "FR_.*" --bodies FR_calf
    python bench/identify.py Reach-Yam --joints "joint.*" --bodies link_6 --draws 10

Each draw is a robot with other parameters, simulated with a finer step and
with encoder noise. It plays one proposed motion, and the log is identified without
knowledge of the draw. The JSON has, for each parameter, how often the true value was
inside the interval, the errors, and how often the log did not determine it.
"""

import argparse
import multiprocessing
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from mjlab.threads import prepare_threads

prepare_threads()

import numpy as np

from bench.record import save
from mjlab.identify import Fit, Log, Robot, Twin, candidates, propose
from mjlab.registry import load_task

FEW_PERCENT = 0.05
"""Half-width relative to the value below which a parameter counts as identifiable."""

_shared: dict[str, Any] = {}
"""Robot, parameters and motion of a worker process."""


def main() -> None:
    """Run the draws, print a table and save the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("task")
    parser.add_argument("--joints", nargs="+", default=[".*"], help="name patterns")
    parser.add_argument("--bodies", nargs="*", default=[], help="name patterns")
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=4.0, help="length of the log")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--name", default="identify", help="name of the results file")
    args = parser.parse_args()
    start = time.time()
    prepare(args)
    share = {name: _shared[name] for name in ("motion", "expected")}
    with multiprocessing.Pool(args.workers, prepare, (args, share)) as pool:
        draws = []
        for draw in pool.imap_unordered(identify, range(args.draws)):
            draws.append(draw)
            inside = sum(e["inside"] for e in draw["parameters"].values())
            print(f"draw {draw['seed']}: {inside} inside", flush=True)
    draws.sort(key=lambda draw: draw["seed"])
    table = summary(draws)
    show(table)
    figures = {
        "task": args.task,
        "joints": list(_shared["robot"].joints),
        "bodies": args.bodies,
        "seconds": args.seconds,
        "draws": len(draws),
        "wall_s": round(time.time() - start, 1),
        "overall": overall(draws),
        "parameters": table,
        "expected_half": _shared["expected"],
        "inside_by_draw": [
            sum(
                row["inside"]
                for row in draw["parameters"].values()
                if row["determined"]
            )
            for draw in draws
        ],
        "correlation_by_draw": [_rounded(draw["correlation"]) for draw in draws],
    }
    print(f"saved {save(args.name, figures)}")


def prepare(args: argparse.Namespace, share: dict[str, Any] | None = None) -> None:
    """Build the robot; search for a motion, unless it is given."""
    robot = Robot.of(load_task(args.task).env(), joints=tuple(args.joints))
    bodies = robot.bodies(tuple(args.bodies)) if args.bodies else ()
    unknowns = candidates(robot, robot.joints, bodies)
    _shared.update(robot=robot, unknowns=unknowns)
    if share is None:
        motion = propose(robot, unknowns, seconds=args.seconds)
        share = {"motion": motion.log, "expected": motion.half}
    _shared.update(share)


def identify(seed: int) -> dict[str, Any]:
    """Identify one draw; return true values, estimates and half-widths."""
    robot, unknowns = _shared["robot"], _shared["unknowns"]
    motion: Log = _shared["motion"]
    twin = Twin.draw(robot, unknowns, seed)
    result = Fit(robot, [twin.record(motion)], unknowns).run()
    found = {}
    for each in result.estimates:
        true = twin.hidden[each.candidate.name]
        found[each.candidate.name] = {
            "true": true,
            "value": each.value,
            "half": each.half,
            "determined": each.determined,
            "inside": bool(each.low <= true <= each.high),
        }
    return {"seed": seed, "correlation": result.correlation, "parameters": found}


def summary(draws: Sequence[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return coverage and errors of each parameter."""
    table = {}
    for name in draws[0]["parameters"]:
        rows = [draw["parameters"][name] for draw in draws]
        told = [row for row in rows if row["determined"]]
        sharp = [r for r in told if r["half"] <= FEW_PERCENT * abs(r["true"])]
        errors = [abs(r["value"] - r["true"]) / abs(r["true"]) for r in sharp]
        table[name] = {
            "determined": len(told),
            "inside": sum(row["inside"] for row in told),
            "identifiable": len(sharp),
            "error_median": _rounded(np.median(errors)) if errors else None,
            "error_max": _rounded(max(errors)) if errors else None,
            "half_median": _rounded(np.median([row["half"] for row in rows])),
        }
    return table


def overall(draws: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the figures of all parameters together."""
    rows = [row for draw in draws for row in draw["parameters"].values()]
    told = [row for row in rows if row["determined"]]
    sharp = [r for r in told if r["half"] <= FEW_PERCENT * abs(r["true"])]
    errors = [abs(r["value"] - r["true"]) / abs(r["true"]) for r in sharp]
    return {
        "intervals": len(told),
        "inside": sum(row["inside"] for row in told),
        "undetermined": len(rows) - len(told),
        "identifiable": len(sharp),
        "error_at_most_5_percent": sum(error <= FEW_PERCENT for error in errors),
        "error_max": _rounded(max(errors)),
    }


def show(table: dict[str, dict[str, Any]]) -> None:
    """Print the table."""
    for name, row in table.items():
        told, inside = row["determined"], row["inside"]
        most = row["error_max"]
        error = "" if most is None else f", error at most {100.0 * most:.1f} %"
        print(f"{name:28s} inside {inside:3d} of {told:3d} determined{error}")


def _rounded(value: float) -> float:
    return float(f"{value:.4g}")


if __name__ == "__main__":
    main()

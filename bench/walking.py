"""Gait of walking policies: measures, limits, velocity errors, and falls.

    python bench/walking.py Velocity-G1-Flat Velocity-Go1-Flat
    python bench/walking.py logs/Velocity-G1-Flat/latest --best --episodes 512
    python bench/walking.py Velocity-G1-Flat policies/rl_mjlab/policy.json
    python bench/walking.py                      # the saved figures of all policies

A policy is a task, a run's folder, a checkpoint, or the JSON file of a policy of
another project. The robot starts from rest and follows one of 13 commands, first
without noise, pushes and randomised models ("quiet"), then as in training ("as
trained"). Policies of other projects are measured only in the first condition. The
measures are defined in `mjlab.gait` and exclude the first seconds; the limits are in
`mjlab/gait/limits.py`. `bench/pushes.py` counts falls under other pushes and friction.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from mjlab.threads import prepare_threads

prepare_threads()

from bench.foreign import gait_of_foreign
from bench.record import RESULTS, save
from mjlab.gait.limits import AS_TRAINED, FAST, QUIET, SLOW, failures
from mjlab.gait.table import failure_text, gait_tables, text, tracking_table, verdict
from mjlab.gait.walk import EPISODES, ROBOTS, gait_of
from mjlab.rl import load_policy
from mjlab.runs import Run, find

SAVED = ("walking", "walking/seeds", "walking/before")
"""Results in `bench/results`: policies that ship or belong to other projects, other
trainings of the same tasks, and policies of an earlier commit."""


def main() -> None:
    """Run the measurement, print the figures and save them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("policies", nargs="*", help="tasks, runs, checkpoints, JSON")
    parser.add_argument(
        "--episodes",
        type=int,
        default=EPISODES,
        help="episodes with the noise and pushes of training; 0 for none",
    )
    parser.add_argument(
        "--robots",
        type=int,
        default=ROBOTS,
        help="robots per command without noise and pushes",
    )
    parser.add_argument("--seed", type=int, default=1000)
    parser.add_argument("--best", action="store_true", help="use the best checkpoint")
    parser.add_argument("--name", default="walking", help="name of the results file")
    args = parser.parse_args()
    if not args.policies:
        show(saved())
        return
    found = dict(measured(place, args) for place in args.policies)
    show(found)
    print(f"saved {save(args.name, {'seed': args.seed, 'policies': found})}")


def saved() -> dict[str, dict[str, Any]]:
    """Return the saved figures of all policies by name."""
    found: dict[str, dict[str, Any]] = {}
    for name in SAVED:
        record = json.loads((RESULTS / f"{name}.json").read_text("utf-8"))
        found |= record["policies"]
    return found


def measured(place: str, args: argparse.Namespace) -> tuple[str, dict[str, Any]]:
    """Measure the gait of a policy; return its name, its figures and failed limits."""
    if place.endswith(".json"):
        path = Path(place)
        name = f"{path.resolve().parent.name}/{path.stem}"
        about, worlds = gait_of_foreign(path, robots=args.robots, seed=args.seed)
    else:
        name, about, worlds = gait_of_run(place, args)
    found = failures(worlds)
    print(f"\n{name}\n{text(tracking_table(worlds))}\n{verdict(found)}", flush=True)
    return name, {
        **about,
        "natural": not found,
        "failures": [failure_text(failure) for failure in found],
        "worlds": rounded(worlds),
    }


def rounded(value: Any) -> Any:
    """Round the floats of nested lists and dictionaries to six significant digits."""
    if isinstance(value, dict):
        return {name: rounded(one) for name, one in value.items()}
    if isinstance(value, list):
        return [rounded(one) for one in value]
    return float(f"{value:.6g}") if isinstance(value, float) else value


def gait_of_run(
    place: str, args: argparse.Namespace
) -> tuple[str, dict[str, Any], dict[str, Any]]:
    """Return a run's name, its description, and gait measures by world and command."""
    found = find(place)
    run = found.run
    configs, task = run.configs(), run.task
    path = found.choose_checkpoint(best=args.best)
    worlds = gait_of(
        configs["env"],
        lambda env: load_policy(path, env, configs["agent"]),
        robots=args.robots,
        episodes=args.episodes,
        seed=args.seed,
        device="cpu",
    )
    about = {
        "task": task,
        "run": run.info() | {"checkpoint": path.name},
        "trained_s": seconds_of(run, path),
    }
    name = task if run.is_shipped else f"{task}/{run.path.name}/{path.stem}"
    return name, about, worlds


def seconds_of(run: Run, checkpoint: Path) -> float | None:
    """Return the training time at which a checkpoint was written, s."""
    manifest = json.loads(checkpoint.with_suffix(".json").read_text("utf-8"))
    for line in (run.path / "metrics.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        if row["iteration"] >= manifest["iteration"]:
            return row["Perf/seconds"]
    return None


def show(found: dict[str, dict[str, Any]]) -> None:
    """Print the gait table at each speed, and the verdicts."""
    for world in (QUIET, AS_TRAINED):
        for command in (SLOW, FAST):
            rows = {
                place: each["worlds"][world][command]
                for place, each in found.items()
                if world in each["worlds"]
            }
            for table in gait_tables(rows):
                print(f"\n{command} m/s, {world}\n{text(table)}")
    print()
    for place, each in found.items():
        said = "natural" if each["natural"] else f"{len(each['failures'])} failures"
        print(f"{place}: {said}")


if __name__ == "__main__":
    main()

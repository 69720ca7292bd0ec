"""Gait of walking policies: measures, limits, errors of velocity, and falls.

    python bench/walking.py Velocity-G1-Flat Velocity-G1-Gait
    python bench/walking.py logs/Velocity-G1-Flat/latest --best --episodes 512
    python bench/walking.py Velocity-G1-Gait policies/rl_mjlab/policy.json

A policy is a task, a run's folder, a checkpoint, or the JSON file of a foreign policy.
Each of 13 commands is held from rest, in a quiet world (no noise, pushes or randomised
models) and in one as trained. Foreign policies have the quiet world only. The measures
are those of `mjlab.gait`, with the start left out; `mjlab/gait/limits.py` has the
limits.
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
from bench.record import save
from mjlab.cli.runs import find_run
from mjlab.gait.limits import FAST, SLOW, failures
from mjlab.gait.table import failure_text, gait_table, tracking_table, verdict
from mjlab.gait.walk import EPISODES, ROBOTS, gait_of
from mjlab.rl import RunFolder, load_policy
from mjlab.rl.checkpoint import find_checkpoint


def main() -> None:
    """Measure, print and save."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("policies", nargs="+", help="tasks, runs, checkpoints, JSON")
    parser.add_argument(
        "--episodes", type=int, default=EPISODES, help="as trained; 0 for none"
    )
    parser.add_argument(
        "--robots", type=int, default=ROBOTS, help="per command in the quiet world"
    )
    parser.add_argument("--seed", type=int, default=1000)
    parser.add_argument("--best", action="store_true", help="the best checkpoint")
    parser.add_argument("--name", default="walking", help="of the file of results")
    args = parser.parse_args()
    found = {place: measured(place, args) for place in args.policies}
    show(found)
    figures = {"seed": args.seed, "policies": found}
    print(f"saved {save(args.name, figures)}")


def measured(place: str, args: argparse.Namespace) -> dict[str, Any]:
    """Return the measures of a policy, and the verdict on them."""
    if place.endswith(".json"):
        about, worlds = gait_of_foreign(Path(place), robots=args.robots, seed=args.seed)
    else:
        about, worlds = gait_of_run(place, args)
    failed = [failure_text(failure) for failure in failures(worlds)]
    print(f"\n{place}\n{tracking_table(worlds)}\n{verdict(failures(worlds))}")
    return {**about, "natural": not failed, "failures": failed, "worlds": worlds}


def gait_of_run(
    place: str, args: argparse.Namespace
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a description of a run's policy, and its measures by world and command."""
    run = find_run(place, Path("logs"))
    configs = run.configs()
    given = Path(place)
    path = find_checkpoint(given if given.is_file() else run.path, best=args.best)
    worlds = gait_of(
        configs["env"],
        lambda env: load_policy(path, env, configs["agent"]),
        robots=args.robots,
        episodes=args.episodes,
        seed=args.seed,
        device="cpu",
    )
    about = {
        "task": run.info()["task"],
        "run": run.info() | {"checkpoint": path.name},
        "trained_s": seconds_of(run, path),
    }
    return about, worlds


def seconds_of(run: RunFolder, checkpoint: Path) -> float | None:
    """Time that training had taken when a checkpoint was written, s."""
    manifest = json.loads(checkpoint.with_suffix(".json").read_text("utf-8"))
    for line in (run.path / "metrics.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        if row["iteration"] >= manifest["iteration"]:
            return row["Perf/seconds"]
    return None


def show(found: dict[str, dict[str, Any]]) -> None:
    """Print the gait table at each speed, and the verdicts."""
    for world in ("quiet", "as trained"):
        for command in (SLOW, FAST):
            rows = {
                place: each["worlds"][world][command]
                for place, each in found.items()
                if world in each["worlds"]
            }
            if rows:
                print(f"\n{command} m/s, {world}\n{gait_table(rows)}")
    print()
    for place, each in found.items():
        failed = len(each["failures"])
        said = f"{failed} measures outside their limits" if failed else "natural"
        print(f"{place}: {said}")


if __name__ == "__main__":
    main()

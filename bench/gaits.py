"""Gait metrics of `Velocity-Go1-Gaits` with each of its gaits, and falls.

    python bench/gaits.py Velocity-Go1-Gaits

"Lag" is the largest difference between a foot's touchdown and its phase, in strides.
The test conditions are defined in `bench/walking.py`.
"""

import argparse
import copy
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from mjlab.threads import prepare_threads

prepare_threads()

import numpy as np

from bench.record import save
from bench.walking import rounded
from mjlab.gait.limits import AS_TRAINED, FAST, QUIET, SLOW
from mjlab.gait.table import gait_tables, text, tracking_table
from mjlab.gait.walk import gait_of
from mjlab.rl import load_policy
from mjlab.runs import find
from mjlab.tasks.velocity.gait_choice import GaitChoiceCfg
from mjlab.tasks.velocity.go1_gaits import GAIT


def main() -> None:
    """Measure each gait, print the metrics and save them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("policy", help="task, run or checkpoint")
    parser.add_argument("--episodes", type=int, default=256)
    parser.add_argument("--name", default="gaits", help="name of the results file")
    args = parser.parse_args()
    place = find(args.policy)
    configs, checkpoint = place.run.configs(), place.choose_checkpoint()
    choice = configs["env"].commands.get(GAIT)
    if not isinstance(choice, GaitChoiceCfg):
        parser.error(f"{args.policy} has no command {GAIT!r} that chooses a gait.")
    found: dict[str, dict[str, Any]] = {}
    for gait, phases in choice.gaits.items():
        cfg = copy.deepcopy(configs["env"])
        cfg.commands[GAIT].only = gait
        worlds = gait_of(
            cfg,
            lambda env: load_policy(checkpoint, env, configs["agent"]),
            episodes=args.episodes,
            seed=1000,
            device="cpu",
        )
        found[gait] = {"worlds": worlds, "lag": lags(worlds[QUIET], phases)}
        print(f"\n{gait}\n{text(tracking_table(worlds))}", flush=True)
    for command in (SLOW, FAST):
        rows = {gait: each["worlds"][QUIET][command] for gait, each in found.items()}
        for table in gait_tables(rows):
            print(f"\n{command} m/s\n{text(table)}")
    for gait, each in found.items():
        falls = sum(one["falls"] for one in each["worlds"].get(AS_TRAINED, {}).values())
        lag = ", ".join(f"{n} {x:.2f}" for n, x in each["lag"].items())
        print(f"{gait}: {falls} falls as trained; lag {lag}")
    about = {"run": place.run.info() | {"checkpoint": checkpoint.name}}
    print(f"saved {save(args.name, about | {'gaits': rounded(found)})}")


def lags(
    commands: dict[str, dict[str, Any]], phases: tuple[float, ...]
) -> dict[str, float]:
    """Return the largest lag of a foot behind or ahead of its phase, in strides."""
    wanted = (phases[0] - np.array(phases)) % 1.0
    return {
        name: float(np.abs((np.array(one["phases"]) - wanted + 0.5) % 1.0 - 0.5).max())
        for name, one in commands.items()
        if one.get("phases") is not None
    }


if __name__ == "__main__":
    main()

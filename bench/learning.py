"""Store the learning curve of a run in `bench/results`.

python bench/learning.py logs/Velocity-G1-Flat/latest
"""

import argparse
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.record import save
from mjlab.runs import find

FIGURES = (
    "Perf/seconds",
    "Train/env_steps",
    "Train/mean_reward",
    "Train/mean_episode_length",
    "Metrics/twist/error_vel_xy",
    "Metrics/twist/error_vel_yaw",
    "Episode_Termination/fell_over",
    "Metrics/gait/error_speed",
    "Metrics/target/error",
    "Muscle/rms_torque",
    "Muscle/optimum_rms_torque",
    "Muscle/mean_square",
    "Muscle/optimum_mean_square",
    "Muscle/learn_ms",
    "Perf/collect_s",
    "Perf/learn_s",
)
"""Figures to store, if the run has them."""
MOST_POINTS = 200


def main() -> None:
    """Read the metrics of a run, reduce the number of points, and save them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("place", help="a run's folder, a task, or latest")
    run = find(parser.parse_args().place).run
    info = run.info()
    lines = (run.path / "metrics.jsonl").read_text("utf-8").splitlines()
    every = max(1, -(-len(lines) // MOST_POINTS))
    kept = [*lines[::every], *([] if (len(lines) - 1) % every == 0 else lines[-1:])]
    rows = [json.loads(line) for line in kept]
    present = [name for name in FIGURES if any(name in row for row in rows)]
    curve = {name: [row.get(name) for row in rows] for name in present}
    task = info["task"].removeprefix("Velocity-").lower().replace("-", "_")
    figures = {
        "task": info["task"],
        "run": {key: info[key] for key in ("command", "seed", "git", "hardware")},
        "iterations": rows[-1]["iteration"],
        "curve": {"iteration": [row["iteration"] for row in rows], **curve},
    }
    print(f"saved {save(f'learning_{task}', figures)}")


if __name__ == "__main__":
    main()

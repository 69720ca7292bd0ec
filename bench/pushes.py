"""Falls of a walking policy under pushes and with different foot friction.

    python bench/pushes.py Velocity-G1-Flat
    python bench/pushes.py Velocity-G1-Flat --checkout ../before --name pushes_before

Runs `evaluate.py` once per condition, with the noise and randomisation of training.
Pushes change the horizontal velocity every 1 to 3 s, by up to the given value in x and
in y. Foot friction is varied without pushes. `--checkout` evaluates the policy of
another checkout with the code of that checkout.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from bench.record import save

NO_PUSH = ["--disable", "events.push_robot"]


def pushes(most: float) -> list[str]:
    """Return options for pushes of up to `most` m/s in x and y.

    Vertical and angular velocities change as in training.
    """
    option = "--env.events.push-robot.params.velocity-range"
    ends = [str(-most), str(most)]
    return [f"{option}.x", *ends, f"{option}.y", *ends]


def friction(value: float) -> list[str]:
    """Return options for one friction of all feet, without pushes."""
    option = "--env.events.foot-friction.params.ranges"
    return [option, str(value), str(value), *NO_PUSH]


CONDITIONS = {
    "no pushes": NO_PUSH,
    "pushes of 0.5 m/s": pushes(0.5),
    "pushes of 1.0 m/s": pushes(1.0),
    "friction 0.3": friction(0.3),
    "friction 0.6": friction(0.6),
    "friction 1.0": friction(1.0),
    "friction 1.6": friction(1.6),
}
"""Options of `evaluate.py` by condition."""


def main() -> None:
    """Measure each condition, print a line for it and save all."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("task", help="a task with a shipped policy, or a run")
    parser.add_argument("--episodes", type=int, default=256)
    parser.add_argument("--checkout", type=Path, default=ROOT)
    parser.add_argument("--name", default="pushes", help="name of the results file")
    args = parser.parse_args()
    found = {}
    for condition, options in CONDITIONS.items():
        summary = measure(args.checkout, [args.task, *options], args.episodes)
        error = summary["figures"]["Metrics/twist/error_vel_xy"]["mean"]
        found[condition] = {"falls": summary["falls"], "error_vel_xy": error}
        print(f"{condition:20s} falls {found[condition]['falls']:6.1%}", flush=True)
    commit = subprocess.run(
        ["git", "rev-parse", "HEAD"],
        cwd=args.checkout,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()
    about = {"task": args.task, "commit": commit, "episodes": args.episodes}
    print(f"saved {save(args.name, about | {'conditions': found})}")


def measure(checkout: Path, words: list[str], episodes: int) -> dict:
    """Return the summary of `evaluate.py`."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.json"
        command = [sys.executable, "scripts/evaluate.py", *words]
        command += ["--episodes", str(episodes), "--json", str(path)]
        if checkout == ROOT:
            command.append("--no-gait")
        subprocess.run(command, cwd=checkout, check=True, stdout=subprocess.DEVNULL)
        return json.loads(path.read_text())["summary"]


if __name__ == "__main__":
    main()

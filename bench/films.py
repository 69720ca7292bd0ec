"""Time of a film, paired with another checkout: `python bench/films.py --other FOLDER`.

Both write the same film of the same policy in alternation, each in a separate process.
The time includes everything that a user waits for, such as imports.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from bench.record import save


def main() -> None:
    """Measure, print and save."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--other", type=Path, required=True, help="the other checkout")
    parser.add_argument("--task", default="Muscle-Walk-W18")
    parser.add_argument("--frames", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=2)
    args = parser.parse_args()
    seconds: dict[str, list[float]] = {"here": [], "other": []}
    for _ in range(args.rounds):
        for name, folder in (("other", args.other), ("here", ROOT)):
            seconds[name].append(film(folder, args.task, args.frames))
            print(f"{name:6s} {seconds[name][-1]:6.1f} s", flush=True)
    ratio = sum(seconds["here"]) / sum(seconds["other"])
    print(f"here / other: {ratio:.2f}")
    revision = subprocess.run(
        ["git", "-C", str(args.other), "rev-parse", "--short", "HEAD"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    about = {"task": args.task, "frames": args.frames, "other": revision}
    path = save("films", {**about, "seconds": seconds, "ratio": ratio})
    print(f"saved {path.relative_to(ROOT)}")


def film(folder: Path, task: str, frames: int) -> float:
    """Return the time in seconds that a checkout needs for a film."""
    with tempfile.TemporaryDirectory() as place:
        video = Path(place) / "film.mp4"
        line = [sys.executable, "scripts/play.py", task, "--video", str(video)]
        began = time.perf_counter()
        subprocess.run(
            [*line, "--steps", str(frames)],
            cwd=folder,
            env=os.environ | {"PYTHONPATH": str(folder), "MUJOCO_GL": "egl"},
            check=True,
            stdout=subprocess.DEVNULL,
        )
        return time.perf_counter() - began


if __name__ == "__main__":
    main()

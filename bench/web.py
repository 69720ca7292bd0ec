"""Speed of the page that runs policies in a browser, and push recovery of the robots.

    python bench/web.py

One page of the shipped policies runs in headless Chromium, which draws in software. For
each policy, bench/results/web.json has the seconds until the first frame, the frames
per second, the simulated seconds per second of physics alone and of control steps
without drawing, and how many of four pushes by 0.6 m/s a walking robot survives.
"""

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from mjlab.threads import prepare_threads

prepare_threads()

from bench.record import save
from mjlab.export.web import write_page
from tests.tools.browser import Browser, find_browser
from tests.worlds.shipped import shipped

TASKS = (
    "Velocity-G1-Flat",
    "Velocity-Go1-Flat",
    "Muscle-Walk-W18",
    "Lift-Yam",
    "Cartpole-Swingup",
)
CHECKS = Path(__file__).parents[1] / "tests/export/web_checks.js"
WALK = {"Velocity-G1-Flat": "0.5,0,0", "Velocity-Go1-Flat": "0.5,0,0"}
"""Command of a walking robot, by task."""


def main() -> None:
    """Measure each policy, print a table and save the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("tasks", nargs="*", default=TASKS)
    parser.add_argument(
        "--seconds", type=float, default=10.0, help="time to measure the frame rate, s"
    )
    parser.add_argument("--name", default="web", help="name of the results file")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        files = [shipped(task, Path(folder)).path for task in args.tasks]
        page = write_page(files, Path(folder) / "page.html")
        rows = {task: measured(page.path, task, args.seconds) for task in args.tasks}
        browser = version(page.path)
    for task, row in rows.items():
        print(task, json.dumps(row))
    figures: dict[str, Any] = {"browser": browser, "page_mb": round(page.size / 1e6, 1)}
    print(save(args.name, figures | {"window": [1280, 800], "tasks": rows}))


def version(page: Path) -> str:
    """Return the name and version of the browser."""
    assert find_browser() is not None, "There is no Chromium."
    browser = Browser(page.as_uri())
    try:
        return browser.call("Browser.getVersion")["product"]
    finally:
        browser.close()


def measured(page: Path, task: str, seconds: float) -> dict[str, Any]:
    """Measure a task in a new browser, and return its figures."""
    browser = Browser(f"{page.as_uri()}#policy={task}&command={WALK.get(task, '')}")
    try:
        browser.wait("globalThis.mjlabPage?.startSeconds > 0")
        row: dict[str, Any] = {"start_s": browser.run("mjlabPage.startSeconds")}
        row["frames_per_s"] = frame_rate(browser, seconds)
        browser.run(CHECKS.read_text())
        ask = json.dumps({"policy": task, "steps": 500})
        found = browser.answer(f"timed({ask})")
        row |= {"physics_x": found["physics"], "control_x": found["whole"]}
        row = {name: round(value, 2) for name, value in row.items()}
        given = json.dumps({"policy": task, "command": WALK.get(task)})
        return row | {"pushes_survived_of_4": browser.answer(f"pushed({given})")}
    finally:
        browser.close()


def frame_rate(browser: Browser, seconds: float) -> float:
    """Return the frames per second.

    Wait 5 s first, in which the page adapts its level of detail.
    """
    time.sleep(5.0)
    clock = "[mjlabPage.frames, performance.now() / 1000]"
    first, start = browser.run(clock)
    time.sleep(seconds)
    last, end = browser.run(clock)
    return (last - first) / (end - start)


if __name__ == "__main__":
    main()

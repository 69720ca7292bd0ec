"""Draws the learning curves docs/images/*_learning.svg.

python docs/render_learning.py
"""

import json
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from mjlab.report.chart import Chart, ChartLine, svg

GO1 = ROOT / "tasks/velocity/trained/Velocity-Go1-Flat/metrics.jsonl"
GO1_ROUGH = ROOT / "tasks/velocity/trained/Velocity-Go1/metrics.jsonl"
G1 = ROOT / "tasks/velocity/trained/Velocity-G1-Flat/metrics.jsonl"
G1_ROUGH = ROOT / "tasks/velocity/trained/Velocity-G1/metrics.jsonl"
OFF_POLICY = ROOT / "bench/results/off_policy.json"
IMAGES = ROOT / "docs/images"

Rows = list[dict[str, float]]

W18 = ROOT / "tasks/muscle/trained/Muscle-Walk-W18/metrics.jsonl"

WAVE = ROOT / "tasks/tracking/trained/Tracking-G1/metrics.jsonl"
CLIPS = ROOT / "tasks/tracking/trained/Tracking-G1-Clips/metrics.jsonl"

Panel = tuple[str, str, float, int]
"""Title, figure, factor, and index of the colour."""

ROBOT: tuple[Panel, ...] = (
    ("Return of an episode", "Train/mean_reward", 1.0, 0),
    ("Error of velocity, m/s", "Metrics/twist/error_vel_xy", 1.0, 1),
    ("Error of yaw rate, rad/s", "Metrics/twist/error_vel_yaw", 1.0, 1),
    ("Episodes that end in a fall, %", "Episode_Termination/fell_over", 100, 7),
)
ROUGH: tuple[Panel, ...] = (
    ("Return of an episode", "Train/mean_reward", 1.0, 0),
    ("Terrain row, from 0 to 9", "Curriculum/terrain_levels", 1.0, 4),
    ("Episodes with success, %", "Metrics/success_once", 100, 1),
    (
        "Thighs on the ground, % of episodes",
        "Episode_Termination/illegal_contact",
        100,
        7,
    ),
)
HUMANOID_ROUGH: tuple[Panel, ...] = (
    *ROUGH[:3],
    ("Falls, % of episodes", "Episode_Termination/fell_over", 100, 7),
)
MUSCLES: tuple[Panel, ...] = (
    ("Length of an episode, s", "Train/mean_episode_length", 1 / 30, 0),
    ("Error of speed, m/s", "Metrics/gait/error_speed", 1.0, 1),
    ("Missing muscle torque, N m", "Muscle/rms_torque", 1.0, 4),
    ("Mean squared activation", "Muscle/mean_square", 1.0, 4),
)
TRACKING: tuple[Panel, ...] = (
    ("Return of an episode", "Train/mean_reward", 1.0, 0),
    ("Episodes to the end of the clip, %", "Episode_Termination/motion_ends", 100, 1),
    ("Body error, re-anchored, cm", "Metrics/error_body_pos", 100, 4),
    (
        "Limb errors above the limit, % of episodes",
        "Episode_Termination/limb_pos",
        100,
        7,
    ),
)


def main() -> None:
    """Draw all."""
    draw(read_metrics(GO1), ROBOT, IMAGES / "go1_learning.svg")
    draw(read_metrics(GO1_ROUGH), ROUGH, IMAGES / "go1_rough_learning.svg")
    draw(read_metrics(G1_ROUGH), HUMANOID_ROUGH, IMAGES / "g1_rough_learning.svg")
    draw(read_metrics(G1), ROBOT, IMAGES / "g1_learning.svg")
    draw(read_metrics(W18), MUSCLES, IMAGES / "w18_learning.svg")
    draw(read_metrics(WAVE), TRACKING, IMAGES / "tracking_learning.svg")
    draw(read_metrics(CLIPS), TRACKING, IMAGES / "clips_learning.svg")
    draw_off_policy(IMAGES / "off_policy.svg")


def read_metrics(path: Path) -> Rows:
    """Return the figures of a run by iteration."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def draw(rows: Rows, panels: Sequence[Panel], to: Path) -> None:
    """Write one picture."""
    charts = []
    for title, name, factor, colour in panels:
        points = [
            (r["Perf/seconds"] / 60.0, factor * r[name]) for r in rows if name in r
        ]
        line = ChartLine(
            x=[x for x, _ in points], y=[y for _, y in points], colour=colour
        )
        chart = Chart(title=title, lines=[line], across="minutes", with_zero=True)
        charts.append(chart)
    to.write_text(svg(charts, width=300, height=230), "utf-8")
    print(f"Wrote {to}")


def draw_off_policy(to: Path) -> None:
    """Write the curves of the off-policy variants and of PPO, over samples."""
    study = json.loads(OFF_POLICY.read_text("utf-8"))
    curves: dict[str, Rows] = {}
    for name, run in {"PPO": study["ppo"], **study["runs"]}.items():
        columns = run["curve"]
        rows = zip(*columns.values(), strict=True)
        curves[name] = [dict(zip(columns, row, strict=True)) for row in rows]
    charts = []
    for title, figure, factor, _ in ROBOT[:3]:
        lines = []
        for colour, (name, rows) in enumerate(curves.items()):
            shown = [row for row in rows if row.get(figure) is not None]
            lines.append(
                ChartLine(
                    x=[row["Train/env_steps"] / 1e6 for row in shown],
                    y=[factor * row[figure] for row in shown],
                    label=name,
                    colour=colour,
                    dashed=name == "PPO",
                )
            )
        charts.append(
            Chart(title=title, lines=lines, across="million samples", with_zero=True)
        )
    to.write_text(svg(charts, width=400, height=300), "utf-8")
    print(f"Wrote {to}")


if __name__ == "__main__":
    main()

"""Draw the learning curves of policies in docs/images.

python docs/render_learning.py
"""

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from mjlab.report.chart import Chart, ChartLine, svg

OFF_POLICY = ROOT / "bench/results/off_policy.json"
TRIALS = ROOT / "bench/results/walking/trials.json"
IMAGES = ROOT / "docs/images"

Rows = list[dict[str, float]]

Panel = tuple[str, str, float, int]
"""Title, figure, factor, and index of the colour."""

ROBOT: tuple[Panel, ...] = (
    ("Return of an episode", "Train/mean_reward", 1.0, 0),
    ("Error of velocity, m/s", "Metrics/twist/error_vel_xy", 1.0, 1),
    ("Error of yaw rate, rad/s", "Metrics/twist/error_vel_yaw", 1.0, 1),
    ("Episodes that end in a fall, %", "Episode_Termination/fell_over", 100, 7),
)
BIPED: tuple[Panel, ...] = (
    *ROBOT[:3],
    ("Pelvis too low, % of episodes", "Episode_Termination/too_low", 100, 7),
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


RUNS: dict[str, tuple[str, tuple[Panel, ...]]] = {
    "go1_learning": ("tasks/velocity/trained/Velocity-Go1-Flat/metrics.jsonl", ROBOT),
    "go1_rough_learning": ("bench/results/learning_velocity_go1.json", ROUGH),
    "g1_learning": ("bench/results/learning_velocity_g1_flat.json", BIPED),
    "w18_learning": ("tasks/muscle/trained/Muscle-Walk-W18/metrics.jsonl", MUSCLES),
    "tracking_learning": ("tasks/tracking/trained/Tracking-G1/metrics.jsonl", TRACKING),
    "clips_learning": (
        "tasks/tracking/trained/Tracking-G1-Clips/metrics.jsonl",
        TRACKING,
    ),
}
"""File with metrics (JSON Lines of a run, or a `bench` result), and panels."""

STEPS: tuple[Panel, ...] = (
    ROBOT[0],
    ("Length of an episode, s", "Train/mean_episode_length", 0.02, 0),
)
PHYSICS = {
    "10 ms, seed 1": "fast seed 1",
    "10 ms, seed 2": "fast",
    "10 ms, seed 3": "fast seed 3",
    "5 ms, seed 2": "fast fine",
}
"""Trials of Velocity-G1-Flat with two lengths of a physics step, by label."""


def main() -> None:
    """Draw all pictures."""
    for name, text in made().items():
        (IMAGES / f"{name}.svg").write_text(text, "utf-8")
        print(f"Wrote docs/images/{name}.svg")


def made() -> dict[str, str]:
    """Return all pictures, SVG, by name."""
    runs = {
        name: curves(rows_of(ROOT / file), panels)
        for name, (file, panels) in RUNS.items()
    }
    return {**runs, "off_policy": off_policy(), "g1_physics": physics()}


def rows_of(file: Path) -> Rows:
    """Read the metrics of each iteration."""
    text = file.read_text("utf-8")
    if file.suffix == ".jsonl":
        return [json.loads(row) for row in text.splitlines()]
    return columns_to_rows(json.loads(text)["curve"])


def columns_to_rows(columns: dict[str, list[float | None]]) -> Rows:
    """Convert columns to one dictionary per iteration, without missing values."""
    rows = zip(*columns.values(), strict=True)
    named = (zip(columns, row, strict=True) for row in rows)
    return [{name: x for name, x in row if x is not None} for row in named]


def curves(rows: Rows, panels: Sequence[Panel]) -> str:
    """Return the learning curves of a run, one panel beside the other."""
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
    return svg(charts, width=300, height=230)


def off_policy() -> str:
    """Return the curves of the off-policy attempts and of PPO, over samples."""
    study = json.loads(OFF_POLICY.read_text("utf-8"))
    curves = {
        name: columns_to_rows(run["curve"])
        for name, run in {"PPO": study["ppo"], **study["runs"]}.items()
    }
    return over_samples(curves, ROBOT[:3], dashed="PPO")


def physics() -> str:
    """Return the curves of a G1 that learns with coarse and with fine physics."""
    trials = json.loads(TRIALS.read_text("utf-8"))["trials"]
    found = {trial["name"]: trial["curve"] for trial in trials}
    curves = {
        label: [
            {
                "Train/env_steps": samples,
                "Train/mean_episode_length": length,
                "Train/mean_reward": length * reward,
            }
            for samples, length, reward in zip(
                found[name]["samples"],
                found[name]["episode_length"],
                found[name]["reward_per_step"],
                strict=True,
            )
        ]
        for label, name in PHYSICS.items()
    }
    return over_samples(curves, STEPS, dashed="5 ms, seed 2")


def over_samples(
    curves: Mapping[str, Rows], panels: Sequence[Panel], dashed: str
) -> str:
    """Return the curves of several runs over samples; one of them is dashed."""
    charts = []
    for title, figure, factor, _ in panels:
        lines = []
        for colour, (name, rows) in enumerate(curves.items()):
            shown = [row for row in rows if figure in row]
            lines.append(
                ChartLine(
                    x=[row["Train/env_steps"] / 1e6 for row in shown],
                    y=[factor * row[figure] for row in shown],
                    label=name,
                    colour=colour,
                    dashed=name == dashed,
                )
            )
        charts.append(
            Chart(title=title, lines=lines, across="million samples", with_zero=True)
        )
    return svg(charts, width=400, height=300)


if __name__ == "__main__":
    main()

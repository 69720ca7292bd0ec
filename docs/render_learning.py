"""Draws docs/images/*_learning.svg: how robots, and a walker with muscles, learned.

python docs/render_learning.py
"""

import json
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
GO1 = ROOT / "tasks/velocity/trained/Velocity-Go1-Flat/metrics.jsonl"
G1 = ROOT / "bench/results/learning_g1_flat.json"
IMAGES = ROOT / "docs/images"

Rows = list[dict[str, float]]

W18 = ROOT / "tasks/muscle/trained/Muscle-Walk-W18/metrics.jsonl"

Panel = tuple[str, str, float, str]
"""Title, figure, factor, colour."""

ROBOT: tuple[Panel, ...] = (
    ("Return of an episode", "Train/mean_reward", 1.0, "#2a6fb0"),
    ("Error of velocity, m/s", "Metrics/twist/error_vel_xy", 1.0, "#b0502a"),
    ("Error of yaw rate, rad/s", "Metrics/twist/error_vel_yaw", 1.0, "#b0502a"),
    ("Episodes that end in a fall, %", "Episode_Termination/fell_over", 100, "#777"),
)
MUSCLES: tuple[Panel, ...] = (
    ("Length of an episode, s", "Train/mean_episode_length", 1 / 30, "#2a6fb0"),
    ("Error of speed, m/s", "Metrics/gait/error_speed", 1.0, "#b0502a"),
    ("Torque that muscles miss, N m", "Muscle/rms_torque", 1.0, "#7a3fa0"),
    ("Mean squared activation", "Muscle/mean_square", 1.0, "#7a3fa0"),
)
WIDTH, HEIGHT, GAP, LEFT, TOP, BOTTOM = 240, 150, 40, 40, 34, 28


def main() -> None:
    """Draw all."""
    draw(read_metrics(GO1), ROBOT, IMAGES / "go1_learning.svg")
    draw(read_curve(G1), ROBOT, IMAGES / "g1_learning.svg")
    draw(read_metrics(W18), MUSCLES, IMAGES / "w18_learning.svg")


def read_metrics(path: Path) -> Rows:
    """The rows that a run kept."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def read_curve(path: Path) -> Rows:
    """The rows of a curve that `bench/learning.py` kept."""
    curve = json.loads(path.read_text("utf-8"))["curve"]
    length = len(curve["iteration"])
    rows = [{name: values[i] for name, values in curve.items()} for i in range(length)]
    return [{k: v for k, v in row.items() if v is not None} for row in rows]


def draw(rows: Rows, panels: Sequence[Panel], to: Path) -> None:
    """Write one picture."""
    whole = len(panels) * (WIDTH + GAP) + LEFT
    high = TOP + HEIGHT + BOTTOM
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {whole} {high}" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{whole}" height="{high}" fill="#fff"/>',
    ]
    minutes = rows[-1]["Perf/seconds"] / 60.0
    for i, (title, name, scale, colour) in enumerate(panels):
        left = LEFT + i * (WIDTH + GAP)
        parts += panel(rows, left, minutes, title, name, scale, colour)
    to.write_text("\n".join([*parts, "</svg>"]) + "\n", "utf-8")
    print(f"Wrote {to}")


def panel(
    rows: Rows,
    left: float,
    minutes: float,
    title: str,
    name: str,
    scale: float,
    colour: str,
) -> list[str]:
    """One curve with its axes."""
    points = [(r["Perf/seconds"] / 60.0, r[name] * scale) for r in rows if name in r]
    low, most = min(0.0, *(v for _, v in points)), max(v for _, v in points)
    bottom, right = TOP + HEIGHT, left + WIDTH

    def x(minute: float) -> float:
        return left + WIDTH * minute / minutes

    def y(value: float) -> float:
        return bottom - HEIGHT * (value - low) / (most - low)

    path = " ".join(f"{x(minute):.1f},{y(value):.1f}" for minute, value in points)
    ticks = [0.0, most / 2, most]
    marks = [
        f'<path d="M{left} {y(v):.1f}H{right}" stroke="#ddd"/>'
        f'<text x="{left - 4}" y="{y(v) + 4:.1f}" text-anchor="end" fill="#555">'
        f"{v:.3g}</text>"
        for v in ticks
    ]
    every = 20 if minutes > 40 else 5
    times = [
        f'<text x="{x(m):.1f}" y="{bottom + 16}" text-anchor="middle" fill="#555">'
        f"{m} min</text>"
        for m in range(0, int(minutes) + 1, every)
    ]
    curve = f'<polyline points="{path}" fill="none" stroke="{colour}"/>'
    head = f'<text x="{left}" y="{TOP - 14}" font-weight="bold">{title}</text>'
    return [head, *marks, *times, curve]


if __name__ == "__main__":
    main()

"""Measurement of one point: median seconds per step over repeats, with the range."""

import statistics
import time
from dataclasses import asdict, dataclass
from typing import Any

from bench.study.contenders import Run

MIXED = 25
"""Warm-up steps, so that worlds are at different steps of their episodes."""


@dataclass(frozen=True)
class Point:
    """Measurements at one number of worlds."""

    num_envs: int
    """Number of worlds."""

    step_s: list[float]
    """Seconds per step of all worlds, by repeat."""

    steps: int
    """Number of steps per repeat."""

    ended_share: float
    """Fraction of worlds whose episode ended in a step; the time includes their
    resets."""

    build_s: float
    """Time to create the worlds, in seconds."""

    @property
    def seconds(self) -> float:
        """Median of the seconds per step."""
        return statistics.median(self.step_s)

    @property
    def rate(self) -> float:
        """Samples per second, from the median."""
        return self.num_envs / self.seconds

    @property
    def rates(self) -> tuple[float, float]:
        """Samples per second of the slowest and of the fastest repeat."""
        return self.num_envs / max(self.step_s), self.num_envs / min(self.step_s)

    def to_data(self) -> dict[str, Any]:
        """Return all data and derived figures, for a file."""
        low, high = self.rates
        figures = {"samples_per_s": self.rate, "samples_per_s_spread": [low, high]}
        return asdict(self) | figures

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> "Point":
        """Read the result of `to_data`."""
        names = ("num_envs", "step_s", "steps", "ended_share", "build_s")
        return cls(**{name: data[name] for name in names})


def measure(
    run: Run, num_envs: int, *, seconds: float, repeats: int, build_s: float = 0.0
) -> Point:
    """Measure existing worlds.

    Args:
        run: The worlds.
        num_envs: Number of worlds.
        seconds: Approximate total time of all repeats.
        repeats: Number of repeats, each with at least one call.
        build_s: Time to create the worlds, in seconds.
    """
    run.call()
    run.wait()
    start = time.perf_counter()
    calls = 0
    # The warm-up of slow worlds takes at most as long as the measurement.
    while calls * run.steps < MIXED and time.perf_counter() - start < seconds:
        run.call()
        calls += 1
    run.wait()
    each = (time.perf_counter() - start) / max(calls, 1)
    number = max(1, round(seconds / repeats / max(each, 1e-9)))
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        for _ in range(number):
            run.call()
        run.wait()
        times.append((time.perf_counter() - start) / (number * run.steps))
    ended = 0
    looks = 4 if run.steps == 1 else 1
    for _ in range(looks):
        run.call()
        run.wait()
        ended += run.ended()
    share = ended / (looks * run.steps * num_envs)
    return Point(num_envs, times, number * run.steps, share, build_s)

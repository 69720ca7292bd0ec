"""Measuring one point: seconds a step, as the median of repeats, with its spread."""

import statistics
import time
from dataclasses import asdict, dataclass
from typing import Any

from bench.study.contenders import Run

MIXED = 25
"""Steps before the clock starts, so that worlds are at all moments of an episode."""


@dataclass(frozen=True)
class Point:
    """Measurements at one number of worlds."""

    num_envs: int
    """Worlds."""

    step_s: list[float]
    """Seconds a step of all worlds, repeat by repeat."""

    steps: int
    """Steps of each repeat."""

    ended_share: float
    """Share of the worlds whose episode ended in a step, which the clock includes."""

    build_s: float
    """Seconds that it took to make the worlds."""

    @property
    def seconds(self) -> float:
        """Seconds a step, the median."""
        return statistics.median(self.step_s)

    @property
    def rate(self) -> float:
        """Samples a second, by the median."""
        return self.num_envs / self.seconds

    @property
    def rates(self) -> tuple[float, float]:
        """Samples a second of the slowest and of the fastest repeat."""
        return self.num_envs / max(self.step_s), self.num_envs / min(self.step_s)

    def to_data(self) -> dict[str, Any]:
        """Everything, with what follows from it, for a file."""
        low, high = self.rates
        figures = {"samples_per_s": self.rate, "samples_per_s_spread": [low, high]}
        return asdict(self) | figures

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> "Point":
        """Read what `to_data` wrote."""
        names = ("num_envs", "step_s", "steps", "ended_share", "build_s")
        return cls(**{name: data[name] for name in names})


def measure(
    run: Run, num_envs: int, *, seconds: float, repeats: int, build_s: float = 0.0
) -> Point:
    """Measure worlds that have been made.

    Args:
        run: The worlds.
        num_envs: How many they are.
        seconds: Time for all repeats together, roughly.
        repeats: Repeats; at least one call each, whatever the time.
        build_s: Seconds that it took to make them.
    """
    run.call()
    run.wait()
    start = time.perf_counter()
    calls = 0
    # Slow worlds are mixed for as long as they are measured, and no longer.
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

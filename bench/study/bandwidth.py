"""Memory bandwidth of the kernel, compared with the machine's limit."""

import statistics
import time

import torch

from bench.study.points import Point

BYTES = {
    # Actions, state, steps; then state, reward, two flags, steps.
    "kernel": (8 + 16 + 4) + (16 + 4 + 2 + 4),
    # The same, plus the row of observations that a rollout stores.
    "kernel-replay": (8 + 16 + 4) + (16 + 4 + 2 + 4) + 16,
}
"""Bytes read and written per sample, without resets."""

COPIED = {"cuda": 2**30, "cpu": 2**28}
"""Size of the copy that measures the bandwidth, far beyond the caches."""


def bandwidth(device: torch.device, *, repeats: int = 7) -> float:
    """Return the bandwidth of a large copy, in bytes per second."""
    source = torch.zeros(COPIED[device.type], dtype=torch.uint8, device=device)
    target = torch.zeros_like(source)
    times = []
    for _ in range(repeats + 1):
        _wait(device)
        start = time.perf_counter()
        target.copy_(source)
        _wait(device)
        times.append(time.perf_counter() - start)
    return 2 * source.numel() / statistics.median(times[1:])


def against_limit(name: str, title: str, point: Point, rate: float) -> str:
    """Return a sentence on the fraction of the limit that a point reaches.

    Args:
        name: Key of `BYTES`.
        title: Displayed name.
        point: The measurement.
        rate: Memory bandwidth, in bytes per second.
    """
    limit = rate / BYTES[name]
    return (
        f"{title} moves {BYTES[name]} bytes per sample. A large copy reaches "
        f"{rate / 1e9:,.0f} GB/s on this machine, equivalent to {limit:,.0f} "
        f"samples/s; the kernel reaches {point.rate / limit:.1%} of it at "
        f"{point.num_envs:,} worlds."
    )


def _wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)

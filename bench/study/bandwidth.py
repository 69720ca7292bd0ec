"""Bandwidth of the kernel, against what the memory allows."""

import statistics
import time

import torch

from bench.study.points import Point

BYTES = {
    # Actions, state, steps; then state, reward, two flags, steps.
    "kernel": (8 + 16 + 4) + (16 + 4 + 2 + 4),
    # The same, and the row of observations that a rollout keeps.
    "kernel-replay": (8 + 16 + 4) + (16 + 4 + 2 + 4) + 16,
}
"""Bytes that a sample reads and writes, where no episode ends."""

COPIED = {"cuda": 2**30, "cpu": 2**28}
"""Bytes of the copy that shows what the memory can do, far beyond its caches."""


def bandwidth(device: torch.device, *, repeats: int = 7) -> float:
    """Bytes a second that a large copy reads and writes."""
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
    """Say which share of the limit a point reaches.

    Args:
        name: Who, of `BYTES`.
        title: What it is called.
        point: What was measured.
        rate: Bytes a second that the memory can do.
    """
    limit = rate / BYTES[name]
    return (
        f"{title} moves {BYTES[name]} bytes a sample. A large copy reaches "
        f"{rate / 1e9:,.0f} GB/s here, which would be {limit:,.0f} samples/s; it "
        f"reaches {point.rate / limit:.1%} of that at {point.num_envs:,} worlds."
    )


def _wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)

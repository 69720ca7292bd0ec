"""Free memory, and errors for measurements that do not fit."""

from pathlib import Path

import torch

from mjlab.cli.answers import UsageError

SHARE = 0.8
"""Maximum fraction of the free memory that a measurement uses."""


def free_bytes(device: torch.device) -> int:
    """Return the free memory of the GPU, or of this machine."""
    if device.type == "cuda":
        return torch.cuda.mem_get_info(device)[0]
    found = [_of_machine(), *_of_control_group()]
    return min(number for number in found if number is not None)


def _of_machine() -> int | None:
    meminfo = Path("/proc/meminfo")
    if not meminfo.exists():
        # macOS does not report free memory; half of the total is a safe estimate.
        import os

        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    for line in meminfo.read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return None


def _of_control_group() -> list[int]:
    """Return the free memory within a container's limit."""
    folder = Path("/sys/fs/cgroup")
    try:
        most = (folder / "memory.max").read_text().strip()
        used = int((folder / "memory.current").read_text())
    except (OSError, ValueError):
        return []
    return [] if most == "max" else [max(0, int(most) - used)]


def needs(what: str, num_envs: int, bytes_per_world: float, free: int) -> str | None:
    """Return the reason if worlds do not fit, or None if they do.

    Args:
        what: Name of the worlds.
        num_envs: Number of worlds.
        bytes_per_world: Memory of one world.
        free: Free memory.
    """
    wanted = num_envs * bytes_per_world
    if wanted <= SHARE * free:
        return None
    return (
        f"{num_envs:,} worlds of {what} need about {readable(wanted)}, and "
        f"{readable(free)} are free, of which {SHARE:.0%} can be used"
    )


def refuse_if_too_large(
    what: str, num_envs: int, bytes_per_world: float, free: int
) -> None:
    """Raise with the needed and the free memory if the worlds do not fit."""
    reason = needs(what, num_envs, bytes_per_world, free)
    if reason is not None:
        most = int(SHARE * free / bytes_per_world)
        raise UsageError(f"{reason}. At most {most:,} worlds fit.")


def readable(number: float) -> str:
    """Format bytes for readers."""
    for unit in ("B", "kB", "MB", "GB"):
        if number < 1000:
            return f"{number:.3g} {unit}"
        number /= 1000
    return f"{number:.3g} TB" if number < 1000 else f"{number:,.0f} TB"

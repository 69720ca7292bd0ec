"""Free memory, and error messages for failed allocations."""

import contextlib
import errno
import os
import re
from collections.abc import Iterator
from pathlib import Path


class NotEnoughMemoryError(MemoryError):
    """Raised if the worlds do not fit into memory."""


_FEWER = "Use fewer worlds: scene.num_envs in Python, --num-envs on the command line."
_ALLOCATION = re.compile(
    r"std::bad_alloc|could not allocate|can(no|')t allocate memory|out of memory"
    r"|failed to allocate",
    re.IGNORECASE,
)
"""Pattern of the messages of MuJoCo, Warp, PyTorch and C++ for failed allocations."""


def is_out_of_memory(error: BaseException) -> bool:
    """Return True for a failed allocation, reported by any library."""
    if isinstance(error, MemoryError):
        return True
    if isinstance(error, OSError):
        return error.errno == errno.ENOMEM
    return isinstance(error, ValueError | RuntimeError) and bool(
        _ALLOCATION.search(str(error))
    )


def describe_out_of_memory(error: BaseException) -> str:
    """Return a message with the requested size, if known, and advice."""
    if isinstance(error, NotEnoughMemoryError):
        return str(error)
    if type(error) is MemoryError and str(error).startswith("Out of memory"):
        return f"{error} {_FEWER}"
    return f"Out of memory{_details(error)}. {_FEWER}"


def _details(error: BaseException) -> str:
    asked, limit = _size_asked(str(error)), _limit()
    details = [f"an allocation of {asked} failed"] if asked else []
    if limit:
        details.append(f"ulimit -v allows {limit / 2**30:.1f} GB")
    return f" ({', and '.join(details)})" if details else ""


def _limit() -> int:
    """Return the address space limit of the shell in bytes, 0 if unlimited."""
    try:
        import resource
    except ImportError:  # Windows has no such limits.
        return 0
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return 0 if limit == resource.RLIM_INFINITY else limit


def _size_asked(text: str) -> str:
    if found := re.search(r"allocate (\d+) bytes", text):
        return f"{int(found[1]) / 2**30:.2f} GB"
    # Formats of PyTorch on CUDA, and of NumPy.
    found = re.search(r"allocate (\d[\d.]* ?[KMGTPE]i?B)\b", text)
    return found[1] if found else ""


@contextlib.contextmanager
def naming_worlds(num_envs: int) -> Iterator[None]:
    """Add the number of worlds to out-of-memory errors raised in this block.

    Args:
        num_envs: Number of worlds that are built.
    """
    try:
        yield
    except NotEnoughMemoryError:
        raise
    except Exception as error:
        if not is_out_of_memory(error):
            raise
        raise NotEnoughMemoryError(
            f"{num_envs} worlds do not fit into memory{_details(error)}. {_FEWER}"
        ) from error


def require_room(num_envs: int, per_world: int) -> None:
    """Raise if the minimum memory of the worlds exceeds the free memory.

    Linux overcommits memory: without this check, allocations would succeed, and the
    process would be killed later.

    Args:
        num_envs: Number of worlds.
        per_world: Minimum bytes per world.
    """
    free = free_memory()
    if num_envs * per_world > free:
        raise NotEnoughMemoryError(
            f"{num_envs} worlds need at least {num_envs * per_world / 2**30:.1f} GB, "
            f"and {free / 2**30:.1f} GB are free on this machine, enough for at most "
            f"{free // per_world}. {_FEWER}"
        )


def free_memory() -> int:
    """Return the free memory for this process on this machine, in bytes."""
    return min(_free_on_machine(), _free_in_group())


def _free_on_machine() -> int:
    """Return the memory available without swapping, or the total if unknown."""
    meminfo = Path("/proc/meminfo")
    if meminfo.exists():
        found = re.search(r"MemAvailable:\s+(\d+) kB", meminfo.read_text())
        if found:
            return int(found[1]) * 1024
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return 2**63


def _free_in_group(root: Path = Path("/sys/fs/cgroup")) -> int:
    """Return the free memory of this container in bytes, 2**63 if it is unlimited.

    Reads the limit of the control group, version 2 or 1.
    """
    places = [
        (root / "memory.max", root / "memory.current", root / "memory.stat"),
        (
            root / "memory" / "memory.limit_in_bytes",
            root / "memory" / "memory.usage_in_bytes",
            root / "memory" / "memory.stat",
        ),
    ]
    for limit, used, stat in places:
        try:
            most, now = int(limit.read_text()), int(used.read_text())
            # The file cache is released on demand.
            cached = re.search(
                r"^(?:total_)?inactive_file (\d+)", stat.read_text(), re.M
            )
        except (OSError, ValueError):
            continue
        return max(0, most - now + (int(cached[1]) if cached else 0))
    return 2**63

"""Errors for numbers of worlds that do not fit into memory."""

from mjlab.cli.answers import UsageError

SHARE = 0.8
"""Maximum fraction of the free memory that a measurement uses."""


def needs(what: str, num_envs: int, bytes_per_world: float, free: int) -> str | None:
    """Return the reason if worlds do not fit, or None if they do.

    Args:
        what: Name of the worlds.
        num_envs: Number of worlds.
        bytes_per_world: Memory of one world.
        free: Free memory, bytes.
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

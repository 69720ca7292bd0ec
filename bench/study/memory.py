"""Refusal of numbers of worlds that do not fit into memory."""

from mjlab.cli.answers import UsageError

SHARE = 0.8
"""Share of the free memory that a measurement may take."""


def needs(what: str, num_envs: int, bytes_per_world: float, free: int) -> str | None:
    """Return why so many worlds do not fit, or None if they do.

    Args:
        what: Whose worlds.
        num_envs: How many.
        bytes_per_world: What one of them takes.
        free: What is free.
    """
    wanted = num_envs * bytes_per_world
    if wanted <= SHARE * free:
        return None
    return (
        f"{num_envs:,} worlds of {what} need about {readable(wanted)}, and "
        f"{readable(free)} are free, of which {SHARE:.0%} may be taken"
    )


def refuse_if_too_large(
    what: str, num_envs: int, bytes_per_world: float, free: int
) -> None:
    """Raise an error with both numbers if so many worlds do not fit."""
    reason = needs(what, num_envs, bytes_per_world, free)
    if reason is not None:
        most = int(SHARE * free / bytes_per_world)
        raise UsageError(f"{reason}. At most {most:,} worlds fit.")


def readable(number: float) -> str:
    """Bytes as a person reads them."""
    for unit in ("B", "kB", "MB", "GB"):
        if number < 1000:
            return f"{number:.3g} {unit}"
        number /= 1000
    return f"{number:.3g} TB" if number < 1000 else f"{number:,.0f} TB"

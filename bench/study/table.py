"""Tables of the studies."""

from collections.abc import Iterable, Sequence


def markdown(title: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table under its title. Columns after the first are numbers."""
    lines = [f"| {' | '.join(row)} |" for row in (head, *rows)]
    lines.insert(1, f"| --- |{' ---: |' * (len(head) - 1)}")
    return f"**{title}**\n\n" + "\n".join(lines)

"""Compute statistics over many episodes: summary, table and JSON file."""

import json
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from mjlab.envs.rollout import EpisodeResult
from mjlab.files import finite, write_text
from mjlab.report.words import SHARES, SPREADS


def summary(episodes: Sequence[EpisodeResult]) -> dict[str, Any]:
    """Return means, standard deviations and fractions over episodes, for JSON."""
    names = sorted({name for episode in episodes for name in episode.figures})
    ends = sorted({name for episode in episodes for name in episode.ended_by})
    return {
        "episodes": len(episodes),
        "return": _spread([episode.total for episode in episodes]),
        "length_steps": _spread([episode.steps for episode in episodes]),
        "length_s": _spread([episode.seconds for episode in episodes]),
        "falls": _share([episode.fell for episode in episodes]),
        "success_once": _share([episode.success_once for episode in episodes]),
        "success_at_end": _share([episode.success_at_end for episode in episodes]),
        "ended_by": {n: sum(n in e.ended_by for e in episodes) for n in ends},
        "figures": {
            n: _spread([e.figures[n] for e in episodes if n in e.figures])
            for n in names
            if not n.startswith("Episode_Termination/")
        },
    }


def table(figures: Mapping[str, Any]) -> str:
    """Return a summary as a table for the terminal."""
    rows = [("", "mean", "std", "min", "max")]
    rows += [_row(said, figures[name]) for name, said in SPREADS.items()]
    shares = {f"Metrics/{name}" for name in SHARES}  # Shown below as percentages.
    rows += [
        _row(name, values)
        for name, values in figures["figures"].items()
        if name not in shares
    ]
    width = max(len(row[0]) for row in rows)
    lines = [columns(rows)]
    for name, said in SHARES.items():
        share = figures[name]
        shown = "not defined by the task" if share is None else f"{share:.1%}"
        lines.append(f"{said.ljust(width)}  {shown}")
    ends = ", ".join(f"{name} {count}" for name, count in figures["ended_by"].items())
    lines.append(f"{'ended by'.ljust(width)}  {ends or 'nothing'}")
    return "\n".join(line.rstrip() for line in lines)


def columns(rows: Sequence[Sequence[str]]) -> str:
    """Align rows of names and numbers in columns."""
    width = max(len(row[0]) for row in rows)
    wide = max(10, *(len(cell) for row in rows for cell in row[1:]))
    return "\n".join(
        f"{name.ljust(width)}  " + "  ".join(cell.rjust(wide) for cell in cells)
        for name, *cells in rows
    )


def save(
    path: Path, about: Mapping[str, Any], episodes: Sequence[EpisodeResult]
) -> dict[str, Any]:
    """Write summary and episodes as JSON, with non-finite numbers as null."""
    figures = summary(episodes)
    whole = {
        **about,
        "summary": figures,
        "runs": [asdict(episode) for episode in episodes],
    }
    text = json.dumps(finite(whole), indent=1, allow_nan=False, default=str)
    write_text(path, text + "\n")
    return figures


def _spread(values: Sequence[float]) -> dict[str, float]:
    return {
        "mean": statistics.fmean(values),
        "deviation": statistics.pstdev(values),
        "least": min(values),
        "most": max(values),
    }


def _share(values: Sequence[bool | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _row(name: str, values: Mapping[str, float]) -> tuple[str, ...]:
    keys = ("mean", "deviation", "least", "most")
    return (name, *(f"{values[key]:.4g}" for key in keys))

"""Findings of the doctor, as text and as a file."""

import json
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from mjlab.files import write_text

FILE = "doctor.json"
"""Name of the findings file in a run's folder, which the report reads."""

SURE = 0.9
"""Minimum certainty of the degree "sure"."""

LIKELY = 0.6
"""Minimum certainty of the degree "likely"."""

_WIDTH = 88


@dataclass(frozen=True, kw_only=True)
class Diagnosis:
    """Probable fault of a training run, and a remedy to try."""

    kind: str
    """Kind of the fault, such as "ending_pays"."""

    certainty: float
    """Estimated probability that the finding is a fault, 0 to 1."""

    what: str
    """Description of the fault, with figures as evidence."""

    advice: str
    """Remedy in words."""

    settings: Mapping[str, str] = field(default_factory=dict)
    """Remedy as settings. Empty if it needs code changes."""

    @property
    def degree(self) -> str:
        """Certainty in words: "sure", "likely" or "perhaps"."""
        if self.certainty >= SURE:
            return "sure"
        return "likely" if self.certainty >= LIKELY else "perhaps"

    @property
    def options(self) -> str:
        """Remedy as command-line options."""
        return " ".join(f"--{name} {value}" for name, value in self.settings.items())


def ordered(findings: Sequence[Diagnosis]) -> list[Diagnosis]:
    """Sort findings by certainty, and remove duplicates."""
    unique = {(one.kind, one.what): one for one in findings}
    return sorted(unique.values(), key=lambda one: -one.certainty)


def listing(findings: Sequence[Diagnosis], looked_at: str) -> str:
    """Format findings for the console.

    Args:
        findings: Findings in order.
        looked_at: Description of the examined data.
    """
    if not findings:
        return f"No findings in {looked_at}."
    number = len(findings)
    lines = [f"{number} finding{'s' if number > 1 else ''} in {looked_at}."]
    for index, one in enumerate(findings, 1):
        head = f"{index:2d}. {one.degree:8s}"
        lines += ["", *_wrapped(one.what, head)]
        lines += _wrapped(f"Try: {one.advice}", "")
        lines += [f"{'':12s}{one.options}"] if one.settings else []
    return "\n".join(lines)


def save(folder: Path, findings: Sequence[Diagnosis], looked_at: str) -> Path:
    """Write findings to `doctor.json` in a run's folder, and return its path."""
    listed = [{**asdict(one), "degree": one.degree} for one in findings]
    data = {"looked_at": looked_at, "findings": listed}
    path = folder / FILE
    write_text(path, json.dumps(data, indent=1, default=dict) + "\n")
    return path


def _wrapped(text: str, head: str) -> list[str]:
    return textwrap.wrap(
        text,
        _WIDTH,
        initial_indent=head.ljust(12),
        subsequent_indent=" " * 12,
        break_long_words=False,
        break_on_hyphens=False,
    )

"""Messages about a model file: faults, changes and findings."""

from dataclasses import dataclass, field


class AdoptError(ValueError):
    """Error for a model file from which no walking task can be made."""


@dataclass
class Notes:
    """Messages of one adoption, one sentence or two each, in order."""

    faults: list[str] = field(default_factory=list)
    """Faults of the file, each with the consequence or the remedy."""

    changes: list[str] = field(default_factory=list)
    """Differences between the file and the written model."""

    findings: list[str] = field(default_factory=list)
    """Findings about the robot, each with the option that overrides it."""

    def repaired(self, fault: str, change: str) -> None:
        """Add a fault together with the change that repairs it."""
        self.faults.append(fault)
        self.changes.append(change)

    def text(self) -> str:
        """Return all messages as text for a console."""
        parts = {
            "Faults of the file": self.faults,
            "Changed in the copy": self.changes,
            "Found": self.findings,
        }
        lines: list[str] = []
        for heading, listed in parts.items():
            if listed:
                lines += [f"{heading}:", *(f"  - {one}" for one in listed)]
        return "\n".join(lines)


def listed(names: list[str] | tuple[str, ...], most: int = 4) -> str:
    """Return quoted names as text, without those beyond `most`."""
    shown = ", ".join(repr(name) for name in names[:most])
    more = len(names) - most
    return f"{shown} and {more} more" if more > 0 else shown

"""Report about a model file: faults, changes and findings."""

from dataclasses import dataclass, field


class AdoptError(ValueError):
    """Raised if no walking task can be made from a model file."""


@dataclass
class Notes:
    """Messages about one model file, in order."""

    faults: list[str] = field(default_factory=list)
    """Faults of the file, each with its consequence or remedy."""

    changes: list[str] = field(default_factory=list)
    """Differences between the file and the written model."""

    findings: list[str] = field(default_factory=list)
    """Findings about the robot, each with the command-line option that overrides it."""

    def repaired(self, fault: str, change: str) -> None:
        """Add a fault together with the change that repairs it."""
        self.faults.append(fault)
        self.changes.append(change)

    def text(self) -> str:
        """Return all messages under headings, for the console."""
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
    """Join up to `most` quoted names with commas, and count the others."""
    shown = ", ".join(repr(name) for name in names[:most])
    more = len(names) - most
    return f"{shown} and {more} more" if more > 0 else shown

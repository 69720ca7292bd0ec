"""Verdict about a foreign policy: a list of findings for each kind of evidence."""

from dataclasses import dataclass, field
from typing import Literal

from mjlab.export.foreign.interface import Interface

State = Literal["ok", "mismatch", "undetermined"]

Level = Literal["contract", "recorded states", "simulation", "robot log"]
"""Evidence: the files alone, recorded states in open loop, closed loop in simulation,
and the log of a robot."""


@dataclass(frozen=True)
class Finding:
    """Result for one entry of the contract."""

    place: str
    """Observation term, field of the contract, or "FILE: KEY"."""

    state: State
    said: str = ""
    """Difference and likely reason; for "undetermined", the data that is missing."""


@dataclass
class ForeignVerdict:
    """Findings about a policy, and the report about them."""

    interface: Interface
    findings: dict[Level, list[Finding]] = field(default_factory=dict)
    """Findings by kind of evidence."""

    def of(self, state: State) -> list[Finding]:
        """Return all findings with this state."""
        return [
            each
            for findings in self.findings.values()
            for each in findings
            if each.state == state
        ]

    @property
    def state(self) -> State:
        """Worst state of all findings: "mismatch", else "undetermined", else "ok"."""
        if self.of("mismatch"):
            return "mismatch"
        return "undetermined" if self.of("undetermined") else "ok"

    @property
    def text(self) -> str:
        """Report for the console: the contract, all findings, and the result."""
        lines = [*_summary(self.interface)]
        for level, findings in self.findings.items():
            lines += ["", f"Evidence: {level}"]
            width = max((len(each.place) for each in findings), default=0)
            lines += [
                f"  {each.place:{width}s}  {each.state:12s}  {each.said}".rstrip()
                for each in findings
            ]
        levels = ", ".join(self.findings)
        lines.append("")
        if self.state == "ok":
            lines.append(f"OK by {levels}.")
        elif self.state == "mismatch":
            lines.append(f"Mismatch by {levels}: {self._places('mismatch')}.")
        else:
            lines.append(f"Undetermined by {levels}: {self._places('undetermined')}.")
        return "\n".join(lines)

    def _places(self, state: State) -> str:
        return ", ".join(dict.fromkeys(each.place for each in self.of(state)))


def _summary(interface: Interface) -> list[str]:
    network = interface.network
    lines = [
        f"{network.path} as {interface.format}: {network.inputs} observations, "
        f"{network.outputs} actions, every {interface.control_dt:g} s"
    ]
    for term in interface.terms:
        size = f"{interface.size(term)}" + f" x {term.history}" * (term.history > 1)
        lines.append(f"  {term.name:22s} {size:8s} {term.source}")
    return lines + [f"  assumed: {said}" for said in interface.assumed]

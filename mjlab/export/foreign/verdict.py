"""Verdict about a foreign policy: findings by place, with the evidence for them."""

from dataclasses import dataclass, field
from typing import Literal

from mjlab.export.foreign.interface import Interface

State = Literal["ok", "mismatch", "undetermined"]

Level = Literal["contract", "recorded states", "simulation", "robot log"]
"""Evidence: the files alone, recorded states in open loop, closed loop in simulation,
and the log of a robot."""


@dataclass(frozen=True)
class Finding:
    """Result for one place of the contract."""

    place: str
    """Observation term, field or file and key."""

    state: State
    said: str = ""
    """What differs and why, or what is missing to decide."""


@dataclass
class ForeignVerdict:
    """Findings about a policy."""

    interface: Interface
    findings: dict[Level, list[Finding]] = field(default_factory=dict)
    """Findings by evidence."""

    def of(self, state: State) -> list[Finding]:
        """Return the findings with a state, over all evidence."""
        return [
            each
            for findings in self.findings.values()
            for each in findings
            if each.state == state
        ]

    @property
    def state(self) -> State:
        """The worst state: a mismatch, then undetermined, then ok."""
        if self.of("mismatch"):
            return "mismatch"
        return "undetermined" if self.of("undetermined") else "ok"

    @property
    def text(self) -> str:
        """The verdict for the user."""
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

"""Simulate a policy with its contract, and with variants of the contract.

If the robot walks as commanded, each variant is simulated too: a variant that falls
or misses the command is excluded, and a variant that also walks is undetermined. If the
robot does not walk, the variants that make it walk name the likely mistake.
"""

from collections.abc import Callable

from mjlab.export.foreign.alternatives import Alternative, alternatives
from mjlab.export.foreign.interface import Interface
from mjlab.export.foreign.robot_model import RobotModel
from mjlab.export.foreign.verdict import Finding
from mjlab.export.foreign.walk import Walk, walk

Progress = Callable[[int, int], None]
"""Callback with the finished and the total number of walks."""


def check_walk(
    interface: Interface, robot: RobotModel, progress: Progress | None = None
) -> list[Finding]:
    """Simulate the contract and its variants; return the findings."""
    own = walk(interface, robot)
    tried: list[tuple[Alternative, Walk]] = []
    others = list(alternatives(interface, robot))
    for count, each in enumerate(others):
        if progress is not None:
            progress(count, len(others))
        tried.append((each, walk(each.interface, robot, late=each.late)))
    if progress is not None:
        progress(len(others), len(others))
    if not own.is_good:
        return _explained(own, tried)
    found = [Finding("walk", "ok", _told(own))]
    for each, other in tried:
        state = "undetermined" if other.is_good else "ok"
        kind = "not excluded" if other.is_good else "excluded"
        said = f"{kind}: {each.said} ({other.said})"
        found.append(Finding(each.place, state, said))
    return sorted(found, key=lambda each: each.state == "undetermined")


def _explained(own: Walk, tried: list[tuple[Alternative, Walk]]) -> list[Finding]:
    """Return a finding per variant that walks, for a contract that does not walk."""
    good = [(each, other) for each, other in tried if other.is_good]
    good.sort(key=lambda pair: pair[1].error)
    if not good:
        said = f"{_told(own)}; no single change of the contract explains it"
        return [Finding("walk", "mismatch", said)]
    found = [Finding("walk", "mismatch", _told(own))]
    for each, other in good:
        said = f"{each.said}: with this change, {other.said}"
        found.append(Finding(each.place, "mismatch", said))
    return found


def _told(own: Walk) -> str:
    return f"command {own.wanted:g} m/s forward: {own.said}"

"""Compare recorded observations with the observations of the contract.

The expected observation is computed from the recorded sensor values, term by term. A
term that differs is compared with common mistakes: another order, sign, scale, unit,
frame, delay, history order, default pose, last action or gait phase.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from mjlab.export.foreign.graph import COMMAND, OBSERVATION, STILL, Graph
from mjlab.export.foreign.interface import (
    JOINT_SOURCES,
    PHASE_SOURCES,
    Interface,
    Kept,
    Term,
)
from mjlab.export.foreign.recording import Recording
from mjlab.export.foreign.verdict import Finding
from mjlab.export.runner.policy import LAST_ACTION, checked
from mjlab.export.verify.reasons import Departure, likeliest

_TOLERANCE = 2e-4
"""Tolerance of observations, relative for values above 1."""

_KEPT: Mapping[Kept, str] = {
    "raw": "the network's output before its clip",
    "clipped": "the action after its clip",
    "target": "the joint targets",
}


def check_observations(
    interface: Interface, graph: Graph, recording: Recording
) -> Iterator[Finding]:
    """Yield one finding per observation term.

    If the whole observation differs, for example in its history order, yield one
    finding.
    """
    found = recording.get("observation")
    if found is None:
        yield Finding("observation", "undetermined", "it was not recorded")
        return
    if found.shape[1] != interface.width:
        said = f"found {found.shape[1]} numbers, expected {interface.width}"
        yield Finding("observation", "mismatch", said)
        return
    absent = [name for name in _needed(graph) if recording.get(name) is None]
    if absent:
        said = f"{', '.join(absent)} was not recorded"
        yield Finding("observation", "undetermined", said)
        return
    expected = expected_observations(interface, graph, recording)
    if not _differs(found, expected).any():
        yield from _all_right(interface, recording, expected)
        return
    layout = _layout(interface, found, expected)
    if layout is not None:
        yield Finding("history order", "mismatch", layout)
        return
    moved = _moved(interface, found, expected)
    if moved is not None:
        yield Finding(*moved)
        return
    for term in interface.terms:
        yield _term(interface, term, graph, recording, expected)


def expected_observations(
    interface: Interface, graph: Graph, recording: Recording
) -> np.ndarray:
    """Compute observations from the recorded sensor values, shape (steps, width)."""
    policy, rows = graph.session(), []
    kept = kept_actions(interface, recording)
    nexts = [state["next"] for state in graph.about["states"]]
    for step in range(recording.steps):
        if kept is not None:
            before = kept[step - 1] if step else np.zeros(kept.shape[1])
            policy.state[LAST_ACTION] = before.astype(np.float32)
        fed = checked(graph.about["inputs"], readings(graph, recording, step))
        found = policy.session.run([OBSERVATION, *nexts], fed | policy.state)
        policy.state = dict(zip(policy.state, found[1:], strict=True))
        rows.append(found[0])
    return np.array(rows, float)


def readings(graph: Graph, recording: Recording, step: int) -> dict[str, Any]:
    """Return the graph's inputs at one recorded step."""
    return {name: recording.arrays[_named(name)][step] for name in _inputs(graph)}


def kept_actions(interface: Interface, recording: Recording) -> np.ndarray | None:
    """Return the action that each next observation contains, shape (steps, actions).

    None if actions were not recorded or have another width.
    """
    raw = recording.get("action")
    if raw is None or raw.shape[1] != len(interface.acted):
        return None
    clip = interface.action_clip
    action = raw if clip is None else np.clip(raw, -clip, clip)
    target = action * interface.action_scale + interface.action_offset
    if interface.target_clip is not None:
        target = np.clip(target, *interface.target_clip.T)
    return {"raw": raw, "clipped": action, "target": target}[interface.kept]


def _inputs(graph: Graph) -> list[str]:
    return [entry["name"] for entry in graph.about["inputs"]]


def _named(name: str) -> str:
    return "command" if name == COMMAND else name


def _needed(graph: Graph) -> list[str]:
    return [*map(_named, _inputs(graph)), "action"]


def _differs(found: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """Mask of numbers that differ by more than the tolerance."""
    return np.abs(found - expected) > _TOLERANCE * np.maximum(1.0, np.abs(expected))


def _all_right(
    interface: Interface, recording: Recording, expected: np.ndarray
) -> Iterator[Finding]:
    """Yield findings for an observation that agrees in all terms.

    A term that is constant in the recording is undetermined: its order and scale have
    no effect.
    """
    for term in interface.terms:
        values = expected[:, interface.columns(term)[-1]]
        still = np.ptp(values, axis=0) < 1e-6
        seen = [j in term.blind for j in term.joints] or [False] * len(still)
        if (still & ~np.array(seen)).any():
            names = [
                n for n, s in zip(interface.elements(term), still, strict=True) if s
            ]
            said = f"{', '.join(names[:3])} does not change in the recording"
            yield Finding(term.name, "undetermined", said)
        elif term.source == "last_action" and _never_clipped(interface, recording):
            said = (
                "before or after the clip: no recorded action is beyond the clip, so "
                "both are equal"
            )
            yield Finding(term.name, "undetermined", said)
        else:
            yield Finding(term.name, "ok")


def _never_clipped(interface: Interface, recording: Recording) -> bool:
    if interface.action_clip is None:
        return False
    raw = recording.get("action")
    return raw is not None and bool(np.abs(raw).max() <= interface.action_clip)


# Mistakes in the whole observation.


def _layout(
    interface: Interface, found: np.ndarray, expected: np.ndarray
) -> str | None:
    """Describe a history order, other than the contract's, that explains the data."""
    if max(term.history for term in interface.terms) == 1:
        return None
    options = {
        (newest, by_step): replace(interface, newest_first=newest, by_step=by_step)
        for newest in (False, True)
        for by_step in (False, True)
    }
    own = interface.newest_first, interface.by_step
    for option, other in options.items():
        if option == own or (
            option[1] and len({t.history for t in interface.terms}) > 1
        ):
            continue
        moved = np.zeros_like(expected)
        for term in interface.terms:
            moved[:, other.columns(term)] = expected[:, interface.columns(term)]
        if not _differs(found, moved).any():
            return f"found {_order(*option)}, but the contract has {_order(*own)}"
    return None


def _order(newest_first: bool, by_step: bool) -> str:
    first = "newest" if newest_first else "oldest"
    return f"the {first} step first, grouped by {'step' if by_step else 'term'}"


def _moved(
    interface: Interface, found: np.ndarray, expected: np.ndarray
) -> tuple[str, Any, str] | None:
    """Describe the first term that is recorded at other columns."""
    for term in interface.terms:
        columns = interface.columns(term).ravel()
        values = expected[:, columns]
        if not _differs(found[:, columns], values).any() or term.source == "command":
            continue
        if np.ptp(values, axis=0).min() < 1e-6 or (np.diff(columns) != 1).any():
            continue
        for start in range(interface.width - len(columns) + 1):
            if start == columns[0]:
                continue
            if not _differs(found[:, start : start + len(columns)], values).any():
                said = (
                    f"order of terms: found from number {start} on, but the contract "
                    f"has it from number {columns[0]} on"
                )
                return term.name, "mismatch", said
    return None


# Mistakes in one term.


def _term(
    interface: Interface,
    term: Term,
    graph: Graph,
    recording: Recording,
    whole: np.ndarray,
) -> Finding:
    columns = interface.columns(term)
    every = recording.arrays["observation"]
    found, expected = every[:, columns[-1]], whole[:, columns[-1]]
    wrong = _differs(found, expected)
    if not wrong.any():
        past = _differs(every[:, columns], whole[:, columns])
        if not past.any():
            return Finding(term.name, "ok")
        return Finding(term.name, "mismatch", _history(interface, term, past))
    said = _specific(interface, term, recording, found, expected)
    if said is None:
        said = likeliest(departure(interface, term, recording, found, expected))
    if said is None and not wrong[wrong.any(axis=1).argmax() + 1 :].any():
        said = "differs in one step only"
    step = int(wrong.any(axis=1).argmax())
    worst = float(np.abs(found - expected).max())
    where = f"from step {step} on, by up to {worst:.3g}"
    why = said or "undetermined reason, no single convention explains it"
    return Finding(term.name, "mismatch", f"{why} ({where})")


def _history(interface: Interface, term: Term, past: np.ndarray) -> str:
    steps = np.flatnonzero(past.any(axis=(1, 2)))
    if steps.max() < term.history - 1:
        kinds = {True: "copies of the first step", False: "zeros"}
        return (
            f"start of the history: expected {kinds[interface.fills]}, found other "
            f"numbers, such as {kinds[not interface.fills]}"
        )
    rows = np.flatnonzero(past.any(axis=(0, 2)))
    return f"history: the current step agrees, but {len(rows)} earlier steps differ"


def departure(
    interface: Interface,
    term: Term,
    recording: Recording,
    found: np.ndarray,
    expected: np.ndarray,
) -> Departure:
    """Collect found and expected values of a term, and the data that reasons need."""
    default = None
    if term.source in JOINT_SOURCES and term.source != "joint_vel":
        pose = dict(zip(interface.joints, interface.default, strict=True))
        default = np.array([pose[name] for name in term.joints]) * term.scale
    quats = recording.get("root_quat_w")
    is_vector = term.source in ("gyro", "lin_vel", "gravity")
    turns = rotations(quats) if quats is not None and is_vector else None
    spin = recording.get("root_ang_vel_b") if term.source == "lin_vel" else None
    names = interface.elements(term)
    return Departure(found, expected, names, default, turns, spin=spin)


def rotations(quats: np.ndarray) -> np.ndarray:
    """Return rotation matrices of quaternions wxyz, shape (steps, 3, 3)."""
    w, x, y, z = quats.T
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.array(rows).transpose(2, 0, 1)


def _specific(
    interface: Interface,
    term: Term,
    recording: Recording,
    found: np.ndarray,
    expected: np.ndarray,
) -> str | None:
    """Return a reason that is specific to the quantity of the term, or None."""
    said = None
    if term.source in PHASE_SOURCES:
        said = _phase(interface, recording)
    if term.source == "last_action":
        said = _last_action(interface, recording, found)
    if term.source == "gravity":
        said = _quaternion(recording, found / np.asarray(term.scale))
    return said or _clipped(term, found, expected)


def _clipped(term: Term, found: np.ndarray, expected: np.ndarray) -> str | None:
    """Return a reason if one side is clipped and the values differ only there."""
    wrong = _differs(found, expected)
    scale = np.broadcast_to(np.asarray(term.scale, float), found.shape)
    found, expected = found / scale, expected / scale
    inner, outer = np.abs(found[wrong]), np.abs(expected[wrong])
    for first, second, said in (
        (inner, outer, "clip: found values clipped to {:.4g}, the contract does not"),
        (outer, inner, "clip: the contract clips to {:.4g}, found larger values"),
    ):
        bound = float(first.max())
        if (second > bound - 1e-6).all() and np.ptp(first) < 1e-4 * max(bound, 1e-3):
            if len(first) < wrong.size:  # Some numbers are within the bound.
                return said.format(bound)
    return None


def _last_action(
    interface: Interface, recording: Recording, found: np.ndarray
) -> str | None:
    """Describe an action, other than the contract's, that explains the term."""
    for kind, said in _KEPT.items():
        other = kept_actions(replace(interface, kept=kind), recording)
        if kind == interface.kept or other is None:
            continue
        if not _differs(found[1:], other[:-1]).any():
            return f"last action: found {said}, expected {_KEPT[interface.kept]}"
    if not found.any():
        return "last action: always zero"
    now = kept_actions(interface, recording)
    if now is not None and not _differs(found, now).any():
        return "last action: found the action of the same step, one step early"
    return None


def _quaternion(recording: Recording, found: np.ndarray) -> str | None:
    """Return a reason if gravity was computed with another quaternion convention."""
    quats = recording.get("root_quat_w")
    if quats is None:
        return None
    for order in ((1, 2, 3, 0), (3, 0, 1, 2)):
        down = -rotations(quats[:, order])[:, 2]
        if not _differs(found, down).any():
            return "order of a quaternion: wxyz against xyzw"
    inverse = -rotations(quats)[:, :, 2]
    if not _differs(found, inverse).any():
        return "frame: rotated by the quaternion instead of its inverse"
    return None


def _phase(interface: Interface, recording: Recording) -> str | None:
    """Describe how the gait clock differs: offset, frequency, order, or at rest."""
    names = {
        term.source: term for term in interface.terms if term.source in PHASE_SOURCES
    }
    every, clock = recording.arrays["observation"], interface.clock
    if len(names) < 2 or clock is None:
        return None
    cos, sin = (every[:, interface.columns(names[s])[-1]] for s in PHASE_SOURCES)
    sizes = np.hypot(cos, sin)
    if np.abs(sizes - 1.0).max() > 1e-3:
        return None
    angle, swapped = np.arctan2(sin, cos), np.arctan2(cos, sin)
    step = 2.0 * np.pi * clock.hz * interface.control_dt
    first = np.array(clock.offsets) + step * clock.is_early
    wanted = first + step * np.arange(len(angle))[:, None]
    command = recording.get("command")
    goes = np.ones(len(angle), bool)
    if command is not None and clock.still != "runs":
        goes = np.linalg.norm(command, axis=1) > STILL
    if clock.hz_by_command or goes.sum() < 3:
        return None
    away = _wrapped(angle - wanted)[goes]
    if np.abs(_wrapped(away - away[0])).max() < 1e-3:
        if np.abs(away).max() < 1e-3:
            return "gait clock: other phases during a zero command"
        return f"phase offset: found {away[0].mean():.3g} rad more than expected"
    if np.abs(_wrapped(swapped - wanted)[goes]).max() < 1e-3:
        return "order: sine and cosine of the phase are swapped"
    rate = _wrapped(np.diff(angle, axis=0))[goes[1:]]
    if np.ptp(rate) < 1e-3:
        hz = float(rate.mean()) / (2.0 * np.pi * interface.control_dt)
        return f"gait clock: found {hz:.3g} Hz, expected {clock.hz:.3g} Hz"
    return None


def _wrapped(angle: np.ndarray) -> np.ndarray:
    return (angle + np.pi) % (2.0 * np.pi) - np.pi

"""Compare recorded actions, targets, efforts and times with the contract."""

from collections.abc import Iterator

import numpy as np

from mjlab.export.foreign.graph import Graph
from mjlab.export.foreign.interface import Interface
from mjlab.export.foreign.recording import Recording
from mjlab.export.foreign.verdict import Finding
from mjlab.export.runner.policy import open_session
from mjlab.export.verify.reasons import Departure, likeliest

_TOLERANCE = 1e-3
"""Tolerance of actions and targets, relative for values above 1."""

_GAINS = 0.02
"""Relative tolerance of gains and efforts."""

_RATE = 0.02
"""Relative tolerance of the control period."""


def check_actions(
    interface: Interface, graph: Graph, recording: Recording
) -> Iterator[Finding]:
    """Yield findings about the network, the targets, the gains and the control rate."""
    yield _network(interface, graph, recording)
    yield _targets(interface, recording)
    yield _gains(interface, recording)
    yield _rate(interface, recording)


def _network(interface: Interface, graph: Graph, recording: Recording) -> Finding:
    """Run the network on the recorded observations; compare with recorded actions."""
    seen, sent = recording.get("observation"), recording.get("action")
    if seen is None or sent is None:
        lacks = "observation" if seen is None else "action"
        return Finding("network", "undetermined", f"{lacks} was not recorded")
    widths = interface.network.inputs, interface.network.outputs
    if (seen.shape[1], sent.shape[1]) != widths:
        said = (
            f"the recording has {seen.shape[1]} observations and {sent.shape[1]} "
            f"actions, but the network {widths[0]} and {widths[1]}"
        )
        return Finding("network", "mismatch", said)
    found = network_actions(interface, seen)
    wrong = _differs(sent, found)
    if not wrong.any():
        return Finding("network", "ok")
    clip = float(np.abs(sent).max())
    if not _differs(sent, np.clip(found, -clip, clip)).any():
        said = (
            f"clip: recorded actions are clipped to {clip:.4g}, the network's are not"
        )
        return Finding("network", "mismatch", said)
    reason = likeliest(Departure(sent, found, list(interface.acted)))
    said = reason or (
        "the network gives other actions for the recorded observations: another file, "
        "or another normalisation"
    )
    return Finding("network", "mismatch", said)


def network_actions(interface: Interface, observations: np.ndarray) -> np.ndarray:
    """Run the network over consecutive observations; return actions, (steps, actions).

    Recurrent states start at zero.
    """
    network, rows = interface.network, []
    content = network.model.SerializeToString()
    session = open_session(content, network.path)
    state = {n: np.zeros(shape, np.float32) for n, _, shape in network.recurrent}
    outputs = [network.action, *(output for _, output, _ in network.recurrent)]
    for row in observations.astype(np.float32):
        found = session.run(outputs, {network.observation: row[None], **state})
        state = dict(zip(state, found[1:], strict=True))
        rows.append(found[0].ravel())
    return np.array(rows, float)


def _targets(interface: Interface, recording: Recording) -> Finding:
    sent, found = recording.get("action"), recording.get("joint_pos_target")
    if sent is None or found is None:
        lacks = "action" if sent is None else "joint_pos_target"
        return Finding("targets", "undetermined", f"{lacks} was not recorded")
    assert recording.joints is not None, "The recording is in the robot's order."
    places = [recording.joints.index(name) for name in interface.acted]
    clip = interface.action_clip
    action = sent if clip is None else np.clip(sent, -clip, clip)
    plain = action * interface.action_scale + interface.action_offset
    limits = interface.target_clip
    expected = plain if limits is None else np.clip(plain, *limits.T)
    found = found[:, places]
    if not _differs(found, expected).any():
        if clip is not None and np.abs(sent).max() <= clip:
            said = (
                f"order, scale and offset agree; no action is beyond the clip {clip:g}"
            )
            return Finding("targets", "undetermined", said)
        return Finding("targets", "ok")
    clipped = _clip_reason(interface, sent, found)
    if clipped is not None:
        return Finding("targets", "mismatch", clipped)
    departure = Departure(
        found, expected, list(interface.acted), interface.action_offset
    )
    reason = likeliest(departure)
    if reason is None:
        reason = _affine(interface, action, found)
    why = reason or "undetermined reason, no single convention explains it"
    worst = float(np.abs(found - expected).max())
    return Finding("targets", "mismatch", f"{why} (by up to {worst:.3g} rad)")


def _clip_reason(
    interface: Interface, sent: np.ndarray, found: np.ndarray
) -> str | None:
    """Describe a clip, other than the contract's, that explains the targets."""
    wanted = (
        "no clip"
        if interface.action_clip is None
        else f"a clip to {interface.action_clip:g}"
    )
    if not _differs(
        found, sent * interface.action_scale + interface.action_offset
    ).any():
        what = "targets" if interface.action_clip is None else "actions"
        return f"clip: the {what} are not clipped, expected {wanted} of actions"
    bound = float(
        np.abs((found - interface.action_offset) / interface.action_scale).max()
    )
    clipped = np.clip(sent, -bound, bound)
    if not _differs(
        found, clipped * interface.action_scale + interface.action_offset
    ).any():
        return f"clip: found actions clipped to {bound:.4g}, expected {wanted}"
    return None


def _affine(interface: Interface, action: np.ndarray, found: np.ndarray) -> str | None:
    """Fit scale and offset of each joint; describe the first that differs.

    Return None if no joint differs or if a joint's targets are not affine in its
    action.
    """
    for column, name in enumerate(interface.acted):
        one = np.column_stack((action[:, column], np.ones(len(action))))
        fit, left, *_ = np.linalg.lstsq(one, found[:, column], rcond=None)
        wanted = interface.action_scale[column], interface.action_offset[column]
        if np.allclose(fit, wanted, rtol=1e-3, atol=1e-4):
            continue
        if left.size and left[0] > 1e-6 * len(action):
            return None
        return (
            f"scale or offset: {name} has {fit[1]:.4g} + {fit[0]:.4g} x action, "
            f"expected {wanted[1]:.4g} + {wanted[0]:.4g} x action"
        )
    return None


def _gains(interface: Interface, recording: Recording) -> Finding:
    """Compare recorded efforts with the contract's PD law."""
    names = ("effort", "joint_pos_target", "joint_pos", "joint_vel")
    absent = [name for name in names if recording.get(name) is None]
    if absent:
        return Finding("gains", "undetermined", f"{absent[0]} was not recorded")
    effort, target, pos, vel = (recording.arrays[name] for name in names)
    assert recording.joints is not None, "The recording is in the robot's order."
    places = [recording.joints.index(name) for name in interface.joints]
    away, speed = (target - pos)[:, places], vel[:, places]
    found = effort[:, places]
    expected = interface.stiffness * away - interface.damping * speed
    size = np.maximum(np.abs(expected).max(axis=0), 1e-3)
    if (np.abs(found - expected) <= _GAINS * size).mean() > 0.98:
        return Finding("gains", "ok")
    for late in (1, 2):
        old = interface.stiffness * (target[:-late] - pos[late:])[:, places]
        old = old - interface.damping * speed[late:]
        if (np.abs(found[late:] - old) <= _GAINS * size).mean() > 0.98:
            steps = f"{late} step{'s' * (late > 1)}"
            said = f"delay: efforts follow the targets {steps} late"
            return Finding("targets", "mismatch", said)
    fits = _fitted(found, away, speed)
    if fits is None:
        said = (
            "undetermined reason: efforts are not stiffness x (target - position) - "
            "damping x velocity with constant gains"
        )
        return Finding("gains", "mismatch", said)
    return Finding("gains", "mismatch", _gain_reason(interface, fits))


def _fitted(
    effort: np.ndarray, away: np.ndarray, speed: np.ndarray
) -> np.ndarray | None:
    """Fit stiffness and damping per joint, shape (joints, 2); None if a fit is poor."""
    found = []
    for column in range(effort.shape[1]):
        system = np.column_stack((away[:, column], -speed[:, column]))
        fit = np.linalg.lstsq(system, effort[:, column], rcond=None)[0]
        left = np.abs(system @ fit - effort[:, column])
        if np.quantile(left, 0.9) > _GAINS * max(np.abs(effort[:, column]).max(), 1e-3):
            return None
        found.append(fit)
    return np.array(found)


def _gain_reason(interface: Interface, fits: np.ndarray) -> str:
    """Describe how the fitted gains differ from the contract."""
    parts = []
    for place, name in enumerate(("stiffness", "damping")):
        wanted, found = getattr(interface, name), fits[:, place]
        wrong = np.flatnonzero(np.abs(found - wanted) > _GAINS * np.abs(wanted).max())
        if not len(wrong):
            continue
        if np.allclose(np.sort(found), np.sort(wanted), rtol=_GAINS):
            parts.append(f"order of {name}: the values are at other joints")
            continue
        factors = found[wrong] / wanted[wrong]
        if np.ptp(factors) < _GAINS * abs(factors).max() and len(wrong) > 1:
            parts.append(f"{name}: found {factors.mean():.3g} times the expected value")
        first = int(wrong[0])
        parts.append(
            f"{name} of {interface.joints[first]} is {found[first]:.4g}, expected "
            f"{wanted[first]:.4g}" + f" and {len(wrong) - 1} more" * (len(wrong) > 1)
        )
    return "; ".join(parts) or "undetermined reason"


def _rate(interface: Interface, recording: Recording) -> Finding:
    time = recording.get("time")
    if time is None:
        return Finding("rate", "undetermined", "time was not recorded")
    period = float(np.median(np.diff(time[:, 0])))
    if abs(period - interface.control_dt) <= _RATE * interface.control_dt:
        return Finding("rate", "ok")
    said = f"steps are {period:.4g} s apart, expected {interface.control_dt:.4g} s"
    return Finding("rate", "mismatch", said)


def _differs(found: np.ndarray, expected: np.ndarray) -> np.ndarray:
    return np.abs(found - expected) > _TOLERANCE * np.maximum(1.0, np.abs(expected))

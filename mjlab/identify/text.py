"""Console output of an identification: estimates, undetermined parameters, advice."""

from mjlab.identify.fit import UNDETERMINED, Estimate, FitResult
from mjlab.identify.motion import Motion
from mjlab.identify.parameters import Candidate

_REASONS = {
    "effort_limit": "the motor did not saturate for long: use larger, faster steps",
    "armature": "accelerations were too small: use faster motions",
    "friction": "the joint moved too little: use slow reversals",
    "damping": "velocities were too small: use faster motions",
    "gain": "only its ratio to other parameters is visible: log torque, or fix one",
    "delay": "targets changed too slowly: use steps",
    "mass": "its load was too small: move the joints before it further",
    "com": "its load was too small: move the joints before it further",
}


def table(result: FitResult) -> str:
    """Return the estimates as a table with one line per parameter."""
    lines = [
        f"{'parameter':30s} {'task':>10s} {'estimate':>10s} {'95 % interval':>23s}"
    ]
    for each in result.estimates:
        candidate = each.candidate
        ends = f"{each.low:.4g} to {each.high:.4g}"
        mark = "" if each.determined else "  not determined"
        lines.append(
            f"{candidate.name:30s} {candidate.nominal:10.4g} {each.value:10.4g} "
            f"{ends:>23s} {candidate.unit}{mark}"
        )
    return "\n".join(lines)


def advice(result: FitResult) -> str:
    """Explain why parameters are undetermined; return "" if all are determined."""
    lines = []
    for each in result.undetermined:
        line = f"  {each.candidate.name}: {_reason(each)}."
        lines.append(line)
    if not lines:
        return ""
    return "The logs do not determine:\n" + "\n".join(lines)


def _reason(estimate: Estimate) -> str:
    if estimate.related:
        others = ", ".join(estimate.related)
        return f"its effect cannot be distinguished from {others}"
    return _REASONS[estimate.candidate.kind]


def quality(result: FitResult, step: float) -> str:
    """Describe the size of the residuals, and warn if they are correlated.

    Args:
        result: Result of the fit.
        step: Median period of the logs, s.
    """
    worst = {}
    for name, value in result.noise.items():
        signal = name.rpartition(".")[2]
        worst[signal] = max(value, worst.get(signal, 0.0))
    sizes = ", ".join(f"{signal} {value:.2g}" for signal, value in worst.items())
    text = f"Largest residual of a signal (root mean square): {sizes}."
    if result.correlation > 3.0:
        text += (
            f" Residuals are correlated over {result.correlation * step:.2g} s, so the "
            "model misses part of the motion: contacts, backlash, flexible links or "
            "wrong columns. The intervals are widened accordingly."
        )
    return text


def forecast(motion: Motion, unknowns: list[Candidate]) -> str:
    """Return a table of the intervals that are expected from a motion's log."""
    lines = [f"{'parameter':30s} {'value':>10s} {'expected interval':>18s}"]
    for each in unknowns:
        half = motion.half[each.name]
        determined = half < UNDETERMINED * 0.5 * (each.high - each.low)
        text = f"± {half:.2g}" if determined else "not determined"
        lines.append(f"{each.name:30s} {each.start:10.4g} {text:>18s} {each.unit}")
    return "\n".join(lines)

"""Format numbers, times and names for pages."""

import datetime
import math
import shlex
from dataclasses import dataclass

MINUS = "\N{MINUS SIGN}"
TIMES = "\N{MULTIPLICATION SIGN}"
DASH = "\N{EN DASH}"


def number(value: float | None, digits: int = 4) -> str:
    """Format a number with a typographic minus sign, such as "1.235M".

    The number has `digits` significant digits. None, NaN and infinity give "not
    finite".
    """
    if value is None or not math.isfinite(value):
        return "not finite"
    size = abs(value)
    if size == 0.0:
        return "0"
    if size >= 99_999.5:
        exponent = min(int(math.log10(size * 1.0000001) // 3), 4)
        shown = f"{size / 1000**exponent:.{digits}g}{' kMGT'[exponent]}"
    elif size < 1e-3:
        mantissa, _, power = f"{size:.{digits - 2}e}".partition("e")
        shown = f"{_trimmed(mantissa)}e{MINUS}{abs(int(power))}"
    else:
        decimals = max(0, digits - 1 - math.floor(math.log10(size)))
        shown = _trimmed(f"{size:.{decimals}f}")
    return f"{MINUS}{shown}" if value < 0 else shown


def whole(value: float) -> str:
    """Format an integer with thin spaces between groups of three digits."""
    return f"{value:,.0f}".replace(",", "\N{NARROW NO-BREAK SPACE}")


def share(value: float | None) -> str:
    """Format a fraction in percent; "unknown" for None."""
    return "unknown" if value is None else f"{value:.1%}".replace(".0%", "%")


def duration(seconds: float) -> str:
    """Format a duration in its two largest units, such as "2 h 5 min"."""
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    left = round(seconds)
    parts: list[str] = []
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min"), (1, "s")):
        count, left = divmod(left, size)
        if count or parts:
            parts.append(f"{count} {unit}" if count else "")
    return " ".join(part for part in parts[:2] if part)


def file_size(size: int) -> str:
    """Format a file size, bytes, such as "1.5 MB"."""
    for unit in ("bytes", "kB", "MB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000  # type: ignore[assignment]
    return f"{size:.3g} GB"


def moment(text: str | None) -> str:
    """Format a timestamp of `run.json`, such as "3 May 2026, 14:05:00"."""
    try:
        when = datetime.datetime.fromisoformat(text or "")
    except ValueError:
        return text or "unknown"
    return f"{when.day} {when:%B %Y, %H:%M:%S}"


def counted(count: int, one: str, many: str = "") -> str:
    """Format a count with its noun, such as "3 trials"."""
    return f"{whole(count)} {one if count == 1 else many or one + 's'}"


def command_lines(command: str) -> str:
    """Break a shell command into lines, with one option per line."""
    try:
        words = shlex.split(command)
    except ValueError:
        return command
    broken = (" \\\n  " if word.startswith("--") else " " for word in words[1:])
    pieces = zip(broken, words[1:], strict=True)
    return "".join([*words[:1], *(gap + shlex.quote(word) for gap, word in pieces)])


def _trimmed(digits: str) -> str:
    return digits.rstrip("0").rstrip(".") if "." in digits else digits


# Displayed names.

SPREADS = {
    "return": "return",
    "length_steps": "length, steps",
    "length_s": "length, s",
}
"""Displayed names of statistics over episodes, by key in an evaluation file."""

SHARES = {
    "falls": "falls",
    "success_once": "success once",
    "success_at_end": "success at end",
}
"""Displayed names of fractions of episodes, by key in an evaluation file."""


@dataclass(frozen=True)
class Title:
    """Displayed name of a metric."""

    text: str
    """Displayed name."""

    unit: str
    """Unit of the values, or a short explanation."""

    is_term: bool = False
    """Whether the name is an identifier, which is shown in a code font."""


_TITLES = {
    "Train/mean_reward": Title("Episode reward", "sum over the episode"),
    "Train/mean_episode_length": Title("Episode length", "steps"),
    "Train/mean_step_reward": Title("Reward per step", "mean of all steps"),
    "Train/episodes": Title("Finished episodes", "episodes per iteration"),
    "Loss/value": Title("Value loss", "reward\N{SUPERSCRIPT TWO}"),
    "Loss/surrogate": Title("Surrogate loss", "in standardised advantages"),
    "Loss/entropy": Title("Action entropy", "nats"),
    "Policy/mean_std": Title("Action noise", "standard deviation, action units"),
    "Policy/learning_rate": Title("Learning rate", "of the optimiser"),
    "Perf/steps_per_s": Title("Speed", "world steps per second"),
    "Perf/collect_s": Title("acting", "s"),
    "Perf/learn_s": Title("learning", "s"),
    "Eval/mean_reward": Title("Episode reward", "sum over the episode"),
    "Eval/mean_episode_length": Title("Episode length", "steps"),
    "Eval/finished": Title("Episodes that timed out", "fraction"),
    "Health/nonfinite": Title("Non-finite values", "world steps per iteration"),
    "Health/overflow": Title("Overflow", "events so far"),
}
_UNITS = {
    "Loss": "no unit",
    "Episode_Reward": "reward per second",
    "Episode_Termination": "fraction of episodes",
    "Metrics": "mean over episodes",
    "Curriculum": "current value",
}


def title_of(name: str) -> Title:
    """Return the displayed name of a metric in `metrics.jsonl`."""
    if name in _TITLES:
        return _TITLES[name]
    group, _, rest = name.partition("/")
    plain = group in ("Episode_Reward", "Episode_Termination", "Metrics", "Curriculum")
    text = rest if plain and rest else name
    return Title(text, _UNITS.get(group, ""), is_term=True)

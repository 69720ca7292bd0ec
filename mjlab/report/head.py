"""Top of the page: the run, and its outcome."""

import shlex
from pathlib import Path
from typing import Any

from mjlab.report.markup import (
    Html,
    cards,
    code,
    element,
    escaped,
    facts,
    joined,
    link,
)
from mjlab.report.record import Record
from mjlab.report.words import counted, duration, moment, number, whole

QUIET = 120.0
"""Seconds without new figures after which a running run is reported as possibly
dead."""

_MIDDLE_DOT = " \N{MIDDLE DOT} "
_STATUSES = ("running", "finished", "stopped", "failed", "died")


def head(record: Record) -> Html:
    """Return task, state, main figures, and provenance of the run."""
    info = record.info
    status = str(info.get("status", "unknown"))
    kind = status if status in _STATUSES else "unknown"
    return element(
        "header",
        element("p", "Training run", class_="kicker"),
        element("h1", str(info.get("task", "Unknown task"))),
        element("p", _name(record), class_="run"),
        element(
            "p",
            element("span", status, class_=f"status {kind}"),
            element("span", _reason(record, status), class_="reason"),
        ),
        _main_figures(record),
        _origins(record),
    )


def _name(record: Record) -> Html:
    name = str(record.info.get("name") or "")
    called = joined(element("strong", name), _MIDDLE_DOT) if name else None
    return joined(called, record.folder.name)


def _reason(record: Record, status: str) -> str:
    """Return the reason of the end, or the progress of a run that has not ended."""
    reason = str(record.info.get("reason") or "")
    if status not in ("running", "died"):
        return f"{reason[:1].upper()}{reason[1:]}" or "No reason was recorded."
    most = record.setting("agent.max_iterations")
    done = record.span.last
    said = f"{done} of {most} iterations" if most else counted(done, "iteration")
    if status == "died":
        return f"Its process ended without recording a reason, after {said}."
    if record.age is None:
        return "No figures yet."
    ago = duration(record.age)
    if record.age > QUIET:
        return (
            f"{said}. The newest figures are {ago} old: the process may have been "
            "killed, which records no reason."
        )
    return f"{said}, the newest {ago} before this report."


def _main_figures(record: Record) -> Html:
    metrics = record.metrics
    speed = metrics.series.get("Perf/steps_per_s")
    middle = _median(speed.finite) if speed and speed.finite else None
    seconds, steps = metrics.last("Perf/seconds"), metrics.last("Train/env_steps")
    best, where = best_score(record)
    last = metrics.last("Train/mean_reward")
    most = record.setting("agent.max_iterations")
    found = [
        ("Best score", "none" if best is None else number(best), where),
        ("Latest reward", "none" if last is None else number(last), "per episode"),
        ("Iterations", whole(record.span.last), f"of {most}" if most else ""),
        ("Steps", "none" if steps is None else number(steps), "of all worlds"),
        ("Trained for", "unknown" if seconds is None else duration(seconds), ""),
        ("Speed", "none" if middle is None else number(middle), "steps/s, median"),
    ]
    return cards(found)


def best_score(record: Record) -> tuple[float | None, str]:
    """Return the best score of the run, and a description of its source."""
    chosen = record.setting("agent.stop.metric")
    names = [chosen] if chosen else ["Eval/mean_reward", "Train/mean_reward"]
    name = next((name for name in names if name in record.metrics.series), None)
    told = _told(name) if name else ""
    score = record.best.get("score")
    if isinstance(score, int | float):
        return score, f"{told}, iteration {record.best.get('iteration')}"
    found = record.metrics.series[name].best() if name else None
    if found is None:
        return None, "no score yet"
    return found[1], f"{told}, iteration {found[0]}"


def _told(name: str) -> str:
    return {"Eval/mean_reward": "evaluation", "Train/mean_reward": "training"}.get(
        name, name
    )


def _origins(record: Record) -> Html:
    """Return command, source, machine and versions."""
    info = record.info
    versions = info.get("versions") or {}
    resumed = [_resumption(entry) for entry in info.get("resumed", [])]
    finished = info.get("finished")
    begun, over = moment(info.get("started")), moment(finished)
    times = f"{begun} to {over}" if finished else f"since {begun}"
    return facts(
        [
            ("Command", element("pre", _command(info), class_="command")),
            ("Resumed", joined(*resumed, between="; ") if resumed else None),
            ("When", times),
            ("Seed", str(info.get("seed", "unknown"))),
            ("Source", _git(record)),
            ("Machine", _machine(info.get("hardware") or {})),
            ("Versions", _MIDDLE_DOT.join(f"{k} {v}" for k, v in versions.items())),
            ("Folder", code("/".join(record.folder.resolve().parts[-2:]))),
        ]
    )


def _command(info: dict[str, Any]) -> str:
    return command_lines(str(info.get("command", "")))


def command_lines(command: str) -> str:
    """Return a command line with one option per line, for a shell."""
    try:
        words = shlex.split(command)
    except ValueError:
        return command
    broken = (" \\\n  " if word.startswith("--") else " " for word in words[1:])
    pieces = zip(broken, words[1:], strict=True)
    return "".join([*words[:1], *(gap + shlex.quote(word) for gap, word in pieces)])


def _resumption(entry: dict[str, Any]) -> Html:
    said = f"after iteration {entry.get('iteration')}, {moment(entry.get('time'))}"
    command = entry.get("command")
    return joined(said, ", by ", code(str(command))) if command else escaped(said)


def _git(record: Record) -> Html | str:
    found: list[Html] = []
    for top, state in (record.info.get("git") or {}).items():
        commit = str(state.get("commit") or "no commit")[:12]
        name = code(Path(top).name)
        said = joined(code(commit), f" on {state.get('branch')} in ", name)
        if state.get("changed"):
            said = joined(said, ", with uncommitted changes")
        found.append(said)
    folder = record.folder / "git"
    diffs = sorted(folder.glob("*.diff")) if folder.is_dir() else []
    for diff in diffs:
        found.append(joined("changes: ", link(diff, record.folder)))
    return joined(*found, between="; ") if found else "not in a git repository"


def _machine(hardware: dict[str, Any]) -> str:
    gpus = hardware.get("gpus") or []
    memory = hardware.get("memory_gb")
    parts = [
        ", ".join(gpus) if gpus else "no GPU",
        f"{hardware.get('processor')}, {counted(hardware.get('cores') or 0, 'core')}",
        f"{memory} GB of memory" if memory else None,
        hardware.get("system"),
    ]
    return _MIDDLE_DOT.join(str(part) for part in parts if part)


def _median(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]

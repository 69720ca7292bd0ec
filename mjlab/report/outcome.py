"""Sections after the curves: evaluation, health, videos, files."""

import base64
from pathlib import Path
from typing import Any

from mjlab.gait.limits import ERRORS, failures
from mjlab.gait.table import gait_rows, gait_tables, tracking_table, verdict
from mjlab.report.curves import curves
from mjlab.report.markup import (
    Html,
    Section,
    address,
    code,
    element,
    fold,
    grid,
    joined,
    link,
    section,
    table,
)
from mjlab.report.record import REPORT, Record
from mjlab.report.words import (
    SHARES,
    SPREADS,
    counted,
    file_size,
    moment,
    number,
    share,
)
from mjlab.runs.metrics import Series

EMBEDDED = 8_000_000
"""Maximum bytes of video embedded in the page. Larger videos are linked."""

ROWS = 12
"""Table rows that are shown before unfolding."""

_KINDS = {".mp4": "video/mp4", ".webm": "video/webm", ".gif": "image/gif"}


_OF_CLIPS = {
    "episodes": "episodes",
    "success": "success",
    "pos": "bodies, m",
    "global_pos": "in the world, m",
    "ori": "rotation, rad",
    "global_ori": "in the world, rad",
    "joint_vel_rms": "joints, rad/s",
}
"""Figures of tracked clips; the first of each pair is re-anchored."""


# Evaluation.


def evaluation(record: Record) -> Section | None:
    """Evaluation scores, the best checkpoint, and the tables of `evaluate.py`."""
    found = _evaluated(record)
    if not found and not record.evaluations and not record.best:
        return None
    charts = [curves([one], record, share="finished" in one.name) for one in found]
    parts: list[Html | None] = [grid(charts) if charts else None, _scores(record)]
    for name, data in record.evaluations.items():
        parts.append(_evaluation_table(record.folder / name, data, record))
    return section("evaluation", "Evaluation", *parts, lead=_best(record))


def _evaluated(record: Record) -> list[Series]:
    """Return the evaluation series, the reward first."""
    found = record.metrics.group("Eval")
    return sorted(found, key=lambda one: one.name != "Eval/mean_reward")


def _best(record: Record) -> str:
    best = record.best
    if not best:
        return ""
    score = best.get("score")
    valued = f"scored {number(score)}" if isinstance(score, int | float) else "is"
    return (
        f"The best checkpoint {valued} at iteration {best.get('iteration')}: "
        "checkpoints/best.pt."
    )


def _scores(record: Record) -> Html | None:
    """Return a table with one row per evaluation."""
    found = _evaluated(record)
    iterations = sorted({i for one in found for i in one.iterations})
    if not iterations:
        return None
    values = [dict(zip(one.iterations, one.values, strict=True)) for one in found]
    rows = [
        [str(i), *(number(by[i]) if i in by else "" for by in values)]
        for i in iterations
    ]
    names = [one.name.partition("/")[2].replace("_", " ") for one in found]
    whole = table(["iteration", *names], rows)
    if len(rows) <= ROWS:
        return whole
    return fold(f"All {len(rows)} evaluations", whole)


def _evaluation_table(file: Path, data: dict[str, Any], record: Record) -> Html:
    """Return the table of an `evaluate.py` result."""
    summary = data["summary"] if isinstance(data["summary"], dict) else {}
    rows = [
        _spread_row(said, summary[name])
        for name, said in SPREADS.items()
        if isinstance(summary.get(name), dict)
    ]
    figures = summary.get("figures")
    if isinstance(figures, dict):
        rows += [_spread_row(k, v) for k, v in figures.items() if isinstance(v, dict)]
    shares = [
        f"{said} {share(summary[name])}"
        for name, said in SHARES.items()
        if isinstance(summary.get(name), int | float)
    ]
    ends = summary.get("ended_by") or {}
    if ends:
        told = ", ".join(f"{name} {count}" for name, count in ends.items())
        shares.append(f"ended by {told}")
    policy = str(data.get("policy", "unknown"))
    title = joined(
        f"{counted(summary.get('episodes', 0), 'episode')} of ",
        Path(policy).name,
        f", seeds from {data.get('seed')} (",
        link(file, record.folder),
        ")",
    )
    settings = _settings(data)
    return joined(
        element("h3", title),
        element("p", f"{'; '.join(shares)}.") if shares else None,
        element("p", f"With {settings}.") if settings else None,
        table(["", "mean", "std", "min", "max"], rows),
        _clip_table(data.get("clips")),
        _gait(data.get("gait")),
    )


def _clip_table(clips: Any) -> Html | None:
    """Return the table of tracking errors by clip, None without clips."""
    if not isinstance(clips, dict):
        return None
    rows = [
        [name, *(number(found.get(key)) for key in _OF_CLIPS)]
        for name, found in clips.items()
        if isinstance(found, dict)
    ]
    return table(["clip", *_OF_CLIPS.values()], rows) if rows else None


def _gait(worlds: Any) -> Html | None:
    """Return the gait measures of a walking policy, with their verdict."""
    if not _is_gait(worlds):
        return None
    tables = [*gait_tables(gait_rows(worlds)), tracking_table(worlds)]
    said, *failed = verdict(failures(worlds)).splitlines()
    return joined(
        element("h3", "Gait"),
        *(table(head, rows) for head, *rows in tables),
        element("p", f"{said[:1].upper()}{said[1:]}{':' if failed else '.'}"),
        element("ul", *(element("li", line) for line in failed)) if failed else None,
    )


def _is_gait(worlds: Any) -> bool:
    """Return whether data has the layout of gait measures by world and command."""
    if not isinstance(worlds, dict) or not worlds or worlds.keys() - ERRORS.keys():
        return False
    by_command = list(worlds.values())
    return all(
        isinstance(commands, dict)
        and commands.keys() == by_command[0].keys()
        and all(isinstance(figures, dict) for figures in commands.values())
        for commands in by_command
    )


def _spread_row(name: str, spread: dict[str, Any]) -> list[str]:
    keys = ("mean", "deviation", "least", "most")
    return [name, *(number(spread.get(key)) for key in keys)]


def _settings(data: dict[str, Any]) -> str:
    """Return the differences between the evaluated environment and that of the run."""
    settings = data.get("settings") or {}
    changed = [f"{k} {' '.join(map(str, v))}" for k, v in settings.items()]
    return ", ".join([*changed, *(f"no {name}" for name in data.get("disabled") or [])])


# Findings.


def findings(record: Record) -> Section | None:
    """Findings of the doctor, the most certain first."""
    listed = record.findings.get("findings")
    if not isinstance(listed, list):
        return None
    where = f"Examined: {record.findings.get('looked_at')}."
    if not listed:
        return section("doctor", "Doctor", lead=f"Nothing found. {where}")
    rows = [
        [
            str(one.get("degree")),
            str(one.get("what")),
            joined(
                str(one.get("advice")),
                *(
                    code(f" --{name} {value}")
                    for name, value in (one.get("settings") or {}).items()
                ),
            ),
        ]
        for one in listed
        if isinstance(one, dict)
    ]
    return section("doctor", "Doctor", table(["", "found", "try"], rows), lead=where)


# Health.


def health(record: Record) -> Section:
    """Faults in the run, or a note that none were recorded."""
    metrics = record.metrics
    counters = [one for one in metrics.group("Health") if any(one.finite)]
    charts = [curves([one], record, with_zero=True) for one in counters]
    bad = [one for one in metrics.series.values() if one.bad]
    rows = [[one.name, str(len(one.bad)), str(one.bad[0])] for one in bad]
    lines = [f"{fault} could not be read." for fault in record.faults]
    if metrics.damaged:
        torn = counted(metrics.damaged, "line")
        lines.append(f"{torn} of metrics.jsonl could not be read and are omitted.")
    is_well = not (charts or rows or lines or record.dumps or record.error)
    return section(
        "health",
        "Health",
        *(element("p", line, class_="warning") for line in lines),
        _error(record),
        grid(charts) if charts else None,
        table(["figure", "non-finite values", "first iteration"], rows)
        if rows
        else None,
        _dumps(record),
        lead=_well(record) if is_well else "",
    )


def _well(record: Record) -> str:
    done = counted(len(record.metrics.iterations), "recorded iteration")
    return (
        f"In {done}, every number was finite, contacts and constraints fitted into "
        "their buffers, and no world was dumped."
    )


def _error(record: Record) -> Html | None:
    if not record.error:
        return None
    failed = record.info.get("status") == "failed"
    return fold(
        "Traceback" if failed else "Traceback of an earlier end",
        element("pre", record.error),
        is_open=failed,
    )


def _dumps(record: Record) -> Html | None:
    if not record.dumps:
        return None
    entries = [
        element("li", link(dump, record.folder), f" ({file_size(_size(dump))})")
        for dump in record.dumps
    ]
    said = f"{counted(len(entries), 'dump')} of worlds with faults:"
    return joined(element("p", said, class_="warning"), element("ul", *entries))


# Videos and files.


def videos(record: Record) -> Section | None:
    """Videos of the policy, newest first."""
    left = EMBEDDED
    shown: list[Html] = []
    for file in record.videos:
        size = file.stat().st_size
        is_embedded = size <= left
        left -= size if is_embedded else 0
        shown.append(_video(file, record.folder, is_embedded))
    if not shown:
        return None
    return section("videos", "Videos", element("div", *shown, class_="films"))


def _video(file: Path, folder: Path, is_embedded: bool) -> Html:
    kind = _KINDS[file.suffix.lower()]
    name = link(file, folder)
    about = f" {file_size(file.stat().st_size)}"
    if is_embedded:
        data = base64.b64encode(file.read_bytes()).decode()
        source = f"data:{kind};base64,{data}"
        where = element("figcaption", name, about)
    else:
        source = address(file, folder)
        where = element("figcaption", name, f"{about}, separate file")
    if kind.startswith("image/"):
        film = element("img", src=source, alt=file.name)
    else:
        film = element(
            "video", src=source, controls=True, loop=True, preload="metadata"
        )
    return element("figure", film, where)


def files(record: Record) -> Section:
    """The other files in the folder."""
    folder = record.folder
    rows: list[list[str]] = []
    for file in sorted(folder.rglob("*")):
        inside = file.relative_to(folder).as_posix()
        is_plain = file.is_file() and not file.is_symlink()
        if is_plain and inside != REPORT and not inside.endswith(".tmp"):
            rows.append([link(file, folder), file_size(file.stat().st_size)])
    exports = [row for row in rows if "./export/" in row[0]]
    listed = table(["file", "size"], rows, class_="files")
    told = [counted(len(rows), "file")]
    started = record.info.get("started")
    if started:
        told.append(f"begun {moment(started)}")
    return section(
        "files",
        "Files",
        joined(element("h3", "Exported policy"), table(["file", "size"], exports))
        if exports
        else None,
        listed if len(rows) <= ROWS else fold(f"All {told[0]}", listed),
    )


def _size(entry: Path) -> int:
    if entry.is_file():
        return entry.stat().st_size
    return sum(file.stat().st_size for file in entry.rglob("*") if file.is_file())

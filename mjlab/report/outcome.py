"""Report sections without training curves: evaluations, health, videos and files."""

import base64
import statistics
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mjlab.gait.limits import ERRORS, failures
from mjlab.gait.table import Table, gait_rows, gait_tables, tracking_table, verdict
from mjlab.report.chart import Chart
from mjlab.report.curves import curves
from mjlab.report.record import REPORT, Record
from mjlab.report.template import address
from mjlab.report.words import SHARES, SPREADS, number
from mjlab.runs.metrics import Series

EMBEDDED = 8_000_000
"""Maximum total size of videos that the page embeds, bytes. Other videos are linked."""

_KINDS = {".mp4": "video/mp4", ".webm": "video/webm", ".gif": "image/gif"}

CLIPS = {
    "episodes": "episodes",
    "success": "success",
    "pos": "bodies, m",
    "global_pos": "in the world, m",
    "ori": "rotation, rad",
    "global_ori": "in the world, rad",
    "joint_vel_rms": "joints, rad/s",
}
"""Column titles of the tracking errors of a motion clip, by key.

`pos` and `ori` compare bodies after the reference is re-anchored at the robot,
`global_pos` and `global_ori` in the world frame.
"""


# Scores.


def best_score(record: Record) -> tuple[float | None, str]:
    """Return the best score of the run (None if there is none), and its source."""
    chosen = record.setting("agent.stop.metric")
    names = [chosen] if chosen else list(_SOURCES)
    name = next((name for name in names if name in record.metrics.series), None)
    told = _SOURCES.get(name, name) if name else ""
    score = record.best.get("score")
    if isinstance(score, int | float):
        return score, f"{told}, iteration {record.best.get('iteration')}"
    found = record.metrics.series[name].best() if name else None
    if found is None:
        return None, "no score yet"
    return found[1], f"{told}, iteration {found[0]}"


_SOURCES = {"Eval/mean_reward": "evaluation", "Train/mean_reward": "training"}


@dataclass(frozen=True)
class TrainingScores:
    """Evaluations during training, as charts and as a table. The reward comes first."""

    charts: list[Chart]
    """One chart per metric."""

    columns: list[str]
    """Column titles of the table."""

    rows: list[list[str]]
    """Table cells, one row per evaluation."""


def scores(record: Record) -> TrainingScores | None:
    """Return the evaluations during training, None if there are none."""
    found = record.metrics.group("Eval")
    found.sort(key=lambda one: one.name != "Eval/mean_reward")
    columns = [dict(zip(one.iterations, one.values, strict=True)) for one in found]
    rows = [
        [str(i), *(number(column[i]) if i in column else "" for column in columns)]
        for i in sorted({i for column in columns for i in column})
    ]
    names = [one.name.partition("/")[2].replace("_", " ") for one in found]
    charts = [curves([one], record, share="finished" in one.name) for one in found]
    return TrainingScores(charts, ["iteration", *names], rows) if found else None


def typical_speed(record: Record) -> float | None:
    """Return the median of environment steps per second, None if unknown."""
    found = record.metrics.series.get("Perf/steps_per_s")
    return statistics.median_high(found.finite) if found and found.finite else None


# Evaluations by `evaluate.py`.


@dataclass(frozen=True)
class GaitResult:
    """Gait metrics of a walking policy, and their comparison with limits."""

    tables: list[Table]
    """Tables of gait metrics and tracking errors."""

    verdict: str
    """Sentence that says whether the gait is natural."""

    failures: list[str]
    """Descriptions of the metrics outside their limits."""


@dataclass(frozen=True, kw_only=True)
class EvaluationResult:
    """Result of `evaluate.py`. Entries with an unexpected type are omitted."""

    file: str
    """Path of the result file, relative to the page."""

    data: dict[str, Any]
    """Content of the result file."""

    spreads: dict[str, dict[str, Any]]
    """Statistics over episodes, by displayed name."""

    shares: dict[str, float]
    """Fractions of episodes, by displayed name."""

    ended_by: dict[str, Any]
    """Number of episodes by termination term."""

    clips: dict[str, dict[str, Any]]
    """Tracking errors by motion clip."""

    gait: GaitResult | None
    """Gait metrics, None for policies that do not walk."""

    @property
    def policy(self) -> str:
        """File name of the policy."""
        return Path(str(self.data.get("policy", "unknown"))).name

    @property
    def settings(self) -> list[str]:
        """Differences of the evaluated environment from the run's, as text."""
        settings = self.data.get("settings") or {}
        changed = [f"{k} {' '.join(map(str, v))}" for k, v in settings.items()]
        return [*changed, *(f"no {name}" for name in self.data.get("disabled") or [])]


def evaluations(record: Record) -> list[EvaluationResult]:
    """Return the results of `evaluate.py` in the run's folder."""
    return [_evaluation(name, data) for name, data in record.evaluations.items()]


def _evaluation(file: str, data: dict[str, Any]) -> EvaluationResult:
    summary = _mapping(data["summary"])
    spreads = {said: summary.get(name) for name, said in SPREADS.items()}
    spreads |= _mapping(summary.get("figures"))
    shares = {said: summary.get(name) for name, said in SHARES.items()}
    return EvaluationResult(
        file=file,
        data={**data, "episodes": summary.get("episodes", 0)},
        spreads={k: v for k, v in spreads.items() if isinstance(v, dict)},
        shares={k: v for k, v in shares.items() if isinstance(v, int | float)},
        ended_by=summary.get("ended_by") or {},
        clips={
            name: found
            for name, found in _mapping(data.get("clips")).items()
            if isinstance(found, dict)
        },
        gait=_gait(data.get("gait")),
    )


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _gait(worlds: Any) -> GaitResult | None:
    if not _is_gait(worlds):
        return None
    tables = [*gait_tables(gait_rows(worlds)), tracking_table(worlds)]
    said, *failed = verdict(failures(worlds)).splitlines()
    return GaitResult(tables, f"{said[:1].upper()}{said[1:]}", failed)


def _is_gait(worlds: Any) -> bool:
    """Return whether a value has gait metrics by condition and command."""
    if not isinstance(worlds, dict) or not worlds or worlds.keys() - ERRORS.keys():
        return False
    by_command = list(worlds.values())
    return all(
        isinstance(commands, dict)
        and commands.keys() == by_command[0].keys()
        and all(isinstance(figures, dict) for figures in commands.values())
        for commands in by_command
    )


# Health.


@dataclass(frozen=True, kw_only=True)
class Faults:
    """Faults that were recorded in the run."""

    charts: list[Chart]
    """Charts of fault counters that are not always zero."""

    bad: list[Series]
    """Metrics with NaN or infinite values."""

    dumps: dict[str, int]
    """Sizes of dumps, bytes, by path relative to the page."""

    is_well: bool
    """Whether the run has no faults."""


def health(record: Record) -> Faults:
    """Collect the faults of the run."""
    metrics = record.metrics
    counters = [one for one in metrics.group("Health") if any(one.finite)]
    bad = [one for one in metrics.series.values() if one.bad]
    dumps = {_inside(dump, record): _size(dump) for dump in record.dumps}
    faults = (counters, bad, dumps, record.faults, metrics.damaged, record.error)
    return Faults(
        charts=[curves([one], record, with_zero=True) for one in counters],
        bad=bad,
        dumps=dumps,
        is_well=not any(faults),
    )


# Videos and files.


@dataclass(frozen=True)
class VideoEntry:
    """Video of the policy, embedded in the page or linked."""

    file: str
    """Path relative to the page."""

    size: int
    """Size, bytes."""

    source: str
    """Data URL of an embedded video, or address of a linked one."""

    is_image: bool
    """Whether the file is an animated image (GIF)."""


def videos(record: Record) -> list[VideoEntry]:
    """Return the videos of the policy, newest first."""
    left = EMBEDDED
    found: list[VideoEntry] = []
    for file in record.videos:
        inside, size = _inside(file, record), file.stat().st_size
        is_embedded = size <= left
        left -= size if is_embedded else 0
        kind, source = _KINDS[file.suffix.lower()], address(inside)
        if is_embedded:
            data = base64.b64encode(file.read_bytes()).decode()
            source = f"data:{kind};base64,{data}"
        is_image = kind.startswith("image/")
        found.append(
            VideoEntry(file=inside, size=size, source=source, is_image=is_image)
        )
    return found


def files(record: Record) -> dict[str, int]:
    """Return the sizes of the run's files, bytes, by relative path.

    The report, temporary files and links are omitted.
    """
    found = {
        _inside(file, record): file.stat().st_size
        for file in sorted(record.folder.rglob("*"))
        if file.is_file() and not file.is_symlink()
    }
    return {k: v for k, v in found.items() if k != REPORT and not k.endswith(".tmp")}


def _inside(file: Path, record: Record) -> str:
    return file.relative_to(record.folder).as_posix()


def _size(entry: Path) -> int:
    if entry.is_file():
        return entry.stat().st_size
    return sum(file.stat().st_size for file in entry.rglob("*") if file.is_file())

"""The report of a run: drawings, text, and security."""

import base64
import hashlib
import json
import math
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from mjlab.cli import report as script
from mjlab.report import render, write_report
from mjlab.report.chart import Chart, ChartLine
from mjlab.report.curves import MOST_POINTS, STRETCHES
from mjlab.report.outcome import EMBEDDED
from mjlab.report.scale import Scale, scale_for
from mjlab.report.words import duration, file_size, number
from mjlab.rl import EvaluationCfg, Hook, LoggingCfg
from mjlab.runs import RunError
from mjlab.settings.file import settings_text
from mjlab.tasks.cartpole import CartpoleBalanceCfg
from tests.tools.browser import Browser, find_browser
from tests.tools.flat import flat_settings
from tests.worlds.rl_runs import Display, agent_cfg, env_cfg, train_without_export

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = ROOT / "tasks/cartpole/trained/Cartpole-Balance"
EVIL = "<script>alert('evil')</script>\"><img src=//evil.example/x>"

CONFIG: dict[str, Any] = {
    "env": {
        "class": "ManagerBasedRlEnvCfg",
        "scene": {"class": "SceneCfg", "num_envs": 64},
        "rewards": {
            "upright": {"class": "RewardTermCfg", "weight": 2.0},
            "effort": {"class": "RewardTermCfg", "weight": -0.5},
        },
    },
    "agent": {"class": "PpoAgentCfg", "max_iterations": 40},
}


def text_of(config: dict[str, Any]) -> str:
    return settings_text("Some-Task", flat_settings(**config))


# --- Page, parsed by Python's own parser ----------------------------------------------


@dataclass
class Figure:
    """A figure with its drawing."""

    text: str = ""
    x: tuple[float, float] = (0.0, 0.0)
    y: tuple[float, float] = (0.0, 0.0)
    is_log: bool = False
    paths: list[dict[str, str]] = field(default_factory=list)

    def outline(self, kind: str) -> str:
        """Return the only path of a kind."""
        (found,) = (p["d"] for p in self.paths if kind in p["class"].split())
        return found

    def points(self, kind: str = "line") -> list[tuple[float, float]]:
        """Return corners of a path as iterations and values, by the chart's scales."""
        pairs = re.findall(r"[ML]([\d.-]+) ([\d.-]+)", self.outline(kind))
        (x0, x1), (y0, y1) = self.x, self.y
        found = []
        for x, y in pairs:
            share = 1.0 - float(y) / 400.0
            value = y0 * (y1 / y0) ** share if self.is_log else y0 + (y1 - y0) * share
            found.append((x0 + (x1 - x0) * float(x) / 1000.0, value))
        return found

    @property
    def error(self) -> float:
        """Resolution of a coordinate with one decimal, in values."""
        return 0.051 / 400.0 * (self.y[1] - self.y[0])


class Page(HTMLParser):
    """Charts by figure, addresses, text, scripts."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.charts: dict[str, Figure] = {}
        self.figures: list[Figure] = []
        self.addresses: list[str] = []
        self.elements: list[str] = []
        self.raw: dict[str, list[str]] = {"script": [], "style": []}
        self.text = ""
        self.policy = ""
        self._open: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.elements.append(tag)
        assert not [name for name in values if name.startswith("on")]
        self.addresses += [values[n] for n in ("src", "href") if n in values]
        if values.get("http-equiv") == "Content-Security-Policy":
            self.policy = values["content"]
        if tag == "figure":
            self.figures.append(Figure())
        elif tag == "svg":
            chart = self.figures[-1]
            chart.x, chart.y = (_pair(values["data-x"]), _pair(values["data-y"]))
            chart.is_log = "data-log" in values
        elif tag == "path":
            self.figures[-1].paths.append(values)
            if "data-name" in values:
                # A figure can be drawn twice; the first is its own chart.
                self.charts.setdefault(values["data-name"], self.figures[-1])
        if tag in ("script", "style", "figure"):
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        if self._open and self._open[-1] == tag:
            self._open.pop()

    def handle_data(self, data: str) -> None:
        last = self._open[-1] if self._open else ""
        if last in self.raw:
            self.raw[last].append(data)
            return
        if not data.strip() and "\n" in data:  # Line break between two elements.
            return
        self.text += data
        if last == "figure":
            self.figures[-1].text += data


def _pair(text: str) -> tuple[float, float]:
    first, second = text.split()
    return float(first), float(second)


def make_run(folder: Path, lines: list[Any], **info: Any) -> Path:
    """A run's folder with figures; text is written unchanged."""
    folder.mkdir(parents=True, exist_ok=True)
    whole = {"task": "Some-Task", "name": "", "status": "finished", "reason": "done"}
    folder.joinpath("run.json").write_text(json.dumps(whole | info))
    folder.joinpath("config.json").write_text(text_of(CONFIG))
    rows = [row if isinstance(row, str) else json.dumps(row) + "\n" for row in lines]
    folder.joinpath("metrics.jsonl").write_text("".join(rows))
    return folder


def page_of(folder: Path, **more: Any) -> Page:
    return Page(render(folder, **more))


def lines_of(count: int, **figures: Any) -> list[dict[str, Any]]:
    """Lines with figures that are functions of the iteration, "_" for "/"."""
    return [
        {"iteration": i}
        | {k.replace("__", "/"): f(i) for k, f in figures.items() if f(i) != "absent"}
        for i in range(1, count + 1)
    ]


# --- Curves ---------------------------------------------------------------------------


def test_every_term_of_the_reward_has_a_curve_with_all_its_points(tmp_path):
    lines = lines_of(
        30,
        Episode_Reward__upright=lambda i: math.sin(i) + 1.2,
        Episode_Reward__effort=lambda i: -0.003 * i,
        Episode_Reward__not_in_config=lambda i: float(i),
    )
    page = page_of(make_run(tmp_path, lines))
    for name in ("upright", "effort", "not_in_config"):
        chart = page.charts[f"Episode_Reward/{name}"]
        points = chart.points()
        assert len(points) == 30
        for (x, y), line in zip(points, lines, strict=True):
            assert x == pytest.approx(line["iteration"], abs=0.01)
            assert y == pytest.approx(line[f"Episode_Reward/{name}"], abs=chart.error)
        assert chart.y[0] <= 0.0 <= chart.y[1]
    assert "2" in page.charts["Episode_Reward/upright"].text
    assert "\N{MINUS SIGN}0.5" in page.charts["Episode_Reward/effort"].text
    assert "c1" in page.charts["Episode_Reward/effort"].paths[-1]["class"]


def test_every_figure_of_a_trained_run_is_on_the_page(tmp_path):
    folder = shutil.copytree(SHIPPED, tmp_path / "run")
    lines = [json.loads(row) for row in (folder / "metrics.jsonl").open()]
    names = {name for line in lines for name in line} - {"iteration"}
    page = page_of(folder)
    told = {"Perf/seconds", "Train/env_steps"}  # The heading has the number.
    told |= {"Health/nonfinite", "Health/overflow"}  # No faults.
    assert names - set(page.charts) == told
    assert "every number was finite" in page.text
    reward = page.charts["Episode_Reward/smooth"]
    last = lines[-1]["Episode_Reward/smooth"]
    assert reward.points()[-1][1] == pytest.approx(last, abs=reward.error)


def test_a_term_without_an_episode_is_listed_as_such(tmp_path):
    page = page_of(make_run(tmp_path, lines_of(1, Loss__value=lambda i: 1.0)))
    said = [f.text for f in page.figures if "no finished episode yet" in f.text]
    assert len(said) == 3  # The reward, and its two terms.
    assert any("upright" in text for text in said)


def test_a_gap_breaks_the_line_and_is_marked_and_absence_does_neither(tmp_path):
    lines = lines_of(
        20,
        Loss__value=lambda i: None if 8 <= i <= 10 else float(i),
        Eval__mean_reward=lambda i: float(i) if i % 5 == 0 else "absent",
        Late__figure=lambda i: 1.0 * i if i > 15 else "absent",
        Loss__never=lambda i: float("nan"),
    )
    page = page_of(make_run(tmp_path, lines))
    loss = page.charts["Loss/value"]
    assert loss.outline("line").count("M") == 2
    assert [round(x) for x, _ in loss.points()] == [*range(1, 8), *range(11, 21)]
    marks = re.findall(r"M([\d.]+) 400", loss.outline("bad"))
    assert [round(1 + 19 * float(x) / 1000) for x in marks] == [8, 9, 10]
    evaluation = page.charts["Eval/mean_reward"]
    assert evaluation.outline("line").count("M") == 1
    assert [round(x) for x, _ in evaluation.points()] == [5, 10, 15, 20]
    assert [round(x) for x, _ in page.charts["Late/figure"].points()] == [
        *range(16, 21)
    ]
    assert "Loss/never" not in page.charts
    assert "never a finite value" in page.text
    # The table of non-finite values: their number, and the first iteration.
    assert "Loss/value38" in page.text and "Loss/never201" in page.text


def test_a_long_run_keeps_its_extremes_and_means_its_stretches(tmp_path):
    count = 10 * STRETCHES
    spikes = {1234: 50.0, 2001: -30.0}
    lines = lines_of(count, Loss__value=lambda i: spikes.get(i, float(i % 10)))
    chart = page_of(make_run(tmp_path, lines)).charts["Loss/value"]
    line = chart.points()
    assert len(line) == STRETCHES
    # Intervals of ten: 1 to 10, whose values are 1 to 9 and 0, and so on.
    assert line[0] == pytest.approx((5.5, 4.5), abs=2 * chart.error + 0.2)
    assert line[123][1] == pytest.approx((45 - 4 + 50) / 10, abs=chart.error)
    band = chart.points("band")
    assert len(band) == 2 * STRETCHES
    assert max(y for _, y in band) == pytest.approx(50.0, abs=chart.error)
    assert min(y for _, y in band) == pytest.approx(-30.0, abs=chart.error)
    assert chart.y[0] < -30.0 and 50.0 < chart.y[1]


def test_a_run_is_drawn_point_by_point_as_long_as_there_is_room(tmp_path):
    lines = lines_of(MOST_POINTS, Loss__value=lambda i: float(i))
    chart = page_of(make_run(tmp_path, lines)).charts["Loss/value"]
    assert len(chart.points()) == MOST_POINTS
    assert not [path for path in chart.paths if "band" in path["class"]]


def test_a_rate_over_decades_is_drawn_by_ratios(tmp_path):
    lines = lines_of(4, Policy__learning_rate=lambda i: 10.0**-i)
    chart = page_of(make_run(tmp_path, lines)).charts["Policy/learning_rate"]
    assert chart.is_log
    heights = [y for _, y in chart.points()]
    assert heights == pytest.approx([1e-1, 1e-2, 1e-3, 1e-4], rel=0.01)


def test_a_single_iteration_is_a_dot_in_the_middle(tmp_path):
    chart = page_of(make_run(tmp_path, lines_of(1, Loss__value=lambda i: 3.0))).charts[
        "Loss/value"
    ]
    assert chart.outline("dots") == "M500 200h0"


def test_the_balance_of_the_reward_is_of_the_last_tenth(tmp_path):
    lines = lines_of(101, Episode_Reward__upright=lambda i: 4.0 if i > 90 else 0.0)
    page = page_of(make_run(tmp_path, lines))
    (balance,) = (f for f in page.figures if "in total" in f.text)
    assert balance.text.startswith("Iterations 91\N{EN DASH}101: 4 per second")


@pytest.mark.parametrize(
    ("low", "high", "most", "ticks"),
    [
        (0.0, 10.0, 5, ["0", "2", "4", "6", "8", "10"]),
        (-0.3, 0.3, 3, ["\N{MINUS SIGN}0.2", "0", "0.2"]),
        (0.0, 2.5e6, 3, ["0", "1M", "2M"]),
        (17.01, 17.09, 4, ["17.02", "17.04", "17.06", "17.08"]),
    ],
)
def test_ticks_are_round_numbers(low, high, most, ticks):
    assert [text for _, text in Scale(low, high).ticks(most)] == ticks


def test_zero_is_on_a_scale_if_near_or_requested():
    assert scale_for(10.0, 11.0).low > 9.0
    assert scale_for(10.0, 11.0, with_zero=True).low == 0.0
    assert scale_for(1.0, 11.0).low == 0.0
    assert scale_for(-11.0, -1.0).high == 0.0
    assert scale_for(3.0, 3.0).place(3.0) == 0.5


def test_ratios_put_decades_at_equal_distances():
    scale = Scale(1.0, 1000.0, "log")
    places = [scale.place(value) for value in (1.0, 10.0, 100.0, 1000.0)]
    assert places == pytest.approx([0.0, 1 / 3, 2 / 3, 1.0])
    assert [text for _, text in scale.ticks(4)] == ["1", "10", "100", "1000"]
    assert [text for _, text in Scale(1.0, 6.0, "log").ticks(4)] == ["1", "2", "5"]


def test_a_chart_in_a_file_has_its_curve_where_its_numbers_are(tmp_path):
    line = ChartLine(label="<b>", x=[1, 10, 100], y=[1, 100, 10000], dashed=True)
    chart = Chart(
        title="t", lines=[line], across="iteration", log_up="yes", log_across=True
    )
    root = ElementTree.parse(chart.save(tmp_path / "c.svg", width=500)).getroot()
    outlines = [
        p.get("d", "") for p in root.iter() if p.get("class") == "line c0 dashed"
    ]
    # The first is the key of the legend.
    points = [p.split() for p in re.split("[ML]", outlines[-1])[1:]]
    (x0, y0), (x1, y1), (x2, y2) = [(float(x), float(y)) for x, y in points]
    # A straight line on both logarithmic scales, from margin to margin.
    assert x1 - x0 == pytest.approx(x2 - x1, abs=0.2) and x2 - x0 > 900
    assert y0 - y1 == pytest.approx(y1 - y2, abs=0.2) and y0 - y2 > 350
    texts = list(root.iter("{http://www.w3.org/2000/svg}text"))
    assert "<b>" in [text.text for text in texts]
    # The horizontal axis is labelled below the ticks, and in the picture.
    below = {text.text: float(text.get("y", "")) for text in texts}
    assert y0 + 18 < below["iteration"] < 520


# --- Missing and damaged files --------------------------------------------------------


def test_incomplete_last_line_is_ignored_and_damaged_lines_are_counted(tmp_path):
    lines: list[Any] = lines_of(5, Loss__value=lambda i: float(i))
    lines.insert(3, '{"iteration": 3, "Loss/val\0\0\n')
    page = page_of(make_run(tmp_path, [*lines, '{"iteration": 6, "Loss/value": 6']))
    assert len(page.charts["Loss/value"].points()) == 5
    assert "1 line of metrics.jsonl" in page.text
    whole = page_of(
        make_run(tmp_path, [*lines[:3], '{"iteration": 6, "Loss/value": 6'])
    )
    assert len(whole.charts["Loss/value"].points()) == 3
    assert "metrics.jsonl could not be read" not in whole.text


def test_repeated_iterations_after_a_resume_replace_the_first_ones(tmp_path):
    first = lines_of(8, Loss__value=lambda i: float(i))
    again = lines_of(10, Loss__value=lambda i: 20.0 + i)[5:]
    noted = {"iteration": 2, "time": "2026-01-02T03:04:05+00:00", "command": "t --x"}
    page = page_of(make_run(tmp_path, [*first, *again], resumed=[noted]))
    chart = page.charts["Loss/value"]
    values = [y for _, y in chart.points()]
    assert values == pytest.approx([1, 2, 3, 4, 5, *range(26, 31)], abs=chart.error)
    resumed = re.findall(r"M([\d.]+) 0V400", chart.outline("resumed"))
    assert [1 + 9 * float(x) / 1000 for x in resumed] == pytest.approx([2, 5], abs=0.01)
    assert "after iteration 2, 2 January 2026, 03:04:05, by t --x" in page.text


def test_a_running_run_shows_its_progress_and_a_warning_if_quiet(tmp_path):
    lines = lines_of(5, Loss__value=lambda i: 1.0)
    folder = make_run(tmp_path, lines, status="running")
    text = page_of(folder).text
    assert "5 of 40 iterations. The newest metrics were written" in text
    assert "killed" not in text
    old = folder.joinpath("metrics.jsonl").stat().st_mtime - 3600
    os.utime(folder / "metrics.jsonl", (old, old))
    assert "1 h old: the process may have been killed" in page_of(folder).text


def test_a_run_without_any_figure_has_a_page(tmp_path):
    folder = make_run(tmp_path, [], status="failed", reason="ValueError: bad")
    folder.joinpath("error.txt").write_text("Traceback\nValueError: bad <i>")
    folder.joinpath("config.json").write_text('{"env": ')
    page = page_of(folder)
    assert "ValueError: bad <i>" in page.text
    assert "config.json is missing or damaged" in page.text


def test_a_folder_that_is_no_run_is_refused(tmp_path):
    with pytest.raises(RunError, match=r"run\.json is missing"):
        render(tmp_path)
    tmp_path.joinpath("run.json").write_text("{")
    with pytest.raises(RunError, match="is damaged"):
        render(tmp_path)


# --- Self-contained page, untrusted content -------------------------------------------


def evil_run(folder: Path) -> Path:
    lines = [
        {"iteration": i, f"Episode_Reward/{EVIL}": 1.0, EVIL: 2.0, "Eval/x": 1.0}
        for i in range(1, 4)
    ]
    make_run(folder, lines, name=EVIL, task=EVIL, reason=EVIL, command=EVIL, seed=EVIL)
    config = {"env": {EVIL: EVIL, "rewards": {EVIL: {"weight": 1.0}}}}
    folder.joinpath("config.json").write_text(text_of(config))
    folder.joinpath("defaults.json").write_text(text_of({"env": {EVIL: "tame"}}))
    folder.joinpath("error.txt").write_text(EVIL)
    evaluation = {"policy": EVIL, "settings": {EVIL: [EVIL]}, "summary": {}}
    folder.joinpath("evaluation.json").write_text(json.dumps(evaluation))
    dumps = folder / "dumps"
    dumps.mkdir()
    (dumps / "<script>alert(1)<%2F.npz").write_bytes(b"")
    (dumps / "javascript:alert(1)").write_bytes(b"")
    return folder


def test_page_escapes_html_in_text(tmp_path):
    page = page_of(evil_run(tmp_path))
    assert page.elements.count("script") == 1
    assert "img" not in page.elements
    assert page.text.count("<script>alert('evil')") > 8
    (own,) = page.raw["script"]
    assert own == (ROOT / "mjlab/report/templates/page.js").read_text()
    digest = base64.b64encode(hashlib.sha256(own.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in page.policy
    assert page.policy.startswith("default-src 'none';")


@pytest.mark.parametrize(
    "make", [evil_run, lambda f: shutil.copytree(SHIPPED, f / "r")]
)
def test_page_has_no_external_links(tmp_path, make):
    page = page_of(make(tmp_path))
    assert page.addresses
    for address in page.addresses:
        assert re.match(r"(\./|#|data:video/)", address), address
    (style,), (own,) = page.raw["style"], page.raw["script"]
    assert "url(" not in style and "@import" not in style
    namespace = "http://www.w3.org/2000/svg"
    assert re.findall(r"\w+://[^\"]*", style + own) == [namespace]


def test_links_lead_to_files_of_the_run(tmp_path):
    folder = make_run(tmp_path / "a run", lines_of(1, Loss__value=lambda i: 1.0))
    (folder / "export").mkdir()
    (folder / "export" / "a policy#1.onnx").write_bytes(b"x")
    page = page_of(folder)
    assert page.addresses.count("./export/a%20policy%231.onnx") == 2
    assert "Exported policy" in page.text


def test_a_small_video_is_embedded_and_a_large_one_linked(tmp_path):
    folder = make_run(tmp_path, lines_of(1, Loss__value=lambda i: 1.0))
    (folder / "videos").mkdir()
    (folder / "videos" / "small.mp4").write_bytes(b"film" * 100)
    with (folder / "videos" / "large #1.mp4").open("wb") as file:
        file.truncate(EMBEDDED + 1)
    page = page_of(folder)
    (embedded,) = (a for a in page.addresses if a.startswith("data:video/mp4;base64,"))
    assert base64.b64decode(embedded.partition(",")[2]) == b"film" * 100
    assert page.addresses.count("./videos/large%20%231.mp4") >= 2  # Video and link.


# --- Configuration, evaluation, formatting --------------------------------------------


def test_only_user_changes_are_listed(tmp_path):
    folder = make_run(tmp_path, lines_of(1, Loss__value=lambda i: 1.0))
    defaults = json.loads(json.dumps(CONFIG))
    defaults["env"]["scene"]["num_envs"] = 4096
    defaults["env"]["rewards"]["slip"] = {"class": "RewardTermCfg", "weight": -0.1}
    defaults["env"]["rewards"]["effort"] = None
    defaults["agent"]["class"] = "DistillationAgentCfg"
    folder.joinpath("defaults.json").write_text(text_of(defaults))
    text = page_of(folder).text
    table = text[text.index("4 differences") : text.index("All of env")]
    assert table == (
        "4 differencesdefaultthis run"
        "env.rewards.effortNoneRewardTermCfg"
        "env.rewards.slipRewardTermCfgabsent"
        "env.scene.num_envs409664"
        "agentDistillationAgentCfgPpoAgentCfg"
    )


def test_a_run_with_default_settings_and_one_without_defaults_are_distinguished(
    tmp_path,
):
    folder = make_run(tmp_path, lines_of(1, Loss__value=lambda i: 1.0))
    assert "defaults of the task are unknown" in page_of(folder).text
    text = page_of(folder, defaults=flat_settings(**CONFIG)).text
    assert "No changes." in text
    assert "the current task" in text


def test_tables_of_evaluations_are_shown(tmp_path):
    folder = make_run(tmp_path, lines_of(1, Loss__value=lambda i: 1.0))
    spread = {"mean": 51.25, "deviation": 2.0, "least": 40.0, "most": 60.5}
    evaluation = {
        "policy": "/somewhere/best.pt",
        "seed": 7,
        "settings": {"env.decimation": ["4"]},
        "disabled": ["events.push"],
        "summary": {
            "episodes": 100,
            "return": spread,
            "falls": 0.035,
            "success_once": None,
            "ended_by": {"fell_over": 3, "time_out": 97},
            "figures": {"Metrics/error": spread},
        },
        "clips": {
            "bow": {"episodes": 3, "success": 1.0, "pos": 0.025, "global_pos": 0.031},
            "odd": "no figures",
        },
    }
    folder.joinpath("evaluation.json").write_text(json.dumps(evaluation))
    (folder / "checkpoints").mkdir()
    best = json.dumps({"iteration": 30, "score": 51.5})
    folder.joinpath("checkpoints", "best.json").write_text(best)
    text = page_of(folder).text
    assert "100 episodes of best.pt, seeds from 7 (evaluation.json)" in text
    assert "falls 3.5%; ended by fell_over 3, time_out 97." in text
    assert "With env.decimation 4, no events.push." in text
    assert "return51.2524060.5" in text and "Metrics/error51.2524060.5" in text
    assert "bodies, min the world, m" in text and "bow310.0250.031" in text
    assert "odd" not in text
    assert "The best checkpoint scored 51.5 at iteration 30" in text


def evaluation_with(gait: object) -> str:
    """An evaluation of one episode with gait measures."""
    return json.dumps({"policy": "a.pt", "summary": {"episodes": 1}, "gait": gait})


def test_the_gait_of_an_evaluation_is_shown_with_its_failures(tmp_path):
    folder = make_run(tmp_path, lines_of(1, Loss__value=lambda i: 1.0))
    walking = {"feet": 2, "falls": 0, "steps_per_s": 9.6, "step_length": 0.05}
    walking |= {"linear_error": 0.27, "turning_error": 0.01, "vibration": None}
    standing = {"feet": 2, "falls": 0, "steps_per_s": 0.0, "foot_drift": 0.001}
    gait = {"quiet": {"forward 1.0": walking, "stand": standing}}
    folder.joinpath("evaluation.json").write_text(evaluation_with(gait))
    text = page_of(folder).text
    assert "steps 1/slength cmdouble %" in text
    assert "forward 1.0 m/s, quiet9.65-" in text
    assert "forward 1.00.270.010" in text
    assert "Not a natural gait: 10 measures fail:" in text
    assert "forward 1.0, quiet: step length 5.0, at least 22 cm" in text


@pytest.mark.parametrize(
    "gait", ["no", {}, {"moon": {}}, {"quiet": []}, {"quiet": {"stand": EVIL}}]
)
def test_gait_measures_that_are_none_are_left_out(tmp_path, gait):
    folder = make_run(tmp_path, lines_of(1, Loss__value=lambda i: 1.0))
    folder.joinpath("evaluation.json").write_text(evaluation_with(gait))
    assert "natural gait" not in page_of(folder).text.lower()


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.0, "0"),
        (-0.5, "\N{MINUS SIGN}0.5"),
        (971.2124, "971.2"),
        (12345.6, "12346"),
        (1_234_567.0, "1.235M"),
        (3e-4, "3e\N{MINUS SIGN}4"),
        (9.96e-4, "9.96e\N{MINUS SIGN}4"),
        (None, "not finite"),
        (math.inf, "not finite"),
    ],
)
def test_numbers_are_short(value, shown):
    assert number(value) == shown


def test_durations_and_sizes_are_short():
    said = [duration(s) for s in (0.25, 59.6, 93.0, 7200.0, 9660.0, 90_000.0)]
    assert said == ["0.2 s", "1 min", "1 min 33 s", "2 h", "2 h 41 min", "1 d 1 h"]
    assert [file_size(s) for s in (2, 25_300, 4_460_000)] == [
        "2 bytes",
        "25.3 kB",
        "4.46 MB",
    ]


# --- Writers of the page
# ----------------------------------------------------------------


def run_training(root: Path, **more: Any):
    agent = agent_cfg(
        2, logging=LoggingCfg(tensorboard=False), evaluation=EvaluationCfg(every=0)
    )
    defaults = {"env": CartpoleBalanceCfg(), "agent": agent}
    return train_without_export(
        env_cfg(),
        agent,
        task="Cartpole-Balance",
        root=root,
        display=Display(),
        defaults=defaults,
        **more,
    )


def test_training_and_resuming_write_a_report(tmp_path):
    folder, _ = run_training(tmp_path)
    page = Page(folder.path.joinpath("report.html").read_text("utf-8"))
    assert "finished" in page.text and "2 of 2 iterations" in page.text
    assert len(page.charts["Loss/value"].points()) == 2
    # Settings of `env_cfg`.
    usual = CartpoleBalanceCfg().episode_length_s
    assert f"env.episode_length_s{usual}1.0" in page.text
    assert "the task at the start of the run" in page.text
    agent = agent_cfg(3, logging=LoggingCfg(tensorboard=False))
    train_without_export(
        env_cfg(),
        agent,
        task="Cartpole-Balance",
        root=tmp_path,
        display=Display(),
        resume=folder.path,
    )
    page = Page(folder.path.joinpath("report.html").read_text("utf-8"))
    assert len(page.charts["Loss/value"].points()) == 3
    assert "after iteration 2" in page.text


@pytest.mark.parametrize(
    ("error", "status"), [(RuntimeError, "failed"), (KeyboardInterrupt, "stopped")]
)
def test_training_that_ends_badly_leaves_a_report(tmp_path, error, status):
    class Fail(Hook):
        name = "fail"

        def after_iteration(self, loop):
            if loop.iteration == 2:
                raise error("no more")
            return {}

    with pytest.raises(error, match="no more"):
        run_training(tmp_path, make_hooks=lambda env: [Fail()])
    (file,) = tmp_path.glob("Cartpole-Balance/2*/report.html")
    page = Page(file.read_text("utf-8"))
    assert f"{status}{error.__name__}: no more" in page.text
    assert len(page.charts["Train/mean_step_reward"].points()) == 1
    assert "Traceback" in page.text


def test_failed_report_does_not_end_the_run(tmp_path, monkeypatch, caplog):
    def refuse(folder):
        raise OSError("disk full")

    monkeypatch.setattr("mjlab.cli.training.write_report", refuse)
    folder, _ = run_training(tmp_path)
    assert folder.info()["status"] == "finished"
    assert "report of" in caplog.text and "disk full" in caplog.text


def test_the_script_writes_the_page_without_torch_if_the_run_stored_its_defaults(
    tmp_path,
):
    folder = make_run(
        tmp_path / "Some-Task" / "now", lines_of(3, Loss__value=lambda i: 1.0 * i)
    )
    folder.joinpath("defaults.json").write_text(text_of(CONFIG))
    blocked = (
        "import runpy, sys\n"
        "class Refused:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name in ('torch', 'mujoco', 'numpy'): raise ImportError(name)\n"
        "sys.meta_path.insert(0, Refused())\n"
        "sys.argv = sys.argv[1:]\n"
        "runpy.run_path(sys.argv[0], run_name='__main__')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", blocked, "scripts/report.py", str(folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"{folder / 'report.html'} (")
    assert "No changes." in folder.joinpath("report.html").read_text("utf-8")


def test_report_compares_an_older_run_with_the_current_task(tmp_path, capsys):
    folder = shutil.copytree(SHIPPED, tmp_path / "run")
    (folder / "defaults.json").unlink(missing_ok=True)
    script.main([str(folder)])
    assert "report.html" in capsys.readouterr().out
    page = Page(folder.joinpath("report.html").read_text("utf-8"))
    assert "the current task" in page.text
    kept = json.loads((folder / "config.json").read_text())["values"]
    num_envs, default = kept["env.scene.num_envs"], CartpoleBalanceCfg().scene.num_envs
    if num_envs != default:
        assert f"env.scene.num_envs{default}{num_envs}" in page.text


def test_report_works_for_an_uninstalled_task(tmp_path, capsys):
    folder = make_run(tmp_path, lines_of(1, Loss__value=lambda i: 1.0))
    script.main([str(folder)])
    assert "There is no task 'Some-Task'" in capsys.readouterr().out
    assert folder.joinpath("report.html").is_file()


# --- In a browser ---------------------------------------------------------------------


class Listening(Browser):
    """Page that stores its console messages."""

    def __init__(self, url: str, **more: Any) -> None:
        self.complaints: list[Any] = []
        super().__init__("about:blank", **more)
        self.call("Log.enable")
        self.call("Page.navigate", url=url)

    def _note(self, message: dict[str, Any]) -> None:
        super()._note(message)
        kinds = (
            "Runtime.exceptionThrown",
            "Log.entryAdded",
            "Runtime.consoleAPICalled",
        )
        if message.get("method") in kinds:
            self.complaints.append(message["params"])


@pytest.mark.skipif(find_browser() is None, reason="there is no Chromium")
def test_a_browser_shows_every_term_and_follows_the_pointer(tmp_path):
    lines = lines_of(
        50,
        Episode_Reward__upright=lambda i: 0.1 * i,
        Episode_Reward__effort=lambda i: None if i == 20 else -0.01 * i,
        Train__mean_reward=lambda i: 2.0 * i,
    )
    file = write_report(make_run(tmp_path, lines))
    browser = Listening(file.as_uri())
    try:
        browser.wait("document.querySelectorAll('path.cursor').length > 0")
        sizes = browser.run(
            "Object.fromEntries([...document.querySelectorAll('path.line')]"
            ".map(p => [p.dataset.name, p.getBoundingClientRect().width]))"
        )
        assert {f"Episode_Reward/{n}" for n in ("upright", "effort")} < sizes.keys()
        assert min(sizes.values()) > 100
        # Position of iteration 20, of 1 to 50.
        browser.run("document.querySelector('svg').scrollIntoView()")
        x, y = browser.run(
            "(r => [r.x + r.width * 19 / 49, r.y + r.height / 2])"
            "(document.querySelector('svg').getBoundingClientRect())"
        )
        browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        browser.wait("document.querySelector('.at')?.textContent === '20'")
        shown = browser.run(
            "[...document.querySelectorAll('#rewards figure.chart output')]"
            ".map(o => o.textContent)"
        )
        assert float(shown[0]) == pytest.approx(2.0, abs=0.01)
        assert shown[1] == "none"  # It was not finite then.
        browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=2, y=2)
        browser.wait("document.querySelector('.at') === null")
        wide = "document.documentElement.scrollWidth > innerWidth"
        assert not browser.run(wide)
        assert browser.complaints == []
        assert set(browser.requested) <= {file.as_uri(), "about:blank"}
    finally:
        browser.close()

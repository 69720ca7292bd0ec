"""Checks of `bench/gpu.py`, as far as they run without a GPU."""

import dataclasses
import inspect
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from bench import cartpole_scaling, gpu, gpu_checks, gpu_speeds, gpu_worlds, peer
from bench.study.contenders import contenders
from mjlab.cli.line import read_line
from mjlab.cli.train import TrainOptions
from mjlab.envs import ManagerBasedRlEnv
from mjlab.managers import RewardTermCfg
from mjlab.registry import entries, load_task
from tests.tools.cuda_stand_in import StandInError, stand_in

ROOT = Path(__file__).resolve().parents[2]
REHEARSED = ["facts", "shared", "capture", "bits", "fused.Velocity-G1-Flat"]
REHEARSED += ["isolated.Velocity-G1-Flat", "engines.g1.256"]
REHEARSED += ["speed.Velocity-G1-Flat.4096", "joined.Velocity-G1-Flat.4096"]


def test_a_difference_is_counted_by_worlds_and_against_the_scale_of_the_tensor():
    expected = torch.tensor([[100.0, 1.0], [2.0, 3.0], [4.0, 5.0], [6.0, 7.0]])
    value = expected.clone()
    value[1, 1] += 0.09  # Less than 1/1000 of 100.
    assert gpu_worlds.share_of_rows(value, expected) == 0.0
    value[2] += 0.2
    assert gpu_worlds.share_of_rows(value, expected) == 0.25
    value[3, 0] = torch.nan
    assert gpu_worlds.share_of_rows(value, expected) == 0.5
    assert gpu_worlds.share_of_rows(value, value) == 0.0
    flags = torch.tensor([True, False])
    assert gpu_worlds.share_of_rows(flags, ~flags) == 1.0
    rays = torch.tensor([torch.inf, 1.0])
    assert gpu_worlds.share_of_rows(rays, rays) == 0.0
    assert gpu_worlds.share_of_rows(rays, torch.ones(2)) == 0.5


def test_a_verdict_allows_slightly_more_than_the_difference_of_two_eager_runs():
    calm, wild = {"qpos": 0.0, "qvel": 0.0}, {"qpos": 0.0, "qvel": 0.1}
    assert gpu_worlds.verdict(calm, calm)["passed"]
    assert not gpu_worlds.verdict({"qpos": 0.02, "qvel": 0.0}, calm)["passed"]
    assert gpu_worlds.verdict({"qpos": 0.0, "qvel": 0.3}, wild)["passed"]
    # Noise in velocities does not affect positions.
    assert not gpu_worlds.verdict({"qpos": 0.02, "qvel": 0.0}, wild)["passed"]
    assert gpu_checks.verdicts(
        {"a": [{"passed": True}], "b": {"c": {"passed": False}}}
    ) == [
        True,
        False,
    ]


def test_crashing_or_hanging_check_does_not_affect_other_checks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    note = tmp_path / "child"
    place = "tests.bench.gpu_disasters"
    checks = [
        gpu.Check("first", f"{place}:good", (1,)),
        gpu.Check("crash", f"{place}:crash"),
        gpu.Check("fault", f"{place}:fault"),
        gpu.Check("hang", f"{place}:hang", (str(note),), seconds=0.4),
        gpu.Check("bad", f"{place}:bad"),
        gpu.Check("dear", f"{place}:good", (2,), seconds=9000.0),
        gpu.Check("last", f"{place}:good", (3,)),
    ]
    gpu.run_checks(checks, tmp_path / "out", 600.0, rehearse=True)
    lines = (tmp_path / "out" / "checks.jsonl").read_text().splitlines()
    found = {line["check"]: line for line in map(json.loads, lines)}
    assert {name: line["verdict"] for name, line in found.items()} == {
        "first": "passed",
        "crash": "crashed",
        "fault": "failed",
        "hang": "too long",
        "bad": "failed",
        "dear": "skipped",
        "last": "passed",
    }
    assert found["last"]["result"] == {"rate": 4.5, "device": "stand-in"}
    assert "SIGSEGV" in found["crash"]["reason"]
    assert "illegal memory access" in found["fault"]["reason"]
    assert "budget" in found["dear"]["reason"]
    # The child of the hung process is gone too, except for its zombie entry.
    stat = Path(f"/proc/{note.read_text()}/stat")
    assert not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] == "Z"
    table = capsys.readouterr().out
    assert table == (tmp_path / "out" / "table.txt").read_text() + "\n"
    assert table.splitlines()[-1] == (
        "2 passed, 1 crashed, 2 failed, 1 too long, 1 skipped"
    )
    log = (tmp_path / "out" / "log.txt").read_text()
    assert "--- crash" in log and "Traceback" in log
    # The stack of the hung process, which printed nothing else.
    assert "Fatal Python error: Segmentation fault" in log
    hung = log.partition("--- hang")[2].partition("--- ")[0]
    assert "in hang" in hung and "gpu_disasters.py" in hung


def test_a_check_that_exhausts_the_budget_is_distinguished_from_a_slow_one(
    tmp_path: Path,
) -> None:
    name = "tests.bench.gpu_disasters:hang"
    check = gpu.Check("hang", name, (str(tmp_path / "child"),), seconds=0.1)
    slow, late = (
        gpu.run_checks([check], tmp_path / str(budget), budget, rehearse=True)[0]
        for budget in (60.0, 0.5)
    )
    assert slow.verdict == late.verdict == "too long"
    assert slow.reason == "it did not end within 1 s"
    assert "the rest of the budget" in late.reason


def test_table_stays_short_with_long_reasons() -> None:
    ends = [gpu.Verdict("c" * 30, "failed", "x" * 5000, 1.0, None)] * 200
    assert len(gpu.table(ends)) <= gpu.TABLE


def test_checks_on_which_others_depend_are_first() -> None:
    names = [check.name for check in gpu.all_checks()]
    assert names[:5] == ["facts", "shared", "capture", "bits", "failed_capture"]
    assert len(set(names)) == len(names)
    assert names.index("fused.Velocity-G1-Flat") < names.index(
        "speed.Velocity-G1-Flat.4096"
    )


def test_every_checked_task_is_registered_or_defined_by_the_tests() -> None:
    tasks = {a for c in gpu.all_checks() for a in c.arguments[1:] if isinstance(a, str)}
    assert "Reach-Yam-Depth" in tasks
    assert tasks - set(entries()) == {"synthetic", "g1"}
    compared = {
        c.name.partition(".")[2] for c in gpu.all_checks() if "fused." in c.name
    }
    assert set(entries()) <= compared


def test_a_rehearsal_runs_a_check_once_for_all_tasks(tmp_path: Path) -> None:
    place = "tests.bench.gpu_disasters"
    checks = [
        gpu.Check("bad.A", f"{place}:bad", ()),
        gpu.Check("bad.B", f"{place}:crash", ("bad", "B")),
        gpu.Check("worse", f"{place}:bad", ()),
    ]
    one, same, other = gpu.run_checks(checks, tmp_path, 60.0, rehearse=True)
    assert one.verdict == same.verdict == other.verdict == "failed"
    assert same.reason == "rehearsed by bad.A"
    assert other.reason.startswith("0.5 of what was asked")


def test_an_unknown_check_name_suggests_the_nearest(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    line = ["gpu.py", "--out", "found", "--only", "captures"]
    monkeypatch.setattr(sys, "argv", line)
    with pytest.raises(SystemExit):
        gpu.main()
    assert "no check 'captures'. Valid names, nearest first: 'capture'" in (
        capsys.readouterr().err
    )


def test_parts_and_checks_of_any_task_and_size_can_be_named() -> None:
    assert gpu.chosen_checks(["right"])[0] == gpu.find_check("facts")
    assert gpu.chosen_checks([]) == gpu.all_checks()
    (check,) = gpu.chosen_checks(["speed.Velocity-Go1.16384"])
    assert check.arguments == ("speed", "Velocity-Go1", 16384)
    assert check.seconds == gpu.KINDS["speed"][0]
    with pytest.raises(ValueError, match=r"no task 'Velocity-Go2'.*'Velocity-Go1'"):
        gpu.find_check("speed.Velocity-Go2.64")


def test_every_check_of_a_part_has_a_function_with_its_arguments() -> None:
    functions = vars(gpu_speeds) | vars(gpu_checks)
    for check in gpu.all_checks():
        kind, *arguments = check.arguments
        inspect.signature(functions[kind]).bind(None, *arguments)
    assert {check.arguments[0] for check in gpu.all_checks()} == set(gpu.KINDS)


@pytest.mark.slow
def test_gpu_tests_are_collected_without_the_packages_of_extras(
    tmp_path: Path,
) -> None:
    for package in ("PIL", "jsonschema", "onnx", "optuna", "viser", "websockets"):
        (tmp_path / f"{package}.py").write_text("raise ImportError(__name__)\n")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-m", "gpu", "--collect-only", "-q"],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    found = re.findall(r"(tests/\S+\.py): \d", done.stdout)
    marked = re.compile(r"^@pytest\.mark\.gpu$|^pytestmark = .*mark\.gpu", re.MULTILINE)
    tests = (ROOT / "tests").rglob("test_*.py")
    expected = [file for file in tests if marked.search(file.read_text("utf-8"))]
    assert sorted(ROOT / file for file in found) == sorted(expected)


def test_a_check_without_compiled_kernels_has_time_to_compile_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "tests.bench.gpu_disasters:hang"
    check = gpu.Check("hang", name, (str(tmp_path / "child"),), seconds=0.2)
    monkeypatch.setattr(gpu, "COLD", 1.4)
    limits = {}
    for cache in ("", "kernels"):
        monkeypatch.delenv("WARP_CACHE_PATH", raising=False)
        if cache:
            monkeypatch.setenv("WARP_CACHE_PATH", cache)
        (end,) = gpu.run_checks([check], tmp_path, 60.0, rehearse=False)
        limits[cache] = end.reason
    assert limits == {
        "": "it did not end within 2 s",
        "kernels": "it did not end within 1 s",
    }


def test_site_folder_of_a_peer_is_searched_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PYTHONPATH", "carried")
    seen: dict[str, str] = {}

    def start(command: list[str], env: dict[str, str], **settings: Any) -> Any:
        seen.update(env)
        return SimpleNamespace(stdout=io.StringIO("{}\n"))

    monkeypatch.setattr(subprocess, "Popen", start)
    peer.Side("Cartpole-Balance", 4, "cpu", site="own")
    assert seen["PYTHONPATH"] == os.pathsep.join(("own", "carried"))


@pytest.mark.slow
def test_a_world_whose_nan_reaches_others_fails_the_check() -> None:
    class Coupled(gpu_worlds.Plan):
        def briefly(self, task: str, num_envs: int = 64) -> Any:
            cfg = super().briefly(task, num_envs)
            cfg.rewards["planted"] = RewardTermCfg(func=sum_of_all_worlds, weight=1.0)
            return cfg

    try:
        with stand_in():
            found = gpu_checks.isolated(Coupled("cuda:0", True), "Velocity-G1-Flat")
    except StandInError as error:
        pytest.skip(f"no CUDA device can be stood in for: {error}")
    assert not found["passed"]
    assert "reward" in found["reason"]


def sum_of_all_worlds(env: ManagerBasedRlEnv) -> torch.Tensor:
    return env.sim.data.qvel.sum().expand(env.num_envs)


@pytest.mark.slow
def test_three_failing_checks_do_not_affect_other_checks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = "tests.bench.gpu_disasters"
    planted = {
        "capture": ("crash", "crashed"),
        "failed_capture": ("hang", "too long"),
        "two_fused.Velocity-G1-Flat": ("fault", "failed"),
    }
    others = {"facts", "bits", "fused.Velocity-G1-Flat"}
    others |= {"between_replays.Velocity-G1-Flat"}
    checks = [c for c in gpu.all_checks() if c.name in planted.keys() | others]
    for i, check in enumerate(checks):
        kind, _ = planted.get(check.name, ("", ""))
        hung = {"arguments": (str(tmp_path / "child"),), "seconds": 0.4}
        if kind:
            own = hung if kind == "hang" else {"arguments": ()}
            new = {"function": f"{place}:{kind}"} | own
            checks[i] = dataclasses.replace(check, **new)
    ends = gpu.run_checks(checks, tmp_path / "out", 400.0, rehearse=True)
    expected = {name: "passed" for name in others}
    expected |= {name: verdict for name, (_, verdict) in planted.items()}
    assert {end.check: end.verdict for end in ends} == expected
    lines = (tmp_path / "out" / "checks.jsonl").read_text().splitlines()
    assert [json.loads(line)["check"] for line in lines] == [c.name for c in checks]
    files = {file.name for file in (tmp_path / "out").iterdir()}
    assert files == {"checks.jsonl", "log.txt", "table.txt"}
    assert len(capsys.readouterr().out) < gpu.TABLE


@pytest.mark.slow
@pytest.mark.parametrize("name", REHEARSED)
def test_a_check_runs_without_a_gpu(name: str, tmp_path: Path) -> None:
    command = [sys.executable, "bench/gpu.py", "--rehearse", "--only", name]
    command += ["--out", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + (tmp_path / "log.txt").read_text()
    assert "1 passed" in done.stdout


def plan_calls() -> list[str]:
    """Command lines of the plan's calls, without those typed at home."""
    text = (ROOT / "bench/gpu_plan.md").read_text("utf-8")
    lines = [line.strip() for line in text.splitlines() if line.startswith("    ")]
    return [line for line in lines if "$HOME" in line or "receive.sh" in line]


def test_commands_of_the_plan_fit_a_call_and_name_existing_checks() -> None:
    calls = plan_calls()
    assert len(calls) == 8
    assert max(map(len, calls)) <= 2000
    named = re.findall(r"bench/gpu\.py [^;]*--only ([^;]+)", " ; ".join(calls))
    chosen = [gpu.chosen_checks(names.split()) for names in named]
    assert {check.name for checks in chosen for check in checks} == {
        check.name for check in gpu.all_checks()
    }
    budgets = [float(b) for b in re.findall(r"--budget (\d+)", " ".join(calls))]
    assert budgets and max(budgets) <= 540.0


@pytest.mark.parametrize("number", range(4))
def test_the_trainings_of_the_plan_have_valid_options(number: int) -> None:
    text = " ".join(plan_calls())
    (shared,) = re.findall(r'L="([^"]*)"', text)
    lines = re.findall(r"scripts/train\.py (.*?) (?:2>&1|>)", text)
    assert len(lines) == 4
    words = lines[number].replace("$L", shared).split()
    line = read_line(TrainOptions, words)
    task = load_task(str(line.options.task))
    assert task.rl is not None
    configs = line.apply({"env": task.env(), "agent": task.rl()})
    assert configs["agent"].checkpoint.env_state == ("Muscle" in words[0])


def test_cartpole_commands_of_the_plan_name_existing_implementations() -> None:
    lines = re.findall(r"\$C ([^;|]*?) 2>&1", " ".join(plan_calls()))
    assert len(lines) == 2
    for line in lines:
        options = cartpole_scaling.parser().parse_args(line.split())
        known = contenders(torch.device("cpu"))
        assert len(cartpole_scaling.choose(known, options.only)) == len(options.only)

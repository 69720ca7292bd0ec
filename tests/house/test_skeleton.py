"""Set-up and packaging."""

import os
import pty
import re
import shutil
import subprocess
import sys
import tomllib
from fnmatch import fnmatch
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import mjlab

ROOT = Path(__file__).resolve().parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT, TOOLS = PYPROJECT["project"], PYPROJECT["tool"]
MAKE_EXTRAS = ("dev", "viewer", "video", "gym", "export", "sweep", "wandb")
PINNED = (*MAKE_EXTRAS, "docs", "zoo", "myo-sim", "identify")
needs_make = pytest.mark.skipif(not shutil.which("make"), reason="make is absent")


def run(*command: str | Path, **options) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, **options)


# --- Importing ------------------------------------------------------------------------


def import_mjlab(*path: Path, then: str = "") -> subprocess.CompletedProcess[str]:
    code = f"import sys; sys.path[:0] = {[str(p) for p in path]}; import mjlab; {then}"
    return run(sys.executable, "-I", "-c", code)


def test_imported_mjlab_is_this_checkout():
    assert Path(mjlab.__file__).parent == ROOT / "mjlab"


def test_import_prints_no_warning_without_another_mjlab():
    done = import_mjlab(ROOT)
    assert (done.returncode, done.stderr) == (0, "")


def test_tasks_are_refused_under_the_name_of_their_folder():
    done = import_mjlab(ROOT, then="import mjlab.tasks, tasks")
    assert done.returncode != 0
    assert done.stderr.endswith(
        "\nImportError: Import the tasks as `mjlab.tasks`, not as `tasks`.\n"
    )


def test_importing_mjlab_takes_milliseconds_and_no_heavy_modules():
    code = (
        "import sys, time; sys.path.insert(0, sys.argv[1])\n"
        "before = time.process_time(); import {}\n"
        "print(1e3 * (time.process_time() - before))\n"
        "print(*{{'torch', 'warp', 'mujoco', 'numpy', 'email'}} & sys.modules.keys())"
    )

    def imported(module: str) -> list[list[str]]:
        line = [sys.executable, "-I", "-c", code.format(module), ROOT]
        return [run(*line).stdout.split("\n")[:2] for _ in range(5)]

    ours = imported("mjlab")
    assert {heavy for _, heavy in ours} == {""}
    # 2 ms on an idle core. On slow machines relative to a small module of Python.
    small = min(float(time) for time, _ in imported("dataclasses"))
    assert min(float(time) for time, _ in ours) < max(10.0, 3.0 * small)


# --- Versions and package data --------------------------------------------------------


def pinned_versions() -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pins = [line.split("==") for line in lines if line and not line.startswith("#")]
    return {canonicalize_name(name): version for name, version in pins}


def make_requirements() -> list[Requirement]:
    extras = PROJECT["optional-dependencies"]
    lists = [PROJECT["dependencies"], *(extras[name] for name in PINNED)]
    found = [Requirement(line) for lines in lists for line in lines]
    return [each for each in found if each.name != PROJECT["name"]]


@pytest.mark.parametrize("requirement", make_requirements(), ids=str)
def test_every_requirement_is_pinned_within_its_range(requirement):
    version = pinned_versions()[canonicalize_name(requirement.name)]
    assert requirement.specifier.contains(version)
    assert "+" not in version, "a local build exists on one machine only"


def test_make_installs_the_extras_that_the_tests_need():
    assert f"EXTRAS = {','.join(MAKE_EXTRAS)}\n" in (ROOT / "Makefile").read_text()


@pytest.mark.parametrize(
    "name",
    [
        "pyproject.toml",
        "constraints.txt",
        "Makefile",
        ".ci/run",
        "scripts/setup_venv.sh",
    ],
)
def test_no_file_of_the_set_up_names_a_package_index(name):
    text = (ROOT / name).read_text()
    assert not re.search(r"https?://|index-url|find-links", text)


def package_files() -> list[Path]:
    files = [file for name in ("mjlab", "tasks") for file in (ROOT / name).rglob("*")]
    return [file for file in files if file.is_file() and file.suffix != ".pyc"]


def test_every_folder_with_python_files_is_a_package():
    modules = [file for file in package_files() if file.suffix == ".py"]
    assert [
        file for file in modules if not file.with_name("__init__.py").exists()
    ] == []


def test_every_other_file_is_declared_as_package_data():
    patterns = TOOLS["setuptools"]["package-data"]["*"]
    data = [file for file in package_files() if file.suffix != ".py"]
    names = [file.relative_to(ROOT).as_posix() for file in data]
    assert [
        name
        for name in names
        if not any(fnmatch(name, f"*{pattern}") for pattern in patterns)
    ] == []


# --- make -----------------------------------------------------------------------------


@pytest.fixture
def checkout(tmp_path):
    """A checkout whose set-up step only counts its runs."""
    (tmp_path / "scripts").mkdir()
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, tmp_path)
    step = tmp_path / "scripts/setup_venv.sh"
    step.write_text('mkdir -p "$1/bin"\necho run >> runs.txt\n')
    return tmp_path


@needs_make
def test_set_up_runs_again_only_after_a_change_of_its_inputs(checkout):
    def runs() -> int:
        run("make", "setup", cwd=checkout, check=True)
        return len((checkout / "runs.txt").read_text().splitlines())

    assert [runs(), runs()] == [1, 1]
    stamp = checkout / ".venv/.ready"
    for expected, name in enumerate(["constraints.txt", "pyproject.toml"], start=2):
        os.utime(stamp, (0, 0))  # Older than everything that set-up depends on,
        for file in checkout.glob("*.t*"):
            os.utime(file, (0, 0))
        os.utime(checkout / "scripts/setup_venv.sh", (0, 0))
        os.utime(checkout / name, (10, 10))  # but only this file has changed since.
        assert [runs(), runs()] == [expected, expected]


@needs_make
@pytest.mark.parametrize(
    ("has_cuda", "more", "expected"),
    [
        (False, [], "Velocity-Go1-Flat --video --seed 3"),
        (True, [], "Velocity-G1 --video --seed 3"),
        (True, ["TASK=Cartpole-Balance"], "Cartpole-Balance --video --seed 3"),
    ],
)
def test_make_train_chooses_a_task_that_the_machine_can_learn(
    checkout, has_cuda, more, expected
):
    """The fake Python only reports whether CUDA exists, and prints its command line."""
    python = checkout / ".venv/bin/python"
    python.parent.mkdir(parents=True)
    python.write_text(
        f'#!/bin/sh\n[ "$1" = -c ] && exit {int(not has_cuda)}\necho "$@"\n'
    )
    python.chmod(0o755)
    command = ["make", "--no-print-directory", "train", "ARGS=--seed 3", *more]
    done = run(*command, cwd=checkout, check=True)
    line = f"scripts/train.py {expected}"
    assert done.stdout.splitlines()[-2:] == [f".venv/bin/python {line}", line]


@pytest.mark.parametrize("at_terminal", [False, True])
def test_set_up_shows_download_progress_on_a_terminal(tmp_path, at_terminal):
    calls, python = tmp_path / "calls", tmp_path / "venv/bin/python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\necho "$@" >> {calls}\n')
    python.chmod(0o755)
    child, parent = pty.openpty()
    out = parent if at_terminal else subprocess.DEVNULL
    step = ["sh", str(ROOT / "scripts/setup_venv.sh"), str(tmp_path / "venv"), "dev"]
    subprocess.run(step, stdout=out, check=True)
    for end in (child, parent):
        os.close(end)
    installs = [line for line in calls.read_text().splitlines() if " install " in line]
    assert len(installs) > 2
    assert all(("--quiet" in line) == (not at_terminal) for line in installs)


def test_an_outdated_python_is_refused_by_name(tmp_path):
    old = tmp_path / "python3.10"
    old.write_text("#!/bin/sh\nexit 1\n")
    old.chmod(0o755)
    script = ROOT / "scripts/setup_venv.sh"
    done = run("sh", script, tmp_path / "venv", "dev", old)
    assert done.returncode != 0
    assert "needs Python 3.11 or newer" in done.stderr
    assert f"PYTHON={old} is not that" in done.stderr
    assert not (tmp_path / "venv").exists()

"""Both distributions that own the package `mjlab` in one environment.

The other one is a stand-in of a few files. Like mjlab 1.6 it imports all entry points
of the group `mjlab.tasks` when it is imported, and prints a traceback for each failure.
"""

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

THEIR_FILES = {
    "mjlab/__init__.py": (
        "import sys, traceback\n"
        "from importlib.metadata import entry_points\n"
        "for point in entry_points(group='mjlab.tasks'):\n"
        "    try:\n"
        "        point.load()\n"
        "    except Exception:\n"
        "        traceback.print_exc(file=sys.stderr)\n"
    ),
    "mjlab/envs/__init__.py": "",
    "mjlab/tasks/__init__.py": "",
    "mjlab/tasks/cartpole/__init__.py": "",
    "mjlab/scripts/train.py": "def main(): print('theirs')\n",
    "mjlab/scripts/list_envs.py": "def main(): print('theirs')\n",
    "mjlab-1.6.0.dist-info/METADATA": "Name: mjlab\nVersion: 1.6.0\n",
    "mjlab-1.6.0.dist-info/entry_points.txt": (
        "[console_scripts]\n"
        "list-envs = mjlab.scripts.list_envs:main\n"
        "train = mjlab.scripts.train:main\n"
    ),
}


def install_theirs(site: Path) -> None:
    for name, text in THEIR_FILES.items():
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).write_text(text)


def install_ours(site: Path) -> None:
    """Write the files of this project's wheel, without data files."""
    for package in ("mjlab", "mjlab_fused"):
        shutil.copytree(
            ROOT / package,
            site / package,
            ignore=lambda folder, names: [
                n for n in names if not (n.endswith(".py") or Path(folder, n).is_dir())
            ],
            dirs_exist_ok=True,
        )
    info = site / "mjlab_fused-0.1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Name: mjlab-fused\nVersion: 0.1.0\n")
    groups = {"console_scripts": PROJECT["scripts"], **PROJECT["entry-points"]}
    lines: list[str] = []
    for group, points in groups.items():
        # Setuptools sorts the entries of a group.
        lines += [f"[{group}]", *(f"{n} = {points[n]}" for n in sorted(points))]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n")


@pytest.fixture(scope="module", params=["theirs last", "ours last", "theirs first"])
def path(request, tmp_path_factory) -> list[Path]:
    """Folders of an environment: one for both, or two of which theirs comes first."""
    top = tmp_path_factory.mktemp("site")
    if request.param == "theirs first":
        install_theirs(top / "a")
        install_ours(top / "b")
        return [top / "a", top / "b"]
    orders = {"theirs last": (install_ours, install_theirs)}
    for install in orders.get(request.param, (install_theirs, install_ours)):
        install(top)
    return [top]


def run_python(path: list[Path], *arguments: str) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, path))}
    return subprocess.run(
        [sys.executable, *arguments],
        env=environ,
        cwd=path[0].parent,
        capture_output=True,
        text=True,
    )


CONSOLE_SCRIPT = """
import sys
sys.argv = sys.argv[1:]
from {module} import {name}
sys.exit({name}())
"""
"""As pip writes it for an entry point."""

COMMANDS = {
    "mjlab": PROJECT["scripts"]["mjlab"],
    "train": "mjlab.scripts.train:main",
    "list-envs": "mjlab.scripts.list_envs:main",
}
LINES = ["mjlab", "mjlab --version", "mjlab list", "mjlab train Cartpole-Balance"]


def run_command(path: list[Path], line: str) -> subprocess.CompletedProcess[str]:
    command, *words = line.split()
    module, _, name = COMMANDS[command].partition(":")
    program = CONSOLE_SCRIPT.format(module=module, name=name)
    return run_python(path, "-c", program, f"/somewhere/bin/{command}", *words)


def check_one_line(done: subprocess.CompletedProcess[str], metadata: Path) -> None:
    assert done.returncode != 0
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert "the distribution 'mjlab' is installed alongside 'mjlab-fused'" in line
    assert str(metadata) in line and "`pip uninstall mjlab mjlab-fused`" in line


@pytest.mark.parametrize("line", [*LINES, "train x", "list-envs"])
def test_a_command_of_either_distribution_ends_with_one_line(path, line):
    check_one_line(run_command(path, line), path[0] / "mjlab-1.6.0.dist-info")


def test_python_m_mjlab_ends_with_one_line(path):
    done = run_python(path, "-m", "mjlab", "list")
    check_one_line(done, path[0] / "mjlab-1.6.0.dist-info")


def test_a_program_that_imports_mjlab_is_notified(path):
    done = run_python(path, "-c", "import mjlab")
    assert done.returncode != 0
    assert "the distribution 'mjlab' is installed alongside" in done.stderr
    assert done.stderr.count("Traceback") <= 1


def test_our_package_works_and_warns_if_first_on_the_path(tmp_path):
    install_ours(tmp_path / "a")
    install_theirs(tmp_path / "b")
    path = [tmp_path / "a", tmp_path / "b"]
    done = run_command(path, "mjlab --version")
    assert (done.returncode, done.stdout) == (0, "mjlab-fused 0.1.0\n")
    assert "the distribution 'mjlab' is installed alongside" in done.stderr


@pytest.mark.parametrize("metadata", ["mjlab-1.6.0.dist-info", "mjlab-1.6.0.egg-info"])
def test_another_mjlab_elsewhere_on_the_path_is_named_in_a_warning(tmp_path, metadata):
    (tmp_path / metadata).mkdir()
    done = run_python([ROOT, tmp_path], "-c", "import mjlab; print('went on')")
    assert done.stdout == "went on\n"
    assert str(tmp_path / metadata) in done.stderr
    assert "pip uninstall mjlab" in done.stderr


def test_own_metadata_is_not_mistaken_for_another_mjlab(tmp_path):
    (tmp_path / "mjlab_fused-0.1.0.dist-info").mkdir()
    (tmp_path / "mjlab_extras-1.0.dist-info").mkdir()
    assert run_python([ROOT, tmp_path], "-c", "import mjlab").stderr == ""


def test_a_script_of_a_clone_uses_the_package_of_the_clone(tmp_path):
    install_theirs(tmp_path)
    done = run_python([tmp_path], str(ROOT / "scripts/list_tasks.py"), "cartpole-b")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Cartpole-Balance  mjlab-fused")
    assert str(tmp_path / "mjlab-1.6.0.dist-info") in done.stderr


def test_the_guard_is_no_task():
    done = run_python([ROOT], "-m", "mjlab", "list")
    assert "Cartpole-Balance" in done.stdout
    assert "guard" not in done.stdout


def test_the_guard_sorts_before_every_task():
    points = PROJECT["entry-points"]["mjlab.tasks"]
    assert points[min(points)] == "mjlab_fused.guard"

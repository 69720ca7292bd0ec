"""A checkout, an editable install and a wheel, used from a folder with other packages.

Each has a separate environment with all packages except this project, so that only its
own metadata is found.
"""

import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import torch

from tests.house.test_other_mjlab import install_theirs
from tests.tools.installed import build, build_wheel_of_sdist, copy_checkout, run

PACKAGES = Path(torch.__file__).parents[1]
PYTHON = f"python{sys.version_info.major}.{sys.version_info.minor}"

STEPS = """
import importlib.metadata, sys
import mjlab, mjlab.tasks.velocity
assert "gymnasium" not in sys.modules
env = mjlab.make("Cartpole-Balance", num_envs=4, backend="native", seed=0)
env.reset(seed=0)
observations, *_ = env.step(env.action_space.sample())
print(tuple(observations.shape))
print(mjlab.__file__)
for distribution in importlib.metadata.distributions(name="mjlab-fused"):
    print(distribution.locate_file(""))
"""
FINDS_FIRST = (
    "import importlib.util, mjlab; importlib.util.find_spec('gymnasium'); "
    "mjlab.make('Cartpole-Balance', num_envs=2)"
)
BY_ITS_ID = (
    "import gymnasium; env = gymnasium.make('mjlab.gym:mjlab/Cartpole-Balance-v0'); "
    "env.reset(seed=0); print(env.spec.id)"
)


def make_environment(folder: Path) -> Path:
    """Make an environment with every package but this project; return its packages."""
    run(sys.executable, "-m", "venv", "--without-pip", folder)
    site = folder / "lib" / PYTHON / "site-packages"
    for package in PACKAGES.iterdir():
        if "mjlab" not in package.name:
            (site / package.name).symlink_to(package)
    return site


WITHOUT_EXTRAS = """
import importlib, sys
for name in sys.argv[1].split():
    sys.modules[name] = None  # Importing it raises.
for name in ("cli.train", "runs.find", "cli.episodes", "cli.doctor", "export.verify"):
    importlib.import_module(f"mjlab.{name}")
"""
EXTRAS = (
    "gymnasium h5py yaml viser mjviser imageio_ffmpeg onnx onnxruntime onnxscript "
    "wandb optuna"
)


def test_learning_measuring_and_verifying_need_no_extra():
    run(sys.executable, "-c", WITHOUT_EXTRAS, EXTRAS)


@pytest.fixture(scope="module", params=["checkout", "editable", "wheel"])
def python(request, tmp_path_factory) -> list[str | Path]:
    """A command that runs Python where the project is there in this way."""
    top = tmp_path_factory.mktemp(request.param)
    source = copy_checkout(top / "source")
    site = make_environment(top / "environment")
    interpreter = top / "environment/bin/python"
    if request.param == "checkout":
        return ["env", f"PYTHONPATH={source}", interpreter]
    if request.param == "editable":
        built = build("editable", source, top / "editable")
    else:
        built = build_wheel_of_sdist(source, top)
        shutil.rmtree(source)
    pip = (sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index")
    run(*pip, "--target", site, built)
    return ["env", "-u", "PYTHONPATH", interpreter]


@pytest.fixture
def elsewhere(tmp_path) -> Path:
    """A folder with a foreign package `tasks`, and with a clone named `mjlab`."""
    (tmp_path / "mjlab" / "mjlab").mkdir(parents=True)
    (tmp_path / "tasks").mkdir()
    (tmp_path / "tasks/__init__.py").write_text("raise RuntimeError('foreign')\n")
    return tmp_path


@pytest.mark.slow
def test_tasks_are_found_and_stepped_with_a_foreign_tasks_folder_present(
    python, elsewhere
):
    said = run(*python, "-c", STEPS, cwd=elsewhere).splitlines()
    own = Path(python[-1]).parents[2]
    assert said[0] == "(4, 5)"
    assert all(Path(place).is_relative_to(own) for place in said[1:])
    assert len(said[2:]) == (0 if "checkout" in own.name else 1)


@pytest.mark.slow
@pytest.mark.parametrize("program", [FINDS_FIRST, BY_ITS_ID], ids=["find_spec", "id"])
def test_task_can_be_made_after_any_import_order(python, elsewhere, program):
    run(*python, "-c", program, cwd=elsewhere)


@pytest.mark.slow
def test_programs_run_by_one_command(python, elsewhere):
    wanted = "Cartpole-Balance  mjlab-fused  "
    said = run(*python, "-m", "mjlab", "list", "pole-b", cwd=elsewhere)
    assert said.startswith(wanted)
    top = Path(python[-1]).parents[1]
    (command, *others) = [*top.rglob("bin/mjlab")] or [None]
    assert not others and (command is None) == ("checkout" in top.parent.name)
    if command is not None:
        text = run(*python, command, "train", "--help", cwd=elsewhere)
        assert text.startswith("usage: mjlab train [-h]")


SWEEP = (
    *("sweep", "Cartpole-Balance", "--trials", "3", "--processes", "3", "--device"),
    *("cpu", "--tune", "env.rewards.smooth.weight:log:0.1..10"),
    *("--env.scene.num-envs", "8", "--agent.max-iterations", "2"),
    *("--agent.num-steps-per-env", "8", "--agent.evaluation.every", "1"),
    *("--agent.evaluation.num-envs", "4", "--env.episode-length-s", "2"),
    *("--agent.logging.tensorboard", "False"),
)


@pytest.mark.slow
def test_a_sweep_of_three_trials_writes_into_the_current_folder(python, elsewhere):
    run(*python, "-m", "mjlab", *SWEEP, cwd=elsewhere)
    (page,) = elsewhere.glob("logs/sweeps/*/sweep.html")
    assert len([*page.parent.glob("Cartpole-Balance/2*/checkpoints")]) == 3
    assert page.read_text().count("./Cartpole-Balance/") == 4  # The best has two.


OWN_TASK = """
from mjlab.tasks.cartpole.env import CartpoleBalanceCfg
from mjlab.registry import load_task
import dataclasses

class Config(CartpoleBalanceCfg):
    episode_length_s = 3.0

TASK = dataclasses.replace(load_task("Cartpole-Balance"), env=Config, trained=None)
"""
OFFLINE = """
import socket, sys

def refuse(*arguments):
    raise OSError("This machine has no network.")

socket.socket.connect = socket.getaddrinfo = refuse
from mjlab.cli.main import run

sys.exit(run("web"))
"""
BRIEF = (
    *("--env.scene.num-envs", "8", "--agent.max-iterations", "1", "--device", "cpu"),
    *("--agent.num-steps-per-env", "8", "--agent.logging.tensorboard", "False"),
)


@pytest.mark.slow
def test_web_page_of_a_user_task_needs_neither_node_nor_network(python, elsewhere):
    (elsewhere / "own.py").write_text(OWN_TASK)
    run(*python, "-m", "mjlab", "train", "own.py:TASK", *BRIEF, cwd=elsewhere)
    page = ("latest", "--task", "own.py:TASK", "--out", "own.html")
    environ = {**os.environ, "PATH": "/nowhere"}
    program = (shutil.which("env") or "env", *python[1:])
    run(*program, "-c", OFFLINE, *page, cwd=elsewhere, env=environ)
    assert 9e6 < (elsewhere / "own.html").stat().st_size < 10e6


@pytest.mark.slow
@pytest.mark.parametrize("by_sdist", [False, True], ids=["checkout", "sdist"])
def test_a_wheel_contains_every_file_of_mjlab_and_no_others(tmp_path, by_sdist):
    source = copy_checkout(tmp_path / "source")
    expected = {
        (Path(folder) / name).relative_to(source).as_posix()
        for package in ("mjlab", "mjlab_fused")
        for folder, _, names in os.walk(source / package, followlinks=True)
        for name in names
        if not name.endswith(".sh")  # `make` alone uses it.
    }
    assert {"mjlab/tasks/robots/go1.xml", "mjlab/cli/train.py"} < expected
    if by_sdist:
        built = build_wheel_of_sdist(source, tmp_path)
    else:
        built = build("wheel", source, tmp_path / "wheel")
    names = zipfile.ZipFile(built).namelist()
    assert {name for name in names if ".dist-info/" not in name} == expected


@pytest.mark.slow
@pytest.mark.parametrize("last", ["theirs", "ours"])
def test_a_conflict_with_another_mjlab_is_reported_with_the_remedy(tmp_path, last):
    other = tmp_path / "other"
    install_theirs(other)
    shutil.rmtree(other / "mjlab-1.6.0.dist-info")
    (other / "pyproject.toml").write_text(
        '[project]\nname = "mjlab"\nversion = "1.6.0"\n'
        '[tool.setuptools.packages.find]\ninclude = ["mjlab*"]\n'
    )
    theirs = build("wheel", other, tmp_path / "theirs")
    ours = build_wheel_of_sdist(copy_checkout(tmp_path / "source"), tmp_path)
    make_environment(tmp_path / "environment")
    python = tmp_path / "environment/bin/python"
    pip = (sys.executable, "-m", "pip", "--python", python)
    install = (*pip, "install", "--quiet", "--no-deps", "--no-index")
    for wheel in (ours, theirs) if last == "theirs" else (theirs, ours):
        run(*install, wheel)
    command = tmp_path / "environment/bin/mjlab"
    environ = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    refused = subprocess.run(
        [command, "list"], env=environ, capture_output=True, text=True
    )
    (line,) = refused.stderr.splitlines()
    assert line.startswith("error: the distribution 'mjlab' is installed alongside")
    imported = subprocess.run(
        [python, "-I", "-c", "import mjlab"], capture_output=True, text=True
    )
    assert line.removeprefix("error: ") in imported.stderr
    uninstall, reinstall = re.findall(r"`pip ([^`]*)`", line)
    run(*pip, *uninstall.split(), "--yes")
    words = [ours if word == "mjlab-fused" else word for word in reinstall.split()]
    run(*pip, *words, "--quiet", "--no-index")
    assert run(command, "--version", env=environ).startswith("mjlab-fused ")
    assert run(python, "-I", "-m", "mjlab", "--version").startswith("mjlab-fused ")

"""The pages "Your first task" and "Export", executed as written."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.worlds.export_runs import save_linear

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/tutorials/first_task.md"
FILE = re.compile(r"<!-- file: (\S+) -->\n```\w+\n(.*?)```", re.DOTALL)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return installed(PAGE, tmp_path_factory.mktemp("my_tasks"))


def files_of(page: Path) -> dict[str, str]:
    """The files of a page by name."""
    return dict(FILE.findall(page.read_text("utf-8")))


def installed(page: Path, folder: Path) -> Path:
    """The files of a page, installed as a package."""
    for name, text in files_of(page).items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    # Files written by `pip install -e`, which would need a network for its build tools.
    project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    info = folder / f"{project['name']}-{project['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\n"
        f"Version: {project['version']}\n"
    )
    points = [
        f"[{group}]\n" + "".join(f"{name} = {place}\n" for name, place in table.items())
        for group, table in project["entry-points"].items()
    ]
    (info / "entry_points.txt").write_text("\n".join(points))
    return folder


def run(folder: Path, script: str, *arguments: str) -> str:
    """Output of a script in that folder."""
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / script), *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_files_of_the_page_make_a_task_that_is_listed(folder):
    (line,) = [
        line
        for line in run(folder, "list_tasks.py").splitlines()
        if line.startswith("My-Pendulum ")
    ]
    assert line.split(maxsplit=2)[1:] == [
        "pendulum",
        "Swing a pendulum up.",
    ]


SMALL = ["--env.scene.num-envs", "64", "--agent.evaluation.every", "0"]
UNSEEN = ["--viewer", "none", "--steps", "5"]


@pytest.mark.slow
def test_the_file_of_the_page_is_trained_and_played_without_a_package(tmp_path):
    (tmp_path / "pendulum.py").write_text(files_of(PAGE)["pendulum.py"])
    place, more = "pendulum.py:TASK", ["--agent.max-iterations", "2", *SMALL]
    said = run(tmp_path, "train.py", place, *more)
    assert "2 of 2 iterations" in said
    assert f"--task {place}" in said
    for words in ([place], ["latest", "--task", place]):
        said = run(tmp_path, "play.py", *words, *UNSEEN)
        assert "Mean reward per step, over 5 steps" in said
    said = run(tmp_path, "train.py", place, "--resume", "latest", *more[:1], "3")
    assert "3 of 3 iterations" in said
    (metrics,) = tmp_path.glob("logs/pendulum/2*/metrics.jsonl")
    assert len(metrics.read_text().splitlines()) == 3


@pytest.mark.slow
def test_the_package_of_the_page_is_trained_and_played(folder):
    more = ["--agent.max-iterations", "2", *SMALL]
    assert "2 of 2 iterations" in run(folder, "train.py", "My-Pendulum", *more)
    said = run(folder, "play.py", "My-Pendulum", *UNSEEN)
    assert "Mean reward per step, over 5 steps" in said


def test_the_variant_of_the_page_builds_and_steps(folder):
    program = (
        "import torch\n"
        "from mjlab.envs import ManagerBasedRlEnv\n"
        "from strong import CalmPendulumCfg\n"
        "env = ManagerBasedRlEnv(CalmPendulumCfg(seed=0), device='cpu')\n"
        "env.reset()\n"
        "env.step(torch.zeros(1, 1))\n"
        "print(env.reward_manager.active_terms, env.max_episode_length)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.stdout.strip().endswith("['upright', 'speed'] 125"), done.stderr


@pytest.mark.slow
def test_the_program_that_runs_an_exported_policy_works_as_printed(tmp_path):
    pytest.importorskip("onnxruntime")
    page = (ROOT / "docs/howto/export_a_policy.md").read_text("utf-8")
    program, _ = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    program += (
        "zeros = {i['name']: np.zeros(i['shape'], i['dtype']) "
        "for i in contract['inputs']}\n"
        "print(act(zeros)['force_target'].shape)\n"
    )
    run(tmp_path, "export.py", "Cartpole-Balance", "--out", "go1.onnx")
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.stdout == "(1,)\n", done.stderr


@pytest.mark.slow
def test_the_program_that_plays_a_foreign_network_works_as_printed(
    tmp_path, renderer_works
):
    save_linear(tmp_path / "foreign.onnx", 5, 1)
    page = (ROOT / "docs/howto/export_a_policy.md").read_text("utf-8")
    _, program = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    path = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env=path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    # An MP4 file starts with the box "ftyp".
    assert (tmp_path / "foreign.mp4").read_bytes()[4:8] == b"ftyp"


@pytest.mark.slow
def test_the_pendulum_of_the_page_learns_to_balance(folder):
    run(folder, "train.py", "pendulum.py:TASK", "--seed", "1")
    metrics = (folder / "logs/latest/metrics.jsonl").read_text().splitlines()
    score = re.findall(r'"Eval/mean_reward": ([\d.]+)', metrics[-1])
    assert float(score[0]) > 8.5

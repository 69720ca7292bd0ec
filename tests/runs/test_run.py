"""A run's folder: its files, name, and status."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import mjlab
from mjlab.rl import Ranks
from mjlab.rl.checkpoint import save_checkpoint
from mjlab.runs import Run
from mjlab.runs.run import shipped_with
from tests.worlds.rl_runs import agent_cfg, env_cfg


def create(root, task="Cartpole-Balance", name="first try"):
    configs = {"env": env_cfg(), "agent": agent_cfg()}
    return Run.create(root, task, name, configs=configs, seed=3)


LIGHT = """
from pathlib import Path
import sys
import mjlab.runs, mjlab.runs.lock, mjlab.runs.metrics, mjlab.runs.settings
import mjlab.runs.wandb
mjlab.runs.find("latest", Path(sys.argv[1])).choose_checkpoint()
heavy = {"torch", "warp", "mujoco", "mujoco_warp", "rsl_rl", "numpy", "wandb"}
print(heavy & sys.modules.keys())
"""


def test_a_checkpoint_is_found_without_torch_or_mujoco(tmp_path):
    run = create(tmp_path)
    run.point_latest()
    save_checkpoint(run.checkpoints, 1, {"learner": {}}, {"world": 1}, Ranks())
    command = [sys.executable, "-c", LIGHT, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


# --- The folder ----------------------------------------------------------------------


def test_run_json_has_command_versions_hardware_and_seed(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["scripts/train.py", "Cartpole-Balance", "--a b"])
    run = create(tmp_path)
    assert run.path.parent == tmp_path / "Cartpole-Balance"
    assert run.path.name.endswith("_first-try")
    info = run.info()
    assert info["status"] == "running"
    assert info["seed"] == 3
    assert info["arguments"] == ["Cartpole-Balance", "--a b"]
    assert info["command"].endswith("scripts/train.py Cartpole-Balance '--a b'")
    assert {"python", "torch", "mujoco", "rsl-rl-lib"} <= info["versions"].keys()
    assert info["hardware"]["cores"] >= 1
    assert run.configs() == {"env": env_cfg(), "agent": agent_cfg()}


def test_git_data_match_git(tmp_path, monkeypatch):
    project = tmp_path / "project"
    project.mkdir()

    def git(*arguments):
        identity = ["-c", "user.name=a", "-c", "user.email=a@b"]
        command = ["git", "-C", str(project), *identity, *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True)

    git("init", "-q")
    (project / "file").write_text("one\n")
    git("add", "file")
    git("commit", "-qm", "x")
    (project / "file").write_text("two\n")
    monkeypatch.chdir(project)
    run = create(tmp_path / "logs")
    (said,) = [v for k, v in run.info()["git"].items() if k.endswith("project")]
    assert said["commit"] == git("rev-parse", "HEAD").stdout.strip()
    assert said["changed"]
    assert "+two" in (run.path / "git" / "project.diff").read_text()


def test_a_run_inside_the_package_repository_records_it_once(tmp_path, monkeypatch):
    monkeypatch.chdir(Path(mjlab.__file__).parent)
    git = create(tmp_path).info()["git"]
    monkeypatch.chdir(tmp_path)
    # The same entries as from a folder outside of any repository.
    assert git.keys() == create(tmp_path).info()["git"].keys()


def test_two_runs_in_the_same_second_have_separate_folders(tmp_path):
    assert len({create(tmp_path).path for _ in range(3)}) == 3


def test_run_name_cannot_leave_the_folder(tmp_path):
    run = create(tmp_path / "logs", task="../../Bad/Task", name="../x")
    assert run.path.is_relative_to(tmp_path / "logs")
    assert run.path.parent.parent == tmp_path / "logs"


def test_a_failure_is_recorded_with_its_reason(tmp_path):
    run = create(tmp_path)
    with pytest.raises(ZeroDivisionError), run.recording():
        _ = 1 / 0
    assert run.info()["status"] == "failed"
    assert run.info()["reason"] == "ZeroDivisionError: division by zero"
    assert "in test_a_failure" in (run.path / "error.txt").read_text()
    with pytest.raises(KeyboardInterrupt), run.recording():
        raise KeyboardInterrupt
    assert run.info()["status"] == "stopped"
    run.finish("finished", "all 3 iterations are done")
    assert run.info()["status"] == "finished"
    assert run.info()["finished"] >= run.info()["started"]


def test_a_shipped_run_is_distinguished_from_a_copy_of_it(tmp_path):
    shipped = shipped_with("Cartpole-Balance")
    assert shipped is not None and shipped.is_shipped
    shutil.copytree(shipped.path, tmp_path / "copy")
    assert not Run(tmp_path / "copy").is_shipped
    assert shipped_with("No-Such-Task") is None

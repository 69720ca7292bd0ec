"""All tasks of mjlab 1.6.0, ported by `mjlab port`, build and step here.

The wheel is fetched from the package index and read as text; nothing of that package is
imported. No line is edited by hand, except those of `EDITS`.
"""

import importlib
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from mjlab.cli.porting.folder import Porting
from mjlab.envs import ManagerBasedRlEnv, ManagerBasedRlEnvCfg
from mjlab.registry import Task
from tests.tools.architecture import ROOT

WHEEL = "mjlab==1.6.0"
TASKS = {
    "Cartpole-Balance": "cartpole",
    "Cartpole-Swingup": "cartpole",
    "Velocity-Flat-Unitree-G1": "velocity.config.g1",
    "Velocity-Rough-Unitree-G1": "velocity.config.g1",
    "Velocity-Flat-Unitree-Go1": "velocity.config.go1",
    "Velocity-Rough-Unitree-Go1": "velocity.config.go1",
    "Tracking-Flat-Unitree-G1": "tracking.config.g1",
    "Tracking-Flat-Unitree-G1-No-State-Estimation": "tracking.config.g1",
    "Lift-Cube-Yam": "manipulation.config.yam",
    "Lift-Cube-Yam-Rgb": "manipulation.config.yam",
    "Lift-Cube-Yam-Depth": "manipulation.config.yam",
    "Multi-Cube-Seg-Yam": "manipulation.config.yam",
}
"""Module of each task, by id without `Mjlab-`."""

EDITS = {
    "velocity/config/g1/env_cfgs.py": ("num_cols = 5", "num_cols = 7"),
    "velocity/config/go1/env_cfgs.py": ("num_cols = 5", "num_cols = 7"),
}
"""Edits by hand, for play on rough ground: a column has one kind of terrain."""

PAGE = (ROOT / "docs/howto/coming_from_mjlab.md").read_text("utf-8")


@pytest.fixture(scope="module")
def porting(tmp_path_factory: pytest.TempPathFactory) -> Porting:
    """All tasks of mjlab, ported."""
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    done = subprocess.run(
        [*pip, "--disable-pip-version-check", "--dest", str(folder), WHEEL],
        capture_output=True,
        text=True,
    )
    if done.returncode:
        pytest.skip(f"{WHEEL} could not be fetched: {done.stderr[-200:]}")
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = [n for n in archive.namelist() if n.startswith("mjlab/tasks/")]
        names.remove("mjlab/tasks/registry.py")  # Part of the framework.
        archive.extractall(folder, ["mjlab/__init__.py", *names])
    return Porting.of(folder / "mjlab/tasks")


@pytest.fixture(scope="module")
def package(porting: Porting, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Name of the package that the tasks are written to, on the path of imports."""
    folder = tmp_path_factory.mktemp("tasks")
    porting.write_to(folder / "ported_tasks")
    for place, (before, after) in EDITS.items():
        path = folder / "ported_tasks" / place
        text = path.read_text("utf-8")
        assert text.count(before) == 1
        path.write_text(text.replace(before, after), "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        yield "ported_tasks"


@pytest.fixture(scope="module")
def motion(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A motion file of mjlab: a G1 that stands for two seconds."""
    path = tmp_path_factory.mktemp("motion") / "stand.npz"
    bodies = np.zeros((100, 30, 3), np.float32)
    bodies[..., 2] = 0.8
    quats = np.tile(np.float32([1, 0, 0, 0]), (100, 30, 1))
    joints = np.zeros((100, 29), np.float32)
    np.savez(
        path,
        joint_pos=joints,
        joint_vel=joints,
        body_pos_w=bodies,
        body_quat_w=quats,
        body_lin_vel_w=0 * bodies,
        body_ang_vel_w=0 * bodies,
    )
    return path


def run(cfg: ManagerBasedRlEnvCfg, motion: Path) -> None:
    """Build an environment; reset all worlds, step them, and reset one."""
    cfg.scene.num_envs, cfg.seed = 2, 0
    command: Any = cfg.commands.get("motion")
    if command is not None:
        command.motion_file = str(motion)
    env = ManagerBasedRlEnv(cfg, device="cpu")
    env.reset()
    for _ in range(3):
        step = env.step(torch.zeros(2, env.action_manager.total_action_dim))
    env.reset(mask=torch.tensor([True, False]))
    assert all(o.isfinite().all() for o in step.observations.values())
    env.close()


@pytest.mark.slow
def test_the_wheel_has_exactly_these_tasks(porting: Porting) -> None:
    found = {task for file in porting.files for task in file.tasks}
    assert found == {f"Mjlab-{task}" for task in TASKS}


@pytest.mark.slow
@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("play", [False, True], ids=["train", "play"])
def test_a_task_of_mjlab_builds_and_steps(
    package: str, motion: Path, task: str, play: bool, renderer_works: None
) -> None:
    module = importlib.import_module(f"{package}.{TASKS[task]}")
    ported: Task = getattr(module, f"MJLAB_{task.replace('-', '_').upper()}")
    run(ported.play() if play else ported.env(), motion)
    assert ported.rl is not None
    assert ported.rl().max_iterations > 0


@pytest.mark.slow
def test_every_edit_by_hand_is_needed(
    porting: Porting, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    porting.write_to(tmp_path / "unedited_tasks")
    monkeypatch.syspath_prepend(str(tmp_path))
    for robot in ("g1", "go1"):
        module = importlib.import_module(f"unedited_tasks.velocity.config.{robot}")
        task = getattr(module, f"MJLAB_VELOCITY_ROUGH_UNITREE_{robot.upper()}")
        with pytest.raises(ValueError, match="num_cols is 5; it must be at least 7"):
            run(task.play(), tmp_path)


@pytest.mark.slow
def test_a_ported_command_draws_the_same_for_the_same_seed(
    package: str, motion: Path
) -> None:
    module = importlib.import_module(f"{package}.velocity.config.go1")
    drawn = []
    for noise in (1, 2):
        torch.manual_seed(noise)
        cfg = module.MJLAB_VELOCITY_FLAT_UNITREE_GO1.env()
        cfg.scene.num_envs, cfg.seed = 4, 7
        env = ManagerBasedRlEnv(cfg, device="cpu")
        env.reset()
        drawn.append(env.command_manager.get_command("twist").clone())
    assert torch.equal(*drawn) and drawn[0].std() > 0.1


@pytest.mark.slow
def test_the_page_shows_the_summary_of_the_tool(porting: Porting) -> None:
    first = porting.summary("my_tasks").splitlines()[0]
    assert first in PAGE


def test_the_page_counts_the_edits_by_hand() -> None:
    assert re.search(r"10 of the 12 tasks need no edit by hand", PAGE)
    assert len(EDITS) == 2 and all(f"`{after}`" in PAGE for _, after in EDITS.values())

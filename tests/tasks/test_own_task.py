"""A user's task: a subclass of ten lines, and a package from `new_task`."""

import inspect
import re
import subprocess
import sys
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from mjlab.cli import list as list_verb
from mjlab.cli import new, run_program
from mjlab.envs import ManagerBasedRlEnv, mdp
from mjlab.managers import CommandTermCfg, RewardTermCfg
from mjlab.mdp import UniformVelocityCommandCfg
from mjlab.registry import load_task
from mjlab.rl import AgentCfg, TrainingLoop
from mjlab.runs.settings import read_task, task_text
from mjlab.tasks.velocity import VelocityG1Cfg, VelocityG1FlatCfg, g1_rewards
from mjlab.tasks.velocity.commands import TwistCommandCfg
from tests.worlds.rl_runs import agent_cfg

ROOT = Path(__file__).resolve().parents[2]

COST = RewardTermCfg(func=mdp.action_rate_l2, weight=-0.2)
ALIVE = RewardTermCfg(func=mdp.is_alive, weight=0.5)
SLOW = UniformVelocityCommandCfg.Ranges(
    lin_vel_x=(0.2, 0.6), lin_vel_y=(0.0, 0.0), ang_vel_z=(0.0, 0.0)
)


def rewards() -> dict[str, RewardTermCfg | None]:
    return {**g1_rewards(rough=False), "action_rate_l2": COST, "alive": ALIVE}


def commands() -> dict[str, CommandTermCfg | None]:
    return {"twist": TwistCommandCfg(resampling_time_range=(3.0, 8.0), ranges=SLOW)}


@dataclass(kw_only=True)
class SlowWalkCfg(VelocityG1FlatCfg):
    rewards: dict[str, RewardTermCfg | None] = field(default_factory=rewards)
    commands: dict[str, CommandTermCfg | None] = field(default_factory=commands)


@dataclass(kw_only=True)
class SlowRoughWalkCfg(VelocityG1Cfg):
    commands: dict[str, CommandTermCfg | None] = field(default_factory=commands)


def learner() -> AgentCfg:
    return agent_cfg(2)


def trained(cfg: Any) -> TrainingLoop:
    cfg.scene.num_envs, cfg.seed, cfg.curriculum = 4, 1, {}
    loop = TrainingLoop(ManagerBasedRlEnv(cfg, device="cpu"), learner())
    assert loop.run().iteration == 2
    return loop


def test_ten_lines_change_a_reward_a_command_and_add_a_term_that_trains() -> None:
    parts = (rewards, commands, SlowWalkCfg)
    lines = [line for part in parts for line in inspect.getsource(part).splitlines()]
    assert len([line for line in lines if line.strip()]) <= 10
    loop = trained(SlowWalkCfg())
    manager = loop.env.reward_manager
    assert float(manager.weight("action_rate_l2")) == pytest.approx(-0.2)
    assert float(manager.weight("alive")) == 0.5
    assert loop.figures["Train/mean_step_reward"] != 0.0
    forward = loop.env.command_manager.get_command("twist")[:, 0]
    # A tenth of the worlds stand.
    assert bool(((forward == 0.0) | ((forward >= 0.2) & (forward <= 0.6))).all())


def test_subclass_is_restored_from_its_file() -> None:
    text = task_text("Slow-Walk", {"env": SlowWalkCfg(episode_length_s=3.0)})
    back = read_task(text, "a run", task={"env": SlowWalkCfg()})["env"]
    assert type(back) is SlowWalkCfg
    assert back == SlowWalkCfg(episode_length_s=3.0)


@pytest.mark.slow
def test_a_subclass_of_the_rough_task_trains() -> None:
    trained(SlowRoughWalkCfg())


# --- As a package ---------------------------------------------------------------------


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package written by `new_task` for Pole-On-Ice."""
    folder = tmp_path_factory.mktemp("own")
    line = ["Pole-On-Ice", "--like", "Cartpole-Balance", "--folder", str(folder)]
    assert run_program(new.main, line) == 0
    return folder / "pole_on_ice"


def test_a_new_task_is_listed_trained_and_played_by_its_entry_point(
    package: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """As installed, with the metadata of its own pyproject.toml."""
    project = tomllib.loads((package / "pyproject.toml").read_text())["project"]
    info = tmp_path / f"{project['name']}-{project['version']}.dist-info"
    info.mkdir()
    fields = f"Name: {project['name']}\nVersion: {project['version']}\n"
    (info / "METADATA").write_text(fields)
    points = project["entry-points"]["mjlab.tasks"].items()
    listed = "\n".join(f"{name} = {place}" for name, place in points)
    (info / "entry_points.txt").write_text(f"[mjlab.tasks]\n{listed}\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.syspath_prepend(str(package))

    assert run_program(list_verb.main, ["ice"]) == 0
    said = "Pole-On-Ice  pole_on_ice  Pole-On-Ice: like Cartpole-Balance, with an"
    assert capsys.readouterr().out.startswith(said)
    assert run_program(list_verb.main, ["ice", "--check"]) == 0
    task = load_task("Pole-On-Ice")
    assert task.play().rewards["action_square"] is not None
    loop = TrainingLoop(ManagerBasedRlEnv(_small(task.env()), device="cpu"), learner())
    assert loop.run().iteration == 2


def _small(cfg: Any) -> Any:
    cfg.scene.num_envs, cfg.seed = 8, 0
    return cfg


@pytest.mark.slow
def test_a_new_task_that_pip_installed_is_listed_trained_and_played(
    package: Path, tmp_path: Path
) -> None:
    target = tmp_path / "site"
    pip = (sys.executable, "-m", "pip", "install", "--quiet", "--no-deps")
    offline = ("--no-build-isolation", "--no-index", "--target", str(target))
    _run(*pip, *offline, str(package))
    assert "Pole-On-Ice" in _run(sys.executable, "scripts/list_tasks.py", path=target)
    small = ("--env.scene.num-envs", "8", "--agent.num-steps-per-env", "4")
    logs = ("--logs", str(tmp_path / "logs"))
    train = ("scripts/train.py", "Pole-On-Ice", "--agent.max-iterations", "1")
    said = _run(sys.executable, *train, *small, *logs, path=target)
    assert re.search(r"1 of 1 iterations", said)
    play = ("scripts/play.py", "Pole-On-Ice", "--viewer", "none", "--steps", "2")
    assert "Pole-On-Ice, " in _run(sys.executable, *play, *logs, path=target)


def _run(*command: str, path: Path | None = None) -> str:
    import os

    environ = dict(os.environ)
    if path is not None:
        environ["PYTHONPATH"] = str(path)
    done = subprocess.run(
        command, cwd=ROOT, env=environ, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout

"""Runs of a changed task: refused with both versions, or opened on request."""

import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from mjlab import mdp
from mjlab.cli import doctor, evaluate, export, play, record, run_program, train
from mjlab.envs import ManagerBasedRlEnvCfg
from mjlab.managers import RewardTermCfg
from mjlab.registry import Task, load_task
from mjlab.runs import find
from tests.tools.registered import registered
from tests.worlds.rl_runs import agent_cfg, env_cfg

TASK = "Cartpole-Balance"
FUNCTION = "env.rewards.smooth.func"

VERBS: dict[str, tuple[Callable[[Sequence[str]], None], list[str]]] = {
    "play": (play.main, ["--viewer", "none", "--steps", "2"]),
    "evaluate": (evaluate.main, ["--episodes", "1", "--env.episode-length-s", "0.2"]),
    "record": (record.main, ["--episodes", "1", "--env.episode-length-s", "0.2"]),
    "export": (export.main, []),
    "doctor": (doctor.main, []),
}


def edit(run: Path) -> Path:
    """Change the stored function name of a reward."""
    data = json.loads((run / "config.json").read_text())
    assert data["names"][FUNCTION] == "smooth_reward"
    data["names"][FUNCTION] = "rough_reward"
    (run / "config.json").write_text(json.dumps(data))
    return run


@pytest.fixture
def older(tmp_path: Path) -> Path:
    trained = load_task(TASK).trained
    assert trained is not None
    return edit(shutil.copytree(trained, tmp_path / "run"))


@pytest.mark.parametrize("verb", VERBS)
def test_accept_changes_opens_a_run_of_a_changed_task(
    verb: str, older: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main, options = VERBS[verb]
    options = [*options, *(["--out", str(tmp_path / "x.h5")] * (verb == "record"))]
    assert run_program(main, [str(older), *options]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert (
        f"{FUNCTION}: rough_reward in the file, smooth_reward in the current task"
        in line
    )
    assert line.endswith("Pass --accept-changes to use the current task.")
    assert run_program(main, [str(older), *options, "--accept-changes"]) == 0


def changing_cfg() -> ManagerBasedRlEnvCfg:
    """Task whose reward has the current function of REWARD."""
    cfg = env_cfg()
    cfg.rewards["mine"] = RewardTermCfg(func=REWARD["func"], weight=0.1)
    return cfg


REWARD: dict[str, Any] = {"func": mdp.is_alive}
CHANGING = Task(env=changing_cfg, play=changing_cfg, rl=agent_cfg)


@pytest.mark.slow
def test_accept_changes_resumes_a_run_of_a_changed_task(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    line = ["Changing", "--logs", str(tmp_path / "logs"), "--device", "cpu"]
    line += ["--env.scene.num-envs", "8", "--agent.max-iterations"]
    with registered(tmp_path / "package", Changing=f"{__name__}:CHANGING"):
        assert run_program(train.main, [*line, "1"]) == 0
        run = find("Changing", tmp_path / "logs").run
        monkeypatch.setitem(REWARD, "func", mdp.action_rate_l2)
        capsys.readouterr()
        line += ["2", "--resume", "latest"]
        assert run_program(train.main, line) == 2
        said = capsys.readouterr().err
        assert (
            "mine.func: is_alive in the file, action_rate_l2 in the current task."
            in said
        )
        assert run_program(train.main, [*line, "--accept-changes"]) == 0
        (entry,) = run.info()["resumed"]
        assert "env.rewards.mine.func is_alive -> action_rate_l2" in entry["changes"]
        assert run.configs()["env"].rewards["mine"].func is mdp.action_rate_l2
    before = run.path / "config_until_000001.json"
    assert json.loads(before.read_text())["names"]["env.rewards.mine.func"] == (
        "is_alive"
    )

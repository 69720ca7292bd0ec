"""`identify`: from a motion to a task with ranges, and messages."""

import numpy as np
import pytest

from mjlab.cli import run_program
from mjlab.cli.identify import main
from mjlab.envs import ManagerBasedRlEnv
from mjlab.identify import missing_modules, read_csv, toolbox
from mjlab.registry import load_task
from mjlab.task_file import typed_task

needs_sysid = pytest.mark.skipif(
    bool(missing_modules()), reason=f"mujoco.sysid needs {missing_modules()}"
)
JOINT = ("--joints", "joint1")


def said(capsys, *line: object) -> str:
    assert run_program(main, [str(word) for word in line]) == 0
    return capsys.readouterr().out


@needs_sysid
@pytest.mark.slow
def test_three_commands_lead_from_a_motion_to_a_task_with_ranges(tmp_path, capsys):
    motion, log = tmp_path / "excite.csv", tmp_path / "log.csv"
    out, picture = tmp_path / "measured_yam.py", tmp_path / "fit.svg"
    kinds = ("--parameters", "friction", "gain", "delay")
    line = ("Reach-Yam", *JOINT, *kinds, "--motion", motion)
    assert "joint1.gain" in said(capsys, *line, "--seconds", 4, "--reach", 0.3)
    hidden = said(capsys, *line, "--twin", log, "--seed", 3).splitlines()[1:]
    true = {name: float(value) for name, value in map(str.split, hidden)}
    assert np.ptp(read_csv(log, ("joint1",)).pos["joint1"]) > 0.3
    files = ("--out", out, "--picture", picture)
    table = said(capsys, "Reach-Yam", log, *JOINT, *kinds, *files)
    assert f"Train with it: python scripts/train.py {out}:TASK" in table
    assert picture.read_text().startswith("<svg")

    cfg = load_task(typed_task(f"{out}:TASK")).env()
    cfg.scene.num_envs, cfg.seed = 64, 1
    env = ManagerBasedRlEnv(cfg, device="cpu")
    model = env.sim.model
    dof = env.sim.mj_model.joint("robot/joint1").dofadr[0]
    servo = env.sim.mj_model.actuator("robot/joint1").id
    stiffness = env.sim.mj_model.actuator_gainprm[servo, 0]
    found = {
        "friction": model["dof_frictionloss"][:, dof],
        "gain": model["actuator_gainprm"][:, servo, 0] / stiffness,
    }
    for name, values in found.items():
        low, high = float(values.min()), float(values.max())
        assert 0.9 * high < low < high
        assert 0.97 * low < true[f"joint1.{name}"] < 1.03 * high
    actuator = cfg.scene.entities["robot"].articulation.actuators[0]
    assert actuator.delay.min_lag <= true["delay"] / 0.01 <= actuator.delay.max_lag


@needs_sysid
@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("Reach-Yam", r"LOGS are missing.*--motion motion\.csv"),
        ("Reach-Yam none.csv", r"none\.csv does not exist"),
        ("Reach-Yam --twin log.csv", r"--twin needs --motion FILE"),
        ("Reach-Yam --motion {here}", r"already exists; nothing was written"),
        ("Reach-Yam {here} --motion a.csv", r"--motion and --twin take no logs"),
        ("Reach-Yam {jsonl}", r"is a runner's log: name the policy"),
        ("Reach-Yam --motion a.csv --parameters mas", r"'mas' is not one of"),
    ],
)
def test_invalid_command_line_suggests_a_valid_one(line, message, tmp_path):
    here, jsonl = tmp_path / "here.csv", tmp_path / "steps.jsonl"
    here.write_text("time\n")
    jsonl.write_text("{}\n")
    with pytest.raises(ValueError, match=message):
        main(line.format(here=here, jsonl=jsonl).split())


def test_missing_packages_are_named_with_the_command(monkeypatch):
    monkeypatch.setattr(toolbox, "NEEDS", ("numpy", "no_such_module"))
    with pytest.raises(ValueError, match=r"needs no_such_module:.*fused\[identify\]"):
        main(["Reach-Yam", "--motion", "a.csv"])

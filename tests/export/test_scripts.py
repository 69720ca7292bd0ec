"""`export.py`, and ONNX files in `play.py`, in `evaluate.py` and after training."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from mjlab.cli import UsageError, evaluate, play, training
from mjlab.cli import export as export_script
from mjlab.cli.training import train
from mjlab.export import ExportError, OnnxPolicy
from mjlab.rl import LoggingCfg
from mjlab.runs import Run, RunError, find
from tests.worlds.rl_runs import Display, agent_cfg, env_cfg

ROOT = Path(__file__).resolve().parents[2]
TASK = "Cartpole-Balance"


def trained(root: Path) -> tuple[Run, list[str]]:
    said = Display()
    agent = agent_cfg(1, logging=LoggingCfg(tensorboard=False))
    run, _ = train(env_cfg(), agent, task=TASK, root=root, device="cpu", display=said)
    return run, said.said


@pytest.fixture(scope="module")
def logs(tmp_path_factory) -> Path:
    """Folder of runs with one run of one iteration."""
    root = tmp_path_factory.mktemp("logs")
    trained(root)
    return root


@pytest.fixture(scope="module")
def file(logs) -> Path:
    """The file written by training."""
    return find("latest", logs).run.path / "export" / f"{TASK}.onnx"


# --- Written --------------------------------------------------------------------------


def test_training_writes_a_file_that_contains_its_origin(logs, file):
    run = find("latest", logs).run
    made = OnnxPolicy(file).contract["made"]
    assert made["run"] == run.path.name and made["iteration"] == 1
    assert made["checkpoint"] == "model_000001.pt" and made["seed"] == 3
    (commit,) = {git["commit"] for git in made["git"].values()}
    found = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True
    )
    if found.returncode == 0:
        (known,) = {git["commit"] for git in run.info()["git"].values()}
        assert commit == known
    assert made["trained_with"] == run.info()["versions"]


def test_training_continues_without_the_packages_and_suggests_the_installation(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(training, "is_installed", lambda: False)
    run, said = trained(tmp_path)
    assert said[-1] == (
        "No ONNX file was written. An ONNX file needs onnx, onnxruntime and "
        'onnxscript, which are not installed: pip install "mjlab-fused[export]".'
    )
    assert run.info()["status"] == "finished"
    assert not (run.path / "export").exists()


def test_training_continues_if_the_policy_cannot_be_written(tmp_path, monkeypatch):
    def refuse(*given, **options):
        raise ExportError("Action term 'x' is odd.")

    monkeypatch.setattr("mjlab.export.write.export_run", refuse)
    run, said = trained(tmp_path)
    assert said[-1] == "No ONNX file was written. Action term 'x' is odd."
    assert run.info()["status"] == "finished"


def test_the_script_writes_the_policy_of_a_run_and_prints_its_inputs(
    logs, tmp_path, capsys
):
    out = tmp_path / "policy.onnx"
    export_script.main([TASK, "--logs", str(logs), "--out", str(out)])
    first, *said = capsys.readouterr().out.splitlines()
    assert first == f"Wrote {out} and {out.with_suffix('.contract.json')}."
    assert said[:2] == [
        "Inputs: joint_pos (2), joint_vel (2)",
        "Outputs: force_target (1), action (1) at 20 Hz",
    ]
    assert OnnxPolicy(out).task == TASK
    contract = json.loads(out.with_name("policy.contract.json").read_text())
    assert contract == OnnxPolicy(out).contract


@pytest.mark.parametrize("program", [export_script, play, evaluate])
def test_a_checkpoint_outside_of_its_run_is_refused_in_one_line(
    program, logs, tmp_path
):
    checkpoint = find("latest", logs).run.path / "checkpoints/model_000001.pt"
    alone = tmp_path / "model.pt"
    shutil.copy(checkpoint, alone)
    with pytest.raises(RunError) as caught:
        program.main([str(alone), "--logs", str(logs)])
    said = str(caught.value)
    assert said.startswith(f"{alone} is not in a run's folder. Keep the checkpoint")
    assert "\n" not in said


def test_a_shipped_policy_is_exported_to_the_users_run_folder(tmp_path, capsys):
    export_script.main([TASK, "--logs", str(tmp_path)])
    assert (tmp_path / TASK / "export" / f"{TASK}.onnx").is_file()


# --- Played ---------------------------------------------------------------------------


def test_a_file_plays_like_the_policy_that_it_was_made_of(logs, file, capsys):
    more = ["--viewer", "none", "--steps", "30", "--num-envs", "3", "--seed", "2"]
    play.main(["latest", "--logs", str(logs), *more])
    play.main([str(file), *more])
    said = capsys.readouterr().out.splitlines()
    assert said[2] == f"{file}, {TASK}: 3 worlds, seed 2."
    assert said[3] == said[1]


def test_a_file_is_evaluated_in_its_task(file, tmp_path, capsys):
    out = tmp_path / "found.json"
    line = [str(file), "--episodes", "2", "--json", str(out)]
    evaluate.main([*line, "--env.episode-length-s", "1.5"])
    found = json.loads(out.read_text())
    assert found["task"] == TASK and found["policy"] == str(file)
    assert found["summary"]["length_steps"]["mean"] == 30
    assert capsys.readouterr().out.endswith(f"Written to {out}\n")


def test_an_evaluation_equals_the_one_of_the_checkpoint(logs, file, tmp_path, capsys):
    totals = []
    for place in (str(file), "latest"):
        out = tmp_path / "found.json"
        line = [place, "--episodes", "3", "--json", str(out), "--logs", str(logs)]
        evaluate.main([*line, "--env.episode-length-s", "1.0"])
        totals.append([run["total"] for run in json.loads(out.read_text())["runs"]])
    assert totals[0] == pytest.approx(totals[1], rel=1e-5)


# --- Answers --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "answer"),
    [
        ("Cartpole-Balanse", r"no run or task 'Cartpole-Balanse'.*'Cartpole-Balance'"),
        ("Muscle-Walk-W54", r"There is no run of 'Muscle-Walk-W54' in .*train.py"),
        ("latest --logs nowhere", r"There is no run in nowhere. Train one"),
        ("latest --out policy.pt", r"--out policy.pt must end in .onnx"),
        ("nowhere.onnx", r"nowhere\.onnx does not exist\."),
    ],
)
def test_an_invalid_command_line_is_refused(arguments, answer, logs):
    words = arguments.split()
    if "--logs" not in words:
        words += ["--logs", str(logs)]
    with pytest.raises((UsageError, RunError), match=answer):
        export_script.main(words)


def test_an_onnx_file_is_not_exported_again(file):
    with pytest.raises(UsageError, match=r"is already an ONNX file\. Watch it with"):
        export_script.main([str(file)])


@pytest.mark.parametrize("program", [play, evaluate])
def test_a_file_contains_its_own_policy(program, file):
    with pytest.raises(UsageError, match=r"already a policy: leave out --policy"):
        program.main([str(file), "--policy", "zero"])

"""All forms in which a user names a run, a checkpoint or a policy file."""

import json
import os
from pathlib import Path

import pytest

from mjlab.registry import load_task
from mjlab.runs import Found, Run, RunError, find

TASK, OTHER = "Cartpole-Balance", "Cartpole-Swingup"
OWN = "My-Own-Task"


def add(logs: Path, task: str, name: str) -> Path:
    """Write the identifying files of a run, and point the links to it."""
    folder = logs / task / name
    (folder / "checkpoints").mkdir(parents=True)
    (folder / "run.json").write_text(json.dumps({"task": task}))
    for iteration in (1, 100):
        (folder / "checkpoints" / f"model_{iteration:06d}.pt").touch()
        (folder / "checkpoints" / f"model_{iteration:06d}.json").write_text("{}")
    for link in (logs / "latest", logs / task / "latest"):
        link.unlink(missing_ok=True)
        link.symlink_to(os.path.relpath(folder, link.parent))
    return folder


@pytest.fixture
def logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two runs of a task, and a newer one of another task."""
    monkeypatch.chdir(tmp_path)
    for task, name in ((TASK, "first"), (TASK, "second_walk"), (OTHER, "third")):
        add(tmp_path / "logs", task, name)
    return tmp_path / "logs"


FORMS = {
    "latest": f"{OTHER}/third",
    TASK: f"{TASK}/second_walk",
    f"{TASK}/latest": f"{TASK}/second_walk",
    f"{TASK}/first": f"{TASK}/first",
    "first": f"{TASK}/first",
    "third": f"{OTHER}/third",
    "logs": f"{OTHER}/third",
    f"logs/{TASK}": f"{TASK}/second_walk",
    f"logs/{TASK}/first": f"{TASK}/first",
    f"./logs/{TASK}/first/": f"{TASK}/first",
    f"logs/{TASK}/first/checkpoints": f"{TASK}/first",
    f"logs/{TASK}/first/run.json": f"{TASK}/first",
    f"logs/{TASK}/latest/checkpoints/model_000001.json": f"{TASK}/second_walk",
}


@pytest.mark.parametrize("place", FORMS)
def test_a_run_is_found_by_every_form_of_its_name(logs: Path, place: str) -> None:
    found = find(place)
    assert found.run.path == (logs / FORMS[place]).resolve()
    assert found.checkpoint is None and found.file is None
    assert found.place == found.run.path


@pytest.mark.parametrize("start", ["logs/", "", "absolute"])
def test_a_checkpoint_is_kept_with_its_run(logs: Path, start: str) -> None:
    inside = f"{TASK}/first/checkpoints/model_000001.pt"
    found = find(str(logs / inside) if start == "absolute" else f"{start}{inside}")
    assert found.run.path == (logs / TASK / "first").resolve()
    assert found.checkpoint is not None
    assert found.checkpoint.samefile(logs / inside)
    assert found.choose_checkpoint(best=True) == found.checkpoint


def test_a_run_is_found_under_another_folder_of_runs(logs: Path) -> None:
    there = add(logs.parent / "elsewhere", OWN, "first")
    elsewhere = logs.parent / "elsewhere"
    for place in ("latest", OWN, "first", f"{OWN}/first", str(there)):
        assert find(place, elsewhere).run.path == there, place
    with pytest.raises(RunError, match=rf"no run or task {OWN!r}"):
        find(OWN, logs)


def test_a_name_that_two_runs_have_is_refused_with_both(logs: Path) -> None:
    add(logs, OWN, "first")
    with pytest.raises(RunError, match=rf"several runs: .*{TASK}.*, .*{OWN}"):
        find("first")
    assert find("first", task=OWN).run.path == logs / OWN / "first"


def test_a_task_restricts_the_runs(logs: Path) -> None:
    for place in ("latest", TASK, "second_walk", f"logs/{TASK}/latest"):
        assert find(place, task=TASK).run.path == logs / TASK / "second_walk", place
    for place in (OTHER, f"logs/{OTHER}/third", "third", f"{OTHER}/latest"):
        with pytest.raises(RunError, match=f"is a run of '{OTHER}', not of '{TASK}'"):
            find(place, task=TASK)
    with pytest.raises(RunError, match=f"no run of '{OWN}' in .*train.py {OWN}"):
        find("latest", task=OWN)


def test_a_shipped_policy_replaces_a_missing_run(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    shipped = (load_task(TASK).trained or Path()).resolve()
    for place in (TASK, f"{TASK}/latest"):
        assert find(place, tmp_path).run.path == shipped
    assert f"No run of {TASK} in {tmp_path}: using the policy" in caplog.text
    with pytest.raises(RunError, match=rf"There is no run of '{TASK}' in .*\. Train"):
        find(TASK, tmp_path, shipped=False)
    add(tmp_path, TASK, "mine")
    assert find(TASK, tmp_path).run.path == tmp_path / TASK / "mine"


def test_an_onnx_file_is_found_and_is_no_run(logs: Path) -> None:
    file = logs / TASK / "first" / "policy.onnx"
    file.touch()
    found = find(file)
    assert found == Found(file) and found.file == file and found.checkpoint is None
    with pytest.raises(RunError, match=r"policy\.onnx is an ONNX file"):
        _ = found.run


NOTHING = {
    "Cartpole-Balanse": r"no run or task 'Cartpole-Balanse'\. .*'Cartpole-Balance'",
    "secnd_walk": r"no run or task 'secnd_walk'\. .*nearest first: 'second_walk'",
    "zzzzzz": r"no run or task 'zzzzzz'\. list_tasks\.py lists the tasks\.$",
    "Velocity-Go1/first": r"no run or task 'Velocity-Go1/first'\.",
    "nowhere/policy.onnx": r"nowhere/policy\.onnx does not exist\.$",
    f"logs/{TASK}/first/checkpoints/model_000010.pt": (
        r".*model_000010\.pt does not exist\. .*'model_000100\.pt'"
    ),
    "alone.pt": r"alone\.pt is not in a run's folder\. Keep the checkpoint",
    "empty": r"There is no run in empty: run\.json is missing\.$",
    "Muscle-Walk-W54": r"no run of 'Muscle-Walk-W54' in logs\. Train one with train",
    "wandb:me": r"wandb:ENTITY/PROJECT/NAME",
}


@pytest.mark.parametrize("place", NOTHING)
def test_unknown_run_names_are_refused_in_one_line(logs: Path, place: str) -> None:
    Path("alone.pt").touch()
    Path("empty").mkdir()
    with pytest.raises(RunError, match=NOTHING[place]) as caught:
        find(place, Path("logs"), advice=", or watch it with --policy random")
    assert "\n" not in str(caught.value)


def test_without_any_run_latest_suggests_how_to_train_one(tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"no run in .*\. Train one with train\.py TASK"):
        find("latest", tmp_path)
    with pytest.raises(RunError, match=r"train\.py TASK, or play a task\.$"):
        find("latest", tmp_path / "absent", advice=", or play a task")


def test_current_folder_does_not_make_a_word_a_run(
    logs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`play.py Muscle-Walk-W54` inside a run's folder does not play that run."""
    monkeypatch.chdir(logs / TASK / "first")
    with pytest.raises(RunError, match="no run of 'Muscle-Walk-W54'"):
        find("Muscle-Walk-W54", logs)
    assert find(".", logs).run.path == logs / TASK / "first"
    assert find("checkpoints", logs).run.path == logs / TASK / "first"


@pytest.mark.parametrize("place", ["first", f"{TASK}/first", f"logs/{TASK}/first"])
def test_a_link_that_leaves_the_run_is_refused_for_every_form(
    logs: Path, place: str
) -> None:
    (logs / TASK / "first" / "videos").symlink_to(logs.parent)
    with pytest.raises(RunError, match="is a link that leaves"):
        find(place)


def test_a_run_is_found_through_a_link_to_its_folder(logs: Path) -> None:
    Path("shortcut").symlink_to(logs / TASK / "first")
    assert find("shortcut").run.path == logs / TASK / "first"
    assert isinstance(find("shortcut").run, Run)

"""Verbs with a task from a file: `train.py my_env.py:MyTaskCfg`, without a package."""

import json
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from mjlab import registry
from mjlab.cli import (
    clone,
    doctor,
    evaluate,
    export,
    play,
    record,
    report,
    scene,
    train,
)
from mjlab.cli.answers import run_program
from mjlab.cli.training import _unexported
from mjlab.runs import find
from mjlab.task_file import typed_task
from tests.test_task_file import CODE
from tests.worlds.rl_runs import no_export

TRAIN = ["--num-envs", "4", "--agent.num-steps-per-env", "4", "--device", "cpu"]
UNSEEN = ["--viewer", "none", "--steps", "2"]
WORDS = "hanging.py:TASK"


def forget(folder: Path) -> None:
    """Remove tasks from files of this process, as in a new process."""
    registry._ADDED.clear()
    for name, module in [*sys.modules.items()]:
        if str(getattr(module, "__file__", "")).startswith(str(folder)):
            del sys.modules[name]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with a file and a run of its task."""
    folder = tmp_path_factory.mktemp("mine")
    (folder / "hanging.py").write_text(CODE)
    path = [*sys.path]
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        line = [WORDS, *TRAIN, "--agent.max-iterations", "1"]
        with no_export():
            assert run_program(train.main, line) == 0
    sys.path[:] = path
    forget(folder)
    return folder


@pytest.fixture
def folder(
    trained: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Path]:
    """Copy of it as the current folder."""
    copy = shutil.copytree(trained, tmp_path / "copy", symlinks=True)
    monkeypatch.chdir(copy)
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield copy
    forget(copy)


VERBS = {
    "play": lambda words: play.main([*words, *UNSEEN]),
    "evaluate": lambda words: evaluate.main([*words, "--episodes", "1"]),
    "export": lambda words: export.main([*words, "--out", "a.onnx"]),
    "record": lambda words: record.main(
        [*words, "--episodes", "1", "--out", "new.h5", "--env.episode-length-s", "0.2"]
    ),
    "doctor": lambda words: doctor.main(words),
}
FORMS = {
    "file": [WORDS],
    "latest": ["latest", "--task", WORDS],
    "folder": ["logs/hanging", "--task", "./hanging.py:TASK"],
}


def answer(
    verb: str, words: Sequence[str], capsys: pytest.CaptureFixture[str]
) -> tuple[int, str]:
    """Return exit code and message of a verb."""
    code = run_program(lambda _: VERBS[verb](words), [])
    return code, capsys.readouterr().err


@pytest.mark.parametrize("form", FORMS)
def test_a_run_opens_with_its_file_in_every_form(
    form: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert answer("play", FORMS[form], capsys) == (0, "")


def test_the_command_to_export_a_stopped_run_can_be_typed(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    typed_task(WORDS)
    said = _unexported(find("latest").run)
    forget(folder)
    words = said.partition("export.py ")[2].split()
    assert words[1:] == ["--task", WORDS]
    assert answer("export", words, capsys)[0] == 0


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_opens_a_run_of_a_task_from_a_file(
    verb: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert answer(verb, FORMS["latest"], capsys)[0] == 0


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_suggests_a_command_and_imports_nothing_heavy(
    verb: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mark = folder / "ran"
    (folder / "hanging.py").write_text(f"open({str(mark)!r}, 'w')\n{CODE}")
    code, complaint = answer(verb, ["latest"], capsys)
    assert code == 2 and complaint.count("\n") == 1
    assert "--task path/to/hanging.py:TASK\n" in complaint
    assert not mark.exists() and "hanging" not in sys.modules


@pytest.mark.parametrize("verb", VERBS)
def test_a_changed_file_is_reported_and_accepted(
    verb: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "hanging.py").write_text(f"{CODE}\n# A comment.\n")
    code, complaint = answer(verb, FORMS["latest"], capsys)
    assert code == 2 and complaint.count("\n") == 1
    assert complaint.startswith("error: hanging.py:TASK differs from the file that ")
    words = [*FORMS["latest"], "--accept-changes"]
    assert answer(verb, words, capsys)[0] == 0


def test_a_run_is_resumed_with_its_file_and_keeps_the_new_hash_when_accepted(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = (folder / "logs/hanging/latest").resolve() / "config.json"
    line = [WORDS, "--resume", "latest", "--agent.max-iterations"]
    with no_export():
        assert run_program(train.main, [*line, "2"]) == 0
    before = json.loads(config.read_text())
    (folder / "hanging.py").write_text(f"{CODE}\n# A comment.\n")
    assert run_program(train.main, [*line, "3"]) == 2
    assert "differs from the file" in capsys.readouterr().err
    with no_export():
        assert run_program(train.main, [*line, "3", "--accept-changes"]) == 0
    after = json.loads(config.read_text())
    assert after["file"]["name"] == before["file"]["name"] == WORDS
    assert after["file"]["sha256"] != before["file"]["sha256"]
    kept = json.loads(config.with_name("config_until_000002.json").read_text())
    assert kept["file"] == before["file"]


def test_a_run_of_an_unknown_file_needs_the_file_to_resume(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "rex").mkdir()
    (tmp_path / "rex" / "run.json").write_text('{"task": "rex"}')
    line = ["--resume", str(tmp_path / "rex")]
    assert run_program(train.main, line) == 2
    wanted = f"type train.py path/to/rex.py:TASK --resume {line[1]}: "
    assert wanted in capsys.readouterr().err


def test_a_report_needs_no_file(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_program(report.main, ["latest"]) == 0
    assert "hanging" not in sys.modules


def test_other_verbs_take_a_file_for_a_task(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = [WORDS, "--out", "scene"]
    assert run_program(scene.main, line) == 0, capsys.readouterr().err
    assert run_program(play.main, [WORDS, "--policy", "random", *UNSEEN]) == 0
    capsys.readouterr()
    assert run_program(clone.main, [WORDS]) == 2
    assert "--demos" in capsys.readouterr().err
    assert run_program(train.main, ["hanging.py:TSK"]) == 2
    wanted = "hanging.py has no 'TSK'. Valid names, nearest first: 'TASK'"
    assert wanted in capsys.readouterr().err

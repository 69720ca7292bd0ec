"""A task from a Python file: its id, errors, and the limits of a run's file."""

import hashlib
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mjlab import registry
from mjlab.names import UnknownNameError
from mjlab.registry import Task, entries, load_task
from mjlab.rl import PpoAgentCfg
from mjlab.runs import Run
from mjlab.runs.settings import read_task, task_text
from mjlab.settings.file import SettingsFileError, parse_settings
from mjlab.task_file import TaskFileError, typed_task

CODE = '''
from mjlab.registry import Task
from mjlab.rl import PpoAgentCfg
from mjlab.tasks.cartpole.env import CartpoleBalanceCfg

STEPS = 3

def helper():
    pass

class HangingPoleCfg(CartpoleBalanceCfg):
    """A pole to play with."""

    episode_length_s = 2.0

def agent():
    return PpoAgentCfg(max_iterations=7)

TASK = Task(env=HangingPoleCfg, rl=agent)
QUICK = Task(env=HangingPoleCfg, rl=agent)
'''


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A file with a task, which this process unregisters after the test."""
    monkeypatch.setattr(registry, "_ADDED", {})
    monkeypatch.setattr(sys, "path", [*sys.path])
    before = set(sys.modules)
    path = tmp_path / "hanging.py"
    path.write_text(CODE)
    yield path
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(tmp_path)):
            del sys.modules[name]


def test_a_class_of_a_file_is_a_task_that_ppo_learns(file: Path) -> None:
    assert typed_task(f"{file}:HangingPoleCfg") == "HangingPole"
    task = load_task("HangingPole")
    assert task.env().episode_length_s == 2.0
    assert task.rl is PpoAgentCfg
    assert task.summary == "A pole to play with."
    entry = entries()["HangingPole"]
    assert entry.file is not None and entry.file.name == "hanging.py:HangingPoleCfg"
    assert entry.file.sha256 == hashlib.sha256(CODE.encode()).hexdigest()


@pytest.mark.parametrize(("name", "id"), [("TASK", "hanging"), ("QUICK", "QUICK")])
def test_a_task_of_a_file_contains_its_learner(file: Path, name: str, id: str) -> None:
    assert typed_task(f"{file}:{name}") == id
    rl = load_task(id).rl
    assert rl is not None and rl().max_iterations == 7


def test_task_ids_are_not_parsed_as_files() -> None:
    for words in ("Cartpole-Balance", "latest", "logs/a/b.pt", "policy.onnx", "a.pyc"):
        assert typed_task(words) == words


def test_the_code_that_runs_is_the_code_that_was_hashed(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python caches bytecode by seconds and size, which a quick edit can preserve."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    os.utime(file, (1e9, 1e9))
    typed_task(f"{file}:HangingPoleCfg")
    file.write_text(CODE.replace("2.0", "4.0"))
    os.utime(file, (1e9, 1e9))
    typed_task(f"{file}:HangingPoleCfg")
    assert load_task("HangingPole").env().episode_length_s == 4.0


FAULTS = {
    "nowhere.py:TASK": r".*nowhere\.py does not exist\.",
    "hangin.py:TASK": r".*hangin\.py does not exist\. .*'hanging\.py'",
    "hanging.py:HangingPolCfg": r"has no 'HangingPolCfg'\. .*first: 'HangingPoleCfg'",
    "hanging.py:helper": r"hanging\.py:helper is not a subclass of Manager",
    "hanging.py:STEPS": r"hanging\.py:STEPS is not a subclass of ManagerBasedRlEnvCfg",
    "hanging.py": r"Name a class of the file: .*hanging\.py:HangingPoleCfg\. ",
    "hanging.py:": r"Name a class of the file: .*hanging\.py:HangingPoleCfg\. ",
    "empty.py:TASK": r"empty\.py defines no task\. Define a subclass of Manager",
    "broken.py:TASK": r"broken\.py cannot be imported \(SyntaxError: .*line 2\)+\.",
    "raising.py:TASK": r"imported \(ZeroDivisionError: .*, line 3\)\.",
    "leaving.py:TASK": r"leaving\.py cannot be imported \(SystemExit: 3, line 1\)\.",
    "needy.py:TASK": r"imported \(ModuleNotFoundError: No module named 'no_such'",
    "random.py:TASK": (
        r"random\.py has the name of the module 'random', which takes precedence"
    ),
    "a-b.py:TASK": r"a-b\.py cannot be a task: 'a-b' is not a valid name of a Python",
}


@pytest.mark.parametrize("words", FAULTS)
def test_a_file_that_is_not_a_task_is_refused_in_one_line(
    file: Path, words: str
) -> None:
    folder = file.parent
    (folder / "empty.py").write_text("")
    (folder / "broken.py").write_text("x = 1\ndef f(:\n")
    (folder / "raising.py").write_text("x = 1\n\n1 / 0\n")
    (folder / "leaving.py").write_text("raise SystemExit(3)\n")
    (folder / "needy.py").write_text("import no_such\n")
    (folder / "random.py").write_text(CODE)
    (folder / "a-b.py").write_text(CODE)
    modules = set(sys.modules)
    with pytest.raises(TaskFileError, match=FAULTS[words]) as caught:
        typed_task(f"{folder}/{words}")
    assert "\n" not in str(caught.value)
    assert set(sys.modules) - modules <= {"hanging", "empty"}
    assert registry._ADDED == {}


def test_a_class_with_the_id_of_an_installed_task_is_refused(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = registry.Entry("HangingPole", "package:TASK", "their-tasks")
    monkeypatch.setattr(registry, "_of_checkout", lambda: [installed])
    monkeypatch.setattr(registry.importlib.metadata, "entry_points", lambda group: [])
    with pytest.raises(TaskFileError, match="an installed task of their-tasks"):
        typed_task(f"{file}:HangingPoleCfg")


# --- Runs of such a task --------------------------------------------------------------


def saved(file: Path) -> str:
    """The settings of a run of the file's task, as in its config.json."""
    task = load_task(typed_task(f"{file}:HangingPoleCfg"))
    env: Any = task.env()
    env.decimation = 3
    return task_text("HangingPole", {"env": env, "agent": PpoAgentCfg()})


def test_a_run_stores_the_name_and_the_hash_of_the_file(file: Path) -> None:
    text = saved(file)
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    stored = {"name": "hanging.py:HangingPoleCfg", "sha256": digest}
    assert json.loads(text)["file"] == stored
    assert str(file.parent) not in text
    assert read_task(text, "it")["env"].decimation == 3


def test_a_path_beside_the_file_is_stored_relative_to_it(
    file: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    beside = "Path(__file__).parent / 'clips'"
    command = f"""
from pathlib import Path
from mjlab.mdp import UniformVectorCommandCfg

class ClipCfg(UniformVectorCommandCfg):
    clips: Path = {beside}

class ReplayCfg(CartpoleBalanceCfg):
    commands = {{"clip": ClipCfg(resampling_time_range=(1, 1), ranges=[(0, 1)])}}
"""
    file.write_text(CODE + command)
    task = load_task(typed_task(f"{file}:ReplayCfg"))
    text = task_text("Replay", {"env": task.env(), "agent": PpoAgentCfg()})
    assert str(file.parent) not in text
    # The run continues with the same file in another folder.
    moved = tmp_path_factory.mktemp("elsewhere") / file.name
    file.rename(moved)
    del sys.modules["hanging"]
    typed_task(f"{moved}:ReplayCfg")
    read: Any = read_task(text, "it")["env"]
    assert read.commands["clip"].clips == moved.parent / "clips"
    del sys.modules["hanging"]


# --- Attacks: a run folder names a file, and nothing imports it -----------------------

MARK = "import pathlib; pathlib.Path(r'{0}').touch()\n"


ATTACKS = [
    {"name": "evil.py:TASK", "sha256": "0" * 64},
    {"name": "{folder}/evil.py:TASK", "sha256": "0" * 64},
    {"name": "../evil.py:TASK", "sha256": "0" * 64},
    {"name": "evil.py:TASK\x1b[2J", "sha256": "0" * 64},
    {"name": "evil.py", "sha256": "0" * 64},
    {"name": "evil.py:os.system", "sha256": "0" * 64},
    {"name": ["evil.py:TASK"], "sha256": "0" * 64},
    {"name": "evil.py:TASK", "sha256": "0"},
    {"name": "evil.py:TASK"},
    {"name": "evil.py:TASK", "sha256": "0" * 64, "import": "evil"},
    "evil.py:TASK",
    None,
]


@pytest.mark.parametrize("attack", ATTACKS, ids=str)
@pytest.mark.parametrize("task", ["evil", "Cartpole-Balance", "evil.py:TASK"])
def test_a_run_that_names_a_file_imports_no_code(
    file: Path, monkeypatch: pytest.MonkeyPatch, attack: Any, task: str
) -> None:
    evil, mark = file.with_name("evil.py"), file.with_name("ran")
    evil.write_text(MARK.format(mark) + CODE)
    monkeypatch.chdir(file.parent)
    monkeypatch.syspath_prepend(str(file.parent))
    said = attack
    if isinstance(attack, dict):
        said = {k: _in_folder(v, file.parent) for k, v in attack.items()}
    text = json.dumps({"task": task, "file": said, "values": {}, "names": {}})
    (file.parent / "run.json").write_text(json.dumps({"task": task}))
    (file.parent / "config.json").write_text(text)
    run = Run(file.parent)
    for accept_changes in (False, True):
        with pytest.raises((SettingsFileError, UnknownNameError)) as caught:
            run.configs(accept_changes=accept_changes)
        assert str(caught.value).isprintable()
    assert not run.is_shipped
    assert not mark.exists() and "evil" not in sys.modules


def _in_folder(value: Any, folder: Path) -> Any:
    return value.format(folder=folder) if isinstance(value, str) else value


def test_a_task_id_that_looks_like_a_file_is_never_imported(file: Path) -> None:
    """Contracts of policies, recordings and runs name tasks by id."""
    mark = file.with_name("ran")
    file.write_text(MARK.format(mark) + CODE)
    for attempt in (load_task, registry.find_entry):
        with pytest.raises(UnknownNameError):
            attempt(f"{file}:TASK")
    assert not mark.exists()


def test_text_without_a_file_refers_to_an_installed_task() -> None:
    task = load_task("Cartpole-Balance")
    text = task_text("Cartpole-Balance", {"env": task.env()})
    assert "file" not in json.loads(text)
    assert parse_settings(text, "it")[1].file is None
    assert isinstance(task, Task)

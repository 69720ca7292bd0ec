"""Provenance: command and environment of a run, without personal data."""

import json
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from mjlab import provenance
from mjlab.provenance import arguments, command, git_state, without_places
from mjlab.report import write_report
from mjlab.rl import PpoAgentCfg
from mjlab.runs import Run
from tests.worlds.rl_runs import env_cfg

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def place(tmp_path, monkeypatch) -> Path:
    """A home folder with a repository, as the working directory."""
    monkeypatch.setenv("HOME", "/home/ann smith")
    monkeypatch.setattr(Path, "cwd", lambda: Path("/home/ann smith/robots/walker"))
    return tmp_path


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("scripts/train.py", "scripts/train.py"),
        ("/home/ann smith/robots/walker/scripts/train.py", "scripts/train.py"),
        (str(ROOT / "scripts/train.py"), "scripts/train.py"),
        ("/home/ann smith/.venv/bin/train", "'~/.venv/bin/train'"),
        ("--logs=/home/ann smith/logs", "'--logs=~/logs'"),
        ("--logs=/tmp/runs of ann/logs", "--logs=.../logs"),
        ("/scratch/bob", ".../bob"),
        (
            "--weights=[/data/bob/a.pt,/data/bob/b.pt]",
            "'--weights=[.../a.pt,.../b.pt]'",
        ),
        ("https://example.org/a/b", "https://example.org/a/b"),
        ("Velocity-G1/latest", "Velocity-G1/latest"),
        ("--env.x=0.5", "--env.x=0.5"),
    ],
)
@pytest.mark.usefixtures("place")
def test_a_command_is_kept_without_the_folders_of_its_machine(given, kept, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["train.py", given])
    assert command() == f"python train.py {kept}"
    assert arguments() == [kept.strip("'")]


@pytest.mark.usefixtures("place")
def test_a_message_keeps_the_cause_without_the_location():
    said = (
        'File "/usr/lib/python3.11/json/decoder.py", line 3\n'
        'File "/home/ann smith/robots/walker/tasks/a.py", line 12, in step\n'
        "OSError: [Errno 28] No space: '/mnt/bob/disk/x.pt', rad/s and m/s/s, 1/2"
    )
    assert without_places(said) == (
        'File ".../decoder.py", line 3\n'
        'File "tasks/a.py", line 12, in step\n'
        "OSError: [Errno 28] No space: '.../x.pt', rad/s and m/s/s, 1/2"
    )


def test_no_file_of_a_run_identifies_its_machine(tmp_path, monkeypatch):
    script = str(ROOT / "scripts/train.py")
    outside = str(tmp_path / "elsewhere")
    monkeypatch.setattr(sys, "argv", [script, "Task", "--logs", outside])
    configs = {"env": env_cfg(), "agent": PpoAgentCfg()}
    run = Run.create(tmp_path / "a", "Task", configs=configs, seed=3)
    run.reopen(2, (run.path / "config.json").read_text())
    with pytest.raises(FileNotFoundError), run.recording():
        (tmp_path / "absent").read_bytes()
    shutil.rmtree(run.path / "git", ignore_errors=True)  # The user's own source.
    write_report(run.path)
    info = run.info()
    assert info["command"] == "python scripts/train.py Task --logs .../elsewhere"
    assert info["resumed"][0]["command"] == info["command"]
    assert info["reason"].endswith("No such file or directory: '.../absent'")
    assert info["hardware"]["system"] == f"{platform.system()} {platform.machine()}"
    assert set(info["hardware"]) == {
        "system",
        "processor",
        "cores",
        "memory_gb",
        "gpus",
    }
    for file in run.path.rglob("*"):
        text = file.read_text("utf-8")
        assert str(ROOT) not in text and str(tmp_path) not in text, file
        assert json.dumps(platform.node()) not in text, file
        assert sys.prefix not in text and str(Path.home()) not in text, file


def test_reading_the_state_of_a_repository_writes_no_files(tmp_path):
    """A run killed while git refreshes its index would leave the index locked."""

    def git(*words: str) -> None:
        subprocess.run(["git", "-C", str(tmp_path), *words], check=True)

    git("init", "--quiet")
    file = tmp_path / "a.txt"
    file.write_text("a")
    git("add", "a.txt")
    git("-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "one")
    index = (tmp_path / ".git/index").read_bytes()
    os.utime(file, (1, 1))  # Git's cached file status is stale now.
    state = git_state(tmp_path)
    assert state is not None and not state[1]["changed"]
    assert (tmp_path / ".git/index").read_bytes() == index
    git("status", "--porcelain")
    assert (tmp_path / ".git/index").read_bytes() != index


def test_a_processor_is_known_by_its_first_core(tmp_path, monkeypatch):
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text("processor : 0\nmodel name : Small 1\n\nmodel name: Small 2\n")
    monkeypatch.setattr(provenance, "Path", lambda place: cpuinfo)
    assert provenance._processor() == "Small 1"
    cpuinfo.unlink()
    assert provenance._processor() == (platform.processor() or platform.machine())


def test_memory_is_the_memory_of_all_pages(monkeypatch):
    sizes = {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 2**22}
    monkeypatch.setattr(os, "sysconf", sizes.__getitem__)
    assert provenance._memory_gb() == 16.0

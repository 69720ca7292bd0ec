"""Completion in bash and zsh, with keys typed at a terminal."""

import os
import pty
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mjlab.cli.completion import next_words
from mjlab.registry import entries
from tests.tools.architecture import ROOT

SHELLS = {
    "bash": ["bash", "--norc", "--noprofile", "-i"],
    "zsh": ["zsh", "-f", "-i"],
}
OF_ITS_OWN = """
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execvp(sys.argv[1], sys.argv[1:])
"""
"""Gives a command its controlling terminal."""


def test_verbs_come_first_and_options_are_completed_only_on_request():
    assert next_words(["ev"]) == ["evaluate"]
    assert "train" in next_words([""]) and "--help" not in next_words([""])
    assert next_words(["--v"]) == ["--version"]


def test_tasks_are_completed_where_a_program_expects_one():
    assert next_words(["train", ""]) == sorted(entries())
    assert next_words(["evaluate", "la"]) == ["latest"]
    assert next_words(["train", "Velocity-G1", ""]) == []
    assert next_words(["play", "Velocity-Go1-"]) == [
        "Velocity-Go1-Flat",
        "Velocity-Go1-Gaits",
        "Velocity-Go1-Sight",
        "Velocity-Go1-Stairs",
    ]
    assert next_words(["verify", ""]) == []  # The shell completes file names.


def test_options_and_their_choices_are_those_of_the_program():
    assert next_words(["train", "T", "--pl"]) == ["--placement"]
    assert next_words(["train", "T", "--placement", "c"]) == ["cpu"]
    policies = ["random", "script", "teleop", "trained", "zero"]
    assert next_words(["play", "--policy", ""]) == policies
    assert {"--exact", "--no-exact"} <= {*next_words(["train", "T", "--"])}
    assert next_words(["train", "T", "--en"]) == ["--env."]
    assert next_words(["train", "T", "--seed", ""]) == []
    assert next_words(["motion", "mi"]) == ["mirror"]
    assert next_words(["motion", "check", "x.npz", "--tr"]) == ["--traceback"]
    assert next_words(["trian", ""]) == next_words(["motion", "no", ""]) == []


@pytest.fixture(params=SHELLS)
def typed(request, tmp_path):
    """Type keys into a shell with completion; return the arguments of `mjlab`."""
    shell = request.param
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    calls, command = tmp_path / "calls", tmp_path / "mjlab"
    command.write_text(
        f'#!/bin/sh\nif [ "$1" = completion ]; then exec {sys.executable} -m mjlab '
        f'"$@"; fi\nprintf "%s\\n" "$*" >> {calls}\n'
    )
    command.chmod(0o755)
    (tmp_path / "policy.onnx").touch()
    environ = os.environ | {
        "PATH": f"{tmp_path}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "HOME": str(tmp_path),
        "TERM": "dumb",
    }

    def write(keys: str) -> str:
        # Without fork, which would need the memory of all earlier tests.
        terminal, inside = pty.openpty()
        command = [sys.executable, "-c", OF_ITS_OWN, *SHELLS[shell]]
        child = subprocess.Popen(
            command,
            stdin=inside,
            stdout=inside,
            stderr=inside,
            cwd=tmp_path,
            env=environ,
            start_new_session=True,
        )
        os.close(inside)
        try:
            os.write(
                terminal, f'eval "$(mjlab completion {shell})"; :> {calls}\n'.encode()
            )
            wait_for(calls, terminal)
            for part in keys.split("\t"):
                # A shell discards input that arrives during completion.
                os.write(terminal, part.encode())
                listen(terminal, 0.3)
                os.write(terminal, b"\t")
                listen(terminal, 2.0)
            os.write(terminal, b"\n")
            wait_for(calls, terminal, size=1)
            return calls.read_text().rstrip()
        finally:
            child.kill()
            child.wait()
            os.close(terminal)

    return write


def listen(terminal: int, seconds: float) -> None:
    """Read the shell's output for some time, so that it does not block."""
    ends = time.monotonic() + seconds
    while (left := ends - time.monotonic()) > 0:
        if select.select([terminal], [], [], left)[0]:
            os.read(terminal, 4096)


def wait_for(file: Path, terminal: int, size: int = 0) -> None:
    """Wait until a file has at least this size."""
    ends = time.monotonic() + 60
    while not (file.exists() and file.stat().st_size >= size):
        assert time.monotonic() < ends, f"{file.name} did not come."
        listen(terminal, 0.05)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("keys", "line"),
    [
        ("mjlab eva\tla\t", "evaluate latest"),
        (
            "mjlab train Cartpole-B\t--plac\tdu\t",
            "train Cartpole-Balance --placement dual",
        ),
        ("mjlab train Lift-Yam-I\t--env\tseed 3", "train Lift-Yam-IK --env.seed 3"),
        ("mjlab verify pol\t", "verify policy.onnx"),
    ],
)
def test_a_shell_completes(typed, keys, line):
    assert typed(keys) == line

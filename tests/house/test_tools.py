"""Plugins and locks of the test session."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.tools.slow_share import TURNS, rotated

ROOT = Path(__file__).resolve().parents[2]
FILES = ["a", "b", "c", "d", "e", "f", "g"]


def test_five_turns_of_slow_tests_cover_all_files() -> None:
    turns = [rotated(FILES, turn) for turn in range(1210, 1210 + TURNS)]
    assert [files[0] for files in turns] == ["a", "b", "c", "e", "f"]
    assert all(sorted(files) == FILES for files in turns)
    # If two of the seven files fit into the time, five turns reach all.
    assert {file for files in turns for file in files[:2]} == set(FILES)


SHARED = """
import time

def test_here():
    time.sleep(0.7)
    print("\\nran", __name__)
"""


def share(folder: Path, turn: int, minutes: float) -> str:
    command = ["-m", "pytest", "-p", "tests.tools.slow_share", "-rs", "-s"]
    options = ["--share-minutes", str(minutes), "--share-turn", str(turn)]
    result = subprocess.run(
        [sys.executable, *command, *options, "--rootdir", folder, folder],
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.mark.slow
def test_slow_tests_begin_at_their_turn_and_end_in_time(tmp_path) -> None:
    for name in FILES[:5]:
        (tmp_path / f"test_{name}.py").write_text(SHARED)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    lines = share(tmp_path, turn=3, minutes=1.0).splitlines()
    ran = [line.removeprefix("ran test_") for line in lines if line.startswith("ran ")]
    assert ran == ["d", "e", "a", "b", "c"]
    text = share(tmp_path, turn=3, minutes=0.5 / 60.0)
    assert "1 passed, 4 skipped" in text
    assert "minutes are over; it comes in another turn" in text


COMPILE = """
import sys, time
import warp as wp
wp.config.kernel_cache_dir = sys.argv[1]
from tests.tools.kernel_lock import lock_compiler
if sys.argv[2] == "locked":
    lock_compiler()

@wp.kernel
def double(x: wp.array(dtype=float)):
    i = wp.tid()
    x[i] = x[i] * 2.0

while time.time() < float(sys.argv[3]):
    pass
x = wp.ones(4, device="cpu")
wp.launch(double, 4, inputs=[x], device="cpu")
assert x.numpy().tolist() == [2.0] * 4
"""


@pytest.mark.slow
def test_two_workers_compile_a_module_once(tmp_path) -> None:
    script = tmp_path / "compile.py"
    script.write_text(COMPILE)
    start = str(time.time() + 8.0)
    workers = [
        subprocess.Popen(
            [sys.executable, script, tmp_path / "cache", "locked", start],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        for _ in range(2)
    ]
    said = [worker.communicate(timeout=120)[0] for worker in workers]
    assert [worker.returncode for worker in workers] == [0, 0], said
    assert sum("(compiled)" in text for text in said) == 1
    assert sum("(cached)" in text for text in said) == 1

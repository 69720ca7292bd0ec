"""The wheel in each available Python version, without a network.

`MJLAB_PYTHONS` lists interpreters, joined as in PATH, that have all required packages.
Without it, the interpreter of the tests is used.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from mjlab.rl.logging import read_rows
from tests.tools.first_hour import require_film
from tests.tools.installed import build_wheel_of_sdist, copy_checkout, run

PYTHONS = os.environ.get("MJLAB_PYTHONS", sys.executable).split(os.pathsep)
PACKAGES = "import sysconfig; print(sysconfig.get_path('purelib'))"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    top = tmp_path_factory.mktemp("wheel")
    return build_wheel_of_sdist(copy_checkout(top / "source"), top)


@pytest.mark.slow
@pytest.mark.parametrize("python", PYTHONS)
def test_wheel_lists_tasks_trains_and_records_video(
    python, wheel, tmp_path, record_property, renderer_works
):
    environment = tmp_path / "environment"
    run(python, "-m", "venv", "--without-pip", environment)
    own = environment / "bin/python"
    borrowed = Path(run(own, "-c", PACKAGES).strip()) / "borrowed.pth"
    borrowed.write_text(run(python, "-c", PACKAGES))
    # Without this option pip would remove an mjlab among the borrowed packages.
    options = ("--quiet", "--no-deps", "--no-index", "--ignore-installed")
    run(sys.executable, "-m", "pip", "--python", own, "install", *options, wheel)

    def mjlab(*arguments: str) -> str:
        kept = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
        command = environment / "bin/mjlab"
        return run(
            command, *arguments, cwd=tmp_path, env=kept, stdin=subprocess.DEVNULL
        )

    assert "Cartpole-Balance" in mjlab("list")
    mjlab("train", "Cartpole-Balance", "--agent.max-iterations", "20")
    metrics = read_rows(tmp_path / "logs/latest/metrics.jsonl")
    returns = [row["Train/mean_reward"] for row in metrics]
    assert len(returns) == 20
    assert returns[-1] > returns[0]
    mjlab("demo", "--video", "demo.mp4")
    require_film(tmp_path / "demo.mp4")
    record_property("summary", f"the wheel: {run(own, '-VV').strip()}")

"""The first hour of a user, from a wheel: `python -m tests.tools.first_hour`.

The wheel is installed with its dependencies into an empty virtual environment outside
of the repository. There a shipped policy is played, and a task is trained, evaluated,
exported and verified; the exported policy then runs in an environment with NumPy,
onnxruntime and MuJoCo, without mjlab.
"""

import json
import math
import os
import resource
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from tests.tools.installed import build_wheel_of_sdist, copy_checkout, make_venv

TASK = "Cartpole-Balance"
EXTRAS = "viewer,video,export"
LOG = "steps.jsonl"

SOLVED = 0.99
"""Minimum fraction of successful episodes."""


class FailedError(Exception):
    """A command with an unexpected result."""


class Done(NamedTuple):
    """A finished command."""

    what: str
    """The command."""

    seconds: float
    """Its duration."""

    processor: float
    """Processor time of the command and its children, s."""

    said: str
    """Its output."""


class Place:
    """An empty folder outside of the repository, with virtual environments."""

    def __init__(self, folder: Path) -> None:
        """Start in an empty folder."""
        self.folder, self.work = folder, folder / "work"
        self.work.mkdir()
        # No variable of this process refers to a checkout.
        own = ("PYTHON", "MJLAB")
        self.environ = {k: v for k, v in os.environ.items() if not k.startswith(own)}

    def build(self) -> Done:
        """Build the wheel."""
        source = copy_checkout(self.folder / "source")
        return self._timed(
            "build sdist, and a wheel of it",
            lambda: build_wheel_of_sdist(source, self.folder).name,
        )

    def install(self, name: str, *what: str | Path) -> Done:
        """Create an environment with this name."""
        words = " ".join(Path(each).name for each in what)
        return self._timed(
            f"python -m venv {name}; pip install {words}",
            lambda: make_venv(self.folder / name, *what).parent.name,
        )

    def call(self, name: str, line: str) -> Done:
        """Run a command of an environment."""
        return self._timed(line, lambda: self._run(name, line))

    def open_page(self, name: str, line: str) -> Done:
        """Start a command that serves a page, read the page, and end the command."""

        def act() -> str:
            program, *arguments = line.split()
            with subprocess.Popen(
                [self.folder / name / "bin" / program, *arguments],
                cwd=self.work,
                env=self.environ,
                stdout=subprocess.PIPE,
                text=True,
            ) as process:
                assert process.stdout is not None
                try:
                    said = next((s for s in process.stdout if "http" in s), "no page")
                    (url,) = [word for word in said.split() if word.startswith("http")]
                    with urllib.request.urlopen(url, timeout=60) as answer:
                        return f"{len(answer.read()) / 1e6:.1f} MB at {url}"
                finally:
                    process.terminate()

        return self._timed(f"{line}, until its page is there", act)

    def require_absent(self, name: str, *modules: str) -> None:
        """Raise if an environment can import any of these."""
        for module in modules:
            try:
                self._run(name, f"python -c import\t{module}")
            except FailedError as error:
                if "ModuleNotFoundError" in str(error):
                    continue
                raise
            raise FailedError(f"{module} can be imported where only the runner is.")

    def _run(self, name: str, line: str) -> str:
        program, *arguments = line.split(" ")
        done = subprocess.run(
            [self.folder / name / "bin" / program, *arguments],
            cwd=self.work,
            env=self.environ,
            capture_output=True,
            text=True,
        )
        if done.returncode:
            raise FailedError(f"{line}: exit code {done.returncode}\n{done.stderr}")
        return done.stdout

    @staticmethod
    def _timed(what: str, act: Callable[[], str]) -> Done:
        begin, used = time.perf_counter(), _processor_time()
        said = act()
        return Done(what, time.perf_counter() - begin, _processor_time() - used, said)


def _processor_time() -> float:
    """Return the processor time of all finished child processes."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def line_of(done: Done) -> str:
    """Return a line for display."""
    return f"{done.seconds:6.1f} s, processor {done.processor:5.1f} s  {done.what}"


def first_hour(folder: Path) -> Iterator[Done]:
    """Run all commands in order, in an empty folder."""
    place = Place(folder)
    yield place.build()
    (wheel,) = (folder / "wheel").iterdir()
    yield place.install("user", f"{wheel}[{EXTRAS}]")
    yield place.call("user", "mjlab list")
    yield place.open_page("user", "mjlab demo --viewer web")
    yield place.call("user", "mjlab demo --video x.mp4")
    require_film(place.work / "x.mp4")
    yield place.call("user", f"mjlab train {TASK}")
    yield place.call("user", "mjlab evaluate latest --json figures.json")
    require_solved(place.work / "figures.json")
    yield place.call("user", "mjlab export latest --runner --out policy.onnx")
    yield place.install("robot", "numpy", "onnxruntime", "mujoco")
    place.require_absent("robot", "mjlab", "torch")
    runs = f"python mjlab_runner.py policy.onnx --seconds 10 --log {LOG}"
    yield place.call("robot", runs)
    require_upright(place.work / LOG)
    yield place.call("user", "mjlab verify policy.onnx")
    yield place.call("user", f"mjlab verify policy.onnx --log {LOG}")


def require_film(path: Path) -> None:
    """Raise unless a video exists, by its first bytes and its size."""
    film = path.read_bytes()
    if film[4:8] != b"ftyp" or len(film) < 100_000:
        raise FailedError(f"{path.name} is no film: {len(film)} bytes.")


def require_solved(figures: Path) -> None:
    """Raise unless nearly all episodes succeeded."""
    share = json.loads(figures.read_text())["summary"]["success_at_end"]
    if share < SOLVED:
        raise FailedError(f"{TASK} is not solved: success at the end in {share:.0%}.")


def require_upright(log: Path) -> None:
    """Raise unless the runner completed 10 s at 20 Hz, with the pole upright."""
    steps = [json.loads(line) for line in log.read_text().splitlines()]
    cosines = [math.cos(step["measured"]["joint_pos"][1]) for step in steps]
    if len(steps) != 200 or any(step["damped"] for step in steps):
        raise FailedError(f"The runner did {len(steps)} steps, not 200 undamped ones.")
    if min(cosines[100:]) < SOLVED:
        raise FailedError(f"The pole falls: its cosine is down to {min(cosines)}.")


def main() -> None:
    """Print each command with its time, and the total."""
    every = []
    with tempfile.TemporaryDirectory() as folder:
        for done in first_hour(Path(folder)):
            every.append(done)
            last = done.said.strip().rpartition("\n")[2]
            print(f"{line_of(done)}\n    {last}", flush=True)
    print(line_of(in_all(every)))


def in_all(every: list[Done]) -> Done:
    """The sum."""
    seconds = sum(done.seconds for done in every)
    processor = sum(done.processor for done in every)
    return Done("in all", seconds, processor, "")


if __name__ == "__main__":
    main()

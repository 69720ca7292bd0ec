"""Installation from an index: a wheel, built from the source archive."""

import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

from tests.tools.architecture import ROOT


def run(*command: str | Path, **options) -> str:
    done = subprocess.run(command, capture_output=True, text=True, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def copy_checkout(to: Path) -> Path:
    """Copy the packages as in git, with the link between them."""
    ignore = shutil.ignore_patterns("__pycache__")
    for name in ("mjlab", "mjlab_fused", "tasks", "scripts"):
        shutil.copytree(ROOT / name, to / name, symlinks=True, ignore=ignore)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, to)
    return to


def build(what: str, source: Path, to: Path) -> Path:
    """Let setuptools build a "wheel", an "editable" one or an "sdist"."""
    to.mkdir()
    call = f"import setuptools.build_meta as b; b.build_{what}({str(to)!r})"
    run(sys.executable, "-c", call, cwd=source)
    (built,) = to.iterdir()
    return built


def build_wheel_of_sdist(source: Path, scratch: Path) -> Path:
    """Build a wheel as for an index: from the source archive."""
    with tarfile.open(build("sdist", source, scratch / "sdist")) as archive:
        archive.extractall(scratch / "unpacked", filter="data")
    (unpacked,) = (scratch / "unpacked").iterdir()
    return build("wheel", unpacked, scratch / "wheel")


def make_venv(folder: Path, *requirements: str | Path) -> Path:
    """Create an empty environment, install with the tested versions; return `bin`."""
    run(sys.executable, "-m", "venv", folder)
    if requirements:
        pins = ROOT / "constraints.txt"
        pip = (folder / "bin/python", "-m", "pip", "install", "--quiet")
        run(*pip, "--constraint", pins, *requirements, cwd=folder)
    return folder / "bin"

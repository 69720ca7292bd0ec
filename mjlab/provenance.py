"""Provenance of results: command, source, versions and machine, without personal data.

Paths are stored relative to the repository, and the host name is not stored, so that a
run or a figure can be shared unchanged.
"""

import contextlib
import importlib.metadata
import os
import platform
import re
import shlex
import subprocess
import sys
from pathlib import Path, PurePath
from typing import Any

SOURCE = "mjlab"
"""Name of this repository in stored data. The local folder can have another name."""

_PACKAGES = (
    "mjlab-fused",
    "mujoco",
    "mujoco-warp",
    "warp-lang",
    "torch",
    "rsl-rl-lib",
    "tensordict",
    "numpy",
)
# If the run is killed during this call, the index must not stay locked.
_GIT = ("git", "--no-optional-locks", "-c", "diff.autoRefreshIndex=false")
_OURS = Path(__file__).resolve().parents[1]
# Match absolute paths only: neither `a/b` nor `https://a/b`.
_START = r"(?<![\w.~-])(?<!:/)"
_ABSOLUTE = re.compile(
    rf"{_START}(?:(?:/[^\s/'\"`,;:()<>]+){{2,}}/?|[A-Za-z]:\\[^\s'\"`,;()<>]+)"
)


def command() -> str:
    """Return the command line, without folders of this machine."""
    return shlex.join(["python", *map(_plain_argument, sys.argv)])


def arguments() -> list[str]:
    """Return the arguments of the command line, without folders of this machine."""
    return [_plain_argument(argument) for argument in sys.argv[1:]]


def without_places(text: str) -> str:
    """Return a text without absolute paths of this machine.

    A path in the repository becomes relative to it, one in the home folder starts with
    `~`, and other absolute paths are reduced to their last component.
    """
    return _ABSOLUTE.sub(lambda path: _name_of(path[0]), _shorten(text))


def git_state(place: Path) -> tuple[str, dict[str, Any], str] | None:
    """Return the name, state and diff of a folder's Git repository, if it has one."""
    top = _run_git(place, "rev-parse", "--show-toplevel")
    if top is None:
        return None
    state = {
        "commit": _run_git(place, "rev-parse", "HEAD"),
        "branch": _run_git(place, "rev-parse", "--abbrev-ref", "HEAD"),
        "changed": bool(_run_git(place, "status", "--porcelain")),
    }
    name = SOURCE if Path(top).resolve() == _OURS else Path(top).name
    return name, state, _run_git(place, "diff", "HEAD") or ""


def hardware() -> dict[str, Any]:
    """Return a description of this machine."""
    import torch  # Imported here, so that reading a run is fast.

    gpus = range(torch.cuda.device_count())
    return {
        "system": f"{platform.system()} {platform.machine()}",
        "processor": _processor(),
        "cores": os.cpu_count(),
        "memory_gb": _memory_gb(),
        "gpus": [torch.cuda.get_device_name(gpu) for gpu in gpus],
    }


def versions() -> dict[str, str]:
    """Return the versions of all packages that affect results."""
    found = {"python": platform.python_version()}
    for package in _PACKAGES:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            found[package] = importlib.metadata.version(package)
    return found


def _plain_argument(argument: str) -> str:
    option, equals, value = argument.rpartition("=")
    plain = _shorten(value)
    # Check the whole argument first: `without_places` ends a path at a space.
    if Path(plain).is_absolute():
        plain = _name_of(plain)
    return f"{option}{equals}{without_places(plain)}"


def _shorten(text: str) -> str:
    """Return a text with paths relative to the repository or the home folder."""
    for root in (Path.cwd(), _OURS):
        # Skip roots such as `/home`: paths below them start with a user name.
        if len(root.parts) > 2:
            text = re.sub(f"{_START}{re.escape(f'{root}{os.sep}')}", "", text)
    return re.sub(rf"{_START}{re.escape(str(Path.home()))}(?![\w.-])", "~", text)


def _name_of(path: str) -> str:
    return f".../{PurePath(path).name}"


def _run_git(place: Path, *words: str) -> str | None:
    try:
        done = subprocess.run(
            [*_GIT, "-C", str(place), *words],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=20,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def _processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = re.findall(r"model name\s*:\s*(.+)", cpuinfo.read_text())
        if names:
            return names[0]
    return platform.processor() or platform.machine()


def _memory_gb() -> float | None:
    try:
        size = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None
    return round(size / 2**30, 1)

"""Saves results of measurements with machine, versions and date."""

import datetime
import importlib.metadata
import json
import platform
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
_PACKAGES = ("mujoco", "mujoco-warp", "warp-lang", "torch", "numpy")


def machine() -> dict[str, Any]:
    """Return a description of this machine."""
    from mjlab.provenance import hardware

    found = hardware()
    gpus = found.pop("gpus")
    python = platform.python_version()
    return {**found, "python": python, "gpu": gpus[0] if gpus else None}


def versions() -> dict[str, str]:
    """Return the versions of packages that affect speed."""
    found = {}
    for package in _PACKAGES:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            found[package] = "absent"
    return found


def save(name: str, figures: dict[str, Any]) -> Path:
    """Write `figures` with machine, versions and date to `bench/results`."""
    path = RESULTS / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    record = {"date": now, "machine": machine(), "versions": versions()} | figures
    path.write_text(json.dumps(record, indent=2) + "\n")
    return path

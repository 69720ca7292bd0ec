"""Checkpoint files of a run: find, check and delete them without importing torch.

A checkpoint consists of three files. `model_000100.pt` has the networks, the optimiser,
their layout, and the SHA-256 of the run's settings. `model_000100.rank0.pt` has the
worlds and random streams of process 0, for an exact resume. `model_000100.json`, the
manifest, is written last and holds the checksums; without it the other files are
ignored. `mjlab.rl.checkpoint` writes and loads them.
"""

import logging
import re
from pathlib import Path
from typing import Any

from mjlab.files import TEMPORARY, sha256
from mjlab.settings.objects import read_object

_log = logging.getLogger(__name__)

BEST = "best"
"""Name of the best checkpoint."""

COMING = ".next.json"
"""Suffix of a new manifest, before it replaces the old one."""

REMEDY = "Use another checkpoint of the run, or copy the run's folder again."
"""Advice for a damaged checkpoint."""

_NAME = re.compile(r"model_(\d+)\.json")
_MANIFEST = {"format": int, "iteration": int, "files": dict[str, str]}


class CheckpointError(ValueError):
    """Raised for a file that is missing, damaged, unsafe, or not a checkpoint."""


class Checkpoints:
    """Lists, checks and deletes the checkpoints in a folder."""

    def __init__(self, folder: Path, *, keep: int = 3) -> None:
        """Open a folder, which need not exist yet.

        Args:
            folder: Folder of the checkpoints.
            keep: Number of newest checkpoints that `prune` keeps. 0 keeps all.
        """
        self.folder = Path(folder)
        self._keep = keep

    def path(self, iteration: int) -> Path:
        """Return the path of an iteration's checkpoint."""
        return self.folder / f"model_{iteration:06d}.pt"

    def iterations(self) -> list[int]:
        """Return the iterations that have a checkpoint with manifest, newest first."""
        if not self.folder.is_dir():
            return []
        found = (_NAME.fullmatch(file.name) for file in self.folder.iterdir())
        return sorted((int(match[1]) for match in found if match), reverse=True)

    def names(self) -> list[str]:
        """Return the names of playable checkpoints, newest first, best last."""
        names = [self.path(iteration).stem for iteration in self.iterations()]
        has_best = (self.folder / f"{BEST}.json").is_file()
        return [*names, BEST] if has_best else names

    def newest(self) -> Path | None:
        """Return the newest complete checkpoint, None if there is none."""
        faults: list[str] = []
        for iteration in self.iterations():
            path = self.path(iteration)
            fault = find_fault(path)
            if fault is None:
                if faults:
                    listed = ", ".join(faults)
                    _log.warning("%s: %s. Using %s.", self.folder, listed, path.name)
                return path
            faults.append(fault)
        return None

    def best(self) -> Path | None:
        """Return the best checkpoint, None if it is missing or damaged."""
        path = self.folder / f"{BEST}.pt"
        return path if find_fault(path) is None else None

    def prune(self) -> None:
        """Delete all but the newest checkpoints.

        Manifests are deleted first, so that no incomplete checkpoint is listed.
        """
        for iteration in self.iterations()[self._keep or None :] if self._keep else []:
            self.path(iteration).with_suffix(".json").unlink(missing_ok=True)
            for file in self.folder.glob(f"model_{iteration:06d}.*pt"):
                file.unlink(missing_ok=True)

    def sweep(self) -> None:
        """Delete unfinished files of a process that was killed."""
        for file in self.folder.glob(f"*{TEMPORARY}"):
            file.unlink(missing_ok=True)


def find_checkpoint(place: Path, *, best: bool = False) -> Path:
    """Return a checkpoint file.

    Args:
        place: A checkpoint file, a folder of checkpoints, or a run's folder.
        best: Prefer the best checkpoint of a folder over the newest.

    Raises:
        CheckpointError: If a folder has no complete checkpoint.
    """
    place = Path(place)
    if place.is_file():
        return place
    folder = place / "checkpoints" if (place / "checkpoints").is_dir() else place
    checkpoints = Checkpoints(folder)
    found = (checkpoints.best() if best else None) or checkpoints.newest()
    if found is None:
        raise CheckpointError(
            f"No complete checkpoint in {folder}. Name another run, or train again."
        )
    return found


def find_fault(path: Path) -> str | None:
    """Check a checkpoint against its manifest; return the fault, None if intact."""
    try:
        manifest = read_manifest(path)
    except CheckpointError:
        return f"the manifest of {path.name} is damaged"
    if manifest is None:
        return f"{path.name} has no manifest"
    files: dict[str, str] = manifest["files"]
    if path.name not in files:
        return f"the manifest of {path.name} does not list it"
    for name, digest in files.items():
        file = path.parent / Path(name).name
        if not file.is_file():
            return f"{name} is missing"
        if sha256(file) != digest:
            return f"{name} is damaged"
    return None


def read_manifest(path: Path) -> dict[str, Any] | None:
    """Return the manifest of a checkpoint, None if it has none.

    A new manifest that matches the checkpoint takes precedence over the old one.
    """
    coming, file = path.with_suffix(COMING), path.with_suffix(".json")
    if coming.is_file() and path.is_file():
        manifest = read_object(coming, _MANIFEST, CheckpointError, remedy=REMEDY)
        if manifest["files"].get(path.name) == sha256(path):
            return manifest
    if not file.is_file():
        return None
    return read_object(file, _MANIFEST, CheckpointError, remedy=REMEDY)

"""Checkpoints: complete or absent, checked when read, and free of code.

A checkpoint is three kinds of files. `model_000100.pt` has the networks, the optimiser,
their layout, and the SHA-256 of the run's configuration, which is in the run's folder.
`model_000100.rank0.pt` has the worlds and random streams of process 0, for an exact
resume. `model_000100.json`, the manifest, is written last and holds the checksums;
without it the other files are ignored.
"""

import hashlib
import json
import logging
import pickle
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from mjlab.files import TEMPORARY, in_memory, sha256, write_atomic, write_text
from mjlab.rl.distributed import Ranks
from mjlab.settings.objects import read_object

_log = logging.getLogger(__name__)

FORMAT = 2
"""Version of the files."""

BEST = "best"
"""Name of the best checkpoint."""

_COMING = ".next.json"
"""End of the name of a manifest whose file is being written."""

_NAME = re.compile(r"model_(\d+)\.json")
_MANIFEST = {"format": int, "iteration": int, "files": dict[str, str]}
_REMEDY = "Take another checkpoint of its run, or copy the run's folder once more."


class CheckpointError(ValueError):
    """A checkpoint that is absent, damaged, unsafe, or of something else."""


class Checkpoints:
    """The checkpoints of a run."""

    def __init__(self, folder: Path, *, keep: int = 3) -> None:
        """Look at a folder, which may not exist yet.

        Args:
            folder: Where checkpoints are.
            keep: Newest ones that survive a save. 0 keeps all.
        """
        self.folder = Path(folder)
        self._keep = keep

    def save(
        self,
        iteration: int,
        model: Mapping[str, Any],
        own: Mapping[str, Any],
        ranks: Ranks,
    ) -> Path:
        """Write a checkpoint, together with the other processes.

        Args:
            iteration: Iterations that are done.
            model: What all processes have in common; the first one writes it.
            own: What this process has for itself.
            ranks: This process among the others.

        Returns:
            The file to load.
        """
        path = self.folder / f"model_{iteration:06d}.pt"
        rank_file = _rank_file(path, ranks.index)
        # What the manifest of an older save of this iteration says is over.
        if ranks.is_first:
            path.with_suffix(".json").unlink(missing_ok=True)
            self._sweep()
        ranks.wait()
        _write(rank_file, own)
        sums = ranks.gather(bytes.fromhex(sha256(rank_file)))
        if ranks.is_first:
            _write(path, model)
            files = {path.name: sha256(path)} | {
                _rank_file(path, rank).name: digest.hex()
                for rank, digest in enumerate(sums)
            }
            manifest = {"format": FORMAT, "iteration": iteration, "files": files}
            _write_manifest(path.with_suffix(".json"), manifest)
            self._prune()
        return path

    def save_best(
        self, iteration: int, model: Mapping[str, Any], score: float | None
    ) -> Path:
        """Write the best policy so far. Only the first process does."""
        path = self.folder / f"{BEST}.pt"
        write_model(path, model, iteration, score=score)
        return path

    def iterations(self) -> list[int]:
        """Iterations that have a manifest, the newest first."""
        if not self.folder.is_dir():
            return []
        found = (_NAME.fullmatch(file.name) for file in self.folder.iterdir())
        return sorted((int(match[1]) for match in found if match), reverse=True)

    def names(self) -> list[str]:
        """Names of what can be played, the newest first; best is the last."""
        names = [f"model_{iteration:06d}" for iteration in self.iterations()]
        has_best = (self.folder / f"{BEST}.json").is_file()
        return [*names, BEST] if has_best else names

    def newest(self) -> Path | None:
        """The newest checkpoint that is whole, if there is any."""
        for iteration in self.iterations():
            path = self.folder / f"model_{iteration:06d}.pt"
            fault = find_fault(path)
            if fault is None:
                return path
            _log.warning("%s is passed over: %s.", path, fault)
        return None

    def best(self) -> Path | None:
        """The best checkpoint, if there is one and it is whole."""
        path = self.folder / f"{BEST}.pt"
        return path if find_fault(path) is None else None

    def _prune(self) -> None:
        """Delete old ones, the manifest first, so that no half of one is left."""
        for iteration in self.iterations()[self._keep or None :] if self._keep else []:
            manifest = self.folder / f"model_{iteration:06d}.json"
            manifest.unlink(missing_ok=True)
            for file in self.folder.glob(f"model_{iteration:06d}.*pt"):
                file.unlink(missing_ok=True)

    def _sweep(self) -> None:
        """Delete what a killed process was writing."""
        for file in self.folder.glob(f"*{TEMPORARY}"):
            file.unlink(missing_ok=True)


def find_checkpoint(place: Path, *, best: bool = False) -> Path:
    """The file of a checkpoint, given itself, its folder, or its run's folder."""
    place = Path(place)
    if place.is_file():
        return place
    folder = place / "checkpoints" if (place / "checkpoints").is_dir() else place
    checkpoints = Checkpoints(folder)
    found = (checkpoints.best() if best else None) or checkpoints.newest()
    if found is None:
        raise CheckpointError(f"There is no whole checkpoint in {folder}.")
    return found


def find_fault(path: Path) -> str | None:
    """Return the fault of a checkpoint by its manifest, None if it has none."""
    try:
        manifest = read_manifest(path)
    except CheckpointError:
        return "its manifest is damaged"
    if manifest is None:
        return "it has no manifest"
    files: dict[str, str] = manifest["files"]
    if path.name not in files:
        return "its manifest does not name it"
    for name, digest in files.items():
        file = path.parent / Path(name).name
        if not file.is_file():
            return f"{name} is missing"
        if sha256(file) != digest:
            return f"{name} is damaged"
    return None


def read_manifest(path: Path) -> dict[str, Any] | None:
    """Return the manifest of a checkpoint, None if there is none."""
    coming, file = path.with_suffix(_COMING), path.with_suffix(".json")
    if coming.is_file() and path.is_file():
        manifest = read_object(coming, _MANIFEST, CheckpointError, remedy=_REMEDY)
        if manifest["files"].get(path.name) == sha256(path):
            return manifest
    if not file.is_file():
        return None
    return read_object(file, _MANIFEST, CheckpointError, remedy=_REMEDY)


def load_model(path: Path, device: torch.device | str = "cpu") -> dict[str, Any]:
    """Read what all processes have in common: all that is needed to play."""
    model = _read(path, device, path)
    if "learner" not in model:
        raise CheckpointError(
            f"{path} is not a checkpoint of this project: it holds "
            f"{', '.join(map(repr, list(model)[:5])) or 'nothing'}."
        )
    if model["format"] != FORMAT:
        raise CheckpointError(
            f"{path} has format {model['format']}; this version reads format {FORMAT}."
        )
    return model


def load_own(path: Path, ranks: Ranks) -> dict[str, Any]:
    """Read what this process needs besides, to go on exactly. It is on the CPU."""
    file = _rank_file(path, ranks.index)
    if not file.is_file():
        raise CheckpointError(
            f"{file} is missing: {path.name} was not saved by {ranks.world} processes "
            "on this machine, or without the state of its worlds."
        )
    own = _read(file, "cpu", path)
    if own["world"] != ranks.world:
        raise CheckpointError(
            f"{path} was saved by {own['world']} processes, and these are "
            f"{ranks.world}. The run can only go on exactly with as many."
        )
    return own


def write_model(
    path: Path, model: Mapping[str, Any], iteration: int, **more: Any
) -> None:
    """Write what is needed to play, alone, with `more` in its manifest.

    A file that is there is whole until the new one is. The manifest of the new one lies
    beside its own until then, and each holds for the file that has its checksum.
    """
    whole = {"format": FORMAT, **model}
    data = in_memory(path, lambda file: torch.save(whole, file))
    files = {path.name: hashlib.sha256(data).hexdigest()}
    manifest = {"format": FORMAT, "iteration": iteration, "files": files} | more
    coming = path.with_suffix(_COMING)
    _write_manifest(coming, manifest)
    try:
        write_atomic(path, lambda file: file.write(data))
    except OSError:
        if not path.is_file() or sha256(path) != files[path.name]:
            coming.unlink()
        raise
    _write_manifest(path.with_suffix(".json"), manifest)
    coming.unlink()


# Files.


def _rank_file(path: Path, rank: int) -> Path:
    return path.with_name(f"{path.stem}.rank{rank}.pt")


def _write(path: Path, data: Mapping[str, Any]) -> None:
    whole = {"format": FORMAT, **data}
    write_atomic(path, lambda file: torch.save(whole, file))


def _write_manifest(file: Path, manifest: Mapping[str, Any]) -> None:
    write_text(file, json.dumps(manifest, indent=1) + "\n")


def _read(path: Path, device: torch.device | str, checkpoint: Path) -> dict[str, Any]:
    """Read a file of a checkpoint, after a check of its checksum."""
    if not path.is_file():
        raise CheckpointError(f"There is no file {path}.")
    _check_sum(path, checkpoint)
    try:
        data = torch.load(path, map_location=device, weights_only=True)
    except pickle.UnpicklingError as error:
        raise _refusal(path) from error
    except (RuntimeError, EOFError, KeyError, ValueError) as error:
        raise CheckpointError(f"{path} is damaged: {error}. {_REMEDY}") from error
    if not isinstance(data, dict) or not isinstance(data.get("format"), int):
        raise CheckpointError(f"{path} is not a checkpoint of this project.")
    return data


def _check_sum(path: Path, checkpoint: Path) -> None:
    """Raise if a file does not have the checksum in the checkpoint's manifest."""
    name, manifest = checkpoint.with_suffix(".json").name, read_manifest(checkpoint)
    if manifest is None:
        raise CheckpointError(
            f"{checkpoint} has no manifest {name} beside it. Keep a checkpoint in its "
            "run's folder, and name it there."
        )
    if manifest["files"].get(path.name) != sha256(path):
        raise CheckpointError(
            f"{path} is damaged: its checksum is not that in {name}. {_REMEDY}"
        )


def _refusal(path: Path) -> CheckpointError:
    return CheckpointError(
        f"{path} is refused: it is damaged, or holds something other than tensors "
        f"and plain values, which could run code. {_REMEDY}"
    )

"""Write and load checkpoints: atomic, verified on reading, without executable code.

`mjlab.runs.checkpoints` names the files and finds them.
"""

import hashlib
import json
import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from mjlab.files import in_memory, sha256, write_atomic, write_text
from mjlab.rl.distributed import Ranks
from mjlab.runs.checkpoints import (
    BEST,
    COMING,
    REMEDY,
    CheckpointError,
    Checkpoints,
    read_manifest,
)

FORMAT = 2
"""Version of the file format."""

AVERAGED = "averaged"
"""Key of the averaged weights of the policy in the learner's state."""


def save_checkpoint(
    checkpoints: Checkpoints,
    iteration: int,
    model: Mapping[str, Any],
    own: Mapping[str, Any],
    ranks: Ranks,
) -> Path:
    """Write a checkpoint. All processes must call it; each writes its own state.

    Args:
        checkpoints: The checkpoints of the run; old ones are deleted.
        iteration: Finished iterations.
        model: Shared state, which the first process writes.
        own: State of this process.
        ranks: Rank of this process.

    Returns:
        The file to load.
    """
    path = checkpoints.path(iteration)
    rank_file = _rank_file(path, ranks.index)
    # The manifest of an older save of this iteration is no longer valid.
    if ranks.is_first:
        path.with_suffix(".json").unlink(missing_ok=True)
        checkpoints.sweep()
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
        checkpoints.prune()
    return path


def save_best(
    checkpoints: Checkpoints,
    iteration: int,
    model: Mapping[str, Any],
    score: float | None,
) -> Path:
    """Write the best policy so far, in the first process only."""
    path = checkpoints.folder / f"{BEST}.pt"
    write_model(path, model, iteration, score=score)
    return path


def load_model(path: Path, device: torch.device | str = "cpu") -> dict[str, Any]:
    """Read the state shared by all processes, sufficient for playing."""
    model = _read(path, device, path)
    if "learner" not in model:
        raise CheckpointError(
            f"{path} is not a checkpoint of this project: it contains "
            f"{', '.join(map(repr, list(model)[:5])) or 'nothing'}."
        )
    if model["format"] != FORMAT:
        raise CheckpointError(
            f"{path} has format {model['format']}; this version reads format {FORMAT}."
        )
    return model


def policy_weights(model: Mapping[str, Any], name: str) -> dict[str, torch.Tensor]:
    """Return the weights of the trained policy: averaged ones, if there are any.

    Args:
        model: Result of `load_model`.
        name: Name of the acting network, such as "actor".
    """
    learner = model["learner"]
    if AVERAGED in learner:
        return learner[AVERAGED]
    return learner["algorithm"][f"{name}_state_dict"]


def load_own(path: Path, ranks: Ranks) -> dict[str, Any]:
    """Read the state of this process to the CPU. An exact resume needs this state."""
    file = _rank_file(path, ranks.index)
    if not file.is_file():
        raise CheckpointError(
            f"{file} is missing: {path.name} was saved by another number of processes "
            f"than {ranks.world}, on another machine, or without environment state."
        )
    own = _read(file, "cpu", path)
    if own["world"] != ranks.world:
        raise CheckpointError(
            f"{path} was saved by {own['world']} processes, but {ranks.world} are "
            "running. An exact resume needs the same number."
        )
    return own


def load_first_worlds(path: Path) -> dict[str, torch.Tensor] | None:
    """Read the state of the first process's worlds, None if none was saved."""
    file = _rank_file(path, 0)
    worlds = _read(file, "cpu", path)["worlds"] if file.is_file() else None
    return None if worlds is None else worlds["env"]


def write_model(
    path: Path, model: Mapping[str, Any], iteration: int, **more: Any
) -> None:
    """Write only the state needed for playing, with `more` in its manifest.

    An existing file is replaced atomically. Until then, old and new manifest exist
    together; the one with the file's checksum is valid.
    """
    whole = {"format": FORMAT, **model}
    data = in_memory(path, lambda file: torch.save(whole, file))
    files = {path.name: hashlib.sha256(data).hexdigest()}
    manifest = {"format": FORMAT, "iteration": iteration, "files": files} | more
    coming = path.with_suffix(COMING)
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
    """Read a file of a checkpoint, and verify its checksum first."""
    if not path.is_file():
        raise CheckpointError(f"{path} does not exist.")
    _check_sum(path, checkpoint)
    try:
        data = torch.load(path, map_location=device, weights_only=True)
    except pickle.UnpicklingError as error:
        raise _refusal(path) from error
    except (RuntimeError, EOFError, KeyError, ValueError) as error:
        raise CheckpointError(f"{path} is damaged: {error}. {REMEDY}") from error
    if not isinstance(data, dict) or not isinstance(data.get("format"), int):
        raise CheckpointError(f"{path} is not a checkpoint of this project.")
    return data


def _check_sum(path: Path, checkpoint: Path) -> None:
    """Raise if a file does not have the checksum in the checkpoint's manifest."""
    name, manifest = checkpoint.with_suffix(".json").name, read_manifest(checkpoint)
    if manifest is None:
        raise CheckpointError(
            f"{checkpoint} has no manifest {name} in its folder. Use the checkpoint in "
            "its run folder."
        )
    if manifest["files"].get(path.name) != sha256(path):
        raise CheckpointError(
            f"{path} is damaged: its checksum differs from {name}. {REMEDY}"
        )


def _refusal(path: Path) -> CheckpointError:
    return CheckpointError(
        f"{path} is refused: it is damaged, or contains objects other than tensors "
        f"and plain values, which could run code. {REMEDY}"
    )

"""A run made small, to ship with a package: a policy to watch before one has trained.

It stays a run's folder, with its own configuration and what `run.json` says of where it
came from. What is left out is what only training needs: the optimiser, the critic, the
state of the worlds, and most lines of the metrics.
"""

import glob
import os
import re
import shutil
from pathlib import Path

from mjlab.files import folder_beside, move_durably, write_text
from mjlab.rl.checkpoint import (
    CheckpointError,
    find_checkpoint,
    load_model,
    read_manifest,
    write_model,
)
from mjlab.rl.learners import network_names
from mjlab.rl.run_folder import RunFolder, RunFolderError

_SHIPPED = re.compile(
    r"(run|config)\.json|metrics\.jsonl|checkpoints/(model_\d+|best)\.(pt|json)"
)

_ASIDE = ".old"
"""Suffix of what was shipped before, until what replaces it has its name."""

MOST_LINES = 300
"""Lines of the metrics that are kept, evenly over the run, with all evaluations."""


def ship(run: RunFolder, to: Path, *, best: bool = False) -> RunFolder:
    """Copy what is needed to watch and to examine a run's policy.

    Args:
        run: The run.
        to: The folder to make, such as "trained/<task>" beside the task's module. What
            was shipped there before is replaced.
        best: Whether to take its best checkpoint rather than its newest.

    Raises:
        RunFolderError: If anything else is there, which is not deleted.
    """
    _put_back(to)
    _check_shipped(to)
    source = find_checkpoint(run.path, best=best)
    model = load_model(source)
    agent = run.configs()["agent"]
    acting = f"{network_names(agent)[0]}_state_dict"
    weights = model["learner"]["algorithm"][acting]
    learned = {
        name: hook.acting(model["hooks"][name])
        for name, hook in agent.hooks.items()
        if hook is not None
    }
    slim = {**model, "learner": {"algorithm": {acting: weights}}, "hooks": learned}
    manifest = read_manifest(source)
    if manifest is None:
        raise CheckpointError(f"{source} has no manifest, and is not shipped without.")

    aside = to.with_name(f"{to.name}.{os.getpid()}{_ASIDE}")
    with folder_beside(to) as draft:
        write_model(draft / "checkpoints" / source.name, slim, manifest["iteration"])
        for name in ("run.json", "config.json"):
            shutil.copy(run.path / name, draft / name)
        _thin(run.path / "metrics.jsonl", draft / "metrics.jsonl")
        if to.exists():
            to.rename(aside)
        move_durably(draft, to)
    shutil.rmtree(aside, ignore_errors=True)
    return RunFolder(to)


def _put_back(folder: Path) -> None:
    """Return what was shipped before to its name, if a kill came before the new one."""
    for aside in folder.parent.glob(f"{glob.escape(folder.name)}.*{_ASIDE}"):
        _check_shipped(aside)
        if folder.exists():
            shutil.rmtree(aside)
        else:
            aside.rename(folder)


def _check_shipped(folder: Path) -> None:
    """Raise unless a folder is absent, empty, or has what `ship` writes and no more."""
    inside = [folder] if folder.is_file() else folder.rglob("*")
    for file in (each for each in inside if not each.is_dir()):
        if not _SHIPPED.fullmatch(file.relative_to(folder).as_posix()):
            raise RunFolderError(
                f"{folder} is not replaced: {file} is no file of a run that was "
                "shipped. Name another folder, or move it away."
            )


def _thin(source: Path, to: Path) -> None:
    lines = source.read_text("utf-8").splitlines(keepends=True)
    every = max(1, -(-len(lines) // MOST_LINES))
    last = len(lines) - 1
    kept = [
        line
        for i, line in enumerate(lines)
        if i % every == 0 or i == last or '"Eval/' in line
    ]
    write_text(to, "".join(kept))

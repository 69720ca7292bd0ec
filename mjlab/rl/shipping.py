"""Small copies of runs, to ship with a package: policies to watch before training.

A copy is a run's folder with its configuration, `run.json`, the acting network and a
curve of at most 50 points. The optimiser, the critic and the state of the worlds, which
only training needs, are left out.
"""

import glob
import json
import os
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mjlab.files import folder_beside, move_durably, write_text
from mjlab.rl.checkpoint import load_model, policy_weights, write_model
from mjlab.rl.config import AgentCfg
from mjlab.rl.learners import network_names
from mjlab.rl.logging import read_rows
from mjlab.runs import Run, RunError
from mjlab.runs.checkpoints import find_checkpoint

_SHIPPED = re.compile(
    r"(run|config)\.json|metrics\.jsonl|checkpoints/(model_\d+|best)\.(pt|json)"
)

_ASIDE = ".old"
"""Suffix of the previous shipped folder while the new one is renamed into place."""

MOST_POINTS = 50
"""Iterations kept in the metrics: the first, the last, at most half with evaluations,
and the rest evenly spaced."""


def ship(
    run: Run,
    to: Path,
    *,
    best: bool = False,
    agent: AgentCfg | None = None,
) -> Run:
    """Copy the parts of a run that are needed to watch its policy and read its curves.

    Args:
        run: The run.
        to: The folder to make, such as "trained/<task>" next to the task's module. An
            earlier shipped run there is replaced.
        best: Whether to use the run's best checkpoint instead of its newest.
        agent: Learner configuration of the run, for a task that is not installed.

    Raises:
        RunError: If the folder has other contents; they are not deleted.
    """
    _put_back(to)
    _check_shipped(to)
    source = find_checkpoint(run.path, best=best)
    model = load_model(source)
    agent = run.configs()["agent"] if agent is None else agent
    assert agent is not None
    acting = network_names(agent)[0]
    weights = {f"{acting}_state_dict": policy_weights(model, acting)}
    learned = {
        name: hook.acting(model["hooks"][name])
        for name, hook in agent.hooks.items()
        if hook is not None
    }
    slim = {**model, "learner": {"algorithm": weights}, "hooks": learned}
    slim["config"] = ""  # Only an exact resume needs the reference.
    iteration = model["progress"]["iteration"]

    aside = to.with_name(f"{to.name}.{os.getpid()}{_ASIDE}")
    with folder_beside(to) as draft:
        write_model(draft / "checkpoints" / source.name, slim, iteration)
        for name in ("run.json", "config.json"):
            shutil.copy(run.path / name, draft / name)
        _thin(run.path / "metrics.jsonl", draft / "metrics.jsonl")
        if to.exists():
            to.rename(aside)
        move_durably(draft, to)
    shutil.rmtree(aside, ignore_errors=True)
    return Run(to)


def _put_back(folder: Path) -> None:
    """Restore the previous shipped folder if the last replacement was interrupted."""
    for aside in folder.parent.glob(f"{glob.escape(folder.name)}.*{_ASIDE}"):
        _check_shipped(aside)
        if folder.exists():
            shutil.rmtree(aside)
        else:
            aside.rename(folder)


def _check_shipped(folder: Path) -> None:
    """Raise if a folder has contents that `ship` does not write."""
    inside = [folder] if folder.is_file() else folder.rglob("*")
    for file in (each for each in inside if not each.is_dir()):
        if not _SHIPPED.fullmatch(file.relative_to(folder).as_posix()):
            raise RunError(
                f"{folder} is not replaced: {file} does not belong to a shipped run. "
                "Name another folder, or move the file away."
            )


def _thin(source: Path, to: Path) -> None:
    """Write at most MOST_POINTS lines of the metrics, with rounded numbers."""
    rows = read_rows(source)
    evaluated = [i for i, row in enumerate(rows) if any("Eval/" in key for key in row)]
    kept = _spread(evaluated, MOST_POINTS // 2)
    others = [i for i in range(len(rows)) if i not in kept]
    kept = sorted([*kept, *_spread(others, MOST_POINTS - len(kept))])
    write_text(to, "".join(f"{json.dumps(_rounded(rows[i]))}\n" for i in kept))


def _spread(items: Sequence[int], most: int) -> list[int]:
    """Return evenly spaced items, the first and the last included."""
    if len(items) <= most:
        return list(items)
    return [items[round(i * (len(items) - 1) / (most - 1))] for i in range(most)]


def _rounded(row: Mapping[str, Any]) -> dict[str, Any]:
    """Round the fractions of a row to six significant digits."""
    return {
        key: float(f"{value:.6g}")
        if isinstance(value, float) and not value.is_integer()
        else value
        for key, value in row.items()
    }

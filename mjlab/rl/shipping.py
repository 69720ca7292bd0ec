"""A run made small, to ship with a package: a policy to watch before one has trained.

It stays a run's folder, with its own configuration and what `run.json` says of where it
came from. What is left out is what only training needs: the optimiser, the critic, the
state of the worlds, and most lines of the metrics.
"""

import json
import shutil
from pathlib import Path

from mjlab.files import write_text
from mjlab.rl.checkpoint import find_checkpoint, load_model, write_model
from mjlab.rl.learners import network_names
from mjlab.rl.run_folder import RunFolder

MOST_LINES = 300
"""Lines of the metrics that are kept, evenly over the run, with all evaluations."""


def ship(run: RunFolder, to: Path, *, best: bool = False) -> RunFolder:
    """Copy what is needed to watch and to examine a run's policy.

    Args:
        run: The run.
        to: The folder to make, such as "trained/<task>" beside the task's module. What
            is there already is replaced.
        best: Whether to take its best checkpoint rather than its newest.
    """
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
    manifest = json.loads(source.with_suffix(".json").read_text("utf-8"))

    shutil.rmtree(to, ignore_errors=True)
    to.mkdir(parents=True)
    write_model(to / "checkpoints" / source.name, slim, manifest["iteration"])
    for name in ("run.json", "config.json"):
        shutil.copy(run.path / name, to / name)
    _thin(run.path / "metrics.jsonl", to / "metrics.jsonl")
    return RunFolder(to)


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

"""Verbs of the command `mjlab`.

Other packages add verbs with the entry-point group `mjlab.verbs`: the entry's name is
the verb, and its value is a function that takes the arguments after the verb.
"""

import importlib
import importlib.metadata
from collections.abc import Callable, Sequence
from dataclasses import dataclass

GROUP = "mjlab.verbs"


@dataclass(frozen=True)
class Verb:
    """Subcommand of `mjlab`."""

    text: str
    """Summary for `mjlab --help`."""

    script: str = ""
    """File of the verb in `scripts/`, without the suffix. Empty means the verb's
    name."""


VERBS = {
    "demo": Verb("Watch a policy that ships with the package.", "play"),
    "list": Verb("List the tasks.", "list_tasks"),
    "train": Verb("Train a policy for a task."),
    "play": Verb("Watch a policy, in a browser, a window or a video."),
    "evaluate": Verb("Measure a policy over many episodes."),
    "exam": Verb("Take a walking policy through an exam with punches."),
    "export": Verb("Write a policy to one ONNX file."),
    "web": Verb("Write a page that runs policies in a browser."),
    "verify": Verb("Replay a policy's first steps in plain MuJoCo."),
    "identify": Verb("Estimate a robot's parameters from its logs."),
    "clone": Verb("Train a policy to imitate recorded actions."),
    "sweep": Verb("Search hyperparameters of a training run."),
    "report": Verb("Write the report page of a run."),
    "doctor": Verb("Diagnose why a training run does not learn."),
    "record": Verb("Record episodes of a task."),
    "replay": Verb("Replay recorded episodes."),
    "motion": Verb("Import, make, check and show motion files."),
    "terrain": Verb("Draw a kind of terrain."),
    "scene": Verb("Write the scene of a task as MJCF."),
    "upload": Verb("Send a run or a file to Weights & Biases."),
    "bench": Verb("Measure the speed of a task."),
    "warm": Verb("Compile the CUDA kernels of tasks without a GPU.", "warm_kernels"),
    "port": Verb("Convert a task of mjlab or Isaac Lab to this package."),
    "adopt": Verb("Write and train a walking task for a robot's model file."),
    "new": Verb("Write the package of a new task.", "new_task"),
    "completion": Verb("Print shell completion code for bash or zsh."),
}
"""The verbs of this package: `mjlab/cli/NAME.py` with a function `main`."""


def all_verbs() -> dict[str, Verb]:
    """Return all verbs by name, without importing them."""
    others = {
        point.name: Verb(f"From {point.dist.name if point.dist else point.value}.")
        for point in importlib.metadata.entry_points(group=GROUP)
    }
    return VERBS | {name: verb for name, verb in others.items() if name not in VERBS}


def load_verb(name: str) -> Callable[[Sequence[str]], None]:
    """Import the function of a verb."""
    if name in VERBS:
        return importlib.import_module(f"mjlab.cli.{name}").main
    return next(
        point.load()
        for point in importlib.metadata.entry_points(group=GROUP)
        if point.name == name
    )

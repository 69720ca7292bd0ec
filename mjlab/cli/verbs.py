"""The verbs of the command `mjlab`, and the programs that they are."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from mjlab.cli.demo import line_of_demo


@dataclass(frozen=True)
class Verb:
    """A word after `mjlab`."""

    script: str
    """The program, a file in `scripts/` without its ending."""

    text: str
    """What it does."""

    line: Callable[[Sequence[str]], list[str]] = list
    """Makes the program's arguments from those of the user."""


VERBS = {
    "demo": Verb("play", "Watch a policy that ships.", line_of_demo),
    "list": Verb("list_tasks", "List the tasks."),
    "train": Verb("train", "Train a policy for a task."),
    "play": Verb("play", "Watch a policy, in a browser, a window or a video."),
    "evaluate": Verb("evaluate", "Measure a policy over many episodes."),
    "export": Verb("export", "Write a policy to one ONNX file."),
    "verify": Verb("verify", "Play a policy's first steps again in plain MuJoCo."),
    "clone": Verb("clone", "Train a policy to imitate recorded actions."),
    "sweep": Verb("sweep", "Search hyperparameters of a training."),
    "report": Verb("report", "Write the report page of a run."),
    "doctor": Verb("doctor", "Diagnose why a training does not learn."),
    "record": Verb("record", "Record episodes of a task."),
    "replay": Verb("replay", "Replay recorded episodes."),
    "motion": Verb("motion", "Import, make, check and show motion files."),
    "terrain": Verb("terrain", "Draw a kind of terrain."),
    "scene": Verb("scene", "Write the scene of a task as MJCF."),
    "upload": Verb("upload", "Send a run or a file to Weights & Biases."),
    "bench": Verb("bench", "Measure the speed of a task."),
    "warm": Verb("warm_kernels", "Compile the CUDA kernels of tasks without a GPU."),
    "port": Verb("port", "List what to change in a task for mjlab or Isaac Lab."),
    "new": Verb("new_task", "Write the package of a task of your own."),
    "completion": Verb("completion", "Write what completes lines in bash or zsh."),
}

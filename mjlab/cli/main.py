"""The command `mjlab`: `mjlab train TASK` is `python scripts/train.py TASK`."""

import importlib
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from mjlab.cli.answers import Answer, UsageError, call_programs, run_program
from mjlab.cli.help import Option, short_help
from mjlab.names import suggest


@dataclass(frozen=True)
class Verb:
    """A word after `mjlab`."""

    script: str
    """The program, a file in `scripts/` without its ending."""

    text: str
    """What it does."""

    before: tuple[str, ...] = ()
    """The first argument, where the user gives none."""


VERBS = {
    "train": Verb("train", "Train a policy for a task."),
    "clone": Verb("clone", "Have a policy learn recorded actions."),
    "play": Verb("play", "Watch a policy, in a browser, a window or a video."),
    "evaluate": Verb("evaluate", "Measure a policy over many episodes."),
    "export": Verb("export", "Write a policy to one ONNX file."),
    "verify": Verb("verify", "Play a policy's first steps again in plain MuJoCo."),
    "report": Verb("report", "Write the page of a run."),
    "doctor": Verb("doctor", "Say why a training does not learn."),
    "replay": Verb("replay", "Do recorded episodes again."),
    "motion": Verb("motion", "Import, make, check and show motion files."),
    "terrain": Verb("terrain", "Draw a kind of terrain."),
    "list": Verb("list_tasks", "List the tasks."),
    "new-task": Verb("new_task", "Write the package of a task of your own."),
    "demo": Verb("play", "Watch a policy that ships.", ("Velocity-Go1-Flat",)),
}


def main() -> int:
    """Run `mjlab VERB ...`, and return its exit code."""
    # Of two verbs of one program, the first is its own.
    own = {f"{verb.script}.py": word for word, verb in reversed(VERBS.items())}
    call_programs(own)
    word, *rest = sys.argv[1:] or ["--help"]
    if word not in VERBS:
        return run_program(lambda _: _answer(word), [])
    verb = VERBS[word]
    program = importlib.import_module(f"mjlab.scripts.{verb.script}")
    return run_program(program.main, _with_default(rest, verb.before))


def _with_default(rest: Sequence[str], before: Sequence[str]) -> list[str]:
    """Return the arguments, led by what stands for one that is not given."""
    is_given = bool(rest) and not rest[0].startswith("--")
    return [*(() if is_given else before), *rest]


def _answer(word: str) -> None:
    """Answer a word that is no verb: with the help, or with the nearest verbs."""
    if word not in ("--help", "-h", "help"):
        raise UsageError(f"There is no 'mjlab {word}'. {suggest(word, list(VERBS))}")
    raise Answer(
        short_help(
            usage="mjlab VERB [options]",
            summary="Robot learning on MuJoCo. `mjlab VERB --help` explains a verb.",
            options=[Option(word, verb.text) for word, verb in VERBS.items()],
            examples=["mjlab demo", "mjlab train Velocity-Go1-Flat", "mjlab play"],
            closing=(),
        )
    )

"""The command `mjlab`: `mjlab train TASK` is `python scripts/train.py TASK`."""

import importlib
import importlib.metadata
import sys

from mjlab.cli.answers import Answer, UsageError, call_programs, run_program
from mjlab.cli.help import Option, short_help
from mjlab.cli.verbs import VERBS
from mjlab.names import suggest
from mjlab.registry import OURS


def main() -> int:
    """Run `mjlab VERB ...`, and return its exit code."""
    # Of two verbs of one program, the last is its own.
    call_programs({f"{verb.script}.py": word for word, verb in VERBS.items()})
    word, *rest = sys.argv[1:] or ["--help"]
    if word not in VERBS:
        return run_program(lambda _: _answer(word), [])
    verb = VERBS[word]
    program = importlib.import_module(f"mjlab.scripts.{verb.script}")
    return run_program(lambda arguments: program.main(verb.line(arguments)), rest)


def _answer(word: str) -> None:
    """Answer a word that is no verb: with help, version, or the nearest verbs."""
    if word == "--version":
        raise Answer(f"{OURS} {_version()}")
    if word not in ("--help", "-h", "help"):
        hint = suggest(word, list(VERBS), otherwise="mjlab --help lists the verbs.")
        raise UsageError(f"There is no 'mjlab {word}'. {hint}")
    raise Answer(
        short_help(
            usage="mjlab VERB [options]",
            summary="Robot learning on MuJoCo. `mjlab VERB --help` explains a verb.",
            options=[
                *(Option(word, verb.text) for word, verb in VERBS.items()),
                Option("--version", "The version that is installed."),
            ],
            examples=["mjlab demo", "mjlab train Velocity-Go1-Flat", "mjlab play"],
            closing=(),
        )
    )


def _version() -> str:
    try:
        return importlib.metadata.version(OURS)
    except importlib.metadata.PackageNotFoundError:
        return "of a checkout that is not installed"

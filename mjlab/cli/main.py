"""Command `mjlab VERB ...`, and the same verbs as scripts."""

import importlib.metadata
import sys

from mjlab.cli.answers import Answer, UsageError, call_programs, run_program
from mjlab.cli.help import WIDTH, two_columns
from mjlab.cli.verbs import VERBS, all_verbs, load_verb
from mjlab.names import suggest
from mjlab.registry import OURS


def main() -> int:
    """Run `mjlab VERB ...`, and return its exit code."""
    # For a script that two verbs share, messages name the last of these verbs.
    scripts = {f"{verb.script or name}.py": name for name, verb in VERBS.items()}
    call_programs(scripts)
    name, *rest = sys.argv[1:] or ["--help"]
    if name not in all_verbs():
        return run_program(lambda _: _answer(name), [])
    return run(name, rest)


def run(name: str, arguments: list[str] | None = None) -> int:
    """Run a verb, and return its exit code.

    Args:
        name: The verb.
        arguments: The words after the verb. None takes the arguments of this process.
    """
    try:
        verb = load_verb(name)
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package in ("", "mjlab"):
            raise
        return run_program(lambda _: _without(package), [])
    return run_program(verb, arguments)


def _without(package: str) -> None:
    """Report a Python environment without the packages that mjlab needs."""
    raise UsageError(
        f"{sys.executable} has no package {package!r}. Activate the environment in "
        "which mjlab is installed; in a clone: make setup && . .venv/bin/activate"
    )


def _answer(word: str) -> None:
    """Handle a first word that is not a verb: help, version, or similar verbs."""
    if word == "--version":
        raise Answer(f"{OURS} {_version()}")
    verbs = all_verbs()
    if word not in ("--help", "-h", "help"):
        hint = suggest(word, list(verbs), otherwise="mjlab --help lists the verbs.")
        raise UsageError(f"Unknown verb 'mjlab {word}'. {hint}")
    lines = [
        "usage: mjlab VERB [options]",
        "",
        "Robot learning on MuJoCo. `mjlab VERB --help` explains a verb.",
        "",
        "verbs:",
    ]
    for name, verb in verbs.items():
        lines += two_columns(name, verb.text)
    lines += ["", "examples:"]
    lines += ["  mjlab demo", "  mjlab train Velocity-Go1-Flat", "  mjlab play"]
    assert all(len(line) <= WIDTH for line in lines)
    raise Answer("\n".join(lines))


def _version() -> str:
    try:
        return importlib.metadata.version(OURS)
    except importlib.metadata.PackageNotFoundError:
        return "of a checkout that is not installed"

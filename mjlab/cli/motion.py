"""`motion`: import, make, check, show and edit motion files."""

from collections.abc import Callable, Sequence
from typing import Any

from mjlab.cli.answers import Answer, UsageError
from mjlab.cli.help import two_columns
from mjlab.cli.line import read_line
from mjlab.cli.motion_options import WORKS
from mjlab.names import suggest
from mjlab.threads import prepare_threads


def main(arguments: Sequence[str]) -> None:
    """Run the subcommand that the first word names."""
    word = arguments[0] if arguments else ""
    if word in ("-h", "--help", "help"):
        raise Answer(overview())
    if word not in WORKS:
        said = f"Unknown subcommand 'motion.py {word}'. " if word else ""
        raise UsageError(f"{said}{suggest(word, list(WORKS))}")
    options = read_line(WORKS[word], arguments[1:]).options
    prepare_threads()
    from mjlab.cli import motion_verbs

    verbs: dict[str, Callable[[Any], None]] = {
        "import": motion_verbs.import_file,
        "make": motion_verbs.make,
        "record": motion_verbs.record,
        "check": motion_verbs.check,
        "show": motion_verbs.show,
        "simulate": motion_verbs.simulate,
        "mirror": motion_verbs.mirror,
        "cut": motion_verbs.cut,
        "blend": motion_verbs.blend,
        "list": motion_verbs.list_motions,
    }
    verbs[word](options)


def overview() -> str:
    """Return the help: all subcommands with their summaries."""
    lines = ["usage: motion.py SUBCOMMAND [options]", "", "subcommands:"]
    for word, options in WORKS.items():
        lines += two_columns(word, " ".join((options.__doc__ or "").split()))
    lines += ["", "motion.py SUBCOMMAND --help lists the options of a subcommand."]
    return "\n".join(lines)

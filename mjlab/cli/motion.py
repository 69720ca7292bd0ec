"""The program that works with motion files: `motion.py WORD FILE`."""

from collections.abc import Callable, Sequence

from mjlab.cli.answers import Answer, UsageError
from mjlab.cli.line import HELP, Line, read_line
from mjlab.cli.motion_options import PROGRAMS, overview
from mjlab.names import suggest
from mjlab.threads import prepare_threads


def main(arguments: Sequence[str]) -> None:
    """Do what the first word says."""
    word = arguments[0] if arguments else ""
    if word == "-h" or word.removeprefix("--") in HELP:
        raise Answer(overview())
    if word not in PROGRAMS:
        said = f"{word!r} is nothing that can be done with motions. " if word else ""
        raise UsageError(f"{said}{suggest(word, list(PROGRAMS))}")
    line = read_line(PROGRAMS[word], arguments[1:])
    prepare_threads()
    from mjlab.cli import motion_verbs

    verbs: dict[str, Callable[[Line], None]] = {
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
    verbs[word](line)

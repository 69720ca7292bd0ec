"""Words that may stand next on a line that begins with `mjlab`, for bash and zsh.

The shells know nothing: at each tab they ask `mjlab completion next WORDS`, which takes
as long as a help does, and names the tasks that are installed by then.
"""

import importlib
from collections.abc import Iterator, Sequence

from mjlab.cli.help import OF_ALL
from mjlab.cli.line import Program, options_of
from mjlab.cli.motion_options import PROGRAMS
from mjlab.cli.verbs import VERBS
from mjlab.registry import entries
from mjlab.settings.text import choices, kind_of_text
from mjlab.settings.tree import Part, parts_of

NEXT = "next"
"""What shells say in place of their name, to be told the words."""

SHELLS = {
    "bash": """\
_mjlab() {
    mapfile -t COMPREPLY < <("$1" completion next "${COMP_WORDS[@]:1:COMP_CWORD}" \\
        2>/dev/null)
    if [[ "${COMPREPLY[*]}" == *. ]]; then compopt -o nospace; fi
}
complete -o default -F _mjlab mjlab""",
    "zsh": """\
_mjlab() {
    local -a found
    found=("${(@f)$("$words[1]" completion next "${(@)words[2,CURRENT]}" \\
        2>/dev/null)}")
    found=(${found:#})
    if (( ! $#found )); then
        _files
    else
        compadd -S '' -- ${(M)found:#*.}
        compadd -- ${found:#*.}
    fi
}
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
compdef _mjlab mjlab""",
}
"""What each shell reads. Where no word is found, it completes names of files."""

_SUBJECTS = {"TASK": (), "PLACE": ("latest",), "RUN": ("latest",)}
"""First arguments for which the name of a task stands, and what else they may be."""


def next_words(words: Sequence[str]) -> list[str]:
    """Return what the last of these words, of which the beginning is typed, can be.

    Args:
        words: What follows `mjlab`, up to the cursor; the last one may be empty.
    """
    *before, typed = words or [""]
    return sorted({word for word in _candidates(before, typed) if _begins(word, typed)})


def _begins(word: str, typed: str) -> bool:
    # Options are only shown to who asks for one.
    return word.startswith(typed) and (typed != "" or not word.startswith("-"))


def _candidates(before: Sequence[str], typed: str) -> Iterator[str]:
    if not before:
        yield from (*VERBS, "--help", "--version")
    elif before[0] == "motion" and len(before) == 1:
        yield from (*PROGRAMS, "--help")
    elif before[0] == "completion" and len(before) == 1:
        yield from SHELLS
    elif (program := _find_program(before)) is not None:
        verb = 2 if before[0] == "motion" else 1
        yield from _of_program(program, before[verb:], typed)


def _find_program(before: Sequence[str]) -> Program | None:
    """The program whose line is typed, if there is one."""
    if before[0] == "motion":
        return PROGRAMS.get(before[1])
    if before[0] not in VERBS:
        return None
    script = VERBS[before[0]].script
    return importlib.import_module(f"mjlab.scripts.{script}").PROGRAM


def _of_program(program: Program, before: Sequence[str], typed: str) -> Iterator[str]:
    if typed.startswith("-"):
        yield from _options(program)
        return
    options = [word for word in before if word.startswith("--")]
    if not before:
        subject = (program.subject or "").strip("[]")
        yield from (*_SUBJECTS[subject], *entries()) if subject in _SUBJECTS else ()
    elif before[-1:] == options[-1:]:
        yield from _values(program, options[-1])


def _options(program: Program) -> Iterator[str]:
    for option in (*options_of(program), *OF_ALL):
        name = option.usage.split()[0]
        if "[no-]" in name:
            yield name.replace("[no-]", "no-")
        # What follows a dot is another part for each task.
        yield name.replace("[no-]", "").removesuffix("PART")


def _values(program: Program, option: str) -> Sequence[str]:
    """Values of an option whose last word was its name."""
    name = option.removeprefix("--").replace("-", "_")
    if name == "task":
        return list(entries())
    part = parts_of(Part(program.options(), program.options)).get(name)
    return [] if part is None else choices(kind_of_text(part))

"""`completion`: print shell completion code for `mjlab` in bash or zsh.

When the user presses Tab, the shell calls `mjlab completion next WORDS`, which lists
the tasks that are installed at that time. The call takes as long as `mjlab --help`.
tyro's own completion script is static, and does not complete tasks.
"""

import importlib
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tyro.conf import Positional

from mjlab.cli.answers import Answer, UsageError
from mjlab.cli.line import Options, TaskOptions, positional, read_line
from mjlab.cli.motion_options import WORKS
from mjlab.cli.verbs import VERBS, all_verbs
from mjlab.names import suggest
from mjlab.registry import entries
from mjlab.settings.text import choices, kind_of_text
from mjlab.settings.tree import Part, parts_of

NEXT = "next"
"""Argument with which the shell requests completions, instead of the name of a
shell."""

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
"""Completion code by shell. If no word matches, the shell completes file names."""

_NAMES = {"task": (), "tasks": ("all",), "place": ("latest",), "run": ("latest",)}
"""Positional arguments that accept a task, with other words that they accept."""


@dataclass(kw_only=True)
class CompletionOptions(Options):
    """Print shell completion code for bash or zsh.

    Completes verbs, options, tasks and choices. Add one of these lines to ~/.bashrc or
    ~/.zshrc: eval "$(mjlab completion bash)", eval "$(mjlab completion zsh)".
    """

    program = "completion.py"
    examples = ("bash", "zsh")

    shell: Positional[str] = ""
    """bash or zsh."""


def main(arguments: Sequence[str]) -> None:
    """Print the code, or the completions of a line."""
    if arguments and arguments[0] == NEXT:
        sys.stdout.writelines(f"{word}\n" for word in next_words(arguments[1:]))
        return
    shell = read_line(CompletionOptions, arguments).options.shell
    if shell not in SHELLS:
        raise UsageError(f"Shell {shell!r} is not supported. {suggest(shell, SHELLS)}")
    raise Answer(SHELLS[shell])


def next_words(words: Sequence[str]) -> list[str]:
    """Return the completions of the last word.

    Args:
        words: Words after `mjlab`, up to the cursor; the last one can be empty.
    """
    *before, typed = words or [""]
    return sorted({word for word in _candidates(before, typed) if _begins(word, typed)})


def _begins(word: str, typed: str) -> bool:
    # Options are completed only after a dash.
    return word.startswith(typed) and (typed != "" or not word.startswith("-"))


def _candidates(before: Sequence[str], typed: str) -> Iterator[str]:
    if not before:
        yield from (*all_verbs(), "--help", "--version")
    elif before[0] == "motion" and len(before) == 1:
        yield from (*WORKS, "--help")
    elif before[0] == "completion" and len(before) == 1:
        yield from SHELLS
    elif (options := _options_of(before)) is not None:
        verb = 2 if before[0] == "motion" else 1
        yield from _of_verb(options, before[0], before[verb:], typed)


def _options_of(before: Sequence[str]) -> type[Options] | None:
    """Return the options class of the typed verb, None if no verb is typed."""
    if before[0] == "motion":
        return WORKS.get(before[1])
    if before[0] not in VERBS:
        return None
    name = "play" if before[0] == "demo" else before[0]
    module = importlib.import_module(f"mjlab.cli.{name}")
    return getattr(module, f"{name.title()}Options")


def _of_verb(
    options: type[Options], verb: str, before: Sequence[str], typed: str
) -> Iterator[str]:
    first = positional(options)
    if typed.startswith("-"):
        yield from _option_names(options, first)
        return
    flags = [word for word in before if word.startswith("--")]
    if not before or (verb == "warm" and not flags):
        yield from (*_NAMES[first], *entries()) if first in _NAMES else ()
    elif before[-1:] == flags[-1:]:
        yield from _values(options, flags[-1])


def _option_names(options: type[Options], first: str) -> Iterator[str]:
    for name, part in parts_of(Part(options(), options)).items():
        if name == first:
            continue
        plain = name.rstrip("_").replace("_", "-")
        yield f"--{plain}"
        if part.value is True:
            yield f"--no-{plain}"
    if issubclass(options, TaskOptions):
        # Paths after the dot depend on the task, so they are not completed.
        yield from (f"--{config}." for config in options.configs)
    yield "--help"


def _values(options: type[Options], option: str) -> Sequence[str]:
    """Return the accepted values of an option, such as "--policy"."""
    name = option.removeprefix("--").replace("-", "_")
    if name == "task":
        return list(entries())
    part = parts_of(Part(options(), options)).get(name)
    return [] if part is None else choices(kind_of_text(part))

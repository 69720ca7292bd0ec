"""Writes what completes lines of `mjlab` in a shell: `mjlab completion bash`."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from mjlab.cli import Answer, Program, UsageError, read_line, run_program
from mjlab.cli.completion import NEXT, SHELLS, next_words
from mjlab.names import suggest


@dataclass(kw_only=True)
class Options:
    """Options of `completion.py`, which has none of its own."""


PROGRAM = Program(
    name="completion.py",
    summary="Write the lines that have a shell complete verbs, options, tasks and "
    "choices after `mjlab`. SHELL is bash or zsh. Put one of these into ~/.bashrc or "
    '~/.zshrc: eval "$(mjlab completion bash)"',
    subject="SHELL",
    options=Options,
    examples=("bash", "zsh"),
)


def main(arguments: Sequence[str]) -> None:
    """Write the lines, or what may stand next."""
    if arguments and arguments[0] == NEXT:
        sys.stdout.writelines(f"{word}\n" for word in next_words(arguments[1:]))
        return
    shell = read_line(PROGRAM, arguments).subject or ""
    if shell not in SHELLS:
        raise UsageError(f"There is no shell {shell!r} here. {suggest(shell, SHELLS)}")
    raise Answer(SHELLS[shell])


if __name__ == "__main__":
    sys.exit(run_program(main))

"""Writes the configurations of the policies that ship anew, in today's names.

    python -m tests.tools.rewrite_shipped [OLD=NEW ...]

Weights and settings stay as they are. A package that is called otherwise by now is
named as OLD=NEW, because no code looks for old names.
"""

import re
import sys
from collections.abc import Sequence
from pathlib import Path

from mjlab.files import write_text
from mjlab.registry import entries, load_task, trusted
from mjlab.schema import config_text, parse_config


def shipped() -> dict[str, Path]:
    """Folders of the policies that ship, by task."""
    folders = {task: load_task(task).trained for task in entries()}
    return {task: folder for task, folder in folders.items() if folder is not None}


def renamed(text: str, packages: Sequence[tuple[str, str]]) -> str:
    """Configurations whose names begin with other packages."""
    for old, new in packages:
        text = re.sub(rf'": "{re.escape(old)}(?=[.:"])', f'": "{new}', text)
    return text


def rewrite(task: str, folder: Path, packages: Sequence[tuple[str, str]] = ()) -> None:
    """Read the configurations of a run, and write them."""
    file = folder / "config.json"
    text = renamed(file.read_text("utf-8"), packages)
    write_text(file, config_text(**parse_config(text, trusted(task))))


if __name__ == "__main__":
    pairs = [
        (old, new) for old, _, new in (pair.partition("=") for pair in sys.argv[1:])
    ]
    for name, place in shipped().items():
        rewrite(name, place, pairs)
        print(f"{name}: {place}")

"""Writes the configurations of the policies that ship anew, in today's names.

    python -m tests.tools.rewrite_shipped [OLD=NEW ...]

Weights and settings stay as they are. A package that is called otherwise by now is
named as OLD=NEW, because no code looks for old names.
"""

import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mjlab.files import write_text
from mjlab.registry import entries, load_task, trusted
from mjlab.rl import Checkpoints
from mjlab.rl.checkpoint import find_checkpoint, load_model, write_model
from mjlab.schema import config_text, parse_config, to_data


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
    """Read the configurations of a run and of its checkpoint, and write them."""
    trust = trusted(task)

    def again(text: str) -> str:
        return config_text(**parse_config(renamed(text, packages), trust))

    def layout(data: Any) -> Any:
        """What a checkpoint fits to, which is compared name by name."""
        if not isinstance(data, dict):
            return data
        return {
            key: name(each) if key in ("$type", "$callable") else layout(each)
            for key, each in data.items()
        }

    def name(old: str) -> str:
        old = json.loads(renamed(json.dumps({"": old}), packages))[""]
        return to_data(trust.find(old, "layout"))["$callable"]

    file = folder / "config.json"
    write_text(file, again(file.read_text("utf-8")))
    checkpoint = find_checkpoint(folder)
    iteration = Checkpoints(folder / "checkpoints").iterations()[0]
    model = load_model(checkpoint)
    new = {"config": again(model["config"]), "layout": layout(model["layout"])}
    write_model(checkpoint, model | new, iteration)


if __name__ == "__main__":
    pairs = [
        (old, new) for old, _, new in (pair.partition("=") for pair in sys.argv[1:])
    ]
    for name, place in shipped().items():
        rewrite(name, place, pairs)
        print(f"{name}: {place}")

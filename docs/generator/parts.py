"""Parts of hand-written pages, by the word after `generated`."""

import ast
import re
import textwrap
from collections.abc import Callable

from generator.floors import rooms
from generator.pages import cell, fields_table, group_of, table
from generator.sources import (
    ROOT,
    all_fields,
    heading_of,
    modules,
    records,
    summary,
)


def fields_part(names: str) -> str:
    """A table of the fields of configurations, with those that they inherit."""
    parts = []
    several = len(names.split()) > 1
    for name in names.split():
        record = records()[name]
        if several:
            parts.append(f"`{name}`: {summary(record.text)}\n")
        parts.append(fields_table(all_fields(name)) + "\n")
    return "\n".join(parts).rstrip()


def configurations_part(names: str) -> str:
    """A table of configurations with their first sentence and where they are shown."""
    rows = []
    for name in names.split():
        record = records()[name]
        page = f"../configuration/{group_of(record)}.md#{name.lower()}"
        rows.append([f"[`{name}`]({page})", cell(summary(record.text))])
    return table(["Configuration", "What it is"], rows)


def heirs_part(name: str) -> str:
    """The same for every configuration that can be made and inherits from one."""
    heirs = [
        each
        for each, record in records().items()
        if name in record.bases and not record.is_abstract
    ]
    return configurations_part(" ".join(heirs))


TUTORIALS = {
    "first_training.md": "From a fresh clone to a policy that is watched.",
    "first_task.md": "A task of your own, from an MJCF file to a trained policy.",
    "foreign_robot.md": "A model of another project, from its file to a walk.",
    "play_and_export.md": "Watching policies, videos, ONNX.",
    "server.md": "Terminals that close, resuming, several GPUs.",
    "troubleshooting.md": "By what a program says.",
    "coming_from.md": "Coming from mjlab or Isaac Lab.",
}
"""Pages that are read from top to bottom, in the index as soon as they exist."""


def tutorials_part(_: str) -> str:
    """Links to the tutorials that there are, with their own headings."""
    lines = []
    for file, text in TUTORIALS.items():
        if (ROOT / "docs" / file).is_file():
            lines.append(f"- [{heading_of(file)}]({file}): {text}")
    return "\n".join(["## To begin with", "", *lines]) if lines else ""


def rooms_part(_: str) -> str:
    """What each room of the library says of itself, the highest floor first."""
    rows = []
    for floor, names in rooms():
        for name in names:
            module = modules().get(name)
            text = "" if module is None else ast.get_docstring(module.tree) or ""
            if text:
                rows.append([f"{floor:g}", f"`{name}`", cell(summary(text))])
    return table(["Floor", "Room", "What it is"], rows)


def methods_part(names: str) -> str:
    """Return the text of some methods of a class as a block of Python.

    Args:
        names: The module, the class, and its methods.
    """
    name, owner, *methods = names.split()
    module = modules()[name]
    text = (ROOT / module.path).read_text("utf-8")
    found = {
        node.name: ast.get_source_segment(text, node, padded=True)
        for node in module.classes[owner].body
        if isinstance(node, ast.FunctionDef)
    }
    shown = [textwrap.dedent(found[method] or "").rstrip() for method in methods]
    return "\n".join(["```python", "\n\n".join(shown), "```"])


_MARK = re.compile(
    r"<!-- generated (?P<word>\w+)(?P<rest>[^>]*?) -->\n.*?<!-- end generated -->",
    re.DOTALL,
)


def filled(text: str, parts: dict[str, Callable[[str], str]]) -> str:
    """A hand-written page with its generated parts made anew."""

    def make(found: re.Match[str]) -> str:
        word, rest = found["word"], found["rest"].strip()
        if word not in parts:
            raise ValueError(f"There is no generated part {word!r}: {sorted(parts)}.")
        first = found[0].split("\n", 1)[0]
        made = parts[word](rest)
        inside = f"\n{made}\n\n" if made else ""
        return f"{first}\n{inside}<!-- end generated -->"

    return _MARK.sub(make, text)

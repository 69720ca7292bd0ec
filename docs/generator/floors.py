"""The floors of the house, as its rules say (`tests/tools/architecture.py`)."""

import ast

from generator.sources import ROOT


def floors() -> dict[str, int]:
    """The floor of every room, read from the rules without importing them."""
    source = (ROOT / "tests/tools/architecture.py").read_text("utf-8")
    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "FLOORS":
            names = {"dict": dict}
            return eval(ast.unparse(node.value), {"__builtins__": {}}, names)
    raise ValueError("tests/tools/architecture.py has no FLOORS.")


def rooms() -> list[tuple[int, list[str]]]:
    """Rooms that exist by floor, the highest first."""
    found: dict[int, list[str]] = {}
    for room, floor in floors().items():
        base = ROOT / room.replace(".", "/").removesuffix("/*")
        exists = base.is_dir() or base.with_suffix(".py").is_file()
        if exists and room != "mjlab":
            found.setdefault(floor, []).append(room)
    return [(floor, sorted(found[floor])) for floor in sorted(found, reverse=True)]

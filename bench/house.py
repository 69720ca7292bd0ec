"""Number of files and code lines, by room.

    python bench/house.py            a table by room
    python bench/house.py mjlab/rl   the files of one room, largest first

Only lines with program tokens count, not docstrings, comments and blank lines.
"""

import ast
import sys
import tokenize
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
IGNORED = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT}
IGNORED |= {tokenize.DEDENT, tokenize.ENCODING, tokenize.ENDMARKER}

# Rooms of floors 0 to 7. Other rooms in `mjlab/` are wings.
CORE = ("names", "tensors", "random", "settings", "parallel", "files", "warp_stream")
CORE += ("mujoco_log",)
CORE += ("spec", "sim", "actuator", "terrain", "entity", "sensor", "scene")
CORE += ("recording", "managers", "mdp", "envs")


def code_lines(file: Path) -> int:
    """Return the number of lines with a token that is not a docstring."""
    with tokenize.open(file) as stream:
        text = stream.read()
    lines = set()
    with file.open("rb") as stream:
        for token in tokenize.tokenize(stream.readline):
            if token.type not in IGNORED:
                lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines - docstring_lines(ast.parse(text)))


def docstring_lines(tree: ast.Module) -> set[int]:
    """Return the lines of all strings that are statements."""
    found: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            if isinstance(node.value.value, str) and node.end_lineno is not None:
                found.update(range(node.lineno, node.end_lineno + 1))
    return found


def room_of(file: Path) -> str:
    """`mjlab/sim/fields.py` -> `sim`; `mjlab/names.py` -> `names`."""
    return file.relative_to(ROOT / "mjlab").parts[0].removesuffix(".py")


def files_of(folder: Path) -> list[Path]:
    """Return the Python files in a folder, without links."""
    return sorted(folder.rglob("*.py"))


def sizes(files: Iterable[Path]) -> dict[str, tuple[int, int]]:
    """Return (files, code lines) by room."""
    rooms: dict[str, tuple[int, int]] = {}
    for file in files:
        count, lines = rooms.get(room_of(file), (0, 0))
        rooms[room_of(file)] = count + 1, lines + code_lines(file)
    return rooms


def house() -> dict[str, tuple[int, int]]:
    """Return (files, code lines) by room of `mjlab/`."""
    files = [
        file
        for file in files_of(ROOT / "mjlab")
        if file.relative_to(ROOT / "mjlab").parts[0] not in ("tasks", "scripts")
    ]
    return sizes(files)


def is_core(room: str) -> bool:
    """Return whether a room belongs to the core."""
    return room in CORE


def main() -> None:
    """Print the table."""
    if len(sys.argv) > 1:
        files = files_of(ROOT / sys.argv[1])
        for lines, file in sorted(((code_lines(f), f) for f in files), reverse=True):
            print(f"{lines:6,}  {file.relative_to(ROOT)}")
        return
    rooms = house()
    for wing in (False, True):
        print("wings" if wing else "core")
        total, lines = 0, 0
        for room, (count, code) in sorted(rooms.items()):
            if is_core(room) != wing:
                print(f"  {room:14} {count:4} files {code:7,} code lines")
                total, lines = total + count, lines + code
        print(f"  {'':14} {total:4} files {lines:7,} code lines")
    count, code = (sum(pair) for pair in zip(*rooms.values(), strict=True))
    print(f"mjlab/           {count:4} files {code:7,} code lines")


if __name__ == "__main__":
    main()

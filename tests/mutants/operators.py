"""Sampling of faults with a fixed seed: small changes of expressions, and their tests.

    python -m tests.mutants.operators

rewrites the sampled faults in `mutants.jsonl`, and keeps the manually written ones.
"""

import ast
import json
import math
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
DATA = Path(__file__).with_name("mutants.jsonl")
SEED, COUNT, FILES = 20260, 160, 3
"""Fixed before the first run; how many are drawn; test files that each is shown to."""

OPERATORS: dict[type[ast.cmpop], str] = {
    ast.Lt: ">",
    ast.LtE: ">=",
    ast.Gt: "<",
    ast.GtE: "<=",
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.In: "not in",
    ast.NotIn: "in",
}
RESETS = re.compile(
    r"reset|restore|invalidate|refresh|advance|clear|fill_where|write_where|zero_"
    r"|copy_|update|masked_fill_|load_state_dict|set_state|fsync|append"
)
OF_TWO = {"quat_mul", "cross", "atan2", "minimum", "maximum", "where", "clamp"}
# Their tests compile for minutes, or need CUDA.
LEFT_OUT = re.compile(r"warp|kernel|gl\.py|/native\.py|__init__|cli/hardware|tasks/")
SLOW_TESTS = re.compile(r"tests/(house|golden|bench|zoo|fuzz|mutants)/|cuda|_warp")


def room(path: str) -> str:
    """Return the room of a file, `mjlab/NAME`."""
    parts = path.split("/")
    return "/".join(parts[:2]) if len(parts) > 2 else "mjlab"


def changes(node: ast.AST, text: dict[ast.AST, str]) -> Iterator[tuple[str, ast.AST]]:
    """Yield the mutations of a node, as (kind: new text, replaced part)."""
    match node:
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            if sign := OPERATORS.get(type(op)):
                yield f"compare:{text[left]} {sign} {text[right]}", node
        case ast.BinOp(left=left, op=ast.BitAnd()):
            yield f"mask:{text[left]}", node
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult(), right=right):
            yield f"term:{text[left]}", node
            if isinstance(node.op, ast.Sub):
                yield f"axes:{text[right]} - ({text[left]})", node
        case ast.Call(func=func, args=args):
            for given in args:
                if isinstance(given, ast.Name) and given.id in ("mask", "dones"):
                    yield f"mask:({given.id} | True)", given
            name = text[func].rpartition(".")[2]
            if name in OF_TWO and len(args) > 1:
                first, second = args[-2:]
                yield f"axes:{text[second]}, {text[first]}", Span(first, second)
        case ast.keyword(arg="dim" | "axis", value=ast.Constant(value=int()) as value):
            yield f"axes:{0 if value.value else 1}", value
        case ast.Subscript(slice=index):
            for part in ast.walk(index):
                if isinstance(part, ast.Constant) and type(part.value) is int:
                    yield f"shift:{part.value + 1}", part
        case ast.Expr(value=ast.Call(func=func)) if RESETS.search(text[func]):
            yield "reset:pass", node


class Span(ast.expr):
    """Two arguments and the text between them."""

    def __init__(self, first: ast.expr, last: ast.expr) -> None:
        self.lineno, self.col_offset = first.lineno, first.col_offset
        self.end_lineno, self.end_col_offset = last.end_lineno, last.end_col_offset


def patch(source: str, node: Any, new: str) -> tuple[str, str] | None:
    """Return the lines of a node before and after, made unique by context."""
    lines = source.splitlines(keepends=True)
    first, last = node.lineno - 1, node.end_lineno
    head = lines[first].encode()[: node.col_offset].decode()
    tail = lines[last - 1].encode()[node.end_col_offset :].decode()
    after = head + new + tail
    while source.count(before := "".join(lines[first:last])) > 1:
        first -= 1
        if first < 0:
            return None
        after = lines[first] + after
    return before, after


def faults(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the possible faults of a file."""
    source = path.read_text()
    tree = ast.parse(source)
    text = {node: ast.unparse(node) for node in ast.walk(tree)}
    spoken: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Raise | ast.Assert | ast.JoinedStr | ast.AnnAssign):
            spoken.update(ast.walk(node))
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef):
            continue
        given = [node for node in ast.walk(function.args) if isinstance(node, ast.arg)]
        hints = [one.annotation for one in given] + [function.returns]
        for part in filter(None, [*hints, *function.decorator_list]):
            spoken.update(ast.walk(part))
        for node in ast.walk(function):
            if node in spoken:
                continue
            for change, replaced in changes(node, text):
                kind, _, new = change.partition(":")
                if made := patch(source, replaced, new):
                    yield {
                        "kind": kind,
                        "file": str(path.relative_to(ROOT)),
                        "function": function.name,
                        "old": made[0],
                        "new": made[1],
                    }


def words(path: Path) -> Counter[str]:
    """Count the names of a file."""
    return Counter(re.findall(r"[A-Za-z_]\w+", path.read_text()))


class TestFiles:
    """Test files, ranked by how often they name a function and its file."""

    def __init__(self) -> None:
        files = sorted((ROOT / "tests").rglob("test_*.py"))
        names = {str(file.relative_to(ROOT)): words(file) for file in files}
        self._words = {n: w for n, w in names.items() if not SLOW_TESTS.search(n)}
        many = Counter(name for found in self._words.values() for name in found)
        self._rarity = {n: math.log(len(files) / c) for n, c in many.items()}

    def nearest(self, path: str, function: str) -> list[str]:
        """Return the test files that most probably run a function."""
        public = re.findall(
            r"(?m)^\s*(?:def|class) ([A-Za-z]\w+)", (ROOT / path).read_text()
        )
        own, stem = path.split("/")[1], Path(path).stem

        def score(test: str) -> float:
            found = self._words[test]
            said = sum(
                self._rarity[name] * math.log1p(found[name])
                for name in {*public, function}
                if name in found
            )
            near = 1.0 + (test.split("/")[1] == own) + (stem in Path(test).stem)
            return (1.0 + said + (function in found) * 3) * near

        return sorted(self._words, key=score, reverse=True)[:FILES]


def draw() -> list[dict[str, Any]]:
    """Sample faults: more in larger rooms, and all kinds in turn."""
    chance = random.Random(SEED)
    rooms: dict[str, list[Path]] = defaultdict(list)
    for path in sorted((ROOT / "mjlab").rglob("*.py")):
        name = str(path.relative_to(ROOT))
        if not LEFT_OUT.search(name):
            rooms[room(name)].append(path)
    sizes = {
        name: math.sqrt(sum(len(p.read_text().splitlines()) for p in paths))
        for name, paths in rooms.items()
    }
    tests, drawn = TestFiles(), []
    for name, paths in rooms.items():
        kinds = defaultdict(list)
        for fault in (fault for path in paths for fault in faults(path)):
            kinds[fault["kind"]].append(fault)
        wanted = max(3, round(COUNT * sizes[name] / sum(sizes.values())))
        taken: dict[tuple[str, str], dict[str, Any]] = {}
        order = chance.sample(sorted(kinds), len(kinds))
        for turn in range(10 * wanted):
            if len(taken) < wanted and (left := kinds[order[turn % len(order)]]):
                fault = left.pop(chance.randrange(len(left)))
                taken.setdefault((fault["file"], fault["old"]), fault)
        for number, fault in enumerate(taken.values()):
            near = tests.nearest(fault["file"], fault.pop("function"))
            short = name.rpartition("/")[2]
            drawn.append({"id": f"{short}-{number}", **fault, "tests": near})
    return drawn


def main() -> None:
    """Write sampled faults, and keep manually written ones."""
    lines = DATA.read_text().splitlines() if DATA.exists() else []
    by_hand = [one for one in map(json.loads, lines) if one["kind"] == "hand"]
    DATA.write_text("".join(json.dumps(one) + "\n" for one in [*draw(), *by_hand]))


if __name__ == "__main__":
    main()

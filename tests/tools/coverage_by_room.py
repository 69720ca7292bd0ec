"""Coverage of branches by tests, room by room.

    python -m tests.tools.coverage_by_room tests/settings tests/random

Runs the fast tests of the given folders under `coverage`, and prints the rooms that
they test; without arguments, all of them. No extra installs `coverage`: `pip install
coverage`.
"""

import importlib.util
import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
WORDS = ("covered_lines", "num_statements", "covered_branches", "num_branches")


def run(tests: Iterable[str], rooms: Iterable[str]) -> dict[str, Any]:
    """Run fast tests under `coverage`; return its summary of each file.

    Raises:
        RuntimeError: If a test fails, because its lines would be missed.
    """
    with tempfile.TemporaryDirectory() as folder:
        data, found = f"--data-file={folder}/data", Path(folder) / "found.json"
        coverage = [sys.executable, "-m", "coverage"]
        source = f"--source={','.join(rooms)}"
        pytest = ["-m", "pytest", "-q", "-p", "no:cacheprovider", *tests]
        ran = subprocess.run(
            [*coverage, "run", "--branch", data, source, *pytest], cwd=ROOT, check=False
        )
        if ran.returncode:
            raise RuntimeError("The tests failed, so what they cover is not known.")
        subprocess.run(
            [*coverage, "json", "-q", data, "-o", found], cwd=ROOT, check=True
        )
        files = json.loads(found.read_text())["files"]
    return {path: entry["summary"] for path, entry in files.items()}


def by_room(files: Mapping[str, Mapping[str, int]]) -> dict[str, Counter[str]]:
    """Return the sums over the files of each room."""
    rooms: dict[str, Counter[str]] = {}
    for path, summary in files.items():
        room = "/".join(Path(path).parts[:2])
        sums = rooms.setdefault(room, Counter())
        sums.update({word: summary[word] for word in WORDS})
    return rooms


def table(rooms: Mapping[str, Mapping[str, int]]) -> str:
    """Return rooms as a table, sorted by missed branches."""
    lines = [f"{'room':24}{'lines':>18}{'branches':>18}"]
    for room, sums in sorted(rooms.items(), key=lambda item: -_missed(item[1])):
        shares = (_share(sums[a], sums[b]) for a, b in (WORDS[:2], WORDS[2:]))
        lines.append(f"{room:24}" + "".join(f"{each:>18}" for each in shares))
    return "\n".join(lines)


def _missed(sums: Mapping[str, int]) -> int:
    return sums["num_branches"] - sums["covered_branches"]


def _share(part: int, whole: int) -> str:
    return f"{part}/{whole} {part / whole:4.0%}" if whole else "none"


if __name__ == "__main__":
    if importlib.util.find_spec("coverage") is None:
        sys.exit("Coverage needs the package `coverage`: pip install coverage")
    places = sys.argv[1:] or ["tests"]
    mirrored = [f"mjlab{place.removeprefix('tests')}" for place in places]
    print(table(by_room(run(places, mirrored))))

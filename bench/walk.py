"""List the files and functions that a training enters before its first iteration.

    python bench/walk.py Velocity-G1 --num-envs 8

Prints each file in the order of its first call, with the number of called functions and
the first line of its docstring. Arguments are those of `train.py`; the run is written
to a temporary folder.
"""

import ast
import inspect
import sys
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

ENDS_AT = ("mjlab/rl/loop.py", "_iterate")
"""File and function at which the listing ends: the first iteration."""


class EndOfWalk(BaseException):
    """Raised at the first iteration."""


class Walk:
    """Functions of this repository in the order of their first call."""

    def __init__(self) -> None:
        self._codes: dict[CodeType, str] = {}

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        """Record a call; see `sys.setprofile`."""
        code = frame.f_code
        if event != "call" or code in self._codes:
            return
        self._codes[code] = file = _inside(code.co_filename)
        if (file, code.co_name) == ENDS_AT:
            sys.setprofile(None)
            raise EndOfWalk

    def files(self) -> dict[str, int]:
        """Return the number of called functions, by file."""
        counts: dict[str, int] = {}
        for code, file in self._codes.items():
            # Bodies of classes and modules run at import.
            if file and code.co_flags & inspect.CO_OPTIMIZED:
                counts[file] = counts.get(file, 0) + 1
        return counts


def _inside(file: str) -> str:
    """Return a file's path in this repository; empty for files of other packages."""
    path = Path(file).resolve()
    is_ours = path.is_relative_to(ROOT) and path.is_file() and ".venv" not in path.parts
    return path.relative_to(ROOT).as_posix() if is_ours else ""


def purpose(file: str) -> str:
    """Return the first line of a file's docstring."""
    text = ast.get_docstring(ast.parse((ROOT / file).read_text("utf-8"))) or ""
    return text.partition("\n")[0]


def main(arguments: Sequence[str]) -> None:
    """Start a training, and print the files that it enters."""
    from mjlab.cli.main import run

    walk = Walk()
    with tempfile.TemporaryDirectory() as logs:
        threading.setprofile(walk)
        sys.setprofile(walk)
        try:
            run("train", [*arguments, "--logs", logs])
        except EndOfWalk:
            pass
        finally:
            sys.setprofile(None)
            threading.setprofile(None)  # type: ignore[arg-type]
    files = walk.files()
    for file, count in files.items():
        print(f"{count:4d}  {file}  {purpose(file)}")
    print(f"{sum(files.values())} functions in {len(files)} files")


if __name__ == "__main__":
    main(sys.argv[1:])

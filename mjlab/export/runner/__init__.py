"""Runner: runs a policy file on a robot, or in MuJoCo, without this framework.

`runner_text` joins these modules and `mjlab.safe_names` into one file for the robot.
The modules import only NumPy and each other; onnxruntime and MuJoCo are imported when
they are first used.
"""

import ast
from pathlib import Path

from mjlab import safe_names
from mjlab.files import write_text

HEADER = "mjlab_runner.hpp"
"""C++ header with the same functions as the Python runner."""
PARTS = ("policy", "checks", "reach", "camera", "robot", "commands", "loop")
"""Modules in dependency order."""


def runner_text() -> str:
    """Return `mjlab_runner.py`, which is independent of mjlab."""
    folder = Path(__file__).parent
    docs, imports, bodies = [], set(), []
    paths = [Path(safe_names.__file__), *(folder / f"{part}.py" for part in PARTS)]
    for path in paths:
        text = path.read_text("utf-8")
        lines = text.splitlines()
        tree = ast.parse(text)
        docs.append(ast.get_docstring(tree))
        top = [n for n in tree.body if isinstance(n, ast.Import | ast.ImportFrom)]
        own = [n for n in top if getattr(n, "module", "").startswith("mjlab")]
        imports |= {ast.unparse(node) for node in top if node not in own}
        bodies.append("\n".join(lines[top[-1].end_lineno :]).strip())
    head = '"""' + f"{docs[-1]}\n" + '"""'
    return "\n\n\n".join([f"{head}\n\n" + "\n".join(sorted(imports)), *bodies]) + "\n"


def write_runner(beside: Path) -> Path:
    """Write the runner and its C++ header next to a file; return the runner's path."""
    path = beside.with_name("mjlab_runner.py")
    write_text(path, runner_text())
    header = (Path(__file__).parent / HEADER).read_text("utf-8")
    write_text(beside.with_name(HEADER), header)
    return path

"""`port`: list what to change in a task for mjlab or Isaac Lab."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tyro.conf import Positional

from mjlab.cli.answers import UsageError
from mjlab.cli.line import Options, read_line


@dataclass(kw_only=True)
class PortOptions(Options):
    """List what to change in a task for mjlab or Isaac Lab.

    For each name of mjlab 1.6 or of Isaac Lab's manager layer: line, name in this
    package, and difference. Names that no table has are listed as unknown. The file is
    only parsed: it is not run or changed.
    """

    program = "port.py"
    examples = ("their_env_cfg.py",)

    file: Positional[Path | None] = None
    """The Python file."""


def main(arguments: Sequence[str]) -> None:
    """Print the list."""
    path = read_line(PortOptions, arguments).options.file
    if path is None:
        raise UsageError(
            "FILE is missing: name a Python file, such as their_env_cfg.py."
        )
    if not path.is_file():
        raise UsageError(f"File {path} does not exist.")
    from mjlab.cli.porting.reading import read_task

    try:
        print(read_task(path.read_text("utf-8")).text(str(path)))
    except (SyntaxError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is not valid Python: {error}.") from None

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

    For each name of mjlab 1.6 or of Isaac Lab's manager layer: line, our name, and what
    differs. Names that no table has are listed as unknown. The file is read, and
    neither run nor changed.
    """

    program = "port.py"
    examples = ("their_env_cfg.py",)

    file: Positional[Path | None] = None
    """The file."""


def main(arguments: Sequence[str]) -> None:
    """Print the list."""
    path = read_line(PortOptions, arguments).options.file
    if path is None:
        raise UsageError("Name a file in Python, such as their_env_cfg.py.")
    if not path.is_file():
        raise UsageError(f"There is no file {path}.")
    from mjlab.cli.porting.reading import read_task

    try:
        print(read_task(path.read_text("utf-8")).text(str(path)))
    except (SyntaxError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is no file in Python: {error}.") from None

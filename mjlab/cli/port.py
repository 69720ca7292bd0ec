"""`port`: rewrite a task for mjlab or Isaac Lab, or list what to change."""

import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tyro.conf import Positional

from mjlab.cli.answers import UsageError
from mjlab.cli.line import Options, read_line
from mjlab.extras import missing


@dataclass(kw_only=True)
class PortOptions(Options):
    """Convert a task of mjlab 1.6 or Isaac Lab to this package, or list the changes.

    SOURCE is a Python file or a folder. Without an option, nothing is written: the list
    shows each name of mjlab 1.6 or of Isaac Lab's manager layer with its line, its name
    in this package, and the difference. In the new files, a comment `# TODO(port):`
    marks each place where you must decide. Files are only parsed, not run.
    """

    program = "port.py"
    examples = (
        "their_env_cfg.py",
        "their_tasks --to my_tasks",
        "their_env_cfg.py --diff",
    )

    source: Positional[Path | None] = None
    """Python file or folder to port."""

    to: Path | None = None
    """Write the new files to this new folder, with copies of all other files."""

    write: bool = False
    """Write the new files over the old ones."""

    diff: bool = False
    """Print the changes as a unified diff."""


def main(arguments: Sequence[str]) -> None:
    """Print the list or the diff, or write the files and print a summary."""
    options = read_line(PortOptions, arguments).options
    path = options.source
    if path is None:
        raise UsageError(
            "SOURCE is missing: name a Python file or a folder, such as "
            "their_env_cfg.py."
        )
    if not path.exists():
        raise UsageError(f"{path} does not exist.")
    if (options.to is not None) + options.write + options.diff > 1:
        raise UsageError("--to, --write and --diff exclude each other: give one.")
    if importlib.util.find_spec("libcst") is None:
        raise UsageError(missing("port", "libcst", "port"))
    from mjlab.cli.porting.folder import Porting

    try:
        porting = Porting.of(path)
    except (SyntaxError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is not valid Python: {error}.") from None
    if options.diff:
        print(porting.diff(), end="")
    elif options.to is not None:
        try:
            porting.write_to(options.to)
        except FileExistsError as error:
            raise UsageError(f"{error}.") from None
        print(porting.summary(options.to.name))
    elif options.write:
        porting.write()
        print(porting.summary())
    else:
        print(porting.listing())

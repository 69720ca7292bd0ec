"""The command `mjlab`, and the check for another distribution with the same package.

The distributions `mjlab-fused` and `mjlab` both install an import package `mjlab`: in
one environment, the distribution installed last overwrites files of the other. This
package belongs to `mjlab-fused` alone and imports nothing of `mjlab` before the check,
so it works whichever was installed last.
"""

import os
import sys
import warnings


def main() -> int:
    """Run the command `mjlab`, and return its exit code."""
    other = find_other()
    if other is not None and (_shares_folder(other) or not _ours_comes_first()):
        sys.stderr.write(f"error: {_message(other)}\n")
        return 2
    from mjlab.cli.main import main as run

    return run()


def refuse_other() -> None:
    """Raise if the other `mjlab` shares our folder; warn if it is elsewhere.

    `mjlab/__init__.py` calls this when it is imported. A command then ends with one
    line; other programs get an `ImportError`.
    """
    other = find_other()
    if other is None:
        return
    if not _shares_folder(other):
        warnings.warn(_message(other), stacklevel=3)
    elif _is_command(other):
        raise SystemExit(f"error: {_message(other)}")
    else:
        raise ImportError(_message(other))


def stop_other() -> None:
    """Stop the process with one line if another `mjlab` is installed."""
    other = find_other()
    if other is not None:
        raise SystemExit(f"error: {_message(other)}")


def find_other() -> str | None:
    """Metadata folder of a distribution called `mjlab`; None if there is none.

    Folder names are compared instead of asking `importlib.metadata`, whose import alone
    takes longer than all of `import mjlab`.
    """
    for folder in sys.path:
        try:
            names = os.listdir(folder or os.curdir)
        except OSError:
            continue  # A zip file, or an entry that does not exist.
        for name in names:
            if name.startswith("mjlab-") and name.endswith((".dist-info", ".egg-info")):
                return os.path.join(folder, name)
    return None


def _message(other: str) -> str:
    return (
        f"the distribution 'mjlab' is installed alongside 'mjlab-fused' ({other}), and "
        "both own the package 'mjlab'. Run `pip uninstall mjlab mjlab-fused`, then "
        "`pip install mjlab-fused`, or give each its own environment."
    )


def _shares_folder(other: str) -> bool:
    """Whether both distributions were installed into the same folder."""
    return os.path.realpath(os.path.dirname(other)) == _folder()


def _folder() -> str:
    """Folder that this package was installed into."""
    return os.path.dirname(os.path.dirname(os.path.realpath(__file__)))


def _ours_comes_first() -> bool:
    """Whether `import mjlab` finds the package beside this one."""
    import importlib.util

    found = importlib.util.find_spec("mjlab")
    place = os.path.dirname((found and found.origin) or "")
    return os.path.realpath(os.path.dirname(place)) == _folder()


def _is_command(other: str) -> bool:
    """Whether this process is `python -m mjlab` or a command of the distribution."""
    command = os.path.basename(sys.argv[0])
    if command == "-m":  # Python is still looking for the module to run.
        return True
    try:
        with open(os.path.join(other, "entry_points.txt"), encoding="utf-8") as file:
            names = [line.partition("=")[0].strip() for line in file]
    except OSError:
        return False  # It has no commands.
    return command in names

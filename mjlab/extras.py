"""Error messages for packages of optional extras that are not installed."""

import importlib.util
import sys
from pathlib import Path


def missing(what: str, packages: str, extra: str) -> str:
    """Return an error sentence that names missing packages and the install command.

    Args:
        what: Feature that needs the packages, as the subject of the sentence, such as
            "A video".
        packages: Names of the packages: "onnx and onnxruntime".
        extra: Extra of this distribution that contains the packages.
    """
    verb = "are" if " and " in packages else "is"
    return f"{what} needs {packages}, which {verb} not installed: {install(extra)}."


def install(extra: str) -> str:
    """Return the install command of an extra, for the environment of this process."""
    if not _is_of_uv():
        return f'pip install "mjlab-fused[{extra}]"'
    # `uvx` uses a temporary environment for each command, so an installed package would
    # be missing in the next command. Request the extra in the `uvx` command.
    if {"archive-v0", "environments-v2"} & set(Path(sys.prefix).parts):
        return f'uvx --from "PACKAGE[{extra}]" mjlab'
    return f'uv pip install "mjlab-fused[{extra}]"'


def _is_of_uv() -> bool:
    """Return True if uv created this virtual environment and pip is not in it."""
    settings = Path(sys.prefix, "pyvenv.cfg")
    made_by_uv = settings.is_file() and "\nuv = " in "\n" + settings.read_text("utf-8")
    return made_by_uv and importlib.util.find_spec("pip") is None

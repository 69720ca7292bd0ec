"""Paths in files: what is in a package of ours is named from there."""

import importlib
import sys
from pathlib import Path
from typing import Any

from mjlab.schema.names import ConfigFileError
from mjlab.schema.trust import TRUSTED


def path_data(value: Path) -> dict[str, Any]:
    """A path, relative to its package where it is a file of a loaded one."""
    for package in TRUSTED:
        folder = _package_folder(package)
        if folder is not None and value.is_relative_to(folder):
            return {"$path": value.relative_to(folder).as_posix(), "package": package}
    return {"$path": str(value)}


def path_of(text: Any, package: Any, path: str) -> Path:
    """The path that `path_data` wrote."""
    if package is None:
        return Path(text)
    folder = _package_folder(package) if package in TRUSTED else None
    if folder is None:
        raise ConfigFileError(f"{path} is in the package {package!r}, not one of ours.")
    return folder / text


def _package_folder(package: str) -> Path | None:
    module = sys.modules.get(package) or importlib.import_module(package)
    return None if module.__file__ is None else Path(module.__file__).parent

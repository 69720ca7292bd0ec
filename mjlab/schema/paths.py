"""Paths in files: what is in a package of ours is named from there."""

import importlib
import sys
from pathlib import Path
from typing import Any

from mjlab.schema.names import ConfigFileError
from mjlab.schema.trust import TRUSTED, Trust


def path_data(value: Path) -> dict[str, Any]:
    """A path, relative to the outermost package of ours that it is in."""
    for package in sorted(_loaded_packages(), key=lambda name: (name.count("."), name)):
        folder = _folder(package)
        if folder is not None and value.is_relative_to(folder):
            return {"$path": value.relative_to(folder).as_posix(), "package": package}
    return {"$path": str(value)}


def path_of(text: Any, package: Any, trust: Trust, path: str) -> Path:
    """The path that `path_data` wrote."""
    if package is None:
        return Path(text)
    folder = _folder(package) if trust.trusts_package(package) else None
    if folder is None:
        raise ConfigFileError(f"{path} is in the package {package!r}, not one of ours.")
    return folder / text


def _loaded_packages() -> list[str]:
    loaded = [name for name, module in sys.modules.items() if _is_package(module)]
    return [name for name in loaded if name.partition(".")[0] in TRUSTED]


def _is_package(module: Any) -> bool:
    return getattr(module, "__path__", None) is not None


def _folder(package: str) -> Path | None:
    module = sys.modules.get(package) or importlib.import_module(package)
    if not _is_package(module) or module.__file__ is None:
        return None
    return Path(module.__file__).parent

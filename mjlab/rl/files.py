"""Files that are there in full or not at all, whenever the process is killed."""

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

TEMPORARY = ".tmp"
"""Suffix of a file that is being written. One that is left over may be deleted."""


def write_atomic(path: Path, write: Callable[[BinaryIO], object]) -> None:
    """Write a file under another name, make sure it is on disk, then rename it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.{os.getpid()}{TEMPORARY}")
    try:
        with temporary.open("wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
    _sync_folder(path.parent)


def write_text(path: Path, text: str) -> None:
    """Write a text file atomically."""
    write_atomic(path, lambda file: file.write(text.encode()))


def sha256(path: Path) -> str:
    """Checksum of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _sync_folder(folder: Path) -> None:
    """Have the new name itself on disk, where the system can do that."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except (PermissionError, IsADirectoryError):
        return  # Windows opens no folders.
    try:
        os.fsync(handle)
    finally:
        os.close(handle)

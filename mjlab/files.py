"""Files that are there in full or not at all, whenever the process or the power ends.

What is written lies under another name until it is on disk; only then does it take its
name, and only when the name is on disk, too, may what it replaces be deleted.
"""

import hashlib
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
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
        move_durably(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write a text file atomically."""
    write_atomic(path, lambda file: file.write(text.encode()))


def move_durably(unfinished: Path, path: Path) -> None:
    """Give a whole file or folder its name, once all of it is on disk.

    A file that has the name is replaced; a folder must not be there.
    """
    inside = unfinished.rglob("*") if unfinished.is_dir() else ()
    for each in (*inside, unfinished):
        _sync(each)
    os.replace(unfinished, path)
    _sync(path.parent)


@contextmanager
def folder_beside(path: Path) -> Iterator[Path]:
    """A new folder to fill beside the one that it will be, deleted if that fails.

    Whoever fills it moves it. A folder that is there already is never touched.
    """
    unfinished = path.with_name(f"{path.name}.{os.getpid()}{TEMPORARY}")
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished.mkdir()
    try:
        yield unfinished
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise


def append_text(path: Path, text: str) -> None:
    """Add to a text file, and have that on disk."""
    with path.open("a", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def sha256(path: Path) -> str:
    """Checksum of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _sync(path: Path) -> None:
    """Have a file on disk, or the names in a folder."""
    is_windows = os.name == "nt"
    if is_windows and path.is_dir():
        return  # Windows opens no folders.
    handle = os.open(path, os.O_RDWR if is_windows else os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)

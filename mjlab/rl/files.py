"""Files that are there in full or not at all, whenever the process is killed."""

import contextlib
import errno
import hashlib
import io
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

TEMPORARY = ".tmp"
"""Suffix of a file that is being written. One that is left over may be deleted."""


_FULL = (errno.ENOSPC, errno.EDQUOT)
_CLOSED = (errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOTDIR)


class CannotWriteError(OSError):
    """A disk that is full, or a folder that nothing can be written to."""


def write_atomic(path: Path, write: Callable[[BinaryIO], object]) -> None:
    """Write a file under another name, make sure it is on disk, then rename it."""
    # `torch.save` hides the reason of a disk that refuses; memory refuses nothing.
    data = io.BytesIO()
    write(data)
    with saying_why(path, data.getbuffer().nbytes):
        _write_whole(path, data.getbuffer())


@contextlib.contextmanager
def saying_why(path: Path, size: int = 0) -> Iterator[None]:
    """Word an error of the disk as an answer.

    Args:
        path: The file or folder that is written.
        size: Its bytes.
    """
    try:
        yield
    except OSError as error:
        folder = _existing(path.parent)
        if error.errno in _FULL:
            free = shutil.disk_usage(folder).free
            raise CannotWriteError(
                f"No space left in {folder}: {path.name} needs {_size(size)}, and "
                f"{_size(free)} are free."
            ) from error
        if error.errno in _CLOSED:
            reason = os.strerror(error.errno).lower()
            raise CannotWriteError(f"Cannot write to {path} ({reason}).") from error
        raise


def _write_whole(path: Path, data: memoryview) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.{os.getpid()}{TEMPORARY}")
    try:
        with temporary.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
    _sync_folder(path.parent)


def _existing(folder: Path) -> Path:
    """The folder, or the nearest above it that is there."""
    return next((f for f in (folder, *folder.parents) if f.is_dir()), folder)


def _size(count: int) -> str:
    return f"{count / 1e6:,.1f} MB" if count >= 1e6 else f"{count / 1e3:,.0f} kB"


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

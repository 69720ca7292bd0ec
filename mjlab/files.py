"""Write files atomically and durably, safe against a kill or a power failure.

Data are written under a temporary name and synchronised to disk, then renamed. Files
that the new file replaces must be deleted only after its name is on disk, too.
"""

import errno
import hashlib
import io
import math
import os
import shutil
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

TEMPORARY = ".tmp"
"""Suffix of a file that is being written. Left-over files can be deleted."""


_FULL = (errno.ENOSPC, errno.EDQUOT)

_DAMAGE = (
    *(OSError, RuntimeError, LookupError, ValueError, TypeError, AttributeError),
    *(ArithmeticError, MemoryError, EOFError, zipfile.BadZipFile, zlib.error),
)
"""Exceptions that libraries raise for damaged files."""


class CannotWriteError(OSError):
    """Raised if a write fails: disk full, permission denied, or a device error."""


_UNREAD = "wandb"
"""Folder that Weights & Biases writes in a run. `check_contained` skips it: its links
can leave the run, and this project never reads them."""


@contextmanager
def reading(place: str, kind: type[Exception], remedy: str) -> Iterator[None]:
    """Convert errors caused by a damaged file into a one-line error that names it.

    Args:
        place: The file, and the part of it that is read.
        kind: Exception type to raise; errors of this project pass unchanged.
        remedy: Advice for the user, as a sentence.
    """
    try:
        yield
    except _DAMAGE as error:
        if type(error).__module__.startswith("mjlab."):
            raise
        said = one_line(error) or type(error).__name__
        raise kind(f"{place} is damaged: {said}. {remedy}") from error


def one_line(error: Exception) -> str:
    """Return an error's message on one line, without the final full stop."""
    return " ".join(str(error).split()).rstrip(".")


def write_atomic(path: Path, write: Callable[[BinaryIO], object]) -> None:
    """Write a file under a temporary name, synchronise it to disk, then rename it."""
    data = in_memory(path, write)
    with saying_why(path, len(data)):
        make_folders(path.parent)
        temporary, file = create_beside(path)
        try:
            with file:
                file.write(data)
            move_durably(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)


def create_beside(path: Path) -> tuple[Path, BinaryIO]:
    """Create a temporary file next to `path`; return its path and the open file.

    The caller fills it and renames it to `path`. Its name is unpredictable, and an
    existing file or link of that name is neither opened nor followed, so a link planted
    in a shared folder has no effect. It has the default permissions of a new file.
    """
    temporary = temporary_beside(path)
    return temporary, temporary.open("xb")


def temporary_beside(path: Path) -> Path:
    """Return an unpredictable name next to `path` that ends in TEMPORARY."""
    return path.with_name(f"{path.name}.{os.urandom(8).hex()}{TEMPORARY}")


def in_memory(path: Path, write: Callable[[BinaryIO], object]) -> bytes:
    """Return the bytes that `write` writes to a file object.

    `torch.save` (2.13) replaces the error of a full disk by a RuntimeError about its
    own format. Bytes that were written to memory first can be stored with the original
    error.

    Raises:
        MemoryError: If memory runs out. `torch.save` raises a RuntimeError instead.
    """
    memory = io.BytesIO()
    try:
        write(memory)
    except RuntimeError as error:
        if isinstance(error.__context__, MemoryError):
            raise MemoryError(f"Out of memory while writing {path}.") from error
        raise
    # Bytes, not `getbuffer()`: the traceback of a failed write keeps a view alive, and
    # collecting a view of a BytesIO crashes Python 3.12.1 (python/cpython#111049).
    return memory.getvalue()


def make_folders(folder: Path) -> None:
    """Create a folder and its parents, and synchronise their names to disk."""
    if not folder.exists():
        make_folders(folder.parent)
        folder.mkdir(exist_ok=True)
        sync(folder.parent)


@contextmanager
def saying_why(path: Path, size: int = 0) -> Iterator[None]:
    """Convert disk errors into a `CannotWriteError` with the reason.

    Args:
        path: The file or folder that is written.
        size: Size of the file, in bytes.
    """
    try:
        yield
    except OSError as error:
        folder = next((f for f in path.parents if f.is_dir()), path.parent)
        if error.errno in _FULL:
            free = shutil.disk_usage(folder).free
            raise CannotWriteError(
                f"No space left in {folder}: {path.name} needs {_size(size)}, and "
                f"{_size(free)} are free."
            ) from error
        if error.errno is None:  # It already has a message.
            raise
        reason = os.strerror(error.errno).lower()
        raise CannotWriteError(f"Cannot write to {path} ({reason}).") from error


def _size(count: int) -> str:
    return f"{count / 1e6:,.1f} MB" if count >= 1e6 else f"{count / 1e3:,.0f} kB"


def write_text(path: Path, text: str) -> None:
    """Write a text file atomically."""
    write_atomic(path, lambda file: file.write(text.encode()))


def finite(data: Any) -> Any:
    """Replace non-finite numbers in JSON data by None."""
    if isinstance(data, Mapping):
        return {key: finite(item) for key, item in data.items()}
    if isinstance(data, tuple | list):
        return [finite(item) for item in data]
    return None if isinstance(data, float) and not math.isfinite(data) else data


def move_durably(unfinished: Path, path: Path) -> None:
    """Synchronise a complete file or folder to disk, then rename it to `path`.

    An existing file `path` is replaced; an existing folder `path` is an error.
    """
    inside = unfinished.rglob("*") if unfinished.is_dir() else ()
    for each in (*inside, unfinished):
        sync(each)
    os.replace(unfinished, path)
    sync(path.parent)


@contextmanager
def folder_beside(path: Path) -> Iterator[Path]:
    """Yield a temporary folder next to `path`; delete it after an error.

    The caller renames the folder to `path`. An existing folder is never modified.
    """
    unfinished = temporary_beside(path)
    make_folders(path.parent)
    unfinished.mkdir()
    try:
        yield unfinished
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise


def check_contained(folder: Path, kind: type[Exception]) -> None:
    """Raise if a folder contains a link that leads out of it, a pipe or a device.

    Pipes and devices can block forever, and links can read, write or delete files
    outside of the folder. The folder itself can be reached through a link.

    Args:
        folder: Folder from a possibly untrusted source.
        kind: The type of the error.
    """
    root = folder.resolve()
    for parent, folders, names in os.walk(root):
        if _UNREAD in folders and "run.json" in names:
            if not Path(parent, _UNREAD).is_symlink():
                folders.remove(_UNREAD)
        for name in (*folders, *names):
            _check_entry(Path(parent, name), folder, kind)


def _check_entry(path: Path, folder: Path, kind: type[Exception]) -> None:
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:  # Deleted in the meantime, by a run in progress.
        return
    if stat.S_ISLNK(mode):
        if not Path(os.path.realpath(path)).is_relative_to(folder.resolve()):
            raise kind(
                f"{path} is a link that leaves {folder}: it is not followed. Replace "
                "it by a copy of its target, or delete it."
            )
    elif not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise kind(f"{path} is not a regular file: delete it, or move it away.")


def sha256(path: Path) -> str:
    """Return the SHA-256 checksum of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def sync(path: Path) -> None:
    """Synchronise a file, or the names in a folder, to disk."""
    is_windows = os.name == "nt"  # Windows cannot open a folder to synchronise it.
    if path.is_file() or not is_windows:
        with saying_why(path):
            handle = os.open(path, os.O_RDWR if is_windows else os.O_RDONLY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)

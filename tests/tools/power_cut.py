"""Disk model that tracks syncs, to find data that a power cut would lose."""

import os
import stat
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mjlab.files import TEMPORARY


class Disk:
    """Records renames, syncs and deletions of a program.

    The contents of a file are on disk since its last fsync, and its name since its
    folder was synced after the rename. A deletion before the new name is on disk, or a
    rename of a file that is not, can lose both the old and the new file.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.faults: list[str] = []
        self.renames = self.deletions = 0
        self._synced: dict[int, tuple[int, int]] = {}
        self._pending: dict[int, list[str]] = defaultdict(list)
        watched: dict[str, Callable[..., None]] = {
            "fsync": self._fsync,
            "replace": self._rename,
            "rename": self._rename,
            "unlink": self._delete,
            "remove": self._delete,
            "mkdir": self._make,
        }
        for name, note in watched.items():
            monkeypatch.setattr(os, name, _watched(getattr(os, name), note))

    def unsynced(self, folder: Path) -> list[str]:
        """Files and names below a folder that are not on disk as they are."""
        files = [file for file in folder.rglob("*") if file.is_file()]
        folders = [folder, *(each for each in folder.rglob("*") if each.is_dir())]
        names = {n for each in folders for n in self._pending[each.stat().st_ino]}
        names |= {file.name for file in files if not self._is_on_disk(file)}
        return sorted(names)

    def _is_on_disk(self, file: Path) -> bool:
        found = file.stat()
        return self._synced.get(found.st_ino) == (found.st_size, found.st_mtime_ns)

    def _fsync(self, descriptor: int) -> None:
        found = os.fstat(descriptor)
        if stat.S_ISDIR(found.st_mode):
            self._pending.pop(found.st_ino, None)
        self._synced[found.st_ino] = (found.st_size, found.st_mtime_ns)

    def _rename(self, source: Any, target: Any) -> None:
        source, target = Path(source), Path(target)
        if source.is_symlink():
            return  # A link such as "latest", which nothing depends on.
        late = self.unsynced(source)
        if source.is_file() and not self._is_on_disk(source):
            late = [source.name]
        self.faults += [f"{name} is renamed before it is on disk" for name in late]
        self._pending[target.parent.stat().st_ino].append(target.name)
        self.renames += 1

    def _make(self, path: Any, *_: Any, **__: Any) -> None:
        folder = Path(path)
        is_new = folder.parent.is_dir() and not folder.exists()
        if is_new and not folder.name.endswith(TEMPORARY):
            self._pending[folder.parent.stat().st_ino].append(folder.name)

    def _delete(self, path: Any, *, dir_fd: int | None = None) -> None:
        try:
            os.stat(path, dir_fd=dir_fd, follow_symlinks=False)
        except FileNotFoundError:
            return
        self.deletions += 1
        for names in self._pending.values():
            self.faults += [f"{path} is deleted before {n} is on disk" for n in names]


def _watched(call: Callable[..., Any], note: Callable[..., None]) -> Any:
    def watched(*arguments: Any, **more: Any) -> Any:
        note(*arguments, **more)
        return call(*arguments, **more)

    return watched

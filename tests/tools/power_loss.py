"""Model of power loss: the possible states of a disk after each call.

`disk_recorder.c` records the calls of a process on a folder. From these the model
derives the possible states after a power cut at each call, for a file system without a
journal:

- Of a file, what was written since its last sync may be there, or not, or in part, or
  its length may be there with zeros for what was written.
- Of the names in a folder, each that was made, changed or removed since the folder's
  last sync may be as it was before, whatever came of the others. A rename is whole.
- What lies in a folder whose own name is lost is lost with it, synced or not.
"""

import contextlib
import ctypes
import itertools
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

SOURCE = Path(__file__).with_name("disk_recorder.c")

Tree = dict[str, bytes | None]
"""Contents of the files below a folder by their path; None for a folder."""

MOST_SUBSETS = 5
"""Maximum number of unsynced names for which all subsets are tried."""


@contextlib.contextmanager
def recording_disk(folder: Path, log: Path) -> Iterator[None]:
    """Record the calls of this process, which preloads the recorder, on a folder."""
    record = ctypes.CDLL(None).record_disk
    record(str(folder).encode(), str(log).encode())
    try:
        yield
    finally:
        record(None, None)


class Call(NamedTuple):
    """A disk call."""

    kind: str
    path: str
    other: str
    offset: int
    data: bytes


def read_log(log: Path) -> list[Call]:
    """Return the calls of a log."""
    rest, found = log.read_bytes(), []
    while rest:
        line, _, rest = rest.partition(b"\n")
        kind, path, other, offset, size = line.decode().split("\t")
        data, rest = rest[: int(size)], rest[int(size) :]
        found.append(Call(kind, path, other, int(offset), data))
    return found


def read_tree(folder: Path) -> Tree:
    """Return the contents of a folder."""
    return {
        each.relative_to(folder).as_posix(): each.read_bytes()
        if each.is_file()
        else None
        for each in sorted(folder.rglob("*"))
    }


def lay_out(folder: Path, tree: Tree) -> None:
    """Replace the contents of a folder by a tree."""
    shutil.rmtree(folder)
    folder.mkdir(parents=True)
    for path, data in tree.items():
        if data is None:
            (folder / path).mkdir(parents=True, exist_ok=True)
        else:
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(data)


@dataclass(eq=False)
class _File:
    now: bytearray
    disk: bytes = b""

    def outcomes(self) -> list[bytes]:
        """What may be on disk: all or nothing of what is new, zeros, a half."""
        now, disk = bytes(self.now), self.disk
        zeros = disk[: len(now)].ljust(len(now), b"\0")
        half = now[: (len(disk) + len(now)) // 2]
        return [disk] if disk == now else [disk, now, zeros, half]


@dataclass(eq=False)
class _Folder:
    now: "dict[str, _File | _Folder]" = field(default_factory=dict)
    disk: "dict[str, _File | _Folder]" = field(default_factory=dict)
    waiting: "list[dict[str, _File | _Folder | None]]" = field(default_factory=list)

    def change(self, names: "dict[str, _File | _Folder | None]") -> None:
        self.now = _changed(self.now, [names])
        self.waiting.append(names)

    def sync(self) -> None:
        self.disk, self.waiting = dict(self.now), []

    def outcomes(self) -> "list[dict[str, _File | _Folder]]":
        number = len(self.waiting)
        chosen: list[Sequence[int]] = [range(number), ()]
        if number <= MOST_SUBSETS:
            chosen += [
                some
                for size in range(1, number)
                for some in itertools.combinations(range(number), size)
            ]
        else:
            for i in range(number):
                others = [each for each in range(number) if each != i]
                chosen += [range(i), range(i, number), [i], others]
        return [_changed(self.disk, [self.waiting[i] for i in some]) for some in chosen]


def _changed(
    names: "dict[str, _File | _Folder]",
    changes: "list[dict[str, _File | _Folder | None]]",
) -> "dict[str, _File | _Folder]":
    merged = dict(names)
    for change in changes:
        for name, node in change.items():
            merged.pop(name, None)
            if node is not None:
                merged[name] = node
    return merged


class ModelDisk:
    """A disk with initial contents, on which calls are made."""

    def __init__(self, tree: Tree) -> None:
        """Start with the initial contents."""
        self._root = _Folder()
        for path, data in tree.items():
            node = _Folder() if data is None else _File(bytearray(data), data)
            folder, name = self._inside(path)
            folder.now[name] = folder.disk[name] = node

    def call(self, call: Call) -> None:
        """Apply a call."""
        if call.path.endswith(" (deleted)"):
            return
        if call.kind in ("write", "truncate", "sync"):
            self._content(call)
            return
        folder, name = self._inside(call.path)
        if call.kind == "create":
            folder.change({name: _File(bytearray())})
        elif call.kind == "mkdir":
            folder.change({name: _Folder()})
        elif call.kind == "remove":
            folder.change({name: None})
        else:
            target, new = self._inside(call.other)
            assert target is folder, "The model knows renames within one folder."
            folder.change({name: None, new: folder.now[name]})

    def tree(self) -> Tree:
        """Return the contents that a process sees."""
        return _tree(self._root, {}, {})

    def after_power_cut(self) -> Iterator[Tree]:
        """Return the possible contents after power loss now."""
        nodes = list(_all(self._root, set()))
        folders = [each for each in nodes if isinstance(each, _Folder) and each.waiting]
        files = [each for each in nodes if isinstance(each, _File)]
        files = [each for each in files if len(each.outcomes()) > 1]
        for names in itertools.product(*(each.outcomes() for each in folders)):
            for data in _outcomes(files):
                yield _tree(
                    self._root, dict(zip(folders, names, strict=True)), data, cut=True
                )

    def _content(self, call: Call) -> None:
        if call.path == ".":
            self._root.sync()
            return
        folder, name = self._inside(call.path)
        node = folder.now[name]
        if isinstance(node, _Folder):
            node.sync()
        elif call.kind == "sync":
            node.disk = bytes(node.now)
        elif call.kind == "truncate":
            node.now = node.now[: call.offset].ljust(call.offset, b"\0")
        else:
            end = call.offset + len(call.data)
            node.now = node.now.ljust(call.offset, b"\0")
            node.now[call.offset : end] = call.data

    def _inside(self, path: str) -> tuple[_Folder, str]:
        *folders, name = path.split("/")
        found = self._root
        for each in folders:
            inner = found.now[each]
            assert isinstance(inner, _Folder)
            found = inner
        return found, name


def _all(folder: _Folder, seen: "set[_File | _Folder]") -> "Iterator[_File | _Folder]":
    """Return every file and folder that can exist on disk."""
    if folder in seen:
        return
    seen.add(folder)
    yield folder
    changes = [node for each in folder.waiting for node in each.values() if node]
    for node in (*folder.now.values(), *folder.disk.values(), *changes):
        if isinstance(node, _Folder):
            yield from _all(node, seen)
        elif node not in seen:
            seen.add(node)
            yield node


def _outcomes(files: list[_File]) -> Iterator[dict[_File, bytes]]:
    """Return states of files: the same for all, or another one for one of them."""
    for kinds in zip(*(each.outcomes() for each in files), strict=True):
        yield dict(zip(files, kinds, strict=True))
    if len(files) > 1:
        for one, others in itertools.permutations((0, 1)):
            for chosen in files:
                yield {
                    each: each.outcomes()[one if each is chosen else others]
                    for each in files
                }
    if not files:
        yield {}


def _tree(
    folder: _Folder,
    names: "dict[_Folder, dict[str, _File | _Folder]]",
    data: dict[_File, bytes],
    *,
    cut: bool = False,
    above: str = "",
) -> Tree:
    found: Tree = {}
    inside = names.get(folder, folder.disk) if cut else folder.now
    for name, node in inside.items():
        path = above + name
        if isinstance(node, _Folder):
            found[path] = None
            found |= _tree(node, names, data, cut=cut, above=f"{path}/")
        else:
            found[path] = data.get(node, node.disk) if cut else bytes(node.now)
    return found


def after_power_cuts(
    before: Tree, calls: Sequence[Call], after: Tree
) -> tuple[list[Tree], list[Tree]]:
    """Return the possible states after a cut at any time, and after the last call.

    Args: before: Initial contents, on disk. calls: The recorded calls. after: Final
    contents as seen by the process. The model must agree; otherwise the recorder has
    missed a call.
    """
    disk = ModelDisk(before)
    at_any: dict[int, Tree] = {}
    at_end: dict[int, Tree] = {}
    for number in range(len(calls) + 1):
        at_end = {_key(tree): tree for tree in disk.after_power_cut()}
        at_any |= at_end
        if number < len(calls):
            disk.call(calls[number])
    seen = disk.tree()
    paths = seen.keys() | after.keys()
    differ = sorted(path for path in paths if seen.get(path, 0) != after.get(path, 0))
    assert not differ, f"The recorder missed what became of {differ}."
    return list(at_any.values()), list(at_end.values())


def _key(tree: Tree) -> int:
    return hash(frozenset(tree.items()))

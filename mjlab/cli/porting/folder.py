"""Port a file or a folder: new texts, a summary, and the written files."""

import difflib
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from mjlab.cli.porting.changes import UNKNOWN
from mjlab.cli.porting.codemod import Ported, port_file
from mjlab.cli.porting.sources import ForeignFiles


@dataclass(frozen=True)
class Porting:
    """Result of porting a file or a folder."""

    root: Path
    """The file or the folder."""

    files: tuple[Ported, ...]
    """The ported Python files."""

    @classmethod
    def of(cls, root: Path) -> "Porting":
        """Port a file or a folder.

        Raises:
            SyntaxError: If a file is not valid Python.
        """
        sources = ForeignFiles.read(root)
        return cls(root, tuple(port_file(source, sources) for source in sources.files))

    def listing(self) -> str:
        """Return all changes, one per line, and the number of changes."""
        lines = [
            change.text(str(file.source.path))
            for file in self.files
            for change in file.changes
        ]
        changes = [(file.source.path, c) for file in self.files for c in file.changes]
        unknown = {c.theirs for _, c in changes if c.ours == UNKNOWN}
        changed = {(path, c.line) for path, c in changes if c.ours != UNKNOWN}
        lines.append(
            f"{_count(len(changed), 'line')} to change, "
            f"{_count(len(unknown), 'name')} unknown."
        )
        return "\n".join(lines)

    def diff(self) -> str:
        """Return a unified diff of all files."""
        return "".join(line for file in self.files for line in _diff(file))

    def summary(self, package: str | None = None) -> str:
        """Return the numbers of changed lines, the open decisions, and the tasks.

        Args:
            package: Name of the package that the files are written to. None keeps the
                names of the modules.
        """
        removed = added = 0
        for file in self.files:
            lines = [line for line in _diff(file) if line[:3] not in ("---", "+++")]
            removed += sum(line.startswith("-") for line in lines)
            added += sum(line.startswith("+") for line in lines)
        decide = [
            (file.source.place, c)
            for file in self.files
            for c in file.changes
            if c.decide
        ]
        said = [
            f"{_count(len(self.files), 'file')}, {_count(removed, 'line')} replaced by "
            f"{added}, {_count(len(decide), 'comment')} `# TODO(port):`."
        ]
        said += [f"  {place}: {c.theirs}: {c.note}" for place, c in decide]
        tasks = dict(self._tasks(package))
        if tasks:
            said.append("Tasks, for pyproject.toml:")
            said.append('  [project.entry-points."mjlab.tasks"]')
            said += [f'  {task} = "{place}"' for task, place in tasks.items()]
        return "\n".join(said)

    def write_to(self, folder: Path) -> None:
        """Write the new files, with copies of all others, to a new folder.

        Raises:
            FileExistsError: If the folder exists and is not empty.
        """
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise FileExistsError(f"{folder} exists already; name a new folder")
        if self.root.is_dir():
            skipped = shutil.ignore_patterns("__pycache__", "*.pyc", ".git")
            shutil.copytree(self.root, folder, ignore=skipped, dirs_exist_ok=True)
        folder.mkdir(parents=True, exist_ok=True)
        for file in self.files:
            (folder / file.source.place).write_text(file.text, "utf-8")

    def write(self) -> None:
        """Write the new files over the old ones."""
        for file in self.files:
            file.source.path.write_text(file.text, "utf-8")

    def _tasks(self, package: str | None) -> Iterator[tuple[str, str]]:
        """Yield ids and places of tasks, in the package that is written."""
        root = "" if self.root.is_file() else _module_of(self)
        for file in self.files:
            for task, place in file.tasks.items():
                inner = place.removeprefix(root) if package and root else place
                yield task, f"{package}{inner}" if inner != place else place


def _module_of(porting: Porting) -> str:
    """Return the dotted name of a folder, empty if it is no package."""
    found = [
        f.source.module for f in porting.files if f.source.place == Path("__init__.py")
    ]
    return found[0] if found else ""


def _diff(file: Ported) -> Iterator[str]:
    name = str(file.source.place)
    before, after = (
        text.splitlines(keepends=True) for text in (file.source.text, file.text)
    )
    yield from difflib.unified_diff(before, after, f"a/{name}", f"b/{name}")


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"

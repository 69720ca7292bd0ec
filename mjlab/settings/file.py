"""Settings of a run as JSON: the task's id, and leaf values by path.

    {"task": id, "values": {path: leaf}, "names": {path: name}}

and, for a task from a file, "file": {"name": "my_env.py:MyTaskCfg", "sha256": hash}.

Leaves are numbers, strings, paths and collections of these. `names` contains the names
of classes, functions and specs in the configuration. They are compared with the names
in the task, and are never looked up or imported. Reading a file builds the task and
sets its leaves; no code named in the file runs.
"""

import json
import re
import typing
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, is_dataclass, replace
from typing import Any

from mjlab.safe_names import check_name
from mjlab.settings.config import Config
from mjlab.settings.leaves import SettingsFileError as SettingsFileError
from mjlab.settings.leaves import from_leaf, name_of, to_leaf
from mjlab.settings.tree import (
    Parameters,
    Part,
    named,
    parts_of,
    records_of,
    with_part,
)
from mjlab.settings.types import (
    WrongTypeError,
    check_type,
    is_record,
    union_members,
)

SHOWN = 5
"""Maximum number of differences that an error lists."""


class TaskChangedError(SettingsFileError):
    """Raised if the terms or classes of saved settings differ from the current task."""

    def __init__(self, differences: Sequence[str]) -> None:
        """Create the message from one sentence per difference."""
        self.listed = " ".join(differences[:SHOWN])
        """The first differences."""
        if len(differences) > SHOWN:
            self.listed += f" And {len(differences) - SHOWN} more."
        super().__init__(
            f"The task has changed since this was saved. {self.listed} Pass "
            "--accept-changes to use the current task."
        )


@dataclass(frozen=True)
class TaskFile:
    """Python file that defines a task. Its name is only printed, never imported."""

    name: str
    """File and class without a folder, such as "my_env.py:MyTaskCfg"."""

    sha256: str
    """Checksum of the file."""


@dataclass(frozen=True)
class Settings:
    """Saved configurations: leaf values and names by path."""

    values: dict[str, Any]
    """Leaves by path, as JSON."""

    names: dict[str, str]
    """Names of classes, functions and specs by path."""

    file: TaskFile | None = None
    """The file that defines the task, None for an installed task."""

    def terms(self, path: str) -> list[str]:
        """Return the names of the terms at a path such as "env.rewards"."""
        below = [p.rpartition(".") for p in self.names]
        return [name for above, _, name in below if above == path]


def read_out(configs: Mapping[str, Any]) -> Settings:
    """Return the leaves and names of configurations.

    Args:
        configs: Configurations by name, such as "env" and "agent".

    Raises:
        SettingsFileError: If a value is neither a leaf nor has a name.
    """
    values: dict[str, Any] = {}
    names: dict[str, str] = {}
    for path, part in _walk(Part(configs, dict[str, Any]), ""):
        name = name_of(part.value)
        if name is None:
            values[path] = to_leaf(part.value, path)
        else:
            names[path] = name
    return Settings(values, names)


def build(
    task: Mapping[str, Any], saved: Settings, *, accept_changes: bool = False
) -> dict[str, Any]:
    """Return a task's configurations with saved leaf values.

    Args:
        task: Configurations of the current task by name. The saved "agent" can have a
            different class, such as `CloningAgentCfg`.
        saved: Settings from a file.
        accept_changes: Use the current task where terms or classes differ, instead of
            raising.

    Raises:
        TaskChangedError: If terms or classes differ from the current task.
        SettingsFileError: If a leaf has the wrong type.
    """
    reader = _Reader(saved)
    built = {name: reader.build(part, name) for name, part in _roots(task).items()}
    differences = [*reader.differences.values(), *reader.unread()]
    if differences and not accept_changes:
        raise TaskChangedError(differences)
    return built


def check_savable(task: Mapping[str, Any], configs: Mapping[str, Any]) -> Settings:
    """Return the settings of configurations that differ from a task in leaves only.

    A term of the task that the configurations lack is saved as None (switched off).

    Raises:
        SettingsFileError: If terms or classes differ, which a file cannot represent.
    """
    said = read_out(configs)
    reader = _Reader(said)
    for name, part in _roots(task).items():
        reader.build(part, name)
    said.values.update(dict.fromkeys(reader.switched_off, None))
    try:
        build(task, said)
    except SettingsFileError as error:
        reason = error.listed if isinstance(error, TaskChangedError) else error
        raise SettingsFileError(
            "The configuration has terms or classes that its task does not have, and "
            "a run's file stores values only. Put the change into a configuration "
            f"class and train that class. ({reason})"
        ) from error
    return said


def _roots(task: Mapping[str, Any]) -> dict[str, Part]:
    """Return configurations as parts. The agent can have any agent class."""
    roots = {name: Part(value, Any) for name, value in task.items()}
    if "agent" in roots:
        agent = task["agent"]
        classes = [c for c in type(agent).__mro__ if is_dataclass(c) and c != Config]
        roots["agent"] = Part(agent, classes[-1])
    return roots


# Walking.


def _walk(part: Part, path: str) -> Iterator[tuple[str, Part]]:
    """Yield all leaves, records, functions and specs with their paths."""
    if not _has_parts(part):
        yield path, part
        return
    parts = _parts(part)
    if is_record(part.value) or (not parts and path):
        yield path, part
    for name, below in parts.items():
        yield from _walk(below, f"{path}.{name}" if path else name)


def _has_parts(part: Part) -> bool:
    """Return True for a record, and for a collection that can hold records or terms."""
    value = part.value
    if is_record(value):
        return True
    if isinstance(part.annotation, Parameters):
        return True
    if isinstance(value, Mapping):
        return any(map(is_record, value.values())) or _holds_records(part.annotation)
    return isinstance(value, tuple | list) and any(map(is_record, value))


def _holds_records(annotation: Any) -> bool:
    for option in union_members(annotation):
        for inside in typing.get_args(option)[-1:]:
            if any(is_dataclass(member) for member in union_members(inside)):
                return True
    return False


def _parts(part: Part) -> dict[str, Part]:
    """Return the parts directly below, without defaults of a term's parameters."""
    below = parts_of(part)
    if isinstance(part.annotation, Parameters):
        return {name: below[name] for name in part.value}
    return below


def _is_code(value: Any) -> bool:
    """Return True for a function, class or spec; a leaf cannot replace it."""
    return name_of(value) is not None and not is_record(value)


# Reading.


class _Reader:
    """Applies the leaf values of a settings file to a task's configurations."""

    def __init__(self, saved: Settings) -> None:
        self._saved = saved
        self._known = saved.values.keys() | saved.names.keys()
        self._read: set[str] = set()
        self.differences: dict[str, str] = {}
        """Differences between file and task by path, as sentences."""
        self.switched_off: list[str] = []
        """Paths of terms that are in the task but not in the file."""

    def build(self, part: Part, path: str) -> Any:
        """Return a part of the task with its saved leaf values.

        Args:
            part: The part of the current task.
            path: Its dotted path.
        """
        is_empty = self._saved.values.get(path) == {} and _has_parts(part)
        if is_empty:
            self._read.add(path)
        elif path in self._saved.values:
            self._read.add(path)
            saved = self._saved.values[path]
            if _is_code(part.value) and saved is not None:
                self._differ(path, repr(saved), _shown(part.value))
                return part.value
            return from_leaf(saved, part, path)
        if path in self._saved.names:
            self._read.add(path)
            part = self._as_named(part, self._saved.names[path], path)
        elif not _has_parts(part) or is_record(part.value):
            self._differ(path, "nothing", _shown(part.value))
            if type(None) in union_members(part.annotation):
                self.switched_off.append(path)
            return part.value
        return self._below(part, path) if _has_parts(part) else part.value

    def unread(self) -> list[str]:
        """Return a sentence for each saved path that the task does not have."""
        gone = [path for path in self._known - self._read]
        # A missing record is listed without its fields.
        tops = [p for p in gone if p.rpartition(".")[0] not in gone]
        return [
            f"{_printable(path)}: in the file, but not in the current task."
            for path in sorted(tops)
        ]

    def _below(self, part: Part, path: str) -> Any:
        value = part.value
        given = value if isinstance(part.annotation, Parameters) else ()
        for name, below in parts_of(part).items():
            where = f"{path}.{name}" if path else name
            is_said = where in self._known or self._has_below(where)
            # A field that is newer than the file keeps its default.
            is_new_field = is_record(value) and not is_said
            is_default = isinstance(part.annotation, Parameters) and name not in given
            if is_new_field or (is_default and not is_said):
                continue
            new = self.build(below, where)
            if new is not below.value:
                value = with_part(value, name, new)
        if not is_record(value) or value is part.value:
            return value
        try:
            return replace(value)
        except (TypeError, ValueError) as error:
            raise SettingsFileError(f"{path}: {error}") from error

    def _has_below(self, path: str) -> bool:
        return any(known.startswith(f"{path}.") for known in self._known)

    def _as_named(self, part: Part, name: str, path: str) -> Part:
        """Return the part with the saved class, if its annotation allows that class."""
        now = name_of(part.value)
        if now == name:
            return part
        cls = named(records_of(part)).get(name)
        if cls is None:
            self._differ(path, _printable(name), _shown(part.value))
            self._read |= {p for p in self._known if p.startswith(f"{path}.")}
            return Part(part.value, Any)
        kept = vars(part.value) if is_record(part.value) else {}
        shared = {f.name: kept[f.name] for f in fields(cls) if f.name in kept}
        try:
            return Part(cls(**shared), part.annotation)
        except (TypeError, ValueError) as error:
            raise SettingsFileError(f"{path} cannot be {name}: {error}") from error

    def _differ(self, path: str, saved: str, now: str) -> None:
        said = f"{path}: {saved} in the file, {now} in the current task."
        self.differences[path] = said


def _shown(value: Any) -> str:
    name = name_of(value)
    return repr(value) if name is None else name


def _printable(name: str) -> str:
    """Return a name from a file, quoted if it has line breaks or control characters."""
    return name if name.isprintable() else repr(name)


# Files.


def settings_text(task: str, settings: Settings) -> str:
    """Return the content of a run's file.

    Args:
        task: The task's id.
        settings: Its leaves and names.
    """
    data: dict[str, Any] = {"task": task}
    if settings.file is not None:
        data["file"] = asdict(settings.file)
    data |= {"values": settings.values, "names": settings.names}
    return json.dumps(data, indent=1, allow_nan=False) + "\n"


def parse_settings(text: str, where: str) -> tuple[str, Settings]:
    """Return the task's id and the settings of a run's file.

    Args:
        text: The file's content.
        where: Name of the file, for errors.
    """
    try:
        data = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        raise SettingsFileError(f"{where} is not JSON: {error}") from error
    kinds = {"task": str, "values": dict[str, Any], "names": dict[str, str]}
    for name, kind in kinds.items():
        if not isinstance(data, dict) or name not in data:
            raise SettingsFileError(f"{where} has no entry {name!r}.")
        try:
            check_type(data[name], kind, f"{where}: {name}")
        except WrongTypeError as error:
            raise SettingsFileError(str(error)) from error
    file = _task_file(data["file"], where) if "file" in data else None
    return data["task"], Settings(data["values"], data["names"], file)


_TASK_FILE = re.compile(r"(?P<file>.+\.py):(?P<name>[^\W\d]\w*)")


def _task_file(data: Any, where: str) -> TaskFile:
    """Return the task file named in a run; raise if its name or hash is invalid."""
    kinds = {"name": str, "sha256": str}
    if not isinstance(data, dict) or {k: type(v) for k, v in data.items()} != kinds:
        raise SettingsFileError(
            f"{where}: the entry 'file' has to have two texts, 'name' and 'sha256'."
        )
    match = _TASK_FILE.fullmatch(data["name"])
    if match is None or not re.fullmatch("[0-9a-f]{64}", data["sha256"]):
        raise SettingsFileError(
            f"{where}: the entry 'file' has the name {data['name']!r}; it needs a name "
            "FILE.py:CLASS, and a SHA-256 checksum of 64 hexadecimal digits."
        )
    check_name(match["file"], f"{where} names the file", SettingsFileError)
    return TaskFile(data["name"], data["sha256"])

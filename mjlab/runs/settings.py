"""Save a task's settings as text in runs, dumps and recordings, and read them.

Reading builds the installed task and sets its leaf values from the text.
"""

import hashlib
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from mjlab.names import UnknownNameError, suggest
from mjlab.registry import entries, load_task
from mjlab.settings.file import (
    Settings,
    SettingsFileError,
    TaskChangedError,
    TaskFile,
    build,
    check_savable,
    parse_settings,
    read_out,
    settings_text,
)

T = TypeVar("T")


def task_text(
    task_id: str, configs: Mapping[str, Any], *, has_to_fit: bool = True
) -> str:
    """Convert a task id and configurations to text.

    Args:
        task_id: Task id.
        configs: Configurations by name: "env", "agent" or both.
        has_to_fit: Whether to raise if terms or classes differ from the task. If not,
            an error lists the differences when the text is read.

    Raises:
        SettingsFileError: If a value cannot be saved, or the configurations differ from
            the installed task in terms or classes.
    """
    entry = entries().get(task_id)
    if entry is None:
        return settings_text(task_id, read_out(configs))
    found = [
        _saved(name, _makers(task_id, name), cfg, has_to_fit)
        for name, cfg in configs.items()
    ]
    values = {path: value for each in found for path, value in each.values.items()}
    names = {path: name for each in found for path, name in each.names.items()}
    return settings_text(task_id, Settings(values, names, entry.file))


def settings_digest(text: str) -> str:
    """Return the SHA-256 of settings, as stored in checkpoints; "" for no text."""
    return hashlib.sha256(text.encode()).hexdigest() if text else ""


def _saved(
    name: str, makers: list[Callable[[], Any]], cfg: Any, has_to_fit: bool
) -> Settings:
    try:
        return _first(makers, lambda made: check_savable({name: made}, {name: cfg}))
    except SettingsFileError:
        if has_to_fit:
            raise
        return read_out({name: cfg})


def read_task(
    text: str,
    where: str,
    *,
    task: Mapping[str, Any] | None = None,
    accept_changes: bool = False,
) -> dict[str, Any]:
    """Build configurations, by name, from the text of `task_text`.

    Args:
        text: Text to read.
        where: Name of the text's file, for messages.
        task: Default configurations by name. None builds the installed task.
        accept_changes: Use the current task where terms or classes differ, instead of
            raising an error.

    Raises:
        UnknownNameError: If the task is not installed.
        SettingsFileError: If the text is damaged, the task has changed since it was
            saved, or the task is from a file that the user has not named.
    """
    task_id, saved = parse_settings(text, where)
    if task is not None:
        return build(task, saved, accept_changes=accept_changes)
    _check_source(task_id, saved.file, where, accept_changes)
    built: dict[str, Any] = {}
    for name in dict.fromkeys(map(_root, (*saved.names, *saved.values))):
        part = _below(saved, name)
        try:
            makers = _makers(task_id, name)
            built |= _built(name, makers, part, accept_changes=accept_changes)
        except SettingsFileError as error:
            raise SettingsFileError(f"{where}: {error}") from error
    return built


def _check_source(
    task_id: str, file: TaskFile | None, where: str, accept_changes: bool
) -> None:
    """Raise if the task is not available, or if its file has changed since the save.

    The saved file name can come from an untrusted source, so it is only printed.
    """
    table = entries()
    entry = table.get(task_id)
    if file is not None and (entry is None or entry.file is None):
        raise SettingsFileError(
            f"{where} uses task {task_id!r} from a file. Files named in a run are "
            f"never imported: pass it yourself with --task path/to/{file.name}"
        )
    if entry is None:
        raise UnknownNameError(
            f"{where} uses task {task_id!r}, which is not installed. "
            f"{suggest(task_id, list(table))}"
        )
    if entry.file is None or accept_changes:
        return
    if file is None or entry.file.sha256 != file.sha256:
        raise SettingsFileError(
            f"{entry.file.name} differs from the file that {where} was saved with "
            "(SHA-256). Pass --accept-changes to use the current file."
        )


def _built(
    name: str,
    makers: list[Callable[[], Any]],
    saved: Settings,
    *,
    accept_changes: bool,
) -> dict[str, Any]:
    try:
        return _first(makers, lambda made: build({name: made}, saved))
    except TaskChangedError:
        if not accept_changes:
            raise
        return build({name: makers[0]()}, saved, accept_changes=True)


def _makers(task_id: str, name: str) -> list[Callable[[], Any]]:
    """Return the functions that build a configuration of a task, for training first."""
    task = load_task(task_id)
    on_cpu = None if task.on_cpu is None else task.on_cpu.rl
    agents = [make for make in (task.rl, on_cpu) if make is not None]
    makers = {"env": [task.env, task.play], "agent": agents}.get(name)
    if not makers:
        raise SettingsFileError(
            f"Task {task_id!r} has no {name!r}. A task has an 'env' and, if Task.rl "
            "is set, an 'agent'."
        )
    return makers


def _first(makers: list[Callable[[], Any]], attempt: Callable[[Any], T]) -> T:
    """Return the result of the first attempt that succeeds, or raise the first error.

    Args:
        makers: Functions that build a configuration, one per attempt.
        attempt: Function that is called with each configuration.
    """
    errors: list[SettingsFileError] = []
    for make in makers:
        try:
            return attempt(make())
        except SettingsFileError as error:
            errors.append(error)
    raise errors[0]


def _root(path: str) -> str:
    return path.partition(".")[0]


def _below(saved: Settings, name: str) -> Settings:
    def kept(entries: dict[str, Any]) -> dict[str, Any]:
        return {p: v for p, v in entries.items() if _root(p) == name}

    return Settings(kept(saved.values), kept(saved.names))

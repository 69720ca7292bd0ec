"""Tasks from a Python file, without a package: `train.py FILE.py:CLASS`.

Only text typed on a command line is passed to this module. A run stores the name and
the SHA-256 of its file; reading the run imports nothing.
"""

import hashlib
import importlib.util
import re
import sys
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any

from mjlab.names import suggest
from mjlab.registry import Entry, Task, add_task, entries
from mjlab.safe_names import name_fault
from mjlab.settings.file import TaskFile
from mjlab.settings.leaves import IS_TASK_FILE

_FORM = re.compile(r"(?P<file>.*\.py)(?::(?P<name>\w*))?")


class TaskFileError(ValueError):
    """Raised for a file or class that cannot be used as a task."""


def typed_task(words: str) -> str:
    """Return the id of a task named on the command line; import its file, if any.

    Args:
        words: A task's id, or FILE.py:CLASS. Text from a file must not be passed, as
            this function runs the Python file.

    Raises:
        TaskFileError: If the file or class does not exist, the class is not an
            environment configuration, or the import fails.
    """
    match = _FORM.fullmatch(words)
    if match is None:
        return words
    path, name = Path(match["file"]), match["name"] or ""
    module, digest = _import(path)
    value = _find(module, path, name)
    task_id = _id_of(value, path, name)
    known = entries().get(task_id)
    if known is not None and known.file is None:
        raise TaskFileError(
            f"{words} has the id {task_id!r}, which is an installed task of "
            f"{known.origin}. Rename the class."
        )
    file = TaskFile(f"{path.name}:{name}", digest)
    place = f"{path.resolve()}:{name}"
    add_task(Entry(task_id, place, path.name, file), _as_task(value))
    return task_id


def _import(path: Path) -> tuple[ModuleType, str]:
    """Run a Python file as a module of the same name; return the module and SHA-256."""
    if not path.is_file():
        beside = [each.name for each in sorted(path.parent.glob("*.py"))]
        hint = f" {suggest(path.name, beside)}" if beside else ""
        raise TaskFileError(f"{path} does not exist.{hint}")
    data, name = path.read_bytes(), path.stem
    digest = hashlib.sha256(data).hexdigest()
    fault = name_fault(path.name)
    if fault is not None or not name.isidentifier():
        reason = fault or f"{name!r} is not a valid name of a Python module"
        raise TaskFileError(f"{path} cannot be a task: {reason}. Rename the file.")
    # Worker processes import the module by name, and the file can import other files of
    # its folder.
    folder = str(path.parent.resolve())
    if folder not in sys.path:
        sys.path.append(folder)
    _check_free(name, path)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    setattr(module, IS_TASK_FILE, True)
    sys.modules[name] = module
    try:
        # Execute the same bytes that were hashed.
        exec(compile(data, str(path), "exec"), module.__dict__)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise TaskFileError(
            f"{path} cannot be imported ({type(error).__name__}: "
            f"{' '.join(str(error).split())}{_line_of(error, path)})."
        ) from error
    return module, digest


def _check_free(name: str, path: Path) -> None:
    """Raise if another module has the name of the file."""
    if name in sys.modules:
        other = getattr(sys.modules[name], "__file__", None)
    else:
        spec = importlib.util.find_spec(name)
        other = None if spec is None else spec.origin
    if other is None or Path(other).resolve() != path.resolve():
        raise TaskFileError(
            f"{path} has the name of the module {name!r}, which takes precedence. "
            "Rename the file."
        )


def _line_of(error: BaseException, path: Path) -> str:
    """Return the line of the file that raised an error, as the end of a sentence."""
    if isinstance(error, SyntaxError):
        return ""  # A syntax error names the line.
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == str(path)]
    return f", line {lines[-1]}" if lines else ""


def _find(module: ModuleType, path: Path, name: str) -> Any:
    """Return a task or configuration class of a module, by name."""
    names = vars(module)
    if _is_task(names.get(name)):
        return names[name]
    kinds = "a subclass of ManagerBasedRlEnvCfg or a Task object"
    own = [key for key, value in names.items() if _is_task(value, module.__name__)]
    if not own:
        raise TaskFileError(f"{path} defines no task. Define {kinds}.")
    hint = suggest(name, own)
    if not name:
        raise TaskFileError(f"Name a class of the file: {path}:{own[0]}. {hint}")
    if name in names:
        raise TaskFileError(f"{path}:{name} is not {kinds}. {hint}")
    raise TaskFileError(f"{path} has no {name!r}. {hint}")


def _is_task(value: Any, module: str | None = None) -> bool:
    """Return True for a `Task` or an environment configuration class.

    With `module`, a class must be defined in this module.
    """
    from mjlab.envs import ManagerBasedRlEnvCfg

    if isinstance(value, type) and issubclass(value, ManagerBasedRlEnvCfg):
        return module is None or value.__module__ == module
    return isinstance(value, Task)


def _id_of(value: Any, path: Path, name: str) -> str:
    """Return the task id: a class's name without Cfg, or the name of a Task.

    A Task called TASK has the name of its file.
    """
    if isinstance(value, Task):
        return path.stem if name == "TASK" else name
    return name.removesuffix("Cfg") or name


def _as_task(value: Any) -> Task:
    """Return a Task; a configuration class becomes one with default PPO settings."""
    from mjlab.rl import PpoAgentCfg

    if isinstance(value, Task):
        return value
    summary = (value.__doc__ or "").strip().partition("\n")[0]
    return Task(env=value, rl=PpoAgentCfg, summary=summary)

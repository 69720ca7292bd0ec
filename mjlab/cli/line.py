"""Parse the command line of a verb.

`--env.*` and `--agent.*` are settings of the task and are removed first. tyro parses
the remaining words, the options of the verb, and prints the verb's help.
"""

import dataclasses
import inspect
import textwrap
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Generic, TypeVar

import tyro
from tyro.constructors import PrimitiveConstructorSpec

from mjlab.cli.answers import Answer, UsageError, as_called
from mjlab.cli.help import WIDTH, field_texts, reference
from mjlab.registry import entries
from mjlab.runs.find import LOGS, WANDB
from mjlab.settings.bounds import at_least, bounds_of
from mjlab.settings.change import Setting, apply
from mjlab.settings.text import choices, read_value
from mjlab.settings.tree import Part, SettingError
from mjlab.settings.types import field_types, union_members


@dataclass(kw_only=True)
class Options:
    """Options of every verb. The docstring of a subclass is the verb's help."""

    program: ClassVar[str]
    """The verb's script, such as "train.py"."""

    examples: ClassVar[tuple[str, ...]] = ()
    """Arguments to show in the help."""

    of_mjlab: ClassVar[Mapping[str, str]] = {}
    """Replacements for options of the same command in mjlab 1.6, by option name."""

    traceback: bool = False
    """Show where an error was raised, not only its message."""

    @classmethod
    def closing(cls) -> str:
        """Return the last sections of the help, each a heading and its text."""
        return ""


@dataclass(kw_only=True)
class TaskOptions(Options):
    """Base class of options for verbs that take settings of a task."""

    configs: ClassVar[tuple[str, ...]] = ("env",)
    """Configurations that the line can change."""

    num_envs: Annotated[int | None, at_least(1)] = None
    """Number of worlds (same as --env.scene.num-envs)."""

    disable: tuple[str, ...] = ()
    """Disable terms, such as rewards.foot_slip."""

    help_config: str | bool = False
    """List the settings of a part (env.rewards), or all parts."""

    @classmethod
    def closing(cls) -> str:
        """Return the last section of the help: the names of all tasks."""
        return f"tasks:\n{', '.join(entries())}"


T = TypeVar("T", bound=Options)


@dataclass(frozen=True)
class Line(Generic[T]):
    """A parsed command line."""

    options: T
    """Options of the verb."""

    settings: tuple[Setting, ...] = ()
    """Settings of the task, in the order of the line."""

    def sets(self, name: str) -> bool:
        """True if the command line sets the setting of this name."""
        return any(setting.name == name for setting in self.settings)

    @property
    def sets_recorders(self) -> bool:
        """True if the line configures recorders.

        Otherwise, recorders of a run are used only in training: they write files, and
        the run can come from another person.
        """
        parts = ("env.recorders.", "env.recording.")
        return any(f"{setting.name}.".startswith(parts) for setting in self.settings)

    def apply(self, configs: Mapping[str, Any]) -> dict[str, Any]:
        """Return configurations with the settings of the line.

        Raises:
            Answer: If the line asks for a list of settings (--help-config).
            SettingError: If a setting does not exist, or its value is invalid.
        """
        assert isinstance(self.options, TaskOptions), "This verb takes no settings."
        found = apply(dict(configs), self.settings, self.options.disable)
        part = self.options.help_config
        if part is not False:
            raise Answer(reference(found, "" if part is True else str(part)))
        return found


def read_line(options: type[T], arguments: Sequence[str]) -> Line[T]:
    """Parse a command line.

    Args:
        options: Class of the verb's options.
        arguments: The words.

    Raises:
        UsageError: If an option or its value is wrong.
        SystemExit: After tyro printed the help or an error.
    """
    own, settings = _split(options, arguments)
    defaults = options()
    # Order in the help: the verb's own options, then options of its base classes, then
    # options that all verbs share.
    own_names, shared = options.__annotations__, field_types(TaskOptions)
    fields = sorted(
        dataclasses.fields(options),
        key=lambda f: (f.name not in own_names, f.name in shared),
    )
    annotated = [
        (f.name, _argument(options, f.name, getattr(defaults, f.name)), f)
        for f in fields
    ]
    description = ""
    if {"-h", "--help"} & set(own):
        description = _description(options)
    found = tyro.cli(
        dataclasses.make_dataclass(options.__name__, annotated, kw_only=True),
        prog=as_called(options.program),
        description=description,
        args=own,
    )
    for value in vars(found).values():
        if isinstance(value, SettingError):
            raise value
    for name, bound in bounds_of(options).items():
        bound.check(getattr(found, name), f"--{_option(name)}")
    logs = getattr(found, "logs", LOGS)
    values: dict[str, Any] = {
        name: Path(_here(str(value), logs)) if isinstance(value, Path) else value
        for name, value in vars(found).items()
    }
    made = options(**values)
    if isinstance(made, TaskOptions) and made.num_envs is not None:
        settings.append(Setting("env.scene.num-envs", [str(made.num_envs)]))
    changed = [Setting(s.option, [_here(w, logs) for w in s.values]) for s in settings]
    return Line(made, tuple(changed))


def positional(options: type[Options]) -> str:
    """Return the name of a verb's positional argument; empty if it has none."""
    for name, hint in typing.get_type_hints(options, include_extras=True).items():
        if _POSITIONAL in getattr(hint, "__metadata__", ()):
            return name
    return ""


def _here(word: str, logs: Path) -> str:
    """Return the argument unchanged, or the local path of a downloaded W&B artifact."""
    if not word.startswith(WANDB):
        return word
    from mjlab.runs.wandb import fetch

    return str(fetch(word, logs))


_POSITIONAL = typing.get_args(tyro.conf.Positional[int])[1]


def _split(
    options: type[Options], arguments: Sequence[str]
) -> tuple[list[str], list[Setting]]:
    """Separate the arguments for tyro from the settings of the task."""
    kinds = field_types(options)
    known = {"help", *(name.rstrip("_") for name in kinds)}
    configs = options.configs if issubclass(options, TaskOptions) else ()
    own: list[str] = []
    # Values of a repeated option, such as --disable, are collected.
    many: dict[str, list[str]] = {}
    settings: list[Setting] = []
    values, flag = own, ""
    for word in arguments:
        if not word.startswith("--"):
            if flag and word.lower() in ("true", "false"):
                raise UsageError(_no_value(options, flag, word))
            values.append(word)
            continue
        option, has_value, value = word.removeprefix("--").partition("=")
        name = option.replace("-", "_")
        flag = name.removeprefix("no_")
        flag = flag if kinds.get(flag) is bool else ""
        if name in options.of_mjlab:
            raise UsageError(
                f"--{option} is an option of mjlab 1.6. Here, {options.of_mjlab[name]}."
            )
        if option.partition(".")[0] in configs:
            values = [value] if has_value else []
            settings.append(Setting(option, values))
        elif "." in option:
            raise UsageError(_no_setting(option, configs))
        elif name not in known and (config := _config_with(name, configs)):
            raise UsageError(
                f"Unknown option '--{option}'. It is a setting of the task: type "
                f"--{config}.{option}."
            )
        elif _is_tuple(kinds.get(name)) and not has_value:
            values = many.setdefault(word, [])
        else:
            values = own
            values.append(word)
    for option, words in many.items():
        own += [option, *words]
    return own, settings


def _no_setting(option: str, configs: Sequence[str]) -> str:
    if not configs:
        return f"Unknown option '--{option}': this command takes no settings of a task."
    begins = " or ".join(f"--{config}." for config in configs)
    return f"Unknown option '--{option}'. Settings of the task start with {begins}"


def _config_with(name: str, configs: Sequence[str]) -> str | None:
    """Return the configuration with this field, or None."""
    # Imported here: only unknown options need them.
    from mjlab.envs import ManagerBasedRlEnvCfg
    from mjlab.rl import PpoAgentCfg

    kinds = {"env": ManagerBasedRlEnvCfg, "agent": PpoAgentCfg}
    fitting = (config for config in configs if name in field_types(kinds[config]))
    return next(fitting, None)


def _no_value(options: type[Options], flag: str, word: str) -> str:
    """Return the error message if a flag, such as --resume, is followed by a value."""
    option = _option(flag)
    off = f"--no-{option}" if getattr(options(), flag) else "omit it"
    return f"--{option} takes no value, not {word!r}. Type --{option} alone, or {off}."


def _option(name: str) -> str:
    """Return the option of a field; `try_` is the field of --try."""
    return name.rstrip("_").replace("_", "-")


def _argument(options: type[Options], name: str, default: Any) -> Any:
    """Return tyro's annotation of a field: how values are parsed and shown."""
    kind = field_types(options)[name]
    # None is the default of an omitted option; it cannot be typed.
    members = [each for each in union_members(kind) if each is not type(None)]
    typed = typing.Union[tuple(members)]  # noqa: UP007
    option = _option(name)
    argument = tyro.conf.arg(
        name=option,
        help=as_called(field_texts(options).get(name, "")),
        help_behavior_hint=_default_text(default),
    )
    if kind is bool and default:
        return Annotated[bool, argument]  # --name and --no-name
    if kind is bool:
        return Annotated[bool, tyro.conf.FlagCreatePairsOff, argument]

    def read(words: list[str]) -> Any:
        try:
            return read_value(option, words, Part(default, typed))
        except SettingError as error:
            return error  # tyro would put it into a longer message; see `read_line`.

    is_positional = name == positional(options)
    spec = PrimitiveConstructorSpec(
        nargs="*" if _takes_more_than_one_word(kind) else 1,
        metavar=option.upper() if is_positional else _metavar(kind),
        instance_from_str=read,
        is_instance=lambda value: True,
        str_from_instance=lambda value: [str(value)],
    )
    annotation = Annotated[kind, spec, argument]
    return tyro.conf.Positional[annotation] if is_positional else annotation


def _takes_more_than_one_word(kind: Any) -> bool:
    return bool in union_members(kind) or _is_tuple(kind)


def _is_tuple(kind: Any) -> bool:
    return any(typing.get_origin(member) is tuple for member in union_members(kind))


def _metavar(kind: Any) -> str:
    """Return the placeholder for an option's values in the help, such as INT."""
    if names := choices(kind):
        return f"{{{','.join(names)}}}"
    shown = []
    for member in union_members(kind):
        arguments = typing.get_args(member)
        if Ellipsis in arguments:
            shown.append(f"{_metavar(arguments[0])} ...")
        elif arguments:
            shown.append(" ".join(map(_metavar, arguments)))
        elif member not in (type(None), bool):
            shown.append("TEXT" if member is str else member.__name__.upper())
    return "|".join(shown)


def _default_text(default: Any) -> str:
    """Return the default value for the help; empty if it is not shown."""
    if isinstance(default, tuple):
        return f"(default: {' '.join(map(str, default))})" if default else ""
    is_shown = default is not None and default != "" and not isinstance(default, bool)
    return f"(default: {default})" if is_shown else ""


def _description(options: type[Options]) -> str:
    summary, *more = inspect.cleandoc(options.__doc__ or "").split("\n\n")
    parts = [summary, *map(_indented, more)]
    if issubclass(options, TaskOptions):
        paths = " and ".join(f"--{config}.PATH VALUE" for config in options.configs)
        parts.append(
            f"settings of the task:\n  {paths}, such as --env.scene.num-envs 4096."
        )
    if options.examples:
        shown = [
            f"{options.program} {example}".rstrip() for example in options.examples
        ]
        parts.append("\n  ".join(["examples:", *shown]))
    for section in filter(None, options.closing().split("\n\n")):
        heading, _, listed = section.partition("\n")
        parts.append(f"{heading}\n{_indented(listed)}")
    # tyro adds an empty line above a paragraph that is indented.
    text = "\n\n".join(parts).replace("\n\n  ", "\n  ")
    return as_called(text)


def _indented(text: str) -> str:
    """Wrap a paragraph. tyro would join lines that are not indented."""
    plain, indent = " ".join(text.split()), "  "
    return textwrap.fill(
        plain,
        WIDTH,
        initial_indent=indent,
        subsequent_indent=indent,
        break_on_hyphens=False,
    )

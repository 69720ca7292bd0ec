"""A command line, taken apart without knowing any configuration.

    train.py TASK --name walk --env.rewards.upright.weight 2.0 --disable rewards.slip

An option begins with two dashes, and takes what follows up to the next one. Dashes
within a name are underscores. `--option=value` is the same as `--option value`.
"""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mjlab.cli.answers import Answer, UsageError
from mjlab.cli.help import Option, short_help
from mjlab.names import suggest
from mjlab.settings.change import Setting, apply

HELP = ("help", "h")
HELP_CONFIG = "help_config"
DISABLE = "disable"
ELSEWHERE = "wandb:"
"""First letters of a place that is an artifact of Weights & Biases."""
SHORT = {"num_envs": "env.scene.num-envs"}
"""What programs without an option of this name take it for."""


@dataclass(frozen=True, kw_only=True)
class Program:
    """The name and the arguments of a program."""

    name: str
    """File name, such as "train.py"."""

    summary: str
    """What it does, in a sentence."""

    subject: str | None
    """What its first argument is, such as "TASK". None takes no such argument."""

    options: Any
    """Dataclass of its own options, which has a default and a docstring for each."""

    configs: tuple[str, ...] = ()
    """Configurations that dotted options reach into, such as "env"."""

    examples: tuple[str, ...] = ()
    """Arguments to show."""


@dataclass(frozen=True)
class Line:
    """A command line, read."""

    subject: str | None
    """The first argument."""

    options: Any
    """The program's own options."""

    settings: tuple[Setting, ...]
    """Values for configurations, in the order of the line."""

    disabled: tuple[str, ...]
    """Terms to switch off."""

    reference: str | None
    """The part of the configuration to explain instead of running, if any."""

    def sets(self, name: str) -> bool:
        """Return whether the line gives a value to a part of a configuration."""
        return any(setting.name == name for setting in self.settings)

    @property
    def sets_recorders(self) -> bool:
        """True if the line sets what recorders write, or where.

        Otherwise nothing but training follows the recorders of a run, which can be
        another person's.
        """
        parts = ("env.recorders.", "env.recording.")
        return any(f"{setting.name}.".startswith(parts) for setting in self.settings)


def read_line(
    program: Program, arguments: Sequence[str], closing: Sequence[str] = ()
) -> Line:
    """Take the arguments of a program apart.

    Args:
        program: Who was called.
        arguments: What was typed.
        closing: Last lines of the help.

    Raises:
        Answer: With the help, if that is what was asked for.
        UsageError: With the nearest names, for an option that there is not.
    """
    subjects, settings = _split(arguments)
    if any(setting.name in HELP for setting in settings) or "-h" in subjects:
        raise Answer(help_text(program, closing))
    settings = [_written_out(program, setting) for setting in settings]
    _check_options(program, settings)
    subjects, settings = _fetched(subjects, settings)
    return Line(
        subject=_subject(program, subjects),
        options=_own_options(program, settings),
        settings=tuple(s for s in settings if _root(s) in program.configs),
        disabled=tuple(v for s in settings if s.name == DISABLE for v in s.values),
        reference=_reference(settings),
    )


def help_text(program: Program, closing: Sequence[str]) -> str:
    """The short help of a program."""
    usage = [program.name, program.subject, "[options]"]
    return short_help(
        usage=" ".join(part for part in usage if part),
        summary=program.summary,
        options=options_of(program),
        examples=[f"{program.name} {example}" for example in program.examples],
        closing=closing,
    )


def options_of(program: Program) -> list[Option]:
    """Options of a program, but for those that every program has."""
    own = dataclasses.fields(program.options)
    options = [Option.of(program.options, field) for field in own]
    if program.configs:
        names = [field.name for field in own]
        if "env" in program.configs and "num_envs" not in names:
            options.append(_NUM_ENVS)
        options += [_CONFIG_OPTIONS[config] for config in program.configs]
        options += _TERM_OPTIONS
    return options


_CONFIG_OPTIONS = {
    "env": Option(
        "--env.PART ...", "Value of any part of the environment's configuration."
    ),
    "agent": Option(
        "--agent.PART ...", "Value of any part of the learner's configuration."
    ),
}
_NUM_ENVS = Option("--num-envs NUMBER", "Worlds; short for --env.scene.num-envs.")
_TERM_OPTIONS = [
    Option("--disable TERM ...", "Switch terms off, such as rewards.foot_slip."),
    Option("--help-config [PART]", "All parts below one, such as env.rewards."),
]


def _split(arguments: Sequence[str]) -> tuple[list[str], list[Setting]]:
    """Return what comes before the first option, and the options with their values."""
    subjects: list[str] = []
    settings: list[Setting] = []
    values = subjects
    for argument in arguments:
        if not argument.startswith("--"):
            values.append(argument)
            continue
        option, has_value, value = argument.removeprefix("--").partition("=")
        values = [value] if has_value else []
        settings.append(Setting(option, values))
    return subjects, settings


def _written_out(program: Program, setting: Setting) -> Setting:
    """A setting without abbreviation: `--no-exact`, or `--num-envs` of the scene."""
    own = {f.name: f.type for f in dataclasses.fields(program.options)}
    # Python keeps some names for itself: of `--try`, the field is `try_`.
    if f"{setting.name}_" in own:
        return Setting(f"{setting.option}_", setting.values)
    switch = setting.name.removeprefix("no_")
    is_switch = own.get(switch) is bool and switch != setting.name
    if is_switch and not setting.values:
        return Setting(switch, ["False"])
    if setting.name == "num_envs" and "worlds" in own:
        return Setting("worlds", setting.values)
    if "env" in program.configs and setting.name not in own:
        return Setting(SHORT.get(setting.name, setting.option), setting.values)
    return setting


def _fetched(
    subjects: list[str], settings: list[Setting]
) -> tuple[list[str], list[Setting]]:
    """Subjects and settings with artifacts of W&B as what they are on this machine."""
    given = [*subjects, *(value for each in settings for value in each.values)]
    if not any(value.startswith(ELSEWHERE) for value in given):
        return subjects, settings
    from mjlab.rl.wandb import fetch

    named = (s.values[0] for s in settings if s.name == "logs" and s.values)
    logs = Path(next(named, "logs"))

    def here(values: Sequence[str]) -> list[str]:
        return [str(fetch(v, logs)) if v.startswith(ELSEWHERE) else v for v in values]

    return here(subjects), [Setting(s.option, here(s.values)) for s in settings]


def _check_options(program: Program, settings: Sequence[Setting]) -> None:
    own = [field.name for field in dataclasses.fields(program.options)]
    special = [HELP_CONFIG, DISABLE] if program.configs else []
    for setting in settings:
        root = _root(setting)
        if root in (*own, *special, *program.configs):
            continue
        short = SHORT if "env" in program.configs else ()
        known = (name.rstrip("_") for name in (*own, *special, *short, "help"))
        names = [f"--{name}".replace("_", "-") for name in known]
        everything = f"{program.name} --help lists the options."
        hint = suggest(f"--{setting.option}", names, otherwise=everything)
        if program.configs and "." in setting.name:
            roots = " or ".join(f"--{config}." for config in program.configs)
            hint = f"What is in the configuration begins with {roots}"
        raise UsageError(f"There is no option '--{setting.option}'. {hint}")


def _subject(program: Program, subjects: Sequence[str]) -> str | None:
    most = 0 if program.subject is None else 1
    if len(subjects) > most:
        said = "takes no argument" if not most else f"takes one {program.subject}"
        raise UsageError(
            f"{program.name} {said} before its options, and {subjects[most]!r} is one "
            "too many. Options begin with two dashes."
        )
    return subjects[0] if subjects else None


def _own_options(program: Program, settings: Sequence[Setting]) -> Any:
    own = {field.name for field in dataclasses.fields(program.options)}
    chosen = [setting for setting in settings if _root(setting) in own]
    return apply(program.options(), chosen) if chosen else program.options()


def _reference(settings: Sequence[Setting]) -> str | None:
    for setting in settings:
        if setting.name == HELP_CONFIG:
            return ".".join(setting.values).removeprefix("--")
    return None


def _root(setting: Setting) -> str:
    return setting.name.partition(".")[0]

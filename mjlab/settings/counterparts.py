"""Tables of names, fields and members of another framework with counterparts here."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

SAME = "..."
"""`Replacement.value` if only the name changes, even if there is a note."""


class Replacement(NamedTuple):
    """Counterpart of a name, a field or a member of the other project."""

    ours: str
    """Counterpart in this package, empty if there is none."""

    note: str = ""
    """Difference between the two, or an instruction."""

    value: str = ""
    """Python expression for the new value, in which `...` stands for the old value,
    such as `len(...)`. If empty, `note` describes the new value; without a note, the
    value is unchanged."""

    omit: bool = False
    """True if the name is removed without a replacement. The note is the reason."""

    option: str = ""
    """Option to type instead on a command line, if it does not follow from `ours`."""

    is_attribute: bool = False
    """True for a method whose counterpart is an attribute: the call is removed."""

    @property
    def keeps_value(self) -> bool:
        """True if only the name changes."""
        is_same = self.value == SAME or not (self.value or self.note)
        return self.ours.isidentifier() and is_same

    @property
    def template(self) -> str:
        """Python expression for the new value; empty if the value is unchanged."""
        return "" if self.value == SAME else self.value

    @property
    def words(self) -> str:
        """New value and note, in words."""
        value = f"`{self.template}`" if self.template else ""
        said = ", ".join(filter(None, (value, self.note)))
        if self.omit:
            return f"omit it: {said}" if said else "omit it"
        return said

    def typed(self, where: str) -> str:
        """Return the option to type instead of a setting, empty if there is none.

        Args:
            where: Dotted path of the record with the setting, such as "agent".
        """
        if self.option or not (self.keeps_value or self.template):
            return self.option
        key = self.value.partition("(")[2].partition("=...")
        path = [where, self.ours, *([key[0]] if key[1] else [])]
        return f"--{'.'.join(path)}".replace("_", "-")

    def text(self) -> str:
        """Return the replacement in words."""
        if not self.ours:
            return self.words
        return f"use `{self.ours}`" + (f" ({self.words})" if self.words else "")


Rows = Mapping[str, tuple[str, str] | Replacement]
"""Counterpart and note, by name."""


@dataclass(frozen=True)
class Package:
    """Package of the other project, and its counterpart here."""

    names: str
    """Names that task files import from the package, separated by spaces."""

    ours: str
    """Package of this project that has most of the counterparts."""


@dataclass(frozen=True)
class Counterpart:
    """Name of the other project, and its counterpart."""

    theirs: str
    """Dotted name in the other project."""

    ours: str
    """Dotted name in this package; empty if there is no counterpart."""

    differs: str
    """Difference, in words; empty for none."""

    omit: bool = False
    """True if uses of the name are removed. The difference is the reason."""

    @property
    def is_same(self) -> bool:
        """True if the dotted name stays the same, with no difference to note."""
        return self.theirs == self.ours and not self.differs


@dataclass(frozen=True)
class Project:
    """Framework whose tasks `mjlab port` can convert."""

    title: str
    """Name of the framework."""

    roots: tuple[str, ...]
    """Top-level packages, of the framework and of its tasks."""

    packages: Mapping[str, Package]
    """Packages of its reference pages, by dotted name."""

    task_packages: Mapping[str, Package]
    """Further packages that task files import from."""

    otherwise: Rows
    """Counterpart and difference, by name, for names that `Package.ours` does not
    define with the same meaning."""

    fields: Mapping[str, Mapping[str, Replacement]] = field(default_factory=dict)
    """Replacements of fields by class of this package, and of parameters by function.
    The entries of a class also apply to its subclasses; entries of "" apply to every
    class."""

    members: Mapping[str, Replacement] = field(default_factory=dict)
    """Replacements of methods and attributes. A key can name the owner too, such as
    `env.render`."""

    def all_packages(self) -> dict[str, Package]:
        """Return all packages by dotted name."""
        return {**self.packages, **self.task_packages}

    def has(self, module: str) -> bool:
        """True if a module belongs to this project."""
        return module.partition(".")[0] in self.roots

    def replacement(self, name: str) -> Replacement | None:
        """Return the replacement of a name, None if it is the same here."""
        row = self.otherwise.get(name)
        if row is None or isinstance(row, Replacement):
            return row
        ours, note = row
        return Replacement(ours, note)

    def row(self, module: str, name: str) -> Counterpart | None:
        """Return the counterpart of a name in a module, None if it is not listed."""
        packages = self.all_packages()
        for package in self._candidates(module):
            if package in packages and name in packages[package].names.split():
                same = Replacement(f"{packages[package].ours}.{name}")
                row = self.replacement(name) or same
                theirs = f"{module}.{name}"
                return Counterpart(theirs, row.ours, row.note, row.omit)
        return None

    def field(self, owners: Sequence[str], name: str) -> Replacement | None:
        """Return the replacement of a field or a parameter, None if it is not listed.

        Args:
            owners: Names of the class and of its bases here, the class first, or the
                name of the function.
            name: Name of the field or the parameter.
        """
        rows = (self.fields.get(owner, {}).get(name) for owner in (*owners, ""))
        return next((row for row in rows if row is not None), None)

    def _candidates(self, module: str) -> Iterator[str]:
        """Yield packages that can contain a module's names, the most specific first.

        A task's own `mdp` module imports the terms of the library, so the library's
        `mdp` package is a candidate for its names too.
        """
        parts = module.split(".")
        yield from (".".join(parts[:cut]) for cut in range(len(parts), 0, -1))
        if parts[-1] == "dr":
            yield f"{self.roots[0]}.envs.mdp.dr"
        elif "mdp" in parts:
            yield f"{self.roots[0]}.envs.mdp"

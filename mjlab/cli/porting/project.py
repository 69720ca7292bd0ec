"""A project of others: its packages, and ours for each of their names."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Package:
    """A package of theirs."""

    names: str
    """All that its reference page names, or as far as task files import them."""

    ours: str
    """The package here that has most of them."""


@dataclass(frozen=True)
class Counterpart:
    """A name of theirs, and ours."""

    theirs: str
    """Their dotted name."""

    ours: str
    """Our dotted name; empty where there is no counterpart."""

    differs: str
    """The difference, in words; empty for none."""

    @property
    def is_same(self) -> bool:
        """True if nothing is to be done, wherever the name is imported from."""
        return self.theirs == self.ours and not self.differs


@dataclass(frozen=True)
class Project:
    """A framework whose tasks can be ported."""

    title: str
    """What it is called."""

    roots: tuple[str, ...]
    """The packages at its top, and those that have its tasks."""

    packages: Mapping[str, Package]
    """Packages of its reference pages, by dotted name."""

    task_packages: Mapping[str, Package]
    """Packages that task files import from besides."""

    otherwise: Mapping[str, tuple[str, str]]
    """Ours and what differs, of each name that is not the same in `Package.ours`."""

    def all_packages(self) -> dict[str, Package]:
        """Return all packages by dotted name."""
        return {**self.packages, **self.task_packages}

    def has(self, module: str) -> bool:
        """Return whether a module is of this project."""
        return module.partition(".")[0] in self.roots

    def row(self, module: str, name: str) -> Counterpart | None:
        """Return the row of a name that stands in a module, None if there is none."""
        packages = self.all_packages()
        for package in self._candidates(module):
            if package in packages and name in packages[package].names.split():
                same = (f"{packages[package].ours}.{name}", "")
                ours, differs = self.otherwise.get(name, same)
                return Counterpart(f"{module}.{name}", ours, differs)
        return None

    def _candidates(self, module: str) -> Iterator[str]:
        """Yield packages that may have what a module has, the nearest first.

        A term that is not of a task's own `mdp` is of the library, which it imports.
        """
        parts = module.split(".")
        yield from (".".join(parts[:cut]) for cut in range(len(parts), 0, -1))
        if "mdp" in parts:
            yield f"{self.roots[0]}.envs.mdp"

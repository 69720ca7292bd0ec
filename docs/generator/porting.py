"""Tables of all names of mjlab 1.6 and Isaac Lab beside ours.

The lists of `mjlab/cli/porting` are those that the projects' own reference pages name
(mjlab 1.6.0; Isaac Lab 2.3, `isaaclab.managers` and `isaaclab.envs.mdp`), and what
task files import besides. `tests/house/test_porting.py` imports every name of ours, and
finds each of theirs in exactly one row.
"""

from collections.abc import Mapping

from generator.pages import table
from mjlab.cli.porting.isaaclab_names import ISAAC_LAB
from mjlab.cli.porting.mjlab_names import MJLAB
from mjlab.cli.porting.project import Package, Project


def names_part(which: str) -> str:
    """Tables of all names of a project, by package; of task files after `tasks`."""
    name, _, only = which.partition(" ")
    project = {"mjlab": MJLAB, "isaaclab": ISAAC_LAB}[name]
    packages = project.task_packages if only else project.packages
    return _tables(project, packages)


def _tables(project: Project, packages: Mapping[str, Package]) -> str:
    parts = []
    for package, their in packages.items():
        names = their.names.split()
        same = [name for name in names if name not in project.otherwise]
        count = f"{len(names)} name{'s' * (len(names) > 1)}"
        parts.append(f"**{package}**: {count}.\n")
        if same:
            listed = ", ".join(f"`{name}`" for name in same)
            parts.append(f"The same in `{their.ours}`: {listed}.\n")
        rows = [
            [f"`{name}`", f"`{ours}`" if ours else "none", differs]
            for name in names
            if name in project.otherwise
            for ours, differs in [project.otherwise[name]]
        ]
        if rows:
            parts.append(table(["Theirs", "Here", "What differs"], rows) + "\n")
    return "\n".join(parts).rstrip()

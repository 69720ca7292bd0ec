"""Changes that a task file of another project needs, by line; the file is never run."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from mjlab.cli.porting.isaaclab_names import ISAAC_LAB
from mjlab.cli.porting.mjlab_members import ENV_MEMBERS, MEMBERS
from mjlab.cli.porting.mjlab_names import MJLAB
from mjlab.cli.porting.project import Counterpart, Project
from mjlab.settings.mjlab_fields import REPLACED

PROJECTS = (MJLAB, ISAAC_LAB)

UNKNOWN = "unknown"
NONE = "no counterpart"
LEAVE_OUT = "omit it"

_OF_TERRAIN = {
    "terrain_type": ("kind", ""),
    "terrain_generator": ("generator", ""),
}
FIELDS = {
    "asset_name": ("entity_name", ""),
    **_OF_TERRAIN,
    "origin_type": (LEAVE_OUT, "a camera with an `entity` follows it"),
    "experiment_name": (LEAVE_OUT, "runs are named by task and time"),
    "save_interval": (LEAVE_OUT, "set in `checkpoint`"),
    "walking_threshold": ("speeds", "one ascending pair"),
    "running_threshold": ("speeds", "one ascending pair"),
    "eye": ("distance", "with `azimuth` and `elevation`, around the look-at point"),
    "render_interval": (LEAVE_OUT, "viewers render at their own rate"),
    "replicate_physics": (LEAVE_OUT, "all worlds have the same model"),
    "spawn": ("source", "a path to MJCF or URDF"),
    "prim_path": (LEAVE_OUT, "entities and sensors are named by their keys"),
    "env_ids": (
        "mask",
        "a bool tensor of shape (num_envs,); `env_ids` works, but breaks the CUDA "
        "graph",
    ),
}
"""Fields and parameters of the other projects by name: counterpart and reason."""

_OF_MJLAB_VIEWER = {
    "entity_name": ("entity", ""),
    "body_name": ("body", ""),
    "env_idx": ("world", ""),
}
_OF_ISAAC_LAB_VIEWER = {
    "asset_name": ("entity", ""),
    "body_name": ("body", ""),
    "env_index": ("world", ""),
}
FIELDS_OF = {
    "ViewerConfig": _OF_MJLAB_VIEWER,
    "ViewerCfg": _OF_ISAAC_LAB_VIEWER,
    "terrain": _OF_TERRAIN,
    "viewer": _OF_MJLAB_VIEWER | _OF_ISAAC_LAB_VIEWER,
}
"""Fields by the class or attribute that has them: counterpart and reason. Reads of them
are found too."""

_BASES = {
    "ActuatorCfg": "ActuatorCfg",
    "ActionCfg": "DrivenActionCfg",
    "TerrainCfg": "SubTerrainCfg",
}
"""Base class here, by the ending of the names of mjlab's classes."""

_OF_RSL_RL = {
    "RslRlBaseRunnerCfg": "AgentCfg",
    "RslRlOnPolicyRunnerCfg": "AgentCfg",
    "RslRlModelCfg": "MlpModelCfg",
    "RslRlPpoAlgorithmCfg": "PpoCfg",
}
"""Class here with the rows of mjlab's classes that keep their name."""

_WAITS = {
    "item": "synchronises with the device: keep a tensor, or use `torch.where`",
    "nonzero": "synchronises with the device: use a mask, and `torch.where`",
}
"""Methods that a term must not call, with the reason."""

_HERE_TOO = "mjlab.envs.mdp"
"""Package of the other project whose path also exists here."""


@dataclass(frozen=True, order=True)
class Change:
    """Change that a file needs."""

    line: int
    """Line number, from 1."""

    theirs: str
    """Text in the file."""

    ours: str
    """Replacement, or `UNKNOWN`."""

    differs: str = ""
    """Difference in meaning, or the reason."""

    def text(self, path: str) -> str:
        """Return the change as a line for the user."""
        more = f" ({self.differs})" if self.differs else ""
        return f"{path}:{self.line}: {self.theirs} -> {self.ours}{more}"


@dataclass(frozen=True)
class Reading:
    """Result of reading a file."""

    changes: tuple[Change, ...]
    """Changes and unknown names, by line."""

    def text(self, path: str) -> str:
        """Return all lines for the user, with a count at the end."""
        unknown = {c.theirs for c in self.changes if c.ours == UNKNOWN}
        lines = {c.line for c in self.changes if c.ours != UNKNOWN}
        said = [change.text(path) for change in self.changes]
        said.append(
            f"{_count(len(lines), 'line')} to change, "
            f"{_count(len(unknown), 'name')} unknown."
        )
        return "\n".join(said)


def read_task(text: str) -> Reading:
    """Read a task file of mjlab 1.6 or Isaac Lab; SyntaxError if it is invalid."""
    tree = ast.parse(text)
    imports = {name: dotted for name, dotted, _ in _imports(tree)}
    found = {*_of_imports(tree), *_of_uses(tree, imports), *_of_fields(tree, imports)}
    return Reading(tuple(sorted(found)))


def _imports(tree: ast.Module) -> Iterator[tuple[str, str, ast.stmt]]:
    """Yield local name, dotted name and statement of each import of theirs."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            of_them = [alias for alias in node.names if _project(alias.name)]
            for alias in of_them:
                bound = alias.asname or alias.name.partition(".")[0]
                yield bound, alias.name if alias.asname else bound, node
        elif isinstance(node, ast.ImportFrom) and _project(_source(node)):
            for alias in node.names:
                yield alias.asname or alias.name, f"{node.module}.{alias.name}", node


def _source(node: ast.ImportFrom) -> str:
    """Return the module of an import; empty for relative imports."""
    return "" if node.level or node.module is None else node.module


def _of_imports(tree: ast.Module) -> Iterator[Change]:
    """Yield changes of the import statements."""
    for _, dotted, node in _imports(tree):
        module, _, name = dotted.rpartition(".")
        if isinstance(node, ast.Import):
            whole = next(a.name for a in node.names if a.name.startswith(dotted))
            yield from _of_module(whole, node.lineno)
        elif name == "*":
            yield from _of_module(module, node.lineno)
        else:
            yield from _of_name(module, name, node.lineno)


def _of_module(module: str, line: int) -> Iterator[Change]:
    """Yield changes of a module imported as a whole."""
    project = _project(module)
    assert project is not None, "Only names of supported projects are passed."
    package = project.all_packages().get(module)
    is_library = module.startswith(f"{project.roots[0]}.envs")
    if "mdp" in module.split(".") and not is_library:
        own = f"`from {package.ours} import *`" if package else ("the task's own terms")
        text = f"with `from mjlab.mdp import *` and {own}"
        yield Change(line, module, "your own file `mdp.py`", text)
    elif package is None:
        yield Change(line, module, UNKNOWN)
    elif package.ours != module and not module.startswith(_HERE_TOO):
        yield Change(line, module, package.ours)


def _of_name(module: str, name: str, line: int) -> Iterator[Change]:
    """Yield changes of a name imported from a module."""
    dotted = f"{module}.{name}"
    project, row = _project(module), _row(module, name)
    assert project is not None, "Only names of supported projects are passed."
    if dotted in project.all_packages() or name == "mdp":
        yield from _of_module(dotted, line)
    elif row is None:
        yield Change(line, dotted, UNKNOWN)
    elif not row.is_same:
        yield _change(row, line, dotted, row.ours)


def _of_uses(tree: ast.Module, imports: dict[str, str]) -> Iterator[Change]:
    """Yield changes where a name is used."""
    inner = {id(n.value) for n in ast.walk(tree) if isinstance(n, ast.Attribute)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute | ast.Name) and id(node) not in inner:
            first, *rest = ast.unparse(node).split(".")
            if first not in imports or not all(map(str.isidentifier, [first, *rest])):
                continue
            yield from _of_use(imports[first], first, rest, node.lineno)


def _of_use(dotted: str, bound: str, rest: list[str], line: int) -> Iterator[Change]:
    """Yield changes in one use of a name that was imported as `bound`."""
    module, _, name = dotted.rpartition(".")
    row = _row(module, name) if module else None
    if row is not None and not _is_package(dotted):
        ours = row.ours.rpartition(".")[2]
        # A name imported under an alias keeps the alias.
        if ours != name and bound == name:
            yield Change(line, name, ours or NONE)
        return
    parts = [*dotted.split("."), *rest]
    start = len(dotted.split("."))
    for cut in range(len(parts) - 1, start - 1, -1):
        row = _row(".".join(parts[:cut]), parts[cut])
        if row is not None:
            break
    else:
        if _is_package(dotted) and rest:
            yield Change(line, ".".join([dotted, rest[0]]), UNKNOWN)
        return
    if row.differs or row.ours.rpartition(".")[2] != parts[cut]:
        yield _change(row, line, ".".join([bound, *parts[start : cut + 1]]), row.ours)


def _of_fields(tree: ast.Module, imports: dict[str, str]) -> Iterator[Change]:
    """Yield changes of fields, parameters and methods."""
    for node in ast.walk(tree):
        for owner, name, line in _fields_in(node):
            dotted = imports.get(owner, owner)
            known = dotted.rpartition(".")[2]
            row = FIELDS_OF.get(known, {}).get(name) or FIELDS.get(name)
            if row is not None:
                yield Change(line, name, *row)
            elif owner in imports:
                yield from _of_replaced(dotted, name, line)
        if isinstance(node, ast.Attribute):
            yield from _of_member(node)
            row = FIELDS_OF.get(_last_name(node.value), {}).get(node.attr)
            if row is not None:
                yield Change(node.lineno, node.attr, *row)
        if isinstance(node, ast.FunctionDef) and "env" in map(_name, node.args.args):
            yield from _of_waits(node)


def _of_replaced(dotted: str, field: str, line: int) -> Iterator[Change]:
    """Yield the replacement of a field of one of mjlab's classes."""
    rows = (REPLACED.get(cls, {}).get(field) for cls in _ours(dotted))
    row = next((row for row in rows if row is not None), None)
    if row is not None:
        yield Change(line, field, row.ours or NONE, row.note)


def _ours(dotted: str) -> list[str]:
    """Return the names of our class for one of mjlab's, and of its bases with rows."""
    module, _, name = dotted.rpartition(".")
    row = MJLAB.row(module, name) if MJLAB.has(module) else None
    if row is None:
        return []
    ours = row.ours.rpartition(".")[2]
    bases = [base for ending, base in _BASES.items() if name.endswith(ending)]
    return [_OF_RSL_RL.get(name, ours), *bases]


def _of_member(node: ast.Attribute) -> Iterator[Change]:
    """Yield the replacement of a method or an attribute."""
    row = MEMBERS.get(node.attr)
    if row is None and _last_name(node.value) in ("env", "_env"):
        row = ENV_MEMBERS.get(node.attr)
    if row is not None:
        yield Change(node.lineno, f".{node.attr}", row[0] or NONE, row[1])


def _of_waits(term: ast.FunctionDef) -> Iterator[Change]:
    """Yield calls in a term that synchronise with the device."""
    for node in ast.walk(term):
        called = node.func if isinstance(node, ast.Call) else None
        if isinstance(called, ast.Attribute) and called.attr in _WAITS:
            text = f".{called.attr}()"
            yield Change(called.lineno, text, NONE, _WAITS[called.attr])


def _fields_in(node: ast.AST) -> Iterator[tuple[str, str, int]]:
    """Yield owner, name and line of each field or parameter that a node sets.

    The owner is the class or attribute whose field is set, without its module.
    """
    if isinstance(node, ast.Call):
        for keyword in node.keywords:
            if keyword.arg:
                yield _last_name(node.func), keyword.arg, keyword.lineno
    elif isinstance(node, ast.Dict):
        for key in node.keys:
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                yield "", key.value, key.lineno
    elif isinstance(node, ast.arg):
        yield "", node.arg, node.lineno
    elif isinstance(node, ast.AnnAssign | ast.Assign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        for target in targets:
            if isinstance(target, ast.Attribute):
                yield _last_name(target.value), target.attr, target.lineno
            elif isinstance(target, ast.Name):
                yield "", target.id, target.lineno


def _last_name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _name(argument: ast.arg) -> str:
    return argument.arg


def _project(module: str) -> Project | None:
    return next((project for project in PROJECTS if project.has(module)), None)


def _is_package(dotted: str) -> bool:
    project = _project(dotted)
    is_known = project is not None and dotted in project.all_packages()
    return is_known or dotted.endswith(".mdp")


def _row(module: str, name: str) -> Counterpart | None:
    """Return the row of a name; a path that also exists here counts as ours."""
    project = _project(module)
    row = None if project is None else project.row(module, name)
    if row is None or not row.theirs.startswith(f"{_HERE_TOO}."):
        return row
    return Counterpart(
        f"mjlab.mdp.{row.theirs[len(_HERE_TOO) + 1 :]}", row.ours, row.differs
    )


def _change(row: Counterpart, line: int, theirs: str, ours: str) -> Change:
    text = row.differs.replace("see below", "see coming_from_mjlab.md")
    return Change(line, theirs, ours or NONE, text)


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"

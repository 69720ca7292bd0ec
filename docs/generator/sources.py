"""What the code says of itself: configurations and terms, read without importing it.

Everything is read with `ast`, so that neither torch nor MuJoCo has to be installed, and
the same sources always give the same text.
"""

import ast
import copy
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = "mjlab"


@dataclass(frozen=True)
class Field:
    """A field of a configuration."""

    name: str
    """Its name."""

    type: str
    """Its annotation, with aliases written out."""

    default: str | None
    """Its default as it is written, None where the field is required."""

    text: str
    """The docstring below it, on one line."""

    records: tuple[tuple[str, str], ...] = ()
    """Records that its type names, each with how they are reached from the field: ""
    for itself, "<name>" in a dictionary, "<n>" in a tuple."""


@dataclass(frozen=True)
class Record:
    """A dataclass that users write."""

    name: str
    """Its name."""

    path: str
    """The file it is in, from the repository's root."""

    bases: tuple[str, ...]
    """Records that it inherits from, the nearest first; private ones are left out."""

    text: str
    """Its docstring."""

    fields: tuple[Field, ...]
    """Its own fields, with those of private bases."""

    is_abstract: bool
    """Whether only subclasses can be made."""


class Module:
    """One parsed file."""

    def __init__(self, path: Path) -> None:
        self.path = path.relative_to(ROOT).as_posix()
        self.name = self.path.removesuffix(".py").removesuffix("/__init__")
        self.name = self.name.replace("/", ".")
        self.tree = ast.parse(path.read_text("utf-8"), self.path)
        self.classes: dict[str, ast.ClassDef] = {}
        self.functions: dict[str, ast.FunctionDef] = {}
        self.values: dict[str, ast.expr] = {}
        self.imports: dict[str, tuple[str, str]] = {}
        for node in self.tree.body:
            self._note(node)

    def _note(self, node: ast.stmt) -> None:
        if isinstance(node, ast.ClassDef):
            self.classes[node.name] = node
        elif isinstance(node, ast.FunctionDef):
            self.functions[node.name] = node
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            self.values[node.targets[0].id] = node.value
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            if node.value is not None:
                self.values[node.target.id] = node.value
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                self.imports[alias.asname or alias.name] = (node.module, alias.name)


@cache
def modules() -> dict[str, Module]:
    """All modules of the library by dotted name."""
    found = [Module(path) for path in sorted((ROOT / PACKAGE).rglob("*.py"))]
    return {module.name: module for module in found}


def find(module: Module, name: str, kind: str) -> tuple[Module, ast.AST] | None:
    """Where a name that a module uses is defined: its module, and the definition.

    Args:
        module: The module that uses the name.
        name: The name.
        kind: "classes", "functions" or "values".
    """
    while name not in getattr(module, kind):
        source, name = module.imports.get(name, ("", name))
        if source not in modules() or source == module.name:
            return None
        module = modules()[source]
    return module, getattr(module, kind)[name]


def heading_of(page: str) -> str:
    """Return the heading of a page, by its place in `docs`."""
    text = (ROOT / "docs" / page).read_text("utf-8")
    return text.partition("\n")[0].lstrip("# ")


def docstring(node: ast.AST) -> str:
    """A docstring without its indentation."""
    assert isinstance(node, ast.ClassDef | ast.FunctionDef | ast.Module)
    return ast.get_docstring(node) or ""


def summary(text: str) -> str:
    """The first sentence or two of a docstring: up to the first empty line."""
    text = " ".join(text.split("\n\n")[0].split()).removeprefix("Return ")
    return text[:1].upper() + text[1:]


def decorations(node: ast.ClassDef) -> str:
    """The decorators of a class as text."""
    return " ".join(ast.unparse(each) for each in node.decorator_list)


def is_record(module: Module, node: ast.ClassDef) -> bool:
    """Return True for a dataclass, decorated as one or a subclass of `Config`."""
    above = [base.name for _, base in ancestors(module, node)]
    return "dataclass" in decorations(node) or "Config" in above


# Types.


class _WithoutAliases(ast.NodeTransformer):
    """Writes aliases of types out, such as `Patterns` as `str | tuple[str, ...]`."""

    def __init__(self, module: Module) -> None:
        self.module = module

    def visit_Name(self, node: ast.Name) -> ast.AST:
        found = find(self.module, node.id, "values")
        if found is None:
            return node
        module, value = found
        assert isinstance(value, ast.expr)
        if isinstance(value, ast.Constant):
            return node
        return _WithoutAliases(module).visit(copy.deepcopy(value))


def type_of(module: Module, annotation: ast.expr) -> ast.expr:
    """An annotation with aliases written out."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        annotation = ast.parse(annotation.value, mode="eval").body
    if isinstance(annotation, ast.Subscript) and isinstance(
        annotation.slice, ast.Tuple
    ):
        if ast.unparse(annotation.value) == "Annotated":  # A bound of the number.
            annotation = annotation.slice.elts[0]
    return _WithoutAliases(module).visit(copy.deepcopy(annotation))


def records_in(annotation: ast.expr) -> Iterator[tuple[str, str]]:
    """Class names in a type, each with how it is reached."""
    if isinstance(annotation, ast.Name):
        yield annotation.id, ""
    elif isinstance(annotation, ast.BinOp):
        yield from records_in(annotation.left)
        yield from records_in(annotation.right)
    elif isinstance(annotation, ast.Subscript):
        inner = annotation.slice
        parts = inner.elts if isinstance(inner, ast.Tuple) else [inner]
        way = {"dict": "<name>", "tuple": "<n>", "list": "<n>"}
        step = way.get(ast.unparse(annotation.value), "")
        for part in parts:
            for name, below in records_in(part):
                yield name, ".".join(filter(None, (step, below)))


# Configurations.


def default_of(module: Module, value: ast.expr | None) -> str | None:
    """A default as a user would write it; None where there is none."""
    if value is None:
        return None
    if not (isinstance(value, ast.Call) and ast.unparse(value.func) == "field"):
        is_call = isinstance(value, ast.Call) and not (value.args or value.keywords)
        return _made_by(module, value.func) if is_call else ast.unparse(value)
    for keyword in value.keywords:
        if keyword.arg == "default":
            return ast.unparse(keyword.value)
        if keyword.arg == "default_factory":
            return _made_by(module, keyword.value)
    return None


def _made_by(module: Module, factory: ast.expr) -> str:
    """What a factory makes."""
    if isinstance(factory, ast.Lambda):
        return ast.unparse(factory.body)
    name = ast.unparse(factory)
    if name in ("dict", "list"):
        return {"dict": "{}", "list": "[]"}[name]
    found = find(module, name, "functions")
    if found is not None:
        body = found[1].body  # type: ignore[attr-defined]
        if isinstance(body[-1], ast.Return) and body[-1].value is not None:
            return ast.unparse(body[-1].value)
    return f"{name}()"


def fields_of(
    module: Module, node: ast.ClassDef, inherited: Mapping[str, Field] | None = None
) -> list[Field]:
    """The fields that a dataclass itself declares, or gives new defaults.

    Args:
        module: The class's module.
        node: The class.
        inherited: Fields of its bases by name.
    """
    found: list[Field] = []
    after = [*node.body[1:], ast.Pass()]
    for statement, following in zip(node.body, after, strict=True):
        if isinstance(statement, ast.Assign):
            name = ast.unparse(statement.targets[0])
            if inherited and name in inherited:
                default = default_of(module, statement.value)
                found.append(replace(inherited[name], default=default))
            continue
        if not isinstance(statement, ast.AnnAssign):
            continue
        assert isinstance(statement.target, ast.Name)
        name = statement.target.id
        kind = ast.unparse(statement.annotation)
        if name.startswith("_") or kind.startswith(("ClassVar", "KW_ONLY")):
            continue
        written = type_of(module, statement.annotation)
        text = ""
        if isinstance(following, ast.Expr) and isinstance(
            following.value, ast.Constant
        ):
            text = " ".join(str(following.value.value).split())
        found.append(
            Field(
                name=name,
                type=ast.unparse(written),
                default=default_of(module, statement.value),
                text=text,
                records=tuple(records_in(written)),
            )
        )
    return found


def ancestors(module: Module, node: ast.ClassDef) -> list[tuple[Module, ast.ClassDef]]:
    """The classes that a class inherits from, the nearest first."""
    found: list[tuple[Module, ast.ClassDef]] = []
    for base in node.bases:
        *owner, name = ast.unparse(base).rsplit(".", 1)
        # A base may be written with the module that the file imports.
        source = ".".join(module.imports.get("".join(owner), ()))
        place = find(modules().get(source, module), name, "classes")
        if place is not None:
            owner, definition = place
            assert isinstance(definition, ast.ClassDef)
            found.append((owner, definition))
            found += ancestors(owner, definition)
    return found


@cache
def records() -> dict[str, Record]:
    """Configurations of the library, and records that their types name, by name."""
    every: dict[str, Record] = {}
    for module in modules().values():
        for name, node in module.classes.items():
            if is_record(module, node) and not name.startswith("_"):
                every.setdefault(name, _record(module, node))
    chosen = {name for name in every if name.endswith("Cfg")}
    todo = list(chosen)
    while todo:
        record = every[todo.pop()]
        named = {name for field in record.fields for name, _ in field.records}
        named |= set(record.bases)
        new = (named & every.keys()) - chosen
        chosen |= new
        todo += new
    return {name: record for name, record in every.items() if name in chosen}


def _record(module: Module, node: ast.ClassDef) -> Record:
    fields: dict[str, Field] = {}
    bases: list[str] = []
    inherited: dict[str, Field] = {}
    above = ancestors(module, node)
    for owner, base in reversed(above):
        own = {field.name: field for field in fields_of(owner, base, inherited)}
        inherited |= own
        if base.name.startswith("_"):
            fields |= own
    for owner, base in above:
        is_shown = is_record(owner, base) and base.name != "Config"
        if is_shown and not base.name.startswith("_"):
            bases.append(base.name)
    for field in fields_of(module, node, inherited):
        if not field.text and field.name in inherited:
            field = replace(field, text=inherited[field.name].text)
        fields[field.name] = field
    return Record(
        name=node.name,
        path=module.path,
        bases=tuple(dict.fromkeys(bases)),
        text=docstring(node),
        fields=tuple(fields.values()),
        is_abstract=_is_abstract(node, [base for _, base in above]),
    )


def _is_abstract(node: ast.ClassDef, above: list[ast.ClassDef]) -> bool:
    """Whether a method that is declared abstract is nowhere defined."""
    if any(ast.unparse(base) in ("ABC", "abc.ABC") for base in node.bases):
        return True
    defined: set[str] = set()
    for each in [node, *above]:
        for method in each.body:
            if not isinstance(method, ast.FunctionDef):
                continue
            marks = [ast.unparse(mark) for mark in method.decorator_list]
            is_declared = any(mark.endswith("abstractmethod") for mark in marks)
            if is_declared and method.name not in defined:
                return True
            defined.add(method.name)
    return False


ROOTS = {
    "ManagerBasedRlEnvCfg": "env",
    "PpoAgentCfg": "agent",
    "DistillationAgentCfg": "agent",
}
"""What a command line calls the two configurations of a task."""


@cache
def paths() -> dict[str, list[str]]:
    """Where each record is reached from the configurations of a task, shortest first.

    A record stands where its own name, or that of one it inherits from, is a type.
    """
    known = records()
    heirs: dict[str, list[str]] = {name: [name] for name in known}
    for name, record in known.items():
        for base in record.bases:
            heirs[base].append(name)
    found: dict[str, list[str]] = {name: [root] for name, root in ROOTS.items()}
    todo = list(ROOTS)
    while todo:
        name = todo.pop(0)
        for field in all_fields(name):
            for kind, way in field.records:
                step = ".".join(filter(None, (found[name][0], field.name, way)))
                for heir in heirs.get(kind, ()):
                    # An item that has a name is called by it.
                    if any(own.name == "name" for own in all_fields(heir)):
                        step = step.replace("<n>", "<name>")
                    if heir not in found:
                        found[heir] = []
                        todo.append(heir)
                    if step not in found[heir]:
                        found[heir].append(step)
    return found


def all_fields(name: str) -> list[Field]:
    """The fields of a record, with those that it inherits."""
    record = records()[name]
    fields: dict[str, Field] = {}
    for base in reversed(record.bases):
        fields |= {field.name: field for field in records()[base].fields}
    return list((fields | {field.name: field for field in record.fields}).values())

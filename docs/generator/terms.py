"""Terms of the library, read from the sources as configurations are."""

import ast
import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from generator.sources import Module, ancestors, docstring, find, modules, summary


@dataclass(frozen=True)
class Term:
    """A function or class of the library of terms."""

    name: str
    """Its name in `mjlab.mdp`, or in `mjlab.mdp.randomize`."""

    path: str
    """The file it is in."""

    signature: str
    """Its parameters, without those that its manager gives."""

    text: str
    """The first paragraph of its docstring."""

    is_class: bool
    """Whether it has a memory."""

    constants: tuple[tuple[str, str], ...] = ()
    """What the class says of itself, such as the model field that it varies."""


GIVEN = ("self", "env", "mask", "env_ids", "stream")
"""Parameters that a term is given by its manager."""


def exported(package: str) -> list[tuple[Module, str]]:
    """What a package's `__init__` gives out: the module it is from, and its name."""
    own = modules()[package]
    found = []
    for name, (source, original) in own.imports.items():
        if source in modules() and source != package:
            found.append((modules()[source], original))
            assert name == original, f"{package} renames {original}"
    return found + [(own, name) for name in own.classes]


def terms(package: str) -> dict[str, list[Term]]:
    """Functions and classes that a package gives out, by the module they come from."""
    found: dict[str, list[Term]] = {}
    for source, name in exported(package):
        place = find(source, name, "functions") or find(source, name, "classes")
        if place is not None and f"{source.name}.".startswith(f"{package}."):
            found.setdefault(source.name, []).append(_term(*place))
    return found


def _term(module: Module, node: ast.AST) -> Term:
    assert isinstance(node, ast.FunctionDef | ast.ClassDef)
    if isinstance(node, ast.FunctionDef):
        text = summary(docstring(node))
        return Term(node.name, module.path, signature(node), text, is_class=False)
    line = [(module, node), *ancestors(module, node)]
    text = next(filter(None, (docstring(each) for _, each in line)), "")
    return Term(
        name=node.name,
        path=module.path,
        signature=next((signature(c) for c in _calls(line)), ""),
        text=summary(text),
        is_class=True,
        constants=tuple(_constants(line).items()),
    )


def _calls(line: list[tuple[Module, ast.ClassDef]]) -> Iterator[ast.FunctionDef]:
    for _, node in line:
        for method in node.body:
            if isinstance(method, ast.FunctionDef) and method.name == "__call__":
                yield method


def signature(node: ast.FunctionDef) -> str:
    """The parameters of a function that a user gives."""
    arguments = node.args
    plain = [*arguments.posonlyargs, *arguments.args]
    missing = len(plain) - len(arguments.defaults)
    defaults = [*itertools.repeat(None, missing), *arguments.defaults]
    pairs = [*zip(plain, defaults, strict=True)]
    pairs += zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    shown = []
    for argument, default in pairs:
        if argument.arg in GIVEN:
            continue
        kind = "" if argument.annotation is None else ast.unparse(argument.annotation)
        kind = kind.replace("SceneEntityCfg", "Selection")
        value = "" if default is None else f" = {ast.unparse(default)}"
        shown.append(f"{argument.arg}: {kind}{value}")
    return f"({', '.join(shown)})"


def _constants(line: list[tuple[Module, ast.ClassDef]]) -> dict[str, str]:
    """Class attributes and keywords, the nearest first, and model fields."""
    found: dict[str, str] = {}
    for module, node in line:
        for keyword in node.keywords:
            found.setdefault(str(keyword.arg), ast.unparse(keyword.value))
        for statement in node.body:
            if isinstance(statement, ast.Assign):
                name = ast.unparse(statement.targets[0])
                text = ast.unparse(statement.value)
                if name == "model_fields":
                    text = " ".join(ast.literal_eval(text))
                found.setdefault(name, text)
            elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
                name = ast.unparse(statement.target)
                found.setdefault(name, ast.unparse(statement.value))
            elif isinstance(statement, ast.FunctionDef):
                if statement.name == "model_fields":
                    names = _strings_returned(module, statement)
                    found.setdefault("model_fields", " ".join(names))
    return found


def _strings_returned(module: Module, node: ast.FunctionDef) -> list[str]:
    """Texts that a function can return, through the module's own constants."""
    found: list[str] = []
    for statement in ast.walk(node):
        if not isinstance(statement, ast.Return) or statement.value is None:
            continue
        value = statement.value
        if isinstance(value, ast.IfExp):
            value = value.body
        if isinstance(value, ast.Name):
            value = module.values.get(value.id, value)
        for part in ast.walk(value):
            if isinstance(part, ast.Constant) and isinstance(part.value, str):
                found.append(part.value)
    return [name for name in dict.fromkeys(found) if name]

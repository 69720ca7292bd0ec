"""The reference of each room's public names, from their docstrings."""

import ast
import html
import re
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from generator.floors import rooms
from generator.markdown import Heading, Rendered, coloured, render
from generator.pages import group_of
from generator.sources import (
    Module,
    ancestors,
    docstring,
    fields_of,
    find,
    is_record,
    modules,
    records,
    summary,
)

_PARTS = re.compile(r"^(Args|Returns|Raises|Yields):\n", re.MULTILINE)
_ENTRY = re.compile(r"^(\*{0,2}\w+): ", re.MULTILINE)
_WIDTH = 80

Address = Callable[[str], str]
"""Makes an address from the place of a page, such as "configuration/scene.html#x"."""


@dataclass(frozen=True)
class Public:
    """A public name of a room."""

    name: str
    """Its name."""

    module: Module
    """The module that defines it."""

    node: ast.ClassDef | ast.FunctionDef
    """Its definition."""


def public_names() -> dict[str, list[Public]]:
    """Return the public names of each room that has some, the highest floor first."""
    found: dict[str, list[Public]] = {}
    for _, names in rooms():
        for room in names:
            module = modules().get(room)
            names_of = [] if module is None else list(_names_of(module))
            if names_of:
                found[room] = names_of
    return found


def _names_of(module: Module) -> Iterator[Public]:
    """Yield what a package hands on, or a room of one file defines."""
    is_package = module.path.endswith("__init__.py")
    if not is_package:
        for name, node in {**module.classes, **module.functions}.items():
            if not name.startswith("_"):
                yield Public(name, module, node)
        return
    for node in ast.walk(module.tree):
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if alias.asname == alias.name:
                    yield from _found(module, node.module or "", alias.name)


def _found(module: Module, source: str, name: str) -> Iterator[Public]:
    owner = modules().get(source)
    for kind in ("classes", "functions"):
        place = None if owner is None else find(owner, name, kind)
        if place is not None:
            defining, node = place
            assert isinstance(node, ast.ClassDef | ast.FunctionDef)
            yield Public(name, defining, node)


def room_page(room: str, names: list[Public], address: Address) -> Rendered:
    """Return the page of a room."""
    text = docstring(modules()[room].tree)
    lead = summary(text)
    found = Rendered("", [Heading(1, slug_of(room), room, text)])
    parts = [f'<h1 id="{slug_of(room)}"><code>{room}</code></h1>']
    parts.append(_prose(text, address))
    for each in sorted(names, key=lambda one: one.name.lower()):
        words = docstring(each.node)
        found.headings.append(Heading(2, each.name, each.name, words))
        parts.append(_entry(each, address))
    found.html = "\n".join(parts)
    assert lead
    return found


def slug_of(room: str) -> str:
    """Return the anchor of a room, which its page begins with."""
    return room.replace(".", "-")


def _entry(one: Public, address: Address) -> str:
    node = one.node
    place = f"{one.module.path}:{node.lineno}"
    lines = [
        f'<section class="name"><h2 id="{one.name}"><code>{one.name}</code>'
        f'<a class="self" href="#{one.name}" aria-label="Link">#</a></h2>'
    ]
    if isinstance(node, ast.FunctionDef):
        lines += [_signature(node), _documented(docstring(node), address)]
    else:
        lines += [_class_line(one), _documented(docstring(node), address)]
        lines.append(_documented(_of_making(node), address))
        lines += _inside(one, node, address)
    lines.append(f'<p class="place">{html.escape(place)}</p></section>')
    return "\n".join(lines)


def _of_making(node: ast.ClassDef) -> str:
    """Return what is said of the arguments that an object is made with."""
    for method in node.body:
        if isinstance(method, ast.FunctionDef) and method.name == "__init__":
            text = docstring(method)
            found = _PARTS.search(text)
            return "" if found is None else text[found.start() :]
    return ""


def _inside(one: Public, node: ast.ClassDef, address: Address) -> Iterator[str]:
    """Yield the fields and methods of a class."""
    if one.name in records() and records()[one.name].path == one.module.path:
        page = f"configuration/{group_of(records()[one.name])}.html#{one.name.lower()}"
        yield (
            f'<p>Its fields are in the <a href="{address(page)}">configuration '
            "reference</a>.</p>"
        )
    elif is_record(one.module, node):
        rows = [
            f"<tr><td><code>{field.name}</code></td>"
            f"<td><code>{html.escape(field.type)}</code></td>"
            f"<td>{_inline(field.text, address)}</td></tr>"
            for field in fields_of(one.module, node)
        ]
        if rows:
            head = "<tr><th>Field</th><th>Type</th><th>Meaning</th></tr>"
            inside = f"<thead>{head}</thead><tbody>{''.join(rows)}</tbody>"
            yield f'<div class="table"><table>{inside}</table></div>'
    methods = [
        _method(one, method, address)
        for method in node.body
        if isinstance(method, ast.FunctionDef) and _is_shown(method)
    ]
    if methods:
        yield f'<div class="methods">{"".join(methods)}</div>'


def _is_shown(method: ast.FunctionDef) -> bool:
    marks = [ast.unparse(mark) for mark in method.decorator_list]
    is_overload = any(mark.endswith(("overload", ".setter")) for mark in marks)
    return not method.name.startswith("_") and not is_overload


def _method(one: Public, method: ast.FunctionDef, address: Address) -> str:
    text = docstring(method) or _inherited(one, method.name)
    anchor = f"{one.name}.{method.name}"
    return (
        f'<div class="method" id="{anchor}">{_signature(method)}'
        f"{_documented(text, address)}</div>"
    )


def _inherited(one: Public, name: str) -> str:
    """Return the docstring of the method that one overrides."""
    assert isinstance(one.node, ast.ClassDef)
    for _, base in ancestors(one.module, one.node):
        for method in base.body:
            if isinstance(method, ast.FunctionDef) and method.name == name:
                if docstring(method):
                    return docstring(method)
    return ""


def _class_line(one: Public) -> str:
    """Return how an object of a class is made, or what the class inherits from."""
    assert isinstance(one.node, ast.ClassDef)
    for method in one.node.body:
        if isinstance(method, ast.FunctionDef) and method.name == "__init__":
            return _code(f"class {_call(one.name, method)}")
    bases = ", ".join(ast.unparse(base) for base in one.node.bases)
    return _code(f"class {one.name}({bases})" if bases else f"class {one.name}")


def _signature(node: ast.FunctionDef) -> str:
    marks = {ast.unparse(mark) for mark in node.decorator_list}
    if not marks & {"property", "functools.cached_property", "cached_property"}:
        return _code(_call(node.name, node))
    returns = _plain(node.returns)
    return _code(f"{node.name}: {returns}" if returns else node.name)


def _code(line: str) -> str:
    return f'<pre class="signature"><code>{coloured(line, "python")}</code></pre>'


def _call(name: str, node: ast.FunctionDef) -> str:
    """Return how a function is called, an argument a line where it is long."""
    parts = _split(node.args)
    returns = _plain(node.returns) if node.name != "__init__" else ""
    arrow = f" -> {returns}" if returns else ""
    line = f"{name}({', '.join(parts)}){arrow}"
    if len(line) <= _WIDTH:
        return line
    inside = "".join(f"    {part},\n" for part in parts)
    return f"{name}(\n{inside}){arrow}"


def _plain(annotation: ast.expr | None) -> str:
    """Return an annotation, without the quotes that some have."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        return annotation.value
    return "" if annotation is None else ast.unparse(annotation)


def _split(args: ast.arguments) -> list[str]:
    """Return arguments one by one."""
    names = [*args.posonlyargs, *args.args]
    empty: list[ast.expr | None] = [None] * (len(names) - len(args.defaults))
    found = [*zip(names, [*empty, *args.defaults], strict=True)]
    parts = [_argument(arg, default) for arg, default in found]
    if parts and parts[0] in ("self", "cls"):
        parts = parts[1:]
    if args.vararg:
        parts.append(f"*{ast.unparse(args.vararg)}")
    elif args.kwonlyargs:
        parts.append("*")
    keywords = zip(args.kwonlyargs, args.kw_defaults, strict=True)
    parts += [_argument(arg, default) for arg, default in keywords]
    return [*parts, f"**{ast.unparse(args.kwarg)}"] if args.kwarg else parts


def _argument(arg: ast.arg, default: ast.expr | None) -> str:
    kind = _plain(arg.annotation)
    text = f"{arg.arg}: {kind}" if kind else arg.arg
    if default is None:
        return text
    gap = " = " if arg.annotation else "="
    return f"{text}{gap}{ast.unparse(default)}"


# Docstrings.


def _documented(text: str, address: Address) -> str:
    """Return a docstring with its arguments as a list."""
    first, *rest = _PARTS.split(text)
    parts = [_prose(first, address)]
    for title, inside in zip(rest[::2], rest[1::2], strict=True):
        indented, _, after = inside.partition("\n\n")
        body = textwrap.dedent(indented)
        entries = _ENTRY.split(body)
        if title in ("Args", "Raises") and len(entries) > 2:
            pairs = zip(entries[1::2], entries[2::2], strict=True)
            rows = [
                f"<dt><code>{html.escape(name)}</code></dt>"
                f"<dd>{_inline(said, address)}</dd>"
                for name, said in pairs
            ]
            parts.append(f'<dl class="arguments">{"".join(rows)}</dl>')
        else:
            parts.append(f"<p><b>{title}</b> {_inline(body, address)}</p>")
        parts.append(_prose(textwrap.dedent(after), address))
    return "".join(parts)


def _prose(text: str, address: Address) -> str:
    """Return a docstring's Markdown; what looks like a tag is text."""
    return render(_escaped(text), address).html if text.strip() else ""


def _inline(text: str, address: Address) -> str:
    made = _prose(" ".join(text.split()), address)
    return made.strip().removeprefix("<p>").removesuffix("</p>")


def _escaped(text: str) -> str:
    """Return Markdown in which a tag outside of code is text."""
    parts = re.split(r"(`[^`]*`|^(?: {4}|\t).*$)", text, flags=re.MULTILINE)
    return "".join(
        part if index % 2 else part.replace("<", "&lt;")
        for index, part in enumerate(parts)
    )

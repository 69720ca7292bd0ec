"""Extension of Sphinx: write the tables, and adapt autodoc to our sources."""

import dataclasses
import importlib
from pathlib import Path
from typing import Any

import tables
from sphinx.application import Sphinx
from sphinx.ext.napoleon import Config, GoogleDocstring

DOCS = Path(__file__).resolve().parent


def setup(app: Sphinx) -> None:
    """Write the tables, name the public objects of packages, and add the hooks."""
    tables.write(DOCS / "tables")
    for package in tables.packages():
        module = importlib.import_module(package)
        module.__all__ = tables.public_names(package)
        for each in module.__all__:  # Some members are imported at first use.
            setattr(module, each, getattr(module, each))
    app.connect("autodoc-process-docstring", read_docstring)
    app.connect("autodoc-process-signature", hide_constructor)
    app.connect("autodoc-skip-member", hide_method_of_configuration)


def read_docstring(
    app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]
) -> None:
    """Convert Google-style sections, except for fields, which have none.

    A module also gets a list of its names.
    """
    if what not in ("attribute", "data", "property"):
        google = GoogleDocstring(lines, Config(), app, what, name, obj, options)
        lines[:] = google.lines()
    if what == "module":
        lines += ["", ".. autosummary::", "   :nosignatures:", ""]
        lines += [f"   {each}" for each in tables.listed(obj)]


def hide_constructor(
    app: Sphinx, what: str, name: str, obj: Any, *more: Any
) -> tuple[str, None] | None:
    """Hide the constructor arguments of configurations and dataclasses."""
    is_fields = dataclasses.is_dataclass(obj) or name.endswith("Cfg")
    return ("", None) if what == "class" and is_fields else None


def hide_method_of_configuration(
    app: Sphinx, what: str, name: str, obj: Any, *more: Any
) -> bool | None:
    """Show only the fields of configurations; pages list the methods to override."""
    owner = getattr(getattr(obj, "fget", obj), "__qualname__", "").partition(".")[0]
    return True if what == "class" and owner.endswith("Cfg") else None

"""Configuration of Sphinx. `make docs` builds the site into build/site."""

import dataclasses
import importlib
import sys
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.ext.napoleon import Config, GoogleDocstring

DOCS = Path(__file__).resolve().parent
sys.path[:0] = [str(DOCS.parent), str(DOCS)]

import tables

project = "mjlab-fused"
html_title = "mjlab-fused"
html_theme = "furo"
html_copy_source = False
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary"]
exclude_patterns = ["tables", "examples", "*.ipynb"]
myst_heading_anchors = 4
highlight_language = "none"
default_role = "py:obj"
autosummary_generate = False
autodoc_preserve_defaults = True
autodoc_typehints_format = "short"
# Classes whose members are not repeated in their subclasses.
autodoc_default_options = {
    "members": True,
    "member-order": "bysource",
    "inherited-members": "Config,object,BaseException,Protocol,Enum,int,Module,"
    "ManagerTermBase,ModelTerm,FieldTerm,ActionTerm,CommandTerm,Sensor",
}
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 88
toc_object_entries = False


def setup(app: Sphinx) -> None:
    """Write the tables, name the public objects of packages, and add two hooks."""
    tables.write(DOCS / "tables")
    for package in tables.packages():
        importlib.import_module(package).__all__ = tables.public_names(package)
    app.connect("autodoc-process-docstring", read_docstring)
    app.connect("autodoc-process-signature", hide_constructor)


def read_docstring(app, what, name, obj, options, lines) -> None:
    """Read Google's sections, which fields do not have. List the names of a module."""
    if what not in ("attribute", "data", "property"):
        google = GoogleDocstring(lines, Config(), app, what, name, obj, options)
        lines[:] = google.lines()
    if what == "module":
        lines += ["", ".. autosummary::", "   :nosignatures:", ""]
        lines += [f"   {each}" for each in tables.listed(obj)]


def hide_constructor(app, what, name, obj, *more):
    """Hide the arguments of a dataclass: its fields follow."""
    is_fields = dataclasses.is_dataclass(obj) or hasattr(obj, "__dataclass_transform__")
    return ("", None) if what == "class" and is_fields else None

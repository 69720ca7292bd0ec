"""Configuration of Sphinx. `make docs` builds the site into build/site."""

import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parent
sys.path[:0] = [str(DOCS.parent), str(DOCS)]

project = "mjlab-fused"
html_title = "mjlab-fused"
html_theme = "furo"
html_copy_source = False
html_show_copyright = False
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary"]
extensions += ["hooks"]
exclude_patterns = ["tables", "examples", "*.ipynb"]
myst_heading_anchors = 4
highlight_language = "none"
default_role = "py:obj"
# A short name in a docstring can stand for several members.
suppress_warnings = ["ref.python"]
autosummary_generate = False
autodoc_preserve_defaults = True
autodoc_typehints_format = "short"
# Classes whose members are not repeated in their subclasses.
autodoc_default_options = {
    "members": True,
    "member-order": "bysource",
    "inherited-members": "Config,object,BaseException,Protocol,Enum,int,Module,"
    "TermObject,ModelTerm,FieldTerm,ActionTerm,CommandTerm,Sensor",
}
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 200
toc_object_entries = False

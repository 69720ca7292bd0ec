"""Policies as ONNX files that say all that a robot has to know.

A file takes what sensors measure, in SI units and by name, and returns the targets of
joints. Everything in between is inside. `OnnxPolicy` reads such a file, and needs
neither torch nor the task.
"""

import importlib
from typing import TYPE_CHECKING, Any

from mjlab.export.reader import NEEDS as NEEDS
from mjlab.export.reader import ExportError as ExportError
from mjlab.export.reader import OnnxPolicy as OnnxPolicy
from mjlab.export.reader import is_installed as is_installed
from mjlab.export.reader import require_installed

if TYPE_CHECKING:
    from mjlab.export.drive import FilePolicy as FilePolicy
    from mjlab.export.drive import driven_by as driven_by
    from mjlab.export.drive import with_clips as with_clips
    from mjlab.export.open import open_file as open_file
    from mjlab.export.write import Exported as Exported
    from mjlab.export.write import export_policy as export_policy
    from mjlab.export.write import export_run as export_run

_LAZY = {
    "FilePolicy": "drive",
    "driven_by": "drive",
    "with_clips": "drive",
    "open_file": "open",
    "Exported": "write",
    "export_policy": "write",
    "export_run": "write",
}


def __getattr__(name: str) -> Any:
    """Import a part that needs torch and ONNX, when it is first asked for."""
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    require_installed()
    return getattr(importlib.import_module(f"{__name__}.{_LAZY[name]}"), name)

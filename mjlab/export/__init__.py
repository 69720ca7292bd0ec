"""Export of policies as self-describing ONNX files.

A file maps sensor readings, in SI units and by name, to joint targets; all processing
is inside. `OnnxPolicy` runs such a file without torch and without the task.
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
    from mjlab.export.write import Exported as Exported
    from mjlab.export.write import export_policy as export_policy
    from mjlab.export.write import export_run as export_run

_LAZY = {
    "FilePolicy": "drive",
    "driven_by": "drive",
    "with_clips": "drive",
    "Exported": "write",
    "export_policy": "write",
    "export_run": "write",
}


def __getattr__(name: str) -> Any:
    """Import a part that needs torch and ONNX at its first use."""
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    require_installed()
    return getattr(importlib.import_module(f"{__name__}.{_LAZY[name]}"), name)

"""Export of policies as self-describing ONNX files.

A file maps named sensor readings, in SI units, to joint targets, and contains all
processing. `OnnxPolicy` runs a file without torch and without the task.
"""

from typing import TYPE_CHECKING, Any

from mjlab.export.reader import NEEDS as NEEDS
from mjlab.export.reader import ExportError as ExportError
from mjlab.export.reader import OnnxPolicy as OnnxPolicy
from mjlab.export.reader import is_installed as is_installed
from mjlab.export.reader import require_installed
from mjlab.lazy import imported_on_use, modules_by_name

if TYPE_CHECKING:
    from mjlab.export.drive import FilePolicy as FilePolicy
    from mjlab.export.drive import driven_by as driven_by
    from mjlab.export.drive import with_clips as with_clips
    from mjlab.export.open import open_file as open_file
    from mjlab.export.write import Exported as Exported
    from mjlab.export.write import export_policy as export_policy
    from mjlab.export.write import export_run as export_run


_import = imported_on_use(__name__, __file__)


def __getattr__(name: str) -> Any:
    """Import names that need torch and ONNX on first access."""
    if name in modules_by_name(__file__):
        require_installed()
    return _import(name)

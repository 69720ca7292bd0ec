"""What goes wrong with files of policies, and what they need installed."""

import importlib.util

INSTALL = 'pip install "mjlab-fused[export]"'
"""What installs all that is needed to write and to run such files."""


class ExportError(ValueError):
    """A policy that cannot be written to a file, or a file that cannot be played."""


def is_installed() -> bool:
    """Whether the packages are there that write and run ONNX files."""
    return all(importlib.util.find_spec(name) for name in ("onnx", "onnxruntime"))


def require_installed() -> None:
    """Raise, with what to do, unless they are."""
    if not is_installed():
        raise ExportError(f"ONNX files need onnx and onnxruntime: {INSTALL}")

"""Libraries that must be imported before OpenGL."""

import importlib
import importlib.util


def load_triton() -> None:
    """Import Triton, if installed, before Mesa.

    PyOpenGL makes the symbols of Mesa's LLVM global. Triton, a part of PyTorch's CUDA
    builds that tensordict and `torch.compile` import, binds to them if it is loaded
    later, and crashes the process.
    """
    if importlib.util.find_spec("triton") is not None:
        importlib.import_module("triton")

"""Libraries that must be loaded before OpenGL is opened."""

import importlib
import importlib.util


def load_triton() -> None:
    """Import Triton, where it is installed, ahead of Mesa.

    PyOpenGL makes the symbols of Mesa's LLVM global. Triton, a part of PyTorch's CUDA
    builds that tensordict and `torch.compile` import, binds to them if it is loaded
    later, and crashes the process.
    """
    if importlib.util.find_spec("triton") is not None:
        importlib.import_module("triton")

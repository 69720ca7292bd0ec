"""Check the NVIDIA driver's CUDA version, and explain a missing CUDA device."""

import ctypes
import os

CUDA = (13, 0)
"""Minimum CUDA version of the driver: the PyTorch and Warp 1.19 wheels require it."""

DRIVER = 580
"""Oldest driver series that supports this CUDA version (NVIDIA's release notes)."""


def driver_cuda() -> tuple[int, int] | None:
    """Return the CUDA version that the driver supports, None without a driver."""
    try:
        library = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return None
    number = ctypes.c_int(0)
    if library.cuDriverGetVersion(ctypes.byref(number)):
        return None
    return number.value // 1000, number.value % 1000 // 10


def old_driver() -> str:
    """Return an error sentence if the driver is too old, else an empty string."""
    found = driver_cuda()
    if found is None or found >= CUDA:
        return ""
    version, needed = (".".join(map(str, pair)) for pair in (found, CUDA))
    return (
        f"the NVIDIA driver supports CUDA {version}, and CUDA {needed} is needed: "
        f"install driver {DRIVER} or newer"
    )


def unused_gpu() -> str:
    """Return the reason why an installed driver cannot be used, else an empty string.

    The string is also empty without a driver, as on a machine without a GPU.
    """
    import torch  # Imported here, because it takes seconds.

    if torch.version.cuda is None and driver_cuda() is not None:
        return f"this PyTorch ({torch.__version__}) was built without CUDA"
    return old_driver()


def no_cuda() -> str:
    """Return the reason for a missing CUDA device."""
    import torch

    if torch.version.cuda is None:
        return f"this PyTorch ({torch.__version__}) was built without CUDA"
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    said = "" if visible is None else f" (CUDA_VISIBLE_DEVICES is {visible!r})"
    return old_driver() or f"PyTorch finds none{said}"

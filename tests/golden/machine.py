"""What decides the last bit of a result: instructions, libraries, their versions.

Torch, MKL, NumPy, Warp's compiler and the C library choose code by the processor's
flags. Flags do not say all (MKL also goes by the vendor), so what each of them makes of
the same numbers is compared as well.
"""

import hashlib
import importlib.metadata
import math
import platform
from pathlib import Path

import numpy as np
import torch

_PACKAGES = ("mujoco", "mujoco-warp", "numpy", "torch", "warp-lang")
_FAMILIES = ("avx", "fma", "amx", "sse4", "bmi", "asimd", "sve")


def made_on() -> dict[str, str]:
    """What two machines must have in common to agree on every bit."""
    versions = {name: importlib.metadata.version(name) for name in _PACKAGES}
    return {
        "instructions": instruction_set(),
        "arithmetic": arithmetic(),
        **{name: version.partition("+")[0] for name, version in versions.items()},
    }


def instruction_set() -> str:
    """The vector instructions of the processor, and which of them torch takes."""
    flags: set[str] = set()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text().splitlines():
            if line.startswith(("flags", "Features")):
                words = line.partition(":")[2].split()
                flags.update(word for word in words if word.startswith(_FAMILIES))
    chosen = torch.backends.cpu.get_cpu_capability()
    return f"{platform.machine()} {' '.join(sorted(flags))}; torch {chosen}"


def arithmetic() -> str:
    """Hash of what the libraries make of the same numbers."""
    numbers = torch.linspace(-3.0, 3.0, 4096, dtype=torch.float64)
    digest = hashlib.sha256()
    for dtype in (torch.float32, torch.float64):
        row = numbers.to(dtype)
        matrix = row.view(64, 64)
        for result in (row.exp(), row.sin(), row.tanh(), row.atan2(row + 4.0)):
            digest.update(result.numpy().tobytes())
        for result in (matrix @ matrix, row.sum(), row.var(), row.abs().log()):
            digest.update(result.numpy().tobytes())
        for result in (np.exp(row.numpy()), np.sin(row.numpy()), np.sum(row.numpy())):
            digest.update(result.tobytes())
    scalars = [f(x) for f in (math.exp, math.sin, math.tanh) for x in numbers.tolist()]
    digest.update(np.array(scalars).tobytes())
    return digest.hexdigest()[:16]

"""Which engine runs, and where."""

from dataclasses import dataclass
from typing import Literal

import torch

from mjlab.sim.config import BackendName

EngineName = Literal["warp", "native"]


class BackendError(ValueError):
    """An engine was asked for that cannot run here."""


@dataclass(frozen=True)
class Backend:
    """An engine and the device that its tensors live on."""

    engine: EngineName
    device: str
    reason: str
    """Why this engine was chosen; the start-up report prints it."""


def resolve_backend(name: BackendName, device: str | None = None) -> Backend:
    """Choose the engine: `auto` takes Warp on a CUDA device, else native MuJoCo."""
    if name not in ("auto", "warp", "native"):
        raise BackendError(
            f"sim.backend={name!r} is no engine. Valid: 'auto', 'warp', 'native'."
        )
    try:
        wanted = None if device is None else torch.device(device)
    except RuntimeError:
        raise BackendError(
            f"device={device!r}. Valid: 'cpu', 'cuda', 'cuda:<index>'."
        ) from None
    cuda = torch.cuda.is_available()
    if wanted is not None and wanted.type == "cuda" and not cuda:
        raise BackendError(
            f"device={device!r}, but PyTorch sees no CUDA device. "
            "Leave the device out, or use device='cpu'."
        )
    if wanted is not None and wanted.type not in ("cpu", "cuda"):
        raise BackendError(f"device={device!r}. Valid: 'cpu', 'cuda', 'cuda:<index>'.")
    if name == "native":
        return _native(wanted)
    if name == "warp":
        return _warp(wanted, cuda)
    if wanted is not None:
        on_gpu = wanted.type == "cuda"
        why = f"backend 'auto' on device '{wanted}'"
        return Backend("warp" if on_gpu else "native", str(wanted), why)
    if cuda:
        return Backend("warp", "cuda:0", "backend 'auto' and a CUDA device is present")
    return Backend("native", "cpu", "backend 'auto' and no CUDA device is present")


def _native(wanted: torch.device | None) -> Backend:
    if wanted is not None and wanted.type != "cpu":
        raise BackendError(
            f"sim.backend='native' runs on the CPU, but device='{wanted}'. "
            "Use device='cpu', or backend='warp'."
        )
    return Backend("native", "cpu", "backend 'native' was asked for")


def _warp(wanted: torch.device | None, cuda: bool) -> Backend:
    if wanted is None and not cuda:
        raise BackendError(
            "sim.backend='warp' needs a CUDA device, and PyTorch sees none. Use "
            "backend='native' (about 5 times faster than Warp on a CPU), or "
            "device='cpu' to run Warp on its CPU device for comparisons."
        )
    return Backend(
        "warp",
        str(wanted) if wanted is not None else "cuda:0",
        "backend 'warp' was asked for",
    )

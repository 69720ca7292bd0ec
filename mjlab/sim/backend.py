"""Selection of the physics engine and its device."""

import logging
from dataclasses import dataclass
from typing import Literal

import torch

from mjlab.driver import no_cuda, old_driver
from mjlab.sim.config import BackendName

EngineName = Literal["warp", "native"]

_log = logging.getLogger(__name__)


class BackendError(ValueError):
    """Raised if an engine or device is unknown or cannot be used on this machine."""


@dataclass(frozen=True)
class Backend:
    """Physics engine, device of its tensors, and the reason for the choice."""

    engine: EngineName
    device: str
    reason: str
    """Reason for this engine, for the startup report."""


def resolve_backend(name: BackendName, device: str | None = None) -> Backend:
    """Choose the engine: `auto` takes Warp on a CUDA device, else native MuJoCo."""
    # PyTorch's builds for CUDA 12 also run on older drivers, Warp's wheel does not.
    cuda = torch.cuda.is_available() and not old_driver()
    wanted = _checked(name, device, cuda)
    if name == "native":
        return Backend("native", "cpu", "backend='native'")
    default = "cuda:0" if cuda else "cpu"
    place = default if wanted is None else str(wanted)
    if name == "warp":
        return Backend("warp", place, "backend='warp'")
    why = f"backend='auto' on device '{wanted}'"
    if wanted is None:
        why = f"backend='auto' with {'a' if cuda else 'no'} CUDA device"
        if old := old_driver():
            why = f"backend='auto': {old}"
            _log.warning("The GPU is not used: %s.", old)
    return Backend("warp" if place.startswith("cuda") else "native", place, why)


def needs_cpu(name: BackendName) -> bool:
    """Return True if the engine runs only on the CPU."""
    return name == "native"


def _checked(name: str, device: str | None, cuda: bool) -> torch.device | None:
    """Return the requested device; raise if the engine cannot run on it."""
    if name not in ("auto", "warp", "native"):
        raise BackendError(
            f"sim.backend={name!r} is unknown. Valid: 'auto', 'warp', 'native'."
        )
    if device is None:
        if name == "warp" and not cuda:
            raise BackendError(
                f"sim.backend='warp' needs a CUDA device, but {no_cuda()}. Use "
                "backend='native' (about 5 times faster than Warp on a CPU), or "
                "device='cpu' to run Warp on its CPU device for comparisons."
            )
        return None
    try:
        wanted = torch.device(device)
    except RuntimeError:
        raise BackendError(
            f"device={device!r} is unknown. Valid: 'cpu', 'cuda', 'cuda:<index>'."
        ) from None
    if wanted.type not in ("cpu", "cuda"):
        raise BackendError(
            f"device={device!r} is not supported. Valid: 'cpu', 'cuda', 'cuda:<index>'."
        )
    if wanted.type == "cuda" and not cuda:
        raise BackendError(
            f"device={device!r}, but there is no CUDA device: {no_cuda()}. "
            "Leave the device out, or use device='cpu'."
        )
    if name == "native" and wanted.type != "cpu":
        raise BackendError(
            f"sim.backend='native' runs on the CPU, but device='{wanted}'. "
            "Use device='cpu', or backend='warp'."
        )
    return wanted

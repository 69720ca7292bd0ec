"""Distributed training of one policy: process ranks and communication.

`torchrun` starts the processes, called by the user or through `relaunch`. Each process
has its own worlds, and gradients are averaged. Only tensors are sent.
"""

import datetime
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch

from mjlab.driver import no_cuda

_TIMEOUT = datetime.timedelta(minutes=10)
"""Timeout of communication, longer than an evaluation on the first process."""


class DistributedError(RuntimeError):
    """Raised for an invalid setup of distributed training."""


@dataclass(frozen=True)
class Ranks:
    """Rank of this process in distributed training."""

    index: int = 0
    """Global rank of this process, over all machines."""

    local: int = 0
    """Local rank of this process, on its machine."""

    world: int = 1
    """Total number of processes."""

    local_world: int = 1
    """Number of processes on this machine."""

    @classmethod
    def from_environment(cls, environ: Mapping[str, str] | None = None) -> "Ranks":
        """Read the ranks from `torchrun`'s environment; a single process if unset."""
        given = os.environ if environ is None else environ
        world = int(given.get("WORLD_SIZE", "1"))
        ranks = cls(
            index=int(given.get("RANK", "0")),
            local=int(given.get("LOCAL_RANK", "0")),
            world=world,
            local_world=int(given.get("LOCAL_WORLD_SIZE", str(world))),
        )
        if not (0 <= ranks.index < world and 0 <= ranks.local < ranks.local_world):
            raise DistributedError(
                f"The environment variables RANK={ranks.index}, WORLD_SIZE={world}, "
                f"LOCAL_RANK={ranks.local} and LOCAL_WORLD_SIZE={ranks.local_world} "
                "are inconsistent. Start the processes with torchrun, which sets them."
            )
        return ranks

    @property
    def is_first(self) -> bool:
        """True for the process that writes logs and checkpoints."""
        return self.index == 0

    @property
    def is_alone(self) -> bool:
        """True for single-process training."""
        return self.world == 1

    def device(self, wanted: str | None = None) -> str:
        """Return this process's device: its own GPU, unless `wanted` overrides it."""
        if not torch.cuda.is_available() and (wanted or "cpu").startswith("cuda"):
            raise DistributedError(
                f"device={wanted!r}, but there is no CUDA device: {no_cuda()}. "
                "Use --device cpu."
            )
        count = torch.cuda.device_count()
        number = (wanted or "").removeprefix("cuda:")
        if number.isdecimal() and int(number) >= count:
            check_gpus([int(number)], count)
        if wanted is not None and wanted != "cuda":
            return wanted
        if not torch.cuda.is_available():
            return "cpu"
        if self.local >= count:
            raise DistributedError(
                f"Process {self.local} on this machine has no GPU: {count} are "
                "visible. Start one process per GPU, or use device='cpu'."
            )
        return f"cuda:{self.local}"

    def threads(self) -> int:
        """Return this process's share of the processors."""
        return max(1, (os.cpu_count() or 1) // self.local_world)

    def join(self, device: str) -> None:
        """Join the process group. The methods below wait for all processes."""
        if self.is_alone or torch.distributed.is_initialized():
            return
        on_gpu = torch.device(device).type == "cuda"
        if on_gpu:
            torch.cuda.set_device(device)
            os.environ.setdefault("MUJOCO_EGL_DEVICE_ID", str(self.local))
        # CPU tensors (seeds, names, checksums) always use gloo.
        backend = "cpu:gloo,cuda:nccl" if on_gpu else "gloo"
        torch.distributed.init_process_group(backend, timeout=_TIMEOUT)

    def leave(self) -> None:
        """Leave the process group, at the end of the process."""
        if not self.is_alone and torch.distributed.is_initialized():
            torch.distributed.destroy_process_group()

    def sum_(self, tensor: torch.Tensor) -> torch.Tensor:
        """Add up a tensor over all processes, in place."""
        if not self.is_alone:
            torch.distributed.all_reduce(tensor)
        return tensor

    def wait(self) -> None:
        """Wait for all processes (barrier)."""
        self.sum_(torch.zeros(1))

    def share_number(self, number: int) -> int:
        """Broadcast a number from the first process, such as a random seed."""
        if self.is_alone:
            return number
        shared = torch.tensor([number], dtype=torch.int64)
        torch.distributed.broadcast(shared, src=0)
        return int(shared)

    def share_text(self, text: str) -> str:
        """Broadcast a text from the first process, such as the name of a folder."""
        if self.is_alone:
            return text
        data = text.encode()
        size = self.share_number(len(data))
        shared = torch.zeros(size, dtype=torch.uint8)
        if self.is_first:
            shared.copy_(torch.frombuffer(bytearray(data), dtype=torch.uint8))
        torch.distributed.broadcast(shared, src=0)
        return bytes(shared.tolist()).decode()

    def gather(self, data: bytes) -> list[bytes]:
        """Gather data of equal length from all processes, in rank order."""
        if self.is_alone:
            return [data]
        own = torch.frombuffer(bytearray(data), dtype=torch.uint8)
        everyone = [torch.zeros_like(own) for _ in range(self.world)]
        torch.distributed.all_gather(everyone, own)
        return [bytes(each.tolist()) for each in everyone]


def relaunch(gpus: Sequence[int]) -> None:
    """Restart this program under `torchrun`, with one process per GPU.

    Returns only if this process was itself started by `torchrun`.
    """
    if "LOCAL_RANK" in os.environ:
        return
    check_gpus(gpus, torch.cuda.device_count())
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    names = visible.split(",") if visible else [str(i) for i in range(max(gpus) + 1)]
    chosen = ",".join(names[gpu] for gpu in gpus)
    environ = os.environ | {"CUDA_VISIBLE_DEVICES": chosen}
    sys.stdout.flush()
    os.execve(sys.executable, torchrun_command(len(gpus)), environ)


def check_gpus(gpus: Sequence[int], count: int) -> None:
    """Raise for invalid GPU indices."""
    if not gpus or len(set(gpus)) != len(gpus):
        raise DistributedError(
            f"gpus={list(gpus)} has to list one or more different GPUs."
        )
    missing = [gpu for gpu in gpus if not 0 <= gpu < count]
    if missing:
        valid = (
            ", ".join(map(str, range(count))) or "none (PyTorch sees no CUDA device)"
        )
        raise DistributedError(f"There is no GPU {missing[0]}. Valid: {valid}.")


def torchrun_command(processes: int) -> list[str]:
    """Return the command line that starts this program in several processes."""
    launcher = [
        *(sys.executable, "-m", "torch.distributed.run", "--standalone"),
        *("--nproc-per-node", str(processes)),
    ]
    # Without "--", torchrun parses `--logs` as an abbreviation of its own option.
    spec = getattr(sys.modules["__main__"], "__spec__", None)
    if spec is None:
        return [*launcher, "--", *sys.argv]
    module = spec.name.removesuffix(".__main__")
    return [*launcher, "--module", "--", module, *sys.argv[1:]]

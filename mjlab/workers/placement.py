"""Choose the devices and processes on which simulation and learner run."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

import torch

from mjlab.driver import no_cuda
from mjlab.envs import ManagerBasedRlEnv, ManagerBasedRlEnvCfg
from mjlab.names import suggest
from mjlab.rl.distributed import Ranks
from mjlab.rl.vecenv import TrainingEnv, terms_of
from mjlab.workers.env import WorkerEnv
from mjlab.workers.shards import Shards

if TYPE_CHECKING:
    from mjlab.rl.loop import TrainingLoop

PlacementName = Literal["gpu", "dual", "cpu", "warp-cpu"]

_BACKENDS = {"gpu": "warp", "dual": "native", "cpu": "native", "warp-cpu": "warp"}


class PlacementError(ValueError):
    """Raised if a placement is impossible on this machine."""


@dataclass(frozen=True)
class Placement:
    """Devices and processes on which simulation and learner run."""

    name: PlacementName
    """Name of the placement."""

    device: str
    """Device of the learner."""

    workers: int | None
    """Number of worker processes for the worlds, None if this process runs them."""

    is_chosen: bool
    """True if the user fixed the number of workers."""

    reason: str
    """Reason for the learner's device, for the start-up report."""

    @property
    def physics(self) -> str:
        """Device of the simulation."""
        return self.device if self.name == "gpu" else "cpu"

    def for_worlds(self, num_envs: int) -> Placement:
        """Limit the workers to one per world, unless the user fixed their number.

        Args:
            num_envs: Number of worlds of this process.
        """
        if self.workers is None:
            return self
        workers = self.workers if self.is_chosen else min(self.workers, num_envs)
        Shards(num_envs, workers)
        return dataclasses.replace(self, workers=workers)

    def applied(self, cfg: ManagerBasedRlEnvCfg) -> ManagerBasedRlEnvCfg:
        """Return the environment's configuration with the engine of the placement."""
        wanted, backend = cfg.sim.backend, _BACKENDS[self.name]
        if wanted not in ("auto", backend):
            raise PlacementError(
                f"Placement {self.name!r} runs the {backend} engine, but "
                f"env.sim.backend is {wanted!r}. Remove one of the two options."
            )
        sim = dataclasses.replace(cfg.sim, backend=backend)
        one_graph = self.name == "gpu" and cfg.mode == "auto"
        mode = "fused" if one_graph else cfg.mode
        return dataclasses.replace(cfg, sim=sim, mode=mode)

    def build(
        self,
        cfg: ManagerBasedRlEnvCfg,
        *,
        first_world: int = 0,
        task: str | None = None,
    ) -> TrainingEnv:
        """Build the training environment on the devices of the placement."""
        cfg = self.applied(cfg)
        workers = self.for_worlds(cfg.scene.num_envs).workers
        if workers is not None:
            return WorkerEnv(cfg, workers, device=self.device, first_world=first_world)
        return ManagerBasedRlEnv(
            cfg, device=self.device, first_world=first_world, task=task
        )


def find_placement(
    name: str,
    *,
    workers: int | None = None,
    cores: int = 1,
    device: str | None = None,
    ranks: Ranks | None = None,
) -> Placement:
    """Return the placement of a given name, on this machine.

    Args:
        name: Name of the placement.
        workers: Worker processes, for "dual". None starts one per processor.
        cores: Number of processors of this process.
        device: Device of the learner. None lets the placement choose.
        ranks: Rank of this process among the training processes.
    """
    known = get_args(PlacementName)
    if name not in known:
        raise PlacementError(f"There is no placement {name!r}. {suggest(name, known)}")
    if workers is not None and name != "dual":
        raise PlacementError(
            f"workers={workers} needs placement 'dual'; {name!r} has no workers."
        )
    ranks = ranks or Ranks()
    chosen, reason = _learner_device(name, device, ranks)
    count = None
    if name == "dual":
        count = cores if workers is None else workers
    return Placement(
        name,  # pyright: ignore[reportArgumentType]
        chosen,
        count,
        is_chosen=workers is not None,
        reason=reason,
    )


def placement_lines(placement: Placement, loop: TrainingLoop) -> list[str]:
    """Return start-up lines: the placement, and the device of each tensor group."""
    env, bound = loop.env, terms_of(loop.env)
    where = "this process"
    if isinstance(env, WorkerEnv):
        count = env.shards.num_workers
        where = f"{count} worker process{'es' if count > 1 else ''}"
    groups = {
        "physics state": str(bound.device),
        "actions, observations, rewards": str(env.device),
        "rollout": str(loop.learner.algorithm.storage.rewards.device),
        "networks": str(next(loop.learner.policy.parameters()).device),
    }
    if isinstance(env, WorkerEnv):
        size = f"shared memory of {env.memory.nbytes / 1e6:.2f} MB"
        ferry = "" if env.device.type == "cpu" else f", copied to {env.device}"
        groups["actions, observations, rewards"] = f"cpu, {size}{ferry}"
    for hook in loop.hooks:
        groups |= {name: str(device) for name, device in hook.tensors().items()}
    listed = "; ".join(f"{name}: {device}" for name, device in groups.items())
    return [
        f"Placement {placement.name}: worlds in {where} on {bound.device}, learner on "
        f"{placement.device}, because {placement.reason}.",
        f"Tensors: {listed}.",
    ]


def _learner_device(name: str, device: str | None, ranks: Ranks) -> tuple[str, str]:
    """Return the learner's device, and the reason for this choice."""
    if name == "gpu":
        if device == "cpu":
            raise PlacementError(
                "Placement 'gpu' needs a CUDA device, but the device is 'cpu'. Remove "
                "one of the two options."
            )
        if not torch.cuda.is_available():
            raise PlacementError(
                f"Placement 'gpu' needs a CUDA device, and {no_cuda()}. Placements "
                "for a CPU: 'dual', 'cpu', 'warp-cpu'."
            )
        return ranks.device(device), "the worlds are on it"
    if name == "dual":
        if device is not None:
            return ranks.device(device), "the user chose it"
        if torch.cuda.is_available():
            return ranks.device(None), "CUDA is available"
        return "cpu", no_cuda()
    if device not in (None, "cpu"):
        raise PlacementError(
            f"Placement {name!r} runs on the CPU, but the device is {device!r}. "
            "Remove one of the two options."
        )
    return "cpu", "the worlds are on it"

"""Divide worlds, and the states of worlds, among workers."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from mjlab.envs.state import StateError

if TYPE_CHECKING:
    from mjlab.envs import ManagerBasedRlEnv, ManagerBasedRlEnvCfg

State = dict[str, torch.Tensor]

_COUNTS = ("nonfinite", "nonfinite_counts")
_TOTALS = frozenset({"quarantine.worlds", "log.sums_and_count"})
_FIGURES = frozenset({"curriculum.values", "log.latest"})
"""Shared tensors that are only logged; no step reads them."""


class ShardError(ValueError):
    """Raised if worlds cannot be divided among workers."""


@dataclass(frozen=True)
class Shards:
    """Contiguous ranges of worlds, one per worker, of about equal size."""

    num_envs: int
    num_workers: int

    def __post_init__(self) -> None:
        if self.num_workers < 1:
            raise ShardError(f"workers={self.num_workers} has to be 1 or more.")
        if self.num_workers > self.num_envs:
            raise ShardError(
                f"{self.num_workers} workers are too many for {self.num_envs} worlds. "
                f"Use at most {self.num_envs} workers, or more worlds "
                "(env.scene.num_envs)."
            )

    @property
    def sizes(self) -> list[int]:
        """Number of worlds of each worker."""
        least, more = divmod(self.num_envs, self.num_workers)
        return [least + (worker < more) for worker in range(self.num_workers)]

    @property
    def slices(self) -> list[slice]:
        """Range of worlds of each worker."""
        ends = torch.tensor(self.sizes).cumsum(0).tolist()
        return [
            slice(end - size, end) for end, size in zip(ends, self.sizes, strict=True)
        ]

    @property
    def sample(self) -> int:
        """Number of worlds of the sample environment, different from every worker's."""
        return next(n for n in (1, 2, 3) if n not in self.sizes)


def check_independent(env: ManagerBasedRlEnv, shards: Shards) -> None:
    """Raise if worlds of different workers depend on each other."""
    if shards.num_workers == 1:
        return
    coupling = env.curriculum_manager.couples_worlds
    coupled = [f"curriculum term {name!r}" for name in coupling]
    coupled += [
        f"command {name!r}"
        for name, command in env.command_manager.terms.items()
        if command.couples_worlds
    ]
    coupled += [
        f"event {name!r} (is_global_time)"
        for name, event in env.cfg.events.items()
        if event is not None and event.is_global_time
    ]
    if coupled:
        raise ShardError(
            f"Worlds depend on each other because of {' and '.join(coupled)}, so they "
            "cannot be divided among workers. Use one worker, or placement 'cpu'."
        )


def shard_cfg(
    cfg: ManagerBasedRlEnvCfg, num_envs: int, seed: int
) -> ManagerBasedRlEnvCfg:
    """Return the environment of one worker: native engine, one thread."""
    return dataclasses.replace(
        cfg,
        seed=seed,
        scene=dataclasses.replace(cfg.scene, num_envs=num_envs),
        sim=dataclasses.replace(cfg.sim, backend="native", num_threads=1),
        # The limit applies to all worlds together: the parent process checks it.
        max_nonfinite_share=1.0,
    )


class StateShape:
    """Finds the world axis of each tensor of an environment's state.

    The axis is found by comparing the states of environments with different numbers of
    worlds. The merged states of all workers equal the state of one environment with all
    worlds, so a run can be resumed with another number of workers, or without workers.
    """

    def __init__(self, sample: State, num_envs: int) -> None:
        """Store the state of a sample environment, to compare other states with it.

        Args:
            sample: State of the environment.
            num_envs: Its number of worlds, which must differ from every worker's.
        """
        self._sample = sample
        self._num_envs = num_envs

    def merged(self, states: Sequence[State]) -> State:
        """Merge the states of all workers, in the order of the workers."""
        names = states[0]
        return {name: self._merge(name, [s[name] for s in states]) for name in names}

    def divided(self, state: State, shards: Shards) -> list[State]:
        """Divide the state of all worlds among the workers."""
        divided: list[State] = [{} for _ in shards.sizes]
        for name, tensor in state.items():
            if name not in self._sample:
                raise StateError(
                    f"The state has {name!r}, which this environment does not have. "
                    "Use a state of the same task."
                )
            pieces = self._divide(name, tensor, shards)
            for part, piece in zip(divided, pieces, strict=True):
                part[name] = piece
        return divided

    def _merge(self, name: str, parts: list[torch.Tensor]) -> torch.Tensor:
        axis = self._axis(name, parts[0])
        if axis is not None:
            return torch.cat(parts, dim=axis)
        if _is_count(name, parts[0]):
            return torch.stack(parts).sum(dim=0, dtype=parts[0].dtype)
        if name in _FIGURES:
            return torch.stack(parts).mean(dim=0)
        if any(not torch.equal(part, parts[0]) for part in parts[1:]):
            raise StateError(
                f"{name!r} has no world axis and differs between workers, so worlds "
                "depend on each other through it. The term must set couples_worlds, "
                "and needs placement 'cpu'."
            )
        return parts[0]

    def _divide(
        self, name: str, tensor: torch.Tensor, shards: Shards
    ) -> Sequence[torch.Tensor]:
        axis = self._axis(name, tensor)
        if axis is not None:
            each = self._sample[name].shape[axis] // self._num_envs
            return tensor.split([size * each for size in shards.sizes], dim=axis)
        if _is_count(name, tensor):
            rest = [torch.zeros_like(tensor)] * (shards.num_workers - 1)
            return [tensor, *rest]
        return [tensor] * shards.num_workers

    def _axis(self, name: str, tensor: torch.Tensor) -> int | None:
        """Return the world axis of a tensor, None if it has none."""
        sizes = zip(self._sample[name].shape, tensor.shape, strict=True)
        return next((i for i, (a, b) in enumerate(sizes) if a != b), None)


def _is_count(name: str, tensor: torch.Tensor) -> bool:
    is_counter = tensor.dtype == torch.int64 and name.endswith(_COUNTS)
    return is_counter or name in _TOTALS

"""A muscle network and its rows, where worlds and learner are different processes."""

from __future__ import annotations

from collections.abc import Mapping

import torch

from mjlab.muscle.buffer import MuscleTupleBuffer
from mjlab.muscle.network import MuscleNetwork
from mjlab.muscle.store import WeightStore


class SharedMuscles:
    """What a muscle action has in common with the same one in other processes.

    Weights go from the learner to all workers, and change there only when a rollout
    begins. Rows go the other way: each worker writes those of its worlds to their
    places, so that the learner's batch is the same whoever has which worlds.

    Until `share` is called, the action is alone and nothing here does anything.
    """

    def __init__(self, network: MuscleNetwork, buffer: MuscleTupleBuffer) -> None:
        """Remember what is to be shared."""
        self._network = network
        self._buffer = buffer
        self._store: WeightStore | None = None
        self.version = 0
        """Of the weights in use, as the store counts them; 0 is the first ones."""

    def fields(
        self, num_envs: int, num_workers: int
    ) -> dict[str, tuple[tuple[int, ...], torch.dtype]]:
        """Shape and type of the memory that is shared, by name.

        Args:
            num_envs: Worlds of all workers.
            num_workers: Processes that have worlds.
        """
        weights = WeightStore.nbytes_for(self._network)
        steps, width = self._buffer.num_steps, self._buffer.layout.width
        return {
            "weights": ((weights,), torch.uint8),
            "rows": ((steps, num_envs, width), torch.float32),
            # A worker's own count: nobody waits for anybody here.
            "steps": ((num_workers, 1), torch.int64),
        }

    def share(
        self,
        memory: Mapping[str, torch.Tensor],
        *,
        worlds: slice = slice(None),
        worker: int = 0,
    ) -> None:
        """Use memory that other processes use as well.

        Args:
            memory: As `fields` says, all zero when the first one comes.
            worlds: The worlds of this process; the learner sees all.
            worker: Which worker this is; the learner goes by the first.
        """
        self._store = WeightStore(self._network, memory["weights"].numpy().data)
        self._buffer.move(memory["rows"][:, worlds], memory["steps"][worker])

    def publish(self, state: Mapping[str, torch.Tensor]) -> None:
        """Give weights to the workers, who take them when the next rollout begins."""
        if self._store is not None:
            self.version = self._store.publish(state)

    def begin_rollout(self) -> None:
        """Take the newest weights, in a worker."""
        if self._store is not None and self._store.version != self.version:
            self.version = self._store.fetch(self._network)

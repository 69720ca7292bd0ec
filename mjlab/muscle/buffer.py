"""Buffer of training samples (rows) for the muscle network.

It stores one row per world and control step.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import nn

from mjlab.muscle.map import MuscleMap
from mjlab.muscle.store import WeightStore


@dataclass(frozen=True)
class TupleLayout:
    """Column layout of a row, which is one training sample.

    A row contains the reduced torque map and the target torque. For a network in a
    cascade, the row also contains the output of the earlier networks and the network's
    weight. For muscles with activation dynamics, it also contains the activations.
    """

    num_entries: int
    num_dofs: int
    num_muscles: int
    is_cascaded: bool = False
    has_activation: bool = False

    @classmethod
    def for_map(
        cls,
        muscle_map: MuscleMap,
        *,
        is_cascaded: bool = False,
        has_activation: bool = False,
    ) -> TupleLayout:
        """Return the column layout for a muscle map."""
        sizes = (muscle_map.num_entries, muscle_map.num_dofs, muscle_map.num_muscles)
        return cls(*sizes, is_cascaded, has_activation)

    @property
    def widths(self) -> dict[str, int]:
        """Number of columns of each part of a row, in order."""
        widths = {"red": self.num_entries, "torque": self.num_dofs}
        if self.is_cascaded:
            widths |= {"previous": self.num_muscles, "weight": 1}
        if self.has_activation:
            widths["activation"] = self.num_muscles
        return widths

    @property
    def width(self) -> int:
        """Number of columns of a row."""
        return sum(self.widths.values())

    def parts(self, rows: torch.Tensor) -> dict[str, torch.Tensor]:
        """Split rows into their parts by name, as views of shape (..., width)."""
        pieces = rows.split(list(self.widths.values()), dim=-1)
        return dict(zip(self.widths, pieces, strict=True))


class MuscleTupleBuffer:
    """Ring buffer of the last control steps, with one substep per world and step.

    The substep is drawn uniformly at the start of the control step. Its row is stored
    as a whole, so that torque map and torque come from the same substep. The row of
    step s has a fixed index, independent of the speed of the workers. All methods
    except `rows` can be captured in a CUDA graph.
    """

    def __init__(
        self,
        layout: TupleLayout,
        num_envs: int,
        num_steps: int,
        num_substeps: int,
        device: torch.device | str = "cpu",
    ) -> None:
        """Allocate the buffer.

        Args:
            layout: Column layout of a row.
            num_envs: Number of worlds.
            num_steps: Control steps to keep; the oldest are overwritten.
            num_substeps: Substeps of a control step.
            device: Device of the worlds.
        """
        self.layout = layout
        self.num_substeps = num_substeps
        self._ring = torch.zeros(num_steps, num_envs, layout.width, device=device)
        self._row = torch.zeros(num_envs, layout.width, device=device)
        self._offered = torch.zeros_like(self._row)
        self._chosen = torch.zeros(num_envs, dtype=torch.long, device=device)
        self._substep = torch.zeros_like(self._chosen)
        self._step = torch.zeros(1, dtype=torch.long, device=device)

    def begin(self, draws: torch.Tensor) -> None:
        """Begin a control step, and select the substep to record in each world.

        Args:
            draws: Uniform numbers in [0, 1), shape (num_envs,), that select the substep
                of each world.
        """
        chosen = (draws * self.num_substeps).long()
        self._chosen.copy_(chosen.clamp(0, self.num_substeps - 1))
        self._substep.zero_()

    def record(self, **parts: torch.Tensor) -> None:
        """Record the current substep in the worlds that selected it.

        Args:
            parts: Parts of the layout by name, each of shape (num_envs, width).
        """
        row = torch.cat([parts[name] for name in self.layout.widths], dim=-1)
        is_chosen = (self._chosen == self._substep).unsqueeze(-1)
        torch.where(is_chosen, row, self._offered, out=self._offered)
        self._substep += 1

    def end(self) -> None:
        """Append the rows of the finished control step to the ring buffer.

        A row with non-finite values is replaced by the world's previous row.
        """
        is_finite = self._offered.sum(-1, keepdim=True).isfinite()
        torch.where(is_finite, self._offered, self._row, out=self._row)
        place = self._step % self._ring.shape[0]
        self._ring.index_copy_(0, place, self._row.unsqueeze(0))
        self._step += 1

    def rows(self) -> torch.Tensor:
        """Return all stored rows, ordered by step and then world, shape (n, width).

        Waits for the device. Steps are in buffer order, not in order of age.
        """
        filled = min(int(self._step.item()), self._ring.shape[0])
        return self._ring[:filled].reshape(-1, self.layout.width)

    def move(self, ring: torch.Tensor, step: torch.Tensor) -> None:
        """Use other storage, such as memory shared by several processes.

        Args:
            ring: New storage, shape (num_steps, worlds, width). Its rows replace the
                rows of the buffer, and its number of worlds can differ.
            step: Number of control steps ever written to `ring`, shape (1,), int64.
        """
        self._ring, self._step = ring, step

    @property
    def num_steps(self) -> int:
        """Capacity in control steps."""
        return self._ring.shape[0]

    def clear(self) -> None:
        """Remove all rows."""
        self._step.zero_()

    def state_dict(self) -> dict[str, torch.Tensor]:
        """Return the live state tensors between control steps."""
        return {"ring": self._ring, "row": self._row, "step": self._step}

    def load_state_dict(self, state: dict[str, torch.Tensor]) -> None:
        """Restore the state that `state_dict` returned."""
        for name, tensor in self.state_dict().items():
            tensor.copy_(state[name])


class SharedMuscles:
    """Memory that a muscle action shares with its copies in other processes.

    Weights go from the learner to all workers, which load them only when a rollout
    begins. Training samples (rows) go from the workers to the learner. Each row has a
    fixed index, so the learner's batch does not depend on the assignment of worlds to
    workers.

    Before `share` is called, all methods do nothing.
    """

    def __init__(self, network: nn.Module, buffer: MuscleTupleBuffer) -> None:
        self._network = network
        self._buffer = buffer
        self._store: WeightStore | None = None
        self.version = 0
        """Version of the weights in use, from the store; 0 for the initial weights."""

    def fields(
        self, num_envs: int, num_workers: int
    ) -> dict[str, tuple[tuple[int, ...], torch.dtype]]:
        """Return shapes and dtypes of the shared memory, by name."""
        weights = WeightStore.nbytes_for(self._network)
        steps, width = self._buffer.num_steps, self._buffer.layout.width
        return {
            "weights": ((weights,), torch.uint8),
            "rows": ((steps, num_envs, width), torch.float32),
            # One counter per worker, so that workers do not wait for each other.
            "steps": ((num_workers, 1), torch.int64),
        }

    def share(
        self,
        memory: Mapping[str, torch.Tensor],
        *,
        worlds: slice = slice(None),
        worker: int = 0,
    ) -> None:
        """Switch to shared memory.

        Args:
            memory: Tensors described by `fields`, zeroed before the first call.
            worlds: Worlds of this process; the learner passes all worlds.
            worker: Index of this worker; the learner reads the counter of worker 0.
        """
        self._store = WeightStore(self._network, memory["weights"].numpy().data)
        self._buffer.move(memory["rows"][:, worlds], memory["steps"][worker])

    def publish(self, state: Mapping[str, torch.Tensor]) -> None:
        """Publish weights; workers load them when the next rollout begins."""
        if self._store is not None:
            self.version = self._store.publish(state)

    def begin_rollout(self) -> None:
        """Load the newest published weights; called in workers."""
        if self._store is not None and self._store.version != self.version:
            self.version = self._store.fetch(self._network)

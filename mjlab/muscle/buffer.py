"""Rows for the muscle network to learn from: one for each world and control step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch

from mjlab.muscle.map import MuscleMap
from mjlab.muscle.network import MuscleNetwork
from mjlab.muscle.store import WeightStore


@dataclass(frozen=True)
class TupleLayout:
    """Places of the parts of a row.

    First the reduced torque map and the wanted torque; for a network of a cascade then
    what the networks before it gave and its weight; for muscles that follow their
    excitation late, the activations.
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
        """Return the layout for a model."""
        sizes = (muscle_map.num_entries, muscle_map.num_dofs, muscle_map.num_muscles)
        return cls(*sizes, is_cascaded, has_activation)

    @property
    def widths(self) -> dict[str, int]:
        """Numbers of each part of a row, in order."""
        widths = {"red": self.num_entries, "torque": self.num_dofs}
        if self.is_cascaded:
            widths |= {"previous": self.num_muscles, "weight": 1}
        if self.has_activation:
            widths["activation"] = self.num_muscles
        return widths

    @property
    def width(self) -> int:
        """Numbers of a row."""
        return sum(self.widths.values())

    def parts(self, rows: torch.Tensor) -> dict[str, torch.Tensor]:
        """Return the parts of rows by name, as views of shape (..., width)."""
        pieces = rows.split(list(self.widths.values()), dim=-1)
        return dict(zip(self.widths, pieces, strict=True))


class MuscleTupleBuffer:
    """Keeps the rows of the last control steps, one substep of each world and step.

    Which substep that is, is drawn at the start of the control step, so that each is as
    likely as any other; the row is then stored whole, so that a map and a torque always
    belong together. Step s stands at the same place whoever is quick or slow. All of it
    can be part of a CUDA graph, except `rows`.
    """

    def __init__(
        self,
        layout: TupleLayout,
        num_envs: int,
        num_steps: int,
        num_substeps: int,
        device: torch.device | str = "cpu",
    ) -> None:
        """Allocate.

        Args:
            layout: What stands in a row.
            num_envs: The number of worlds.
            num_steps: Control steps to keep; the oldest make room.
            num_substeps: Substeps of a control step.
            device: Where the worlds are.
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
        """Begin a control step.

        Args:
            draws: Uniform numbers from 0 to below 1, shape (num_envs,), which choose
                the substep of each world.
        """
        chosen = (draws * self.num_substeps).long()
        self._chosen.copy_(chosen.clamp(0, self.num_substeps - 1))
        self._substep.zero_()

    def record(self, **parts: torch.Tensor) -> None:
        """Offer the present substep; worlds that chose it take it.

        Args:
            parts: The parts of the layout by name, each of shape (num_envs, width).
        """
        row = torch.cat([parts[name] for name in self.layout.widths], dim=-1)
        is_chosen = (self._chosen == self._substep).unsqueeze(-1)
        torch.where(is_chosen, row, self._offered, out=self._offered)
        self._substep += 1

    def end(self) -> None:
        """Store the rows of the control step.

        A world whose numbers are not finite keeps the row that it had.
        """
        is_finite = self._offered.sum(-1, keepdim=True).isfinite()
        torch.where(is_finite, self._offered, self._row, out=self._row)
        place = self._step % self._ring.shape[0]
        self._ring.index_copy_(0, place, self._row.unsqueeze(0))
        self._step += 1

    def rows(self) -> torch.Tensor:
        """Return the rows kept, by step and then world, shape (n, width).

        Waits for the device. Steps come in the order of their places, not of their age.
        """
        filled = min(int(self._step.item()), self._ring.shape[0])
        return self._ring[:filled].reshape(-1, self.layout.width)

    def move(self, ring: torch.Tensor, step: torch.Tensor) -> None:
        """Keep the rows elsewhere from now on, such as in memory of several processes.

        Args:
            ring: Where rows go, shape (num_steps, worlds, width). What it holds is what
                the buffer holds from now on, of as many worlds as it has.
            step: How many steps it holds or has held, shape (1,), int64.
        """
        self._ring, self._step = ring, step

    @property
    def num_steps(self) -> int:
        """Control steps that are kept."""
        return self._ring.shape[0]

    def clear(self) -> None:
        """Forget every row."""
        self._step.zero_()

    def state_dict(self) -> dict[str, torch.Tensor]:
        """Return the live tensors that what comes after a control step depends on."""
        return {"ring": self._ring, "row": self._row, "step": self._step}

    def load_state_dict(self, state: dict[str, torch.Tensor]) -> None:
        """Continue from what `state_dict` gave."""
        for name, tensor in self.state_dict().items():
            tensor.copy_(state[name])


class SharedMuscles:
    """Memory that a muscle action shares with the same one in other processes.

    Weights go from the learner to all workers, and change there only when a rollout
    begins. Rows go the other way: each worker writes those of its worlds to their
    places, so that the learner's batch is the same whoever has which worlds.

    Until `share` is called, the action is alone and nothing here does anything.
    """

    def __init__(self, network: MuscleNetwork, buffer: MuscleTupleBuffer) -> None:
        self._network = network
        self._buffer = buffer
        self._store: WeightStore | None = None
        self.version = 0
        """Version of the weights in use, as the store counts; 0 is the first ones."""

    def fields(
        self, num_envs: int, num_workers: int
    ) -> dict[str, tuple[tuple[int, ...], torch.dtype]]:
        """Return shape and type of the memory that all workers share, by name."""
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
            worker: The number of this worker; the learner goes by the first.
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

"""Regression that fits the muscle network to the recorded target torques."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import torch

from mjlab.muscle.buffer import TupleLayout
from mjlab.muscle.config import MuscleLearnerCfg
from mjlab.muscle.coordinator import BoxQp
from mjlab.muscle.force import muscle_act_rate
from mjlab.muscle.network import MuscleNetwork, cascade_term
from mjlab.muscle.state import TorqueMap

_CHUNK = 4096
"""Batch size of the optimisation, in rows."""
_GAP_ITERATIONS = 200
_INFEASIBLE = 10.0
"""Torque error of the optimum above which a target torque is infeasible, in N m."""

Parts = dict[str, torch.Tensor]


class LearnerError(ValueError):
    """Error for invalid training rows or settings."""


class MuscleRegression:
    """Trains a muscle network, on the device of the worlds or on another device.

    The network is not copied: if the worlds use the same network on the same device,
    new weights take effect without being published.
    """

    def __init__(
        self,
        network: MuscleNetwork,
        torque_map: TorqueMap,
        layout: TupleLayout,
        cfg: MuscleLearnerCfg | None = None,
        *,
        dynprm: torch.Tensor | None = None,
        timestep: float | None = None,
    ) -> None:
        """Create the optimiser, and the solver that computes optimal activations.

        Args:
            network: The network to train, on the learner's device.
            torque_map: Torque map of the model, on the same device.
            layout: Column layout of a row.
            cfg: Training settings. None uses the default preset.
            dynprm: Dynamics parameters of the muscles, shape (num_muscles, 3 or more),
                for a layout with activations. The loss then uses the torques one
                physics step later.
            timestep: Physics timestep, in s, required with `dynprm`.
        """
        self.cfg = MuscleLearnerCfg() if cfg is None else cfg
        self.network = network
        self._layout = layout
        self._map = torque_map
        self._qp = BoxQp(
            torque_map,
            effort_weight=self.cfg.effort_weight,
            torque_scale=self.cfg.torque_scale,
        )
        if layout.has_activation and (dynprm is None or timestep is None):
            raise LearnerError(
                "The layout has activations, so pass `dynprm` and `timestep`."
            )
        self._dynprm, self._timestep = dynprm, timestep
        self._device = network.muscle_scale.device
        self._optimizer = torch.optim.Adam(
            network.parameters(), lr=self.cfg.learning_rate
        )
        self._generator = torch.Generator().manual_seed(self.cfg.seed)
        self._updates = 0

    def learn(self, rows: torch.Tensor) -> dict[str, Any]:
        """Fit the network to training rows.

        Returns the loss, and the metrics of `measure` on the held-out rows.

        Args:
            rows: Rows of `MuscleTupleBuffer.rows`, on any device, shape (n, width).
        """
        begun = time.perf_counter()
        self._check(rows)
        order = torch.randperm(rows.shape[0], generator=self._generator)
        held = min(self.cfg.held_out, rows.shape[0] // 8)
        used = order[held : held + self.cfg.max_rows]
        tested = rows[order[:held].to(rows.device)].to(self._device)
        learned = rows[used.to(rows.device)].to(self._device)
        taught = self._teach(learned) if self.cfg.teacher_weight else None
        self._set_learning_rate()
        loss = self._run_epochs(learned, taught)
        self._updates += 1
        figures = self.measure(tested if held else learned)
        # The only synchronisation with the device in an update, besides `measure`.
        figures["loss"] = float(loss)
        figures["learn_ms"] = 1000.0 * (time.perf_counter() - begun)
        figures["rows"] = learned.shape[0]
        figures["tuple_bytes"] = rows.numel() * rows.element_size()
        return figures

    def measure(self, rows: torch.Tensor) -> dict[str, Any]:
        """Evaluate the network on rows, compared with the optimum.

        `optimality_gap` is the network's objective minus the optimum's,
        `infeasible_share` the fraction of rows whose torque the optimum misses by more
        than 10 N m, and `rms_of_dof` the residual of each dof in N m.
        """
        with torch.no_grad():
            parts = self._layout.parts(rows.to(self._device))
            red, torque = parts["red"], parts["torque"]
            wanted, _ = self._activation(parts)
            activation = self._reached(parts, wanted)
            residual = self._map.torque(red, activation) - torque
            optimum = self._qp.solve(red, torque, iterations=_GAP_ITERATIONS)
            missed = self._map.torque(red, optimum) - torque
            own = self._qp.objective(red, torque, activation).mean()
            best = self._qp.objective(red, torque, optimum).mean()
            infeasible = missed.abs().amax(-1) > _INFEASIBLE
            return {
                "rms_torque": float(residual.square().mean().sqrt()),
                "rms_of_dof": residual.square().mean(0).sqrt().tolist(),
                "optimum_rms_torque": float(missed.square().mean().sqrt()),
                "mean_square_activation": float(activation.square().mean()),
                "optimum_mean_square": float(optimum.square().mean()),
                "zero_share": float((wanted == 0.0).float().mean()),
                "full_share": float((wanted > 0.99).float().mean()),
                "objective": float(own),
                "optimality_gap": float(own - best),
                "infeasible_share": float(infeasible.float().mean()),
            }

    def loss(self, rows: torch.Tensor, taught: torch.Tensor | None) -> torch.Tensor:
        """Return the loss of rows.

        Args:
            rows: Shape (n, width).
            taught: Optimal activations, shape (n, num_muscles). None omits the term
                that compares the network's activations with them.
        """
        parts = self._layout.parts(rows)
        wanted, y = self._activation(parts)
        activation = self._reached(parts, wanted)
        made = self._map.torque(parts["red"], activation)
        miss = (made - parts["torque"]) / self.cfg.torque_scale
        loss = (miss * miss).mean()
        loss = loss + self.cfg.effort_weight * (activation * activation).mean()
        loss = loss + self.cfg.output_weight * (y * y).mean()
        if taught is not None:
            away = wanted - taught
            loss = loss + self.cfg.teacher_weight * (away * away).mean()
        return loss

    def state_dict(self) -> dict[str, Any]:
        """Return the state for a bit-exact resume."""
        return {
            "network": self.network.state_dict(),
            "optimizer": self._optimizer.state_dict(),
            "generator": self._generator.get_state(),
            "updates": self._updates,
        }

    def get_state_dict(self) -> dict[str, np.ndarray]:
        """Return copies of weights and scales as NumPy arrays."""
        return {
            name: tensor.detach().cpu().numpy().copy()
            for name, tensor in self.network.state_dict().items()
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore the state that `state_dict` returned."""
        self.network.load_state_dict(state["network"])
        self._optimizer.load_state_dict(state["optimizer"])
        self._generator.set_state(state["generator"])
        self._updates = int(state["updates"])

    def _activation(self, parts: Parts) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the network's activations and raw outputs."""
        red, torque = parts["red"], parts["torque"]
        if self._layout.is_cascaded:
            before, weight = parts["previous"], parts["weight"]
            y = before + cascade_term(self.network, red, torque, before, weight)
        else:
            y = self.network(red, torque)
        return self.network.activation(y), y

    def _reached(self, parts: Parts, wanted: torch.Tensor) -> torch.Tensor:
        """Return the activations after one step (`wanted` without dynamics)."""
        if self._dynprm is None or self._timestep is None:
            return wanted
        act = parts["activation"]
        return act + self._timestep * muscle_act_rate(wanted, act, self._dynprm)

    def _teach(self, rows: torch.Tensor) -> torch.Tensor:
        chunks = []
        for chunk in rows.split(_CHUNK):
            parts, count = self._layout.parts(chunk), self.cfg.teacher_iterations
            optimum = self._qp.solve(parts["red"], parts["torque"], iterations=count)
            chunks.append(optimum)
        return torch.cat(chunks)

    def _run_epochs(
        self, rows: torch.Tensor, taught: torch.Tensor | None
    ) -> torch.Tensor:
        """Train for all epochs, and return the mean loss of the last epoch."""
        total = rows.new_zeros(())
        for _ in range(self.cfg.epochs):
            order = torch.randperm(rows.shape[0], generator=self._generator)
            total = rows.new_zeros(())
            for index in order.to(self._device).split(self.cfg.batch_size):
                labels = None if taught is None else taught[index]
                loss = self.loss(rows[index], labels)
                self._optimizer.zero_grad(set_to_none=True)
                loss.backward()
                self._limit_gradients()
                self._optimizer.step()
                total += loss.detach() * (index.shape[0] / rows.shape[0])
        return total

    def _limit_gradients(self) -> None:
        parameters = list(self.network.parameters())
        if self.cfg.max_grad is not None:
            torch.nn.utils.clip_grad_value_(parameters, self.cfg.max_grad)
        if self.cfg.max_grad_norm is not None:
            torch.nn.utils.clip_grad_norm_(parameters, self.cfg.max_grad_norm)

    def _set_learning_rate(self) -> None:
        share = min(self._updates / max(1, self.cfg.decay_updates), 1.0)
        first, last = self.cfg.learning_rate, self.cfg.final_learning_rate
        for group in self._optimizer.param_groups:
            group["lr"] = first + share * (last - first)

    def _check(self, rows: torch.Tensor) -> None:
        if rows.shape[-1] != self._layout.width:
            raise LearnerError(
                f"Rows have {rows.shape[-1]} columns; this model needs "
                f"{self._layout.width}."
            )
        few = rows.shape[0] < self.cfg.batch_size and not self.cfg.allow_small_batch
        if few or not rows.shape[0]:
            raise LearnerError(
                f"There are {rows.shape[0]} rows, fewer than batch_size="
                f"{self.cfg.batch_size}. Collect more, lower it, or set "
                "allow_small_batch=True."
            )

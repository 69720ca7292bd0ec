"""Traced functions of MuJoCo's data, as ONNX models for simulations of the policy."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import onnx
import torch
from torch import Tensor

from mjlab.export.graph import Graph, Values, onnx_model, pruned, traced
from mjlab.export.trace import Tracer
from mjlab.muscle.action import MuscleAction
from mjlab.sim.fields import STAGE_OF

TOLERANCE = 1e-4
"""Tolerance of traced outputs: absolute for values up to 1, relative above."""


class Simulated:
    """Traced function of MuJoCo's data and of a state, for one world.

    Subclasses compute the outputs in `step`. Outputs that cannot be traced are listed
    in `held`, with the reason.
    """

    def __init__(self, tracer: Tracer) -> None:
        """Collect the fields of MuJoCo's data that traced code can read.

        Args:
            tracer: Tracer of the environment.
        """
        self.tracer = tracer
        engine = tracer.env.sim.engine
        self.fields: Values = {
            name: tensor
            for name in STAGE_OF
            if isinstance(tensor := engine.data(name), Tensor)
            and tensor.dtype == torch.float32
            and tensor.numel()
        }
        """Live fields of MuJoCo's data, by name."""
        self.memory: Values = {}
        """Live state tensors by name, which the function updates."""
        self.given: Values = {}
        """Other live tensors that the function reads, by name."""
        self.held: dict[str, str] = {}
        """Outputs that are not traced, with the reason."""

    def step(self, values: Values, names: Sequence[str]) -> Values:
        """Return outputs by name, and next states as "next_NAME".

        Args:
            values: Traced fields, states and given tensors, by name.
            names: Outputs to compute.
        """
        raise NotImplementedError

    @property
    def known(self) -> Values:
        """Live tensors of all inputs, by name."""
        return self.fields | self.given | self.memory

    def graph(self, names: Sequence[str]) -> Graph:
        """Trace the named outputs and the states that they need."""

        def whole(given: Values) -> Values:
            rows = {n: v.reshape(like[n].shape) for n, v in given.items()}
            rows = {n: v.to(like[n].dtype) for n, v in rows.items()}
            found = self.step(rows, names)
            return {n: v.float().reshape(v.shape[1:] or (1,)) for n, v in found.items()}

        like = self.known
        states = {name: f"next_{name}" for name in self.memory}
        return pruned(traced(whole, self._examples()), states)

    @contextmanager
    def uncached(self) -> Iterator[None]:
        """Clear cached quantities before and after, so that terms recompute them."""
        terms = self.tracer.env.action_manager.terms.values()
        muscles = [term for term in terms if isinstance(term, MuscleAction)]
        with self.tracer.unmeasured():
            for term in muscles:
                term.invalidate()
            try:
                yield
            finally:
                for term in muscles:
                    term.invalidate()

    def entries(self, graph: Graph, initial: Mapping[str, Tensor]) -> dict[str, Any]:
        """Return the contract entries of a graph's inputs and states.

        Args:
            graph: The graph.
            initial: State tensors after a reset, by name.
        """
        inputs = self.fields | self.given
        return {
            "inputs": [
                array(n, inputs[n].shape[1:]) for n in graph.inputs if n in inputs
            ],
            "states": [
                array(name, start.shape[1:])
                | {"next": f"next_{name}", "initial": start.float().flatten().tolist()}
                for name in graph.inputs
                if (start := initial.get(name)) is not None
            ],
        }

    def onnx(self, graph: Graph) -> onnx.ModelProto:
        """Return the ONNX model of a graph."""
        return onnx_model(graph, self._examples(), {})

    def now(self, tensors: Values) -> Values:
        """Copy live tensors to graph inputs: float32, without the world dimension."""
        return {n: _row(tensor) for n, tensor in tensors.items()}

    def _examples(self) -> Values:
        return self.now(self.known)


def _row(tensor: Tensor) -> Tensor:
    own = tensor[0] if tensor.ndim > 1 else tensor
    return own.to(torch.float32, copy=True)


def is_close(found: Tensor, wanted: Tensor) -> bool:
    """Return whether a traced value equals the environment's within the tolerance."""
    away = (found - wanted).abs() / wanted.abs().clamp(min=1.0)
    return bool((away <= TOLERANCE).all())


def one_line(error: Exception) -> str:
    """Return the message of an error without line breaks."""
    return " ".join(str(error).split())


def array(name: str, shape: Sequence[int]) -> dict[str, Any]:
    """Return the contract entry of a float32 array; scalars have shape (1,)."""
    return {"name": name, "shape": list(shape) or [1], "dtype": "float32"}

"""An ONNX graph while it is built: values are names, and an operation adds one.

It is built by hand rather than traced, so that it has only what the policy means, with
names that can be read, and needs no exporter that changes from version to version.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from numpy.typing import ArrayLike, NDArray
from onnx import helper, numpy_helper

OPSET = 17
"""Version of the operations: old enough for runtimes on robots."""

IR_VERSION = 8
"""Version of the file format that came with it."""


@dataclass(frozen=True, kw_only=True)
class State:
    """Something that the policy remembers: the caller brings it back at each call."""

    name: str
    """The input that takes it."""

    next: str
    """The output that gives what to bring at the next call."""

    shape: tuple[int, ...]
    """Its shape."""

    dtype: str
    """Its type, as NumPy calls it."""

    initial: float
    """What all of it is at first."""

    meaning: str
    """What it is, in words."""


@dataclass
class Graph:
    """Nodes, constants, inputs and outputs, in the order in which they were added."""

    nodes: list[onnx.NodeProto] = field(default_factory=list)
    constants: list[onnx.TensorProto] = field(default_factory=list)
    inputs: list[onnx.ValueInfoProto] = field(default_factory=list)
    outputs: list[onnx.ValueInfoProto] = field(default_factory=list)
    states: list[State] = field(default_factory=list)
    _nexts: list[onnx.ValueInfoProto] = field(default_factory=list)
    _count: int = 0

    def input(self, name: str, shape: Sequence[int], dtype: str = "float32") -> str:
        """Add an input, and return its value."""
        self.inputs.append(_info(name, shape, dtype))
        return name

    def output(self, name: str, value: str, shape: Sequence[int]) -> None:
        """Give a value out under a name of its own."""
        self.nodes.append(helper.make_node("Identity", [value], [name], name=name))
        self.outputs.append(_info(name, shape, "float32"))

    def state(
        self,
        name: str,
        shape: Sequence[int],
        meaning: str,
        *,
        initial: float = 0.0,
        dtype: str = "float32",
    ) -> str:
        """Add something to remember, and return its present value."""
        state = State(
            name=f"state_{name}",
            next=f"next_{name}",
            shape=tuple(shape),
            dtype=dtype,
            initial=initial,
            meaning=meaning,
        )
        self.states.append(state)
        return self.input(state.name, shape, dtype)

    def remember(self, name: str, value: str) -> None:
        """Say what a state is at the next call."""
        state = next(s for s in self.states if s.name == f"state_{name}")
        node = helper.make_node("Identity", [value], [state.next], name=state.next)
        self.nodes.append(node)
        self._nexts.append(_info(state.next, state.shape, state.dtype))

    def constant(self, values: ArrayLike, dtype: str = "float32") -> str:
        """Add a constant, and return its value."""
        name = self._new("constant")
        array: NDArray[Any] = np.ascontiguousarray(np.asarray(values, dtype))
        shaped = array.reshape(np.shape(values))
        self.constants.append(numpy_helper.from_array(shaped, name))
        return name

    def add(self, operation: str, *values: str, **attributes: Any) -> str:
        """Add an operation with one result, and return that."""
        return self.add_many(operation, values, 1, **attributes)[0]

    def add_many(
        self, operation: str, values: Sequence[str], count: int, **attributes: Any
    ) -> list[str]:
        """Add an operation, and return its results. An empty name stands for none."""
        name = self._new(operation.lower())
        results = [name if i == 0 else f"{name}.{i}" for i in range(count)]
        self.nodes.append(
            helper.make_node(operation, list(values), results, name=name, **attributes)
        )
        return results

    def join(self, values: Sequence[str], axis: int = 0) -> str:
        """Put values side by side."""
        return self.add("Concat", *values, axis=axis)

    def shaped(self, value: str, shape: Sequence[int]) -> str:
        """The same numbers in another shape."""
        return self.add("Reshape", value, self.constant(list(shape), "int64"))

    def part(self, value: str, start: int, stop: int) -> str:
        """A run of entries along the first dimension."""
        ends = [self.constant([place], "int64") for place in (start, stop, 0)]
        return self.add("Slice", value, *ends)

    def model(self, metadata: Mapping[str, str]) -> onnx.ModelProto:
        """The whole as a file's content, after ONNX's own check."""
        graph = helper.make_graph(
            self.nodes,
            "policy",
            self.inputs,
            [*self.outputs, *self._nexts],
            self.constants,
        )
        model = helper.make_model(
            graph,
            producer_name="mjlab-fused",
            opset_imports=[helper.make_opsetid("", OPSET)],
            ir_version=IR_VERSION,
        )
        helper.set_model_props(model, dict(metadata))
        onnx.checker.check_model(model, full_check=True)
        return model

    def _new(self, kind: str) -> str:
        self._count += 1
        return f"{kind}_{self._count}"


def _info(name: str, shape: Sequence[int], dtype: str) -> onnx.ValueInfoProto:
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    return helper.make_tensor_value_info(name, kind, list(shape))

"""An ONNX graph while it is built: values are names, and an operation adds one.

All but the network is built by hand rather than traced, so that it has only what the
policy means, with names that can be read.
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


@dataclass(frozen=True)
class OnnxState:
    """A memory of the policy: the caller brings it back at each call."""

    name: str
    """The input that takes it."""

    next: str
    """The output that gives what to bring at the next call."""

    shape: tuple[int, ...]
    """Its shape."""

    dtype: str
    """Its type, as NumPy calls it."""

    initial: float
    """The value of all of it at first."""

    meaning: str
    """Its meaning, in words."""


@dataclass
class Graph:
    """Nodes, constants, inputs and outputs, in the order in which they were added."""

    nodes: list[onnx.NodeProto] = field(default_factory=list)
    constants: list[onnx.TensorProto] = field(default_factory=list)
    inputs: list[onnx.ValueInfoProto] = field(default_factory=list)
    outputs: list[onnx.ValueInfoProto] = field(default_factory=list)
    states: list[OnnxState] = field(default_factory=list)
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
        names = (f"state_{name}", f"next_{name}")
        self.states.append(OnnxState(*names, tuple(shape), dtype, initial, meaning))
        return self.input(names[0], shape, dtype)

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
        name = self._new(operation.lower())
        node = helper.make_node(operation, values, [name], name=name, **attributes)
        self.nodes.append(node)
        return name

    def embed(
        self, model: onnx.ModelProto, inputs: Mapping[str, str]
    ) -> dict[str, str]:
        """Add all of another model; return the values of its outputs by name.

        Args:
            model: One of the same version of the operations.
            inputs: The values that its inputs take, by name.
        """
        prefix = f"{self._new('network')}/"
        part = onnx.compose.add_prefix(model, prefix).graph
        self.constants.extend(part.initializer)
        for name, value in inputs.items():
            self.nodes.append(helper.make_node("Identity", [value], [prefix + name]))
        self.nodes.extend(part.node)
        return {each.name.removeprefix(prefix): each.name for each in part.output}

    def join(self, values: Sequence[str], axis: int = 0) -> str:
        """Put values side by side."""
        return self.add("Concat", *values, axis=axis)

    def shaped(self, value: str, shape: Sequence[int]) -> str:
        """Return the same numbers in another shape."""
        return self.add("Reshape", value, self.constant(list(shape), "int64"))

    def part(self, value: str, start: int, stop: int) -> str:
        """Return a run of entries along the first dimension."""
        ends = [self.constant([place], "int64") for place in (start, stop, 0)]
        return self.add("Slice", value, *ends)

    def model(self, metadata: Mapping[str, str]) -> onnx.ModelProto:
        """Return the whole as a file's content, after ONNX's own check."""
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

"""Trace functions of named tensors to graphs, and convert graphs to ONNX."""

import logging
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import onnx
import torch
from torch import Tensor
from torch.fx import GraphModule
from torch.fx.experimental.proxy_tensor import make_fx

from mjlab.export.reader import ExportError

OPSET = 18
"""ONNX opset version: the oldest that torch writes."""

Values = dict[str, Tensor]


@dataclass(frozen=True)
class Graph:
    """Traced function from named tensors to named tensors."""

    module: GraphModule
    """Traced operations: maps the inputs to the outputs, both in order."""

    inputs: tuple[str, ...]
    """Names of the inputs, in order."""

    outputs: tuple[str, ...]
    """Names of the outputs, in order."""

    def __call__(self, values: Mapping[str, Tensor]) -> Values:
        """Return the outputs by name. Additional inputs are ignored."""
        found = self.module(*(values[name] for name in self.inputs))
        return dict(zip(self.outputs, found, strict=True))


def traced(
    function: Callable[[Values], Values], examples: Mapping[str, Tensor]
) -> Graph:
    """Trace a function of named tensors."""
    outputs: list[str] = []

    def run(*tensors: Tensor) -> tuple[Tensor, ...]:
        found = function(dict(zip(examples, tensors, strict=True)))
        outputs[:] = found
        return tuple(found.values())

    with torch.no_grad(), _without_mkldnn():
        functional = torch.func.functionalize(run)
        module = make_fx(functional, tracing_mode="real")(*examples.values())
    _skip_copies(module)
    for name, constant in list(module.named_buffers()):
        # Copy constants: they can be live tensors of the environment.
        setattr(module, name, constant.detach().clone())
    return Graph(module, tuple(examples), tuple(outputs))


def _skip_copies(module: GraphModule) -> None:
    """Remove copies between tensors of the same shape and type."""
    for node in module.graph.find_nodes(
        op="call_function", target=torch.ops.aten.copy.default
    ):
        to, source = node.args[:2]
        own, given = (each.meta["val"] for each in (to, source))
        if (own.shape, own.dtype) == (given.shape, given.dtype):
            node.replace_all_uses_with(source)
    module.graph.eliminate_dead_code()
    module.recompile()


@contextmanager
def _without_mkldnn() -> Iterator[None]:
    """Disable MKL-DNN: its fused recurrent layers have no ONNX form."""
    (before, *_) = torch.backends.mkldnn.set_flags(False)
    try:
        yield
    finally:
        torch.backends.mkldnn.set_flags(before)


def pruned(graph: Graph, states: Mapping[str, str]) -> Graph:
    """Return a graph without the inputs, states and operations that affect no output.

    Args:
        graph: The graph, which is changed.
        states: State input to the output with its next value, by name.
    """
    module = graph.module
    nodes = module.graph
    (output,) = [node for node in nodes.nodes if node.op == "output"]
    values = dict(zip(graph.outputs, output.args[0], strict=True))
    holders = [node for node in nodes.nodes if node.op == "placeholder"]
    names = dict(zip(holders, graph.inputs, strict=True))
    needed = [name for name in graph.outputs if name not in states.values()]
    for name in needed:
        for used in _inputs_of(values[name], names):
            following = states.get(used)
            if following is not None and following not in needed:
                needed.append(following)
    output.args = (tuple(values[name] for name in needed),)
    nodes.eliminate_dead_code()
    used = [node for node in holders if node.users]
    for node in holders:
        if not node.users:
            nodes.erase_node(node)
    module.recompile()
    module.delete_all_unused_submodules()
    return Graph(module, tuple(names[node] for node in used), tuple(needed))


def sources(graph: Graph, output: str) -> list[str]:
    """Return the inputs that an output depends on, in order."""
    nodes = list(graph.module.graph.nodes)
    holders = [node for node in nodes if node.op == "placeholder"]
    names = dict(zip(holders, graph.inputs, strict=True))
    values = dict(zip(graph.outputs, nodes[-1].args[0], strict=True))
    found = _inputs_of(values[output], names)
    return [name for name in graph.inputs if name in found]


def _inputs_of(value: Any, names: Mapping[Any, str]) -> set[str]:
    """Return the inputs that a value depends on."""
    found, seen, stack = set(), set(), [value]
    while stack:
        node = stack.pop()
        if node in seen or not isinstance(node, torch.fx.Node):
            continue
        seen.add(node)
        if node in names:
            found.add(names[node])
        stack.extend(node.all_input_nodes)
    return found


def onnx_model(
    graph: Graph, examples: Mapping[str, Tensor], metadata: Mapping[str, str]
) -> onnx.ModelProto:
    """Convert a graph to an ONNX model, and check the model.

    Args:
        graph: The graph.
        examples: Example inputs with their shapes and types.
        metadata: Metadata of the file, by key.
    """
    arguments = tuple(examples[name] for name in graph.inputs)
    _use_single_precision(graph.module)
    with _quiet():
        try:
            program = torch.onnx.export(
                graph.module.eval(),
                arguments,
                opset_version=OPSET,
                dynamo=True,
                verbose=False,
            )
        except torch.onnx.OnnxExporterError as error:
            raise ExportError(
                "The policy has an operation that ONNX does not support: "
                f"{_cause(error)}"
            ) from error
    assert program is not None, "Without a file name, the program is returned."
    model = program.model_proto
    _strip(model)
    _rename(model.graph, graph)
    onnx.helper.set_model_props(model, dict(metadata))
    model.producer_name = "mjlab-fused"
    onnx.checker.check_model(model, full_check=True)
    return model


_SINGLE = frozenset("atan2 atan asin acos tan cos sinh cosh".split())
"""Functions that onnxruntime supports in single precision only."""


def _use_single_precision(module: GraphModule) -> None:
    """Compute functions in single precision where onnxruntime has no double version."""
    nodes, to = module.graph, torch.ops.aten._to_copy.default
    for node in list(nodes.nodes):
        packet = getattr(node.target, "overloadpacket", None)
        name = getattr(packet, "__name__", "")
        if name not in _SINGLE or node.meta["val"].dtype != torch.float64:
            continue
        for given in node.all_input_nodes:
            with nodes.inserting_before(node):
                single = nodes.call_function(to, (given,), {"dtype": torch.float32})
            node.replace_input_with(given, single)
        with nodes.inserting_after(node):
            double = nodes.call_function(to, (node,), {"dtype": torch.float64})
        node.replace_all_uses_with(
            double, delete_user_cb=lambda n, d=double: n is not d
        )
    module.recompile()


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence the exporter's messages about packages and optimisations."""
    loggers = [
        logging.getLogger(name) for name in ("torch.onnx", "onnxscript", "onnx_ir")
    ]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


def _cause(error: BaseException) -> str:
    """Return the first line of the innermost error."""
    while error.__cause__ is not None:
        error = error.__cause__
    return str(error).strip().splitlines()[0]


def _strip(model: onnx.ModelProto) -> None:
    """Remove the exporter's metadata about the source code, such as file paths."""
    del model.metadata_props[:]
    model.graph.ClearField("metadata_props")
    parts = (model.graph.node, model.graph.initializer, model.graph.value_info)
    for part in (*parts, model.graph.input, model.graph.output):
        for each in part:
            each.ClearField("metadata_props")
            each.doc_string = ""


def _rename(written: onnx.GraphProto, graph: Graph) -> None:
    """Name inputs and outputs like the graph; prefix other names to avoid clashes."""
    fresh = dict(zip((v.name for v in written.input), graph.inputs, strict=True))
    nodes = []
    for value, name in zip(written.output, graph.outputs, strict=True):
        # An unchanged input, or a value that is also another output, is copied.
        if value.name in fresh:
            node = onnx.helper.make_node("Identity", [fresh[value.name]], [name])
            nodes.append(node)
        else:
            fresh[value.name] = name
        value.name = name
    for value, name in zip(written.input, graph.inputs, strict=True):
        value.name = name

    def renamed(name: str) -> str:
        return fresh.get(name, f"value/{name}") if name else name

    for node in written.node:
        node.name = f"node/{node.name}"
        node.input[:] = [renamed(name) for name in node.input]
        node.output[:] = [renamed(name) for name in node.output]
    for value in (*written.initializer, *written.value_info):
        value.name = renamed(value.name)
    written.node.extend(nodes)

"""RSL-RL's networks as parts of an ONNX graph, for the observations of one world."""

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from rsl_rl.models import CNNModel, MLPModel, RNNModel
from rsl_rl.modules import EmpiricalNormalization
from rsl_rl.modules.distribution import (
    BetaDistribution,
    Distribution,
    GaussianDistribution,
    HeteroscedasticGaussianDistribution,
)
from torch import nn

from mjlab.export.errors import ExportError
from mjlab.export.graph import Graph

_ONNX_PADDING = {"zeros": "constant", "reflect": "reflect", "replicate": "edge"}


def add_network(graph: Graph, network: nn.Module, groups: Mapping[str, str]) -> str:
    """Add the most likely action of a network, and return it, shape (num_actions,).

    Args:
        graph: Where to add it.
        network: A model of RSL-RL.
        groups: Values of what it observes, by group, each as one world sees it.
    """
    # A subclass may compute something else under the same names.
    if type(network) not in (MLPModel, RNNModel, CNNModel):
        raise ExportError(
            f"The policy is a {type(network).__qualname__}, which cannot be written to "
            "an ONNX file. What can are MLPModel, RNNModel and CNNModel."
        )
    model: Any = network
    parts = []
    if model.obs_groups:
        flat = graph.join([groups[name] for name in model.obs_groups])
        parts.append(_normalised(graph, model.obs_normalizer, flat))
    if isinstance(network, RNNModel):
        parts = [_recurrent(graph, model.rnn.rnn, parts[0])]
    elif isinstance(network, CNNModel):
        parts += [
            _image(graph, model.cnns[name], groups[name], name)
            for name in model.obs_groups_2d
        ]
    value = parts[0] if len(parts) == 1 else graph.join(parts)
    for layer in model.mlp:
        value = _layer(graph, layer, value)
    return _most_likely(graph, model.distribution, value)


def _normalised(graph: Graph, normaliser: nn.Module, value: str) -> str:
    if isinstance(normaliser, nn.Identity):
        return value
    if type(normaliser) is not EmpiricalNormalization:
        raise ExportError(f"The normaliser is a {type(normaliser).__qualname__}.")
    state = normaliser.state_dict()
    centred = graph.add("Sub", value, _numbers(graph, state["_mean"].squeeze(0)))
    spread = state["_std"].squeeze(0) + normaliser.eps
    return graph.add("Div", centred, _numbers(graph, spread))


def _numbers(graph: Graph, tensor: torch.Tensor) -> str:
    return graph.constant(tensor.detach().cpu().numpy())


# Layers. Those of perceptrons take a vector, those of convolutions a batch of one.


def _layer(graph: Graph, layer: nn.Module, value: str) -> str:
    add = _LAYERS.get(type(layer))
    if add is None:
        known = ", ".join(sorted(kind.__name__ for kind in _LAYERS))
        raise ExportError(
            f"The policy has a layer of {type(layer).__qualname__}, which cannot be "
            f"written to an ONNX file. What can: {known}."
        )
    return add(graph, layer, value)


def _linear(graph: Graph, layer: Any, value: str) -> str:
    product = graph.add("MatMul", value, _numbers(graph, layer.weight.T))
    return graph.add("Add", product, _numbers(graph, layer.bias))


def _gelu(graph: Graph, layer: Any, value: str) -> str:
    bell = graph.add("Erf", graph.add("Mul", value, graph.constant(math.sqrt(0.5))))
    share = graph.add("Add", bell, graph.constant(1.0))
    half = graph.add("Mul", value, graph.constant(0.5))
    return graph.add("Mul", half, share)


def _gated(gate: str, inner: str | None = None) -> Callable[[Graph, Any, str], str]:
    """The value times a function of itself."""

    def add(graph: Graph, layer: Any, value: str) -> str:
        inside = value if inner is None else graph.add(inner, value)
        return graph.add("Mul", value, graph.add(gate, inside))

    return add


def _plain(operation: str, **fields: str) -> Callable[[Graph, Any, str], str]:
    """An operation, with attributes that are fields of the layer."""

    def add(graph: Graph, layer: Any, value: str) -> str:
        given = {key: float(getattr(layer, name)) for key, name in fields.items()}
        return graph.add(operation, value, **given)

    return add


def _unflatten(graph: Graph, layer: Any, value: str) -> str:
    return graph.shaped(value, layer.unflattened_size)


def _flatten(graph: Graph, layer: Any, value: str) -> str:
    return graph.shaped(value, [-1])


def _convolution(graph: Graph, layer: nn.Conv2d, value: str) -> str:
    if layer.padding_mode not in _ONNX_PADDING:
        raise ExportError(
            f"The policy has a convolution with {layer.padding_mode!r} padding, which "
            f"cannot be written to an ONNX file. What can: {', '.join(_ONNX_PADDING)}."
        )
    high, wide = (int(size) for size in layer.padding)
    if high or wide:
        ends = graph.constant([0, 0, high, wide, 0, 0, high, wide], "int64")
        mode = _ONNX_PADDING[layer.padding_mode]
        value = graph.add("Pad", value, ends, mode=mode)
    parameters = [_numbers(graph, layer.weight)]
    if layer.bias is not None:
        parameters.append(_numbers(graph, layer.bias))
    return graph.add(
        "Conv",
        value,
        *parameters,
        strides=list(layer.stride),
        dilations=list(layer.dilation),
        group=layer.groups,
    )


def _batch_norm(graph: Graph, layer: Any, value: str) -> str:
    tensors = (layer.weight, layer.bias, layer.running_mean, layer.running_var)
    numbers = [_numbers(graph, tensor) for tensor in tensors]
    return graph.add("BatchNormalization", value, *numbers, epsilon=layer.eps)


def _layer_norm(graph: Graph, layer: Any, value: str) -> str:
    numbers = [_numbers(graph, layer.weight), _numbers(graph, layer.bias)]
    axis = -len(layer.normalized_shape)
    return graph.add(
        "LayerNormalization", value, *numbers, axis=axis, epsilon=layer.eps
    )


def _max_pool(graph: Graph, layer: Any, value: str) -> str:
    sizes = {
        "kernel_shape": [layer.kernel_size] * 2,
        "strides": [layer.stride] * 2,
        "pads": [layer.padding] * 4,
    }
    return graph.add("MaxPool", value, **sizes)


_LAYERS: dict[type[nn.Module], Callable[[Graph, Any, str], str]] = {
    nn.Linear: _linear,
    nn.ELU: _plain("Elu", alpha="alpha"),
    nn.SELU: _plain("Selu"),
    nn.ReLU: _plain("Relu"),
    nn.CELU: _plain("Celu", alpha="alpha"),
    nn.LeakyReLU: _plain("LeakyRelu", alpha="negative_slope"),
    nn.Tanh: _plain("Tanh"),
    nn.Sigmoid: _plain("Sigmoid"),
    nn.Softplus: _plain("Softplus"),
    nn.GELU: _gelu,
    nn.SiLU: _gated("Sigmoid"),
    nn.Mish: _gated("Tanh", "Softplus"),
    nn.Identity: _plain("Identity"),
    nn.Unflatten: _unflatten,
    nn.Flatten: _flatten,
    nn.Conv2d: _convolution,
    nn.BatchNorm2d: _batch_norm,
    nn.LayerNorm: _layer_norm,
    nn.MaxPool2d: _max_pool,
    # RSL-RL only pools to one number a channel.
    nn.AdaptiveMaxPool2d: _plain("GlobalMaxPool"),
    nn.AdaptiveAvgPool2d: _plain("GlobalAveragePool"),
}


def _image(graph: Graph, encoder: Any, value: str, group: str) -> str:
    value = graph.add("Unsqueeze", value, graph.constant([0], "int64"))
    for layer in encoder:
        value = _layer(graph, layer, value)
    return value


# Recurrence.


def _recurrent(graph: Graph, cells: nn.LSTM | nn.GRU, value: str) -> str:
    """Add the cells of all layers, and return what the last one puts out."""
    names = ["hidden", "cell"] if isinstance(cells, nn.LSTM) else ["hidden"]
    shape = (cells.num_layers, cells.hidden_size)
    meanings = {"hidden": "Hidden state", "cell": "Cell state"}
    states = {
        name: graph.state(name, shape, f"{meanings[name]} of each recurrent layer.")
        for name in names
    }
    found: dict[str, list[str]] = {name: [] for name in names}
    # Dimensions of the operation: time, worlds, numbers.
    value = graph.shaped(value, (1, 1, -1))
    for index in range(cells.num_layers):
        memory = [
            graph.shaped(graph.part(states[name], index, index + 1), (1, 1, -1))
            for name in names
        ]
        results = _cell(graph, cells, index, value, memory)
        for name, result in zip(names, results, strict=True):
            found[name].append(graph.shaped(result, (1, -1)))
        value = results[0]
    for name in names:
        graph.remember(name, graph.join(found[name]))
    return graph.shaped(value, (-1,))


def _cell(
    graph: Graph, cells: nn.LSTM | nn.GRU, index: int, value: str, memory: list[str]
) -> list[str]:
    """Add one layer for one moment; return its new memory, the output first."""
    is_lstm = isinstance(cells, nn.LSTM)
    # torch has input, forget, cell, output; and reset, update, new.
    order = [0, 3, 1, 2] if is_lstm else [1, 0, 2]
    weights = cells.state_dict()

    def ordered(name: str) -> np.ndarray:
        blocks = weights[f"{name}_l{index}"].cpu().numpy()
        blocks = np.split(blocks, len(order))
        return np.concatenate([blocks[place] for place in order])

    biases = np.concatenate([ordered("bias_ih"), ordered("bias_hh")])
    parameters = [
        graph.constant(array[None])
        for array in (ordered("weight_ih"), ordered("weight_hh"), biases)
    ]
    more = {} if is_lstm else {"linear_before_reset": 1}
    results = graph.add_many(
        "LSTM" if is_lstm else "GRU",
        [value, *parameters, "", *memory],
        1 + len(memory),
        hidden_size=cells.hidden_size,
        **more,
    )
    return results[1:]


# Distributions.


def _most_likely(graph: Graph, distribution: Distribution | None, value: str) -> str:
    """The action without chance."""
    if distribution is None or type(distribution) is GaussianDistribution:
        return value
    if type(distribution) is HeteroscedasticGaussianDistribution:
        return graph.shaped(graph.part(value, 0, 1), (-1,))
    if type(distribution) is not BetaDistribution:
        raise ExportError(
            f"Actions are drawn from a {type(distribution).__qualname__}, which cannot "
            "be written to an ONNX file."
        )
    one = graph.constant(1.0)
    raw = [graph.shaped(graph.part(value, i, i + 1), (-1,)) for i in (0, 1)]
    alpha, beta = (graph.add("Add", graph.add("Softplus", r), one) for r in raw)
    share = graph.add("Div", alpha, graph.add("Add", alpha, beta))
    low, high = distribution.action_range
    scaled = graph.add("Mul", share, graph.constant(high - low))
    return graph.add("Add", scaled, graph.constant(low))

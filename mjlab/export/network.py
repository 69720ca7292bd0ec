"""RSL-RL's networks as parts of an ONNX graph, for the observations of one world.

Each model of RSL-RL, and each custom one that is made like them, has a form of its own
for ONNX (`as_onnx`), which torch writes. What comes before and after it is added by
hand: see `inputs.py` and `targets.py`.
"""

import tempfile
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import onnx
import torch
from rsl_rl.models import MLPModel
from torch import nn

from mjlab.export.graph import OPSET, Graph
from mjlab.export.reader import ExportError

_MEMORY = {"h": ("hidden", "Hidden state"), "c": ("cell", "Cell state")}
"""Name and meaning of a recurrent network's states, by the first letter there."""


def add_network(graph: Graph, network: nn.Module, groups: Mapping[str, str]) -> str:
    """Add the most likely action of a network, and return it, shape (num_actions,).

    Args:
        graph: The graph to add it to.
        network: A model of RSL-RL, or a custom one with `as_onnx`.
        groups: Values of what it observes, by group, each as one world sees it.
    """
    if not isinstance(network, MLPModel):
        raise ExportError(
            f"The policy is a {type(network).__qualname__}, which cannot be written to "
            "an ONNX file. What can are MLPModel, RNNModel, CNNModel, and what is "
            "derived from them."
        )
    form: Any = network.as_onnx(verbose=False).cpu().eval()
    samples = dict(zip(form.input_names, form.get_dummy_inputs(), strict=True))
    fed, memory = {}, {}
    for name, sample in samples.items():
        letter, _, rest = name.partition("_")
        if not sample.numel():
            # A network that only sees images has no numbers beside them.
            fed[name] = graph.constant(sample.numpy())
            continue
        if name == "obs":
            value = graph.join([groups[group] for group in network.obs_groups])
        elif rest == "in" and letter in _MEMORY:
            state, meaning = _MEMORY[letter]
            shape = (sample.shape[0], sample.shape[-1])
            meaning = f"{meaning} of each recurrent layer."
            value = graph.state(state, shape, meaning)
            memory[f"{letter}_out"] = (state, shape)
        else:
            value = groups[name]
        fed[name] = graph.shaped(value, sample.shape)
    found = graph.embed(_written(form, samples, form.output_names), fed)
    for name, (state, shape) in memory.items():
        graph.remember(state, graph.shaped(found[name], shape))
    return graph.shaped(found["actions"], (-1,))


class _Function(nn.Module):
    """A function as torch's exporter takes it."""

    def __init__(self, function: Callable[..., torch.Tensor]) -> None:
        super().__init__()
        self._function = function

    def forward(self, *values: torch.Tensor) -> torch.Tensor:
        """Return the function's value."""
        return self._function(*values)


def add_function(
    graph: Graph,
    function: Callable[..., torch.Tensor],
    values: Mapping[str, tuple[str, tuple[int, ...]]],
) -> str:
    """Add a function of tensors, and return its value as a vector.

    Args:
        graph: The graph to add it to.
        function: The function.
        values: Values and shapes of its arguments, by names, in their order.
    """
    samples = {name: torch.ones(shape) for name, (_, shape) in values.items()}
    fed = {name: graph.shaped(value, shape) for name, (value, shape) in values.items()}
    found = graph.embed(_written(_Function(function), samples, ["value"]), fed)
    return graph.shaped(found["value"], (-1,))


def _written(
    form: Any, samples: Mapping[str, torch.Tensor], outputs: Sequence[str]
) -> onnx.ModelProto:
    """Return the form as torch writes it."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        # The newer exporter knows no operations as old as those of runtimes on robots.
        warnings.simplefilter("ignore")
        file = Path(folder) / "network.onnx"
        try:
            torch.onnx.export(
                form,
                tuple(samples.values()),
                file,
                input_names=list(samples),
                output_names=list(outputs),
                opset_version=OPSET,
                dynamo=False,
            )
        except torch.onnx.OnnxExporterError as error:
            raise ExportError(
                "The policy has an operation that cannot be written to an ONNX file: "
                f"{error}"
            ) from error
        return onnx.load(file)

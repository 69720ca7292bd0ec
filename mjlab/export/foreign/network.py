"""Network of a policy: an ONNX file with one observation and one action."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mjlab.export.reader import NEEDS
from mjlab.export.runner.policy import ContractError

LEAST_OPSET = 11
"""Oldest supported ONNX operator set."""


@dataclass(frozen=True)
class Network:
    """Network of a policy, with its input, its output and its recurrent state."""

    path: Path
    """The ONNX file."""

    model: Any
    """The parsed file."""

    observation: str
    """Name of the input for the observation."""

    action: str
    """Name of the output with the action."""

    inputs: int
    """Width of the observation."""

    outputs: int
    """Width of the action."""

    recurrent: tuple[tuple[str, str, tuple[int, ...]], ...] = ()
    """Input, output and shape of each recurrent state, which starts at zero."""

    @property
    def metadata(self) -> dict[str, str]:
        """Metadata of the file."""
        return {entry.key: entry.value for entry in self.model.metadata_props}


def read_network(path: Path) -> Network:
    """Read an ONNX file.

    Raises:
        ContractError: If the file is invalid, or has other inputs than one observation
            and recurrent states.
    """
    try:
        import onnx
    except ImportError as error:
        raise ContractError(NEEDS) from error
    if path.suffix in (".pt", ".pth", ".jit"):
        raise ContractError(
            f"{path} is a PyTorch file: export its network to ONNX first, with "
            "torch.onnx.export"
        )
    try:
        model = onnx.load(str(path))
        onnx.checker.check_model(model)
    except Exception as error:  # Its errors have no common base class.
        said = " ".join(str(error).split())[:200]
        raise ContractError(f"{path} is not a valid ONNX file: {said}") from error
    _check_version(path, model)
    stored = {each.name for each in model.graph.initializer}
    inputs = [each for each in model.graph.input if each.name not in stored]
    if not inputs or not model.graph.output:
        raise ContractError(f"{path} has no input or no output")
    observation, action = inputs[0], model.graph.output[0]
    return Network(
        path,
        model,
        observation.name,
        action.name,
        _width(path, observation),
        _width(path, action),
        _recurrent(path, inputs[1:], model.graph.output[1:]),
    )


def _check_version(path: Path, model: Any) -> None:
    versions = {each.domain: each.version for each in model.opset_import}
    version = versions.get("", versions.get("ai.onnx", 0))
    domains = {node.domain for node in model.graph.node}
    if domains - {"", "ai.onnx"} or model.functions:
        raise ContractError(
            f"{path} has operators or functions outside the ONNX standard, which are "
            "not supported: export it again with dynamo=False"
        )
    if version < LEAST_OPSET:
        raise ContractError(
            f"{path} uses ONNX opset {version}: opset {LEAST_OPSET} or newer is "
            f"supported. Export it again with opset_version={LEAST_OPSET}"
        )


def _shape(value: Any) -> tuple[int, ...]:
    """Shape of a value; a variable batch size counts as 1."""
    return tuple(dim.dim_value or 1 for dim in value.type.tensor_type.shape.dim)


def _width(path: Path, value: Any) -> int:
    shape = _shape(value)
    if not shape or max(shape[:-1], default=1) != 1 or shape[-1] < 2:
        raise ContractError(
            f"{value.name!r} of {path} has shape {shape}: shape (1, n) with n > 1 is "
            "supported"
        )
    return shape[-1]


def _recurrent(
    path: Path, inputs: Sequence[Any], outputs: Sequence[Any]
) -> tuple[tuple[str, str, tuple[int, ...]], ...]:
    """Pair each recurrent input with the output at the same position.

    Raises:
        ContractError: If an input has no output of its shape.
    """
    pairs = []
    for place, given in enumerate(inputs):
        shape = _shape(given)
        if place >= len(outputs) or _shape(outputs[place]) != shape:
            raise ContractError(
                f"{path} has an input {given.name!r} of shape {shape} without an "
                "output of this shape: only recurrent states are supported"
            )
        pairs.append((given.name, outputs[place].name, shape))
    return tuple(pairs)

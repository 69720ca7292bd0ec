"""RSL-RL networks as functions of observations and recurrent state."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from rsl_rl.models import MLPModel
from torch import Tensor, nn

from mjlab.export.reader import ExportError

_MEMORY = {"h": "hidden", "c": "cell"}
"""State names of a recurrent network, by their letter in RSL-RL's export module."""


@dataclass(frozen=True)
class Network:
    """Trained network as a function that returns the mean action."""

    form: Any
    """Module that the model's `as_onnx` returns."""

    groups: tuple[str, ...]
    """Observation groups, concatenated in this order to the input "obs"."""

    samples: dict[str, Tensor]
    """Example inputs, by name."""

    @classmethod
    def of(cls, network: nn.Module) -> "Network":
        """Convert a trained RSL-RL model."""
        if not isinstance(network, MLPModel):
            raise ExportError(
                f"The policy is a {type(network).__qualname__}, which cannot be "
                "written to an ONNX file. Use MLPModel, RNNModel, CNNModel or a "
                "subclass."
            )
        form: Any = network.as_onnx(verbose=False).cpu().eval()
        samples = dict(zip(form.input_names, form.get_dummy_inputs(), strict=True))
        return cls(form, tuple(network.obs_groups), samples)

    @property
    def memory(self) -> dict[str, Tensor]:
        """Initial recurrent states by name, each of shape (1, layers, units)."""
        return {
            _MEMORY[name[0]]: torch.zeros(1, sample.shape[0], sample.shape[-1])
            for name, sample in self.samples.items()
            if _is_memory(name)
        }

    def __call__(self, values: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Return "action", shape (1, num_actions), and next states as "next NAME".

        Args:
            values: Observation groups and states of one world, by name. The first
                dimension has size 1.
        """
        fed = []
        for name, sample in self.samples.items():
            if not sample.numel():
                fed.append(sample)  # The network observes images only.
            elif name == "obs":
                numbers = [values[group] for group in self.groups]
                fed.append(torch.cat(numbers, dim=1).view(sample.shape))
            elif _is_memory(name):
                fed.append(values[_MEMORY[name[0]]].view(sample.shape))
            else:
                fed.append(values[name].view(sample.shape))
        found = self.form(*fed)
        found = found if isinstance(found, tuple) else (found,)
        # The exported form of a GRU also returns an empty cell state.
        by_name = dict(zip(self.form.output_names, found, strict=False))
        kept = {
            f"next {name}": by_name[f"{letter}_out"].view(self.memory[name].shape)
            for letter, name in _MEMORY.items()
            if f"{letter}_out" in by_name
        }
        return {"action": by_name["actions"].view(1, -1)} | kept


def _is_memory(name: str) -> bool:
    return name in ("h_in", "c_in")

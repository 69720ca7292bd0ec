"""Control step of an exported policy: inputs and state to targets and next state."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from mjlab.export.graph import Graph, Values, pruned, sources, traced
from mjlab.export.leaves import Leaf
from mjlab.export.network import Network
from mjlab.export.targets import ACTION
from mjlab.export.trace import ACTIONS, STEPS, Tracer


@dataclass(frozen=True)
class OnnxState:
    """State tensor of a policy, which the caller passes from each call to the next."""

    name: str
    """Name of the input."""

    next: str
    """Name of the output with the value for the next call."""

    shape: tuple[int, ...]
    """Shape of the state."""

    dtype: str
    """NumPy dtype, such as "float32"."""

    initial: Any
    """Initial value: one number for all elements, or a list of all numbers."""

    meaning: str
    """One sentence for readers of the contract."""


_MEANINGS = {
    STEPS: "Number of calls so far.",
    ACTIONS[0]: "Raw action of the last call.",
    ACTIONS[1]: "Raw action of the call before the last.",
    ACTIONS[2]: "Raw action two calls before the last.",
    "hidden": "Hidden state of each recurrent layer.",
    "cell": "Cell state of each recurrent layer.",
}


class ControlStep:
    """Traced control step: observation groups, network and action terms."""

    def __init__(self, tracer: Tracer, network: nn.Module, clip: float | None) -> None:
        """Trace observations, network and actions.

        Args:
            tracer: Tracer of the observation and action terms.
            network: The trained network.
            clip: Bound of the actions, None for unbounded.
        """
        self.tracer, self._clip = tracer, clip
        self._network = Network.of(network)
        leaves, memory = tracer.read(), tracer.reset()
        actions = tracer.env.action_manager.total_action_dim
        self.zero = {"zero": torch.zeros(())}
        """Scalar input of value 0; adding it to a tensor makes a traced copy."""
        examples = leaves | memory | self.zero
        self.observe = traced(tracer.observe, examples)
        """Graph from inputs and state to observations."""
        action = {ACTION: torch.zeros(1, actions)}
        self.act = traced(tracer.act, examples | action)
        """Graph from the action, inputs and state to targets."""
        self._memory = memory | self._network.memory
        names = {name: f"state_{name}" for name in self._memory}
        self._state_names = names
        self.examples = {name: value[0] for name, value in leaves.items()}
        """Example values of the file's inputs and states, by name."""
        self.examples |= {
            names[name]: _stored(value) for name, value in self._memory.items()
        }
        states = {names[name]: f"next_{name}" for name in self._memory}
        self.file: Graph = pruned(traced(self._whole, self.examples), states)
        """Graph of the whole control step. Unused inputs and states are pruned."""

    @property
    def inputs(self) -> list[Leaf]:
        """Inputs that the policy depends on."""
        leaves = self.tracer.leaves
        return [leaves[name] for name in self.file.inputs if name in leaves]

    @property
    def states(self) -> list[OnnxState]:
        """States that the policy depends on."""
        found = []
        for name, initial in self._memory.items():
            if self._state_names[name] not in self.file.inputs:
                continue
            stored = _stored(initial)
            known = stored.numel() and bool((stored == stored.flatten()[0]).all())
            found.append(
                OnnxState(
                    self._state_names[name],
                    f"next_{name}",
                    tuple(stored.shape),
                    str(stored.dtype).removeprefix("torch."),
                    float(stored.flatten()[0]) if known else stored.flatten().tolist(),
                    _MEANINGS.get(name, "State of an observation or action term."),
                )
            )
        return found

    def sources_of(self, source: str) -> list[str]:
        """Return the inputs and states that an observation term depends on."""
        return [
            self._state_names.get(name, name)
            for name in sources(self.observe, f"term {source}")
            if name not in self.zero
        ]

    def _whole(self, given: Values) -> Values:
        """Compute targets, action and next states from inputs and states."""
        row = {n: v.unsqueeze(0) for n, v in given.items() if n in self.tracer.leaves}
        row |= self.zero
        for name, like in self._memory.items():
            row[name] = _restored(given[self._state_names[name]], like)
        seen = self.observe(row)
        row |= _kept(seen)
        answer = self._network(row | seen)
        row |= _kept(answer)
        action = answer[ACTION]
        if self._clip is not None:
            action = action.clamp(-self._clip, self._clip)
        told = self.act(row | {ACTION: action})
        row |= _kept(told)
        outputs = {n: v for n, v in told.items() if not n.startswith("next ")}
        outputs[ACTION] = action
        outputs |= {n: v for n, v in seen.items() if n.startswith("reference_")}
        return {n: v[0] for n, v in outputs.items()} | {
            f"next_{name}": _stored(row[name]) for name in self._memory
        }


def _kept(found: Mapping[str, Tensor]) -> Values:
    """Return the outputs "next NAME", by state name."""
    return {n[5:]: v for n, v in found.items() if n.startswith("next ")}


def _stored(value: Tensor) -> Tensor:
    """Return the state of one world in the file's type: float32 or uint8."""
    own = value[0] if value.ndim > 1 else value
    return own if own.dtype == torch.uint8 else own.float()


def _restored(stored: Tensor, like: Tensor) -> Tensor:
    value = stored.reshape(like.shape)
    return value != 0 if like.dtype == torch.bool else value.to(like.dtype)

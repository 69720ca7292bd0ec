"""World model of a policy file: computes inputs and commands in simulation.

On a robot, perception measures inputs such as the vector from gripper to object. In
simulation, an observation term computes such an input from MuJoCo's data and from
commands. These terms and commands are traced, like the policy, to an additional ONNX
model in the file. The model maps fields of MuJoCo's data and the state of commands to
inputs, commands and the next state.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import onnx
import torch
from torch import Tensor

from mjlab.export.graph import Graph, Values
from mjlab.export.reads import LiveReads
from mjlab.export.simulated import Simulated, array, is_close, one_line
from mjlab.export.trace import Tracer
from mjlab.managers import CommandTerm
from mjlab.mdp.velocity_command import UniformVelocityCommand
from mjlab.motion import MotionCommand

WORLD_MODEL = "world"
"""Metadata key of the world model."""

WORLD_STEPS = 50
"""Number of random steps in which the model is compared with the environment."""


class World(Simulated):
    """Traced world model of an environment with one world."""

    def __init__(self, tracer: Tracer, inputs: Sequence[str]) -> None:
        """Trace the terms and commands that a policy needs.

        Args:
            tracer: Tracer of the environment.
            inputs: Names of the policy's inputs.
        """
        super().__init__(tracer)
        measured = {leaf.name: s for s, leaf in tracer.measured.items()}
        self._sources = {n: measured[n] for n in inputs if n in measured}
        self._commands: dict[str, CommandTerm] = {}
        self._file: Graph | None = None
        changing = {
            name: term
            for name, term in tracer.env.command_manager.terms.items()
            if not isinstance(term, MotionCommand | UniformVelocityCommand)
        }
        told = [name for name in changing if name in inputs]
        if not self._sources and not told:
            return
        for name, term in changing.items():
            self._add(name, term, is_input=name in inputs)
        names = [*self._sources, *(n for n in told if n in self._commands)]
        kept = [name for name in names if self._is_traceable(name)]
        self._file = self.graph(kept)
        self._drop_different(kept)

    @property
    def is_empty(self) -> bool:
        """Whether the model computes no input, so that the file does not need it."""
        return self._file is None or not self._file.outputs

    @property
    def states(self) -> Values:
        """Live command states that the model updates, by name."""
        inputs = self._graph_of_file.inputs
        return {n: tensor for n, tensor in self.memory.items() if n in inputs}

    @property
    def _graph_of_file(self) -> Graph:
        assert self._file is not None, "The world is not empty."
        return self._file

    def described(self) -> dict[str, Any]:
        """Return the contract entry of the world model."""
        graph = self._graph_of_file
        return {
            "model": WORLD_MODEL,
            **self.entries(graph, self._initial()),
            "outputs": [
                array(n, self._shape(n))
                for n in graph.outputs
                if n in self._sources or n in self._commands
            ],
            "dials": list(self._dials()),
            "held": self.held,
        }

    def model(self) -> onnx.ModelProto:
        """Return the ONNX model."""
        return self.onnx(self._graph_of_file)

    # Tracing.

    def _add(self, name: str, term: CommandTerm, *, is_input: bool) -> None:
        """Add a command to the model. If it cannot be traced, it stays constant."""
        before = self._commands, self.memory
        states = {
            f"{name}_{key}": tensor
            for key, tensor in term.state().items()
            if key not in _OF_EPISODES
            and tensor.dtype == torch.float32
            and tensor.shape[0] == 1  # One row for the world.
        }
        self._commands = self._commands | {name: term}
        self.memory = self.memory | states
        try:
            self.graph([])
        except Exception as error:  # Commands of users can raise anything.
            self._commands, self.memory = before
            if is_input:
                self.held[name] = one_line(error)

    def _is_traceable(self, name: str) -> bool:
        """Return whether an output can be traced; store the reason in `held` if not."""
        try:
            self.graph([name])
        except Exception as error:  # Terms of users can raise anything.
            self.held[name] = one_line(error)
        return name not in self.held

    def step(self, values: Values, names: Sequence[str]) -> Values:
        tracer, env = self.tracer, self.tracer.env
        given = [(tensor, values[name]) for name, tensor in self.fields.items()]
        given += [(t, values[n].clone()) for n, t in self.memory.items()]
        # Trace a later step: commands do not change in an episode's first step.
        later = torch.ones_like(env.episode_length_buf)
        given.append((env.episode_length_buf, later))
        with self._plain(), env.sim.reads.allow_late():
            zero = next(iter(values.values())).flatten()[0] * 0.0
            with LiveReads(given, tracer.refused(), zero) as reads:
                found = {n: reads.read(self._value(n)).clone() for n in names}
                for term in self._commands.values():
                    term.advance(env.step_dt)
                    term.update()
                for name, tensor in self.memory.items():
                    found[f"next_{name}"] = reads.read(tensor).clone()
        return found

    def _shape(self, name: str) -> torch.Size:
        with self.tracer.env.sim.reads.allow_late():
            return self._value(name).shape[1:]

    def _value(self, name: str) -> Tensor:
        if name in self._commands:
            return self._commands[name].command
        return self.tracer.terms[self._sources[name]]()

    @contextmanager
    def _plain(self) -> Iterator[None]:
        """Clear cached quantities; disable random draws and metrics of commands."""
        with self.uncached():
            for command in self._commands.values():
                vars(command).update(dict.fromkeys(_DRAWS, _nothing))
            try:
                yield
            finally:
                for command in self._commands.values():
                    for name in _DRAWS:
                        del vars(command)[name]

    # Comparison.

    def _initial(self) -> Values:
        self.tracer.env.reset(seed=0)
        return {name: tensor.clone() for name, tensor in self.memory.items()}

    def _drop_different(self, names: list[str]) -> None:
        """Compare outputs with the environment; move outputs that differ to `held`."""
        env = self.tracer.env
        chance = torch.Generator().manual_seed(0)
        memory = self._initial()
        for _ in range(WORLD_STEPS):
            with env.sim.reads.allow_late():
                given = self.now(self.fields | memory)
                wanted = {n: self._value(n)[0].clone() for n in names}
            found = self._graph_of_file(given)
            for name, value in wanted.items():
                if not is_close(found[name], value):
                    self.held[name] = "its traced value differs from the term's"
            action = 0.3 * torch.randn(
                (1, env.action_manager.total_action_dim), generator=chance
            )
            *_, terminated, truncated, _ = env.step(action)
            if bool(terminated | truncated):
                break
            memory = {
                n: found[f"next_{n}"].reshape(t.shape) if f"next_{n}" in found else t
                for n, t in memory.items()
            }
        kept = [name for name in names if name not in self.held]
        if kept != names:
            self._file = self.graph(kept)

    def _dials(self) -> Iterator[dict[str, Any]]:
        """Yield contract entries of command states that users of a page can set."""
        for name, term in self._commands.items():
            for dial in term.dials():
                state = f"{name}_{dial.state}"
                if state in self._graph_of_file.inputs:
                    yield {
                        "state": state,
                        "labels": list(dial.labels),
                        "unit": dial.unit,
                        "range": [list(pair) for pair in dial.ranges],
                        "is_point": dial.is_point,
                    }


_OF_EPISODES = ("ends", "metrics")
"""States of commands that a browser page does not need."""

_DRAWS = ("_draw_where", "_update_metrics", "_is_due")
"""Methods of commands that draw values or update metrics; the model skips them."""


def _nothing(*arguments: Any) -> None:
    """Replace a method in `_DRAWS`."""


def world_of(tracer: Tracer, inputs: Sequence[str]) -> World | None:
    """Trace the world model of a policy; return None if the policy needs none.

    Args:
        tracer: Tracer of the environment.
        inputs: Names of the policy's inputs.
    """
    world = World(tracer, inputs)
    return None if world.is_empty else world

"""Reward terms in a policy file, for simulations of the policy.

Export traces reward terms to an additional ONNX model in the file. The model maps
fields of MuJoCo's data, commands and the action to each term's weighted reward per
second.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import onnx
import torch
from torch import Tensor

from mjlab.export.graph import Graph, Values
from mjlab.export.reader import ExportError
from mjlab.export.reads import LiveReads
from mjlab.export.simulated import Simulated, array, is_close, one_line
from mjlab.export.targets import ACTION
from mjlab.export.trace import ACTIONS, STEPS, Tracer, same_attributes

REWARD_MODEL = "rewards"
"""Metadata key of the reward model."""

REWARD_STEPS = 50
"""Number of random steps in which the model is compared with the environment."""


class Rewards(Simulated):
    """Traced reward terms of an environment with one world."""

    def __init__(
        self, tracer: Tracer, commands: Sequence[str], states: Mapping[str, Tensor]
    ) -> None:
        """Trace all terms with a weight; terms that cannot be traced go to `held`.

        Args:
            tracer: Tracer of the environment.
            commands: Names of the commands that are inputs of the policy.
            states: Live states of the commands in the file's world model, by name.
        """
        super().__init__(tracer)
        env = tracer.env
        self._commands = {name: env.command_manager.terms[name] for name in commands}
        self.given = {ACTION: env.action_manager.action, **states}
        self.given |= {name: term.command for name, term in self._commands.items()}
        terms = env.reward_manager.terms
        self._terms = {n: term for n, term in terms.items() if term.cfg.weight != 0.0}
        env.reset(seed=0)
        self._file = self._traced(list(self._terms))
        self._initial = {name: tensor.clone() for name, tensor in self.memory.items()}
        self._drop_different()
        self._model = self._converted()

    @property
    def names(self) -> list[str]:
        """Names of the terms that the model computes."""
        return [name for name in self._file.outputs if name in self._terms]

    def described(self) -> dict[str, Any]:
        """Return the contract entry of the rewards."""
        return {
            "model": REWARD_MODEL,
            **self.entries(self._file, self._initial),
            "outputs": [array(name, ()) for name in self.names],
            "held": self.held,
        }

    def model(self) -> onnx.ModelProto:
        """Return the ONNX model."""
        assert self._model is not None, "At least one term is computed."
        return self._model

    def _converted(self) -> onnx.ModelProto | None:
        """Return the ONNX model, None if no term is left.

        Terms that ONNX does not support move to `held`.
        """
        if not self.names:
            return None
        try:
            return self.onnx(self._file)
        except ExportError:
            kept = [name for name in self.names if self._is_supported(name)]
            self._file = self._traced(kept)
            return self.onnx(self._file) if kept else None

    def _is_supported(self, name: str) -> bool:
        try:
            self.onnx(self._traced([name]))
        except ExportError as error:
            self.held[name] = one_line(error)
        return name not in self.held

    def _traced(self, names: Sequence[str]) -> Graph:
        self.memory = self._states()
        return self.graph(names)

    def _states(self) -> Values:
        """Return the current state tensors, by name.

        Read them again after a term was called, which can replace its tensors.
        """
        env = self.tracer.env
        actions = env.action_manager
        earlier = (actions.prev_action, actions.prev_prev_action)
        found = {STEPS: env.episode_length_buf}
        found |= dict(zip(_EARLIER, earlier, strict=True))
        for name, term in self._terms.items():
            own = {} if term.instance is None else term.instance.state()
            found |= {f"{name}_{key}": tensor for key, tensor in own.items()}
        return found

    def step(self, values: Values, names: Sequence[str]) -> Values:
        tracer, env = self.tracer, self.tracer.env
        values = {name: value.clone() for name, value in values.items()}
        # The environment increments the step counter before it computes rewards.
        now = values | {STEPS: values[STEPS] + 1}
        given = [(tensor, now[name]) for name, tensor in self.known.items()]
        instances = [t.instance for t in self._terms.values() if t.instance]
        with self.uncached(), env.sim.reads.allow_late(), same_attributes(instances):
            zero = values[ACTION].flatten()[0] * 0.0
            with LiveReads(given, tracer.refused(), zero) as reads:
                for command in self._commands.values():
                    command.derive()
                tried = {name: self._tried(name, reads) for name in names}
                kept = {n: reads.read(tensor) for n, tensor in self._states().items()}
        shifted = (values[ACTION], values[_EARLIER[0]])
        kept |= dict(zip(_EARLIER, shifted, strict=True))
        found = {name: value for name, value in tried.items() if value is not None}
        return found | {f"next_{name}": value.clone() for name, value in kept.items()}

    def _tried(self, name: str, reads: LiveReads) -> Tensor | None:
        """Return a term's weighted reward per second, shape (1,).

        If the term cannot be traced, return None and store the reason in `held`.
        """
        try:
            return reads.read(self._terms[name]()) * self._terms[name].cfg.weight
        except Exception as error:  # Terms of users can raise anything.
            self.held[name] = one_line(error)
            return None

    # Comparison.

    def _drop_different(self) -> None:
        """Compare rewards with the environment; move terms that differ to `held`."""
        names, env = self.names, self.tracer.env
        manager, chance = env.reward_manager, torch.Generator().manual_seed(0)
        memory = self.now(self._initial)
        for _ in range(REWARD_STEPS):
            with self._caught() as inputs:
                size = (1, env.action_manager.total_action_dim)
                *_, terminated, truncated, _ = env.step(
                    0.3 * torch.randn(size, generator=chance)
                )
            found = self._file(inputs | memory)
            rates = (manager.values * manager.weights)[0]
            for name in names:
                if not is_close(found[name][0], rates[manager.column(name)]):
                    self.held[name] = "its traced value differs from the term's"
            if bool(terminated | truncated):
                break
            memory |= {n: found.get(f"next_{n}", memory[n]) for n in memory}
        kept = [name for name in names if name not in self.held]
        if kept != names:
            self._file = self._traced(kept)

    @contextmanager
    def _caught(self) -> Iterator[Values]:
        """Copy the model's inputs at the moment the environment computes rewards."""
        manager, inputs = self.tracer.env.reward_manager, Values()
        compute = manager.compute

        def catch(*arguments: Any) -> Tensor:
            found = compute(*arguments)
            inputs.update(self.now(self.fields | self.given))
            return found

        vars(manager)["compute"] = catch
        try:
            yield inputs
        finally:
            del vars(manager)["compute"]


_EARLIER = ACTIONS[:2]
"""States with the actions of the last two steps."""


def rewards_of(
    tracer: Tracer, commands: Sequence[str], states: Mapping[str, Tensor]
) -> Rewards | None:
    """Trace the reward terms of a task; return None if no term can be traced.

    Args:
        tracer: Tracer of the environment.
        commands: Names of the commands that are inputs of the policy.
        states: Live states of the commands in the file's world model, by name.
    """
    rewards = Rewards(tracer, commands, states)
    return rewards if rewards.names else None

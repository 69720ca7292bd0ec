"""Check traced terms against the managers, and policy files against their networks."""

import itertools
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import torch
from torch import Tensor

from mjlab.envs import ManagerBasedRlEnv
from mjlab.export.control_step import ControlStep
from mjlab.export.graph import Values
from mjlab.export.leaves import Leaf
from mjlab.export.muscles import MuscleController, reading
from mjlab.export.reader import ExportError, OnnxPolicy
from mjlab.export.runner.policy import ContractPolicy, FileGraph
from mjlab.export.targets import ACTION, sent
from mjlab.muscle.action import MuscleAction, muscle_action
from mjlab.rl.learners import InferencePolicy
from mjlab.rl.vecenv import RslRlVecEnv

TERM_STEPS = 100
"""Number of random steps in which traced terms are compared with the managers."""

CHECKED_STEPS = 50
"""Number of steps in which every file is compared with its network."""

TERM_TOLERANCE = 1e-4
"""Tolerance of traced terms: absolute for values up to 1, relative above."""

_SIZE_OF_ACTIONS, _EPISODE = 0.5, 23
"""Scale of random actions, and number of steps between resets."""


def compare_terms(
    step: ControlStep, controllers: Sequence[MuscleController] = ()
) -> None:
    """Compare traced terms with the managers over random steps, with resets.

    Args:
        step: The traced control step.
        controllers: The traced muscle controllers.

    Raises:
        ExportError: If the traced value of a term differs, because part of it became
            a constant during tracing. The message names the term.
    """
    tracer, env = step.tracer, step.tracer.env
    chance = torch.Generator().manual_seed(0)
    env.reset(seed=0)
    memory = dict(tracer.initial)
    for controller in controllers:
        ExcitationCheck(controller)
    for count in range(1, TERM_STEPS + 1):
        known = tracer.read() | step.zero
        seen = step.observe(known | memory)
        for label, found, expected in _observed(env, tracer.seen, seen):
            _refuse(label, found, expected)
        memory = {name: seen[f"next {name}"] for name in memory}
        shape = (1, env.action_manager.total_action_dim)
        action = _SIZE_OF_ACTIONS * torch.randn(shape, generator=chance)
        told = step.act(known | memory | {ACTION: action})
        memory = {name: told[f"next {name}"] for name in memory}
        *_, terminated, truncated, _ = env.step(action)
        is_over = bool(terminated | truncated)
        for name, term in env.action_manager.terms.items():
            if not is_over:  # A reset clears targets.
                expected = sent(env, term)
                _refuse(f"Action term {name!r}", told[f"{name}_target"], expected)
        if count % _EPISODE == 0:
            env.reset()
        if is_over or count % _EPISODE == 0:
            memory = dict(tracer.initial)
    for controller in controllers:
        controller.term.watches.clear()


class ExcitationCheck:
    """Compares traced with simulated excitations, once per control step.

    It uses the second physics step of each control step.
    """

    def __init__(self, controller: MuscleController) -> None:
        self._controller, self._term = controller, controller.term
        self._substeps = itertools.cycle(range(self._term.buffer.num_substeps))
        self._activation = self._term.activation.clone()
        self._term.watches.append(self)

    def __call__(self, excitation: Tensor) -> None:
        if next(self._substeps) == 1:
            found = self._controller.excitation(self._activation)
            _refuse(f"Action term {self._term.name!r}", found, excitation)
        self._activation = self._term.activation.clone()


def _observed(
    env: ManagerBasedRlEnv, groups: Sequence[str], seen: Values
) -> Iterator[tuple[str, Tensor, Tensor]]:
    """Yield label, traced value and current value of each observation term."""
    manager = env.observation_manager
    for name in groups:
        group, _, term = name.partition("/")
        output = manager.output[group]
        if isinstance(output, dict):
            yield f"Observation term {name!r}", seen[name], output[term]
            continue
        cfg = env.cfg.observations[group]
        assert cfg is not None, "The manager has this group."
        dim = cfg.concatenate_dim
        dim = dim + 1 if dim >= 0 else dim
        slots = manager.groups[group].slots
        index = dim - 1 if dim > 0 else dim
        sizes = [slot.output_shape[index] for slot in slots]
        parts = (seen[name].split(sizes, dim), output.split(sizes, dim))
        for slot, found, expected in zip(slots, *parts, strict=True):
            yield slot.label, found, expected


def _refuse(label: str, found: Tensor, expected: Tensor) -> None:
    worst = difference(found.numpy(), expected.numpy())
    if not worst <= TERM_TOLERANCE:
        raise ExportError(
            f"{label} cannot be exported: over {TERM_STEPS} random steps its traced "
            f"value differs by {worst:.2g}. Part of it became a constant, such as a "
            "cached tensor, a Python counter or a NumPy array. Compute it from tensors "
            "in each call, and store its state in tensors that state() returns."
        )


def compare_file(
    policy: OnnxPolicy,
    worlds: RslRlVecEnv,
    network: torch.nn.Module,
    *,
    clip: float | None,
    leaves: Mapping[str, Leaf],
    steps: int = CHECKED_STEPS,
) -> float:
    """Run file and network in closed loop; return the largest difference.

    The difference covers actions, targets and muscle excitations. It is relative for
    values above 1.

    Args:
        policy: The exported file.
        worlds: Environment with one world.
        network: Network that was exported.
        clip: Bound of the actions, None for unbounded.
        leaves: Inputs of the file, by name.
        steps: Number of control steps.
    """
    env = worlds.env
    original = InferencePolicy(network)
    original.reset()
    policy.reset()
    bound = {name: leaf.bind(env) for name, leaf in leaves.items()}
    observations = worlds.reset(seed=0)
    excitations = compared_excitations(env, policy)
    worst = 0.0
    for _ in range(steps):
        action = original(observations)
        action = action if clip is None else action.clamp(-clip, clip)
        with env.sim.reads.allow_late():
            told = {name: term()[0].numpy().copy() for name, term in bound.items()}
        found = policy(told)
        worst = max(worst, difference(found[ACTION], action[0].numpy()))
        # Both receive the file's action, so rounding errors do not accumulate.
        own = torch.from_numpy(found[ACTION]).unsqueeze(0)
        observations, _, dones, _ = worlds.step(own)
        original.reset(dones)
        if dones.item():
            policy.reset()
            continue
        for name, term in env.action_manager.terms.items():
            expected = sent(env, term)[0].numpy()
            worst = max(worst, difference(found[f"{name}_target"], expected))
    return max([worst, *(each.worst for each in excitations)])


class ComparedExcitations:
    """Compares a file's muscle excitations with the environment's, per physics step."""

    def __init__(self, term: MuscleAction, controller: FileGraph) -> None:
        """Start the comparison.

        Args:
            term: The muscle action of an environment with one world.
            controller: Muscle controller of this action in the file.
        """
        self.worst = 0.0
        """Maximum difference so far, relative for values above 1."""
        self.steps: list[tuple[dict[str, np.ndarray], np.ndarray]] = []
        """Inputs and excitations of each physics step."""
        self._controller = controller
        entries = controller.about["inputs"]
        self._inputs = {entry["name"]: reading(term, entry) for entry in entries}
        term.watches.append(self._compare)

    def _compare(self, excitation: Tensor) -> None:
        inputs = {n: read()[0].numpy().copy() for n, read in self._inputs.items()}
        (found,) = self._controller(inputs).values()
        self.worst = max(self.worst, difference(found, excitation[0].numpy()))
        self.steps.append((inputs, found))


def compared_excitations(
    env: ManagerBasedRlEnv, policy: ContractPolicy
) -> list[ComparedExcitations]:
    """Start comparing the file's muscle excitations with the environment's.

    The excitations can agree only if both receive the same joint targets.
    """
    return [
        ComparedExcitations(muscle_action(env, name), controller)
        for name, controller in policy.controllers.items()
    ]


def difference(found: np.ndarray, expected: np.ndarray) -> float:
    """Return the maximum difference, relative for numbers above 1; inf for NaN."""
    found, expected = found.astype(np.float64), expected.astype(np.float64)
    away = np.abs(found - expected) / np.maximum(1.0, np.abs(expected))
    return float(np.nan_to_num(away, nan=np.inf).max(initial=0.0))

"""How a step runs: recorded as one CUDA graph, or call by call."""

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

import torch

from mjlab.envs.config import ConfigError
from mjlab.envs.guard import no_writes_after_forward
from mjlab.envs.snapshot import restore_state
from mjlab.sim.fields import FORWARD_FIELDS

if TYPE_CHECKING:
    from mjlab.envs.env import ManagerBasedRlEnv

_log = logging.getLogger(__name__)

SELF_TEST_STEPS = 4
"""Replays that are compared with eager steps. One is not enough: a Python counter
frozen in a recording looks right once."""

SELF_TEST_TOLERANCE = 1e-3
"""Largest difference, relative to a tensor's scale, that the order of atomic additions
on a GPU may cause in these steps."""


class Program(Protocol):
    """Runs `_advance`."""

    mode: str
    """How: "fused", "segmented" or "eager"."""
    reason: str
    """Why so, for the start-up report."""

    def run(self) -> None:
        """Run one step."""
        ...

    def settle(self) -> None:
        """Be told that derived quantities are current."""
        ...

    def unsettle(self) -> None:
        """Be told that they are not, because the state was exchanged."""
        ...

    def drop(self) -> None:
        """Let go of what is recorded."""
        ...


class CallByCall:
    """Runs the step as it is written."""

    def __init__(self, env: "ManagerBasedRlEnv", mode: str, reason: str) -> None:
        self.mode = mode
        self.reason = reason
        self._env = env
        self._watch = StateWatch(env)

    def run(self) -> None:
        """Run one step."""
        self._watch.refresh_if_written()
        self._env._advance()
        self.settle()

    def settle(self) -> None:
        """Note that derived quantities are current."""
        self._watch.settle()

    def unsettle(self) -> None:
        """Note that derived quantities are not current."""
        self._watch.unsettle()

    def drop(self) -> None:
        """Nothing is recorded."""


class Fused:
    """Replays the whole step as one CUDA graph."""

    mode = "fused"

    def __init__(self, env: "ManagerBasedRlEnv", reason: str) -> None:
        self.reason = reason
        self._env = env
        self._watch = StateWatch(env)
        self._graph = self._record()

    def run(self) -> None:
        """Replay the step."""
        if self._env.sim.engine.wp_model is not self._model:
            # A late expansion exchanged arrays, and the recording has the old ones.
            self._graph.reset()
            self._graph = self._record()
        self._watch.refresh_if_written()
        self._graph.replay()
        # A replay runs no Python, so what was computed on request is old now.
        self._env.sim.reads.fresh = self._fresh
        self._env.phases.invalidate()

    def settle(self) -> None:
        """Note that derived quantities are current."""
        self._watch.settle()

    def unsettle(self) -> None:
        """Note that derived quantities are not current."""
        self._watch.unsettle()

    def drop(self) -> None:
        """Free the graph."""
        self._graph.reset()

    def _record(self) -> torch.cuda.CUDAGraph:
        """Record the step. The warm-up really runs it, and is taken back."""
        # Imported here because it needs Warp, which the native engine does without.
        from mjlab.sim.graphs import record_with_torch

        self._model = self._env.sim.engine.wp_model
        state = self._env.get_state()
        try:
            graph = record_with_torch(self._env._advance, self._env.device)
            self._fresh = self._env.sim.reads.fresh
            return graph
        finally:
            restore_state(self._env, state)
            self._watch.unsettle()


class StateWatch:
    """Notices that a user wrote the state, or a model field, between steps.

    The first physics step of `_advance` continues from what `forward()` computed, so
    what was written since needs a `forward()` of its own. On the native engine MuJoCo
    itself sees that.
    """

    def __init__(self, env: "ManagerBasedRlEnv") -> None:
        self._env = env
        self._is_needed = env.sim.backend.engine == "warp"
        self._model: object = None
        self._tensors: list[torch.Tensor] = []
        self._versions: tuple[int, ...] = self._present()

    def refresh_if_written(self) -> None:
        """Make derived quantities current if the state has been written."""
        if self._is_needed and self._present() != self._versions:
            self._env.sim.forward()
            # A replay writes nothing that would be noticed, so this holds until next.
            self.settle()

    def settle(self) -> None:
        """Take the present state as the one that derived quantities belong to."""
        self._versions = self._present()

    def unsettle(self) -> None:
        """Forget what derived quantities belong to."""
        self._versions = ()

    def _present(self) -> tuple[int, ...]:
        if not self._is_needed:
            return ()
        engine = self._env.sim.engine
        if self._model is not engine.wp_model:  # A late expansion exchanged it.
            self._model = engine.wp_model
            models = [engine.model(name) for name in sorted(engine.variable_fields)]
            self._tensors = [engine.data(name) for name in FORWARD_FIELDS]
            self._tensors += [tensor for tensor in models if tensor is not None]
        return tuple(tensor._version for tensor in self._tensors)


def build_program(env: "ManagerBasedRlEnv") -> Program:
    """Choose how a step runs, and try it out."""
    rehearse(env)
    wanted = env.cfg.mode
    if env.sim.backend.engine == "native":
        if wanted in ("fused", "segmented"):
            raise ConfigError(
                f"mode={wanted!r} needs graphs, which the native engine does not have. "
                "Use mode='auto', or sim.backend='warp' on a CUDA device."
            )
        return CallByCall(env, "eager", "the native engine needs no graphs")
    if wanted == "eager":
        env.sim.engine.graphs.disable()
        return CallByCall(env, "eager", "mode 'eager' was asked for")
    if wanted == "segmented":
        return CallByCall(env, "segmented", "mode 'segmented' was asked for")
    if env.device.type != "cuda":
        if wanted == "fused":
            raise ConfigError(
                "mode='fused' needs a CUDA device, and the device is "
                f"'{env.device}'. Use mode='auto'."
            )
        return CallByCall(env, "segmented", "one graph for all needs a CUDA device")
    return _try_fused(env, wanted)


def rehearse(env: "ManagerBasedRlEnv", steps: int = 2) -> None:
    """Run some steps and take them back.

    Nothing in a step depends on data, so two steps read whatever any step will read.
    From then on it is known how far `forward()` has to go, and an unforeseen read is
    an error instead of a stale value.
    """
    state = env.get_state()
    with no_writes_after_forward(env):
        for _ in range(steps):
            env._advance()
    restore_state(env, state)
    env.sim.reads.frozen = True


def _try_fused(env: "ManagerBasedRlEnv", wanted: str) -> Program:
    listed = ", ".join(env.terms_with_ids())
    if listed:
        return _fall_back(env, wanted, f"these terms take env_ids: {listed}")
    try:
        program = Fused(env, "a CUDA device is present")
    except RuntimeError as error:
        return _fall_back(env, wanted, f"it could not be recorded: {error}")
    culprits = self_test(env, program.run, env._advance)
    if culprits:
        program.drop()
        listed = "; ".join(culprits[:3])
        return _fall_back(env, wanted, f"replays differ from eager steps in {listed}")
    program.reason = f"{SELF_TEST_STEPS} replays equal eager steps"
    return program


def _fall_back(env: "ManagerBasedRlEnv", wanted: str, why: str) -> Program:
    if wanted == "fused":
        raise ConfigError(f"mode='fused' does not work here: {why}.")
    _log.warning("The step runs in segments, not as one graph: %s.", why)
    return CallByCall(env, "segmented", why)


def self_test(
    env: "ManagerBasedRlEnv",
    replay: Callable[[], None],
    eager: Callable[[], None],
    *,
    tolerance: float = SELF_TEST_TOLERANCE,
) -> list[str]:
    """Compare several replays with as many eager steps from the same state.

    Contacts on a GPU come in no order, so that a few of thousands of worlds part ways
    even between two eager runs. What counts is the share of worlds that differ, beyond
    three times that of two eager runs. Half of the worlds end in these steps, so that
    resets are compared too.

    Returns:
        The tensors that differ, the worst first: term and tensor, and by how much.
    """
    start = env.get_state()
    ends = []
    for run in (eager, eager, replay):
        restore_state(env, start)
        env.episode_length_buf[::2] = max(0, env.max_episode_length - 2)
        env.sim.forward()
        for _ in range(SELF_TEST_STEPS):
            run()
        ends.append(env.get_state())
    restore_state(env, start)
    env.sim.forward()
    found = []
    for name, expected in ends[0].items():
        noise = _share_of_worlds(ends[1][name], expected, tolerance)
        share = _share_of_worlds(ends[2][name], expected, tolerance)
        # Two eager runs that differ in most worlds have a memory outside of tensors.
        if share > 0.05 + 3.0 * noise or noise > 0.5:
            found.append((share, f"{name} (in {share:.0%} of its rows)"))
    return [text for _, text in sorted(found, reverse=True)]


def _share_of_worlds(
    value: torch.Tensor, expected: torch.Tensor, tolerance: float
) -> float:
    """Share of the rows that differ by more than `tolerance` of the tensor's scale."""
    if expected.numel() == 0:
        return 0.0
    if expected.is_floating_point():
        ours, theirs = (
            t.double().nan_to_num(nan=0.0, posinf=1e30, neginf=-1e30)
            for t in (value, expected)
        )
        scale = theirs.abs().max().clamp(min=1e-6)
        differs = (ours - theirs).abs() > tolerance * scale
    else:
        differs = value != expected
    rows = differs.reshape(differs.shape[0], -1) if differs.ndim else differs.view(1, 1)
    return float(rows.any(dim=1).double().mean())

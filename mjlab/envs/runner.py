"""Runners of steps: recorded as one CUDA graph, or as they are written."""

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

from mjlab.envs.config import ConfigError, ModeName
from mjlab.envs.inspect import no_writes_after_forward
from mjlab.envs.state import EnvState, is_per_world
from mjlab.envs.step import StepProgram
from mjlab.managers import ManagedEnv
from mjlab.sim import EngineError, Simulation
from mjlab.sim.fields import FORWARD_FIELDS

_log = logging.getLogger(__name__)

SELF_TEST_STEPS = 4
"""Replays that are compared with eager steps. One is not enough: a Python counter
frozen in a recording looks right once."""

SELF_TEST_TOLERANCE = 1e-3
"""Largest difference, relative to a tensor's scale, that the order of atomic additions
on a GPU may cause in these steps."""


class StepObserver:
    """Something that watches steps, outside of what a graph holds; by default not."""

    def before_step(self) -> None:
        """Look at what a step begins with."""

    def after_phase(self, phase: str) -> None:
        """Look at the result of a phase. A step that is one graph has no phases.

        For an observer that overrides this, physics steps are taken one by one.
        """

    def after_step(self) -> None:
        """Look at what a step has done."""

    def step_failed(self, error: EngineError) -> None:
        """Look at a step in which the engine could not go on."""

    def interrupted(self) -> None:
        """Note that worlds were reset, or their state was exchanged, between steps."""

    def before_counts(self) -> None:
        """Look for faults before their counts are taken, which may end the run."""


class StepRunner(ABC):
    """Runs steps, and calls observers around them."""

    def __init__(
        self,
        program: StepProgram,
        sim: Simulation,
        observers: list[StepObserver],
        *,
        mode: str,
        reason: str,
    ) -> None:
        self._program, self._observers = program, observers
        self._check = StaleStateCheck(sim) if sim.needs_graphs else None
        self.mode = mode
        """Mode of a step: "fused", "segmented" or "eager"."""
        self.reason = reason
        """Why so, for the start-up report."""

    @abstractmethod
    def run(self) -> None:
        """Run one step."""

    @contextmanager
    def _watched(self) -> Iterator[None]:
        """Have observers look at the step that runs inside."""
        for observer in self._observers:
            observer.before_step()
        try:
            if self._check is not None:
                self._check.refresh_if_written()
            yield
        except EngineError as error:
            for observer in self._observers:
                observer.step_failed(error)
            raise
        for observer in self._observers:
            observer.after_step()

    def release(self) -> None:
        """Let go of what is recorded."""
        self._notify()

    def mark_fresh(self) -> None:
        """Note that somebody else made derived quantities current."""
        if self._check is not None:
            self._check.mark_fresh()
        self._notify()

    def mark_stale(self) -> None:
        """Note that derived quantities are not current: the state was exchanged."""
        if self._check is not None:
            self._check.mark_stale()
        self._notify()

    def _notify(self) -> None:
        for observer in self._observers:
            observer.interrupted()


class EagerRunner(StepRunner):
    """Runs the step as it is written."""

    def run(self) -> None:
        """Run one step, with its phases if observers look at them."""
        hooks = [
            observer.after_phase
            for observer in self._observers
            if type(observer).after_phase is not StepObserver.after_phase
        ]
        with self._watched():
            if hooks:
                self._program.advance_by_phases(hooks)
            else:
                self._program.advance()
            if self._check is not None:
                self._check.mark_fresh()


class GraphRunner(StepRunner):
    """Replays the whole step as one CUDA graph."""

    def __init__(
        self,
        program: StepProgram,
        env: ManagedEnv,
        state: EnvState,
        observers: list[StepObserver],
        *,
        reason: str,
        joins_rows: bool = False,
    ) -> None:
        super().__init__(program, env.sim, observers, mode="fused", reason=reason)
        self._joins_rows = joins_rows
        self._sim, self._scene, self._state = env.sim, env.scene, state
        self._engine: Any = env.sim.engine
        self._graph, self._of_warp = self._record()

    def run(self) -> None:
        """Replay one step."""
        with self._watched():
            self.replay()

    def replay(self) -> None:
        """Run one step that nobody watches."""
        if self._engine.wp_model is not self._model:
            # A late expansion exchanged arrays, and the recording has the old ones.
            self._graph.reset()
            self._graph, self._of_warp = self._record()
            if self._check is not None:
                self._check.refresh_if_written()
        self._graph.replay()
        # A replay runs no Python, so what was computed on request is stale now.
        self._sim.reads.fresh = self._fresh
        self._scene.invalidate()

    def release(self) -> None:
        """Free the graph."""
        super().release()
        self._graph.reset()

    def _record(self) -> tuple[torch.cuda.CUDAGraph, Any]:
        """Record the step. The warm-up really runs it, and is taken back."""
        # Imported here because it needs Warp, which the native engine does without.
        from mjlab.sim.graphs import record_with_torch
        from mjlab.sim.warp_rows import RowPrograms

        device, num_envs = self._sim.device, self._sim.num_envs
        rows = RowPrograms(num_envs, device) if self._joins_rows else None
        self._model = self._engine.wp_model
        state = self._state.take()
        try:
            found = record_with_torch(self._program.advance, device, rows=rows)
            self._fresh = self._sim.reads.fresh
            return found
        finally:
            self._state.restore(state)
            if self._check is not None:
                self._check.mark_stale()


class StaleStateCheck:
    """Notices that a user wrote the state, or a model field, between steps.

    The first physics step of a step continues from what `forward()` computed, so what
    was written since needs a `forward()` of its own. On the native engine MuJoCo itself
    sees that.
    """

    def __init__(self, sim: Simulation) -> None:
        self._sim = sim
        self._model: object = None
        self._tensors: list[torch.Tensor] = []
        self._versions: tuple[int, ...] = self._present()

    def refresh_if_written(self) -> None:
        """Make derived quantities current if the state has been written."""
        if self._present() != self._versions:
            self._sim.forward()
            # A replay writes nothing that would be noticed, so this holds until next.
            self.mark_fresh()

    def mark_fresh(self) -> None:
        """Take the present state as the one that derived quantities belong to."""
        self._versions = self._present()

    def mark_stale(self) -> None:
        """Forget what derived quantities belong to."""
        self._versions = ()

    def _present(self) -> tuple[int, ...]:
        engine: Any = self._sim.engine
        if self._model is not engine.wp_model:  # A late expansion exchanged it.
            self._model = engine.wp_model
            models = [engine.model(name) for name in sorted(engine.variable_fields)]
            self._tensors = [engine.data(name) for name in FORWARD_FIELDS]
            self._tensors += [tensor for tensor in models if tensor is not None]
        return tuple(tensor._version for tensor in self._tensors)


def build_runner(
    env: ManagedEnv,
    program: StepProgram,
    state: EnvState,
    observers: list[StepObserver],
    wanted: ModeName,
) -> StepRunner:
    """Choose how a step runs, and try it out.

    Args:
        env: The environment.
        program: Its step.
        state: Its state, which is left as it is.
        observers: What is called around steps. The list stays the caller's.
        wanted: The mode that was asked for.
    """
    rehearse(env, program, state)

    def eager(mode: str, reason: str) -> StepRunner:
        return EagerRunner(program, env.sim, observers, mode=mode, reason=reason)

    if not env.sim.needs_graphs:
        if wanted in ("fused", "segmented"):
            raise ConfigError(
                f"mode={wanted!r} needs graphs, which the native engine does not have. "
                "Use mode='auto', or sim.backend='warp' on a CUDA device."
            )
        return eager("eager", "the native engine needs no graphs")
    if wanted in ("eager", "segmented"):
        engine: Any = env.sim.engine
        if wanted == "eager":
            engine.graphs.disable()
        return eager(wanted, f"mode {wanted!r} was asked for")
    if env.device.type != "cuda":
        if wanted == "fused":
            raise ConfigError(
                "mode='fused' needs a CUDA device, and the device is "
                f"'{env.device}'. Use mode='auto'."
            )
        return eager("segmented", "one graph for all needs a CUDA device")
    fused = _try_fused(env, program, state, observers)
    if isinstance(fused, StepRunner):
        return fused
    if wanted == "fused":
        raise ConfigError(f"mode='fused' does not work here: {fused}.")
    _log.warning("The step runs in segments, not as one graph: %s.", fused)
    return eager("segmented", fused)


def rehearse(
    env: ManagedEnv, program: StepProgram, state: EnvState, steps: int = 2
) -> None:
    """Run some steps and take them back.

    Nothing in a step depends on data, so two steps read whatever any step will read.
    From then on it is known how far `forward()` has to go, and an unforeseen read is
    an error instead of a stale value.
    """
    before, reads = state.take(), env.sim.reads
    with no_writes_after_forward(env):
        for _ in range(steps):
            # These are the five calls of `advance`. Physics computes all stages, so
            # reads before `observe` do not decide how far `forward()` has to go.
            with reads.before_forward():
                program.act()
                program.physics.run()
                program.evaluate()
                program.reset_done()
            program.observe()
    state.restore(before)
    reads.sealed = True


def _try_fused(
    env: ManagedEnv,
    program: StepProgram,
    state: EnvState,
    observers: list[StepObserver],
) -> StepRunner | str:
    """The step as one graph, or why that does not work."""
    with_ids = [t.label for t in env.managers.bound_terms() if t.needs_ids]
    if with_ids:
        return f"these terms take env_ids: {', '.join(with_ids)}"
    found = ""
    for joins_rows in (True, False):
        reason = f"{SELF_TEST_STEPS} replays equal eager steps"
        if found:
            reason += f", but not with operations on rows joined: {found}"
        try:
            runner = GraphRunner(
                program, env, state, observers, reason=reason, joins_rows=joins_rows
            )
        except RuntimeError as error:
            # A capture's end says only that something failed before; notes name terms.
            first = error.__context__ or error
            said = [str(first), *getattr(first, "__notes__", ())]
            found = f"it could not be recorded: {' '.join(said)}"
            continue
        culprits = self_test(env, state, runner.replay, program.advance)
        if not culprits:
            return runner
        runner.release()
        found = f"replays differ from eager steps in {'; '.join(culprits[:3])}"
    return found


def self_test(
    env: ManagedEnv,
    state: EnvState,
    replay: Callable[[], None],
    eager: Callable[[], None],
    *,
    tolerance: float = SELF_TEST_TOLERANCE,
) -> list[str]:
    """Compare several replays with as many eager steps from the same state.

    Contacts on a GPU come in no order, so that a few of thousands of worlds part ways
    even between two eager runs. What counts is the share of worlds that differ, beyond
    three times that of two eager runs. What worlds share (sums, counters) follows from
    all of them, so it is judged where none parted ways. Half of the worlds end in these
    steps, so that resets are compared too.

    Returns:
        The tensors that differ, the worst first: term and tensor, and by how much.
    """
    start = state.take()
    ends = []
    for run in (eager, eager, replay):
        state.restore(start)
        env.episode_length_buf[::2] = max(0, env.max_episode_length - 2)
        env.sim.forward()
        for _ in range(SELF_TEST_STEPS):
            run()
        ends.append(state.take())
    state.restore(start)
    env.sim.forward()
    found, shared = [], []
    parted = 0.0
    for name, value in ends[0].items():
        noise = _differing(ends[1][name], value, tolerance)
        share = _differing(ends[2][name], value, tolerance)
        if not is_per_world(name, value, env.num_envs):
            shared += [(share, name)] * (noise == 0.0 < share)
            continue
        parted = max(parted, share)
        # Two eager runs that differ in most worlds have a memory outside of tensors.
        if share > 0.05 + 3.0 * noise or noise > 0.5:
            found.append((share, name))
    worst = sorted(found or shared * (parted == 0.0), reverse=True)
    return [f"{name} (in {share:.0%} of its rows)" for share, name in worst]


def _differing(value: torch.Tensor, expected: torch.Tensor, tolerance: float) -> float:
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

"""Runners of environment steps: replay of a CUDA graph, or eager execution."""

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
"""Number of replays that are compared with eager steps. A single replay is not enough:
a Python counter that the capture froze is still correct in the first replay."""

SELF_TEST_TOLERANCE = 1e-3
"""Tolerated difference, relative to a tensor's scale. The order of atomic additions on
a GPU causes smaller differences in these steps."""


class StepObserver:
    """Base class of step observers. Methods run outside of the CUDA graph."""

    def before_step(self) -> None:
        """Called before a step. Like the methods below, it does nothing by default."""

    def after_phase(self, phase: str) -> None:
        """Called after each phase. Not called if the step runs as one CUDA graph.

        If an observer overrides this method, physics steps run one by one.
        """

    def after_step(self) -> None:
        """Called after a step."""

    def step_failed(self, error: EngineError) -> None:
        """Called if the engine raised in a step."""

    def interrupted(self) -> None:
        """Called if worlds were reset, or their state was replaced, between steps."""

    def before_counts(self) -> None:
        """Called before `take_health` reads the counters, which can stop the run."""


class StepRunner(ABC):
    """Base class of runners: runs steps, and calls observers before and after each."""

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
        """Reason for the mode, for the startup report."""

    @abstractmethod
    def run(self) -> None:
        """Run one step."""

    @contextmanager
    def _watched(self) -> Iterator[None]:
        """Call the observers before and after the enclosed step."""
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
        """Release the captured graph."""
        self._notify()

    def mark_fresh(self) -> None:
        """Mark derived quantities as fresh after an external `forward()`."""
        if self._check is not None:
            self._check.mark_fresh()
        self._notify()

    def mark_stale(self) -> None:
        """Mark derived quantities as stale, because the state was replaced."""
        if self._check is not None:
            self._check.mark_stale()
        self._notify()

    def _notify(self) -> None:
        for observer in self._observers:
            observer.interrupted()


class EagerRunner(StepRunner):
    """Runs the step eagerly."""

    def run(self) -> None:
        """Run one step, phase by phase if an observer overrides `after_phase`."""
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
        """Run one step without observers."""
        if self._engine.wp_model is not self._model:
            # An `expand` after the capture replaced arrays, and the graph still uses
            # the old ones.
            self._graph.reset()
            self._graph, self._of_warp = self._record()
            if self._check is not None:
                self._check.refresh_if_written()
        self._graph.replay()
        # A replay runs no Python code, so it cannot mark lazily computed quantities as
        # stale.
        self._sim.reads.fresh = self._fresh
        self._scene.invalidate()

    def release(self) -> None:
        """Free the captured CUDA graph and its memory."""
        super().release()
        self._graph.reset()

    def _record(self) -> tuple[torch.cuda.CUDAGraph, Any]:
        """Capture the step. The warm-up changes the state, which is restored."""
        # Imported here because it needs Warp, which the native engine does not require.
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
    """Detects writes to the state or to a model field between steps.

    The first physics step of a step continues from the results of `forward()`, so later
    writes require another `forward()`. On the native engine, MuJoCo detects them.
    """

    def __init__(self, sim: Simulation) -> None:
        self._sim = sim
        self._model: object = None
        self._tensors: list[torch.Tensor] = []
        self._versions: tuple[int, ...] = self._present()

    def refresh_if_written(self) -> None:
        """Recompute derived quantities if the state has been written."""
        if self._present() != self._versions:
            self._sim.forward()
            # A replay does not change version counters, so the state counts as fresh
            # until the next write.
            self.mark_fresh()

    def mark_fresh(self) -> None:
        """Mark derived quantities as fresh for the current state."""
        self._versions = self._present()

    def mark_stale(self) -> None:
        """Mark derived quantities as stale."""
        self._versions = ()

    def _present(self) -> tuple[int, ...]:
        engine: Any = self._sim.engine
        if self._model is not engine.wp_model:  # An `expand` replaced the arrays.
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
    """Choose the execution mode of steps, test it, and return its runner.

    Args:
        env: The environment.
        program: Its step program.
        state: Its state, which is restored afterwards.
        observers: Observers of steps. The caller can modify the list later.
        wanted: Configured mode.
    """
    rehearse(env, program, state)

    def eager(mode: str, reason: str) -> StepRunner:
        return EagerRunner(program, env.sim, observers, mode=mode, reason=reason)

    if not env.sim.needs_graphs:
        if wanted in ("fused", "segmented"):
            raise ConfigError(
                f"mode={wanted!r} needs CUDA graphs, which the native engine does not "
                "support. Use mode='auto', or sim.backend='warp' on a CUDA device."
            )
        return eager("eager", "the native engine uses no CUDA graphs")
    if wanted in ("eager", "segmented"):
        engine: Any = env.sim.engine
        if wanted == "eager":
            engine.graphs.disable()
        return eager(wanted, f"mode={wanted!r} is set")
    if env.device.type != "cuda":
        if wanted == "fused":
            raise ConfigError(
                "mode='fused' needs a CUDA device, but the device is "
                f"'{env.device}'. Use mode='auto'."
            )
        return eager("segmented", "mode 'fused' needs a CUDA device")
    fused = _try_fused(env, program, state, observers)
    if isinstance(fused, StepRunner):
        return fused
    reason = fused.rstrip(".")
    if wanted == "fused":
        raise ConfigError(f"mode='fused' is not possible: {reason}. Use mode='auto'.")
    _log.warning("The step runs as several CUDA graphs, not as one: %s.", reason)
    return eager("segmented", reason)


def rehearse(
    env: ManagedEnv, program: StepProgram, state: EnvState, steps: int = 2
) -> None:
    """Run some steps, then restore the state.

    Control flow in a step does not depend on data, so these steps read every quantity
    that a later step reads. These reads determine the stage that `forward()` must
    compute. A later read of another quantity raises instead of returning a stale value.
    """
    before, reads = state.take(), env.sim.reads
    with no_writes_after_forward(env):
        for _ in range(steps):
            # The five calls of `advance`. Physics computes all stages, so reads before
            # `observe` do not determine the stage of `forward()`.
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
    """Return a runner with one CUDA graph per step, or the reason why that fails."""
    with_ids = env.managers.with_ids()
    if with_ids:
        return f"terms with env_ids: {', '.join(with_ids)}"
    found = ""
    for joins_rows in (True, False):
        reason = f"self-test passed: {SELF_TEST_STEPS} replays equal eager steps"
        if found:
            reason += f", without joined row operations: {found}"
        try:
            runner = GraphRunner(
                program, env, state, observers, reason=reason, joins_rows=joins_rows
            )
        except RuntimeError as error:
            # The error at the end of a capture only reports that the capture failed;
            # its context is the cause, and its notes name the terms.
            first = error.__context__ or error
            said = [str(first), *getattr(first, "__notes__", ())]
            found = f"graph capture failed: {' '.join(said)}"
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
    """Compare several replays with the same number of eager steps from the same state.

    The order of contacts on a GPU is undefined, so a few worlds in thousands differ
    even between two eager runs. The test fails for a tensor if the fraction of worlds
    that differ exceeds 5 % plus three times the fraction between two eager runs. Values
    that worlds share (sums, counters) depend on all worlds, so they are compared only
    if no world differs. Half of the worlds end their episode in these steps, so that
    resets are compared too.

    Returns:
        Names of the tensors that differ, each with the fraction of differing rows,
            largest fraction first.
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
        # If two eager runs differ in most worlds, the step depends on state outside of
        # tensors, so the test fails too.
        if share > 0.05 + 3.0 * noise or noise > 0.5:
            found.append((share, name))
    worst = sorted(found or shared * (parted == 0.0), reverse=True)
    return [f"{name} (in {share:.0%} of its rows)" for share, name in worst]


def _differing(value: torch.Tensor, expected: torch.Tensor, tolerance: float) -> float:
    """Return the fraction of rows that differ from `expected`.

    Floating-point values differ if their distance exceeds `tolerance` times the largest
    absolute value of the tensor.
    """
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

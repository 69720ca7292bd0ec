"""Measure the speed of an environment, and of the parts of its step."""

import gc
import resource
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from mjlab.envs import ManagerBasedRlEnv

# Operators that launch nothing on a device.
_ALLOCATIONS = ("aten.empty.", "aten.empty_like", "aten.empty_strided")
_VERBS = ("step", "forward", "reset", "recompute_constants")

Block = Callable[[], None]
"""Block of steps, as a function whose run time is measured."""

Physics = Callable[[ManagerBasedRlEnv, int], None]
"""Function that runs the engine calls of a given number of steps."""


@dataclass(frozen=True)
class Speed:
    """Step times of an environment and of its physics, measured alternately."""

    num_envs: int
    """Number of worlds."""

    step_s: list[float]
    """Seconds per environment step, by block."""

    physics_s: list[float]
    """Seconds of the engine's part of a step, by block."""

    @property
    def env_steps_per_s(self) -> float:
        """Steps of all worlds per second: the median of the blocks."""
        return self.num_envs / statistics.median(self.step_s)

    @property
    def physics_steps_per_s(self) -> float:
        """As `env_steps_per_s`, for physics alone, which is the upper bound."""
        return self.num_envs / statistics.median(self.physics_s)

    @property
    def shares_of_managers(self) -> list[float]:
        """Fraction of the step time outside of physics, by block."""
        pairs = zip(self.step_s, self.physics_s, strict=True)
        return [1.0 - physics / whole for whole, physics in pairs]


def measure(
    env: ManagerBasedRlEnv,
    blocks: int,
    steps: int,
    progress: Callable[[int, int], None] = lambda block, blocks: None,
    physics: Physics | None = None,
) -> Speed:
    """Time blocks of environment steps, alternating with blocks of physics only.

    Blocks alternate, so that other load on the machine affects both kinds equally. Both
    blocks of a pair start from the same states, so that they have the same contacts.

    Args:
        env: The environment, which continues from its current state with random
            actions.
        blocks: Pairs of blocks, after one pair that warms up.
        steps: Steps per block.
        progress: Function called with the number of finished pairs, and their total.
        physics: Function that runs only the engine calls of the steps. None selects
            `run_physics`.
    """
    do_physics = physics or run_physics
    random = torch.Generator(device=env.device).manual_seed(0)
    whole: list[float] = []
    alone: list[float] = []
    for block in range(blocks + 1):
        actions = random_actions(env, steps, random)
        state = env.get_state()
        first = seconds(env, lambda a=actions: run_steps(env, a)) / steps
        after = env.get_state()
        env.set_state(state)
        second = seconds(env, lambda: do_physics(env, steps)) / steps
        env.set_state(after)
        if block:
            whole.append(first)
            alone.append(second)
        progress(block, blocks)
    return Speed(env.num_envs, whole, alone)


def random_actions(
    env: ManagerBasedRlEnv, steps: int, random: torch.Generator
) -> torch.Tensor:
    """Return normal random actions, shape (steps, num_envs, actions)."""
    size = (steps, env.num_envs, env.action_manager.total_action_dim)
    return torch.randn(size, generator=random, device=env.device)


def run_steps(env: ManagerBasedRlEnv, actions: torch.Tensor) -> None:
    """Run one environment step per action."""
    for action in actions:
        env.step(action)


def run_physics(env: ManagerBasedRlEnv, steps: int) -> None:
    """Run only the engine calls of a given number of environment steps."""
    no_world = torch.zeros(env.num_envs, dtype=torch.bool, device=env.device)
    for _ in range(steps):
        env.sim.finish_step()
        for _ in range(env.cfg.decimation - 1):
            env.sim.step()
        env.sim.reset(no_world)
        env.sim.forward()
        env.sim.sense()


def seconds(env: ManagerBasedRlEnv, block: Block) -> float:
    """Return the time of a block, including the work queued on the device."""
    start = _now(env)
    block()
    return _now(env) - start


def _now(env: ManagerBasedRlEnv) -> float:
    if env.device.type == "cuda":
        torch.cuda.synchronize(env.device)
    return time.perf_counter()


def memory(device: torch.device) -> int:
    """Return the memory in use, in bytes: of a GPU, or of this process.

    Compare values before and after building an environment: memory of other processes
    and of earlier environments is included in both.
    """
    if device.type == "cuda":
        gc.collect()
        torch.cuda.empty_cache()
        free, total = torch.cuda.mem_get_info(device)
        return total - free
    return resident_bytes()


def resident_bytes() -> int:
    """Return the resident memory of this process; on macOS, its peak."""
    statm = Path("/proc/self/statm")
    if statm.exists():
        return int(statm.read_text().split()[1]) * resource.getpagesize()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


class Operations(TorchDispatchMode):
    """Counts tensor operations that launch work on a device.

    Views and allocations launch nothing. A custom operator of this project counts as
    one launch.
    """

    def __init__(self) -> None:
        super().__init__()
        self.number = 0
        """Number of counted operations."""
        self._depth = 0

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        """Count an operation and run it."""
        name = str(func)
        if not self._depth and not func.is_view and not name.startswith(_ALLOCATIONS):
            self.number += 1
        if name.startswith("mjlab."):
            with self.paused():
                return func(*args, **(kwargs or {}))
        return func(*args, **(kwargs or {}))

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Do not count operations inside the context: they belong to the engine."""
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1


def count_operations(env: ManagerBasedRlEnv) -> int:
    """Count the tensor operations of a step outside of the engine; takes one step.

    The count does not depend on the states: worlds that terminate run the same
    operations.
    """
    action = torch.zeros(
        env.num_envs, env.action_manager.total_action_dim, device=env.device
    )
    counting, engine = Operations(), env.sim.engine
    originals = {verb: getattr(engine, verb) for verb in _VERBS}

    def unseen(verb: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            with counting.paused():
                return verb(*args, **kwargs)

        return call

    for name, verb in originals.items():
        setattr(engine, name, unseen(verb))
    try:
        with counting:
            env.step(action)
    finally:
        for name, verb in originals.items():
            setattr(engine, name, verb)
    return counting.number

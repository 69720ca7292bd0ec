"""Speed of an environment, and the parts of its steps."""

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

# These launch nothing on a device.
_ALLOCATIONS = ("aten.empty.", "aten.empty_like", "aten.empty_strided")
_VERBS = ("step", "forward", "reset", "recompute_constants")

Block = Callable[[], None]
"""A block of work that is timed."""

Physics = Callable[[ManagerBasedRlEnv, int], None]
"""Does the engine's part of a number of steps."""


@dataclass(frozen=True)
class Speed:
    """Times of an environment and of its physics, in turns."""

    num_envs: int
    """Worlds."""

    step_s: list[float]
    """Seconds a step of the environment, block by block."""

    physics_s: list[float]
    """Seconds of the engine's part of a step alone, block by block."""

    @property
    def env_steps_per_s(self) -> float:
        """Steps of worlds in a second, the median."""
        return self.num_envs / statistics.median(self.step_s)

    @property
    def physics_steps_per_s(self) -> float:
        """The same if there were nothing but physics: the floor of a step's time."""
        return self.num_envs / statistics.median(self.physics_s)

    @property
    def shares_of_managers(self) -> list[float]:
        """Share of the step that is not physics, block by block."""
        pairs = zip(self.step_s, self.physics_s, strict=True)
        return [1.0 - physics / whole for whole, physics in pairs]


def measure(
    env: ManagerBasedRlEnv,
    blocks: int,
    steps: int,
    progress: Callable[[int], None] = lambda block: None,
    physics: Physics | None = None,
) -> Speed:
    """Time blocks of steps, in turns with blocks of the engine's verbs alone.

    Both start from the same states, so that what else the machine does, and what the
    worlds are up to, falls on both alike.

    Args:
        env: The environment, which goes on from where it is, with random actions.
        blocks: Pairs of blocks; one more comes first, to warm up.
        steps: Steps of a block.
        progress: Called with the number of pairs that are done.
        physics: Does the engine's part of some steps. None calls verb after verb.
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
        progress(block)
    return Speed(env.num_envs, whole, alone)


def random_actions(
    env: ManagerBasedRlEnv, steps: int, random: torch.Generator
) -> torch.Tensor:
    """Normal actions, shape (steps, num_envs, actions)."""
    size = (steps, env.num_envs, env.action_manager.total_action_dim)
    return torch.randn(size, generator=random, device=env.device)


def run_steps(env: ManagerBasedRlEnv, actions: torch.Tensor) -> None:
    """One step for each of the actions."""
    for action in actions:
        env.step(action)


def run_physics(env: ManagerBasedRlEnv, steps: int) -> None:
    """The engine's verbs of as many steps, with nothing around them."""
    nobody = torch.zeros(env.num_envs, dtype=torch.bool, device=env.device)
    for _ in range(steps):
        env.sim.finish_step()
        for _ in range(env.cfg.decimation - 1):
            env.sim.step()
        env.sim.reset(nobody)
        env.sim.forward()
        env.sim.sense()


def seconds(env: ManagerBasedRlEnv, block: Block) -> float:
    """Return how long a block takes, until the device has finished."""
    start = _now(env)
    block()
    return _now(env) - start


def _now(env: ManagerBasedRlEnv) -> float:
    if env.device.type == "cuda":
        torch.cuda.synchronize(env.device)
    return time.perf_counter()


def memory(device: torch.device) -> int:
    """Bytes that are taken now: of a GPU, or by this process.

    What an environment takes is how much more there are once it is built: other
    processes, and environments before it, are in both.
    """
    if device.type == "cuda":
        gc.collect()
        torch.cuda.empty_cache()
        free, total = torch.cuda.mem_get_info(device)
        return total - free
    return resident_bytes()


def resident_bytes() -> int:
    """Memory of this process that is resident now; on macOS, at most so far."""
    statm = Path("/proc/self/statm")
    if statm.exists():
        return int(statm.read_text().split()[1]) * resource.getpagesize()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


class Operations(TorchDispatchMode):
    """Counts tensor operations: what would launch something on a device.

    Views and allocations launch nothing. An operator of this project is one launch,
    however it computes on a CPU.
    """

    def __init__(self) -> None:
        super().__init__()
        self.number = 0
        """Their number so far."""
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
        """Look away: what happens inside belongs to the engine."""
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1


def count_operations(env: ManagerBasedRlEnv) -> int:
    """Tensor operations of a step outside of the engine; takes one step.

    A step does the same operations whatever happens in it, worlds that end included.
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

"""Contenders of the study: cartpoles here, in Gymnasium, Stable-Baselines3 and Ray.

Missing packages are listed with the reason. Actions are drawn before the clock starts,
in the form that each contender needs.
"""

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol

import torch

from bench.study.peers import POOL, GymnasiumRun, RayRun, StableBaselinesRun
from mjlab.cli.hardware import processors
from mjlab.envs import Discrete, ManagerBasedRlEnv, Worlds
from mjlab.registry import load_task
from mjlab.tasks.cartpole.classic import (
    ClassicCartpoleCfg,
    KernelCartpoles,
    TensorCartpoles,
)

REPLAYED = 32
"""Steps of one replay."""

MANAGED_TASK = "Cartpole-Balance"
GYM = "pip install 'mjlab-fused[gym]'"


class Run(Protocol):
    """Interface of the worlds whose speed is measured."""

    steps: int
    """Steps of all worlds per call."""

    def call(self) -> None:
        """Step all worlds, with the next actions."""
        ...

    def wait(self) -> None:
        """Wait until the device has finished."""
        ...

    def ended(self) -> int:
        """Number of episodes that ended in the last call."""
        ...

    def close(self) -> None:
        """Release all resources."""
        ...


Make = Callable[[int, torch.device, int], Run]
"""Creates worlds from their number, device, and threads per block."""


@dataclass(frozen=True, kw_only=True)
class Contender:
    """An implementation of cartpole worlds."""

    name: str
    """Name on the command line and in files."""

    title: str
    """Name in tables and charts."""

    make: Make
    """Function that creates the worlds."""

    bytes_per_world: int
    """Upper estimate of the memory of one world."""

    absent: str | None = None
    """Reason why the contender cannot be measured on this machine, or None."""

    most: int | None = None
    """Maximum useful number of worlds, for implementations with one process per
    world."""

    has_blocks: bool = False
    """Whether the number of threads per block has an effect."""

    is_peer: bool = False
    """Whether the contender belongs to another project."""


# Ours.


class BatchRun:
    """Worlds that take one action tensor per step."""

    steps = 1

    def __init__(self, env: Worlds) -> None:
        self._env = env
        random = torch.Generator(device=env.device).manual_seed(0)
        size, where = (POOL, env.num_envs), {"generator": random, "device": env.device}
        space = env.single_action_space
        if isinstance(space, Discrete):
            drawn = torch.randint(space.n, size, **where)
        else:
            drawn = torch.randn(*size, *space.shape, **where)
        self._actions = list(drawn.unbind())
        self._turn = 0
        env.reset()
        self._last = env.step(self._actions[0])

    def call(self) -> None:
        """Step all worlds."""
        self._turn = (self._turn + 1) % POOL
        self._last = self._env.step(self._actions[self._turn])

    def wait(self) -> None:
        """Return when the device has finished."""
        if self._env.device.type == "cuda":
            torch.cuda.synchronize(self._env.device)

    def ended(self) -> int:
        """Number of episodes that ended in the last step."""
        return int((self._last.terminated | self._last.truncated).sum())

    def close(self) -> None:
        """Release all resources."""
        self._env.close()


class ReplayRun:
    """Several steps of the kernel in one replay."""

    steps = REPLAYED

    def __init__(self, worlds: KernelCartpoles) -> None:
        self._device = worlds.device
        self._replay = worlds.record(REPLAYED)
        actions = self._replay.rollout.actions
        random = torch.Generator(device=worlds.device).manual_seed(0)
        actions.copy_(
            torch.randint(2, actions.shape, generator=random, device=worlds.device)
        )

    def call(self) -> None:
        """Run `REPLAYED` steps."""
        self._replay.run()

    def wait(self) -> None:
        """Return when the device has finished."""
        if self._device.type == "cuda":
            torch.cuda.synchronize(self._device)

    def ended(self) -> int:
        """Number of episodes that ended in the last replay."""
        rollout = self._replay.rollout
        return int((rollout.terminated | rollout.truncated).sum())

    def close(self) -> None:
        """Do nothing: the tensors own all resources."""


def _classic(num_envs: int, threads: int) -> ClassicCartpoleCfg:
    return ClassicCartpoleCfg(
        num_envs=num_envs, results="live", threads_per_block=threads
    )


def _managed(backend: Literal["native", "warp"]) -> Make:
    def make(num_envs: int, device: torch.device, threads: int) -> Run:
        cfg = load_task(MANAGED_TASK).env()
        cfg.scene.num_envs = num_envs
        cfg.seed = 0
        cfg.sim.backend = backend
        where = "cpu" if backend == "native" else str(device)
        return BatchRun(ManagerBasedRlEnv(cfg, device=where))

    return make


# The list.


def missing(package: str, extra: str) -> str | None:
    """Return the reason why a package's contenders are missing, None if installed."""
    if importlib.util.find_spec(package) is not None:
        return None
    return f"{package} is not installed ({extra})"


def contenders(device: torch.device) -> dict[str, Contender]:
    """Return all contenders by name, our own first, with reasons for missing ones."""
    listed = [*classic_ways(), *managed_ways(device), *gymnasium_ways()]
    listed += other_ways()
    return {contender.name: contender for contender in listed}


def classic_ways() -> list[Contender]:
    """Return this project's implementations of Gymnasium's CartPole-v1 equations."""
    return [
        Contender(
            name="kernel",
            title="Warp kernel",
            make=lambda n, d, t: BatchRun(KernelCartpoles(_classic(n, t), d)),
            bytes_per_world=64 + 8 * POOL,
            has_blocks=True,
        ),
        Contender(
            name="kernel-replay",
            title=f"Warp kernel, {REPLAYED} steps at once",
            make=lambda n, d, t: ReplayRun(KernelCartpoles(_classic(n, t), d)),
            bytes_per_world=64 + 30 * REPLAYED,
            has_blocks=True,
        ),
        Contender(
            name="tensors",
            title="Torch tensors",
            make=lambda n, d, t: BatchRun(TensorCartpoles(_classic(n, t), d)),
            bytes_per_world=256 + 8 * POOL,
        ),
    ]


def managed_ways(device: torch.device) -> list[Contender]:
    """Return the manager-based cartpole of this project."""
    warp = None
    if device.type != "cuda":
        warp = (
            "MuJoCo Warp's CPU device is meant for tests; Warp is measured on CUDA and "
            "in the scaling study"
        )
    return [
        Contender(
            name="managers-native",
            title="Managers on native MuJoCo",
            make=_managed("native"),
            bytes_per_world=180_000,
        ),
        Contender(
            name="managers-warp",
            title="Managers on MuJoCo Warp",
            make=_managed("warp"),
            bytes_per_world=180_000,
            absent=warp,
        ),
    ]


def gymnasium_ways() -> list[Contender]:
    """Return the contenders that use Gymnasium's own vector environments."""
    return [
        _peer(
            "gym-vector", "Gymnasium's vectorised CartPole", 512, "vector_entry_point"
        ),
        _peer("gym-sync", "Gymnasium SyncVectorEnv", 20_000, "sync"),
        _peer("gym-async", "Gymnasium AsyncVectorEnv", 60_000_000, "async", most=32),
    ]


def other_ways() -> list[Contender]:
    """Return the contenders that step Gymnasium's cartpole with other libraries."""
    sb3, dummy, subproc = "Stable-Baselines3", "DummyVecEnv", "SubprocVecEnv"
    return [
        _peer("sb3-dummy", f"{sb3} {dummy}", 20_000, dummy),
        _peer("sb3-subproc", f"{sb3} {subproc}", 250_000_000, subproc, most=8),
        _peer("ray", "Ray remote environments", 100_000_000, "", most=8),
    ]


_PACKAGES = {"sb3": "stable_baselines3", "ray": "ray"}


def _peer(
    name: str, title: str, bytes_per_world: int, mode: str, *, most: int | None = None
) -> Contender:
    """Return a contender of another library.

    Args:
        name: Name: the library, a hyphen, and the kind of vector environment.
        title: Name in tables and charts.
        bytes_per_world: Memory of a world.
        mode: The library's own name of this kind of vector environment.
        most: Maximum number of worlds per processor, if each world is a process.
    """
    library = name.partition("-")[0]
    absent = missing("gymnasium", GYM)
    if library != "gym":
        package = _PACKAGES[library]
        absent = absent or missing(package, f"pip install {package.replace('_', '-')}")

    def make(num_envs: int, device: torch.device, threads: int) -> Run:
        if library == "gym":
            return GymnasiumRun(num_envs, mode)
        if library == "sb3":
            return StableBaselinesRun(num_envs, mode)
        return RayRun(num_envs)

    return Contender(
        name=name,
        title=title,
        make=make,
        bytes_per_world=bytes_per_world,
        absent=absent,
        most=None if most is None else most * processors(),
        is_peer=True,
    )

"""Learners and numbers of worlds and processors that suit the machine."""

import dataclasses
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from mjlab.cli.answers import UsageError
from mjlab.registry import Task
from mjlab.settings.change import Setting

WORLDS_PER_PROCESSOR = 128
"""Worlds that keep one processor busy and an iteration short."""

WORLDS_ON_GPU = 4096
"""Worlds that keep a GPU busy."""

WARP_WORLDS_PER_PROCESSOR = 4
"""MuJoCo Warp's CPU device is there to test with, and slow."""


@dataclass(frozen=True)
class WorldCount:
    """A number of worlds, and why."""

    number: int
    """How many."""

    reason: str
    """Why, in a sentence."""


def processors(share_of: int = 1) -> int:
    """Processors that this process may use.

    Args:
        share_of: Processes like this one that share the machine.
    """
    try:
        count = len(os.sched_getaffinity(0))
    except AttributeError:  # Only Linux says.
        count = os.cpu_count() or 1
    return max(1, count // share_of)


def choose_worlds(
    wanted: int,
    *,
    on_gpu: bool,
    cores: int,
    backend: str = "auto",
    on_cpu: int | None = None,
) -> WorldCount:
    """A number of worlds that suits the machine.

    Args:
        wanted: What the task's configuration says. 1, the default of all
            configurations, says nothing.
        on_gpu: Whether there is a GPU.
        cores: Processors of this process.
        backend: The engine that is asked for.
        on_cpu: Worlds with which the task learns well on a CPU, if known.
    """
    if on_gpu:
        number = wanted if wanted > 1 else WORLDS_ON_GPU
        return WorldCount(number, f"Using {number} worlds, on a GPU.")
    if on_cpu is not None and backend != "warp":
        return WorldCount(
            on_cpu,
            f"Using {on_cpu} worlds, this task's default on a CPU (change with "
            "--num-envs).",
        )
    each = WARP_WORLDS_PER_PROCESSOR if backend == "warp" else WORLDS_PER_PROCESSOR
    most = each * cores
    number = min(wanted, most) if wanted > 1 else most
    return WorldCount(
        number,
        f"Using {number} worlds, for {cores} processors and no GPU (change with "
        "--num-envs).",
    )


def check_device(device: str | None) -> str | None:
    """Return the device that a user asks for, or raise if it cannot be one."""
    if device is not None and not re.fullmatch(r"cpu|cuda(:\d+)?", device):
        hint = 'Valid: "cpu", "cuda", "cuda:0", "cuda:1" and so on.'
        raise UsageError(f"--device cannot be {device!r}. {hint}")
    return device


def choose_device(device: str | None, env_cfg: Any) -> str:
    """Return the device to simulate on: this process's GPU, or the CPU.

    Args:
        device: The device that the user asks for, if any.
        env_cfg: The environment; the native engine runs on the CPU.
    """
    from mjlab.rl import Ranks
    from mjlab.sim.backend import needs_cpu

    wanted = check_device(device)
    if wanted is None and needs_cpu(env_cfg.sim.backend):
        return "cpu"
    return Ranks.from_environment().device(wanted)


def with_worlds(env_cfg: Any, number: int) -> Any:
    """Return a copy of an environment's configuration with a number of worlds."""
    scene = dataclasses.replace(env_cfg.scene, num_envs=number)
    return dataclasses.replace(env_cfg, scene=scene)


def with_worlds_for(env_cfg: Any, episodes: int, *, device: str) -> Any:
    """Return a copy with as many worlds as episodes, or as suit the machine."""
    suits = choose_worlds(
        1, on_gpu=device != "cpu", cores=processors(), backend=env_cfg.sim.backend
    )
    return with_worlds(env_cfg, min(episodes, suits.number))


def will_use_gpu(device: str | None, settings: Sequence[Setting]) -> bool:
    """Return whether training will be on a GPU, before anything is built.

    Args:
        device: The device that the user asks for, if any.
        settings: The user's settings, of which one may choose the native engine.
    """
    import torch

    if device is not None:
        return device != "cpu"
    backends = [list(s.values) for s in settings if s.name == "env.sim.backend"]
    return torch.cuda.is_available() and ["native"] not in backends


def choose_learner(task: Task, *, on_gpu: bool) -> Callable[[], Any]:
    """Return the factory of the settings of a task's learner."""
    assert task.rl is not None
    return task.rl if task.on_cpu is None or on_gpu else task.on_cpu.rl

"""Choose learner, number of worlds and number of processors for the machine."""

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
"""Worlds that keep one processor busy, with short iterations."""

WORLDS_ON_GPU = 4096
"""Worlds that keep a GPU busy."""

WARP_WORLDS_PER_PROCESSOR = 4
"""Worlds per processor on MuJoCo Warp's CPU device, which is slow and meant for
tests."""


@dataclass(frozen=True)
class WorldCount:
    """Number of worlds, with the reason for it."""

    number: int
    """Number of worlds."""

    reason: str
    """Reason for the number, as a sentence for the user."""


def processors(share_of: int = 1) -> int:
    """Return the number of processors that this process can use.

    Args:
        share_of: Number of training processes that share the machine.
    """
    try:
        count = len(os.sched_getaffinity(0))
    except AttributeError:  # Only Linux reports a process's affinity.
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
    """Return a number of worlds that suits the machine.

    Args:
        wanted: Number in the task's configuration. 1, the default of all
            configurations, means unset.
        on_gpu: Whether a GPU is used.
        cores: Processors of this process.
        backend: The configured engine.
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
        f"Using {number} worlds for {cores} processors without a GPU (change with "
        "--num-envs).",
    )


def check_device(device: str | None) -> str | None:
    """Return the device that a user names, or raise if it is malformed."""
    if device is not None and not re.fullmatch(r"cpu|cuda(:\d+)?", device):
        hint = 'Valid: "cpu", "cuda", "cuda:0", "cuda:1" and so on.'
        raise UsageError(f"--device cannot be {device!r}. {hint}")
    return device


def choose_device(device: str | None, env_cfg: Any) -> str:
    """Return the device of the simulation: this process's GPU, or the CPU.

    Args:
        device: The device that the user names, if any.
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
    """Return a copy with a world per episode, at most as many as suit the machine."""
    suits = choose_worlds(
        1, on_gpu=device != "cpu", cores=processors(), backend=env_cfg.sim.backend
    )
    return with_worlds(env_cfg, min(episodes, suits.number))


def will_use_gpu(device: str | None, settings: Sequence[Setting]) -> bool:
    """True if training will use a GPU. Can be called before anything is built.

    Args:
        device: The device that the user names, if any.
        settings: The user's settings, one of which can select the native engine.
    """
    import torch

    if device is not None:
        return device != "cpu"
    backends = [list(s.values) for s in settings if s.name == "env.sim.backend"]
    return torch.cuda.is_available() and ["native"] not in backends


def choose_learner(task: Task, *, on_gpu: bool) -> Callable[[], Any]:
    """Return the factory of the task's learner settings."""
    assert task.rl is not None
    return task.rl if task.on_cpu is None or on_gpu else task.on_cpu.rl

"""Pairs of environments on the CUDA stand-in: fused and eager.

Periodic events happen within a few steps, so that a short run has resets, pushes,
commands and randomisation.
"""

import math
from collections import Counter
from typing import Any

import torch

from mjlab.envs import ManagerBasedRlEnv, ManagerBasedRlEnvCfg
from mjlab.registry import load_task
from tests.tools.cuda_stand_in import CudaTensor, to_host
from tests.worlds.synthetic import SyntheticCfg

LENGTH = 8
"""Maximum episode length, in steps."""


def config(name: str, num_envs: int, length: int = LENGTH) -> ManagerBasedRlEnvCfg:
    """Return a task on Warp, with short episodes and frequent events."""
    cfg = SyntheticCfg() if name == "synthetic" else load_task(name).env()
    cfg.scene.num_envs, cfg.seed, cfg.sim.backend = num_envs, 0, "warp"
    step_dt = cfg.decimation * cfg.sim.mujoco.timestep
    # Some worlds end while others continue.
    cfg.episode_length_s = length * step_dt
    for event in cfg.events.values():
        if event is not None and event.mode == "interval":
            event.interval_range_s = (2 * step_dt, 4 * step_dt)
    for command in cfg.commands.values():
        if command is not None and math.isfinite(command.resampling_time_range[1]):
            command.resampling_time_range = (3 * step_dt, 6 * step_dt)
    return cfg


def build(cfg: ManagerBasedRlEnvCfg, mode: Any) -> ManagerBasedRlEnv:
    """Return an environment on the device in a mode, or raise."""
    cfg.mode = mode
    return ManagerBasedRlEnv(cfg, device="cuda:0")


def actions_of(env: ManagerBasedRlEnv, random: torch.Generator) -> torch.Tensor:
    """Draw actions of all worlds."""
    size = (env.num_envs, env.action_manager.total_action_dim)
    return torch.randn(size, generator=random).to("cuda:0")


def count_events(env: ManagerBasedRlEnv) -> Counter[str]:
    """Count the worlds of each event that is not a startup event.

    This needs Python in every step, as in an eager environment.
    """
    worlds: Counter[str] = Counter()

    def counted(name: str, function: Any) -> Any:
        def call(env: Any, mask: torch.Tensor, **params: Any) -> None:
            worlds[name] += int(to_host(mask).sum())
            function(env, mask=mask, **params)

        return call

    for name, term in env.event_manager.terms.items():
        cfg = env.cfg.events[name]
        if cfg is not None and cfg.mode != "startup":
            worlds[name] = 0
            term.function = counted(name, term.function)
    return worlds


def equal(one: Any, other: Any) -> bool:
    """Return whether nested tensors are equal bit for bit."""
    if isinstance(one, dict):
        return not differing(one, other)
    return bits(one) == bits(other)


def differing(ours: dict[str, Any], theirs: dict[str, Any]) -> list[str]:
    """Return the names of entries that are not equal bit for bit."""
    assert ours.keys() == theirs.keys()
    return [name for name in ours if not equal(ours[name], theirs[name])]


def bits(tensor: torch.Tensor) -> bytes:
    """Return the contents of a tensor of either device, without synchronisation."""
    host = tensor.host if isinstance(tensor, CudaTensor) else tensor
    return host.detach().contiguous().numpy().tobytes()

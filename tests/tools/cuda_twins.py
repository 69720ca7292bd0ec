"""Pairs of environments on the device that is not there: one graph, and as written.

Whatever happens from time to time happens within a few steps in them, so that a short
run has resets, pushes, commands and randomisation.
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
"""Steps of an episode."""


def config(name: str, num_envs: int, length: int = LENGTH) -> ManagerBasedRlEnvCfg:
    """Return a task on Warp, with short episodes in which everything happens."""
    cfg = SyntheticCfg() if name == "synthetic" else load_task(name).env()
    cfg.scene.num_envs, cfg.seed, cfg.sim.backend = num_envs, 0, "warp"
    step_dt = cfg.decimation * cfg.sim.mujoco.timestep
    # Some worlds end while others go on.
    cfg.episode_length_s = length * step_dt
    for event in cfg.events.values():
        if event is not None and event.mode == "interval":
            event.interval_range_s = (2 * step_dt, 4 * step_dt)
    for command in cfg.commands.values():
        if command is not None and math.isfinite(command.resampling_time_range[1]):
            command.resampling_time_range = (3 * step_dt, 6 * step_dt)
    return cfg


def build(cfg: ManagerBasedRlEnvCfg, mode: Any) -> ManagerBasedRlEnv:
    """Return an environment on the device; it runs as `mode` says, or it raises."""
    cfg.mode = mode
    return ManagerBasedRlEnv(cfg, device="cuda:0")


def actions_of(env: ManagerBasedRlEnv, random: torch.Generator) -> torch.Tensor:
    """Draw actions of all worlds."""
    size = (env.num_envs, env.action_manager.total_action_dim)
    return torch.randn(size, generator=random).to("cuda:0")


def count_events(env: ManagerBasedRlEnv) -> Counter[str]:
    """Count from now on in how many worlds each event that is not at startup happens.

    Python has to run for it, as it does in the environment that is no graph.
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
    """Return whether tensors, or nests of them, are the same bit for bit."""
    if isinstance(one, dict):
        return not differing(one, other)
    return bits(one) == bits(other)


def differing(ours: dict[str, Any], theirs: dict[str, Any]) -> list[str]:
    """Return the names of what is not the same, bit for bit."""
    assert ours.keys() == theirs.keys()
    return [name for name in ours if not equal(ours[name], theirs[name])]


def bits(tensor: torch.Tensor) -> bytes:
    """Return what a tensor of either device holds, without waiting for the device."""
    host = tensor.host if isinstance(tensor, CudaTensor) else tensor
    return host.detach().contiguous().numpy().tobytes()

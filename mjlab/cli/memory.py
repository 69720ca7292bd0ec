"""Check that the worlds of a training run fit into memory, and reuse freed memory.

The memory per world is measured on a few worlds of the same environment and engine; the
learner's memory is computed from its settings. If the worlds do not fit, an error names
the largest number that fits: a machine that runs out of memory kills a run without a
message.
"""

import ctypes
import dataclasses
import sys
from dataclasses import dataclass

import torch

from mjlab.envs import ManagerBasedRlEnv, ManagerBasedRlEnvCfg
from mjlab.memory import NotEnoughMemoryError, free_memory
from mjlab.rl.config import AgentCfg
from mjlab.rl.learners import network_names
from mjlab.rl.models.config import MlpModelCfg

LARGEST_WORLD = 4 * 2**20
"""Upper estimate of the bytes per world. If this much memory per world is free, the
check passes without a measurement. A world of `Velocity-G1` takes 1.4 MB, including its
part of the learner's memory."""

_SAMPLE = 2
"""Number of worlds that are measured."""

_COPIES_OF_STATE = 3
"""Copies of a world's state in memory: the state, and temporary results of a step."""

_ACTIVATION_COPIES = 3
"""Copies of a layer's output in memory: output, activation and gradient."""

_FIXED = 200 * 2**20
"""Bytes that do not depend on the number of worlds: model, networks, libraries."""

# Parameters of glibc's mallopt. The third value is the largest accepted threshold.
_TRIM_THRESHOLD, _KEPT = -1, 2**31 - 1
_MMAP_THRESHOLD, _FROM_HEAP = -3, 2**25


def keep_freed_memory() -> None:
    """Make the C library keep freed tensor memory for reuse until the process ends.

    Otherwise the memory of each minibatch is returned to the system, which clears every
    page before it hands it out again (docs/decisions/0022). Call this only in a process
    that does nothing but train: the process keeps the peak memory of its updates. Only
    glibc supports this.
    """
    library = ctypes.CDLL(None) if sys.platform == "linux" else None
    if mallopt := getattr(library, "mallopt", None):
        mallopt(_TRIM_THRESHOLD, _KEPT)
        mallopt(_MMAP_THRESHOLD, _FROM_HEAP)


@dataclass(frozen=True)
class Need:
    """Memory that a training run needs, in bytes."""

    physics: int
    """Engine, per world."""

    managers: int
    """Managers and the flight recorder, per world."""

    rollout: int
    """Rollout buffer, per world."""

    update: int
    """Part of a minibatch with its layer outputs, per world."""

    fixed: int = _FIXED
    """Memory that does not depend on the number of worlds."""

    @property
    def per_world(self) -> int:
        """Memory per world, in bytes: simulation and learner."""
        return self.physics + self.managers + self.rollout + self.update

    def total(self, worlds: int) -> int:
        """Return the memory of a run with `worlds` worlds, in bytes."""
        return self.fixed + worlds * self.per_world

    def fitting(self, available: int) -> int:
        """Return the number of worlds that fit: a multiple of 8, for equal minibatches.

        Numbers below 8 are not rounded.
        """
        worlds = max(0, available - self.fixed) // self.per_world
        return worlds // 8 * 8 if worlds >= 8 else worlds


def require_memory(
    env_cfg: ManagerBasedRlEnvCfg,
    agent_cfg: AgentCfg,
    device: str,
    *,
    processes: int = 1,
) -> None:
    """Raise if the worlds do not fit into the free memory.

    Args:
        env_cfg: The environment.
        agent_cfg: The learner.
        device: Device of the environment and the learner.
        processes: Number of training processes that share the machine's memory.
    """
    worlds = env_cfg.scene.num_envs
    on_gpu = torch.device(device).type == "cuda"
    available = available_memory(device) // (1 if on_gpu else processes)
    if _FIXED + worlds * LARGEST_WORLD <= available:
        return
    need = measure(env_cfg, agent_cfg, device)
    if need.total(worlds) > available:
        raise NotEnoughMemoryError(_refusal(need, worlds, available, device, processes))


def measure(env_cfg: ManagerBasedRlEnvCfg, agent_cfg: AgentCfg, device: str) -> Need:
    """Measure the memory per world of an environment, on a few worlds."""
    scene = dataclasses.replace(env_cfg.scene, num_envs=_SAMPLE)
    cfg = dataclasses.replace(env_cfg, scene=scene)
    env = ManagerBasedRlEnv(cfg, device=device)
    try:
        return _need(env, agent_cfg)
    finally:
        env.close()


def _need(env: ManagerBasedRlEnv, agent_cfg: AgentCfg) -> Need:
    state = sum(
        tensor.nbytes // env.num_envs
        for tensor in env.get_state().values()
        if tensor.ndim and tensor.shape[0] == env.num_envs
    )
    steps = agent_cfg.num_steps_per_env
    observed = sum(
        value.numel() // env.num_envs
        for group in env.observation_manager.output.values()
        for value in (group.values() if isinstance(group, dict) else [group])
    )
    actions = env.action_manager.total_action_dim
    # Memory of the flight recorder: two keyframes, and the recorded steps.
    record = (
        2 * state + 2 * steps * 4 * _row_size(env) if agent_cfg.dumps.enabled else 0
    )
    # Observations, actions with mean and deviation, and seven scalars.
    transition = 4 * (observed + 3 * actions + 7)
    return Need(
        physics=env.sim.engine.bytes_per_world(),
        managers=_COPIES_OF_STATE * state + record,
        rollout=steps * transition,
        update=_update_size(agent_cfg, 4 * observed),
    )


def _row_size(env: ManagerBasedRlEnv) -> int:
    model = env.sim.mj_model
    return model.nq + model.nv + model.na + model.nu


def _update_size(agent_cfg: AgentCfg, observation: int) -> int:
    """Return the bytes per world of a minibatch: inputs and layer outputs."""
    networks = [getattr(agent_cfg, name) for name in network_names(agent_cfg)]
    widths = sum(
        sum(network.hidden_dims)
        for network in networks
        if isinstance(network, MlpModelCfg)
    )
    batches = getattr(getattr(agent_cfg, "algorithm", None), "num_mini_batches", 1)
    layers = _ACTIVATION_COPIES * 4 * widths
    return agent_cfg.num_steps_per_env * (observation + layers) // max(1, batches)


def _refusal(
    need: Need, worlds: int, available: int, device: str, processes: int
) -> str:
    def mb(size: int) -> str:
        return f"{size / 2**20:.2f}"

    where = device if torch.device(device).type == "cuda" else "this machine"
    share = "" if processes == 1 else f" to each of {processes} processes"
    fitting = need.fitting(available)
    way_out = (
        f"{fitting} worlds fit: --env.scene.num-envs {fitting}"
        if fitting
        else "No world fits"
    )
    return (
        f"{worlds} worlds need about {need.total(worlds) / 2**30:.1f} GB, and "
        f"{available / 2**30:.1f} GB are free on {where}{share}. Memory per world is "
        f"{mb(need.per_world)} MB: physics {mb(need.physics)}, managers "
        f"{mb(need.managers)}, rollout {mb(need.rollout)}, update {mb(need.update)}. "
        f"{way_out}."
    )


# Free memory.


def available_memory(device: str) -> int:
    """Return the free memory of a device, in bytes."""
    if torch.device(device).type == "cuda":
        return torch.cuda.mem_get_info(torch.device(device))[0]
    return free_memory()

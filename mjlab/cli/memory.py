"""Memory of a training: whether its worlds fit, and what becomes of what it frees.

What a world takes is measured on a few worlds of the same environment and engine; what
the learner takes follows from its settings. Too many worlds are refused with how many
fit, because a machine without memory ends a run without a word.
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
"""Bytes that a world hardly takes: if as many as that fit, nothing is measured. A world
of `Velocity-G1` takes 1.4 MB, learner and all."""

_SAMPLE = 2
"""Worlds to measure with."""

_COPIES_OF_STATE = 3
"""Copies of a world's state in memory: itself, and what is computed from it in a
step."""

_ACTIVATION_COPIES = 3
"""Copies of a layer's output in memory: itself, its activation, its gradient."""

_FIXED = 200 * 2**20
"""Bytes that do not depend on the number of worlds: model, networks, libraries."""

# Of glibc's mallopt; the second is as high as it takes.
_TRIM_THRESHOLD, _KEPT = -1, 2**31 - 1
_MMAP_THRESHOLD, _FROM_HEAP = -3, 2**25


def keep_freed_memory() -> None:
    """Have the C library keep what tensors free for the next, until the process ends.

    Otherwise it gives the memory of a minibatch back to the system again and again, and
    each page that returns is cleared first (docs/decisions/0022). It is for a process
    that only trains: in one that goes on with something else, the most that an update
    ever took stays taken. Only glibc can be told so.
    """
    library = ctypes.CDLL(None) if sys.platform == "linux" else None
    if mallopt := getattr(library, "mallopt", None):
        mallopt(_TRIM_THRESHOLD, _KEPT)
        mallopt(_MMAP_THRESHOLD, _FROM_HEAP)


@dataclass(frozen=True)
class Need:
    """Memory that a run takes, in bytes."""

    physics: int
    """A world's part of the engine."""

    managers: int
    """A world's part of managers, and of the record of its last steps."""

    rollout: int
    """A world's part of what is collected in an iteration."""

    update: int
    """A world's part of a minibatch's way through the networks."""

    fixed: int = _FIXED
    """Memory that does not depend on the number of worlds."""

    @property
    def per_world(self) -> int:
        """Memory that one more world takes."""
        return self.physics + self.managers + self.rollout + self.update

    def total(self, worlds: int) -> int:
        """Return what so many worlds take."""
        return self.fixed + worlds * self.per_world

    def fitting(self, available: int) -> int:
        """Return how many worlds fit: a multiple of 8, for equal minibatches."""
        worlds = max(0, available - self.fixed) // self.per_world
        return worlds // 8 * 8 if worlds >= 8 else worlds


def require_memory(
    env_cfg: ManagerBasedRlEnvCfg,
    agent_cfg: AgentCfg,
    device: str,
    *,
    processes: int = 1,
) -> None:
    """Raise if the worlds do not fit into the memory that is free.

    Args:
        env_cfg: The environment.
        agent_cfg: The learner.
        device: Where both will be.
        processes: Processes like this one that share the machine's memory.
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
    """Measure what the worlds of an environment take, from a few of them."""
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
    # Two keyframes of the record, and its rows.
    record = (
        2 * state + 2 * steps * 4 * _row_size(env) if agent_cfg.dumps.enabled else 0
    )
    # Observations, actions with mean and deviation, and seven numbers.
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
    """Return a world's part of a minibatch: observations and outputs of layers."""
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
        else "Not one world fits"
    )
    return (
        f"{worlds} worlds need about {need.total(worlds) / 2**30:.1f} GB, and "
        f"{available / 2**30:.1f} GB are free on {where}{share}. A world takes "
        f"{mb(need.per_world)} MB: physics {mb(need.physics)}, managers "
        f"{mb(need.managers)}, rollout {mb(need.rollout)}, update {mb(need.update)}. "
        f"{way_out}."
    )


# What is free.


def available_memory(device: str) -> int:
    """Return the bytes that are free where a device's tensors live."""
    if torch.device(device).type == "cuda":
        return torch.cuda.mem_get_info(torch.device(device))[0]
    return free_memory()

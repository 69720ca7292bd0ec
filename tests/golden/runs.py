"""Seeded run of a task: a few short windows, each with an event."""

import hashlib
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import torch

from mjlab.envs import ManagerBasedRlEnv, ManagerBasedRlEnvCfg
from mjlab.registry import entries, load_task
from mjlab.threads import torch_threads
from tests.worlds.synthetic import SyntheticCfg

NUM_ENVS = 4
STEPS = 10
"""Steps of a window, after which values nearly agree on any processor."""
SAMPLES = 8
EPISODE_STEPS = 8
"""Maximum episode length, so that worlds end within a window."""

MakeCfg = Callable[[], ManagerBasedRlEnvCfg]
Tensors = dict[str, torch.Tensor]


def registered(task_id: str) -> MakeCfg:
    return lambda: load_task(task_id).env()


TASKS: dict[str, MakeCfg] = {"synthetic": SyntheticCfg}
TASKS |= {task_id: registered(task_id) for task_id in sorted(entries())}

RESETS: dict[str, dict[str, Any]] = {
    "final_obs": {"when": "same_step", "final_obs": True},
    "next_step": {"when": "next_step"},
    "no_terminations": {"when": "same_step", "ignore_terminations": True},
    "never": {"when": "never"},
}
"""Reset modes of finished worlds, besides the default."""

KINDS = (
    *("synthetic", "Cartpole-Balance", "Lift-Yam-Depth", "Lift-Yam-IK"),
    *("Muscle-Walk-W18", "Tracking-G1", "Velocity-G1", "Velocity-Go1-Flat"),
)
"""A task of each kind. Actions of all policies that ship are stored besides."""

CASES = [f"native/{name}" for name in KINDS]
CASES += [f"native/synthetic/{resets}" for resets in RESETS]
CASES += ["warp/Cartpole-Balance", "warp/synthetic"]
"""Engine, task, and reset mode."""


@cache
def observe(case: str) -> dict[str, Any]:
    """Run a case on one torch thread, so that no sum depends on the number of threads.

    Returns: For each entry of state and outputs: a hash of integers; for other numbers
    samples, and the mean magnitude in each window.
    """
    with torch_threads(1):
        env = build(case)
        ends = [window(env, number) for number in range(len(INTERFERENCES))]
        env.close()
    return {name: sample([e[name] for e in ends if name in e]) for name in ends[0]}


def window(env: ManagerBasedRlEnv, number: int) -> Tensors:
    """Take a few steps from a reset; return the final state and the last outputs."""
    env.reset(seed=5 + number)
    saved: Tensors = {}
    shown: Tensors = {}
    for step, action in enumerate(actions(env, seed=2 + number)):
        if step == 3:
            saved = env.get_state()
        if step == 6:
            INTERFERENCES[number](env, saved)
        shown = outputs_of(env.step(action))
    return env.get_state() | shown


def build(case: str) -> ManagerBasedRlEnv:
    engine, task, *resets = case.split("/")
    cfg = TASKS[task]()
    cfg.scene.num_envs = NUM_ENVS
    cfg.seed = 11
    cfg.sim.backend = engine
    # With few worlds, MuJoCo Warp's contact buffer is small.
    cfg.sim.nconmax, cfg.sim.njmax = 256, 256
    step_s = cfg.decimation * cfg.sim.mujoco.timestep
    cfg.episode_length_s = min(cfg.episode_length_s, EPISODE_STEPS * step_s)
    env = ManagerBasedRlEnv(cfg, device="cpu")
    for choice in resets:
        env.choose_resets(**RESETS[choice])
    env.reset(seed=5)
    return env


def actions(env: ManagerBasedRlEnv, seed: int = 2) -> torch.Tensor:
    """Uniform, because torch's normal numbers differ between instruction sets."""
    random = torch.Generator().manual_seed(seed)
    size = (STEPS, env.num_envs, env.action_manager.total_action_dim)
    return 3.0 * torch.rand(size, generator=random) - 1.5


def reset_some(env: ManagerBasedRlEnv, saved: Tensors) -> None:
    env.reset(mask=torch.arange(env.num_envs) % 2 == 0)


def push(env: ManagerBasedRlEnv, saved: Tensors) -> None:
    env.sim.data.qvel[0] += 0.7


def go_back(env: ManagerBasedRlEnv, saved: Tensors) -> None:
    env.set_state(saved)


def some_go_back(env: ManagerBasedRlEnv, saved: Tensors) -> None:
    env.set_state(saved, mask=torch.arange(env.num_envs) % 2 == 1)


def break_one(env: ManagerBasedRlEnv, saved: Tensors) -> None:
    env.sim.data.qpos[1] = float("nan")


def seed_one(env: ManagerBasedRlEnv, saved: Tensors) -> None:
    env.reset(seed=9, mask=torch.arange(env.num_envs) == 3)


INTERFERENCES = (reset_some, push, go_back, some_go_back, break_one, seed_one)
"""Event of each window, given the state three steps before."""


def outputs_of(stepped: tuple[Any, ...]) -> Tensors:
    """Return the results of `step`, by name."""
    observations, reward, terminated, truncated, extras = stepped
    found = {"reward": reward, "terminated": terminated, "truncated": truncated}
    parts = {"observation": observations} | extras
    for name, part in parts.items():
        found |= flattened(name, part)
    return {f"step/{name}": value for name, value in found.items()}


def flattened(name: str, value: Any) -> Tensors:
    if isinstance(value, Mapping):
        parts = [flattened(f"{name}/{key}", part) for key, part in value.items()]
        return {key: tensor for part in parts for key, tensor in part.items()}
    return {name: torch.as_tensor(value)}


def sample(values: list[torch.Tensor]) -> str | list[float] | dict[str, list[float]]:
    """Return a hash of integers; for other numbers a few samples and mean magnitudes.

    For images only the mean: a ray along an edge hits one of two surfaces.
    """
    sizes = [float(f"{value.double().abs().mean():.9g}") for value in values]
    if values[0].is_floating_point():
        flat = values[0].double().flatten()
        if not len(flat):
            return []
        few = flat[torch.linspace(0, len(flat) - 1, min(SAMPLES, len(flat))).long()]
        return [*(float(f"{x:.9g}") for x in few.tolist()), *sizes]
    if values[0].dtype == torch.uint8 or values[0].ndim > 3:
        return {"picture": sizes}
    return digest(b"".join(map(bytes_of, values)))


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


def bytes_of(value: torch.Tensor) -> bytes:
    return value.detach().contiguous().numpy().tobytes()

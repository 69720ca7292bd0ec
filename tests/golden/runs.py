"""One seeded run of a task: a hundred steps in which whatever may happen does."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import pytest
import torch

from mjlab.envs import ManagerBasedRlEnv, ManagerBasedRlEnvCfg
from mjlab.registry import entries, load_task
from mjlab.threads import torch_threads
from tests.tools.step_watch import watch
from tests.worlds.synthetic import SyntheticCfg

NUM_ENVS = 4
STEPS = 100
EARLY = 10
"""Steps after which values are still nearly the same on any processor."""
SAMPLES = 8
EPISODE_STEPS = 30
"""Longest episode, so that worlds end beside others that go on."""

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
"""Ways to reset worlds that end, beside the usual one."""

CASES = [f"native/{name}" for name in TASKS]
CASES += [f"native/synthetic/{resets}" for resets in RESETS]
CASES += ["warp/Cartpole-Balance", "warp/synthetic"]
"""Engine, task, and how worlds that end are reset."""


@dataclass(frozen=True)
class Observed:
    """What a run showed."""

    state: dict[str, str]
    """Hash of each entry of the state at the end, and of each output of all steps."""
    values: dict[str, Any]
    """Of each entry after ten steps: a hash of integers, samples of other numbers."""
    names: dict[str, str]
    """Type and shape of each entry."""
    operations: dict[str, Any]
    """The torch operations of a step."""


@cache
def observe(case: str) -> Observed:
    """Run a case. Torch has one thread, so that no sum depends on their number."""
    with torch_threads(1):
        env = build(case)
        outputs: dict[str, Any] = {}
        early: Tensors = {}
        saved = env.get_state()
        for step, action in enumerate(actions(env)):
            saved = interfere(env, step, saved)
            shown = outputs_of(env.step(action))
            for name, value in shown.items():
                outputs.setdefault(name, hashlib.sha256()).update(bytes_of(value))
            if step == EARLY - 1:
                early = env.get_state() | shown
        state = env.get_state()
        found = Observed(
            state={name: digest(bytes_of(value)) for name, value in state.items()}
            | {name: hashed.hexdigest()[:16] for name, hashed in outputs.items()},
            values={name: sample(value) for name, value in early.items()},
            names={name: kind(value) for name, value in early.items()},
            operations=operations(env),
        )
        env.close()
    return found


def build(case: str) -> ManagerBasedRlEnv:
    engine, task, *resets = case.split("/")
    cfg = TASKS[task]()
    cfg.scene.num_envs = NUM_ENVS
    cfg.seed = 11
    cfg.sim.backend = engine
    # With few worlds the pool of contacts of MuJoCo Warp is a small one.
    cfg.sim.nconmax, cfg.sim.njmax = 256, 256
    step_s = cfg.decimation * cfg.sim.mujoco.timestep
    cfg.episode_length_s = min(cfg.episode_length_s, EPISODE_STEPS * step_s)
    env = ManagerBasedRlEnv(cfg, device="cpu")
    for choice in resets:
        env.choose_resets(**RESETS[choice])
    env.reset(seed=5)
    return env


def actions(env: ManagerBasedRlEnv) -> torch.Tensor:
    """Uniform, since torch's normal numbers differ between instruction sets."""
    random = torch.Generator().manual_seed(2)
    size = (STEPS, env.num_envs, env.action_manager.total_action_dim)
    return 3.0 * torch.rand(size, generator=random) - 1.5


def interfere(env: ManagerBasedRlEnv, step: int, saved: Tensors) -> Tensors:
    """Reset, write, break and restore at certain steps; return the state to go back to.

    The last bit of a state has to be the same after every one of these.
    """
    world = torch.arange(env.num_envs)
    if step == 6:
        env.reset(mask=world % 2 == 0)
    if step == 25:
        env.sim.data.qvel[0] += 0.7
    if step == 40:
        env.set_state(saved)
    if step == 55:
        env.sim.data.qpos[1] = float("nan")
    if step == 65:
        env.set_state(saved, mask=world % 2 == 1)
    if step == 80:
        env.reset(seed=9, mask=world == 3)
    return env.get_state() if step in (20, 45) else saved


def outputs_of(stepped: tuple[Any, ...]) -> Tensors:
    """What `step` returns, by name."""
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


def operations(env: ManagerBasedRlEnv) -> dict[str, Any]:
    """Operations of one step outside of the engine: how many of each, and in order."""
    action = torch.zeros(env.num_envs, env.action_manager.total_action_dim)
    with watch(env, pytest.MonkeyPatch()) as seen:
        env.step(action)
    counts: dict[str, int] = {}
    for name, *_ in seen.operations:
        counts[name] = counts.get(name, 0) + 1
    written = ["/".join(map(str, operation)) for operation in seen.operations]
    return {
        "number": len(written),
        "by_kind": dict(sorted(counts.items())),
        # Each operation with its shapes and scalars, so that the first that is another
        # is found.
        "order": " ".join(digest(text.encode())[:4] for text in written),
    }


def kind(value: torch.Tensor) -> str:
    """As "float32[4, 12]"."""
    return f"{str(value.dtype).removeprefix('torch.')}{list(value.shape)}"


def sample(value: torch.Tensor) -> str | list[float]:
    """A hash of integers; of other numbers a few, and the mean of their sizes."""
    if not value.is_floating_point():
        return digest(bytes_of(value))
    flat = value.double().flatten()
    if not len(flat):
        return []
    few = flat[torch.linspace(0, len(flat) - 1, min(SAMPLES, len(flat))).long()]
    return [float(f"{x:.9g}") for x in (*few.tolist(), float(flat.abs().mean()))]


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


def bytes_of(value: torch.Tensor) -> bytes:
    return value.detach().contiguous().numpy().tobytes()

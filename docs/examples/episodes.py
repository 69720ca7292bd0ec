"""Ways to run many worlds, each a function of a task id.

All create the worlds in the same way, flatten their actions if an environment has
several action terms, and set the reset mode in the outermost wrapper.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

import mjlab
from mjlab.gym import FlattenActionSpace, VectorEnv
from mjlab.replay import RecordEpisode

Policy = Callable[[Any], torch.Tensor]


def wrapped(
    task: str, num_envs: int, settings: dict[str, Any], **kind: Any
) -> VectorEnv:
    """Return the wrapped worlds of a task."""
    env = mjlab.make(task, num_envs=num_envs, **settings)
    return VectorEnv(FlattenActionSpace(env), **kind)  # pyright: ignore[reportArgumentType]


def reinforcement_learning(
    task: str, num_envs: int, policy: Policy, steps: int, **settings: Any
) -> list[dict[str, torch.Tensor]]:
    """Run with automatic resets; learners bootstrap from `final_observation`.

    Returns:
        Figures of finished episodes, one entry per step with any.

    Returns:
        The figures of the episodes that ended, one entry for each step with any.
    """
    env = wrapped(task, num_envs, settings, auto_reset=True, record_metrics=True)
    observations, _ = env.reset(seed=0)
    ended = []
    for _ in range(steps):
        observations, _, _, _, info = env.step(policy(observations))
        mask = info["_final_info"]
        if mask.any():
            figures = info["final_info"]["episode"]
            ended.append({key: value[mask] for key, value in figures.items()})
    return ended


def without_end(
    task: str, num_envs: int, policy: Policy, steps: int, **settings: Any
) -> torch.Tensor:
    """Run without resets; return the return of each world so far."""
    env = wrapped(task, num_envs, settings, auto_reset=False, record_metrics=True)
    observations, _ = env.reset(seed=0)
    info: dict[str, Any] = {}
    for _ in range(steps):
        observations, _, _, _, info = env.step(policy(observations))
    return info["episode"]["return"]


def evaluation(
    task: str, num_envs: int, policy: Policy, **settings: Any
) -> dict[str, float]:
    """Run one complete episode in each world; return means of its figures.

    Terminations are ignored, so `success_once` and `success_at_end` differ, and every
    episode has the maximum length.
    """
    env = wrapped(
        task,
        num_envs,
        settings,
        auto_reset=True,
        ignore_terminations=True,
        record_metrics=True,
    )
    observations, _ = env.reset(seed=0)
    while True:
        observations, _, _, truncated, info = env.step(policy(observations))
        if truncated.all():
            figures = info["final_info"]["episode"]
            return {key: float(value.float().mean()) for key, value in figures.items()}


def collection(
    task: str, num_envs: int, policy: Policy, episodes: int, **settings: Any
) -> list[dict[str, torch.Tensor]]:
    """Collect complete episodes in memory, with their terminal observations.

    Returns:
        Episodes of T steps: `observations` of T + 1, `actions` and `rewards` of T.

    Returns:
        Episodes of T steps: `observations` of T + 1, `actions` and `rewards` of T.
    """
    env = wrapped(task, num_envs, settings, auto_reset=True)
    observations, _ = env.reset(seed=0)
    running: list[list[tuple[torch.Tensor, ...]]] = [[] for _ in range(num_envs)]
    done: list[dict[str, torch.Tensor]] = []
    while len(done) < episodes:
        actions = policy(observations)
        following, rewards, _, _, info = env.step(actions)
        for row in range(num_envs):
            running[row].append((observations[row], actions[row], rewards[row]))
            if info["_final_info"][row]:
                seen, acted, gained = map(torch.stack, zip(*running[row], strict=True))
                last = info["final_observation"][row].unsqueeze(0)
                whole = torch.cat([seen, last])
                done.append(
                    {"observations": whole, "actions": acted, "rewards": gained}
                )
                running[row] = []
        observations = following
    return done[:episodes]


def recording(
    task: str, num_envs: int, policy: Policy, steps: int, folder: Path, **settings: Any
) -> Path:
    """Record the same data to a file, readable with h5py.

    Returns:
        The file. An episode of T steps has T actions and T + 1 observations.

    Returns:
        The file. An episode T steps long has T actions and T + 1 observations.
    """
    env = FlattenActionSpace(mjlab.make(task, num_envs=num_envs, **settings))  # pyright: ignore[reportArgumentType]
    recorder = RecordEpisode(env, folder, save_video=False, trajectory_name="run")
    outer = VectorEnv(recorder, auto_reset=True)
    observations, _ = outer.reset(seed=0)
    for _ in range(steps):
        observations, *_ = outer.step(policy(observations))
    outer.close()
    return folder / "run.h5"

"""Four ways to run many worlds, each a function of a task id.

All start with the same lines: create the worlds, flatten the actions of several action
terms, and choose in the outermost wrapper how episodes end.

    python docs/examples/episodes.py    # evaluates a hand-written policy
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

import mjlab
from mjlab.gym import FlattenActionSpace, VectorEnv
from mjlab.replay import RecordEpisode
from mjlab.report.chart import Chart, ChartLine, svg

Policy = Callable[[Any], torch.Tensor]


def wrapped(
    task: str, num_envs: int, settings: dict[str, Any], **kind: Any
) -> VectorEnv:
    """Return the worlds of a task, wrapped."""
    env = mjlab.make(task, num_envs=num_envs, **settings)
    return VectorEnv(FlattenActionSpace(env), **kind)  # pyright: ignore[reportArgumentType]


def reinforcement_learning(
    task: str, num_envs: int, policy: Policy, steps: int, **settings: Any
) -> list[dict[str, torch.Tensor]]:
    """Reset finished worlds; a learner bootstraps from `final_observation`.

    Returns:
        Metrics of finished episodes, one entry for each step in which episodes end.
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
    """Run without resets, and add up the rewards of each world."""
    env = wrapped(task, num_envs, settings, auto_reset=False, record_metrics=True)
    observations, _ = env.reset(seed=0)
    info: dict[str, Any] = {}
    for _ in range(steps):
        observations, _, _, _, info = env.step(policy(observations))
    return info["episode"]["return"]


def evaluation(
    task: str, num_envs: int, policy: Policy, **settings: Any
) -> dict[str, float]:
    """Run one episode in each world; return the means of the episode metrics.

    Terminations are ignored, so all episodes have the maximum length, and
    `success_once` and `success_at_end` can differ.
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
    """Collect whole episodes in memory, with their terminal observations.

    Returns:
        Episodes of T steps: T + 1 `observations`, T `actions` and `rewards`.
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
    """Collect whole episodes in an HDF5 file, for learning from demonstrations.

    Returns:
        The file. An episode of T steps has T actions and T + 1 observations.
    """
    env = FlattenActionSpace(mjlab.make(task, num_envs=num_envs, **settings))  # pyright: ignore[reportArgumentType]
    recorder = RecordEpisode(env, folder, save_video=False, trajectory_name="run")
    outer = VectorEnv(recorder, auto_reset=True)
    observations, _ = outer.reset(seed=0)
    for _ in range(steps):
        observations, *_ = outer.step(policy(observations))
    outer.close()
    return folder / "run.h5"


def main() -> None:
    """Evaluate a linear policy on the cartpole, and plot its first episode."""
    gains = torch.tensor([0.5, 0.0, 8.0, 0.7, 1.5])

    def policy(observations: torch.Tensor) -> torch.Tensor:
        return observations @ gains.unsqueeze(1)

    figures = evaluation("Cartpole-Balance", 16, policy, max_episode_steps=200)
    print(", ".join(f"{name} {value:.3g}" for name, value in figures.items()))
    episode, *_ = collection("Cartpole-Balance", 1, policy, 1, max_episode_steps=200)
    seen = episode["observations"]
    charts = [
        Chart(
            title=title,
            lines=[ChartLine(x=[0.05 * i for i in range(len(seen))], y=value.tolist())],
            across="seconds",
        )
        for title, value in (
            ("Position of the cart, m", seen[:, 0]),
            ("Angle of the pole, rad", torch.atan2(seen[:, 2], seen[:, 1])),
        )
    ]
    Path("episodes.svg").write_text(svg(charts, width=400, height=300), "utf-8")
    print("First episode: episodes.svg")


if __name__ == "__main__":
    main()

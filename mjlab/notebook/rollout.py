"""Run a policy, and record its rewards by term and a video."""

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import torch

from mjlab.envs import ManagerBasedRlEnv, Policy
from mjlab.gym import NumpyVectorEnv, SingleEnv, TorchVectorEnv
from mjlab.notebook.film import Film
from mjlab.notebook.policy import SavedPolicy, managed_env
from mjlab.render.offscreen import grid
from mjlab.report.chart import COLOURS, Chart, ChartLine
from mjlab.viewer import Player, PolicyVideo

Acting = SavedPolicy | Policy | Callable[[Any], Any]
"""Policy from `load_policy`, or any function of observations."""


@dataclass(frozen=True, repr=False)
class RolloutResult:
    """Rewards and film of a rollout."""

    dt: float
    """Duration of a step, in seconds."""

    rewards: dict[str, torch.Tensor]
    """Contribution of each reward term to the reward, averaged over the worlds, by name
    of the term. Each tensor has shape (steps,)."""

    returns: torch.Tensor
    """Return of the first episode of each world, shape (num_envs,), float64."""

    lengths: torch.Tensor
    """Steps of the first episode of each world, shape (num_envs,), float64."""

    film: Film | None
    """The film, if one was recorded."""

    def __repr__(self) -> str:
        """Return steps, worlds, and mean return and length of the first episodes."""
        steps = len(next(iter(self.rewards.values()), ()))
        return (
            f"{steps} steps in {len(self.returns)} worlds. First episodes: mean return "
            f"{self.returns.mean():.4g}, mean length {self.lengths.mean():.4g} steps."
        )

    def plot_rewards(self) -> Chart:
        """Return a chart of the rewards by term, which a notebook displays.

        Terms are sorted by their mean, largest first.
        """
        largest = sorted(self.rewards, key=lambda name: -self.rewards[name].mean())
        lines = [
            ChartLine(
                x=[self.dt * (step + 1) for step in range(len(self.rewards[name]))],
                y=self.rewards[name].tolist(),
                label=name,
                colour=index,
                dashed=index >= COLOURS,
            )
            for index, name in enumerate(largest)
        ]
        worlds = f"mean of {len(self.returns)} worlds"
        return Chart(
            title="Reward by term",
            up=f"reward per step, {worlds}",
            across="time, s",
            lines=lines,
            with_zero=True,
        )


def rollout(
    env: Any,
    policy: Acting,
    *,
    seconds: float = 10.0,
    seed: int | None = None,
    film: str | Path | None = None,
    film_worlds: int = 4,
    film_size: tuple[int, int] = (960, 540),
    scheduled: bool = False,
) -> RolloutResult:
    """Start new episodes and run a policy in them; see `mjlab.rollout`."""
    worlds = managed_env(env)
    acting = _bound(policy, env)
    steps = max(1, round(seconds / worlds.step_dt))
    player = Player(worlds, acting, seed=seed, scheduled=scheduled)
    video = None
    if film is not None:
        number = min(film_worlds, worlds.num_envs)
        video = _open_video(worlds, Path(film), number, film_size)
    manager = worlds.reward_manager
    rewards = torch.zeros(steps, len(manager.terms), device=worlds.device)
    try:
        for step in range(steps):
            player.step()
            rewards[step] = manager.contributions.mean(dim=0)
            if video is not None:
                video.after_step()
    finally:
        if video is not None:
            video.close()
    columns = rewards.cpu().unbind(dim=1)
    return RolloutResult(
        dt=worlds.step_dt,
        rewards=dict(zip(manager.terms, columns, strict=True)),
        returns=player.rollout.returns.cpu(),
        lengths=player.rollout.lengths.cpu(),
        film=None if film is None else Film(Path(film), steps * worlds.step_dt),
    )


def _open_video(
    env: ManagerBasedRlEnv, path: Path, number: int, size: tuple[int, int]
) -> PolicyVideo:
    """Open a video of the first `number` worlds, tiled in one image.

    Args:
        env: The environment.
        path: Path of the video.
        number: Number of worlds.
        size: Width and height of the image, in pixels.
    """
    rows, columns, gap = grid(number)
    width = (size[0] + gap) // columns - gap
    height = (size[1] + gap) // rows - gap
    view = dataclasses.replace(env.cfg.viewer, width=width, height=height)
    return PolicyVideo(env, path, worlds=range(number), view=view, contacts=False)


def _bound(policy: Acting, env: Any) -> Policy:
    """Return a policy that takes observations by group."""
    if isinstance(policy, SavedPolicy):
        return policy.bind(env)
    return _ShownPolicy(policy, env)


class _ShownPolicy:
    """Adapter that passes only the environment's selected observations to a policy."""

    def __init__(self, policy: Policy | Callable[[Any], Any], env: Any) -> None:
        self._policy = policy
        base = env.unwrapped
        is_gym = isinstance(base, TorchVectorEnv | NumpyVectorEnv | SingleEnv)
        self._shown = base.worlds.chosen if is_gym else lambda seen: seen

    def __call__(self, observations: Any, /) -> torch.Tensor:
        return torch.as_tensor(self._policy(self._shown(observations)))

    def reset(self, dones: torch.Tensor | None = None) -> None:
        if isinstance(self._policy, _Resettable):
            self._policy.reset(dones)


@runtime_checkable
class _Resettable(Protocol):
    """Policy with an internal state; a plain function has none."""

    def reset(self, dones: torch.Tensor | None = None) -> None: ...

"""Policy rollouts: the policy protocol, the rollout loop, and seeded episodes.

Episode i has the seed `seed + i`, whichever world runs it, so the episodes do not
depend on the number of worlds.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

import torch

from mjlab.envs.env import ManagerBasedRlEnv

SUCCESS = "success"
"""Name of the termination term or metric that indicates success."""


class Policy(Protocol):
    """Policy that maps observations to actions."""

    def __call__(self, observations: Any, /) -> torch.Tensor:
        """Return the actions, shape (num_envs, total_action_dim)."""
        ...

    def reset(self, dones: torch.Tensor | None = None) -> None:
        """Reset the internal state of finished worlds.

        Args:
            dones: Worlds to reset, shape (num_envs,), bool. None means all.
        """
        ...


class ZeroPolicy:
    """Policy with zero actions. Most action terms then hold the default pose."""

    def __init__(self, env: ManagerBasedRlEnv) -> None:
        size = (env.num_envs, env.action_manager.total_action_dim)
        self._action = torch.zeros(size, device=env.device)

    def __call__(self, observations: Any, /) -> torch.Tensor:
        """Return zeros, shape (num_envs, total_action_dim)."""
        return self._action

    def reset(self, dones: torch.Tensor | None = None) -> None:
        """Do nothing: the policy has no internal state."""


class RandomPolicy:
    """Policy with random actions, drawn at every step."""

    def __init__(
        self,
        env: ManagerBasedRlEnv,
        *,
        seed: int = 0,
        distribution: Literal["uniform", "normal"] = "uniform",
        clip: float | None = None,
    ) -> None:
        """Create the policy for an environment.

        Args:
            env: The environment.
            seed: Random seed of the actions.
            distribution: Uniform in [-1, 1], or normal with a standard deviation of 1.
            clip: Bound of the absolute action. None disables clipping.
        """
        self._size = (env.num_envs, env.action_manager.total_action_dim)
        self._device = env.device
        # On the CPU, so that a seed gives the same actions on every device.
        self._generator = torch.Generator().manual_seed(seed)
        self._is_uniform = distribution == "uniform"
        self._clip = float("inf") if clip is None else clip

    def __call__(self, observations: Any, /) -> torch.Tensor:
        """Return random actions, shape (num_envs, total_action_dim)."""
        if self._is_uniform:
            drawn = 2.0 * torch.rand(self._size, generator=self._generator) - 1.0
        else:
            drawn = torch.randn(self._size, generator=self._generator)
        return drawn.clamp(-self._clip, self._clip).to(self._device)

    def reset(self, dones: torch.Tensor | None = None) -> None:
        """Do nothing: the policy has no internal state."""


class Rollout:
    """Rollout of a policy, with statistics of the first episode of each world.

    Does not synchronise with the device.
    """

    def __init__(
        self, env: ManagerBasedRlEnv, policy: Policy, *, seed: int | None = None
    ) -> None:
        """Start an episode in each world.

        Args:
            env: The environment.
            policy: The policy.
            seed: Seed of the worlds' random numbers, seed + i for world i. None
                continues the current random streams.
        """
        self.env = env
        self.policy = policy
        count = {"dtype": torch.float64, "device": env.device}
        self.reward = torch.zeros(env.num_envs, device=env.device)
        """Last reward, shape (num_envs,)."""
        self.dones = torch.zeros(env.num_envs, dtype=torch.bool, device=env.device)
        """Worlds whose episode ended in the last step, shape (num_envs,), bool."""
        self.running = ~self.dones
        """Worlds whose first episode has not ended, shape (num_envs,), bool."""
        self.returns = torch.zeros(env.num_envs, **count)
        """Reward sum of each world's first episode, shape (num_envs,), float64."""
        self.lengths = torch.zeros(env.num_envs, **count)
        """Lengths of the first episodes, in steps, shape (num_envs,), float64."""
        self.observations = env.reset(seed=seed)[0]
        """Last observations, by group."""

    def step(self) -> torch.Tensor:
        """Step all worlds; return a mask of those that were in their first episode."""
        with torch.no_grad():
            actions = self.policy(self.observations)
            found = self.env.step(actions)
        self.observations, self.reward, terminated, truncated, _ = found
        self.dones = terminated | truncated
        stepped = self.running
        self.returns += torch.where(stepped, self.reward, 0.0)
        self.lengths += stepped
        self.running = stepped & ~self.dones
        self.policy.reset(self.dones)
        return stepped

    def steps(self, number: int) -> Iterator[torch.Tensor]:
        """Run `number` steps; after each, yield the mask that `step` returns."""
        for _ in range(number):
            yield self.step()

    def reset(self, mask: torch.Tensor) -> None:
        """Reset environment and policy in the worlds of `mask`, shape (num_envs,)."""
        self.observations = self.env.reset(mask=mask)[0]
        self.policy.reset(mask)


# Episodes, in rounds of parallel worlds.


@dataclass(frozen=True, kw_only=True)
class EpisodeResult:
    """Statistics of an episode."""

    seed: int
    """Seed of the episode."""

    total: float
    """Sum of the rewards."""

    steps: int
    """Length, in steps."""

    seconds: float
    """Length, in seconds of simulated time."""

    fell: bool
    """True if a termination other than "success" ended the episode."""

    ended_by: tuple[str, ...]
    """Names of the termination terms that ended the episode. Empty if the evaluation
    stopped before the episode ended."""

    success_once: bool | None
    """Success at any time; None if the task does not define success."""

    success_at_end: bool | None
    """Success at the end; None if the task does not define success at the end."""

    figures: dict[str, float]
    """Log entries of the episode, such as "Metrics/<term>"."""


def run_episodes(
    env: ManagerBasedRlEnv, policy: Policy, *, number: int, seed: int
) -> list[EpisodeResult]:
    """Run `number` episodes, `env.num_envs` at a time."""
    start = env.get_state()
    found: list[EpisodeResult] = []
    while len(found) < number:
        # Restores state that changes with training progress, such as curricula.
        env.set_state(start)
        found += _run_round(env, policy, seed + len(found))
    return found[:number]


def _run_round(
    env: ManagerBasedRlEnv, policy: Policy, seed: int
) -> list[EpisodeResult]:
    """Run one episode in each world."""
    rollout = Rollout(env, policy, seed=seed)
    policy.reset()
    results: dict[int, EpisodeResult] = {}
    for stepped in rollout.steps(env.max_episode_length):
        for world in (stepped & rollout.dones).nonzero().flatten().tolist():
            results[world] = _ended(rollout, world, seed)
        if len(results) == env.num_envs:
            break
    # Without a time-out term, some episodes have not ended.
    for world in rollout.running.nonzero().flatten().tolist():
        results[world] = _cut_short(rollout, world, seed)
    return [results[world] for world in range(env.num_envs)]


def _ended(rollout: Rollout, world: int, seed: int) -> EpisodeResult:
    """Return the result of an episode that ended with the last step."""
    terms = rollout.env.termination_manager
    ended_by = [name for name in terms.active_terms if terms.get_term(name)[world]]
    figures = _logged(rollout.env, world)
    once, at_end = _success(figures, terms.active_terms, ended_by)
    return replace(
        _cut_short(rollout, world, seed),
        fell=bool(terms.terminated[world]) and SUCCESS not in ended_by,
        ended_by=tuple(ended_by),
        success_once=once,
        success_at_end=at_end,
        figures=figures,
    )


def _cut_short(rollout: Rollout, world: int, seed: int) -> EpisodeResult:
    """Return the result of an episode that has not ended yet."""
    steps = int(rollout.lengths[world])
    return EpisodeResult(
        seed=seed + world,
        total=float(rollout.returns[world]),
        steps=steps,
        seconds=steps * rollout.env.step_dt,
        fell=False,
        ended_by=(),
        success_once=None,
        success_at_end=None,
        figures={},
    )


def _logged(env: ManagerBasedRlEnv, world: int) -> dict[str, float]:
    """Return the log entries of one world's episode, which ended in this step."""
    log = env.episode_log
    log.take()  # Discard all other entries.
    alone = torch.zeros(env.num_envs, dtype=torch.bool, device=env.device)
    alone[world] = True
    log.fold(alone)
    return log.take()[0]


def _success(
    figures: Mapping[str, float], terms: Sequence[str], ended_by: Sequence[str]
) -> tuple[bool | None, bool | None]:
    """Return success at any time and at the end, each None if it is not defined.

    A termination term "success" defines both. Otherwise, the metric "success_once" (or
    else "success") defines success at any time, and the metric "success_at_end" success
    at the end.
    """
    if SUCCESS in terms:
        return SUCCESS in ended_by, SUCCESS in ended_by
    once = figures.get(f"Metrics/{SUCCESS}_once", figures.get(f"Metrics/{SUCCESS}"))
    at_end = figures.get(f"Metrics/{SUCCESS}_at_end")
    return (
        None if once is None else once > 0.0,
        None if at_end is None else at_end > 0.0,
    )

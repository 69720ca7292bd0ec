"""Rolling a policy out: one Protocol, one loop, and the results of seeded episodes.

Episode number i begins with the seed `seed + i`, in whichever world and round it runs,
so that the same episodes come with any number of worlds.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

import torch

from mjlab.envs.env import ManagerBasedRlEnv

SUCCESS = "success"
"""Name of the termination term, or of the metric, that says that a task was done."""


class Policy(Protocol):
    """Acts on observations."""

    def __call__(self, observations: Any, /) -> torch.Tensor:
        """Return actions, shape (num_envs, total_action_dim)."""
        ...

    def reset(self, dones: torch.Tensor | None = None) -> None:
        """Forget the past of the worlds where `dones`, shape (num_envs,), holds.

        Args:
            dones: None stands for all worlds.
        """
        ...


class ZeroPolicy:
    """Does nothing, which for most actions holds the default pose."""

    def __init__(self, env: ManagerBasedRlEnv) -> None:
        size = (env.num_envs, env.action_manager.total_action_dim)
        self._action = torch.zeros(size, device=env.device)

    def __call__(self, observations: Any, /) -> torch.Tensor:
        """Return zeros, shape (num_envs, total_action_dim)."""
        return self._action

    def reset(self, dones: torch.Tensor | None = None) -> None:
        """Do nothing: there is nothing to forget."""


class RandomPolicy:
    """Draws every action anew."""

    def __init__(
        self,
        env: ManagerBasedRlEnv,
        *,
        seed: int = 0,
        distribution: Literal["uniform", "normal"] = "uniform",
        clip: float | None = None,
    ) -> None:
        """Draw for the worlds of an environment.

        Args:
            env: The worlds.
            seed: Seed of the actions.
            distribution: From -1 to 1, or normal with a standard deviation of 1.
            clip: Largest size of an action. None leaves them as they are drawn.
        """
        self._size = (env.num_envs, env.action_manager.total_action_dim)
        self._device = env.device
        # On the CPU, so that a seed means the same on every device.
        self._generator = torch.Generator().manual_seed(seed)
        self._is_uniform = distribution == "uniform"
        self._clip = float("inf") if clip is None else clip

    def __call__(self, observations: Any, /) -> torch.Tensor:
        """Return new numbers, shape (num_envs, total_action_dim)."""
        if self._is_uniform:
            drawn = 2.0 * torch.rand(self._size, generator=self._generator) - 1.0
        else:
            drawn = torch.randn(self._size, generator=self._generator)
        return drawn.clamp(-self._clip, self._clip).to(self._device)

    def reset(self, dones: torch.Tensor | None = None) -> None:
        """Do nothing: there is nothing to forget."""


class Rollout:
    """A policy that acts in worlds, and the first episode of each of them.

    Nothing is read from the device.
    """

    def __init__(
        self, env: ManagerBasedRlEnv, policy: Policy, *, seed: int | None = None
    ) -> None:
        """Begin an episode in each world.

        Args:
            env: The worlds.
            policy: The policy.
            seed: Seed of the worlds' random numbers, seed + i for world i. None goes on
                with the present ones.
        """
        self.env = env
        self.policy = policy
        count = {"dtype": torch.float64, "device": env.device}
        self.reward = torch.zeros(env.num_envs, device=env.device)
        """The last reward, shape (num_envs,)."""
        self.dones = torch.zeros(env.num_envs, dtype=torch.bool, device=env.device)
        """Worlds in which an episode ended with the last step, shape (num_envs,)."""
        self.running = ~self.dones
        """Worlds whose first episode has not ended, shape (num_envs,), bool."""
        self.returns = torch.zeros(env.num_envs, **count)
        """Sum of the rewards of the first episodes, shape (num_envs,), float64."""
        self.lengths = torch.zeros(env.num_envs, **count)
        """Steps of the first episodes, shape (num_envs,), float64."""
        self.observations = env.reset(seed=seed)[0]
        """The last observations, by group."""

    def step(self) -> torch.Tensor:
        """Step all worlds; return those whose first episode the step belongs to."""
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
        """Step that often; yield what each step returns."""
        for _ in range(number):
            yield self.step()

    def reset(self, mask: torch.Tensor) -> None:
        """Begin episodes by hand in the worlds of `mask`, shape (num_envs,), bool."""
        self.observations = self.env.reset(mask=mask)[0]
        self.policy.reset(mask)


# Episodes, one after another in parallel worlds.


@dataclass(frozen=True, kw_only=True)
class EpisodeResult:
    """Figures of an episode."""

    seed: int
    """Seed that it began with."""

    total: float
    """Sum of its rewards."""

    steps: int
    """Its length."""

    seconds: float
    """Its length in simulated time."""

    fell: bool
    """An end that is not success, before its time was over."""

    ended_by: tuple[str, ...]
    """Termination terms that held at its end; none if the evaluation cut it short."""

    success_once: bool | None
    """Success at some moment; None if the task does not say."""

    success_at_end: bool | None
    """Success at the end; None if the task does not say."""

    figures: dict[str, float]
    """Entries of the environment's log for it, such as "Metrics/<term>"."""


def run_episodes(
    env: ManagerBasedRlEnv, policy: Policy, *, number: int, seed: int
) -> list[EpisodeResult]:
    """Run episodes, `number` of them, in as many rounds as the worlds need."""
    start = env.get_state()
    found: list[EpisodeResult] = []
    while len(found) < number:
        # What moves on with experience, such as a curriculum, goes back.
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
    # A task without a time-out leaves some that have not ended.
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
    """Return the result of an episode as far as it has gone."""
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
    """Return what was logged of one world's episode, which ended in this step."""
    log = env.episode_log
    log.take()  # Let go of what others put in.
    alone = torch.zeros(env.num_envs, dtype=torch.bool, device=env.device)
    alone[world] = True
    log.fold(alone)
    return log.take()[0]


def _success(
    figures: Mapping[str, float], terms: Sequence[str], ended_by: Sequence[str]
) -> tuple[bool | None, bool | None]:
    """Return whether a task was done, once and at the end, as far as it says.

    A termination term "success" says both. So do metrics that are called
    "success_once" and "success_at_end", or "success" for the first alone.
    """
    if SUCCESS in terms:
        return SUCCESS in ended_by, SUCCESS in ended_by
    once = figures.get(f"Metrics/{SUCCESS}_once", figures.get(f"Metrics/{SUCCESS}"))
    at_end = figures.get(f"Metrics/{SUCCESS}_at_end")
    return (
        None if once is None else once > 0.0,
        None if at_end is None else at_end > 0.0,
    )

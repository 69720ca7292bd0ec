"""Seeded episodes of a policy, one after another in parallel worlds, and their figures.

Episode number i begins with the seed `seed + i`, in whichever world and round it runs,
so that the same episodes come with any number of worlds.
"""

import json
import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

import torch

from mjlab.envs import ManagerBasedRlEnv
from mjlab.files import write_text

SUCCESS = "success"
"""Name of the termination term, or of the metric, that says that a task was done."""


class Worlds(Protocol):
    """Worlds that can be stepped."""

    env: ManagerBasedRlEnv
    num_envs: int

    def reset(self, *, seed: int) -> Any:
        """Begin an episode in each world i, with the seed `seed + i`."""
        ...

    def step(self, actions: torch.Tensor, /) -> tuple[Any, torch.Tensor, Any, Any]:
        """Step all worlds; return observations, reward, dones and more."""
        ...


class Policy(Protocol):
    """Acts on observations."""

    def __call__(self, observations: Any, /) -> torch.Tensor:
        """Actions, shape (num_envs, num_actions)."""
        ...

    def reset(self, dones: torch.Tensor | None = None) -> None:
        """Forget what happened in worlds that begin anew."""
        ...


@dataclass(frozen=True, kw_only=True)
class Episode:
    """What came of an episode."""

    seed: int
    """What it began with."""

    total: float
    """Sum of its rewards."""

    steps: int
    """Its length."""

    seconds: float
    """Its length in simulated time."""

    fell: bool
    """Whether it came to an end that is not success, before its time was over."""

    ended_by: tuple[str, ...]
    """Termination terms that held at its end; none if the evaluation cut it short."""

    success_once: bool | None
    """Whether the task was done at some moment; None if the task does not say."""

    success_at_end: bool | None
    """Whether the task was done at the end; None if the task does not say."""

    figures: dict[str, float]
    """What the environment logs of an episode, such as "Metrics/<term>"."""


class Constant:
    """A policy that always acts alike, or at random."""

    def __init__(
        self, num_envs: int, num_actions: int, device: torch.device, *, spread: float
    ) -> None:
        """Act with zeros.

        Args:
            num_envs: Worlds.
            num_actions: Numbers of an action.
            device: Where actions are.
            spread: Standard deviation around zero.
        """
        self._shape = (num_envs, num_actions)
        self._spread = spread
        self._device = device
        self._generator = torch.Generator().manual_seed(0)

    def __call__(self, observations: Any) -> torch.Tensor:
        """Actions, shape (num_envs, num_actions)."""
        drawn = torch.randn(self._shape, generator=self._generator)
        return (drawn * self._spread).to(self._device)

    def reset(self, dones: torch.Tensor | None = None) -> None:
        """There is nothing to forget."""


def run_episodes(
    worlds: Worlds, policy: Policy, *, number: int, seed: int
) -> list[Episode]:
    """Run episodes, `number` of them, in as many rounds as the worlds need."""
    start = worlds.env.get_state()
    found: list[Episode] = []
    while len(found) < number:
        # What moves on with experience, such as a curriculum, goes back.
        worlds.env.set_state(start)
        found += _Round(worlds, policy, seed + len(found)).run()
    return found[:number]


class _Round:
    """One episode in each world."""

    def __init__(self, worlds: Worlds, policy: Policy, seed: int) -> None:
        self._worlds = worlds
        self._env = worlds.env
        self._policy = policy
        self._seed = seed
        count, device = worlds.num_envs, self._env.device
        self._totals = torch.zeros(count, dtype=torch.float64, device=device)
        self._running = torch.ones(count, dtype=torch.bool, device=device)
        self._episodes: dict[int, Episode] = {}

    def run(self) -> list[Episode]:
        """Step until every world has ended its first episode."""
        observations = self._worlds.reset(seed=self._seed)
        self._policy.reset()
        with torch.no_grad():
            for step in range(1, self._env.max_episode_length + 1):
                actions = self._policy(observations)
                observations, reward, dones, _ = self._worlds.step(actions)
                self._totals += torch.where(self._running, reward, 0.0)
                self._note(self._running & dones, step)
                self._running &= ~dones
                self._policy.reset(dones)
                if len(self._episodes) == self._worlds.num_envs:
                    break
        # A task without a time-out leaves some that have not ended.
        for world in self._running.nonzero().flatten().tolist():
            self._episodes[world] = self._cut_short(world)
        return [self._episodes[world] for world in range(self._worlds.num_envs)]

    def _note(self, ended: torch.Tensor, step: int) -> None:
        for world in ended.nonzero().flatten().tolist():
            self._episodes[world] = self._finished(world, step)

    def _finished(self, world: int, step: int) -> Episode:
        terms = self._env.termination_manager
        ended_by = [n for n in terms.active_terms if bool(terms.get_term(n)[world])]
        figures = self._figures(world)
        once, at_end = _success(figures, terms.active_terms, ended_by)
        return Episode(
            seed=self._seed + world,
            total=float(self._totals[world]),
            steps=step,
            seconds=step * self._env.step_dt,
            fell=bool(terms.terminated[world]) and SUCCESS not in ended_by,
            ended_by=tuple(ended_by),
            success_once=once,
            success_at_end=at_end,
            figures=figures,
        )

    def _cut_short(self, world: int) -> Episode:
        steps = self._env.max_episode_length
        return Episode(
            seed=self._seed + world,
            total=float(self._totals[world]),
            steps=steps,
            seconds=steps * self._env.step_dt,
            fell=False,
            ended_by=(),
            success_once=None,
            success_at_end=None,
            figures={},
        )

    def _figures(self, world: int) -> dict[str, float]:
        """What was logged of the episode of one world, which ended in this step."""
        log = self._env.episode_log
        log.take()  # Let go of what others put in.
        alone = torch.zeros_like(self._running)
        alone[world] = True
        log.fold(alone)
        return log.take()[0]


def _success(
    figures: Mapping[str, float], terms: Sequence[str], ended_by: Sequence[str]
) -> tuple[bool | None, bool | None]:
    """Whether a task was done, once and at the end, as far as it says.

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


# Figures of many.


def summary(episodes: Sequence[Episode]) -> dict[str, Any]:
    """Means, spreads and shares over episodes, as plain values."""
    names = sorted({name for episode in episodes for name in episode.figures})
    ends = sorted({name for episode in episodes for name in episode.ended_by})
    return {
        "episodes": len(episodes),
        "return": _spread([episode.total for episode in episodes]),
        "length_steps": _spread([episode.steps for episode in episodes]),
        "length_s": _spread([episode.seconds for episode in episodes]),
        "falls": _share([episode.fell for episode in episodes]),
        "success_once": _share([episode.success_once for episode in episodes]),
        "success_at_end": _share([episode.success_at_end for episode in episodes]),
        "ended_by": {n: sum(n in e.ended_by for e in episodes) for n in ends},
        "figures": {
            n: _spread([e.figures[n] for e in episodes if n in e.figures])
            for n in names
            if not n.startswith("Episode_Termination/")
        },
    }


def table(figures: Mapping[str, Any]) -> str:
    """A summary for the screen."""
    rows = [("", "mean", "deviation", "least", "most")]
    whole = {
        "return": "return",
        "length_steps": "length, steps",
        "length_s": "length, s",
    }
    rows += [_row(said, figures[name]) for name, said in whole.items()]
    rows += [_row(name, values) for name, values in figures["figures"].items()]
    width = max(len(row[0]) for row in rows)
    lines = [
        f"{name.ljust(width)}  " + "  ".join(cell.rjust(10) for cell in cells)
        for name, *cells in rows
    ]
    shares = {
        "falls": "falls",
        "success_once": "success once",
        "success_at_end": "success at end",
    }
    for name, said in shares.items():
        share = figures[name]
        shown = "the task does not say" if share is None else f"{share:.1%}"
        lines.append(f"{said.ljust(width)}  {shown}")
    ends = ", ".join(f"{name} {count}" for name, count in figures["ended_by"].items())
    lines.append(f"{'ended by'.ljust(width)}  {ends or 'nothing'}")
    return "\n".join(line.rstrip() for line in lines)


def save(
    path: Path, about: Mapping[str, Any], episodes: Sequence[Episode]
) -> dict[str, Any]:
    """Write summary and episodes as JSON, numbers that are not finite as null."""
    figures = summary(episodes)
    whole = {
        **about,
        "summary": figures,
        "runs": [asdict(episode) for episode in episodes],
    }
    text = json.dumps(_finite(whole), indent=1, allow_nan=False, default=str)
    write_text(path, text + "\n")
    return figures


def _spread(values: Sequence[float]) -> dict[str, float]:
    return {
        "mean": statistics.fmean(values),
        "deviation": statistics.pstdev(values),
        "least": min(values),
        "most": max(values),
    }


def _share(values: Sequence[bool | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _row(name: str, values: Mapping[str, float]) -> tuple[str, ...]:
    keys = ("mean", "deviation", "least", "most")
    return (name, *(f"{values[key]:.4g}" for key in keys))


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [_finite(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value

"""Learning curves: scores without exploration, over samples and time."""

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import torch

from mjlab.tasks.cartpole.classic import ClassicCartpoleCfg, KernelCartpoles

SOLVED = 475.0
"""Mean return at which Gymnasium considers CartPole-v1 solved; the maximum is 500."""

ENOUGH = 0.9
"""Minimum fraction of the compared samples or seconds for a run to count."""

JUDGES = 32
"""Number of episodes of an evaluation."""

LOOKS = 24
"""Number of evaluations within the samples, and within the time, of a run."""


class Policy(Protocol):
    """Interface of a policy that acts without exploration."""

    def begin(self, num_envs: int) -> None:
        """Reset all state, for a number of worlds."""
        ...

    def __call__(self, observations: torch.Tensor) -> torch.Tensor:
        """Actions, shape (num_envs,), int64."""
        ...


class Judge:
    """Evaluates policies in separate worlds, the same each time."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._worlds = KernelCartpoles(
            ClassicCartpoleCfg(num_envs=JUDGES, autoreset=False, results="live")
        )

    def score(self, policy: Policy) -> float:
        """Return the mean return of one episode in each world."""
        worlds = self._worlds
        observations = worlds.reset(seed=self._seed)[0]
        policy.begin(JUDGES)
        total = torch.zeros(JUDGES)
        with torch.no_grad():
            for _ in range(worlds.max_episode_length):
                result = worlds.step(policy(observations))
                observations = result.observations
                total += result.reward
                if bool((result.terminated | result.truncated).all()):
                    break
        return float(total.mean())


@dataclass
class Curve:
    """Learning curve of one run: scores by samples and seconds."""

    samples: list[int] = field(default_factory=list)
    """Number of samples at each score."""

    seconds: list[float] = field(default_factory=list)
    """Seconds of acting and learning at each score, without evaluations."""

    scores: list[float] = field(default_factory=list)
    """Mean returns."""

    updates: list[int] = field(default_factory=list)
    """Number of optimiser steps at each score."""

    def add(self, samples: int, seconds: float, score: float, updates: int) -> None:
        self.samples.append(samples)
        self.seconds.append(round(seconds, 4))
        self.scores.append(round(score, 2))
        self.updates.append(updates)

    def at(self, name: str, limit: float) -> float | None:
        """Return the last score within `limit` samples or seconds.

        None if the run ended before the fraction `ENOUGH` of the limit.
        """
        places = getattr(self, name)
        if not places or places[-1] < ENOUGH * limit:
            return None
        index = sum(place <= limit for place in places) - 1
        return self.scores[max(index, 0)]

    def first(self, name: str, score: float = SOLVED) -> float:
        """Return samples or seconds until a score was reached; infinite if never."""
        places = getattr(self, name)
        for place, found in zip(places, self.scores, strict=True):
            if found >= score:
                return float(place)
        return math.inf


@dataclass(frozen=True)
class Budget:
    """Limits of a training run, in samples and seconds."""

    samples: int
    """Samples at which runs are compared."""

    seconds: float
    """Seconds at which runs are compared."""

    longest: float
    """Maximum duration of a run, in seconds."""

    def is_over(self, samples: int, seconds: float) -> bool:
        """True if a run has enough samples and seconds, or has reached `longest`."""
        enough = samples >= self.samples and seconds >= self.seconds
        return enough or seconds >= self.longest

    def next_look(self, samples: int, seconds: float) -> tuple[float, float]:
        """Return the samples and the seconds at which the next evaluation is due.

        The evaluation runs when one of them is reached.
        """
        if samples < self.samples:
            return samples + self.samples / LOOKS, math.inf
        return math.inf, seconds + self.seconds / LOOKS


class Learner(Protocol):
    """Interface of a learner, whose training the study runs iteration by iteration."""

    @property
    def samples(self) -> int:
        """Number of samples so far."""
        ...

    @property
    def updates(self) -> int:
        """Number of optimiser steps so far."""
        ...

    @property
    def policy(self) -> Policy:
        """Return the current policy."""
        ...

    def advance(self) -> float:
        """Run one iteration of acting and learning; return its duration in seconds."""
        ...

    def close(self) -> None:
        """Release all resources."""
        ...


def run(make: Callable[[], Learner], budget: Budget, seed: int) -> Curve:
    """Train a learner, with evaluations in between."""
    judge, learner, curve = Judge(10**6 + seed), make(), Curve()
    seconds = 0.0
    curve.add(0, 0.0, judge.score(learner.policy), 0)
    look = budget.next_look(0, 0.0)
    while not budget.is_over(learner.samples, seconds):
        seconds += learner.advance()
        is_over = budget.is_over(learner.samples, seconds)
        if learner.samples >= look[0] or seconds >= look[1] or is_over:
            score = judge.score(learner.policy)
            curve.add(learner.samples, seconds, score, learner.updates)
            look = budget.next_look(learner.samples, seconds)
    learner.close()
    return curve


def mean_and_spread(values: Sequence[float]) -> dict[str, Any]:
    """Mean, minimum and maximum over seeds."""
    return {
        "mean": statistics.fmean(values),
        "low": min(values),
        "high": max(values),
        "seeds": len(values),
    }

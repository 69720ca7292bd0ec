"""Off-policy learner: recurrent double DQN with prioritised sequences.

It is similar to R2D2 (Kapturowski et al. 2019): an LSTM whose state is stored with each
sequence and updated by a burn-in, double Q-learning with n-step returns, value
rescaling, and priorities from TD errors. With Ray, several processes act; otherwise
acting and learning alternate in one process, with the same data. All sizes are smaller
than in R2D2, the network does not observe its last action and reward, and rewards are
not clipped.
"""

import time
from typing import Any, Protocol

import torch

from bench.study.acting import BURN_IN, LENGTH, WIDTH, Actor, RecurrentQ, Sequences
from bench.study.peers import start_ray

GAMMA = 0.99
STEPS_AHEAD = 3
"""Number of steps of the n-step return."""

ROWS = 64
"""Number of sequences per optimiser step."""

REPLAYED = 4.0
"""Mean number of times that a sample is used, for any number of worlds."""

CAPACITY = 2**14
"""Capacity of the buffer, in sequences."""

LEAST = 2**8
"""Number of sequences before learning starts."""

ROLLOUT = 16
"""Steps of each world between weight updates of the actors."""

TARGET_EVERY = 100
"""Optimiser steps between updates of the target network."""

Weights = dict[str, torch.Tensor]


class Acting(Protocol):
    """Runs the actors, which collect sequences for the buffer."""

    how: str
    """Where acting runs, for the report."""

    def collect(self, weights: Weights) -> tuple[int, list[tuple[torch.Tensor, ...]]]:
        """Return the number of collected samples, and the completed sequences."""
        ...

    def close(self) -> None:
        """Release all resources."""
        ...


class ActingHere:
    """One actor in this process, alternating with learning."""

    how = "in one process"

    def __init__(self, num_envs: int, seed: int) -> None:
        self._num_envs = num_envs
        self._actor = Actor(num_envs, seed, 0, num_envs)

    def collect(self, weights: Weights) -> tuple[int, list[tuple[torch.Tensor, ...]]]:
        """Run `ROLLOUT` steps of each world with the given weights."""
        found = self._actor.collect(weights, ROLLOUT)
        return ROLLOUT * self._num_envs, found

    def close(self) -> None:
        """Do nothing: the tensors own all resources."""


class ActingUnderRay:
    """Several processes that act continuously, while this one learns."""

    how = "in processes under Ray"

    def __init__(self, num_envs: int, seed: int, processes: int = 2) -> None:
        import ray  # pyright: ignore[reportMissingImports]

        self._ray: Any = ray
        if not ray.is_initialized():
            start_ray(ray)
        processes = min(processes, num_envs)
        remote: Any = ray.remote(num_cpus=0)(Actor)
        firsts = [i * num_envs // processes for i in range(processes + 1)]
        self._sizes: dict[Any, tuple[Any, int]] = {}
        self._actors = []
        for index, first in enumerate(firsts[:-1]):
            size = firsts[index + 1] - first
            actor = remote.remote(size, seed + 1000 * index, first, num_envs)
            self._actors.append((actor, size))
        # The start-up time of the processes is excluded from all timings.
        ray.get([actor.is_ready.remote() for actor, _ in self._actors])
        for actor, size in self._actors:
            self._sizes[actor.collect.remote(None, ROLLOUT)] = (actor, size)

    def collect(self, weights: Weights) -> tuple[int, list[tuple[torch.Tensor, ...]]]:
        """Return the results of the first process that is ready, and restart it."""
        (ready,), _ = self._ray.wait(list(self._sizes), num_returns=1)
        actor, size = self._sizes.pop(ready)
        found = [
            tuple(part.clone() for part in parts) for parts in self._ray.get(ready)
        ]
        self._sizes[actor.collect.remote(weights, ROLLOUT)] = (actor, size)
        return ROLLOUT * size, found

    def close(self) -> None:
        """End the processes."""
        for actor, _ in self._actors:
            self._ray.kill(actor)


class Replay:
    """Ring buffer of sequences, sampled by priority."""

    def __init__(self, capacity: int) -> None:
        self._tensors = Sequences(
            torch.zeros(capacity, LENGTH + 1, 4),
            torch.zeros(capacity, LENGTH, dtype=torch.int64),
            torch.zeros(capacity, LENGTH),
            torch.zeros(capacity, LENGTH),
            torch.zeros(capacity, dtype=torch.int64),
            torch.zeros(capacity, 2 * WIDTH),
        ).tensors()
        self._priority = torch.zeros(capacity)
        self._next = 0
        self.size = 0
        """Number of stored sequences."""

    def add(self, parts: tuple[torch.Tensor, ...]) -> None:
        """Store new sequences, with the maximum priority."""
        capacity = len(self._priority)
        parts = tuple(part[-capacity:] for part in parts)
        number = len(parts[0])
        places = (self._next + torch.arange(number)) % capacity
        for mine, part in zip(self._tensors, parts, strict=True):
            mine[places] = part
        self._priority[places] = max(1.0, float(self._priority.max()))
        self._next = (self._next + number) % capacity
        self.size = min(capacity, self.size + number)

    def draw(self, rows: int) -> tuple[Sequences, torch.Tensor, torch.Tensor]:
        """Return sampled sequences, their indices, and importance weights."""
        chance = self._priority[: self.size] ** 0.9
        places = torch.multinomial(chance, rows, replacement=True)
        share = chance[places] / chance.sum()
        weight = (self.size * share) ** -0.6
        found = Sequences(*(part[places] for part in self._tensors))
        return found, places, weight / weight.max()

    def judge(self, places: torch.Tensor, priority: torch.Tensor) -> None:
        """Update the priorities of sequences."""
        self._priority[places] = priority + 1e-3


class ReplayLearner:
    """Alternates acting and learning; updates are proportional to samples."""

    def __init__(self, num_envs: int, seed: int, *, under_ray: bool) -> None:
        torch.manual_seed(seed)
        self._online, self._target = RecurrentQ(), RecurrentQ()
        self._target.load_state_dict(self._online.state_dict())
        self._optimiser = torch.optim.Adam(self._online.parameters(), lr=1e-3, eps=1e-5)
        self._replay = Replay(CAPACITY)
        self._acting: Acting = (
            ActingUnderRay(num_envs, seed) if under_ray else ActingHere(num_envs, seed)
        )
        self._owed = 0.0
        self.samples = 0
        self.updates = 0
        self.policy = _Greedy(self._online)

    def advance(self) -> float:
        """Act for some steps, then run the due updates."""
        start = time.perf_counter()
        weights = {n: t.detach() for n, t in self._online.state_dict().items()}
        samples, found = self._acting.collect(weights)
        for parts in found:
            self._replay.add(parts)
        self.samples += samples
        if self._replay.size >= LEAST:
            self._owed += REPLAYED * samples / (ROWS * (LENGTH - BURN_IN))
        while self._owed >= 1.0:
            self._learn()
            self._owed -= 1.0
        return time.perf_counter() - start

    def close(self) -> None:
        """Release all resources."""
        self._acting.close()

    def _learn(self) -> None:
        """Run one optimiser step."""
        found, places, weight = self._replay.draw(ROWS)
        values, _ = self._online(found.observations, found.hidden)
        with torch.no_grad():
            later, _ = self._target(found.observations, found.hidden)
            best = values.argmax(dim=-1, keepdim=True)
            target = self._targets(found, _unscaled(later.gather(2, best)[..., 0]))
        taken = values[:, :-1].gather(2, found.actions[..., None])[..., 0]
        counts = torch.arange(LENGTH)[None] >= found.burn_in[:, None]
        valid = found.valid * counts
        wrong = (taken - _scaled(target)) * valid
        loss = (weight[:, None] * wrong.square()).sum() / valid.sum().clamp(min=1.0)
        self._optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self._online.parameters(), 10.0)
        self._optimiser.step()
        size = wrong.detach().abs()
        mean = size.sum(dim=1) / valid.sum(dim=1).clamp(min=1.0)
        self._replay.judge(places, 0.9 * size.amax(dim=1) + 0.1 * mean)
        self.updates += 1
        if self.updates % TARGET_EVERY == 0:
            self._target.load_state_dict(self._online.state_dict())

    @staticmethod
    def _targets(found: Sequences, later: torch.Tensor) -> torch.Tensor:
        """Return n-step returns, shape (rows, LENGTH).

        Args:
            found: The sequences. Each step has a reward of 1.
            later: Value of each state by the target network, (rows, LENGTH + 1).
        """
        # After the last step there is no reward, only the value of the last state.
        lengths = found.valid.sum(dim=1, keepdim=True).long()
        steps = torch.arange(LENGTH)[None]
        last = torch.minimum(steps + STEPS_AHEAD, lengths).clamp(max=LENGTH)
        ahead = (last - steps).clamp(min=0)
        returns = later.gather(1, last)
        for back in reversed(range(STEPS_AHEAD)):
            place = (steps + back).clamp(max=LENGTH - 1).expand(len(returns), -1)
            goes_on = 1.0 - found.ended.gather(1, place)
            earned = 1.0 + GAMMA * goes_on * returns
            returns = torch.where(back < ahead, earned, returns)
        return returns


def _scaled(value: torch.Tensor) -> torch.Tensor:
    """R2D2's value rescaling, which compresses large returns."""
    return value.sign() * ((value.abs() + 1.0).sqrt() - 1.0) + 1e-3 * value


def _unscaled(value: torch.Tensor) -> torch.Tensor:
    """Inverse of `_scaled`."""
    root = (1.0 + 4e-3 * (value.abs() + 1.0 + 1e-3)).sqrt()
    return value.sign() * (((root - 1.0) / 2e-3).square() - 1.0)


class _Greedy:
    """Greedy policy of the network."""

    def __init__(self, network: RecurrentQ) -> None:
        self._network = network
        self._hidden = torch.zeros(0, 2 * WIDTH)

    def begin(self, num_envs: int) -> None:
        """Reset the recurrent state, for a number of worlds."""
        self._hidden = torch.zeros(num_envs, 2 * WIDTH)

    def __call__(self, observations: torch.Tensor) -> torch.Tensor:
        """Actions, shape (num_envs,)."""
        values, self._hidden = self._network(observations[:, None], self._hidden)
        return values[:, 0].argmax(dim=-1)

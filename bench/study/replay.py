"""A learner that replays: recurrent double DQN with prioritised sequences.

In the manner of R2D2 (Kapturowski and others 2019): an LSTM whose memory is stored with
each sequence and brought up to date by a burn-in, double Q-learning over several steps,
values rescaled, and sequences drawn by how wrong they were. Several processes act under
Ray where it is installed; otherwise acting and learning take turns in one process,
which changes nothing about what is learned from. It is smaller than R2D2 in every
number, sees neither its last action nor its last reward, and rewards are not clipped.
"""

import time
from typing import Any, Protocol

import torch

from bench.study.acting import BURN_IN, LENGTH, WIDTH, Actor, RecurrentQ, Sequences
from bench.study.peers import start_ray

GAMMA = 0.99
STEPS_AHEAD = 3
"""Steps of reward before the value of a later state counts."""

ROWS = 64
"""Sequences of a step of the optimiser."""

REPLAYED = 4.0
"""Times that a sample is learned from, on average, whatever the number of worlds."""

CAPACITY = 2**14
"""Sequences that are kept."""

LEAST = 2**8
"""Sequences before learning begins."""

ROLLOUT = 16
"""Steps of each world between two looks at the weights."""

TARGET_EVERY = 100
"""Steps of the optimiser between two copies into the target network."""

Weights = dict[str, torch.Tensor]


class Acting(Protocol):
    """Whoever gathers sequences."""

    how: str
    """How, in a word."""

    def collect(self, weights: Weights) -> tuple[int, list[tuple[torch.Tensor, ...]]]:
        """Samples that were taken, and the sequences that became complete."""
        ...

    def close(self) -> None:
        """Let go of everything."""
        ...


class ActingHere:
    """One actor in this process, in turns with learning."""

    how = "in one process"

    def __init__(self, num_envs: int, seed: int) -> None:
        self._num_envs = num_envs
        self._actor = Actor(num_envs, seed, 0, num_envs)

    def collect(self, weights: Weights) -> tuple[int, list[tuple[torch.Tensor, ...]]]:
        """Act for a while."""
        found = self._actor.collect(weights, ROLLOUT)
        return ROLLOUT * self._num_envs, found

    def close(self) -> None:
        """Nothing outlives the tensors."""


class ActingUnderRay:
    """Several processes that act all the time, while this one learns."""

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
        # Nobody's clock should count how long processes take to start.
        ray.get([actor.is_ready.remote() for actor, _ in self._actors])
        for actor, size in self._actors:
            self._sizes[actor.collect.remote(None, ROLLOUT)] = (actor, size)

    def collect(self, weights: Weights) -> tuple[int, list[tuple[torch.Tensor, ...]]]:
        """Take what the first process to be ready has, and send it on."""
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
    """Sequences, of which the oldest make room, drawn by their priorities."""

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
        """Sequences that are there."""

    def add(self, parts: tuple[torch.Tensor, ...]) -> None:
        """Keep sequences, as likely to be drawn as the likeliest."""
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
        """Sequences, their places, and the weights that make up for the choice."""
        chance = self._priority[: self.size] ** 0.9
        places = torch.multinomial(chance, rows, replacement=True)
        share = chance[places] / chance.sum()
        weight = (self.size * share) ** -0.6
        found = Sequences(*(part[places] for part in self._tensors))
        return found, places, weight / weight.max()

    def judge(self, places: torch.Tensor, priority: torch.Tensor) -> None:
        """Say how wrong sequences were."""
        self._priority[places] = priority + 1e-3


class ReplayLearner:
    """Acts and learns in turns. Updates go with samples, whatever the worlds."""

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
        """Act for a while, then learn as much as is due."""
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
        """Let go of everything."""
        self._acting.close()

    def _learn(self) -> None:
        """One step of the optimiser."""
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
        """Returns of several steps, shape (rows, LENGTH).

        Args:
            found: The sequences. Each step earns 1.
            later: Value of each state by the target network, (rows, LENGTH + 1).
        """
        # Behind the last step there is no reward, only the value of the last state.
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
    """R2D2's rescaling, which keeps large returns from drowning small ones."""
    return value.sign() * ((value.abs() + 1.0).sqrt() - 1.0) + 1e-3 * value


def _unscaled(value: torch.Tensor) -> torch.Tensor:
    """The inverse of `_scaled`."""
    root = (1.0 + 4e-3 * (value.abs() + 1.0 + 1e-3)).sqrt()
    return value.sign() * (((root - 1.0) / 2e-3).square() - 1.0)


class _Greedy:
    """The best action by the network."""

    def __init__(self, network: RecurrentQ) -> None:
        self._network = network
        self._hidden = torch.zeros(0, 2 * WIDTH)

    def begin(self, num_envs: int) -> None:
        """Forget everything."""
        self._hidden = torch.zeros(num_envs, 2 * WIDTH)

    def __call__(self, observations: torch.Tensor) -> torch.Tensor:
        """Actions, shape (num_envs,)."""
        values, self._hidden = self._network(observations[:, None], self._hidden)
        return values[:, 0].argmax(dim=-1)

"""Acting of the recurrent off-policy learner: worlds that collect sequences.

Imports few packages, because Ray processes import it again.
"""

from dataclasses import dataclass

import torch

from mjlab.tasks.cartpole.classic import ClassicCartpoleCfg, KernelCartpoles

BURN_IN = 4
"""Burn-in: initial steps of a sequence that only update the recurrent state."""

LENGTH = 20
"""Steps of a sequence, including the burn-in."""

WIDTH = 64
"""Size of the recurrent state."""


class RecurrentQ(torch.nn.Module):
    """Network from observation and recurrent state to the values of both actions."""

    def __init__(self) -> None:
        super().__init__()
        self.enter = torch.nn.Linear(4, WIDTH)
        self.memory = torch.nn.LSTM(WIDTH, WIDTH, batch_first=True)
        self.value = torch.nn.Linear(WIDTH, 1)
        self.gain = torch.nn.Linear(WIDTH, 2)

    def forward(
        self, observations: torch.Tensor, hidden: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the values of sequences, and the recurrent state after them.

        Args:
            observations: Shape (rows, steps, 4).
            hidden: The recurrent state before them, shape (rows, 2 * WIDTH).

        Returns:
            Values, shape (rows, steps, 2), and recurrent state, shape (rows, 2 *
            WIDTH).
        """
        h, c = (part[None].contiguous() for part in hidden.split(WIDTH, dim=1))
        entered = torch.relu(self.enter(observations))
        seen, (h, c) = self.memory(entered, (h, c))
        gain = self.gain(seen)
        values = self.value(seen) + gain - gain.mean(dim=-1, keepdim=True)
        return values, torch.cat([h[0], c[0]], dim=1)


@dataclass
class Sequences:
    """Sequences of steps, each within one episode."""

    observations: torch.Tensor
    """Shape (rows, LENGTH + 1, 4); the last observation is repeated after the last
    step.
    """

    actions: torch.Tensor
    """Shape (rows, LENGTH), int64."""

    ended: torch.Tensor
    """Whether the episode terminated after a step, shape (rows, LENGTH), float32."""

    valid: torch.Tensor
    """1 for steps of the sequence, 0 for padding, shape (rows, LENGTH), float32."""

    burn_in: torch.Tensor
    """Number of steps that overlap with the previous sequence, shape (rows,), int64."""

    hidden: torch.Tensor
    """Recurrent state before the first step, shape (rows, 2 * WIDTH)."""

    def tensors(self) -> tuple[torch.Tensor, ...]:
        """Return all tensors, in order."""
        return (
            self.observations,
            self.actions,
            self.ended,
            self.valid,
            self.burn_in,
            self.hidden,
        )


class Actor:
    """Worlds that act with a network, each with its own exploration rate."""

    def __init__(self, num_envs: int, seed: int, first: int, total: int) -> None:
        """Reset the worlds.

        Args:
            num_envs: Worlds of this actor.
            seed: Random seed.
            first: Global index of its first world.
            total: Number of worlds of all actors.
        """
        torch.manual_seed(seed)
        self.network = RecurrentQ()
        self._worlds = KernelCartpoles(
            ClassicCartpoleCfg(num_envs=num_envs, seed=seed, final_observations=True)
        )
        # As in Ape-X: the exploration rate decreases over worlds, from 0.4 to 0.4**8.
        places = torch.arange(first, first + num_envs) / max(total - 1, 1)
        self._chance = 0.4 ** (1.0 + 7.0 * places)
        rows = num_envs
        self._now = self._worlds.reset()[0]
        self._hidden = torch.zeros(rows, 2 * WIDTH)
        self._place = torch.zeros(rows, dtype=torch.int64)
        self._burned = torch.zeros(rows, dtype=torch.int64)
        self._seen = torch.zeros(rows, LENGTH + 1, 4)
        self._done = torch.zeros(rows, LENGTH, dtype=torch.int64)
        self._over = torch.zeros(rows, LENGTH)
        self._before = torch.zeros(rows, LENGTH, 2 * WIDTH)

    def is_ready(self) -> bool:
        """Return True. Callers wait for this call until the process has started."""
        return True

    def collect(
        self, weights: dict[str, torch.Tensor] | None, steps: int
    ) -> list[tuple[torch.Tensor, ...]]:
        """Act, and return completed sequences.

        Args:
            weights: Network weights. None keeps the current ones.
            steps: Steps of each world.
        """
        if weights is not None:
            self.network.load_state_dict(weights)
        with torch.no_grad():
            found = [self._step() for _ in range(steps)]
        return [sequences.tensors() for sequences in found if sequences is not None]

    def _step(self) -> Sequences | None:
        rows = torch.arange(len(self._now))
        self._seen[rows, self._place] = self._now
        self._before[rows, self._place] = self._hidden
        values, hidden = self.network(self._now[:, None], self._hidden)
        likeliest = values[:, 0].argmax(dim=-1)
        by_chance = torch.rand(len(rows)) < self._chance
        actions = torch.where(by_chance, torch.randint(2, (len(rows),)), likeliest)
        result = self._worlds.step(actions)
        ended = result.terminated | result.truncated
        self._done[rows, self._place] = actions
        self._over[rows, self._place] = result.terminated.float()
        self._place += 1
        self._seen[rows, self._place] = result.extras["final_obs"]
        self._now = result.observations
        self._hidden = torch.where(ended[:, None], 0.0, hidden)
        return self._emit(ended)

    def _emit(self, ended: torch.Tensor) -> Sequences | None:
        """Return completed sequences, and start new ones."""
        full = self._place == LENGTH
        ready = (ended | full).nonzero()[:, 0]
        if not len(ready):
            return None
        place = self._place[ready]
        valid = (torch.arange(LENGTH)[None] < place[:, None]).float()
        sequences = Sequences(
            self._seen[ready],
            self._done[ready],
            self._over[ready] * valid,
            valid,
            self._burned[ready],
            self._before[ready, 0],
        )
        self._place[ready] = 0
        self._burned[ready] = 0
        # A sequence that reached its length continues, with its end as the next
        # burn-in.
        going = (full & ~ended).nonzero()[:, 0]
        tail = slice(LENGTH - BURN_IN, LENGTH)
        self._seen[going, :BURN_IN] = self._seen[going, tail]
        self._done[going, :BURN_IN] = self._done[going, tail]
        self._over[going, :BURN_IN] = self._over[going, tail]
        self._before[going, :BURN_IN] = self._before[going, tail]
        self._place[going] = BURN_IN
        self._burned[going] = BURN_IN
        return sequences

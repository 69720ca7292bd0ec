"""Interface of the environment that managers use, and the episode log."""

from collections.abc import Sequence
from typing import Any, Literal, Protocol

import torch

from mjlab.random import WorldRng
from mjlab.scene import Scene
from mjlab.sim import Simulation

StepOrder = Literal["default", "mjlab"]


class EpisodeLog:
    """Log of episode values. Each key has one value per world and a mean over episodes.

    Managers write values for all worlds. `fold` adds the values of worlds whose
    episodes ended to the averages. Only `take` copies data to the host.
    """

    def __init__(self, num_envs: int, device: torch.device) -> None:
        self._num_envs, self._device = num_envs, device
        self.keys: list[str] = []
        """Log keys, in the order of registration."""
        self._allocate()

    def register(self, keys: Sequence[str]) -> slice:
        """Reserve columns of `values` for `keys`, and return their slice."""
        start = len(self.keys)
        self.keys.extend(keys)
        self._allocate()
        return slice(start, len(self.keys))

    def fold(self, mask: torch.Tensor) -> None:
        """Add the values of the worlds in `mask` to the averages."""
        chosen = torch.where(mask.unsqueeze(1), self._values_and_one, self._zero)
        sums_and_count = chosen.sum(dim=0)
        self._sums_and_count += sums_and_count
        count = sums_and_count[-1]
        # NaN, and discarded, if no episode has ended.
        mean = sums_and_count[:-1] / count
        torch.where(count > 0.0, mean, self._latest, out=self._latest)

    def latest(self) -> dict[str, torch.Tensor]:
        """Return means over the episodes that ended most recently, in one step.

        The values are scalars on the device, and zero until the first episode ends.
        """
        return dict(zip(self.keys, self._latest.clone().unbind(), strict=True))

    def take(self, read: Sequence[float] = ()) -> tuple[dict[str, float], int]:
        """Return means over all episodes since the last call, and the episode count.

        Synchronises with the device, unless `read` holds the result of `drain`.
        """
        *sums, count = read or self.drain().tolist()
        means = [total / max(count, 1.0) for total in sums]
        return dict(zip(self.keys, means, strict=True)), int(count)

    def drain(self) -> torch.Tensor:
        """Return sums over all episodes since the last call, then the episode count.

        The sums are in the order of `keys`. The tensor is on the device; there is no
        synchronisation.
        """
        sums_and_count = self._sums_and_count.clone()
        self._sums_and_count.zero_()
        return sums_and_count

    def state(self) -> dict[str, torch.Tensor]:
        """Return the live state tensors; copy into them to restore a snapshot."""
        return {"sums_and_count": self._sums_and_count, "latest": self._latest}

    def _allocate(self) -> None:
        size = len(self.keys)
        # The last column is one, so that its sum is the number of episodes.
        self._values_and_one = torch.ones(self._num_envs, size + 1, device=self._device)
        self.values = self._values_and_one[:, :-1].zero_()
        """Current values of all worlds, written by managers, (num_envs, keys)."""
        self._zero = torch.zeros((), device=self._device)
        self._sums_and_count = torch.zeros(size + 1, device=self._device)
        self._latest = torch.zeros(size, device=self._device)


class ActionParts(Protocol):
    """Interface of the action manager: the last action, split by term."""

    def part(self, name: str) -> torch.Tensor:
        """Return a term's part of the action, shape (num_envs, action_dim), live."""
        ...


class Env(Protocol):
    """Physics, scene, time and random numbers: the interface that managers use."""

    num_envs: int
    """Number of worlds (parallel environments)."""

    device: torch.device
    """Device of all tensors of the environment."""

    sim: Simulation
    """Physics simulation of all worlds."""

    scene: Scene
    """Entities, sensors and ground."""

    rng: WorldRng
    """Random number generator with one counter per world.

    A draw names its stream, such as "event/push_root". The environment increments every
    world's counter once per step, and once more when that world is reset. Until the
    next increment, a stream returns the same numbers.
    """

    physics_dt: float
    """Duration of a physics step, s."""

    step_dt: float
    """Duration of an environment step, s."""

    max_episode_length_s: float
    """Time limit of an episode, s."""

    max_episode_length: int
    """Time limit of an episode, in environment steps."""

    episode_length_buf: torch.Tensor
    """Steps since each world was reset, shape (num_envs,), int64."""

    common_step_counter: torch.Tensor
    """Steps since the environment was built, shape (), int64."""

    episode_log: EpisodeLog
    """Log of finished episodes."""

    extras: dict[str, Any]
    """Values logged by terms: `extras["log"][name]` is a scalar tensor. Every step
    returns its latest value in the log."""

    @property
    def action_manager(self) -> ActionParts:
        """Action manager, which stores the last action."""
        ...

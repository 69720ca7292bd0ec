"""The environment, as far as managers need it, and its log of episodes."""

from collections.abc import Sequence
from typing import Protocol

import torch

from mjlab.random import WorldRng
from mjlab.scene import Scene
from mjlab.sim import Simulation


class EpisodeLog:
    """Collects one value a key and world when episodes end.

    Managers write their values for all worlds; `fold` adds those of the worlds that
    ended. Nothing is read back until somebody asks for numbers.
    """

    def __init__(self, num_envs: int, device: torch.device) -> None:
        self._num_envs, self._device = num_envs, device
        self.keys: list[str] = []
        """Names of the figures, in the order of registration."""
        self._allocate()

    def register(self, keys: Sequence[str]) -> slice:
        """Reserve columns of `values` for `keys`, and return which they are."""
        start = len(self.keys)
        self.keys.extend(keys)
        self._allocate()
        return slice(start, len(self.keys))

    def fold(self, mask: torch.Tensor) -> None:
        """Take the values of the worlds of `mask` into the averages."""
        chosen = torch.where(mask.unsqueeze(1), self._values_and_one, self._zero)
        sums_and_count = chosen.sum(dim=0)
        self._sums_and_count += sums_and_count
        count = sums_and_count[-1]
        # No number, and not taken, where no episode has ended.
        mean = sums_and_count[:-1] / count
        torch.where(count > 0.0, mean, self._latest, out=self._latest)

    def latest(self) -> dict[str, torch.Tensor]:
        """Return means over the episodes of the last step in which any ended.

        A fresh dictionary of scalars on the device. Before the first episode has
        ended, the values are zero.
        """
        return dict(zip(self.keys, self._latest.clone().unbind(), strict=True))

    def take(self, read: Sequence[float] = ()) -> tuple[dict[str, float], int]:
        """Return means over all episodes since the last call, and their number.

        This waits for the device, unless what `drain` returned has been read already.
        """
        *sums, count = read or self.drain().tolist()
        means = [total / max(count, 1.0) for total in sums]
        return dict(zip(self.keys, means, strict=True)), int(count)

    def drain(self) -> torch.Tensor:
        """Return sums over all episodes since the last call, and last their number.

        On the device, in the order of `keys`; nothing waits for it.
        """
        sums_and_count = self._sums_and_count.clone()
        self._sums_and_count.zero_()
        return sums_and_count

    def state(self) -> dict[str, torch.Tensor]:
        """Return the live tensors that change; copy into them to restore a snapshot."""
        return {"sums_and_count": self._sums_and_count, "latest": self._latest}

    def _allocate(self) -> None:
        size = len(self.keys)
        # The last column is one, so that its sum is the number of episodes.
        self._values_and_one = torch.ones(self._num_envs, size + 1, device=self._device)
        self.values = self._values_and_one[:, :-1].zero_()
        """Present figures of all worlds, which managers write, (num_envs, keys)."""
        self._zero = torch.zeros((), device=self._device)
        self._sums_and_count = torch.zeros(size + 1, device=self._device)
        self._latest = torch.zeros(size, device=self._device)


class ActionParts(Protocol):
    """The last action, by the term that takes a part of it."""

    def part(self, name: str) -> torch.Tensor:
        """Return the part of a term, shape (num_envs, action_dim), live."""
        ...


class Env(Protocol):
    """Physics, scene, time and random numbers: what stands below all managers."""

    num_envs: int
    """Number of worlds. An "env" of other frameworks is a world here."""

    device: torch.device
    """Device of all tensors."""

    sim: Simulation
    """Physics."""

    scene: Scene
    """Entities, sensors and ground."""

    rng: WorldRng
    """Random numbers of the worlds.

    A draw names its stream, such as "event/push_root". The environment moves every
    world's counter on once a step, and once more when a world is reset, so the
    same stream gives new numbers then, and only then.
    """

    physics_dt: float
    """Duration of a physics step, s."""

    step_dt: float
    """Duration of a step of the environment, s."""

    max_episode_length_s: float
    """Duration of an episode that nothing ends before its time, s."""

    max_episode_length: int
    """Steps of an episode that nothing ends before its time."""

    episode_length_buf: torch.Tensor
    """Steps since each world was reset, shape (num_envs,), int64."""

    common_step_counter: torch.Tensor
    """Steps since the environment was built, shape (), int64."""

    episode_log: EpisodeLog
    """Figures of episodes that ended."""

    @property
    def action_manager(self) -> ActionParts:
        """The last action."""
        ...

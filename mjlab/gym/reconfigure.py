"""When the scene of worlds is built anew: on request, or every so many full resets."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from mjlab.envs.autoreset import When
from mjlab.gym.requests import RECONFIGURE, wants_reconfigure
from mjlab.gym.worlds import Outcome, Worlds


class PartialResetError(ValueError):
    """Scenes were to be built anew where rows are reset one by one."""


class Reconfigurations:
    """Counts full resets, and has the worlds build a new scene where it is time.

    A full reset is one that the caller asks for without choosing rows, or an automatic
    one in which all rows end together.
    """

    def __init__(self, worlds: Worlds, freq: int) -> None:
        """Start to count.

        Args:
            worlds: The worlds.
            freq: How many full resets it takes; the last of them builds anew. 0 is
                never, except on request.
        """
        if isinstance(freq, bool) or not isinstance(freq, int) or freq < 0:
            raise ValueError(
                f"reconfiguration_freq={freq!r} has to be a whole number: 0 builds the "
                "scene once, k builds it anew in every k-th full reset."
            )
        self.freq = freq
        self._worlds = worlds
        self._count = 0
        self._is_partial = False
        self._when: When = "never"
        # Whether all rows ended in the step before.
        self._all_ended = False

    def choose(self, when: When, *, ignore_terminations: bool) -> None:
        """Be told when rows that end begin anew."""
        self._when = when
        self._all_ended = False
        resets_by_itself = when != "never" and not ignore_terminations
        self._is_partial = resets_by_itself and self._worlds.num_envs > 1

    def check(self) -> None:
        """Raise if rows may be reset one by one, so that a scene may last for ever."""
        if self.freq and self._is_partial:
            raise PartialResetError(
                f"reconfiguration_freq={self.freq} builds the scene of all "
                f"{self._worlds.num_envs} rows anew in a full reset, but rows are "
                f"reset one by one as they end (autoreset_mode {self._when!r}). Use "
                "autoreset_mode='disabled', or wrap the environment in "
                "VectorEnv(auto_reset=False) or VectorEnv(ignore_terminations=True)."
            )

    def before_reset(
        self,
        options: Mapping[str, Any] | None,
        seeds: Sequence[int | None] | None,
        mask: torch.Tensor | None,
    ) -> dict[str, torch.Tensor]:
        """Build a new scene if it is time.

        Args:
            options: Those of the reset.
            seeds: Seeds of the rows; the first one is that of the scene.
            mask: The rows that are reset. None means all.

        Returns:
            The info of whether there is a new scene, shape (num_envs,), bool. Empty
            where nobody asked and nobody counts.
        """
        self.check()
        asked = wants_reconfigure(options)
        if mask is not None:
            return {}
        self._all_ended = False
        if asked is None and not self.freq:
            return {}
        happens = self._count_one() or bool(asked)
        if happens:
            self._rebuild(seeds[0] if seeds else None)
        return self._said(happens)

    def step(self, actions: torch.Tensor) -> Outcome:
        """Step the worlds; an automatic reset of all rows counts as a full one."""
        if not self.freq or self._when == "never":
            return self._worlds.step(actions)
        if self._all_ended:
            # In the mode "next_step", this step is the reset, and it is time.
            self._all_ended = False
            return self._begun(None)
        outcome = self._worlds.step(actions)
        if not bool((outcome.terminated | outcome.truncated).all()):
            return outcome
        if not self._count_one():
            info = self._said(happened=False)
            return outcome._replace(info=outcome.info | info)
        if self._when == "next_step":
            self._all_ended = True
            return outcome
        return self._begun(outcome)

    def _begun(self, outcome: Outcome | None) -> Outcome:
        """A step that ends in a new scene, with what it was worth in the old one."""
        self._rebuild(None)
        observations, info = self._worlds.reset(None, None)
        info = info | self._said(happened=True)
        if outcome is not None:
            return outcome._replace(observations=observations, info=info)
        nobody = torch.zeros_like(info[RECONFIGURE])
        return Outcome(
            observations, nobody.float(), nobody, nobody.clone(), info, None, {}
        )

    def _count_one(self) -> bool:
        """Count a full reset; return whether it is time."""
        self._count += 1
        return bool(self.freq) and self._count >= self.freq

    def _rebuild(self, seed: int | None) -> None:
        self._worlds.reconfigure(seed)
        self._count = 0

    def _said(self, happened: bool) -> dict[str, torch.Tensor]:
        size = (self._worlds.num_envs,)
        return {RECONFIGURE: torch.full(size, happened, device=self._worlds.device)}

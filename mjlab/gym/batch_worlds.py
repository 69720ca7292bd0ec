"""Any `BatchEnv` as `Worlds`, from which every Gymnasium form is made."""

from collections.abc import Sequence

import numpy as np
import torch
from gymnasium import Space, spaces

from mjlab.envs import Box
from mjlab.envs.autoreset import WHENS, When
from mjlab.envs.batch import BatchEnv, Discrete, Ranges, Step
from mjlab.gym.worlds import Outcome, Tree, to_space
from mjlab.names import suggest


class BatchWorlds:
    """Worlds that do not begin anew by themselves, so that all three modes are theirs.

    `TorchVectorEnv(BatchWorlds(env))` is a Gymnasium `VectorEnv`, on the device.
    """

    def __init__(self, env: BatchEnv, *, frames_per_second: float = 50.0) -> None:
        """Make the spaces.

        Args:
            env: The worlds, with `autoreset=False`: when they begin anew is chosen
                here.
            frames_per_second: Steps in a second of the worlds' own time.
        """
        if env.autoreset:
            raise ValueError(
                "Worlds with autoreset=True begin anew by themselves; Gymnasium's "
                "modes need worlds with autoreset=False."
            )
        self.env = env
        self.num_envs = env.num_envs
        self.device = env.device
        self.frames_per_second = frames_per_second
        self.single_observation_space: Space = _space(env.observation_space)
        self.single_action_space: Space = _space(env.action_space)
        self._when: When = "same_step"
        self._steps = torch.zeros(env.num_envs, dtype=torch.int64, device=env.device)
        self._ended = torch.zeros(env.num_envs, dtype=torch.bool, device=env.device)

    def choose_resets(self, when: When, *, ignore_terminations: bool = False) -> None:
        """Choose when worlds that end begin anew."""
        if when not in WHENS:
            raise ValueError(f"Resets happen at {when!r}? {suggest(str(when), WHENS)}")
        if ignore_terminations:
            raise ValueError(
                "These worlds stand still once they have ended, so "
                "ignore_terminations=True has no meaning for them."
            )
        self._when = when

    def reset(
        self, seeds: Sequence[int | None] | None, mask: torch.Tensor | None
    ) -> tuple[Tree, dict[str, torch.Tensor]]:
        """Begin new episodes; see `Worlds.reset`."""
        if seeds is not None and None in seeds:
            raise ValueError("Give these worlds a seed each, or none at all.")
        given = None if seeds is None else [int(seed or 0) for seed in seeds]
        observations = self.env.reset(seed=given, mask=mask)
        chosen = torch.ones_like(self._ended) if mask is None else mask
        self._begin(chosen)
        return observations, self._info()

    def step(self, actions: torch.Tensor) -> Outcome:
        """Step all worlds; see `Worlds.step`."""
        waiting = self._ended.clone()
        result = self.env.step(actions)
        self._steps.add_(~waiting)
        ended = result.terminated | result.truncated
        if self._when == "same_step":
            return self._begun_at_once(result, ended)
        if self._when == "never":
            self._ended.copy_(ended)
            return self._outcome(result)
        # Those that ended in the step before are reset in place of this one.
        observations = self.env.reset(mask=waiting)
        self._begin(waiting)
        self._ended.copy_(ended & ~waiting)
        return self._outcome(
            Step(
                observations,
                result.reward.masked_fill(waiting, 0.0),
                result.terminated & ~waiting,
                result.truncated & ~waiting,
                None,
            )
        )

    def reconfigure(self, seed: int | None) -> None:
        """Build the scene anew, which there is none of."""
        raise ValueError("These worlds have no scene that could be built anew.")

    def frames(self) -> list[np.ndarray]:
        """A picture of each world, which there is none of."""
        raise NotImplementedError("These worlds cannot be drawn: render_mode=None.")

    def close(self) -> None:
        """Let go of what is held."""
        self.env.close()

    def _begun_at_once(self, result: Step, ended: torch.Tensor) -> Outcome:
        final = self._info()
        observations = self.env.reset(mask=ended)
        self._begin(ended)
        return Outcome(
            observations,
            result.reward,
            result.terminated,
            result.truncated,
            self._info(),
            result.observations,
            final,
        )

    def _outcome(self, result: Step) -> Outcome:
        return Outcome(
            result.observations,
            result.reward,
            result.terminated,
            result.truncated,
            self._info(),
            None,
            {},
        )

    def _begin(self, mask: torch.Tensor) -> None:
        self._steps.masked_fill_(mask, 0)
        self._ended.masked_fill_(mask, False)

    def _info(self) -> dict[str, torch.Tensor]:
        return {"elapsed_steps": self._steps.clone()}


def _space(record: Box | Ranges | Discrete) -> Space:
    """Gymnasium's space of one of our plain records."""
    if isinstance(record, Discrete):
        return spaces.Discrete(record.n)
    if isinstance(record, Ranges):
        low, high = (np.array(ends, np.float32) for ends in (record.low, record.high))
        return spaces.Box(low, high)
    return to_space(record)

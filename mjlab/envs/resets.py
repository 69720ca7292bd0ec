"""When worlds that ended begin anew: in the same step, in the next one, or never."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal, get_args

import torch

from mjlab.masks import fill_where, write_where
from mjlab.names import suggest

if TYPE_CHECKING:
    from mjlab.envs.env import ManagerBasedRlEnv

When = Literal["same_step", "next_step", "never"]
WHENS: tuple[When, ...] = get_args(When)


class Resets:
    """What a step does with worlds whose episodes end.

    "same_step" resets them at the end of the step. With final observations, the step
    first goes on to its end without them, as if there were no reset, and is observed;
    then the worlds that ended are reset as `reset(mask=...)` would reset them.
    "next_step" leaves them as they ended, and resets them in place of their next step.
    "never" leaves it to the caller.
    """

    def __init__(
        self,
        env: "ManagerBasedRlEnv",
        when: When = "same_step",
        *,
        ignore_terminations: bool = False,
        final_obs: bool = False,
    ) -> None:
        """Allocate what the choice needs.

        Args:
            env: The environment.
            when: When worlds that ended begin anew.
            ignore_terminations: Whether only time ends episodes. A world whose numbers
                are not finite ends all the same.
            final_obs: Whether "same_step" observes worlds before it resets them.
        """
        if when not in WHENS:
            raise ValueError(f"Resets happen at {when!r}? " + suggest(str(when), WHENS))
        self.when: When = when
        self.ignore_terminations = ignore_terminations
        self.shows_ends: bool = final_obs and when == "same_step"
        """Whether a step observes the worlds that end before it resets them."""
        self._env = env
        # Worlds that ended in the step before, and are reset instead of stepped.
        self._waiting = torch.zeros(env.num_envs, dtype=torch.bool, device=env.device)
        self._episode = _tensors_of_episodes(env) if when == "next_step" else []
        self._kept = [torch.zeros_like(tensor) for tensor in self._episode]

    @property
    def waiting(self) -> torch.Tensor:
        """Worlds that are reset in place of this step, shape (num_envs,), bool."""
        return self._waiting

    def is_choice(self, when: When, ignore_terminations: bool, shows: bool) -> bool:
        """Whether this is what was chosen."""
        chosen = (self.when, self.ignore_terminations, self.shows_ends)
        return chosen == (when, ignore_terminations, shows and when == "same_step")

    def forget(self, mask: torch.Tensor) -> None:
        """Be told that the worlds of `mask` are reset by somebody else."""
        if self.when == "next_step":
            self._env.termination_manager.spare(mask)

    def begin(self) -> None:
        """At the start of a step, find the worlds that are reset instead of stepped."""
        if self.when != "next_step":
            return
        env = self._env
        self._waiting.copy_(env.termination_manager.dones)
        with env.sim.reads.thaw(), env.sim.reads.before_forward():
            env.curriculum_manager.compute(self._waiting)
        # Physics goes on everywhere; here from numbers that are certainly finite.
        env.sim.reset(self._waiting)
        fill_where(env._action, self._waiting, 0.0)
        for kept, tensor in zip(self._kept, self._episode, strict=True):
            kept.copy_(tensor)

    def settle(self) -> None:
        """After flags, rewards and metrics, take back what does not count."""
        terminations = self._env.termination_manager
        if self.ignore_terminations:
            terminations.keep_time_outs(self._env.quarantine.found)
        if self.when != "next_step":
            return
        for kept, tensor in zip(self._kept, self._episode, strict=True):
            write_where(tensor, self._waiting, kept)
        fill_where(self._env.reward_manager.reward, self._waiting, 0.0)
        terminations.spare(self._waiting)

    def happen(self) -> None:
        """Reset the worlds whose turn it is, before `forward()`."""
        env = self._env
        if self.when == "same_step" and not self.shows_ends:
            dones = env.termination_manager.dones
            env.phases.conclude(dones)
            self._begin(dones)
        elif self.when == "next_step":
            self._begin(self._waiting)

    def happen_late(self) -> None:
        """Reset the worlds that ended, after they have been observed."""
        if not self.shows_ends:
            return
        env = self._env
        _keep(env._final_obs, env.observation_manager.output, env.quarantine.found)
        dones = env.termination_manager.dones
        # The native engine lies on the host, which reads its own memory for nothing.
        reads_freely = env.sim.backend.engine == "native" and env.sim.reads.frozen
        with env.sim.reads.thaw(), env.sim.reads.before_forward():
            env.phases.conclude(dones)
            if reads_freely and not bool(dones.any()):
                return
            self._begin(dones)
        env.phases.update_kinematics(dones)
        env.phases.fetch(dones)

    def _begin(self, mask: torch.Tensor) -> None:
        self._env.phases.initialise(mask)
        self._env.phases.apply(mask)


def _tensors_of_episodes(env: "ManagerBasedRlEnv") -> list[torch.Tensor]:
    """What a step adds to, and what a reset reads before it clears it."""
    metrics = env.metrics_manager.state()
    outcomes = env.outcome_manager.state()
    return [
        env.episode_length_buf,
        env.reward_manager.episode_sums,
        env.termination_manager.state()["values"],
        *(metrics[f"{part}.{key}"] for part in _PARTS for key in _FIGURES),
        *(outcomes[key] for key in ("now", "once") if key in outcomes),
    ]


_PARTS = ("step", "substep")
_FIGURES = ("figures", "samples")


def _keep(
    target: dict[str, torch.Tensor | dict[str, torch.Tensor]],
    source: Mapping[str, torch.Tensor | dict[str, torch.Tensor]],
    lost: torch.Tensor,
) -> None:
    """Keep what was observed; zeros in the worlds whose numbers were not finite."""
    for group, value in source.items():
        place = target[group]
        values = value.values() if isinstance(value, dict) else [value]
        places = place.values() if isinstance(place, dict) else [place]
        for term, kept in zip(values, places, strict=True):
            kept.copy_(term)
            fill_where(kept, lost, 0)

"""skrl: a `Wrapper` of many worlds.

Copy this file next to your program:

    env = SkrlEnv(mjlab.make("Velocity-G1", num_envs=64), seed=0)
"""

from typing import Any

import torch
from gymnasium import Space, spaces
from gymnasium.vector import AutoresetMode
from skrl.envs.wrappers.torch import (  # pyright: ignore[reportMissingImports]
    Wrapper,
)
from skrl.utils.spaces.torch import (  # pyright: ignore[reportMissingImports]
    flatten_tensorized_space,
    tensorize_space,
    unflatten_tensorized_space,
)

from mjlab.gym.worlds import Info
from mjlab.gym.wrappers import TensorEnv

CRITIC = "critic"
"""Observation group of the critic, which is skrl's state."""


class SkrlEnv(Wrapper):
    """An environment with tensors as a `Wrapper` of skrl; no data leaves the device.

    skrl's own `wrap_env` also supports these environments, through NumPy. Here the
    observation group "critic" is skrl's state, and `info["final_obs"]` and
    `info["final_states"]` are flat like the observations: the terminal observations
    before the reset, which `SeesEnds` passes to an agent.
    """

    def __init__(self, env: TensorEnv, *, seed: int | None = None) -> None:
        """Wrap an environment in the mode SAME_STEP.

        Args:
            env: Result of `mjlab.make`, or a wrapper around it.
            seed: Seed of the first reset. None continues the current sequence.
        """
        if env.autoreset_mode is not AutoresetMode.SAME_STEP:
            raise ValueError(
                "skrl expects finished worlds to be reset in the same step. Create the "
                "environment with autoreset_mode='same_step'."
            )
        super().__init__(env)
        self._seed = seed
        shown = env.single_observation_space
        self._states_apart = isinstance(shown, spaces.Dict) and CRITIC in shown.spaces
        self._now: tuple[torch.Tensor, torch.Tensor | None, Info] | None = None

    @property
    def observation_space(self) -> Space:
        """Observation space of the policy: a group, or a Dict of several."""
        shown = self._env.single_observation_space
        if not self._states_apart:
            return shown
        others = {key: part for key, part in shown.items() if key != CRITIC}
        return next(iter(others.values())) if len(others) == 1 else spaces.Dict(others)

    @property
    def state_space(self) -> Space | None:
        """Observation space of the critic, if the group "critic" exists."""
        return (
            self._env.single_observation_space[CRITIC] if self._states_apart else None
        )

    @property
    def action_space(self) -> Space:
        """Action space of one world."""
        return self._env.single_action_space

    def reset(self) -> tuple[torch.Tensor, Info]:
        """Reset at the first call. Later calls return the current observations."""
        if self._now is None:
            observations, info = self._env.reset(seed=self._seed)
            self._now = (*self._flat(observations), info)
        return self._now[0], self._now[2]

    def step(self, actions: torch.Tensor) -> tuple[Any, ...]:
        """Step all worlds; flags and rewards have shape (num_envs, 1)."""
        given = unflatten_tensorized_space(self.action_space, actions)
        if isinstance(self.action_space, spaces.Discrete):
            given = given.flatten()
        observations, reward, terminated, truncated, info = self._env.step(given)
        final, states = self._flat(info["final_obs"])
        info = info | {"final_obs": final, "final_states": states}
        self._now = (*self._flat(observations), info)
        columns = (value.view(-1, 1) for value in (reward, terminated, truncated))
        return (self._now[0], *columns, info)

    def state(self) -> torch.Tensor | None:
        """Return the current observations of the critic."""
        return None if self._now is None else self._now[1]

    def render(self, *args: Any, **kwargs: Any) -> Any:
        """Return an image of each row, or None without a render mode."""
        return self._env.render()

    def close(self) -> None:
        """Close the worlds."""
        self._env.close()

    def _flat(self, tree: Any) -> tuple[torch.Tensor, torch.Tensor | None]:
        """Return observations and states as flat tensors, for skrl's models."""
        if not self._states_apart:
            return _flat(self.observation_space, tree), None
        others = {key: value for key, value in tree.items() if key != CRITIC}
        seen = next(iter(others.values())) if len(others) == 1 else others
        return _flat(self.observation_space, seen), _flat(
            self.state_space, tree[CRITIC]
        )


class SeesEnds:
    """Mixin before an agent class of skrl: `class Agent(SeesEnds, PPO)`.

    skrl passes `next_observations` of finished worlds to the value network, to
    bootstrap truncated episodes, or stores them. If worlds are reset in the same step,
    these are observations of the next episode. This mixin replaces them by the terminal
    observations. A world that terminates and is truncated in the same step counts as
    terminated only, because skrl adds the bootstrapped value to the reward of truncated
    episodes.
    """

    def record_transition(self, **transition: Any) -> None:
        """Record a transition of a `SkrlEnv`."""
        info = transition["infos"]
        ended = info["_final_obs"].unsqueeze(1)
        changed = {"next_observations": "final_obs", "next_states": "final_states"}
        for key, last in changed.items():
            if transition[key] is not None:
                transition[key] = torch.where(ended, info[last], transition[key])
        transition["truncated"] = transition["truncated"] & ~transition["terminated"]
        super().record_transition(**transition)  # pyright: ignore[reportAttributeAccessIssue]


def _flat(space: Space | None, value: Any) -> torch.Tensor:
    flat = flatten_tensorized_space(tensorize_space(space, value))
    assert flat is not None  # None only for agents without a critic.
    return flat

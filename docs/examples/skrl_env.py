"""skrl: a `Wrapper` of many worlds. Copy this file beside your program.

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
"""The observation group that only the value network sees: skrl's state."""


class SkrlEnv(Wrapper):
    """An environment with tensors as a `Wrapper` of skrl; nothing leaves the device.

    skrl's own `wrap_env` takes these environments as well, by way of NumPy. Here the
    observation group "critic" is skrl's state, and `info["final_obs"]` and
    `info["final_states"]` are flat like the observations: what rows saw last before
    they began anew, which `SeesEnds` gives to an agent.
    """

    def __init__(self, env: TensorEnv, *, seed: int | None = None) -> None:
        """Take over an environment in the mode SAME_STEP.

        Args:
            env: What `mjlab.make` returns, or a wrapper around it.
            seed: Seed of the first reset. None goes on with the present numbers.
        """
        if env.autoreset_mode is not AutoresetMode.SAME_STEP:
            raise ValueError(
                "skrl expects rows to begin anew in the step in which they end. Make "
                "the environment with autoreset_mode='same_step'."
            )
        super().__init__(env)
        self._seed = seed
        shown = env.single_observation_space
        self._states_apart = isinstance(shown, spaces.Dict) and CRITIC in shown.spaces
        self._now: tuple[torch.Tensor, torch.Tensor | None, Info] | None = None

    @property
    def observation_space(self) -> Space:
        """Observations of one policy: a group, or a Dict of several."""
        shown = self._env.single_observation_space
        if not self._states_apart:
            return shown
        others = {key: part for key, part in shown.items() if key != CRITIC}
        return next(iter(others.values())) if len(others) == 1 else spaces.Dict(others)

    @property
    def state_space(self) -> Space | None:
        """What the value network sees, where there is a group "critic"."""
        return (
            self._env.single_observation_space[CRITIC] if self._states_apart else None
        )

    @property
    def action_space(self) -> Space:
        """Actions of one world."""
        return self._env.single_action_space

    def reset(self) -> tuple[torch.Tensor, Info]:
        """Begin. Later calls show what there is: rows begin anew by themselves."""
        if self._now is None:
            observations, info = self._env.reset(seed=self._seed)
            self._now = (*self._flat(observations), info)
        return self._now[0], self._now[2]

    def step(self, actions: torch.Tensor) -> tuple[Any, ...]:
        """Step all rows; flags and rewards have shape (num_envs, 1)."""
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
        """What the value network sees now."""
        return None if self._now is None else self._now[1]

    def render(self, *args: Any, **kwargs: Any) -> Any:
        """A picture of each row, or None without a render mode."""
        return self._env.render()

    def close(self) -> None:
        """Let go of the worlds."""
        self._env.close()

    def _flat(self, tree: Any) -> tuple[torch.Tensor, torch.Tensor | None]:
        """Observations and states as skrl's models take them."""
        if not self._states_apart:
            return _flat(self.observation_space, tree), None
        others = {key: value for key, value in tree.items() if key != CRITIC}
        seen = next(iter(others.values())) if len(others) == 1 else others
        return _flat(self.observation_space, seen), _flat(
            self.state_space, tree[CRITIC]
        )


class SeesEnds:
    """Put before an agent of skrl: `class Agent(SeesEnds, PPO)`.

    skrl hands `next_observations` of rows that ended to the value network, to estimate
    what a truncated episode would still have brought, or keeps them for later. These
    are those of the next episode where rows begin anew in the same step. An agent with
    this in front gets the episode's own last ones. A row that terminates in the step in
    which it is truncated counts as terminated only, since skrl adds the value of what
    follows to the reward of a truncated row.
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
    assert flat is not None  # Only where there is no value.
    return flat

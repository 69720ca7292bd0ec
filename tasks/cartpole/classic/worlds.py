"""Base class of both classic cartpoles: state tensors, seeds, resets and results."""

from typing import Any

import torch

from mjlab.envs import Step
from mjlab.envs.autoreset import check_when, reset_ended
from mjlab.envs.worlds import When
from mjlab.random import WorldRng
from mjlab.tasks.cartpole.classic.equations import (
    ACTION_SPACE,
    MAX_ANGLE,
    MAX_POSITION,
    OBSERVATION_SPACE,
    TAU,
    ClassicCartpoleCfg,
    ClassicCartpoleError,
    check,
)


class WorldTensors:
    """Tensors of a number of worlds, updated in place."""

    def __init__(self, cfg: ClassicCartpoleCfg, device: torch.device) -> None:
        num = cfg.num_envs
        bools = {"dtype": torch.bool, "device": device}
        self.state = torch.zeros(num, 4, device=device)
        """Position, velocity, angle, angular velocity, shape (num_envs, 4); also the
        observation."""
        self.steps = torch.zeros(num, dtype=torch.int32, device=device)
        """Steps of the current episode, shape (num_envs,)."""
        self.reward = torch.zeros(num, device=device)
        """Reward of the last step, shape (num_envs,)."""
        self.terminated = torch.zeros(num, **bools)
        """Termination in the last step, shape (num_envs,)."""
        self.truncated = torch.zeros(num, **bools)
        """Truncation in the last step, shape (num_envs,)."""
        self.final = torch.zeros(num if cfg.final_observations else 0, 4, device=device)
        """Terminal observation, shape (num_envs or 0, 4)."""


class ClassicWorlds:
    """Base class of classic cartpoles; subclasses implement step and reset."""

    single_observation_space = OBSERVATION_SPACE
    single_action_space = ACTION_SPACE
    step_dt = TAU

    def __init__(
        self, cfg: ClassicCartpoleCfg, device: torch.device | str = "cpu"
    ) -> None:
        """Allocate the tensors. The subclass must then reset all worlds.

        Args:
            cfg: Settings of the worlds. Not modified.
            device: Device of the worlds.
        """
        check(cfg)
        self.cfg = cfg
        self.num_envs = cfg.num_envs
        self.device = torch.device(device)
        self.max_episode_length = cfg.max_steps
        self.rng = WorldRng(cfg.num_envs, cfg.seed, self.device)
        """Seed of each world, and its counter, which counts its episodes."""
        self.memory = WorldTensors(cfg, self.device)
        self.everyone = torch.ones(cfg.num_envs, dtype=torch.bool, device=self.device)
        self._resets: When = "never"

    # Interface.

    @property
    def episode_length_buf(self) -> torch.Tensor:
        """Steps since the last reset of each world, shape (num_envs,), int32, live."""
        return self.memory.steps

    def choose_resets(
        self,
        when: When,
        *,
        ignore_terminations: bool = False,
        final_obs: bool | None = None,
    ) -> None:
        """Choose when finished worlds are reset; see `mjlab.envs.Worlds`."""
        check_when(when)
        if ignore_terminations:
            raise ClassicCartpoleError(
                "ignore_terminations=True is not supported, because finished worlds do "
                "not move until they are reset."
            )
        cfg = self.cfg
        lacks_final = final_obs and not cfg.final_observations
        if cfg.autoreset and (when != "same_step" or lacks_final):
            raise ClassicCartpoleError(
                "Worlds with autoreset=True are reset in the same step. Use "
                "autoreset=False for other modes, and for terminal observations "
                "without final_observations=True."
            )
        if cfg.results == "live" and not cfg.autoreset and when != "never":
            raise ClassicCartpoleError(
                "With results='live' resets would overwrite the results of the step; "
                "use 'copied'."
            )
        self._resets = "never" if cfg.autoreset else when

    def reset(
        self, *, seed: int | list[int] | None = None, mask: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, dict[str, Any]]:
        """Start new episodes; see `mjlab.envs.Worlds`."""
        mask = self.everyone if mask is None else self._checked_mask(mask)
        if seed is not None:
            self.rng.reseed(mask, self._world_seeds(seed))
        return self._begun(mask), {}

    def step(self, actions: torch.Tensor, /) -> Step[torch.Tensor]:
        """Advance every world by one step.

        Args:
            actions: Shape (num_envs,), int64: 1 pushes right, and 0 left.
        """
        if actions.shape != (self.num_envs,) or actions.dtype != torch.int64:
            raise ClassicCartpoleError(
                f"actions have shape {tuple(actions.shape)} and type {actions.dtype}; "
                f"they need shape ({self.num_envs},) and type torch.int64."
            )
        if self._resets == "never":
            self._step(actions)
            return self._results()
        held_back = self.memory.terminated | self.memory.truncated
        self._step(actions)
        return reset_ended(self._results(), self._resets, held_back, self._begun)

    def set_state(self, state: torch.Tensor, steps: torch.Tensor | None = None) -> None:
        """Set the state of all worlds, from which their episodes continue.

        Synchronises with the device, to check that the state is within the observation
        space.

        Args:
            state: Shape (num_envs, 4), as in `WorldTensors.state`.
            steps: Steps of the episodes so far, shape (num_envs,). None means 0.
        """
        largest = state[:, [0, 2]].abs().amax(dim=0).tolist()
        if not (largest[0] <= 2 * MAX_POSITION and largest[1] <= 2 * MAX_ANGLE):
            raise ClassicCartpoleError(
                f"The state has a position of {largest[0]:.3g} m and an angle of "
                f"{largest[1]:.3g} rad; the observation space ends at "
                f"{2 * MAX_POSITION} m and {2 * MAX_ANGLE:.3g} rad."
            )
        self.memory.state.copy_(state)
        self.memory.terminated.zero_()
        self.memory.truncated.zero_()
        if steps is None:
            self.memory.steps.zero_()
        else:
            self.memory.steps.copy_(steps)

    def close(self) -> None:
        """Do nothing: no resource has to be released."""

    # Implemented by subclasses.

    def _reset(self, mask: torch.Tensor) -> None:
        raise NotImplementedError

    def _step(self, actions: torch.Tensor) -> None:
        raise NotImplementedError

    # Results.

    def _begun(self, mask: torch.Tensor) -> torch.Tensor:
        self._reset(mask)
        return self._result(self.memory.state)

    def _results(self) -> Step[torch.Tensor]:
        memory = self.memory
        final = {}
        if self.cfg.final_observations:
            final = {"final_obs": self._result(memory.final)}
        return Step(
            self._result(memory.state),
            self._result(memory.reward),
            self._result(memory.terminated),
            self._result(memory.truncated),
            final,
        )

    def _result(self, value: torch.Tensor) -> torch.Tensor:
        if self.cfg.results == "live":
            return value
        if self.cfg.results == "host" and value.is_cuda:
            return value.cpu()
        return value.clone()

    def _checked_mask(self, mask: torch.Tensor) -> torch.Tensor:
        if mask.shape != (self.num_envs,) or mask.dtype != torch.bool:
            raise ClassicCartpoleError(
                f"mask has shape {tuple(mask.shape)} and type {mask.dtype}; it needs "
                f"shape ({self.num_envs},) and type torch.bool."
            )
        return mask

    def _world_seeds(self, seed: int | list[int]) -> torch.Tensor:
        if isinstance(seed, int):
            seeds = torch.arange(seed, seed + self.num_envs)
        else:
            if len(seed) != self.num_envs:
                raise ClassicCartpoleError(
                    f"seed has {len(seed)} entries for {self.num_envs} worlds."
                )
            seeds = torch.tensor(seed, dtype=torch.int64)
        return seeds.to(self.device)

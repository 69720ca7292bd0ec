"""Wrappers that control when episodes are reset."""

from typing import Any

import torch
from gymnasium.vector import AutoresetMode
from gymnasium.vector import VectorEnv as GymVectorEnv

from mjlab.gym.build import make
from mjlab.gym.resets import to_mode
from mjlab.gym.torch_env import FINAL, with_masks
from mjlab.gym.worlds import Info, Tree, where_tree
from mjlab.gym.wrappers import Stepped, TensorWrapper, Wrapped
from mjlab.tensors.masks import fill_where

OUTCOMES = ("success", "fail")
"""Outcomes that a task can declare."""


class VectorEnv(TensorWrapper):
    """Outermost wrapper, with the interface of ManiSkill's vector environment.

    With `auto_reset`, finished worlds are reset in the same step. The infos of every
    step then contain `final_observation` and `final_info` for all worlds. The masks
    `_final_observation` and `_final_info` mark the worlds that finished. `final_obs` is
    the same tensor as `final_observation`.

    With `record_metrics`, the infos of every step contain `episode` for all worlds: the
    `return` so far, `episode_len`, the mean `reward`, and `success_once` and
    `fail_once` if the task declares these outcomes. With `ignore_terminations`, they
    also contain `success_at_end` and `fail_at_end`, at the current step. In worlds that
    finish in this step, `episode` and `final_info` refer to the complete episode.
    """

    def __init__(
        self,
        env: Wrapped,
        *,
        auto_reset: bool = True,
        ignore_terminations: bool = False,
        record_metrics: bool = False,
    ) -> None:
        """Wrap an environment, and choose when its worlds are reset.

        Args:
            env: The environment. Do not add another wrapper around this one.
            auto_reset: Reset finished worlds. Otherwise they continue.
            ignore_terminations: End episodes by time limits only.
            record_metrics: Add episode metrics to infos.
        """
        super().__init__(env)
        self.auto_reset = auto_reset
        self.ignore_terminations = ignore_terminations
        self.record_metrics = record_metrics
        chosen = AutoresetMode.SAME_STEP if auto_reset else AutoresetMode.DISABLED
        self.use_autoreset(
            chosen, ignore_terminations=ignore_terminations, goes_on=True
        )
        self._metrics = _Metrics(self.num_envs, self.device, ignore_terminations)

    def reset(
        self, *, seed: Any = None, options: dict[str, Any] | None = None
    ) -> tuple[Tree, Info]:
        """Start new episodes, and reset their metrics."""
        rows = self.rows_of(options)
        result = self.env.reset(seed=seed, options=options)
        self._metrics.reset(rows)
        return result

    def step(self, actions: Any) -> Stepped:
        """Step all worlds."""
        observations, reward, terminated, truncated, info = self.env.step(actions)
        info = dict(info)
        if self.record_metrics:
            last = info["final_info"] if self.auto_reset else info
            episode = self._metrics.update(reward, last)
            info["episode"] = episode
            info["_episode"] = torch.ones_like(terminated)
        if self.auto_reset:
            self._add_final(info)
            self._metrics.reset(terminated | truncated)
        return observations, reward, terminated, truncated, info

    def _add_final(self, info: Info) -> None:
        """Add ManiSkill's names, and the episode's metrics to the final info."""
        ended = info["_final_obs"]
        info["final_observation"] = info["final_obs"]
        info["_final_observation"] = ended.clone()
        if self.record_metrics:
            episode = {key: value.clone() for key, value in info["episode"].items()}
            info["final_info"] = info["final_info"] | {
                "episode": episode,
                "_episode": ended.clone(),
            }


class ManiSkillVectorEnv(VectorEnv):
    """`VectorEnv` with the arguments of ManiSkill's class."""

    def __init__(
        self,
        env: Wrapped | str,
        num_envs: int | None = None,
        auto_reset: bool = True,
        ignore_terminations: bool = False,
        record_metrics: bool = False,
        **settings: Any,
    ) -> None:
        """Wrap an environment, or create it.

        Args:
            env: An environment, a task id or a Gymnasium id.
            num_envs: Number of worlds, 1 by default if `env` is an id.
            auto_reset: Reset finished worlds. Otherwise they continue.
            ignore_terminations: End episodes by time limits only.
            record_metrics: Add episode metrics to infos.
            **settings: Settings of `mjlab.gym.make`, if `env` is an id.
        """
        if isinstance(env, str):
            env = make(env, num_envs=1 if num_envs is None else num_envs, **settings)
        elif settings:
            raise TypeError(
                f"{', '.join(settings)} can be set only if env is an id, but it is an "
                "environment. Pass these settings to mjlab.make or gymnasium.make, "
                "which create the environment."
            )
        super().__init__(
            env,
            auto_reset=auto_reset,
            ignore_terminations=ignore_terminations,
            record_metrics=record_metrics,
        )
        if num_envs not in (None, self.num_envs):
            raise ValueError(
                f"num_envs={num_envs}, but the environment has {self.num_envs} worlds. "
                "Leave num_envs out, or create the environment with it."
            )

    @property
    def base_env(self) -> GymVectorEnv:
        """The innermost environment, called `base_env` as in ManiSkill."""
        return self.unwrapped


class ActionRepeat(TensorWrapper):
    """Applies each action for `repeat` steps, and sums the rewards.

    A world that finishes before the last repeat gets no further reward, and keeps the
    flags, observation and info of the step in which it finished. Physics continues to
    step it, without effect on the outputs. The wrapped environment's automatic resets
    are disabled; this wrapper resets worlds instead, by the autoreset mode.
    """

    def __init__(self, env: Wrapped, repeat: int) -> None:
        """Wrap an environment.

        Args:
            env: The environment.
            repeat: Number of steps per action.
        """
        super().__init__(env)
        if repeat < 1:
            raise ValueError(f"repeat={repeat} has to be 1 or more.")
        self.repeat = repeat
        self._ended = self.no_rows()
        self._mode = self._below.autoreset_mode
        self.use_autoreset(self._mode)

    @property
    def autoreset_mode(self) -> AutoresetMode:
        """Autoreset mode: when finished worlds are reset."""
        return self._mode

    def use_autoreset(
        self,
        mode: AutoresetMode | str,
        *,
        ignore_terminations: bool = False,
        goes_on: bool = False,
    ) -> None:
        """Set the autoreset mode; see `TorchVectorEnv`."""
        self._mode = to_mode(mode)
        self.use_inner_autoreset(
            AutoresetMode.DISABLED,
            ignore_terminations=ignore_terminations,
            goes_on=True,
        )
        self.metadata = self.env.metadata | {"autoreset_mode": self._mode}

    def reset(
        self, *, seed: Any = None, options: dict[str, Any] | None = None
    ) -> tuple[Tree, Info]:
        """Start new episodes."""
        self._ended = self._ended & ~self.rows_of(options)
        return self.env.reset(seed=seed, options=options)

    def step(self, actions: Any) -> Stepped:
        """Step all worlds `repeat` times."""
        waiting = self.no_rows()
        if self._mode is AutoresetMode.NEXT_STEP:
            waiting = self._ended
        last, reward, terminated, truncated, last_info = self._repeated(
            actions, waiting
        )
        self._ended = ended = terminated | truncated
        if self._mode is AutoresetMode.DISABLED:
            return last, reward, terminated, truncated, last_info
        is_same_step = self._mode is AutoresetMode.SAME_STEP
        rows = ended if is_same_step else waiting
        observations, info = self._begun(rows, last, last_info)
        if is_same_step:
            final = (last, with_masks(_values(last_info), ended))
            info = info | with_masks(dict(zip(FINAL, final, strict=True)), ended)
        return observations, reward, terminated, truncated, info

    def _repeated(self, actions: Any, stopped: torch.Tensor) -> Stepped:
        """Step `repeat` times with one action, and sum the rewards.

        A world that finishes keeps the observation, flags and info of that step.
        """
        observations, reward, terminated, truncated, info = self.env.step(actions)
        goes_on = ~stopped
        reward, terminated, truncated = (
            reward * goes_on,
            terminated & goes_on,
            truncated & goes_on,
        )
        for _ in range(self.repeat - 1):
            goes_on = goes_on & ~(terminated | truncated)
            seen, more, ends, cut, news = self.env.step(actions)
            observations = where_tree(goes_on, seen, observations)
            info = {key: where_tree(goes_on, news[key], info[key]) for key in info}
            reward = reward + more * goes_on
            terminated = terminated | (ends & goes_on)
            truncated = truncated | (cut & goes_on)
        return observations, reward, terminated, truncated, info

    def _begun(
        self, rows: torch.Tensor, observations: Tree, info: Info
    ) -> tuple[Tree, Info]:
        """Reset some worlds; return observations and infos of all worlds afterwards."""
        # On a CUDA device, resetting no world costs less than a check, which
        # synchronises.
        if rows.device.type == "cpu" and not bool(rows.any()):
            return observations, info
        begun, news = self.env.reset(options={"reset_mask": rows})
        everyone = torch.ones_like(rows)
        values = {
            key: where_tree(rows, value, info[key])
            for key, value in _values(news).items()
        }
        return where_tree(rows, begun, observations), with_masks(values, everyone)


ActionRepeatWrapper = ActionRepeat
"""Alias of `ActionRepeat`, for code written for ManiSkill."""


class _Metrics:
    """Metrics of each world's current episode."""

    def __init__(
        self, num_envs: int, device: torch.device, ignore_terminations: bool
    ) -> None:
        self._at_end = ignore_terminations
        self._return = torch.zeros(num_envs, device=device)
        self._steps = torch.zeros(num_envs, dtype=torch.int64, device=device)
        self._once = {
            name: torch.zeros(num_envs, dtype=torch.bool, device=device)
            for name in OUTCOMES
        }

    def update(self, reward: torch.Tensor, info: Info) -> dict[str, torch.Tensor]:
        """Add a step; return the metrics as new tensors.

        Args:
            reward: Reward of the step.
            info: Info at the end of the step, before any reset.
        """
        self._return += reward
        self._steps += 1
        figures = {
            "return": self._return.clone(),
            "episode_len": self._steps.clone(),
            "reward": self._return / self._steps,
        }
        for name in OUTCOMES:
            if name not in info:
                continue
            self._once[name] |= info[name]
            figures[f"{name}_once"] = self._once[name].clone()
            if self._at_end:
                figures[f"{name}_at_end"] = info[name].clone()
        return figures

    def reset(self, rows: torch.Tensor) -> None:
        """Reset the metrics of the worlds in the mask `rows`, shape (num_envs,)."""
        for tensor in (self._return, self._steps, *self._once.values()):
            fill_where(tensor, rows, 0)


def _values(info: Info) -> dict[str, torch.Tensor]:
    """Return the entries of an info, without their masks."""
    return {key: value for key, value in info.items() if not key.startswith("_")}

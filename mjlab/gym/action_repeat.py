"""The same action for several steps."""

from typing import Any

import torch
from gymnasium.vector import AutoresetMode

from mjlab.gym.requests import to_mode
from mjlab.gym.torch_env import Info, with_masks
from mjlab.gym.trees import where_tree
from mjlab.gym.worlds import Tree
from mjlab.gym.wrapper import Stepped, TensorEnv, TensorWrapper


class ActionRepeat(TensorWrapper):
    """Takes each action `repeat` times, and adds up the rewards.

    A row that ends on the way stops there: it gets no further reward, and keeps its
    flags, observation and info of that moment. Physics goes on below, unseen, until the
    row begins anew as the mode says; so the environment is told to reset nothing by
    itself, and this wrapper does.
    """

    def __init__(self, env: TensorEnv, repeat: int) -> None:
        """Wrap an environment.

        Args:
            env: The environment.
            repeat: How many steps an action is taken.
        """
        super().__init__(env)
        if repeat < 1:
            raise ValueError(f"repeat={repeat} has to be 1 or more.")
        self.repeat = repeat
        self._ended = self.no_rows()
        self._mode = env.autoreset_mode
        self.use_autoreset(self._mode)

    @property
    def autoreset_mode(self) -> AutoresetMode:
        """When rows that end begin anew."""
        return self._mode

    def use_autoreset(
        self,
        mode: AutoresetMode | str,
        *,
        ignore_terminations: bool = False,
        goes_on: bool = False,
    ) -> None:
        """Choose anew when rows that end begin anew; see `TorchVectorEnv`."""
        self._mode = to_mode(mode)
        self.env.use_autoreset(
            AutoresetMode.DISABLED,
            ignore_terminations=ignore_terminations,
            goes_on=True,
        )
        self.metadata = self.env.metadata | {"autoreset_mode": self._mode}

    def reset(
        self, *, seed: Any = None, options: dict[str, Any] | None = None
    ) -> tuple[Tree, Info]:
        """Begin new episodes."""
        self._ended = self._ended & ~self.rows_of(options)
        return self.env.reset(seed=seed, options=options)

    def step(self, actions: Any) -> Stepped:
        """Step all rows `repeat` times."""
        waiting = self.no_rows()
        if self._mode is AutoresetMode.NEXT_STEP:
            waiting = self._ended
        observations, reward, terminated, truncated, info = self._repeated(
            actions, waiting
        )
        self._ended = terminated | truncated
        result = (reward, terminated, truncated)
        if self._mode is AutoresetMode.SAME_STEP:
            last, last_info = observations, info
            observations, info = self._begun(self._ended, observations, info)
            info = info | {
                "final_obs": last,
                "_final_obs": self._ended.clone(),
                "final_info": with_masks(_values(last_info), self._ended),
                "_final_info": self._ended.clone(),
            }
        elif self._mode is AutoresetMode.NEXT_STEP:
            observations, info = self._begun(waiting, observations, info)
        return (observations, *result, info)

    def _repeated(self, actions: Any, stopped: torch.Tensor) -> Stepped:
        """Step with one action; rows that stop keep what they had."""
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
        """Begin new episodes in some rows; return what all rows show then."""
        # On a CUDA device a reset of nobody costs less than to ask whether there is
        # somebody.
        if rows.device.type == "cpu" and not bool(rows.any()):
            return observations, info
        begun, news = self.env.reset(options={"reset_mask": rows})
        everyone = torch.ones_like(rows)
        values = {
            key: where_tree(rows, value, info[key])
            for key, value in _values(news).items()
        }
        return where_tree(rows, begun, observations), with_masks(values, everyone)


def _values(info: Info) -> dict[str, torch.Tensor]:
    """An info without its masks."""
    return {key: value for key, value in info.items() if not key.startswith("_")}

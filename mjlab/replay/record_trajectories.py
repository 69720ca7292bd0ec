"""Trajectories of a vector environment, as seen at one place among its wrappers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from gymnasium import Space, spaces
from gymnasium.vector import AutoresetMode

from mjlab.envs import ManagerBasedRlEnv
from mjlab.gym.worlds import Tree
from mjlab.gym.wrappers import Stepped, TensorEnv
from mjlab.recording.config import RecordingCfg, RecordingError, check_recording
from mjlab.recording.episode_recording import (
    EpisodeRecording,
    field_of,
    whole_field_of,
)
from mjlab.recording.layout import RecordedField
from mjlab.replay.recorded_state import RecordedState

OUTCOMES = ("success", "fail")
"""Outcomes that are recorded where the task declares them."""

Values = dict[str, torch.Tensor]


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What is recorded besides actions, observations and flags."""

    reward: bool = True
    """Rewards."""

    env_state: bool = True
    """States of entities."""

    physics: bool = True
    """The engine's own state."""


class Trajectories:
    """Puts what is seen of each step, and of each beginning, into a recording."""

    def __init__(
        self,
        env: TensorEnv,
        base: ManagerBasedRlEnv | None,
        cfg: RecordingCfg,
        wanted: Wanted,
        *,
        attributes: Mapping[str, Any],
        about: Mapping[str, Any],
        clean: bool,
    ) -> None:
        """Begin to record.

        Args:
            env: What is recorded.
            base: The environment that has the state. None where there is none.
            cfg: Where episodes go, and which.
            wanted: What is recorded.
            attributes: Attributes of the files.
            about: What the sidecars say besides the episodes.
            clean: Whether episodes without steps are left out in the end.
        """
        self._env = env
        self._base = base
        self._records_reward = wanted.reward
        declared = [] if base is None else base.outcome_manager.active_terms
        self._outcomes = [name for name in OUTCOMES if name in declared]
        check_recording(cfg, "success" in declared)
        if base is None and (wanted.env_state or wanted.physics):
            raise RecordingError(
                "These worlds have no state to record: pass record_env_state=False and "
                "record_physics=False."
            )
        self._state = None
        if base is not None:
            self._state = RecordedState(
                base, entities=wanted.env_state, physics=wanted.physics
            )
        fields = _fields_of("actions", env.single_action_space, "step")
        self._actions = {
            field.name: (getattr(torch, field.dtype), (env.num_envs, *field.shape))
            for field in fields
        }
        self._nobody = torch.zeros(env.num_envs, dtype=torch.bool, device=env.device)
        steps = self._step_fields()
        self.recording = EpisodeRecording(
            cfg,
            env.num_envs,
            env.device,
            steps=steps,
            beginning=self._beginning_fields(steps),
            shared=self._shared_fields(),
            attributes=attributes,
            about=about,
            clean=clean,
        )
        """Where everything goes."""
        self._blank: Values = {
            field.name: torch.zeros(
                (env.num_envs, *field.shape),
                dtype=getattr(torch, field.dtype),
                device=env.device,
            )
            for field in steps
        }
        self._stop = None if self._state is None else self._state.watch_resets()

    def turn(self, rows: torch.Tensor, ending: int, observations: Tree) -> None:
        """Note that episodes end and others begin, outside of a step.

        Args:
            rows: The rows, shape (num_envs,), bool.
            ending: What becomes of the episodes that they were in; see `Ending`.
            observations: What all rows show now.
        """
        values = self._blank | {
            "stepped": self._nobody,
            "ending": rows.to(torch.uint8) * ending,
            "begins": rows,
        }
        self._write(values, rows, observations)

    def step(
        self, actions: Any, result: Stepped, waiting: torch.Tensor, ending: int
    ) -> None:
        """Take in a step.

        Args:
            actions: As they were given.
            result: What came of them.
            waiting: Rows that began anew in place of a step, shape (num_envs,), bool.
            ending: What becomes of episodes that end by themselves; see `Ending`.
        """
        observations, reward, terminated, truncated, info = result
        mode = self._env.autoreset_mode
        is_same = mode is AutoresetMode.SAME_STEP
        last = info["final_obs"] if is_same else observations
        ended = terminated | truncated
        begins = ended if is_same else waiting
        if mode is AutoresetMode.DISABLED:
            ended = self._nobody  # Somebody resets them, and says what becomes of them.
        facts = info["final_info"] if is_same else info
        values: Values = {
            "stepped": ~waiting,
            "ending": ended.to(torch.uint8) * ending,
            "begins": begins,
            "terminated": terminated,
            "truncated": truncated,
            **{name: facts[name] for name in self._outcomes},
            **self._named_actions(actions),
            **_paths("obs", last),
        }
        if self._records_reward:
            values["rewards"] = reward
        if self._state is not None:
            values |= self._state.before_resets() if is_same else self._state.now()
        self._write(values, begins, observations)

    def close(self, *, keep: bool) -> None:
        """Finish the files.

        Args:
            keep: Whether episodes that are not over are written as far as they got.
        """
        if self._stop is not None:
            self._stop()
            self._stop = None
        self.recording.close(keep=keep)

    def _write(self, values: Values, begins: torch.Tensor, observations: Tree) -> None:
        def beginning() -> tuple[Values, Values]:
            return self._beginning(observations)

        self.recording.write(values, begins, beginning)
        self.recording.commit()

    def _beginning(self, observations: Tree) -> tuple[Values, Values]:
        values = _paths("obs", observations)
        if self._state is None or self._base is None:
            return values, {}
        own, shared = self._state.beginning()
        return values | own | {"episode_seed": self._base.rng.world_seed}, shared

    def _named_actions(self, actions: Any) -> Values:
        named: Values = {}
        for path, (dtype, shape) in self._actions.items():
            value = actions if path == "actions" else actions[path.partition("/")[2]]
            tensor = torch.as_tensor(value, dtype=dtype, device=self._env.device)
            # One row may be given without a batch.
            named[path] = tensor.detach().reshape(shape)
        return named

    # What there is to record.

    def _step_fields(self) -> list[RecordedField]:
        flags = ("terminated", "truncated", *self._outcomes)
        fields = [RecordedField(name, (), "bool") for name in flags]
        if self._records_reward:
            fields.append(RecordedField("rewards", (), "float32"))
        fields += _fields_of("actions", self._env.single_action_space, "step")
        fields += _fields_of("obs", self._env.single_observation_space, "state")
        if self._state is not None:
            fields += self._rows_of(self._state.now(), "state")
        return fields

    def _beginning_fields(self, steps: list[RecordedField]) -> list[RecordedField]:
        fields = [field for field in steps if field.role == "state"]
        if self._state is None or self._base is None:
            return fields
        fields += self._rows_of({"episode_seed": self._base.rng.world_seed}, "")
        own, _ = self._state.beginning()
        starts = {k: v for k, v in own.items() if k.startswith("start/")}
        return fields + self._rows_of(starts, "start")

    def _shared_fields(self) -> list[RecordedField]:
        if self._state is None:
            return []
        _, shared = self._state.beginning()
        return [whole_field_of(name, value) for name, value in shared.items()]

    def _rows_of(self, values: Values, role: str) -> list[RecordedField]:
        n = self._env.num_envs
        return [field_of(name, value, n, role) for name, value in values.items()]


def _paths(path: str, tree: Tree) -> Values:
    """Tensors by their path in the file."""
    if isinstance(tree, torch.Tensor):
        return {path: tree}
    return {
        name: value
        for key, part in tree.items()
        for name, value in _paths(f"{path}/{key}", part).items()
    }


def _fields_of(path: str, space: Space, role: str) -> list[RecordedField]:
    """The fields of what a space describes."""
    if isinstance(space, spaces.Dict):
        return [
            field
            for key, part in space.spaces.items()
            for field in _fields_of(f"{path}/{key}", part, role)
        ]
    return [RecordedField(path, space.shape or (), _dtype(space), role)]


def _dtype(space: Space) -> str:
    return str(np.dtype(space.dtype))

"""Collects the steps and episode starts of a vector environment for a recorder."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from gymnasium import Space, spaces
from gymnasium.vector import AutoresetMode

from mjlab.envs import ManagerBasedRlEnv
from mjlab.envs.state import is_per_world, state_dict_tensors
from mjlab.gym.worlds import Tree
from mjlab.gym.wrappers import Stepped, TensorEnv
from mjlab.recording.config import RecordingCfg, RecordingError, check_recording
from mjlab.recording.layout import (
    Ending,
    RecordedField,
    Role,
    field_of,
    recording_layout,
    shared_field_of,
)
from mjlab.recording.recorder import Recorder

OUTCOMES = ("success", "fail")
"""Outcomes that are recorded if the task declares them."""

Values = dict[str, torch.Tensor]

_CONSTANT = "model."
"""Prefix of physics fields that are recorded once, when an episode begins."""


class Trajectories:
    """Collects the steps and episode starts of an environment for its recorder."""

    def __init__(
        self,
        env: TensorEnv,
        base: ManagerBasedRlEnv | None,
        cfg: RecordingCfg,
        *,
        reward: bool,
        env_state: bool,
        physics: bool,
        attributes: Mapping[str, Any],
        about: Mapping[str, Any],
        clean: bool,
    ) -> None:
        """Start recording.

        Args:
            env: The environment to record.
            base: Manager-based environment whose state is recorded. None if the worlds
                have no state that can be recorded.
            cfg: Output path and selection of episodes.
            reward: Whether to record rewards.
            env_state: Whether to record the states of entities.
            physics: Whether to record the engine's own state.
            attributes: Attributes of the files.
            about: Other contents of the JSON files.
            clean: Whether `close` omits episodes without steps.
        """
        self._env = env
        self._records_reward = reward
        declared = [] if base is None else base.outcome_manager.active_terms
        self._outcomes = [name for name in OUTCOMES if name in declared]
        check_recording(cfg, "success" in declared)
        if base is None and (env_state or physics):
            raise RecordingError(
                "These worlds have no state to record: pass record_env_state=False and "
                "record_physics=False."
            )
        self._state = None
        if base is not None:
            self._state = RecordedState(base, entities=env_state, physics=physics)
        self._actions = _fields_of("actions", env.single_action_space, "step")
        self._no_rows = torch.zeros(env.num_envs, dtype=torch.bool, device=env.device)
        steps = self._step_fields()
        self.recorder = Recorder(
            cfg,
            env.num_envs,
            env.device,
            recording_layout(steps, *self._beginning_fields(steps)),
            attributes=attributes,
            about=about,
            clean=clean,
        )
        """The recorder of all steps."""
        self._blank: Values = {
            field.name: torch.zeros(
                (env.num_envs, *field.shape),
                dtype=getattr(torch, field.dtype),
                device=env.device,
            )
            for field in steps
        }
        if self._state is not None:
            self._state.watch_resets()

    def turn(self, rows: torch.Tensor, ending: Ending, observations: Tree) -> None:
        """End the current episodes of `rows` outside of a step, and start new ones.

        Args:
            rows: Mask of worlds, shape (num_envs,), bool.
            ending: How the current episodes of these worlds end.
            observations: Current observations of all worlds.
        """
        values = self._blank | {
            "stepped": self._no_rows,
            "ending": rows.to(torch.uint8) * int(ending),
            "begins": rows,
        }
        self._write(values, rows, observations)

    def step(
        self, actions: Any, result: Stepped, waiting: torch.Tensor, ending: Ending
    ) -> None:
        """Record a step.

        Args:
            actions: Actions as the caller passed them.
            result: Result of the step.
            waiting: Worlds that were reset instead of stepped, shape (num_envs,), bool.
            ending: Ending of episodes that terminate or time out.
        """
        observations, reward, terminated, truncated, info = result
        mode = self._env.autoreset_mode
        is_same = mode is AutoresetMode.SAME_STEP
        last = info["final_obs"] if is_same else observations
        ended = terminated | truncated
        begins = ended if is_same else waiting
        if mode is AutoresetMode.DISABLED:
            ended = self._no_rows  # Episodes end at a manual reset.
        facts = info["final_info"] if is_same else info
        values: Values = {
            "stepped": ~waiting,
            "ending": ended.to(torch.uint8) * int(ending),
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
            values |= self._state.before_resets if is_same else self._state.now()
        self._write(values, begins, observations)

    def close(self, *, keep: bool) -> None:
        """Finish the files.

        Args:
            keep: Whether to write unfinished episodes up to their last step.
        """
        if self._state is not None:
            self._state.stop_watching()
        self.recorder.close(keep=keep)

    def _write(self, values: Values, begins: torch.Tensor, observations: Tree) -> None:
        def beginning() -> tuple[Values, Values]:
            own, shared = ({}, {}) if self._state is None else self._state.beginning()
            return _paths("obs", observations) | own, shared

        self.recorder.write(values, begins, beginning)
        self.recorder.commit()

    def _named_actions(self, actions: Any) -> Values:
        named: Values = {}
        for field in self._actions:
            is_one = field.name == "actions"
            value = actions if is_one else actions[field.name.partition("/")[2]]
            tensor = torch.as_tensor(
                value, dtype=getattr(torch, field.dtype), device=self._env.device
            )
            # The action of a single world can lack the batch dimension.
            shape = (self._env.num_envs, *field.shape)
            named[field.name] = tensor.detach().reshape(shape)
        return named

    def _step_fields(self) -> list[RecordedField]:
        flags = ("terminated", "truncated", *self._outcomes)
        fields = [RecordedField(name, (), "bool") for name in flags]
        if self._records_reward:
            fields.append(RecordedField("rewards", (), "float32"))
        fields += self._actions
        fields += _fields_of("obs", self._env.single_observation_space, "state")
        if self._state is not None:
            fields += self._rows_of(self._state.now(), "state")
        return fields

    def _beginning_fields(
        self, steps: list[RecordedField]
    ) -> tuple[list[RecordedField], list[RecordedField]]:
        """Return fields recorded at an episode start: per world, and shared."""
        fields = [field for field in steps if field.role == "state"]
        if self._state is None:
            return fields, []
        own, shared = self._state.beginning()
        starts = {k: v for k, v in own.items() if k.startswith("start/")}
        fields += self._rows_of({"episode_seed": own["episode_seed"]}, "attribute")
        fields += self._rows_of(starts, "start")
        return fields, [shared_field_of(name, value) for name, value in shared.items()]

    def _rows_of(self, values: Values, role: Role) -> list[RecordedField]:
        n = self._env.num_envs
        return [field_of(name, value, n, role) for name, value in values.items()]


class RecordedState:
    """State of the worlds, now and before the last resets, by path in the file."""

    def __init__(
        self, env: ManagerBasedRlEnv, *, entities: bool, physics: bool
    ) -> None:
        """Choose the states of entities, the engine's own state, or both."""
        self._env = env
        self._has_entities, self._has_physics = entities, physics
        n = env.num_envs
        state = env.get_state().items()
        self._rows = {name for name, value in state if is_per_world(name, value, n)}
        self._varies = any(name.startswith(f"sim.{_CONSTANT}") for name in self._rows)
        self.before_resets: Values = {k: v.clone() for k, v in self.now().items()}
        """The state before the resets of the last step."""

    def now(self) -> Values:
        """Return the current state, as copies."""
        return self._values(self._env.sim.snapshot(model=False))

    def beginning(self) -> tuple[Values, Values]:
        """Return the complete state: values per world, and shared ones."""
        engine = self._env.sim.snapshot(model=self._varies)
        values = self._values(engine) | {"episode_seed": self._env.rng.world_seed}
        whole = {f"sim.{name}": value for name, value in engine.items()}
        whole |= self._env.state.live()
        shared: Values = {}
        for name, value in whole.items():
            place = values if name in self._rows else shared
            place[f"start/{name}"] = value
        return values, shared

    def watch_resets(self) -> None:
        """Register a hook that stores each step's state before worlds are reset."""
        self._env.program.before_resets.append(self._keep)
        self._record_anew()

    def stop_watching(self) -> None:
        """Undo `watch_resets`. Can be called twice."""
        if self._keep in self._env.program.before_resets:
            self._env.program.before_resets.remove(self._keep)
            self._record_anew()

    def _keep(self) -> None:
        now = self.now()
        if self._env.mode == "eager":
            self.before_resets = now
            return
        # Copy in place: a captured CUDA graph writes to the same tensors in every step.
        for name, value in now.items():
            self.before_resets[name].copy_(value)

    def _record_anew(self) -> None:
        """Capture the step again if the environment runs it as one CUDA graph."""
        if self._env.mode == "fused":
            self._env.record_anew()

    def _values(self, engine: Values) -> Values:
        """Return the recorded values of a step."""
        values: Values = {}
        if self._has_entities:
            entities = state_dict_tensors(self._env.scene).items()
            values |= {f"env_states/{name}": value for name, value in entities}
        if self._has_physics:
            values |= {
                f"physics/sim.{name}": value
                for name, value in engine.items()
                if f"sim.{name}" in self._rows and not name.startswith(_CONSTANT)
            }
        return values


def _paths(path: str, tree: Tree) -> Values:
    """Flatten a tree of tensors to a dictionary by path in the file."""
    if isinstance(tree, torch.Tensor):
        return {path: tree}
    return {
        name: value
        for key, part in tree.items()
        for name, value in _paths(f"{path}/{key}", part).items()
    }


def _fields_of(path: str, space: Space, role: Role) -> list[RecordedField]:
    """Return a recorded field for each Box of a space."""
    if isinstance(space, spaces.Dict):
        return [
            field
            for key, part in space.spaces.items()
            for field in _fields_of(f"{path}/{key}", part, role)
        ]
    return [RecordedField(path, space.shape or (), str(np.dtype(space.dtype)), role)]

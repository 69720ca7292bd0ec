"""What is recorded of the state of worlds, by its path in the file."""

from collections.abc import Callable

import torch

from mjlab.envs import ManagerBasedRlEnv
from mjlab.envs.state import is_per_world, state_dict_tensors

Values = dict[str, torch.Tensor]

_CONSTANT = "model."
"""Physics that is written down once, when an episode begins."""


class RecordedState:
    """The state of worlds, also of the moment before some of them are reset."""

    def __init__(
        self, env: ManagerBasedRlEnv, *, entities: bool, physics: bool
    ) -> None:
        """Find out what there is.

        Args:
            env: The environment.
            entities: Whether the states of entities are wanted.
            physics: Whether the engine's own state is.
        """
        self._env = env
        self._wants = entities, physics
        state = env.get_state()
        n = env.num_envs
        self._rows = {name for name, t in state.items() if is_per_world(name, t, n)}
        self._varies = any(name.startswith(f"sim.{_CONSTANT}") for name in self._rows)
        self._before: Values = {k: v.clone() for k, v in self.now().items()}

    def now(self) -> Values:
        """The state at present, as tensors of the caller's own."""
        entities, physics = self._wants
        values = self._entities() if entities else {}
        if physics:
            values |= self._physics(self._env.sim.snapshot(model=False))
        return values

    def before_resets(self) -> Values:
        """The state before the resets of the last step."""
        return self._before

    def beginning(self) -> tuple[Values, Values]:
        """The state at present with everything that worlds go on from, live.

        Returns:
            What each world has, and what they share.
        """
        entities, physics = self._wants
        engine = self._env.sim.snapshot(model=self._varies)
        values = self._entities() if entities else {}
        if physics:
            values |= self._physics(engine)
        whole = {f"sim.{name}": value for name, value in engine.items()}
        whole |= self._env.state.live()
        shared: Values = {}
        for name, value in whole.items():
            place = values if name in self._rows else shared
            place[f"start/{name}"] = value
        return values, shared

    def watch_resets(self) -> Callable[[], None]:
        """Have every step keep the state before its resets; returns what ends that."""
        before_resets = self._env.program.before_resets
        before_resets.append(self._keep)
        self._record_anew()

        def stop() -> None:
            before_resets.remove(self._keep)
            self._record_anew()

        return stop

    def _keep(self) -> None:
        now = self.now()
        if self._env.mode == "eager":
            self._before = now
            return
        # In place: a graph that is replayed fills the memory it was recorded with.
        for name, value in now.items():
            self._before[name].copy_(value)

    def _record_anew(self) -> None:
        """Have a step that is recorded as a graph take notice."""
        if self._env.mode == "fused":
            self._env.record_anew()

    def _entities(self) -> Values:
        rows = state_dict_tensors(self._env.scene)
        return {f"env_states/{name}": value for name, value in rows.items()}

    def _physics(self, engine: Values) -> Values:
        """What is recorded of the engine's state in every step."""
        return {
            f"physics/sim.{name}": value
            for name, value in engine.items()
            if f"sim.{name}" in self._rows and not name.startswith(_CONSTANT)
        }

"""Events that change muscles per world: weakness, contracture and fatigue.

They write the muscle parameters of the model, so that MuJoCo, the torque map and the
observations use the same muscles.
"""

from __future__ import annotations

from typing import Any

import mujoco
import torch

from mjlab.managers.env import Env
from mjlab.managers.term import ManagerTermBase, TermCfg, TermError
from mjlab.mdp.lookup import ROBOT
from mjlab.muscle.action import MuscleAction, muscle_action
from mjlab.scene import SceneEntityCfg, Selection
from mjlab.tensors.masks import write_where

Range = tuple[float, float]
_PRM_FIELDS = ("actuator_gainprm", "actuator_biasprm")
_MUSCLE = int(mujoco.mjtGain.mjGAIN_MUSCLE)
# Columns of the peak force, and of the scale used if the peak force is below 0.
_FORCE = slice(2, 4)


class muscle_strength(ManagerTermBase):
    """Scale the compiled strength of each muscle by a random factor."""

    @staticmethod
    def model_fields(params: dict[str, Any]) -> tuple[str, ...]:
        """Return the model fields that the term varies."""
        return _PRM_FIELDS if params.get("passive", True) else _PRM_FIELDS[:1]

    def __init__(self, cfg: TermCfg, env: Env) -> None:
        super().__init__(cfg, env)
        self._ids = _muscles(cfg, env)
        _check_range("strength_range", cfg.params["strength_range"])
        fields = self.model_fields(cfg.params)
        env.sim.expand(*fields)
        self._fields = {
            name: env.sim.default(name).index_select(0, self._ids) for name in fields
        }

    def __call__(
        self,
        env: Env,
        mask: torch.Tensor,
        strength_range: Range,
        together: bool = False,
        passive: bool = True,
        asset_cfg: Selection = ROBOT,
        stream: str = "event",
    ) -> None:
        """Draw the factors and write the peak forces.

        Args:
            env: The environment.
            mask: The worlds, shape (num_envs,), bool.
            strength_range: Smallest and largest factor.
            together: Use the same factor for all muscles of a world.
            passive: Also scale the passive force.
            asset_cfg: The muscles, as actuators.
            stream: Name of the random stream; the event manager sets it.
        """
        count = 1 if together else self._ids.shape[0]
        factor = env.rng.uniform(*strength_range, count, stream)
        factor = factor.expand(-1, self._ids.shape[0]).unsqueeze(-1)
        for name, compiled in self._fields.items():
            live = env.sim.model[name]
            rows = live.index_select(1, self._ids)
            write_where(rows[..., _FORCE], mask, compiled[:, _FORCE] * factor)
            live.index_copy_(1, self._ids, rows)


class muscle_contracture(ManagerTermBase):
    """Shorten muscles, so that their passive force begins earlier (contracture)."""

    @staticmethod
    def model_fields(params: dict[str, Any]) -> tuple[str, ...]:
        """Return the model fields that the term varies."""
        return ("actuator_lengthrange",)

    def __init__(self, cfg: TermCfg, env: Env) -> None:
        super().__init__(cfg, env)
        self._ids = _muscles(cfg, env)
        _check_range("shortening_range", cfg.params["shortening_range"])
        env.sim.expand("actuator_lengthrange")
        ranges = env.sim.default("actuator_lengthrange").index_select(0, self._ids)
        prm = env.sim.default("actuator_gainprm").index_select(0, self._ids)
        self._ranges = ranges
        span = (prm[:, 1] - prm[:, 0]).clamp_min(1e-6)
        self._optimal = (ranges[:, 1] - ranges[:, 0]) / span

    def __call__(
        self,
        env: Env,
        mask: torch.Tensor,
        shortening_range: Range,
        asset_cfg: Selection = ROBOT,
        stream: str = "event",
    ) -> None:
        """Draw the shortening and write the length ranges.

        Args:
            env: The environment.
            mask: The worlds, shape (num_envs,), bool.
            shortening_range: Smallest and largest shortening, relative to the optimal
                length.
            asset_cfg: The muscles, as actuators.
            stream: Name of the random stream; the event manager sets it.
        """
        count = self._ids.shape[0]
        by = env.rng.uniform(*shortening_range, count, stream) * self._optimal
        field = env.sim.model.actuator_lengthrange
        rows = field.index_select(1, self._ids)
        write_where(rows, mask, self._ranges - by.unsqueeze(-1))
        field.index_copy_(1, self._ids, rows)


class muscle_fatigue(ManagerTermBase):
    """Muscle fatigue and recovery; an event of mode "step".

    The fatigued fraction f of a muscle grows with its activation a and decays:
    f' = tiring · a · (1 − f) − recovery · f. The peak force is its value at the start
    of the episode times 1 − f.
    """

    @staticmethod
    def model_fields(params: dict[str, Any]) -> tuple[str, ...]:
        """Return the model fields that the term varies."""
        return _PRM_FIELDS[:1]

    def __init__(self, cfg: TermCfg, env: Env) -> None:
        super().__init__(cfg, env)
        env.sim.expand(_PRM_FIELDS[0])
        # Found in the first call, because actions are bound after events.
        self._term: MuscleAction | None = None
        force = self._force(env)
        self._rested = force.clone()
        self._written = force.clone()
        self.tired = torch.zeros(force.shape[:2], device=env.device)
        """Fatigued fraction of each muscle, shape (num_envs, actuators)."""

    def __call__(
        self,
        env: Env,
        mask: torch.Tensor,
        tiring: float = 0.1,
        recovery: float = 0.01,
        action_name: str = "muscles",
    ) -> None:
        """Integrate the fatigue over a step and write the peak forces.

        Args:
            env: The environment.
            mask: The worlds, shape (num_envs,), bool.
            tiring: Fatigue rate at full activation, in 1/s.
            recovery: Recovery rate, in 1/s.
            action_name: Name of the muscle action.
        """
        if self._term is None:
            self._term = muscle_action(env, action_name)
        ids = torch.tensor(self._term.map.actuator_ids, device=env.device)
        fresh = 1.0 - self.tired
        activation = torch.zeros_like(self.tired).index_copy(1, ids, self._term.act())
        change = tiring * activation * fresh - recovery * self.tired
        write_where(self.tired, mask, self.tired + env.step_dt * change)
        left = (1.0 - self.tired).unsqueeze(-1)
        write_where(self._written, mask, self._rested * left)
        self._write(env, mask)

    def reset(self, mask: torch.Tensor) -> None:
        """Set the fatigue to 0, and keep peak forces written by reset events."""
        present = self._force(self._env)
        # If no reset event wrote the force, restore the value before fatigue.
        rested = torch.where(present == self._written, self._rested, present)
        write_where(self._rested, mask, rested)
        write_where(self._written, mask, self._rested)
        write_where(self.tired, mask, 0.0)
        self._write(self._env, mask)

    def state(self) -> dict[str, torch.Tensor]:
        return {
            "tired": self.tired,
            "rested": self._rested,
            "written": self._written,
        }

    def _force(self, env: Env) -> torch.Tensor:
        return env.sim.model.actuator_gainprm[..., _FORCE]

    def _write(self, env: Env, mask: torch.Tensor) -> None:
        write_where(self._force(env), mask, self._written)


def _muscles(cfg: TermCfg, env: Env) -> torch.Tensor:
    """Return the selected actuators, which must all be muscles."""
    chosen: SceneEntityCfg = cfg.params.get("asset_cfg", ROBOT)
    ids = chosen.resolve(env.scene).global_ids("actuator")
    model = env.sim.mj_model
    for actuator in ids.tolist():
        if int(model.actuator_gaintype[actuator]) != _MUSCLE:
            name = model.actuator(actuator).name
            raise TermError(
                f"The actuator {name!r} is not a muscle. Select only muscles in "
                "asset_cfg."
            )
    return ids.to(env.device)


def _check_range(name: str, given: Range) -> None:
    low, high = given
    if not 0.0 <= low <= high:
        raise TermError(
            f"{name} is {given}; it has to be (low, high) with 0 <= low <= high."
        )

"""Actions on what actuators drive: which joints, tendons or sites these are."""

from abc import ABC
from typing import ClassVar

import mujoco
import torch

from mjlab.actuator import Command, ExplicitActuatorCfg, Transmission
from mjlab.actuator.actuator import TARGET_FIELDS
from mjlab.actuator.compiled import controls_of
from mjlab.entity import Entity
from mjlab.managers.action import ActionTarget, ActionTerm, ActionTermCfg
from mjlab.managers.env import Env
from mjlab.names import UnknownNameError, match_names, resolve_values
from mjlab.tensors.columns import Columns

Patterns = str | tuple[str, ...] | None
"""Patterns of whole names; None means everything that can be acted on."""


class DrivenActionCfg(ActionTermCfg, ABC):
    """An action on joints, tendons or sites that an actuator drives.

    Only those count whose actuator, one of the entity's configuration, takes the kind
    of command that the action gives: an action that moves nothing is an error.
    """

    actuator_names: Patterns = None
    """Patterns of actuators, which are called like what they drive: another way to say
    `joint_names`, `tendon_names` or `site_names`."""

    preserve_order: bool = False
    """Follow the order of the patterns instead of the order of the model."""

    transmission: ClassVar[Transmission]
    command: ClassVar[Command]

    @property
    def patterns(self) -> Patterns:
        """Patterns of what is acted on."""
        field = f"{self.transmission}_names"
        names: Patterns = getattr(self, field)
        if names is not None and self.actuator_names is not None:
            raise ValueError(f"{field} and actuator_names are both set; choose one.")
        return self.actuator_names if names is None else names

    def find(self, entity: Entity, model: mujoco.MjModel) -> dict[str, int]:
        """Return what is acted on, by name, and its column in the targets."""
        candidates = driven_targets(entity, model, self.transmission, self.command)
        names = list(candidates)
        what = f"{self.command}-driven {self.transmission}"
        if not names:
            raise UnknownNameError(f"{entity.name!r} has no {what}.")
        if self.patterns is None:
            return candidates
        found = match_names(
            self.patterns,
            names,
            what=what,
            owner=entity.name,
            preserve_order=self.preserve_order,
        )
        return {names[index]: candidates[names[index]] for index in found}


def driven_targets(
    entity: Entity,
    model: mujoco.MjModel,
    transmission: Transmission,
    command: Command,
) -> dict[str, int]:
    """Return what actuators drive by a kind of command, and its column in the targets.

    The order is that of the model.
    """
    found: dict[str, int] = {}
    for binding in entity.actuators.bindings:
        cfg = binding.cfg
        if cfg.transmission != transmission:
            continue
        columns = binding.target_ids.tolist()
        controls = controls_of(binding, model)
        for (name, some), column in zip(controls.items(), columns, strict=True):
            # An explicit law is given all three commands.
            is_explicit = isinstance(cfg, ExplicitActuatorCfg)
            if is_explicit or any(control.command == command for control in some):
                found[name] = column
    if command == "position" and transmission == "joint":
        # Ball joints follow the scalar joints, and have no single position.
        found = {k: v for k, v in found.items() if v < len(entity.index.joints)}
    return dict(sorted(found.items(), key=lambda item: item[1]))


class DrivenAction(ActionTerm):
    """Sets one field of an entity's targets, one column for each name."""

    def __init__(self, name: str, cfg: DrivenActionCfg, env: Env) -> None:
        super().__init__(name, cfg, env)
        self.entity: Entity = env.scene.entity(cfg.entity_name)
        """The entity that is acted on."""
        found = cfg.find(self.entity, env.sim.mj_model)
        self.target_names = tuple(found)
        """Names of what is acted on, in the order of the action."""
        self._kind = cfg.transmission
        self._quantity = TARGET_FIELDS[cfg.transmission, cfg.command]
        self._field: torch.Tensor = getattr(self.entity.data.targets, self._quantity)
        self._columns = Columns.of(list(found.values()), env.device)
        self.processed_action = torch.zeros(env.num_envs, len(found), device=env.device)
        """The last action in units of the target, shape (num_envs, number
        of names), live. Zero after a reset."""

    @property
    def action_dim(self) -> int:
        """Numbers of the action that the term takes: one a name."""
        return len(self.target_names)

    @property
    def targets(self) -> tuple[ActionTarget, ...]:
        """Joints, tendons or sites that the term moves."""
        return tuple(
            ActionTarget(self.entity.name, self._kind, name, self._quantity)
            for name in self.target_names
        )

    def reset(self, mask: torch.Tensor) -> None:
        """Forget the action of the worlds of `mask`."""
        self.processed_action.masked_fill_(mask.unsqueeze(1), 0.0)

    def state(self) -> dict[str, torch.Tensor]:
        """Return the live tensors that change."""
        return {"processed_action": self.processed_action}

    def _values(
        self, given: float | dict[str, float], default: float, field: str
    ) -> torch.Tensor:
        """Return one number a name, shape (number of names,)."""
        try:
            values = resolve_values(
                given, self.target_names, what=self._kind, owner=self.entity.name
            )
        except ValueError as error:
            raise type(error)(f"{field}: {error}") from error
        filled = [default if value is None else float(value) for value in values]
        return torch.tensor(filled, device=self.device)

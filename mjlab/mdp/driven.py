"""Base classes of actions on actuated joints, tendons and sites."""

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
"""Regular expressions that match full names. None selects all controllable elements."""


class DrivenActionCfg(ActionTermCfg, ABC):
    """Base configuration of actions on actuated joints, tendons or sites.

    An element can be selected if one of the entity's configured actuators drives it by
    the action's `command`. An action must select at least one element.
    """

    actuator_names: Patterns = None
    """Patterns of actuator names. An actuator has the name of its target, so this is an
    alternative to `joint_names`, `tendon_names` or `site_names`."""

    preserve_order: bool = False
    """Follow the order of the patterns instead of the order of the model."""

    transmission: ClassVar[Transmission]
    command: ClassVar[Command]

    @property
    def patterns(self) -> Patterns:
        """Patterns of the controlled elements; None for all."""
        field = f"{self.transmission}_names"
        names: Patterns = getattr(self, field)
        if names is not None and self.actuator_names is not None:
            raise ValueError(f"{field} and actuator_names are both set; choose one.")
        return self.actuator_names if names is None else names

    def find(self, entity: Entity, model: mujoco.MjModel) -> dict[str, int]:
        """Return the target columns of the controlled elements, by name."""
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
    """Return the target columns of the elements driven by `command`, by name.

    The elements are in model order.
    """
    found: dict[str, int] = {}
    for binding in entity.actuators.bindings:
        cfg = binding.cfg
        if cfg.transmission != transmission:
            continue
        columns = binding.target_ids.tolist()
        controls = controls_of(binding, model)
        for (name, some), column in zip(controls.items(), columns, strict=True):
            # An explicit actuator receives all three commands.
            is_explicit = isinstance(cfg, ExplicitActuatorCfg)
            if is_explicit or any(control.command == command for control in some):
                found[name] = column
    if command == "position" and transmission == "joint":
        # Ball joints come after the scalar joints and have no scalar position.
        found = {k: v for k, v in found.items() if v < len(entity.index.joints)}
    return dict(sorted(found.items(), key=lambda item: item[1]))


class DrivenAction(ActionTerm):
    """Action term that sets one field of an entity's targets, one column per name."""

    def __init__(self, name: str, cfg: DrivenActionCfg, env: Env) -> None:
        super().__init__(name, cfg, env)
        self.entity: Entity = env.scene.entity(cfg.entity_name)
        """The controlled entity."""
        found = cfg.find(self.entity, env.sim.mj_model)
        self.target_names = tuple(found)
        """Names of the controlled elements, in the order of the action."""
        self._kind = cfg.transmission
        self._quantity = TARGET_FIELDS[cfg.transmission, cfg.command]
        self._field: torch.Tensor = getattr(self.entity.data.targets, self._quantity)
        self._columns = Columns.of(list(found.values()), env.device)
        self.processed_action = torch.zeros(env.num_envs, len(found), device=env.device)
        """Last processed action, in units of the target, shape (num_envs, elements),
        live. Zero after a reset."""

    @property
    def action_dim(self) -> int:
        """Dimension of the term's part of the action: one per name."""
        return len(self.target_names)

    @property
    def targets(self) -> tuple[ActionTarget, ...]:
        """Joints, tendons or sites that the term controls."""
        return tuple(
            ActionTarget(self.entity.name, self._kind, name, self._quantity)
            for name in self.target_names
        )

    def reset(self, mask: torch.Tensor) -> None:
        """Clear the action in the worlds of `mask`."""
        self.processed_action.masked_fill_(mask.unsqueeze(1), 0.0)

    def state(self) -> dict[str, torch.Tensor]:
        return {"processed_action": self.processed_action}

    def _values(
        self, given: float | dict[str, float], default: float, field: str
    ) -> torch.Tensor:
        """Return one number per controlled element, shape (elements,)."""
        try:
            values = resolve_values(
                given, self.target_names, what=self._kind, owner=self.entity.name
            )
        except ValueError as error:
            raise type(error)(f"{field}: {error}") from error
        filled = [default if value is None else float(value) for value in values]
        return torch.tensor(filled, device=self.device)

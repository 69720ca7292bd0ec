"""Base class of actuator configurations, and resolution of their targets."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Literal

import mujoco

from mjlab.actuator.place import (
    ActuatorError,
    Transmission,
    drivers,
    new_actuator,
    set_passive,
    target_names,
)
from mjlab.names import UnknownNameError, match_names, resolve_values
from mjlab.settings import Config
from mjlab.tensors.buffers import DelayCfg

Quantity = Literal["stiffness", "damping", "effort_limit"]
"""Actuator quantity that can be set per world."""

_PASSIVE = ("armature", "frictionloss", "viscous_damping")
_TUPLES = ("gear", "length_range")
_ABOVE_ZERO = {"effort_limit", "saturation_effort", "velocity_limit", "force", "scale"}


class ActuatorCfg(Config, ABC):
    """Base class of actuator configurations for joints, tendons or sites of an entity.

    There are three families. `XmlActuatorCfg` uses actuators of the model file. Native
    actuators are added to the model and computed by MuJoCo, whose implicit integrators
    take their damping into account. Explicit actuators are added as `<motor>`; a
    control law computes their effort in every physics step.
    """

    target_names_expr: tuple[str, ...]
    """Name patterns of the driven joints, tendons or sites. Each must match a name."""

    transmission: Transmission = "joint"
    """Kind of target: "joint" (hinge or slide), "tendon" or "site"."""

    delay: DelayCfg | None = None
    """Delay of the command, in physics steps. None disables it. In each world, all
    commands of the configuration have the same lag. Feedback is not delayed."""

    delay_group: str | None = None
    """Group of configurations of an entity that share the same lags, as for motors on
    one bus; their delays must be equal. None draws separate lags."""

    armature: float | dict[str, float] | None = None
    """Reflected inertia of the joint or tendon, in kg m² or kg. None keeps the model's
    value."""

    frictionloss: float | dict[str, float] | None = None
    """Dry friction of the joint or tendon, in N m or N. None keeps the model's
    value."""

    viscous_damping: float | dict[str, float] | None = None
    """Damping of the joint or tendon, in N m s/rad or N s/m. None keeps the model's
    value."""

    share_targets: bool = False
    """Allow another actuator to drive the same targets."""

    transmissions: ClassVar[tuple[Transmission, ...]] = ("joint", "tendon")
    adds_actuators: ClassVar[bool] = True

    def find_targets(self, spec: mujoco.MjSpec, owner: str | None = None) -> list[str]:
        """Return the names of the targets, in model order.

        Args:
            spec: The entity's own model, without a prefix.
            owner: Name of the entity, for messages.
        """
        self._check_transmission()
        names = self.candidates(spec)
        what = self.transmission
        found = match_names(self.target_names_expr, names, what=what, owner=owner)
        return [names[index] for index in found]

    def candidates(self, spec: mujoco.MjSpec) -> list[str]:
        """Return the names of all possible targets in `spec`."""
        return target_names(spec, self.transmission)

    def add_to_spec(self, spec: mujoco.MjSpec, targets: Sequence[str]) -> list[str]:
        """Add actuators and passive properties of the targets to `spec`.

        Args:
            spec: The entity's own model, edited in place.
            targets: Names of the targets, as returned by `find_targets`.

        Returns:
            Names of the MuJoCo actuators, in the order of the targets. A configuration
                that adds two actuators to each target lists the first actuators of all
                targets before the second actuators.
        """
        self._check_transmission()
        self._check_delay()
        for field in _PASSIVE:
            self._set_passive(spec, targets, field)
        return self._add_actuators(spec, targets)

    @abstractmethod
    def _add_actuators(self, spec: mujoco.MjSpec, targets: Sequence[str]) -> list[str]:
        """Add the actuators to the spec, and return the names of the new actuators."""

    @property
    def kind(self) -> str:
        """Name of the configuration class, for messages."""
        return type(self).__name__

    def numbers(self, field: str, targets: Sequence[str]) -> list[float | None]:
        """Return the value of a field for each target; None where none is set.

        Args:
            field: Name of the field: one value for all targets, a dictionary from name
                patterns to values, or None.
            targets: Names of the targets.

        Raises:
            ActuatorError: If a value is negative, or 0 where 0 is meaningless, or if a
                dictionary misses a target. Armature, damping and friction can be
                missing: these targets keep the values of the model file.
        """
        if getattr(self, field) is None:
            return [None] * len(targets)
        values = self.choices(field, targets, required=field not in _PASSIVE)
        positive = field in _ABOVE_ZERO
        for name, number in zip(targets, values, strict=True):
            if number is None:
                continue
            if not (number > 0.0 if positive else 0.0 <= number < math.inf):
                wanted = "above 0" if positive else "0 or more, and finite"
                raise ActuatorError(
                    f"{self.kind}.{field} of {self.transmission} {name!r} is {number}; "
                    f"it has to be {wanted}."
                )
        return values

    def choices(
        self, field: str, targets: Sequence[str], *, required: bool = True
    ) -> list[Any]:
        """Return the value, of any type, that a field assigns to each target."""
        values, what = getattr(self, field), self.transmission
        try:
            return resolve_values(values, targets, what=what, required=required)
        except UnknownNameError as error:
            raise ActuatorError(f"{self.kind}.{field}: {error}") from error

    def _add_each(
        self,
        spec: mujoco.MjSpec,
        targets: Sequence[str],
        shape: Callable[..., None],
        *fields: str,
        suffix: str = "",
    ) -> list[str]:
        """Add one actuator to each target, and return their names.

        Args:
            spec: The entity's own model.
            targets: Names of the targets.
            shape: Function that sets up an actuator. Called with each new actuator and
                the values of its target.
            fields: Fields of this configuration that hold these values.
            suffix: Suffix of the actuators' names.
        """
        values = [
            (self.choices if field in _TUPLES else self.numbers)(field, targets)
            for field in fields
        ]
        names = []
        for target, *row in zip(targets, *values, strict=True):
            actuator = new_actuator(spec, self.transmission, target, suffix=suffix)
            shape(actuator, *row)
            names.append(actuator.name)
        return names

    def _set_gear(
        self, actuator: mujoco.MjsActuator, gear: float | tuple[float, ...]
    ) -> None:
        """Set the gear: one number, or up to six for a site."""
        full = (gear,) if isinstance(gear, int | float) else tuple(gear)
        if len(full) > 6 or not all(map(math.isfinite, full)) or not any(full):
            raise ActuatorError(
                f"{self.kind}.gear of {actuator.target!r} is {gear}; it has to be one "
                "to six numbers, not all 0."
            )
        actuator.gear = [*full, *(0.0,) * (6 - len(full))]

    def _set_passive(
        self, spec: mujoco.MjSpec, targets: Sequence[str], field: str
    ) -> None:
        if getattr(self, field) is None:
            return
        if self.transmission == "site":
            raise ActuatorError(
                f"{self.kind}.{field} is set, but sites have no {field}. "
                "Set it to None."
            )
        for name, value in zip(targets, self.numbers(field, targets), strict=True):
            if value is not None:
                set_passive(spec, self.transmission, name, field, value)

    def _check_transmission(self) -> None:
        if self.transmission not in self.transmissions:
            raise ActuatorError(
                f"{self.kind}.transmission is {self.transmission!r}; it has to be "
                f"{' or '.join(map(repr, self.transmissions))}."
            )

    def _check_delay(self) -> None:
        if self.delay is None:
            return
        low, high = self.delay.min_lag, self.delay.max_lag
        if low < 0 or high < low:
            raise ActuatorError(
                f"{self.kind} of {self.target_names_expr} has a delay of "
                f"min_lag={low} to max_lag={high} physics steps; it has to be "
                "0 <= min_lag <= max_lag."
            )


def resolve_targets(
    cfgs: Sequence[ActuatorCfg], spec: mujoco.MjSpec, owner: str | None = None
) -> list[list[str]]:
    """Find the targets of each configuration; return their names.

    Call this before any configuration edits the model. Raises if two configurations, or
    a configuration and an actuator of the model file, drive the same target without
    `share_targets`.

    Args:
        cfgs: Actuators of one entity.
        spec: The entity's own model, without a prefix.
        owner: Name of the entity, for messages.
    """
    _check_delay_groups(cfgs)
    resolved = [cfg.find_targets(spec, owner) for cfg in cfgs]
    whose = "" if owner is None else f" of {owner!r}"
    taken: dict[tuple[str, str], int] = {}
    for index, (cfg, names) in enumerate(zip(cfgs, resolved, strict=True)):
        adds = cfg.adds_actuators and not cfg.share_targets
        driven = drivers(spec, cfg.transmission) if adds else {}
        for name in names:
            if name in driven:
                raise ActuatorError(
                    f"actuators[{index}] ({cfg.kind}) would drive the "
                    f"{cfg.transmission} {name!r}{whose}, which the actuator "
                    f"{driven[name][0].name!r} of the file already drives. Use the "
                    "existing actuator with XmlActuatorCfg, delete it, or set "
                    "share_targets=True."
                )
            first = taken.setdefault((cfg.transmission, name), index)
            if first != index and not (cfg.share_targets or cfgs[first].share_targets):
                raise ActuatorError(
                    f"actuators[{first}] ({cfgs[first].kind}) and actuators[{index}] "
                    f"({cfg.kind}) both drive the {cfg.transmission} {name!r}{whose}. "
                    "Make their patterns disjoint, or set share_targets=True."
                )
    return resolved


def _check_delay_groups(cfgs: Sequence[ActuatorCfg]) -> None:
    firsts: dict[str, int] = {}
    for index, cfg in enumerate(cfgs):
        if cfg.delay_group is None:
            continue
        first = firsts.setdefault(cfg.delay_group, index)
        if cfg.delay is None or cfg.delay != cfgs[first].delay:
            raise ActuatorError(
                f"actuators[{first}] and actuators[{index}] share delay_group="
                f"{cfg.delay_group!r}, but their delays are {cfgs[first].delay} and "
                f"{cfg.delay}; they have to be equal, and not None."
            )

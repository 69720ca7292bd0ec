"""Actuators that the model file has already."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import mujoco

from mjlab.actuator.actuator import Command
from mjlab.actuator.native import NativeActuatorCfg
from mjlab.actuator.place import (
    ActuatorError,
    Transmission,
    drivers,
    target_names,
    unused_name,
)


@dataclass(kw_only=True)
class XmlActuatorCfg(NativeActuatorCfg):
    """Actuators that the entity's model file has already, used as they are.

    The patterns name targets, not actuators, and only targets that an actuator of the
    file drives can match. Actuators without a name get that of their target. What a
    control means is found from the compiled actuator: position for `<position>`,
    velocity for `<velocity>` and `<intvelocity>`, each input of `<pid>` and `<dcmotor>`
    by its own declaration, a `<general>` with the gains of a servo as that servo, and
    effort for every other. Actuators come in the order of their targets, those of one
    target in the order of the file.
    """

    command: Command | None = None
    """What the controls mean: "position", "velocity" or "effort". None finds it out.
    Actuators with several inputs are not affected."""

    transmissions: ClassVar[tuple[Transmission, ...]] = ("joint", "tendon", "site")
    adds_actuators: ClassVar[bool] = False
    limit_fields: ClassVar[frozenset[str]] = frozenset(
        {"actuator_forcerange", "actuator_gainprm", "actuator_biasprm"}
    )

    def candidates(self, spec: mujoco.MjSpec) -> list[str]:
        """Return the names of the targets that actuators of the file drive."""
        driven = drivers(spec, self.transmission)
        return [
            name for name in target_names(spec, self.transmission) if name in driven
        ]

    def _add_actuators(self, spec: mujoco.MjSpec, targets: Sequence[str]) -> list[str]:
        driven = drivers(spec, self.transmission)
        names = []
        for target in targets:
            if target not in driven:
                raise ActuatorError(
                    f"{self.kind}: no actuator of the file drives the "
                    f"{self.transmission} {target!r}."
                )
            for actuator in driven[target]:
                actuator.name = actuator.name or unused_name(spec, target)
                names.append(actuator.name)
        return names

"""MuJoCo's muscle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import mujoco

from mjlab.actuator.native import NativeActuatorCfg
from mjlab.actuator.place import (
    ActuatorError,
    choices_per_target,
    new_actuator,
    values_per_target,
)

_Range = tuple[float, float]


@dataclass(kw_only=True)
class MuscleActuatorCfg(NativeActuatorCfg):
    """A muscle with activation dynamics and force-length-velocity curves.

    MuJoCo's `<muscle>`, with its defaults. Its command is an effort: the excitation,
    between 0 and 1. What `ActuatorSet` calls its effort limit is the peak active force.
    """

    force: float | dict[str, float] | None = None
    """Peak active force at rest, in N. None takes `scale` / acc0, where acc0 is the
    acceleration of the joints by a unit force."""

    scale: float | dict[str, float] = 200.0
    """Peak force times acc0, where `force` is None."""

    length_range: _Range | dict[str, _Range] | None = None
    """Shortest and longest length of the whole actuator, in metres or radians times the
    gear. None lets MuJoCo find it by pulling, which needs limited joints."""

    operating_range: _Range = (0.75, 1.05)
    """Lengths of the muscle at the two ends of `length_range`, in optimal lengths."""

    gear: float | dict[str, float] = 1.0
    """Scale of the transmission; negative for a muscle that pulls a joint down."""

    timeconst: _Range = (0.01, 0.04)
    """Time constants of activation and deactivation, in seconds."""

    tausmooth: float = 0.0
    """Width of the passage between the two time constants, in units of excitation."""

    lmin: float = 0.5
    """Shortest length at which the muscle pulls, in optimal lengths."""

    lmax: float = 1.6
    """Longest length at which the muscle pulls, in optimal lengths."""

    vmax: float = 1.5
    """Speed of shortening at which the force is zero, in optimal lengths per second."""

    fpmax: float = 1.3
    """Passive force at `lmax`, in peak forces."""

    fvmax: float = 1.2
    """Active force at the highest speed of lengthening, in peak forces."""

    limit_fields: ClassVar[frozenset[str]] = frozenset(
        {"actuator_gainprm", "actuator_biasprm"}
    )
    gain_fields: ClassVar[frozenset[str]] = frozenset()

    def _add_actuators(self, spec: mujoco.MjSpec, targets: Sequence[str]) -> list[str]:
        self._check_shape()
        forces = values_per_target(self, "force", targets, positive=True)
        scales = values_per_target(self, "scale", targets, positive=True)
        gears = choices_per_target(self, "gear", targets)
        ranges = choices_per_target(self, "length_range", targets)
        names = []
        for target, force, scale, gear, length_range in zip(
            targets, forces, scales, gears, ranges, strict=True
        ):
            actuator = new_actuator(spec, self, target, gear=gear)
            actuator.set_to_muscle(
                timeconst=self.timeconst,
                tausmooth=self.tausmooth,
                range=self.operating_range,
                force=-1.0 if force is None else force,
                scale=scale,
                lmin=self.lmin,
                lmax=self.lmax,
                vmax=self.vmax,
                fpmax=self.fpmax,
                fvmax=self.fvmax,
            )
            if length_range is not None:
                actuator.lengthrange = self._checked_range(target, length_range)
            names.append(actuator.name)
        return names

    def _check_shape(self) -> None:
        numbers = {"timeconst[0]": self.timeconst[0], "timeconst[1]": self.timeconst[1]}
        numbers |= {name: getattr(self, name) for name in ("lmin", "vmax", "fpmax")}
        for name, value in numbers.items():
            if not value > 0.0:
                raise ActuatorError(
                    f"{self.kind}.{name} is {value}; it has to be above 0."
                )
        low, high = self.operating_range
        if not (self.lmin < self.lmax and low < high):
            raise ActuatorError(
                f"{self.kind} has lmin={self.lmin}, lmax={self.lmax} and "
                f"operating_range={self.operating_range}; each has to increase."
            )

    def _checked_range(self, target: str, length_range: _Range) -> list[float]:
        if not length_range[0] < length_range[1]:
            raise ActuatorError(
                f"{self.kind}.length_range of {target!r} is {length_range}; the second "
                "number has to be above the first."
            )
        return list(length_range)

"""Inertial measurement unit: MuJoCo's sensors of one site, under one name."""

import mujoco
import torch

from mjlab.sensor.native import MujocoSensor, MujocoSensorCfg
from mjlab.sensor.objects import ObjRef, OffsetCfg, add_site
from mjlab.sensor.sensor import Sensor, SensorCfg, SensorContext
from mjlab.sim import Simulation
from mjlab.tensors.math import normalize, quat_rotate_inverse

_TYPES = {
    "pos_w": "framepos",
    "quat_w": "framequat",
    "lin_vel_b": "velocimeter",
    "ang_vel_b": "gyro",
    "lin_acc_b": "accelerometer",
    "ang_acc_w": "frameangacc",
}
"""MuJoCo sensor type of each measured quantity."""


class ImuCfg(SensorCfg):
    """Inertial measurement unit, fixed to a body or site.

    Each quantity is a separate MuJoCo sensor, such as `<name>_ang_vel_b`, which
    `mdp.builtin_sensor` observes and exported policies read. Set noise, bias and delay
    in the observation term.
    """

    frame: ObjRef
    """Body (its link frame) or site that the unit is fixed to."""

    offset: OffsetCfg = OffsetCfg()
    """Pose of the unit in the link frame. A site must not have an offset."""

    def edit_spec(self, spec: mujoco.MjSpec) -> None:
        """Add the unit's site and MuJoCo sensors."""
        site = add_site(spec, f"{self.name}_frame", self.frame, self.offset, self.name)
        for part, kind in _TYPES.items():
            name = f"{self.name}_{part}"
            MujocoSensorCfg(name=name, sensor_type=kind, obj=site).edit_spec(spec)

    def bind(self, context: SensorContext) -> "Imu":
        return Imu(self, context)


class ImuData:
    """Readings of an inertial measurement unit, live or computed when read."""

    def __init__(self, name: str, sim: Simulation) -> None:
        """Find the MuJoCo sensors of the unit `name`."""
        self._sim = sim
        self._parts = {part: MujocoSensor(f"{name}_{part}", sim) for part in _TYPES}
        self._minus_z = torch.tensor([0.0, 0.0, -1.0], device=sim.device)

    @property
    def pos_w(self) -> torch.Tensor:
        """Position in the world, shape (num_envs, 3), m."""
        return self._parts["pos_w"].data

    @property
    def quat_w(self) -> torch.Tensor:
        """Orientation in the world, wxyz, shape (num_envs, 4)."""
        return self._parts["quat_w"].data

    @property
    def lin_vel_b(self) -> torch.Tensor:
        """Velocity in the axes of the unit, shape (num_envs, 3), m/s."""
        return self._parts["lin_vel_b"].data

    @property
    def ang_vel_b(self) -> torch.Tensor:
        """Angular velocity in the axes of the unit, shape (num_envs, 3), rad/s."""
        return self._parts["ang_vel_b"].data

    @property
    def lin_acc_b(self) -> torch.Tensor:
        """Acceleration minus gravity in the axes of the unit, (num_envs, 3), m/s².

        As in an accelerometer, it points upwards at rest and is 0 in free fall.
        """
        return self._parts["lin_acc_b"].data

    @property
    def ang_acc_b(self) -> torch.Tensor:
        """Angular acceleration in the axes of the unit, (num_envs, 3), rad/s²."""
        return quat_rotate_inverse(self.quat_w, self._parts["ang_acc_w"].data)

    @property
    def projected_gravity_b(self) -> torch.Tensor:
        """Unit vector of gravity in the axes of the unit, shape (num_envs, 3).

        Without gravity, it is the direction of the world's -z axis.
        """
        gravity = self._sim.model["opt.gravity"]
        has_any = (gravity != 0.0).any(dim=-1, keepdim=True)
        down = torch.where(has_any, normalize(gravity), self._minus_z)
        return quat_rotate_inverse(self.quat_w, down)


class Imu(Sensor):
    """Inertial measurement unit, computed by MuJoCo in `step()` and `forward()`."""

    def __init__(self, cfg: ImuCfg, context: SensorContext) -> None:
        """Find the unit's MuJoCo sensors in the compiled model."""
        self.name = cfg.name
        self._data = ImuData(cfg.name, context.sim)

    @property
    def data(self) -> ImuData:
        """Readings of the unit, updated by the engine."""
        return self._data

    def state(self) -> dict[str, torch.Tensor]:
        """Return an empty dict: the engine's snapshot holds the readings."""
        return {}

"""Metrics terms that record the motion of robots in an environment."""

from collections.abc import Mapping
from typing import Any

import torch

from mjlab.managers import ManagerTermBase, TermCfg
from mjlab.managers.env import Env
from mjlab.managers.managed_env import ManagedEnv
from mjlab.sensor import ContactSensor


class SampleBuffer(ManagerTermBase):
    """Metrics term that buffers samples of several quantities on the device.

    When the buffer is full, each further sample overwrites the last one.
    """

    def __init__(self, cfg: TermCfg, env: Env) -> None:
        super().__init__(cfg, env)
        self._capacity: int = cfg.params["samples"]
        self._next = torch.zeros(1, dtype=torch.int64, device=env.device)
        self._value = torch.zeros(env.num_envs, device=env.device)
        self._samples: dict[str, torch.Tensor] = {}

    def state(self) -> dict[str, torch.Tensor]:
        """Return the live state tensors; copy into them to restore a snapshot."""
        return {"next": self._next}

    def begin(self) -> None:
        """Discard all samples."""
        self._next.zero_()

    def taken(self) -> Mapping[str, Any]:
        """Return the samples since `begin` by name, shape (samples, num_envs, ...)."""
        count = int(self._next)
        return {
            name: kept[:count].double().cpu().numpy()
            for name, kept in self._samples.items()
        }

    def keep(self, **quantities: torch.Tensor) -> torch.Tensor:
        """Store a sample of each quantity; return zeros as the metric, (num_envs,)."""
        last = self._next.clamp(max=self._capacity - 1)
        for name, value in quantities.items():
            if name not in self._samples:
                size = (self._capacity, *value.shape)
                self._samples[name] = value.new_zeros(size)
            self._samples[name].index_copy_(0, last, value.unsqueeze(0))
        self._next.add_(1).clamp_(max=self._capacity)
        return self._value


class foot_motion(SampleBuffer):
    """Records positions and vertical forces of feet, and the yaw of the base.

    It runs after each physics step, when MuJoCo's positions and forces still belong to
    the beginning of the step.
    """

    def __init__(self, cfg: TermCfg, env: Env) -> None:
        super().__init__(cfg, env)
        name: str = cfg.params["sensor_name"]
        sensor = env.scene.sensor(name)
        assert isinstance(sensor, ContactSensor)
        self._sensor = sensor
        model = env.sim.mj_model
        self.by_geom: bool = cfg.params["by_geom"]
        """True if the feet are geoms, False for bodies."""
        found = model.geom if self.by_geom else model.body
        self.ids: list[int] = [found(foot).id for foot in sensor.primary_names]
        """Ids of the feet in the model."""
        self._ids = torch.tensor(self.ids, device=env.device)
        self.names = sensor.primary_names
        """Names of the feet, with the entity's prefix."""

    def __call__(
        self,
        env: ManagedEnv,
        samples: int,
        sensor_name: str,
        by_geom: bool,
        entity_name: str,
    ) -> torch.Tensor:
        """Store a sample.

        Args:
            env: The environment.
            samples: Capacity of the buffer, in samples.
            sensor_name: Contact sensor of the feet.
            by_geom: Whether the sensor's primaries are geoms instead of bodies.
            entity_name: Name of the robot.
        """
        places = env.sim.data.geom_xpos if by_geom else env.sim.data.xpos
        return self.keep(
            foot_pos=places.index_select(1, self._ids),
            foot_force=self._sensor.data.force[..., 2].abs(),
            foot_heading=env.scene.entity(entity_name).data.heading_w,
        )


class body_motion(SampleBuffer):
    """Records base and joints after each control step, before resets."""

    def __call__(self, env: ManagedEnv, samples: int, entity_name: str) -> torch.Tensor:
        """Store a sample.

        Args:
            env: The environment.
            samples: Capacity of the buffer, in samples.
            entity_name: Name of the robot.
        """
        data = env.scene.entity(entity_name).data
        velocity, yaw = data.root_lin_vel_w, data.heading_w
        cos, sin = yaw.cos(), yaw.sin()
        ahead = cos * velocity[:, 0] + sin * velocity[:, 1]
        left = cos * velocity[:, 1] - sin * velocity[:, 0]
        return self.keep(
            velocity=torch.stack((ahead, left), dim=1),
            heading=yaw,
            joint_vel=data.joint_vel,
            joint_torque=data.qfrc_actuator,
        )

"""Lookup of entities, terrain and sensors for terms."""

from typing import Any

import torch

from mjlab.managers.env import Env
from mjlab.managers.managed_env import ManagedEnv
from mjlab.scene import Ground, SceneEntityCfg, Selection
from mjlab.sensor import CameraData, ContactSensor, RayCastSensor, Sensor

ROBOT: Any = SceneEntityCfg("robot")
"""Default `asset_cfg` of terms. The term receives the resolved selection."""


def chosen(params: dict[str, Any], env: Env) -> Selection:
    """Return the resolved selection of a term's parameter `asset_cfg`."""
    cfg: SceneEntityCfg = params.get("asset_cfg", ROBOT)
    return cfg.resolve(env.scene)


def ground_of(env: ManagedEnv, what: str) -> Ground:
    """Return the generated terrain, or raise an error that names the term `what`."""
    if env.scene.ground is None:
        raise ValueError(
            f"{what} needs generated terrain: set scene.terrain to a TerrainCfg with "
            "kind='generator'."
        )
    return env.scene.ground


def reading(env: ManagedEnv, name: str) -> torch.Tensor:
    """Return the readings of a MuJoCo sensor, shape (num_envs, d)."""
    data = env.scene.sensor(name).data
    if not isinstance(data, torch.Tensor):
        raise TypeError(
            f"The sensor {name!r} is not a MuJoCo sensor. Use the name of a "
            "MujocoSensorCfg, or of a sensor in an entity's model file."
        )
    return data


def ray_caster(env: ManagedEnv, name: str) -> RayCastSensor:
    """Return the ray caster called `name`."""
    sensor: Sensor = env.scene.sensor(name)
    if not isinstance(sensor, RayCastSensor):
        raise TypeError(
            f"The sensor {name!r} is a {type(sensor).__name__}, not a ray sensor. Use "
            "the name of a RayCastSensorCfg."
        )
    return sensor


def contact_sensor(env: ManagedEnv, name: str) -> ContactSensor:
    """Return the contact sensor called `name`."""
    sensor: Sensor = env.scene.sensor(name)
    if not isinstance(sensor, ContactSensor):
        kind = type(sensor).__name__
        raise TypeError(
            f"The sensor {name!r} is a {kind}, not a contact sensor. Use the name of a "
            "ContactSensorCfg."
        )
    return sensor


def pictures(env: ManagedEnv, name: str) -> CameraData:
    """Return the images of the camera sensor called `name`."""
    sensor: Sensor = env.scene.sensor(name)
    if not isinstance(sensor.data, CameraData):
        kind = type(sensor).__name__
        raise TypeError(
            f"The sensor {name!r} is a {kind}, not a camera. Use the name of a "
            "CameraSensorCfg."
        )
    return sensor.data

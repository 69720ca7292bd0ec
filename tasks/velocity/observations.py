"""What policies may see, besides what mjlab has for all tasks.

Contacts of feet are those of the last physics step that is over, at most 5 ms before
what else is seen, and none at the start of an episode. That way `forward()` need not
solve for the forces of the present moment, which a whole step of physics would cost.
"""

import torch

from mjlab.managers.managed_env import ManagedEnv
from mjlab.mdp.lookup import ROBOT, contact_sensor, reading
from mjlab.scene import Selection


def gravity_from_sensor(env: ManagedEnv, sensor_name: str) -> torch.Tensor:
    """Direction of gravity in the frame of a sensor that measures which way is up."""
    return -reading(env, sensor_name)


def foot_height(
    env: ManagedEnv, height_name: str | None = None, asset_cfg: Selection = ROBOT
) -> torch.Tensor:
    """Heights of the feet's sites above the ground, m, shape (num_envs, feet).

    Args:
        env: The environment.
        height_name: The sensor of the feet's heights. None: the ground is the plane at
            height 0.
        asset_cfg: The feet's sites, on a plane.
    """
    if height_name is not None:
        return reading(env, height_name)
    return asset_cfg.entity.data.site_pos_w[:, asset_cfg.site_ids, 2]


def foot_air_time(env: ManagedEnv, sensor_name: str) -> torch.Tensor:
    """Seconds that each foot has been in the air, 0 in contact, (num_envs, feet)."""
    return contact_sensor(env, sensor_name).data.current_air_time


def foot_contact(env: ManagedEnv, sensor_name: str) -> torch.Tensor:
    """Whether each foot touched in the last physics step, 0 or 1, (num_envs, feet)."""
    return contact_sensor(env, sensor_name).data.current_contact_time.sign()


def foot_contact_forces(env: ManagedEnv, sensor_name: str) -> torch.Tensor:
    """Forces of the feet in the last physics step, sign(f) log(1 + |f|), f in newtons.

    Shape (num_envs, 3 * feet). The logarithm brings steps and impacts to one scale.
    """
    force = contact_sensor(env, sensor_name).data.force_history[:, :, 0]
    return torch.copysign(force.abs().log1p_(), force).flatten(1)

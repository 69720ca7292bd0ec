"""Rewards for stepping near the capture point, to recover from pushes."""

from collections.abc import Mapping

import torch

from mjlab.managers import ManagerTermBase
from mjlab.managers.managed_env import ManagedEnv
from mjlab.managers.term import TermCfg
from mjlab.scene import Selection
from mjlab.tasks.velocity.gait import Gait, gait_contact, gait_posture

_GRAVITY = 9.81


class capture_point_near_foot(ManagerTermBase):
    """Reward for a foot near the capture point, 0 to 1.

    The capture point c + v sqrt(h / g) is the point on the ground where a linear
    inverted pendulum has to step to come to rest (Pratt et al. 2006); c, v and h are
    the centre of mass, its velocity and its height above the feet.
    """

    def __init__(self, cfg: TermCfg, env: ManagedEnv) -> None:
        super().__init__(cfg, env)
        feet = cfg.params["asset_cfg"].resolve(env.scene)
        self._columns = feet.entity.index.bodies.columns

    def __call__(
        self,
        env: ManagedEnv,
        asset_cfg: Selection,
        std: float,
        tolerance: float,
    ) -> torch.Tensor:
        """Return the reward.

        Args:
            env: The environment.
            asset_cfg: Sites of the feet.
            std: Width of the Gaussian, m.
            tolerance: Distance from a foot up to which the reward is 1, m.
        """
        data = asset_cfg.entity.data
        mass = self._columns.read(env.sim.model.body_mass)
        share = (mass / mass.sum(dim=-1, keepdim=True)).unsqueeze(-1)
        place = (data.body_com_pos_w * share).sum(dim=1)
        velocity = (data.body_com_lin_vel_w * share).sum(dim=1)
        feet = data.site_pos_w[:, asset_cfg.site_ids]
        height = place[:, 2] - feet[..., 2].amin(dim=1)
        time = (height.clamp(min=0.1) / _GRAVITY).sqrt().unsqueeze(1)
        point = place[:, :2] + velocity[:, :2] * time
        apart = torch.linalg.vector_norm(point.unsqueeze(1) - feet[..., :2], dim=2)
        beyond = (apart.amin(dim=1) - tolerance).clamp(min=0.0)
        return torch.exp(-(beyond / std).square())


class gait_while_balanced(ManagerTermBase):
    """Mean of the gait's posture and contact rewards, times the capture point reward.

    While the capture point is away from the feet, the reward is near zero for any gait,
    so recovery steps are possible at any phase of the clock.
    """

    def __init__(self, cfg: TermCfg, env: ManagedEnv) -> None:
        super().__init__(cfg, env)
        self._posture = gait_posture(cfg, env)
        feet = TermCfg(func=cfg.func, params={"asset_cfg": cfg.params["feet"]})
        self._balance = capture_point_near_foot(feet, env)

    def __call__(
        self,
        env: ManagedEnv,
        gait: Gait,
        command_name: str,
        std_standing: Mapping[str, float],
        std_walking: Mapping[str, float],
        asset_cfg: Selection,
        sensor_name: str,
        feet: Selection,
        std: float,
        tolerance: float,
    ) -> torch.Tensor:
        """Return the reward, 0 to 1.

        Args:
            env: The environment.
            gait: The gait.
            command_name: Velocity command.
            std_standing: Widths of the posture reward while the clock is stopped.
            std_walking: Widths of the posture reward while the clock runs.
            asset_cfg: Joints of the posture reward.
            sensor_name: Contact sensor of the feet.
            feet: Sites of the feet.
            std: Width of the capture point's Gaussian, m.
            tolerance: Distance of the capture point from a foot up to which its reward
                is 1, m.
        """
        posture = self._posture(
            env, gait, command_name, std_standing, std_walking, asset_cfg
        )
        contact = gait_contact(env, gait, sensor_name, command_name)
        balance = self._balance(env, feet, std, tolerance)
        return balance * 0.5 * (posture + contact)

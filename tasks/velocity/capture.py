"""Reward for a foot near the capture point, which makes the robot step after a push."""

import torch

from mjlab.managers import ManagerTermBase
from mjlab.managers.managed_env import ManagedEnv
from mjlab.managers.term import TermCfg
from mjlab.scene import Selection

_GRAVITY = 9.81


class capture_point_near_foot(ManagerTermBase):
    """Closeness of the capture point to the nearer foot, 0 to 1.

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
            tolerance: Distance from a foot that has no cost, m.
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

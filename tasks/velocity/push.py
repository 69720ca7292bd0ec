"""Pushes that grow while a policy learns."""

import torch

from mjlab.envs import mdp
from mjlab.managers.managed_env import ManagedEnv
from mjlab.managers.term import TermCfg, TermError


class growing_push(mdp.push_by_setting_velocity):
    """Changes the velocity of an entity's root at one blow, harder as training goes on.

    The blow grows in a straight line from nothing, at the first of `steps` of the
    environment, to its full size at the second.
    """

    def __init__(self, cfg: TermCfg, env: ManagedEnv) -> None:
        super().__init__(cfg, env)
        first, last = cfg.params["steps"]
        if not 0 <= first < last:
            raise TermError(f"steps={(first, last)}: give two numbers that ascend.")

    def __call__(  # type: ignore[override]
        self,
        env: ManagedEnv,
        mask: torch.Tensor,
        velocity_range: dict[str, tuple[float, float]],
        steps: tuple[int, int],
        stream: str = "event",
    ) -> None:
        """Draw changes of velocity, m/s and rad/s, and add them where `mask` holds.

        Args:
            env: The environment.
            mask: The worlds, shape (num_envs,), bool.
            velocity_range: Changes at full size, by axis.
            steps: Steps of the environment between which the blow grows.
            stream: Name of the random numbers; the event manager gives one.
        """
        first, last = steps
        share = (env.common_step_counter - first).clamp(0, last - first)
        blow = self._sampler.draw(env.rng, stream) * (share / (last - first))
        self._entity.add_root_velocity_w(mask, blow)

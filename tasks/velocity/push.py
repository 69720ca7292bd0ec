"""Event term for pushes whose size grows during training."""

import torch

from mjlab.envs import mdp
from mjlab.managers.managed_env import ManagedEnv
from mjlab.managers.term import TermCfg, TermError


class growing_push(mdp.push_by_setting_velocity):
    """Adds a random velocity to an entity's root, with a size that grows in training.

    The size grows linearly from 0 to the full range between two counts of environment
    steps.
    """

    def __init__(self, cfg: TermCfg, env: ManagedEnv) -> None:
        super().__init__(cfg, env)
        first, last = cfg.params["steps"]
        if not 0 <= first < last:
            raise TermError(
                f"steps={(first, last)}: the two numbers have to ascend, from 0 or "
                "more."
            )

    def __call__(  # type: ignore[override]
        self,
        env: ManagedEnv,
        mask: torch.Tensor,
        velocity_range: dict[str, tuple[float, float]],
        steps: tuple[int, int],
        stream: str = "event",
    ) -> None:
        """Sample velocity changes, m/s and rad/s, and add them in the worlds in `mask`.

        Args:
            env: The environment.
            mask: The worlds, shape (num_envs,), bool.
            velocity_range: Changes at full size, by axis.
            steps: Environment steps at the start and the end of the growth.
            stream: Name of the random stream; the event manager sets one.
        """
        first, last = steps
        share = (env.common_step_counter - first).clamp(0, last - first)
        change = self._sampler.draw(env.rng, stream) * (share / (last - first))
        self._entity.add_root_velocity_w(mask, change)

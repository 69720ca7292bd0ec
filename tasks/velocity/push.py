"""Event term for pushes whose size grows during training."""

import torch

from mjlab.envs import mdp
from mjlab.managers.managed_env import ManagedEnv
from mjlab.managers.term import TermCfg, TermError


class growing_push(mdp.push_by_setting_velocity):
    """Adds a random velocity to an entity's root, which grows during training.

    The range of velocities grows linearly from 0 to `velocity_range`, between the two
    environment steps in `steps`.
    """

    def __init__(self, cfg: TermCfg, env: ManagedEnv) -> None:
        super().__init__(cfg, env)
        first, last = cfg.params["steps"]
        if not 0 <= first < last:
            raise TermError(
                f"steps={(first, last)}; it has to be (first, last) with "
                "0 <= first < last."
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
            steps: Environment steps at which the growth starts and ends.
            stream: Name of the random stream; the event manager sets one.
        """
        first, last = steps
        share = (env.common_step_counter - first).clamp(0, last - first)
        change = self._sampler.draw(env.rng, stream) * (share / (last - first))
        self._entity.add_root_velocity_w(mask, change)

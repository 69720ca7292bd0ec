"""Terrain curriculum by survival."""

import torch

from mjlab.managers import ManagerTermBase
from mjlab.managers.managed_env import ManagedEnv
from mjlab.managers.term import TermCfg
from mjlab.mdp.lookup import ground_of


class terrain_levels_by_survival(ManagerTermBase):
    """Move worlds to harder terrain after an episode without a fall.

    A world moves to easier terrain if the robot falls in the first half of an episode.
    Unlike `terrain_levels`, it does not compare distances, so worlds whose commands
    change or are zero move up as well. Returns the level of each world.
    """

    def __init__(self, cfg: TermCfg, env: ManagedEnv) -> None:
        super().__init__(cfg, env)
        self._ground = ground_of(env, "terrain_levels_by_survival")

    def __call__(
        self,
        env: ManagedEnv,
        mask: torch.Tensor,
        stream: str = "curriculum/terrain_levels",
    ) -> torch.Tensor:
        """Update the levels of worlds whose episodes end, and return all levels.

        Args:
            env: The environment.
            mask: The worlds whose episodes end, shape (num_envs,), bool.
            stream: Random stream that draws a new level for worlds beyond the last one.
        """
        ends, steps = env.termination_manager, env.episode_length_buf
        # Resets by hand do not end an episode, and nor does the first one.
        ended = (steps > 0) & mask
        up = ended & ends.time_outs & ~ends.terminated
        early = steps < env.max_episode_length // 2
        self._ground.move(up, ended & ends.terminated & early, stream)
        return self._ground.levels

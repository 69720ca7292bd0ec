"""Terms of mjlab 1.6's velocity task that the tasks here do not use."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from mjlab.managers import ManagerTermBase
from mjlab.managers.managed_env import ManagedEnv
from mjlab.managers.term import TermCfg, TermError
from mjlab.mdp import command_range_schedule
from mjlab.mdp.lookup import ROBOT
from mjlab.names import suggest
from mjlab.scene import Selection

Stage = Mapping[str, Any]
"""Start step and ranges by name: {"step": 0, "lin_vel_x": ...}"""


def terrain_edge_reached(
    env: ManagedEnv, threshold_fraction: float = 0.95, asset_cfg: Selection = ROBOT
) -> torch.Tensor:
    """Return True where the root is at the edge of the tile on which it spawned.

    Declare it with `time_out=True`, because the robot crossed the tile. On a plane it
    is always false.

    Args:
        env: The environment.
        threshold_fraction: Fraction of half a tile, along x or y, at which the edge
            starts.
        asset_cfg: The walking entity.
    """
    ground = env.scene.ground
    if ground is None:
        return torch.zeros(env.num_envs, dtype=torch.bool, device=env.device)
    half_x, half_y = (0.5 * threshold_fraction * side for side in ground.terrain.size)
    way = asset_cfg.entity.data.root_pos_w[:, :2] - env.scene.spawn_origins[:, :2]
    return (way[:, 0].abs() > half_x) | (way[:, 1].abs() > half_y)


class commands_vel(ManagerTermBase):
    """Sets ranges of a command at given numbers of environment steps.

    Each entry of `velocity_stages` applies from its `step` on; ranges that it does not
    name are unchanged. Returns the upper end of the first named range.
    """

    def __init__(self, cfg: TermCfg, env: ManagedEnv) -> None:
        super().__init__(cfg, env)
        name, stages = cfg.params["command_name"], cfg.params["velocity_stages"]
        live = getattr(env.command_manager.term(name), "ranges", {})
        given = [(key, value) for stage in stages for key, value in stage.items()]
        for unknown in {key for key, _ in given} - {"step", *live}:
            raise TermError(
                f"A stage of commands_vel sets the unknown range {unknown!r}. "
                + suggest(unknown, ["step", *live])
            )
        ranges = [key for key, value in given if key != "step" and value is not None]
        self._schedules = [
            command_range_schedule(_schedule(name, each, stages), env)
            for each in dict.fromkeys(ranges)
        ]
        if not self._schedules:
            raise TermError("No stage of commands_vel names a range of the command.")

    def __call__(
        self, env: ManagedEnv, command_name: str, velocity_stages: Sequence[Stage]
    ) -> torch.Tensor:
        """Write the current ranges. The stages were read at construction."""
        ends = [each(env, command_name, "", ()) for each in self._schedules]
        return ends[0]


def _schedule(command: str, name: str, stages: Sequence[Stage]) -> TermCfg:
    """Return the configuration of a schedule for one range of a command."""
    own = [(int(stage["step"]), stage[name]) for stage in stages if stage.get(name)]
    params = {"command_name": command, "range_name": name, "stages": own}
    return TermCfg(func=command_range_schedule, params=params)
